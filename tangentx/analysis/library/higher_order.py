"""Higher-order functions of Python's library (`partial`, `reduce`, `np.vectorize`), expanded at the call."""

from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx.analysis.infer.arguments import Misfit, Named
from tangentx.analysis.infer.containers import expanded
from tangentx.analysis.infer.functions import external
from tangentx.analysis.library.copy_module import WRITTEN
from tangentx.analysis.types.kinds import BOTTOM, Bottom, Box, Either, Kind
from tangentx.analysis.types.primitives import name_of
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.functions import partial
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
    return None


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


def _vectorize(w: Walker, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """A function of elements that is made here: what it does, with its first arguments held."""
    named = dict(kwargs)
    if len(args) != 1 or set(named) - {"otypes"}:
        hint = "write `np.vectorize(f)` or `np.vectorize(f, otypes=[float])`"
        raise UnsupportedSyntax("`np.vectorize` with these arguments is not differentiated", w.span, hint)
    body, cls = external(w, each_element, "each_element"), partial(3, ())

    def build() -> Block:
        out: list[Statement] = []
        dtype = _let(w, out, Index(named["otypes"], Key((Lit(0),)))) if named else Lit(None)
        _let(w, out, Make(cls, (body, args[0], dtype, Lit(not named))))
        return tuple(out)

    return expanded(w, "vectorize", build)


def _call_vectorized(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """One that was made outside."""
    otypes = fn.otypes
    if kwargs or fn.signature is not None or fn.excluded or (otypes is not None and len(otypes) > 1):
        hint = "call it with arguments by position, of a function that gives one number"
        raise UnsupportedSyntax("`np.vectorize` of this form is not differentiated", w.span, hint)
    dtype = Lit(None) if otypes is None else external(w, np.dtype(otypes[0]).type, "dtype")
    given = (external(w, fn.pyfunc, name_of(fn.pyfunc) or "f"), dtype, Lit(otypes is None and not fn.cache), *args)
    return w.walk(Apply(external(w, each_element, "each_element"), given, ()))


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
    (functools.wraps, _wraps),
    (renamed, lambda w, args, kwargs: w.read(args[0])),
    (functools.reduce, _reduce),
)
