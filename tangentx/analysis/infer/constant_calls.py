"""Calls on constants: functions outside the user's package whose arguments do not vary are called as they are.

Its source is never read. What a call gives is known when it has been called: it is an `Observed` operation, compiled
for the form that its result had, and checked; where nothing was observed so far, control does not come further. What
has no form that can be followed ("object") is *opaque*: whatever is done with it is a call of the same sort.

Whose code is whose, `foreign` says.

Code is *trusted* that is known to write into nothing that it is given, and to keep nothing of it but in what it gives.
"""

from __future__ import annotations

import ast
import builtins
import functools
import operator
import os
import random
import types
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer import opaque_calls
from tangentx.analysis.infer.containers import expanded
from tangentx.analysis.infer.formatted_values import note_given
from tangentx.analysis.infer.functions import value_class
from tangentx.analysis.types.kinds import (
    BOTTOM,
    Arr,
    Bottom,
    Box,
    Either,
    Kind,
    Num,
    Obj,
    Region,
    Some,
    Top,
    describe,
    join,
    reached,
    varied,
)
from tangentx.analysis.types.primitives import hashable, name_of
from tangentx.analysis.types.user_code import is_foreign
from tangentx.arrays.observed_calls import UNSEEN, class_of, options, parsed
from tangentx.common.naming import public_name
from tangentx.common.options import Observing
from tangentx.errors import NotResolved, TangentxError, UnsupportedSyntax
from tangentx.ir.nodes import MARKERS, Assign, Atom, Block, Expr, Ext, Function, Lit, Op, Var, sequence
from tangentx.ir.opaque_ops import Observed, observed

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker
    from tangentx.analysis.infer.program import Program

Named = tuple[tuple[str, Atom], ...]
_PLAIN = (str, bytes, range, slice, set, frozenset)
"""Classes whose objects the analysis knows although it does not follow them."""
_TRUSTED = frozenset(
    "numpy scipy math cmath json re os posixpath ntpath genericpath pathlib datetime time calendar statistics fractions"
    " decimal hashlib base64 binascii zlib struct csv random string textwrap platform uuid secrets logging warnings"
    " heapq collections glob fnmatch shutil tempfile io gzip bz2 lzma zipfile tarfile pickle locale getpass sys bisect"
    " numbers html urllib configparser inspect unicodedata difflib colorsys ipaddress tomllib codecs stat posix errno"
    " shlex pprint".split()
)
_WRITERS = frozenset(
    "shuffle readinto readinto1 insort insort_left insort_right pack_into append appendleft extend extendleft insert"
    " update subtract setdefault put push fill sort setattr delattr setitem delitem heappush heappop heapify"
    " heapreplace heappushpop resize".split()
)
_CARRIERS = frozenset("ufunc vectorize LinearOperator OdeSolver ode complex_ode Rbf LowLevelCallable".split())
"""Classes of trusted libraries whose objects run functions that they were made of, the user's among them."""
_UNTRUSTED_KEYWORDS = ("out", "output", "inplace", "overwrite")
_ONCE = frozenset("random secrets uuid time logging warnings".split())
"""Modules of which a call is not to be repeated: it draws, tells the time, or says something."""
_MEANT = frozenset((
    *(operator.is_, operator.is_not, builtins.isinstance, builtins.type, *MARKERS),
    *(builtins.float, builtins.int, builtins.complex, builtins.str, builtins.repr, builtins.ascii),
))  # fmt: skip
"""What is known of opaque objects as of others."""


def active(w: Walker) -> bool:
    """Whether calls on constants are called as they are in the program in hand."""
    return w.program.observing is not None and not w.program.derived


