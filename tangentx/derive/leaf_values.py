"""Derived code over the leaves of structured values: counting reals, perturbing, assembling."""

from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.types.kinds import Arr, Bottom, Box, Kind, Num, dtype_of, is_inexact, varied
from tangentx.derive.emit import NONE, Emitter
from tangentx.derive.reverse.accumulate import item_of
from tangentx.ir.nodes import Append, Atom, Expr, For, Index, Key, Lit, Make, Var

Step = Callable[[Atom], Expr]
Path = tuple[Step, ...]


@dataclass(frozen=True)
class Part:
    """A value with a derivative: its kind, the atom that holds it, what moves with it, the directions before its own.

    `moved` has the tangents or cotangents of a leaf along all directions, those of a container's items in its layout:
    a dict by key, or the atom of a list of them.
    """

    kind: Kind
    atom: Atom
    moved: Any = None
    before: Atom = Lit(0)


def _is_list(kind: Box) -> bool:
    """Whether a container has items of one kind, as many as it has when it is asked."""
    return kind.cls in (list, tuple) and kind.region.root().open


def numbers(kind: Kind) -> int | None:
    """How many real and complex numbers a value of the kind has; None where that is not known."""
    if isinstance(kind, Num) or not is_inexact(kind) and not isinstance(kind, Box):
        return int(is_inexact(kind))
    if isinstance(kind, Box) and not kind.region.root().open:
        found = [numbers(kind.region.get(key)) for key in kind.region.root().fields]
        return None if None in found else sum(n for n in found if n is not None)
    return None


def domains(kind: Kind) -> frozenset[str]:
    """The kinds of the dtypes of leaves with a derivative: f, c."""
    if isinstance(kind, Box):
        node = kind.region.root()
        return frozenset().union(*map(domains, (*node.fields.values(), node.elt)))
    return frozenset((dtype_of(kind).kind,)) if isinstance(kind, Num | Arr) and is_inexact(kind) else frozenset()


def may_lack(kind: Kind) -> bool:
    """Whether a dict in the value may lack some of the keys that it is known by."""
    if not isinstance(kind, Box):
        return False
    node = kind.region.root()
    certain = kind.cls is not dict or not node.written or set(node.fields) <= (node.always or frozenset())
    inside = [*node.fields.values(), node.elt]
    return not certain or any(may_lack(item) for item in inside if isinstance(item, Box))


def _each(emit: Emitter, part: Part, visit: Callable[[Emitter, Kind, Atom, Any], Atom]) -> Atom:
    """A list of what `visit` gives for each item of a list of any length; it is given kind, item and position."""
    assert isinstance(part.kind, Box)
    made = emit.let(Make(list, ()))
    inner, place = Emitter(emit.span), Var(emit.temporary())
    item = inner.let(Index(part.atom, Key((place,))))
    inner.add(Append(made, visit(inner, part.kind.region.any(), item, place), emit.span))
    count = emit.op(builtins.len, part.atom)
    emit.add(For(place.name, Lit(0), count, Lit(1), False, tuple(inner.block), emit.span))
    return made


def _sized(emit: Emitter, atom: Atom, kind: Kind) -> Atom:
    return Lit(1) if isinstance(kind, Num) else emit.op(np.size, atom)


def _after(emit: Emitter, before: Atom, size: Atom) -> Atom:
    if before == Lit(0):
        return size
    if isinstance(before, Lit) and isinstance(size, Lit):
        return Lit(before.value + size.value)  # type: ignore[operator]
    return emit.op(operator.add, before, size)


def counted(emit: Emitter, kind: Kind, atom: Atom, before: Atom) -> Atom:
    """`before` and the number of reals in a value."""
    if isinstance(kind, Box) and _is_list(kind):
        total = emit.let(before)

        def count(inner: Emitter, item: Kind, own: Atom, place: Atom) -> Atom:
            inner.assign(total.name, counted(inner, item, own, total))
            return NONE

        _each(emit, Part(kind, atom), count)
        return total
    if isinstance(kind, Box):
        for key in list(kind.region.root().fields):
            item = kind.region.get(key)
            if domains(item):
                before = counted(emit, item, emit.let(item_of(kind, atom, key)), before)
        return before
    return _after(emit, before, _sized(emit, atom, kind)) if is_inexact(kind) else before


