"""Operators and statements written as calls: ``operator.setitem(b, 0, v)``, ``b.__iadd__(c)``.

The functions of `operator` that write or fetch, and the special methods of arrays, lists, dicts and tuples, are
analysed as the statement or the operator that they stand for.
"""

from __future__ import annotations

import builtins
import operator
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx.analysis.infer.arguments import Named
from tangentx.analysis.infer.containers import expanded
from tangentx.analysis.infer.functions import external
from tangentx.analysis.types.kinds import BOTTOM, MISSING, Arr, Bottom, Box, Kind, Num, Obj
from tangentx.analysis.types.primitives import is_primitive
from tangentx.common.operator_getters import GETTERS, arguments_of
from tangentx.ir.nodes import (
    Assign,
    Atom,
    Attr,
    Augment,
    Block,
    Delete,
    Expr,
    Key,
    Lit,
    Make,
    Method,
    Op,
    Store,
    Var,
)

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker

Spelled = Callable[["Walker", tuple[Atom, ...]], tuple[Expr, Kind]]

_BINARY = "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift".split()
_COMPARISONS = "lt le gt ge eq ne".split()
_UNARY = "neg pos invert abs".split()


def spelled(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind] | None:
    """A call of a function that stands for an operator, a statement or a method; None for any other call."""
    if any(fn is cls for cls in GETTERS):
        return _made(w, fn, args, kwargs)
    if type(fn) in GETTERS:
        return _got(w, fn, args, kwargs)
    return taken(w, fn, args, kwargs) or _unbound(w, fn, args, kwargs)


def taken(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind] | None:
    """A call of such a function; None for any other, or where the operator might mean something else."""
    try:
        spelled, count = _SPELLED.get(fn, (None, 0))
    except TypeError:
        return None
    if spelled is None or len(args) != count or kwargs:
        return None
    kinds = [w.read(a)[1] for a in args]
    if any(isinstance(kind, Bottom) for kind in kinds):
        return Lit(None), BOTTOM
    if fn in _ARITHMETIC and not all(isinstance(kind, Arr | Num) for kind in kinds):
        return None  # an object's own operator would be asked, too
    return spelled(w, args)


def _unbound(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind] | None:
    """A method of lists or dicts that is looked up in the class, ``list.append(items, x)``; None for any other call."""
    if not isinstance(fn, types.MethodDescriptorType) or is_primitive(fn) or not args:
        return None
    kind = w.read(args[0])[1]
    if not isinstance(kind, Box) or kind.cls is not fn.__objclass__ or kind.cls not in (list, dict):
        return None
    return w.walk(Method(args[0], fn.__name__, args[1:], kwargs))


def _made(w: Walker, cls: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind] | None:
    """``operator.itemgetter(1)`` of constants is one known object."""
    given = [_constant(w, a) for a in args]
    named = {name: _constant(w, a) for name, a in kwargs}
    if not args or MISSING in (*given, *named.values()):
        return None
    getters = w.program.__dict__.setdefault("getters", {})
    key = (cls, *map(repr, given), *sorted(f"{name}={value!r}" for name, value in named.items()))
    try:
        made = getters.setdefault(key, cls(*given, **named))
    except TypeError:  # what is given is no name
        return None
    return w.read(external(w, made, cls.__name__))


def _constant(w: Walker, atom: Atom) -> Any:
    kind = w.read(atom)[1]
    known = isinstance(kind, Obj) and (kind.value is None or isinstance(kind.value, str))
    return kind.value if known or isinstance(kind, Num) else MISSING  # type: ignore[union-attr]


def _got(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind] | None:
    """A call of an `itemgetter`, an `attrgetter` or a `methodcaller` that was made of constants."""
    rest, named = arguments_of(fn)
    constants = all(isinstance(value, str | int | float | None) for value in (*rest, *named.values()))
    if len(args) != 1 or kwargs or not constants:
        return None

    def build() -> Block:
        held = Var(w.temporary())
        start = Assign(held.name, args[0], w.span)
        if type(fn) is operator.methodcaller:
            keywords = tuple((name, Lit(value)) for name, value in named.items())
            return start, Assign(w.temporary(), Method(held, rest[0], tuple(map(Lit, rest[1:])), keywords), w.span)
        fetch = _attribute if type(fn) is operator.attrgetter else _item
        parts = [fetch(w, held, value) for value in rest]
        steps = [s for part in parts for s in part]
        if len(rest) > 1:
            steps.append(Assign(w.temporary(), Make(tuple, tuple(Var(part[-1].target) for part in parts)), w.span))
        return start, *steps

    return expanded(w, ("got", repr(fn)), build)


