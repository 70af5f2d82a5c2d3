"""Opaque calls: code with neither source nor rule, run once in the forward sweep for its effects and its result.

Nothing that has a derivative may go into such a call (except to be shown), and nothing that it could write into. What
it gives is recorded like any other value. Its kind is found by running it on samples where that does no harm (random
generators, clocks); else it is UNKNOWN, which may be kept, passed on, tested, and converted to a number.
"""

from __future__ import annotations

import builtins
import dataclasses
import json
import operator
import random
import time
import types
import warnings
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx import templates
from tangentx.analysis.infer.formatted_values import followed, note_given
from tangentx.analysis.types.kinds import BOTTOM, Arr, Bottom, Box, Kind, Num, Obj, Some, describe, signature, varied
from tangentx.analysis.types.operations import Operation
from tangentx.analysis.types.primitives import hashable, name_of
from tangentx.arrays.structures import is_open
from tangentx.common.naming import public_name
from tangentx.errors import NoTemplate, UnsupportedSyntax
from tangentx.ir.nodes import Atom, Attr, Expr, Lit, Op
from tangentx.templates.refusals import advice

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker

Named = tuple[tuple[str, Atom], ...]
Special = Callable[["Walker", tuple[Atom, ...], list[Kind]], tuple[Expr, Kind] | None]
UNKNOWN = Some(object)

_GENERATORS: dict[type, Callable[[], Any]] = {
    np.random.Generator: lambda: np.random.default_rng(0),
    np.random.RandomState: lambda: np.random.RandomState(0),
    random.Random: lambda: random.Random(0),
}
GENERATORS = tuple(_GENERATORS)
CLOCKS = (
    *(time.time, time.perf_counter, time.monotonic, time.process_time, time.thread_time),
    *(time.time_ns, time.perf_counter_ns, time.monotonic_ns, time.process_time_ns, time.thread_time_ns),
)
_SILENT = frozenset((builtins.print, warnings.warn, time.sleep, np.random.seed, random.seed))
_READERS: dict[Any, Kind] = {json.dumps: Some(str), json.dump: Obj(None)}
_WRITERS = frozenset(("shuffle", "readinto"))
_FILLING = frozenset(("random", "standard_normal", "standard_exponential", "standard_gamma"))
"""Draws that take an array for what they give: by position, behind the size and the dtype."""
_FIXED: dict[type, type] = {set: frozenset, bytearray: bytes}
"""Classes whose objects can be changed, and those of the same methods but for the ones that change them."""
_ITERATORS = frozenset((iter, next, zip, enumerate, reversed, map, filter))
_OPAQUE_MODULES = frozenset(
    "json logging os pathlib pickle random re secrets string sys tempfile textwrap threading time uuid warnings".split()
)


class Bound:
    """Stands for a method of an opaque object, before it is called: that of class `owner`, by `name`. It `tells` if the
    object is made of a text that does."""

    def __init__(self, owner: type, name: str, tells: bool) -> None:
        self.owner, self.tells = owner, tells
        self.__name__ = name
        self.fn = getattr(owner, name)


@cache
def bound(owner: type, name: str, tells: bool = False) -> Bound:
    """The one `Bound` for a method of a class, of objects that tell what varies, or that do not."""
    return Bound(owner, name, tells)


def is_opaque(fn: Any) -> bool:
    """Whether a function is called as it is although it may have a source.

    One of the library's that has effects, or a primitive of the user's that has no rule.
    """
    if isinstance(fn, Bound) or (templates.is_own(fn) and templates.find(fn) is None):
        return True
    if isinstance(getattr(fn, "__self__", None), GENERATORS):
        return True
    home = (getattr(fn, "__module__", None) or "").partition(".")[0]
    return home in _OPAQUE_MODULES and isinstance(fn, types.FunctionType | types.MethodType | type)


def is_draw(w: Walker, owner: type, name: str, args: tuple[Atom, ...], kwargs: Named) -> bool:
    """Whether a method of a random generator is called with parameters that vary, and how it depends on them known."""
    return (
        issubclass(owner, GENERATORS)
        and templates.has_composition(getattr(owner, name, None))
        and any(varied(w.read(a)[1]) for a in (*args, *(a for _, a in kwargs)))
    )


def is_closed(cls: type) -> bool:
    """Whether objects of a class are opaque, so that making one is a call of unknown code."""
    return not is_open(cls) and not dataclasses.is_dataclass(cls) and not hasattr(cls, "_fields")