def applies(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> bool:
    """Whether a call of `fn` is one on constants, of code that is not the user's own."""
    if not active(w):
        return False
    observing = w.program.observing
    assert observing is not None
    if not (is_foreign(fn, observing.home) or any(fn is own for own in observing.as_is)):
        return False
    return not any(varied(w.read(a)[1]) for a in (*args, *(a for _, a in kwargs)))


def call(w: Walker, callee: Atom, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """A call of what `callee` holds, as it is. Raises NoTemplate where something that varies is given to it."""
    called, kind = w.read(callee)
    given = [w.read(a) for a in args]
    named = [(name, *w.read(a)) for name, a in kwargs]
    kinds = [*(k for _, k in given), *(k for _, _, k in named)]
    if any(isinstance(k, Bottom) for k in (kind, *kinds)):
        return Lit(None), BOTTOM
    fn = kind.value if isinstance(kind, Obj) else kind.cls if isinstance(kind, Some) else None
    opaque_calls.demand_no_tensor(w, fn)
    name = _public(callee, fn, kind)
    shows = opaque_calls.shows(fn)
    if opaque_calls.changes_set(fn):  # which is made anew where calls are not repeated
        message = f"{name} is called beside code that is not read, whose calls are not repeated when it is compiled"
        raise _refused(w, UnsupportedSyntax(message, w.span, "keep what is met in a list or in a dict"))
    if not shows and any(varied(k) for k in kinds):
        raise _refused(w, opaque_calls.without_rule(w, fn, kind, name))
    if not shows:
        opaque_calls.demand_own_set(w, fn)
    into = any(n.startswith(_UNTRUSTED_KEYWORDS) and not isinstance(k, Obj) for n, _, k in named)
    trust = shows or (is_trusted(fn) and not into)
    calls_back = any(map(_may_run_code, kinds))
    _note(w, trust and not calls_back)
    take = _Lender(w, name, trust)
    atoms = tuple(take(a, k) for a, k in given)
    words = tuple((n, take(a, k)) for n, a, k in named)
    puts = opaque_calls.puts_into(fn, [k for _, k in given], {n: k for n, _, k in named})
    if take.regions and (puts or name_of(fn) in _WRITERS):
        message = f"{name} has no source that can be read, and may write into what it is given"
        hint = "give it a copy, before the differentiated function is called"
        raise _refused(w, UnsupportedSyntax(message, w.span, hint))
    once = not trust or calls_back or _happens_once(fn)
    likely = _predicted(w, fn, [k for _, k in given], {n: k for n, _, k in named})
    result = _result(w, operator.call, "", (called, *atoms), words, name, trust, once, take, likely)
    if shows:
        if any(n == "file" for n, _ in kwargs):
            note_given(w, kinds)
        return result
    return opaque_calls.of_unknown(w, fn, args, kwargs, result)


def _predicted(w: Walker, fn: Any, kinds: list[Kind], named: dict[str, Kind]) -> str:
    """The form that a call is likely to give."""
    if opaque_calls.shows(fn):
        return "None"
    kind = opaque_calls.sampled(w, fn, kinds, named)
    if isinstance(kind, Num) and not kind.none:
        return f"np.{np.dtype(kind.type)}" if issubclass(kind.type, np.generic) else kind.type.__name__
    if isinstance(kind, Arr) and kind.sure and kind.rank is not None:
        return f"{kind.dtype}[{kind.rank}]"
    return UNSEEN


def _refused(w: Walker, error: TangentxError) -> TangentxError:
    """The error, which says more than one without calls on constants does."""
    assert w.program.observing is not None
    w.program.observing.refused = True
    return error


def _public(callee: Atom, fn: Any, kind: Kind) -> str:
    """What is called, as the user called it."""
    if isinstance(callee, Ext) and callee.path and callee.path[0] in ("global", "closure", "builtin", "import"):
        return f"`{'.'.join(map(str, callee.path[1:]))}`"
    return opaque_calls.what(fn, kind)


def attribute(w: Walker, atom: Atom, kind: Some, name: str) -> tuple[Expr, Kind]:
    """``opaque.name``, read."""
    _note(w, True)
    what = f"`{name}` of {describe(kind)}"
    return _result(w, builtins.getattr, name, (atom,), (), what, is_trusted(kind.cls), False, None)


def takes(w: Walker, fn: Any, kinds: list[Kind]) -> bool:
    """Whether an operation is one of unknown code, for what it is applied to is opaque.

    Raises NotResolved for an object that runs functions which it was made of, unless calls on constants are called as
    they are: tried on samples, those functions would run while the program is compiled.
    """
    carried = any(map(_is_carrier, kinds))
    if not (carried or any(map(is_opaque, kinds))) or isinstance(fn, Observed) or fn in hashable(_MEANT, fn):
        return False
    if any(varied(k) or isinstance(k, Bottom) for k in kinds):
        return False
    if carried and not active(w) and not w.program.derived:
        message = f"`{public_name(fn)}` of an object that runs functions which it was made of"
        raise NotResolved(message, w.span, "call the function that it was made of")
    return active(w)


def operation(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named = ()) -> tuple[Expr, Kind]:
    """An operator, or a function like ``len``, of an opaque object."""
    name = f"`{public_name(fn)}`"
    given = [w.read(a) for a in args]
    named = [(n, *w.read(a)) for n, a in kwargs]
    trust = all(is_trusted(k.cls) for _, k in given if isinstance(k, Some) and is_opaque(k))
    trust = trust and not any(_is_carrier(k) for _, k in given)
    _note(w, trust)
    take = _Lender(w, name, trust)
    atoms = tuple(take(a, k) for a, k in given)
    words = tuple((n, take(a, k)) for n, a, k in named)
    lazy = any(isinstance(k, Some) and hasattr(k.cls, "__next__") for _, k in given)
    return _result(w, fn, "", atoms, words, name, trust, not trust or lazy, take)


def items(w: Walker, atom: Atom, kind: Some, count: int | None, more: bool) -> tuple[Expr, Kind] | None:
    """What can be indexed for the items of an opaque object that a loop or an unpacking goes over; None for others.

    An iterator is read while the loop runs, which a list made of it is not.
    """
    if not (active(w) and is_opaque(kind)) or hasattr(kind.cls, "__next__"):
        return None

    def build() -> Block:
        made, last = w.temporary(), w.temporary()
        taken = Assign(made, Op(list if count is None else tuple, (atom,)), w.span)
        value = Var(made) if count is None else Op(sequence, (Var(made), Lit(count), Lit(more)))
        return taken, Assign(last, value, w.span)

    return expanded(w, ("items", count), build)


def given_back(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind]:
    """``lent(x)`` in a program that was analysed before."""
    return Op(arrays.lent, tuple(w.read(a)[0] for a in args)), kinds[0]


def again(w: Walker, fn: Observed, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """The operation in a program that was analysed before."""
    read, named = [w.read(a) for a in args], [(n, *w.read(a)) for n, a in kwargs]
    if any(isinstance(k, Bottom) for _, k in read):
        return Lit(None), BOTTOM
    closed = Op(fn, tuple(a for a, _ in read), tuple((n, a) for n, a, _ in named))
    return closed, kind_of(w, fn.form, ("observed", fn.site))


def is_opaque(kind: Kind) -> bool:
    """Whether nothing is known of a value but what its attributes and methods give."""
    return isinstance(kind, Some) and kind.cls not in _PLAIN


def is_trusted(fn: Any) -> bool:
    """Whether a function, or what is made of a class, is known to change nothing that it is given, and to keep it."""
    if _carries_code(fn.owner if isinstance(fn, opaque_calls.Bound) else fn):
        return False
    if isinstance(fn, opaque_calls.Bound):
        home, name = fn.owner.__module__, fn.__name__
    elif isinstance(fn, type):
        home, name = fn.__module__, ""
    else:
        owner = getattr(fn, "__self__", None)
        cls = owner if isinstance(owner, type) else type(owner)
        home = getattr(fn, "__module__", None) or (cls.__module__ if owner is not None else "")
        name = name_of(fn)
    top = str(home).partition(".")[0].lstrip("_")
    if top == "builtins":
        return fn in hashable(_BUILTINS, fn)
    return top in _TRUSTED and name not in _WRITERS


def _is_carrier(kind: Kind) -> bool:
    """Whether a value from outside runs functions which it was made of, where an operator is applied to it."""
    return isinstance(kind, Obj) and not isinstance(kind.value, np.ufunc) and _carries_code(type(kind.value))


def _carries_code(cls: Any) -> bool:
    """Whether objects of a class run functions that they were made of."""
    return isinstance(cls, type) and any(each.__name__ in _CARRIERS for each in cls.__mro__)


_BUILTINS = frozenset((open, print, input, format, ascii, repr, id, hash, len, sum, sorted, min, max, all, any, abs))


def _happens_once(fn: Any) -> bool:
    """Whether a call of trusted code is not to be repeated."""
    owner = fn.owner if isinstance(fn, opaque_calls.Bound) else type(getattr(fn, "__self__", None))
    if issubclass(owner, opaque_calls.GENERATORS) or opaque_calls.shows(fn) or fn in (open, input):
        return True
    if isinstance(fn, opaque_calls.Bound) and hasattr(owner, "read"):
        return True  # a file, which has a position
    return str(getattr(fn, "__module__", None)).partition(".")[0] in _ONCE


def _is_written_in_python(kind: Obj | Either) -> bool:
    values = kind.values if isinstance(kind, Either) else (kind.value,)
    return any(isinstance(value, types.FunctionType | types.MethodType) for value in values)


def _note(w: Walker, trusted: bool) -> None:
    observing = w.program.observing
    assert observing is not None
    observing.trusted = observing.trusted and trusted


class _Lender:
    """Takes what is given to unknown code: what it could write into is lent, and compared when it is back.

    Of code that is not trusted nothing that it was given may be written, before or after, by the program.
    """

    def __init__(self, w: Walker, name: str, trust: bool) -> None:
        self.w, self.name, self.trust = w, name, trust
        self.regions: list[Region] = []

    def __call__(self, atom: Atom, kind: Kind) -> Atom:
        """The atom to give."""
        found = list(self._mutable(kind, []))
        self.regions += found
        if not found or (self.trust and not any(region.written for region in found)):
            return atom
        op = Op(arrays.lent, (atom,) if self.trust else (atom, Lit(True)))
        target = self.w.bind(f"%lent{len(self.regions)}", kind, ("lent", id(atom), len(self.regions)))
        self.w.out.append(Assign(target, op, self.w.span))
        return self.w.instance.definitions[id(self.w.statement), ("lent", id(atom), len(self.regions))].read

    def _mutable(self, kind: Kind, seen: list[Region]) -> Iterator[Region]:
        if isinstance(kind, Top) or value_class(kind) is not None:
            message = f"{self.name} has no source that can be read, and is given {describe(kind)}, made while this runs"
            hint = "define the function at the top of the module, so that it captures nothing"
            raise _refused(self.w, UnsupportedSyntax(message, self.w.span, hint))
        if not isinstance(kind, Arr | Box) or (node := kind.region.root()) in seen:
            return
        seen.append(node)
        if isinstance(kind, Box) and kind.cls not in (list, tuple, dict) and arrays.parts_of(kind.cls) is None:
            message = f"{self.name} has no source that can be read, and is given {describe(kind)}"
            hint = "give it numbers, strings, arrays, or lists of them"
            raise _refused(self.w, UnsupportedSyntax(message, self.w.span, hint))
        if isinstance(kind, Arr) or kind.cls is not tuple:
            yield node
        for item in (*node.fields.values(), node.elt) if isinstance(kind, Box) else ():
            yield from self._mutable(item, seen)


def _result(
    w: Walker,
    fn: Any,
    name: str,
    atoms: tuple[Atom, ...],
    words: Named,
    what: str,
    trust: bool,
    once: bool,
    lender: _Lender | None,
    likely: str = UNSEEN,
) -> tuple[Expr, Kind]:
    """What the operation gives, of the form that was observed at this site."""
    observing = w.program.observing
    assert observing is not None
    label = _site(w, observing, fn, name)
    observing.met[label] = observing.met.get(label, True) and not once
    form = observing.forms.get(label, likely)
    kind = kind_of(w, form, ("observed", label, name))
    if isinstance(kind, Top):
        message = f"{what} gave values of different kinds here: {form}"
        raise NotResolved(message, w.span, "take what is needed out of it with `float(...)` or `np.asarray(...)`")
    regions = list(reached((kind,)))
    own = any(region.written for region in regions)
    if lender is not None and lender.regions:
        w.program.world.given.append((lender.regions, trust and not _holds_opaque(form), what, w.span))
    return Op(observed(fn, name, form, label, own), atoms, words), kind


def _site(w: Walker, observing: Observing, fn: Any, name: str) -> str:
    """The name of the place in hand: its file and line, with a number where there are several."""
    place = (w.span.file, w.span.line, w.span.column, getattr(fn, "__name__", ""), name)
    order = w.program.__dict__.setdefault("sites", {}).setdefault(place, [])
    if w.statement not in order:
        order.append(w.statement)
    key = (*place, order.index(w.statement))
    if key not in observing.sites:
        line = f"{os.path.basename(w.span.file)}:{w.span.line}"
        count = sum(known.partition(" ")[0] == line for known in observing.sites.values())
        observing.sites[key] = f"{line} #{count + 1}" if count else line
    return observing.sites[key]


def demand_still(program: Program) -> None:
    """Refuses a program that writes into what it gives to code that may keep it."""
    for regions, lets_go, what, span in program.world.given:
        if not lets_go and any(region.root().written for region in regions):
            message = f"{what} may keep what it is given, an array or a list that this program writes into"
            assert program.observing is not None
            program.observing.refused = True
            raise UnsupportedSyntax(message, span, "give it a copy: `np.array(...)`, `list(...)`")


def refuse_outside(function: Function, objects: dict[int, Ext]) -> None:
    """Refuses a program that writes into objects from outside, for code that is not read may look at them."""
    names = ", ".join(f"`{ext.name}`" for ext in objects.values())
    message = f"it writes into {names} from outside, and calls code that is not read, which may look at that"
    raise UnsupportedSyntax(message, function.span, "return what is to be kept, or call that code outside of it")


def kind_of(w: Walker, form: str, tag: Any) -> Kind:
    """The kind of what is of a form; BOTTOM of what was not observed."""
    if form == UNSEEN:
        return BOTTOM
    return _kind(parsed(form), w.fresh(tag), ())


def _kind(tree: ast.expr, fresh: Any, path: tuple[Any, ...]) -> Kind:
    if isinstance(tree, ast.BinOp):
        return functools.reduce(join, (_kind(part, fresh, path) for part in options(tree)))
    if isinstance(tree, ast.Subscript):
        assert isinstance(tree.slice, ast.Constant) and isinstance(tree.slice.value, int)
        return Arr(np.dtype(ast.unparse(tree.value)), tree.slice.value, fresh(path).root())
    if isinstance(tree, ast.Tuple | ast.List | ast.Dict):
        return _box(tree, fresh, path)
    name = ast.unparse(tree)
    if name == "None":
        return Obj(None)
    if name in ("bool", "int", "float", "complex"):
        return Num(getattr(builtins, name))
    if name.startswith("np."):
        return Num(getattr(np, name[3:]))
    if name in ("str", "bytes"):
        return Some(getattr(builtins, name))
    return Some(class_of(name) or object) if name != "object" else opaque_calls.UNKNOWN


def _box(tree: ast.Tuple | ast.List | ast.Dict, fresh: Any, path: tuple[Any, ...]) -> Box:
    cls = tuple if isinstance(tree, ast.Tuple) else list if isinstance(tree, ast.List) else dict
    box = Box(cls, fresh((*path, cls.__name__)))
    node = box.region
    if isinstance(tree, ast.Dict):
        keys = [key.value for key in tree.keys if isinstance(key, ast.Constant)]
        node.born(keys)
        for key, part in zip(keys, tree.values, strict=True):
            node.put(key, _kind(part, fresh, (*path, key)))
        return box
    first, last = tree.elts[:-1], tree.elts[-1] if tree.elts else None
    if isinstance(last, ast.Constant) and last.value is Ellipsis:
        node.mark("open")
        for part in first:
            node.put_any(_kind(part, fresh, (*path, "item")))
        return box
    node.born(range(len(tree.elts)))
    for i, part in enumerate(tree.elts):
        node.put(i, _kind(part, fresh, (*path, i)))
    return box


def _holds_opaque(form: str) -> bool:
    """Whether a value of the form is, or holds, something that could keep what was given."""
    if form == UNSEEN:
        return False
    known = ("None", "bool", "int", "float", "complex", "str", "bytes")
    for part in ast.walk(parsed(form)):
        if isinstance(part, ast.Name) and part.id not in known and not _is_dtype(part.id):
            return True
        if isinstance(part, ast.Attribute) and not ast.unparse(part).startswith("np."):
            return True
    return False


def _is_dtype(name: str) -> bool:
    try:
        return bool(np.dtype(name).kind in "biufc")
    except TypeError:
        return name == "np"


def may_change_others(op: Op, kind: Callable[[Atom], Kind]) -> bool:
    """Whether an operation runs code that is not followed and may write, or wait for what writes, into what it is not
    given: all but code known to do neither. Printing, warnings, clocks and draws are."""
    if op.fn is arrays.on_tensors:
        return True
    if not (isinstance(op.fn, Observed) or op.fn is operator.call):
        return False
    if isinstance(op.fn, Observed) and op.fn.fn is not operator.call:
        owner = kind(op.args[0])
        return not (isinstance(owner, Some) and is_trusted(owner.cls))
    callee, *given = (kind(atom) for atom in op.args)
    named = {name: kind(atom) for name, atom in op.kwargs}
    given += named.values()
    fn = callee.value if isinstance(callee, Obj) else callee.cls if isinstance(callee, Some) else None
    calls_back = isinstance(callee, Some) or any(map(_may_run_code, given))
    into = any(name.startswith(_UNTRUSTED_KEYWORDS) for name in named)
    return fn is None or calls_back or into or not (is_quiet(fn) and _is_a_file(named.get("file")))


def _may_run_code(kind: Kind) -> bool:
    """Whether code of the user's may run where a value is shown or called: a function, or of a class of theirs."""
    if isinstance(kind, Obj | Either):
        return _is_written_in_python(kind) or (isinstance(kind, Obj) and _carries_code(type(kind.value)))
    cls = kind.cls if isinstance(kind, Box | Some) else None
    return cls is not None and cls not in (*_PLAIN, list, tuple, dict) and not is_trusted(cls)


def _is_a_file(kind: Kind | None) -> bool:
    """Whether what is printed to, if anything, is a file, or like one, of Python's own."""
    cls = kind.cls if isinstance(kind, Some) else type(kind.value) if isinstance(kind, Obj) else None
    return kind is None or kind == Obj(None) or (cls is not None and is_trusted(cls))


def is_quiet(fn: Any) -> bool:
    """Whether a function is known to run no code that may do anything to what it is not given, and to wait for none."""
    if opaque_calls.shows(fn):
        return fn in (builtins.print, warnings.warn, np.random.seed, random.seed)
    owner = fn.owner if isinstance(fn, opaque_calls.Bound) else type(getattr(fn, "__self__", None))
    return issubclass(owner, opaque_calls.GENERATORS) or fn in opaque_calls.CLOCKS or is_trusted(fn)
