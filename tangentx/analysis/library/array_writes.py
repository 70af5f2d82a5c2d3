"""NumPy functions that write into an argument: each call becomes stores by index."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx.analysis.infer.arguments import bind
from tangentx.analysis.infer.containers import check_cast, expanded
from tangentx.analysis.infer.functions import external
from tangentx.analysis.infer.inlining import standin
from tangentx.analysis.library import model_bodies as bodies
from tangentx.analysis.library.out_argument import check_output, let
from tangentx.analysis.types.kinds import BOTTOM, MISSING, Arr, Bottom, Box, Kind, Num, Obj, describe
from tangentx.analysis.types.primitives import name_of
from tangentx.analysis.types.selection import may_repeat
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.nodes import Accumulate, Assign, Atom, Block, Expr, Index, Key, Lit, Op, Store, Var

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker

Named = tuple[tuple[str, Atom], ...]
Rule = Callable[["Walker", Callable[..., Any], tuple[Atom, ...], Arr], tuple[Expr, Kind]]


def writing(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind] | None:
    """The call of a function that writes into its first argument; None for any other function."""
    owner = getattr(fn, "__self__", None)
    if isinstance(owner, np.ufunc) and name_of(fn) == "at":
        return _at(w, owner, args, kwargs)
    try:
        rule = _WRITERS.get(fn)
    except TypeError:
        return None
    if rule is None:
        return None
    atoms = bind(w, w.program.library(rule), args, kwargs)
    kinds = [w.read(a)[1] for a in atoms]
    if rule is nan_to_num and isinstance(kinds[1], Num) and kinds[1].value is not MISSING and kinds[1].value:
        return None
    if any(isinstance(k, Bottom) for k in kinds):
        return Lit(None), BOTTOM
    if not isinstance(kinds[0], Arr):
        raise UnsupportedSyntax(f"`{name_of(fn)}` writes into {describe(kinds[0])}", w.span, "give an array")
    given = tuple(_as_array(w, atom, k) for k, atom in enumerate(atoms))
    written: Rule = _RULES.get(rule, _plain)
    return written(w, rule, given, kinds[0])


def _as_array(w: Walker, atom: Atom, place: int) -> Atom:
    """A list among the arguments as an array."""
    kind = w.read(atom)[1]
    return let(w, ("listed", place), Op(np.array, (atom,))) if isinstance(kind, Box) else atom


def _plain(w: Walker, rule: Callable[..., Any], given: tuple[Atom, ...], kind: Arr) -> tuple[Expr, Kind]:
    return standin(w, rule, given)


def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """Names the arguments of ``np.copyto``; the kind of `where` says which stand-in is meant."""


def _copyto(w: Walker, rule: Callable[..., Any], given: tuple[Atom, ...], kind: Arr) -> tuple[Expr, Kind]:
    dst, src, casting, where = given
    check_output(w, kind, w.read(src)[1], casting)
    chosen = w.read(where)[1]
    if _is_true(chosen):
        return standin(w, bodies.fill, (dst, src))
    return standin(w, bodies.copy_some, (dst, src, where))


def _is_true(kind: Kind) -> bool:
    return isinstance(kind, Num) and kind.value is True


def nan_to_num(x: Any, copy: Any = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> None:
    """Names the arguments of ``np.nan_to_num``, which writes where it is told not to copy."""


def _nan_to_num(w: Walker, rule: Callable[..., Any], given: tuple[Atom, ...], kind: Arr) -> tuple[Expr, Kind]:
    copied = w.read(given[1])[1]
    if not isinstance(copied, Num) or copied.value is MISSING or copied.value:
        raise UnsupportedSyntax("whether this writes is not known here", w.span, "write `copy=False` out")
    return standin(w, bodies.replace_nan, (given[0], *given[2:]))


def fill_diagonal(a: Any, val: Any, wrap: Any = False) -> None:
    """Names the arguments of ``np.fill_diagonal``."""


def _fill_diagonal(w: Walker, rule: Callable[..., Any], given: tuple[Atom, ...], kind: Arr) -> tuple[Expr, Kind]:
    wrapped = w.read(given[2])[1]
    if kind.rank != 2 or not isinstance(wrapped, Num) or not isinstance(wrapped.value, bool):
        raise UnsupportedSyntax("this diagonal is not differentiated", w.span, "write `k = np.arange(n); a[k, k] = v`")
    return standin(w, bodies.fill_diagonals if wrapped.value else bodies.fill_diagonal, given[:2])


def _put_along_axis(w: Walker, rule: Callable[..., Any], given: tuple[Atom, ...], kind: Arr) -> tuple[Expr, Kind]:
    if w.read(given[3])[1] == Obj(None):
        raise UnsupportedSyntax("`np.put_along_axis` along no axis", w.span, "write `a.flat[indices] = values`")
    return standin(w, rule, given)


def _refused(w: Walker, rule: Callable[..., Any], given: tuple[Atom, ...], kind: Arr) -> tuple[Expr, Kind]:
    raise UnsupportedSyntax(
        "`resize` gives an array other memory, which other names of it do not see",
        w.span,
        "make a new array: `np.resize(a, shape)`, or `np.zeros` and a write",
    )


def resize(a: Any, *shape: Any, refcheck: Any = True) -> None:
    """Names the arguments of the method."""


def _at(w: Walker, ufunc: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """``np.add.at(base, key, value)`` and its like, in which an element counts as often as the key names it."""
    if len(args) != ufunc.nin + 1 or kwargs:
        raise UnsupportedSyntax(
            f"`np.{ufunc.__name__}.at` is not called with an array, a key and values",
            w.span,
            "pass the three by position",
        )
    base, key, *values = args
    kinds = [w.read(a)[1] for a in args]
    if any(isinstance(k, Bottom) for k in kinds):
        return Lit(None), BOTTOM
    if not isinstance(kinds[0], Arr):
        raise UnsupportedSyntax(f"`np.{ufunc.__name__}.at` writes into {describe(kinds[0])}", w.span, "give an array")
    for value in kinds[2:]:
        check_cast(w, ufunc, kinds[0], value)
    values = [_as_array(w, value, 2) for value in values]
    if ufunc in (np.add, np.subtract):
        change = let(w, "less", Op(operator.neg, (values[0],))) if ufunc is np.subtract else values[0]
        where = _key(w, key, kinds[1])
        return expanded(w, ("added", where), lambda: (Accumulate(base, where, change, w.span), _none(w)))
    if may_repeat((kinds[1],)):
        return _each_at(w, ufunc, base, key, values)
    where = _key(w, key, kinds[1])
    return expanded(w, ("changed", where), lambda: _changed(w, ufunc, base, where, values))


def _key(w: Walker, key: Atom, kind: Kind) -> Key:
    """The key, a tuple taken apart."""
    if not (isinstance(kind, Box) and kind.cls is tuple):
        return Key((key,))
    if kind.region.root().open:
        raise UnsupportedSyntax("an array is indexed with a tuple of unknown length", w.span, "write the indices out")
    count = len(kind.region.root().fields)
    return Key(tuple(let(w, ("part", k), Index(key, Key((Lit(k),)))) for k in range(count)), True)


def _none(w: Walker) -> Assign:
    return Assign(w.temporary(), Lit(None), w.span)


def _changed(w: Walker, ufunc: Any, base: Atom, key: Key, values: list[Atom]) -> Block:
    old, new = w.temporary(), w.temporary()
    return (
        Assign(old, Index(base, key), w.span),
        Assign(new, Op(ufunc, (Var(old), *values)), w.span),
        Store(base, key, Var(new), w.span),
        _none(w),
    )


def _each_at(w: Walker, ufunc: Any, base: Atom, key: Atom, values: list[Atom]) -> tuple[Expr, Kind]:
    """One place after the other, for places may repeat."""
    kind, into = w.read(key)[1], w.read(base)[1]
    assert isinstance(into, Arr)
    many = isinstance(kind, Box) and kind.cls is tuple
    parts = [part for part in _key(w, key, kind).parts if isinstance(part, Var)] if many else [key]
    each: dict[int, Callable[..., Any]] = {1: bodies.update_each, 2: bodies.update_at_pairs}
    if len(parts) not in each or into.rank is None or not all(_is_vector(w.read(part)[1]) for part in parts):
        raise UnsupportedSyntax(
            f"`np.{ufunc.__name__}.at` with these places", w.span, "give one vector of places for each axis, or loop"
        )
    called = external(w, ufunc, ufunc.__name__)
    if not values:
        change: Callable[..., Any] = bodies.change_each if len(parts) == 1 else bodies.change_pairs
        return standin(w, change, (base, *parts, called))
    given = w.read(values[0])[1]
    if isinstance(given, Arr) and given.rank == into.rank - len(parts) + 1:
        return standin(w, each[len(parts)], (base, *parts, called, *values))
    by_one: Callable[..., Any] = bodies.update_each_by if len(parts) == 1 else bodies.update_pairs_by
    return standin(w, by_one, (base, *parts, called, *values))


def _is_vector(kind: Kind) -> bool:
    """Whether the kind is of whole numbers in a row."""
    if isinstance(kind, Box):
        return kind.cls is list and not isinstance(kind.region.any(), Box)
    return isinstance(kind, Arr) and kind.rank == 1 and kind.dtype.kind in "iu"


_WRITERS: dict[Any, Callable[..., Any]] = {
    np.copyto: copyto,
    np.put: bodies.put,
    np.ndarray.put: bodies.put,
    np.putmask: bodies.putmask,
    np.place: bodies.place,
    np.fill_diagonal: fill_diagonal,
    np.put_along_axis: bodies.put_along_axis,
    np.ndarray.fill: bodies.fill,
    np.ndarray.sort: bodies.sort,
    np.ndarray.partition: bodies.partition,
    np.ndarray.resize: resize,
    np.nan_to_num: nan_to_num,
}
_RULES: dict[Any, Rule] = {
    copyto: _copyto,
    fill_diagonal: _fill_diagonal,
    bodies.put_along_axis: _put_along_axis,
    resize: _refused,
    nan_to_num: _nan_to_num,
}