def attribute(w: Walker, atom: Atom, kind: Some, name: str) -> tuple[Expr, Kind]:
    """An attribute of an opaque object: a method, or something unknown."""
    if callable(getattr(kind.cls, name, None)):
        return Attr(atom, name), Obj(bound(kind.cls, name, kind.tells))
    return Attr(atom, name), dataclasses.replace(UNKNOWN, tells=kind.tells)


def call(w: Walker, callee: Atom, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """A call of what `callee` holds. Raises UnsupportedSyntax for arguments that it might write into or keep."""
    called, kind = w.read(callee)
    read = [w.read(a) for a in args]
    named = [(name, *w.read(a)) for name, a in kwargs]
    kinds = [*(k for _, k in read), *(k for _, _, k in named)]
    if any(isinstance(k, Bottom) for k in (kind, *kinds)):
        return Lit(None), BOTTOM
    fn = kind.value if isinstance(kind, Obj) else None
    demand_no_tensor(w, fn)
    closed = Op(operator.call, (called, *(a for a, _ in read)), tuple((n, a) for n, a, _ in named))
    if shows(fn):
        if any(name == "file" for name, _ in kwargs):
            note_given(w, kinds)
        return closed, Obj(None)
    if fn in hashable(frozenset(_READERS), fn):
        return closed, _READERS[fn]
    if any(varied(k) for k in kinds):
        raise without_rule(w, fn, kind, what(fn, kind))
    demand_own_set(w, fn)
    found = sampled(w, fn, [k for _, k in read], {n: k for n, _, k in named})
    may_write = found is None or puts_into(fn, [k for _, k in read], {n: k for n, _, k in named})
    if may_write and any(map(_may_be_changed, kinds)) and not templates.is_own(fn):
        raise UnsupportedSyntax(
            f"{what(fn, kind)} has no source that can be read, and may write into what it is given",
            w.span,
            "give it numbers and strings, or call it outside the differentiated function",
        )
    return of_unknown(w, fn, args, kwargs, (closed, found or _result_of(fn)))


def demand_no_tensor(w: Walker, fn: Any) -> None:
    """Raises UnsupportedSyntax for `tx.tensor`: before anything runs, so that the function can run on Tensors from its
    beginning."""
    if isinstance(fn, types.ModuleType) and fn.__name__ == "tangentx.tensor":
        message = "`tensor` makes a Tensor, and what is compiled computes with arrays"
        raise UnsupportedSyntax(message, w.span, "make an array in its place, for example with `np.array`")


def of_unknown(
    w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named, found: tuple[Expr, Kind]
) -> tuple[Expr, Kind]:
    """What a call of unknown code gives, as `formatted_values` has it."""
    return followed(w, fn, args, kwargs, found, True, isinstance(fn, Bound) and fn.tells)


def _may_be_changed(kind: Kind) -> bool:
    """Whether a value may be written into, or holds one that may."""
    if isinstance(kind, Box) and kind.cls is tuple:
        node = kind.region.root()
        return node.open or any(map(_may_be_changed, (*node.fields.values(), node.elt)))
    return isinstance(kind, Arr | Box)


def changes_set(fn: Any) -> bool:
    """Whether it is a method that changes a set."""
    return isinstance(fn, Bound) and fn.owner is set and not hasattr(frozenset, fn.__name__)


def without_rule(w: Walker, fn: Any, kind: Kind, name: str) -> NoTemplate:
    """The error where what has no rule, called `name`, is given something that is differentiated."""
    if kind == UNKNOWN:
        message = "what is called here was made while the program ran, so that no derivative rule is known for it"
        return NoTemplate(message, w.span, "define the function or class at the top of the module")
    found = templates.refusal(fn)
    if found is not None:
        return NoTemplate(f"{name} has no derivative rule: {found.reason}", w.span, found.hint)
    return NoTemplate(f"{name} has no derivative rule", w.span, hint(fn))


def demand_own_set(w: Walker, fn: Any) -> None:
    """Refuses to change a set or a bytearray where one came with the arguments, which must stay as they are."""
    if not isinstance(fn, Bound) or fn.owner not in _FIXED or hasattr(_FIXED[fn.owner], fn.__name__):
        return
    if any(_reaches(kind, fn.owner, ()) for kind in w.program.met[0].params):
        name = fn.owner.__name__
        raise UnsupportedSyntax(
            f"this changes a {name}, which may be one of the caller's",
            w.span,
            f"make one of your own first, such as `own = {name}(given)`",
        )


def _reaches(kind: Kind, cls: type, seen: tuple[Any, ...]) -> bool:
    """Whether a value of the kind may be, or hold, an opaque object of the class."""
    if isinstance(kind, Some):
        return kind.cls is cls
    if not isinstance(kind, Box) or (node := kind.region.root()) in seen:
        return False
    return any(_reaches(item, cls, (*seen, node)) for item in (*node.fields.values(), node.elt))


def what(fn: Any, kind: Kind) -> str:
    if isinstance(fn, Bound):
        return f"`{public_name(fn.owner)}.{fn.__name__}`"
    if isinstance(kind, Obj) and not name_of(fn):
        return f"an object of class `{type(fn).__name__}`"
    return f"`{public_name(fn)}`" if name_of(fn) else describe(kind)


def hint(fn: Any) -> str:
    if templates.is_own(fn):
        return f"give it a rule: `@{name_of(fn)}.adjoint` (and `.tangent`), or `@{name_of(fn)}.partials`"
    owner = fn.owner if isinstance(fn, Bound) else type(getattr(fn, "__self__", None))
    if issubclass(owner, GENERATORS):
        return "draw standard numbers, then scale and shift them: `mu + sigma * rng.standard_normal()`"
    if fn in hashable(_ITERATORS, fn) or getattr(fn, "__module__", "") == "itertools":
        return "loop over the items where the iterator is made, or keep a list of them, as in `list(zip(a, b))`"
    if isinstance(fn, type) and fn.__module__ == "collections":
        return "use a list (append, insert, pop) or a dict (get, setdefault)"
    return advice(fn)


def shows(fn: Any) -> bool:
    """Whether a function only shows what it is given, and answers None."""
    home = getattr(fn.owner if isinstance(fn, Bound) else fn, "__module__", None) or ""
    logs = "debug info warning error exception critical log warn".split()
    return fn in hashable(_SILENT, fn) or (home.partition(".")[0] == "logging" and name_of(fn) in logs)


def puts_into(fn: Any, args: list[Kind], kwargs: dict[str, Kind]) -> bool:
    """Whether a call puts its result into an array that it is given: ``out=``, which draws may have by position."""
    if any(name.startswith(("out", "overwrite")) and isinstance(kind, Arr | Box) for name, kind in kwargs.items()):
        return True
    return name_of(fn) in _FILLING and any(isinstance(kind, Arr) for kind in args[1:])


def _result_of(fn: Any) -> Kind:
    """What a call gives whose result was not found on samples."""
    made = isinstance(fn, type) and type(fn) is type and getattr(fn, "__new__", None) is not object.__new__
    return Some(fn) if made and fn is not type else UNKNOWN


def sampled(w: Walker, fn: Any, args: list[Kind], kwargs: dict[str, Kind]) -> Kind | None:
    """What a generator or a clock gives, found on a generator of our own."""
    if any(_mixed(kind) for kind in (*args, *kwargs.values())) or name_of(fn) in _WRITERS:
        return None
    if fn in hashable(frozenset((*CLOCKS, np.random.default_rng, *_GENERATORS)), fn):
        return Operation(w.program.world, w.fresh("effect"), w.span).draw(fn, args, kwargs)
    owner = fn.owner if isinstance(fn, Bound) else type(getattr(fn, "__self__", None))
    make = next((make for cls, make in _GENERATORS.items() if issubclass(owner, cls)), None)
    if make is None:
        return None
    method = getattr(make(), fn.__name__)
    return Operation(w.program.world, w.fresh("effect"), w.span).draw(method, args, kwargs)


def _mixed(kind: Kind) -> bool:
    """Whether what is taken out of a container could be of several kinds, or a container itself."""
    if not isinstance(kind, Box):
        return False
    node = kind.region.root()
    inside = [k for k in (*node.fields.values(), node.elt) if not isinstance(k, Bottom)]
    numbers = all(isinstance(k, Num) for k in inside)
    return kind.cls not in (list, tuple) or not numbers or len({signature(k)[1] for k in inside}) > 1


def _compared(fn: Any) -> Special:
    """A comparison with an opaque object."""

    def compare(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
        plain = all(isinstance(k, Some | Obj | Num) for k in kinds)
        if not plain or UNKNOWN not in kinds:
            return None
        return Op(fn, tuple(w.read(a)[0] for a in args)), UNKNOWN

    return compare


def _converted(fn: Any, kind: Kind) -> Special:
    """``float(x)`` and its like of an opaque object."""

    def convert(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
        opaque = len(args) == 1 and isinstance(kinds[0], Some)
        return (Op(fn, (w.read(args[0])[0],)), kind) if opaque else None

    return convert


OF_OPAQUE: dict[Any, Special] = {
    **{cls: _converted(cls, Num(cls)) for cls in (float, int, complex)},
    **{fn: _converted(fn, Some(str)) for fn in (builtins.str, builtins.repr, builtins.ascii)},
    **{fn: _compared(fn) for fn in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)},
}
"""What operations give of opaque objects."""