def seeds(
    emit: Emitter, kind: Kind, atom: Atom, place: Atom | None, before: Atom, total: Atom | None = None
) -> tuple[Atom, Atom]:
    """The tangent (or cotangent) of a value along the direction `place`, in the layout of a shadow; the next place.

    Without a place it is those along all directions, of which there are `total`.
    """
    if isinstance(kind, Box) and _is_list(kind):
        start = emit.let(before)

        def one(inner: Emitter, item: Kind, own: Atom, _: Atom) -> Atom:
            seed, after = seeds(inner, item, own, place, start, total)
            inner.assign(start.name, after)
            return seed

        return _each(emit, Part(kind, atom), one), start
    if isinstance(kind, Box):
        made: list[Atom] = []
        fields = list(kind.region.root().fields)
        for key in fields:
            item = kind.region.get(key)
            own = emit.let(item_of(kind, atom, key)) if domains(item) else NONE
            seed, before = seeds(emit, item, own, place, before, total)
            made.append(seed)
        plain = issubclass(kind.cls, list | tuple)
        return emit.let(Make(list, tuple(made)) if plain else Make(dict, tuple(made), tuple(fields))), before
    if not is_inexact(kind):
        return NONE, before
    if place is None:
        seed = emit.op(arrays.directions, *((atom,) if total is None else (atom, before, total)))
    else:
        seed = emit.op(arrays.direction, *((atom, place) if before == Lit(0) else (atom, place, before)))
    return seed, _after(emit, before, _sized(emit, atom, kind))


def stacked(emit: Emitter, part: Part, found: Atom, path: Path = (), *, public: bool = False) -> Any:
    """What moves along all directions, from the list `found` of what moves along each; see `Part.moved`.

    `path` leads to the part in each of them; they have the layout of shadows, or, if `public`, that of values.
    """
    kind = part.kind
    if isinstance(kind, Box) and _is_list(kind):
        return _each(
            emit,
            part,
            lambda inner, item, own, place: stacked(inner, Part(item, own), found, (*path, at(place)), public=public),
        )
    if isinstance(kind, Box):
        moved = {}
        for key in list(kind.region.root().fields):
            item = kind.region.get(key)
            if domains(item):
                own = emit.let(item_of(kind, part.atom, key))
                step = functools.partial(item_of, kind, key=key) if public else at(Lit(key))
                moved[key] = stacked(emit, Part(item, own), found, (*path, step), public=public)
        return moved
    if not is_inexact(kind) or not varied(kind):
        return NONE
    return emit.op(np.stack, column(emit, found, path) if path else found)


def at(key: Atom) -> Step:
    """The step to what an item has at a key."""
    return lambda base: Index(base, Key((key,)))


def column(emit: Emitter, found: Atom, path: Path) -> Atom:
    """What each item of a list has at a path."""
    made = emit.let(Make(list, ()))
    inner, place = Emitter(emit.span), Var(emit.temporary())
    item: Atom = inner.let(Index(found, Key((place,))))
    for step in path:
        item = inner.let(step(item))
    inner.add(Append(made, item, emit.span))
    count = emit.op(builtins.len, found)
    emit.add(For(place.name, Lit(0), count, Lit(1), False, tuple(inner.block), emit.span))
    return made


def mapped(emit: Emitter, part: Part, leaf: Callable[[Emitter, Part], Atom]) -> tuple[Atom, Atom]:
    """The structure of a value with what `leaf` gives for each leaf that has a derivative, and the next place."""
    kind = part.kind
    if isinstance(kind, Box) and _is_list(kind):
        start = emit.let(part.before)

        def one(inner: Emitter, item: Kind, own: Atom, place: Atom) -> Atom:
            moved = None if part.moved is None else inner.let(Index(part.moved, Key((place,))))
            made, after = mapped(inner, Part(item, own, moved, start), leaf)
            inner.assign(start.name, after)
            return made

        made = _each(emit, part, one)
        return (emit.op(tuple, made) if kind.cls is tuple else made), start
    if isinstance(kind, Box):
        before, items = part.before, list[Atom]()
        fields = tuple(kind.region.root().fields)
        for key in fields:
            item = kind.region.get(key)
            if not domains(item):
                items.append(NONE)
                continue
            moved = _moved_at(emit, part.moved, key)
            own = emit.let(item_of(kind, part.atom, key))
            made, before = mapped(emit, Part(item, own, moved, before), leaf)
            items.append(made)
        plain = kind.cls in (list, tuple)
        return emit.let(Make(kind.cls, tuple(items), None if plain else _names(kind.cls, fields))), before
    if not is_inexact(kind):
        return NONE, part.before
    return leaf(emit, part), _after(emit, part.before, _sized(emit, part.atom, kind))


def _names(cls: type, fields: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(getattr(cls, "_fields", fields))


def _moved_at(emit: Emitter, moved: Any, key: Any) -> Any:
    if moved is None or isinstance(moved, dict):
        return None if moved is None else moved[key]
    return emit.item(moved, key)


def holds_nothing(kind: Kind) -> bool:
    """Whether a result has no number that could have a derivative."""
    return isinstance(kind, Bottom) or not domains(kind)
