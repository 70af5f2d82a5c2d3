"""Higher-order functions of Python's library (`partial`, `reduce`, `np.vectorize`), expanded at the call."""

from __future__ import annotations

import builtins
import functools
import inspect
import operator
import types
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx.analysis.infer.arguments import Misfit, Named
from tangentx.analysis.infer.containers import expanded
from tangentx.analysis.infer.functions import external, value_class
from tangentx.analysis.library import named_tuples
from tangentx.analysis.library.standard_library import WRITTEN
from tangentx.analysis.types.kinds import BOTTOM, Bottom, Box, Either, Kind, Obj
from tangentx.analysis.types.primitives import name_of
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.functions import Closure, function_of, partial
from tangentx.ir.nodes import (
    Apply,
    Assign,
    Atom,
    Block,
    Expr,
    For,
    If,
    Index,
    Key,
    Lit,
    Make,
    Op,
    Raise,
    Statement,
    Var,
    sequence,
)
from tangentx.templates.composed_functions import each_element

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker

Higher = Callable[["Walker", tuple[Atom, ...], Named], tuple[Expr, Kind]]
_CONSTANTS = (type(None), bool, int, float, complex, str, bytes)
LONGEST = 8  # items of a tuple or a list up to which a reduction is written out


def call_higher(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind] | None:
    """The call of `fn` if it is one of these functions or a partial that was made outside, else None."""
    if isinstance(fn, functools.partial):
        return _call_partial(w, fn, args, kwargs)
    if isinstance(fn, np.vectorize):
        return _call_vectorized(w, fn, args, kwargs)
    for each, write in (*_HIGHER, *WRITTEN):
        if fn is each:
            return write(w, args, kwargs)
    return named_tuples.call(w, fn, args, kwargs)


def call_either(w: Walker, kind: Either, expr: Apply) -> tuple[Expr, Kind]:
    """A call of one of several functions: a branch for each."""

    def build() -> Block:
        result = w.temporary()
        first, *others = [external(w, value, getattr(value, "__name__", "fn")) for value in reversed(kind.values)]
        block: Block = (Assign(result, replace(expr, fn=first), w.span),)
        for fn in others:
            test = w.temporary()
            chosen = (Assign(result, replace(expr, fn=fn), w.span),)
            block = (Assign(test, Op(operator.is_, (expr.fn, fn)), w.span), If(Var(test), chosen, block, w.span))
        return (*block, Assign(w.temporary(), Var(result), w.span))

    return expanded(w, ("either", kind), build)