def _item(w: Walker, held: Var, key: Any) -> list[Assign]:
    return [Assign(w.temporary(), Op(operator.getitem, (held, Lit(key))), w.span)]


def _attribute(w: Walker, held: Var, path: str) -> list[Assign]:
    steps: list[Assign] = []
    for name in path.split("."):
        steps.append(Assign(w.temporary(), Attr(held, name), w.span))
        held = Var(steps[-1].target)
    return steps


def _operator(fn: Callable[..., Any], swapped: bool = False) -> Spelled:
    """The operator; its operands change places where the method is that of the second one."""
    return lambda w, args: w.walk(Op(fn, args[::-1] if swapped else args))


def _set_item(w: Walker, args: tuple[Atom, ...]) -> tuple[Expr, Kind]:
    """``a[b] = c``"""
    w.expand(("set item",), lambda: (Store(args[0], Key((args[1],)), args[2], w.span),))
    return Lit(None), Obj(None)


def _delete_item(w: Walker, args: tuple[Atom, ...]) -> tuple[Expr, Kind]:
    """``del a[b]``"""
    w.expand(("delete item",), lambda: (Delete(args[0], Key((args[1],)), w.span),))
    return Lit(None), Obj(None)


def _in_place(fn: Callable[..., Any]) -> Spelled:
    """``a op= b``, which gives `a`."""

    def spelled(w: Walker, args: tuple[Atom, ...]) -> tuple[Expr, Kind]:
        def build() -> Block:
            held = w.temporary()
            augmented = Augment(held, fn, args[1], w.span)
            return Assign(held, args[0], w.span), augmented, Assign(w.temporary(), Var(held), w.span)

        return expanded(w, ("in place", fn), build)

    return spelled


def _set_attribute(w: Walker, args: tuple[Atom, ...]) -> tuple[Expr, Kind]:
    """``object.__setattr__(a, "name", c)``, where the class has no way of its own."""
    kind = w.read(args[0])[1]
    if isinstance(kind, Box) and w.program.member(kind.cls, "__setattr__") is object.__setattr__:
        return w.walk(Op(builtins.setattr, args))
    return w.walk(Op(object.__setattr__, args))


def _spellings() -> dict[Any, tuple[Spelled, int]]:
    found: dict[Any, tuple[Spelled, int]] = {
        operator.setitem: (_set_item, 3),
        operator.delitem: (_delete_item, 2),
        object.__setattr__: (_set_attribute, 3),
        list.__iadd__: (_in_place(operator.add), 2),
        list.__imul__: (_in_place(operator.mul), 2),
        dict.__ior__: (_in_place(operator.or_), 2),
        operator.iconcat: (_in_place(operator.add), 2),
    }
    for cls in (np.ndarray, list, dict, tuple):
        found[cls.__getitem__] = _operator(operator.getitem), 2
        found[cls.__len__] = _operator(len), 1
        found[cls.__contains__] = _operator(operator.contains), 2
    for cls in (np.ndarray, list, dict):
        found[cls.__setitem__] = _set_item, 3
    for cls in (list, dict):
        found[cls.__delitem__] = _delete_item, 2
    for name in _BINARY:
        fn, bare = getattr(operator, name), name.strip("_")
        in_place = _in_place(fn), 2
        found[getattr(operator, f"i{bare}")] = in_place
        found[getattr(np.ndarray, f"__i{bare}__")] = in_place
        found[getattr(np.ndarray, f"__{bare}__")] = _operator(fn), 2
        found[getattr(np.ndarray, f"__r{bare}__")] = _operator(fn, swapped=True), 2
    for name in _COMPARISONS:
        found[getattr(np.ndarray, f"__{name}__")] = _operator(getattr(operator, name)), 2
    for name in _UNARY:
        found[getattr(np.ndarray, f"__{name}__")] = _operator(getattr(operator, name)), 1
    return found


_SPELLED = _spellings()
_ARITHMETIC = frozenset(
    getattr(np.ndarray, f"__{prefix}{name.strip('_')}__") for name in _BINARY for prefix in ("", "r", "i")
) | frozenset(getattr(np.ndarray, f"__{name}__") for name in _COMPARISONS)
