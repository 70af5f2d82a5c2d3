"""Cotangents of the items of an unpacked result: separate values until they seed the callee."""

from __future__ import annotations

from collections.abc import Sequence

from tangentx import arrays
from tangentx.analysis.types.kinds import Arr, Box
from tangentx.derive.emit import VALUE, Emitter
from tangentx.derive.reverse.accumulate import give
from tangentx.derive.reverse.context import Reverse
from tangentx.ir.nodes import Assign, Atom, Index, Lit, Make, Var
from tangentx.ir.walk import statements


def seeds_of(r: Reverse) -> tuple[str, ...]:
    """The parameters of the backward function for the items of the result that have a cotangent."""
    modes = r.derive.results.modes.get(r.instance.link, ())
    made = list(r.parts.made.values())
    items = made[0].items if r.code is None and len(made) == 1 else (None,) * len(modes)
    return tuple(_seed(r, item, items, k) for k, (item, m) in enumerate(zip(items, modes, strict=True)) if m == VALUE)


def _seed(r: Reverse, item: Atom | None, items: Sequence[Atom | None], position: int) -> str:
    """The cotangent of a name of the user's that is returned in one place, once, and bound once; else a new name.

    That of an array that is formed again begins there, so it needs a new name, too.
    """
    if isinstance(item, Var) and not item.name.startswith("%") and list(items).count(item) == 1:
        params = [p.name for p in r.frame.function.params]
        later = isinstance(r.frame.kinds[item.name], Arr) and item.name in r.again.names
        if item.name not in r.frame.rebound and item.name not in params and not later:
            return r.frame.other(item.name)
    return r.frame.names.fresh(f"ans_bar_{position}")


def give_parts(r: Reverse, emit: Emitter, made: Make) -> None:
    """Where the result is made, to be returned at once: the seeds go to the items."""
    modes = r.derive.results.modes[r.instance.link]
    result = r.instance.result
    assert isinstance(result, Box)
    places = [k for k, m in enumerate(modes) if m == VALUE]
    for k, seed in zip(places, r.seeds, strict=True):
        item = made.items[k]
        if not (isinstance(item, Var) and r.frame.other(item.name) == seed):
            r.give(emit, item, Var(seed), r.is_alike(result.region.get(k), r.frame.kind(item)))


def item_bar(r: Reverse, name: str, position: int) -> Var:
    """The cotangent of an item of a result that `name` holds."""
    return Var(f"%{r.parts.held[name].lstrip('%')}_bar_{position}")


def give_item(r: Reverse, emit: Emitter, read: Index, t: Atom) -> None:
    """``x = result[k]``: the cotangent goes to that of the item; it is that of an array, which has no other name."""
    assert isinstance(read.base, Var)
    part = read.key.parts[0]
    assert isinstance(part, Lit) and isinstance(part.value, int)
    held = r.frame.kinds[read.base.name]
    assert isinstance(held, Box)
    item, bar = held.region.get(part.value), item_bar(r, read.base.name, part.value)
    if isinstance(item, Arr):
        emit.assign(bar.name, t)
    else:
        give(emit, item, bar, emit.let(read), t)


def seed_of(r: Reverse, emit: Emitter, name: str, position: int) -> Atom:
    """The cotangent of an item of the result of the call in hand; zero of an array that nothing reads."""
    held = r.frame.kinds[name]
    assert isinstance(held, Box)
    item = held.region.get(position)
    if isinstance(item, Arr) and position not in _read_of(r, name):
        return emit.op(arrays.real_zero, emit.item(Var(name), position))
    return emit.let(item_bar(r, name, position))


def _read_of(r: Reverse, name: str) -> set[object]:
    """The positions of the items that are read of a result."""
    found: set[object] = set()
    for s in statements(r.frame.function.body):
        if isinstance(s, Assign) and isinstance(s.value, Index) and isinstance(s.value.base, Var):
            if r.parts.held.get(s.value.base.name) == name and isinstance(part := s.value.key.parts[0], Lit):
                found.add(part.value)
    return found


def zero_items(r: Reverse, emit: Emitter, name: str, modes: tuple[str | None, ...]) -> None:
    """No cotangent of any item yet that is a number."""
    held = r.frame.kinds[name]
    assert isinstance(held, Box)
    for k, m in enumerate(modes):
        if m == VALUE and not isinstance(held.region.get(k), Arr):
            emit.assign(item_bar(r, name, k).name, Lit(0.0))
