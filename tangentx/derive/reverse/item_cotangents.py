"""Cotangents of the items of results that are taken apart: seeds of the callee, plain numbers in the caller."""

from __future__ import annotations

from collections.abc import Sequence

from tangentx.analysis.types.kinds import Box
from tangentx.derive.emit import VALUE, Emitter
from tangentx.derive.reverse.accumulate import give
from tangentx.derive.reverse.context import Reverse
from tangentx.ir.nodes import Atom, Index, Lit, Make, Var


def seeds_of(r: Reverse) -> tuple[str, ...]:
    """The parameters of the backward function for the items of the result that have a cotangent."""
    modes = r.derive.results.modes.get(r.instance.link, ())
    made = list(r.parts.made.values())
    items = made[0].items if r.code is None and len(made) == 1 else (None,) * len(modes)
    return tuple(_seed(r, item, items, k) for k, (item, m) in enumerate(zip(items, modes, strict=True)) if m == VALUE)


def _seed(r: Reverse, item: Atom | None, items: Sequence[Atom | None], position: int) -> str:
    """The cotangent of a name of the user's that is returned in one place, once, and bound once; else a new name."""
    if isinstance(item, Var) and not item.name.startswith("%") and list(items).count(item) == 1:
        params = [p.name for p in r.frame.function.params]
        if item.name not in r.frame.rebound and item.name not in params:
            return r.frame.other(item.name)
    return r.frame.names.fresh(f"ans_bar_{position}")


def give_parts(r: Reverse, emit: Emitter, made: Make) -> None:
    """Where the result is made, to be returned at once: the seeds go to the items."""
    modes = r.derive.results.modes[r.instance.link]
    items = [item for item, m in zip(made.items, modes, strict=True) if m == VALUE]
    for item, seed in zip(items, r.seeds, strict=True):
        if not (isinstance(item, Var) and r.frame.other(item.name) == seed):
            r.give(emit, item, Var(seed))


def item_bar(r: Reverse, name: str, position: int) -> Var:
    """The cotangent of an item of a result that `name` holds."""
    return Var(f"%{r.parts.held[name].lstrip('%')}_bar_{position}")


def give_item(r: Reverse, emit: Emitter, read: Index, t: Atom) -> None:
    """``x = result[k]``: the cotangent goes to that of the item."""
    assert isinstance(read.base, Var)
    part = read.key.parts[0]
    assert isinstance(part, Lit) and isinstance(part.value, int)
    held = r.frame.kinds[read.base.name]
    assert isinstance(held, Box)
    give(emit, held.region.get(part.value), item_bar(r, read.base.name, part.value), emit.let(read), t)


def zero_items(r: Reverse, emit: Emitter, name: str, modes: tuple[str | None, ...]) -> None:
    """No cotangent of any item yet."""
    for k, m in enumerate(modes):
        if m == VALUE:
            emit.assign(item_bar(r, name, k).name, Lit(0.0))