def _wraps(w: Walker, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """What ``functools.wraps`` gives only names the function that it is given anew."""
    return w.read(external(w, renamed, "renamed"))


def renamed(function: Any) -> Any:
    """The decorator that changes nothing: a call of it is its argument."""
    return function


def _partial(w: Walker, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    if not args:
        raise Misfit("type 'partial' takes at least one argument")
    cls = partial(len(args) - 1, tuple(name for name, _ in kwargs))
    return w.walk(Make(cls, (*args, *(value for _, value in kwargs))))


def _call_partial(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """What a partial holds are outside objects, or constants."""

    def atom(value: Any) -> Atom:
        return Lit(value) if type(value) in _CONSTANTS else external(w, value, "held")

    named = {name: atom(value) for name, value in fn.keywords.items()} | dict(kwargs)
    return w.walk(Apply(external(w, fn.func, "fn"), (*map(atom, fn.args), *args), tuple(named.items())))


def each_call(function: Any, dtype: Any, tries: Any, excluded: str, *args: Any, **kwargs: Any) -> Any:
    """Marker: a call of what ``np.vectorize(function, excluded=...)`` has made."""
    raise AssertionError("a marker, never run")


def _vectorize(w: Walker, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """A function of elements that is made here: what it does, with its first arguments held."""
    named = dict(kwargs)
    excluded = _excluded(w, named.pop("excluded", None))
    if "signature" in named:
        raise UnsupportedSyntax("`np.vectorize` with a `signature` is not differentiated", w.span, _ROWS)
    if len(args) != 1 or set(named) - {"otypes"} or excluded is None:
        hint = 'write `np.vectorize(f)`, with `otypes=[float]` or a list of constants `excluded=[1, "name"]`'
        raise UnsupportedSyntax("`np.vectorize` with these arguments is not differentiated", w.span, hint)
    body, cls = external(w, each_call, "each_call"), partial(4, ())

    def build() -> Block:
        out: list[Statement] = []
        dtype = _let(w, out, Index(named["otypes"], Key((Lit(0),)))) if named else Lit(None)
        _let(w, out, Make(cls, (body, args[0], dtype, Lit(not named), Lit(excluded))))
        return tuple(out)

    return expanded(w, ("vectorize", excluded), build)


_ROWS = "call the function in a loop: `np.stack([f(row) for row in x])`"


def _excluded(w: Walker, atom: Atom | None) -> str | None:
    """The places and names that are left out, joined by commas; None where they are not constants."""
    if atom is None:
        return ""
    kind = w.read(atom)[1]
    if isinstance(kind, Bottom):
        return ""
    if not isinstance(kind, Box) or kind.region.root().open:
        return None
    found = [getattr(item, "value", None) for item in kind.region.root().fields.values()]
    return ",".join(map(str, found)) if all(type(each) in (int, str) for each in found) else None


def _call_vectorized(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """One that was made outside."""
    otypes = fn.otypes
    if fn.signature is not None:
        raise UnsupportedSyntax("`np.vectorize` with a `signature` is not differentiated", w.span, _ROWS)
    if otypes is not None and len(otypes) > 1:
        hint = "call one of a function that gives one number"
        raise UnsupportedSyntax("`np.vectorize` of this form is not differentiated", w.span, hint)
    dtype = Lit(None) if otypes is None else external(w, np.dtype(otypes[0]).type, "dtype")
    excluded = Lit(",".join(map(str, fn.excluded)))
    given = (external(w, fn.pyfunc, name_of(fn.pyfunc) or "f"), dtype, Lit(otypes is None and not fn.cache), excluded)
    return _call_each(w, (*given, *args), kwargs)


def _call_each(w: Walker, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """See `each_call`. Arguments that are excluded are held, and of those by name the places are found."""
    function, dtype, tries, excluded, *given = args
    known = excluded if isinstance(excluded, Lit) else w.read(excluded)[1]
    if isinstance(known, Bottom):
        return Lit(None), BOTTOM
    named = dict(kwargs)
    left_out = set(known.value.split(",")) - {""}  # type: ignore[union-attr]
    body = external(w, each_element, "each_element")
    if not named and not left_out:
        return w.walk(Apply(body, (function, dtype, tries, *given)))
    names = _parameters(w, function)
    if any(name not in names[len(given) :] for name in named) or len(given) > len(names):
        hint = "give its arguments by position, to a function whose parameters are plain"
        raise UnsupportedSyntax("this call of what `np.vectorize` has made is not differentiated", w.span, hint)
    held = {names[i]: atom for i, atom in enumerate(given) if str(i) in left_out}
    held |= {name: atom for name, atom in named.items() if name in left_out}
    spread = {names[i]: atom for i, atom in enumerate(given) if str(i) not in left_out}
    spread |= {name: named[name] for name in names if name in named and name not in left_out}
    before = [name for name in names[: min(map(names.index, spread), default=0)] if name in held]
    if not spread or list(spread) != names[len(before) : len(before) + len(spread)]:
        hint = "let the excluded parameters be the first or the last ones, and leave none out between the others"
        raise UnsupportedSyntax("an argument is excluded between others", w.span, hint)
    behind = tuple(name for name in held if name not in before)

    def build() -> Block:
        out: list[Statement] = []
        items = (function, *(held[name] for name in (*before, *behind)))
        bound = _let(w, out, Make(partial(len(before), behind), items))
        _let(w, out, Apply(body, (bound, dtype, tries, *spread.values())))
        return tuple(out)

    return expanded(w, ("each", tuple(held), tuple(spread)), build)


def _parameters(w: Walker, function: Atom) -> list[str]:
    """The names of the parameters of a function that may be given by place or by name; none of what is no function."""
    kind = w.read(function)[1]
    cls = value_class(kind)
    if cls is not None and issubclass(cls, Closure):
        params = function_of(cls).params[cls.captured :]
        return [p.name for p in params] if all(p.kind == "normal" for p in params) else []
    if isinstance(kind, Obj) and isinstance(kind.value, types.FunctionType):
        every = inspect.signature(kind.value).parameters.values()
        return [p.name for p in every] if all(p.kind is p.POSITIONAL_OR_KEYWORD for p in every) else []
    return []


def _reduce(w: Walker, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    if kwargs or len(args) not in (2, 3):
        raise Misfit(f"reduce expected 2 or 3 arguments, got {len(args)}")
    fn, items, *first = args
    _, kind = w.read(items)
    if isinstance(kind, Bottom):
        return Lit(None), BOTTOM
    node = kind.region.root() if isinstance(kind, Box) and issubclass(kind.cls, list | tuple) else None
    if node is not None and not node.open and not node.resized and len(node.fields) <= LONGEST:
        count = len(node.fields)
        if count or first:
            return expanded(w, ("reduced", count), lambda: _reduced(w, fn, items, first, count))
    return expanded(w, "reduce", lambda: _reducing(w, fn, items, first))


def _reduced(w: Walker, fn: Atom, items: Atom, first: list[Atom], count: int) -> Block:
    """One application after the other."""
    out: list[Statement] = []
    values = list(first)
    for place in range(count):
        item = _let(w, out, Index(items, Key((Lit(place),))))
        values = [_let(w, out, Apply(fn, (values[0], item)))] if values else [item]
    _let(w, out, values[0])
    return tuple(out)


def _reducing(w: Walker, fn: Atom, items: Atom, first: list[Atom]) -> Block:
    """A loop."""
    span, out, total = w.span, list[Statement](), w.temporary()
    found = _let(w, out, Op(sequence, (items,)))
    count = _let(w, out, Op(builtins.len, (found,)))
    if first:
        out.append(Assign(total, first[0], span))
    else:
        refused: list[Statement] = []
        error = _let(w, refused, Op(TypeError, (Lit("reduce() of empty iterable with no initial value"),)))
        refused.append(Raise(error, span))
        out.append(If(_let(w, out, Op(operator.eq, (count, Lit(0)))), tuple(refused), (), span))
        out.append(Assign(total, Index(found, Key((Lit(0),))), span))
    place, body = w.temporary(), list[Statement]()
    item = _let(w, body, Index(found, Key((Var(place),))))
    body.append(Assign(total, Apply(fn, (Var(total), item)), span))
    out.append(For(place, Lit(0 if first else 1), count, Lit(1), False, tuple(body), span))
    _let(w, out, Var(total))
    return tuple(out)


def _let(w: Walker, out: list[Statement], value: Expr) -> Var:
    """A temporary bound to the value."""
    name = w.temporary()
    out.append(Assign(name, value, w.span))
    return Var(name)


_HIGHER: tuple[tuple[Any, Higher], ...] = (
    (functools.partial, _partial),
    (np.vectorize, _vectorize),
    (each_call, _call_each),
    (functools.wraps, _wraps),
    (renamed, lambda w, args, kwargs: w.read(args[0])),
    (functools.reduce, _reduce),
)
