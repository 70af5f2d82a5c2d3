"""A process-wide cache of operation typing: results by argument kinds, with fresh regions on each use.

An outcome says of each array in a result which arguments it shares memory with; it names no region of its own, so it
holds in every program.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from tangentx.analysis.types.kinds import Arr, Bottom, Box, Kind, Num, Obj, Region, Some, World
from tangentx.common.user_rules import own_rule
from tangentx.errors import Span

LIMIT = 10_000
_LIMIT_PART = 1000
Fresh: TypeAlias = Callable[[Any], Region]


@dataclass(frozen=True, slots=True)
class Made:
    """An array or tuple in a result: its place, and the positions of the arguments' regions that it is united with
    (`linked`: of which it is a view that cannot be written)."""

    kind: Arr | None
    path: tuple[Any, ...]
    united: tuple[int, ...] = ()
    linked: tuple[int, ...] = ()
    items: tuple[tuple[Any, Any], ...] = ()


Outcome: TypeAlias = "Kind | Made"
_KNOWN: dict[Hashable, Outcome] = {}


def find(key: Hashable) -> Outcome | None:
    """The outcome that was kept."""
    return _table(key).get(key)


def _table(key: Any) -> dict[Hashable, Outcome]:
    """Where the outcome is kept: that of a user's primitive goes with it."""
    own = own_rule(key[0])
    return _KNOWN if own is None else own.outcomes


def forget() -> None:
    """Forgets all that was kept."""
    _KNOWN.clear()


def keep(key: Hashable, outcome: Outcome) -> None:
    """Keeps an outcome; forgets all of them where there are too many."""
    table = _table(key)
    if len(table) >= LIMIT:
        table.clear()
    table[key] = outcome


def key_of(fn: Any, kinds: Sequence[Kind], names: Sequence[str]) -> Hashable | None:
    """What the outcome of ``fn`` depends on; None where it cannot be told apart so."""
    met: dict[Region, int] = {}
    parts: list[Hashable] = []
    for kind in kinds:
        part = _part(kind, met)
        if part is None or (type(kind) not in _SHORT and _is_long(part)):
            return None
        parts.append(part)
    key = (fn, tuple(parts), tuple(names))
    try:
        hash(key)
    except TypeError:
        return None
    return key


_SHORT: frozenset[type] = frozenset((Num, Arr))
"""Kinds of which the part of a key never takes much memory."""


def _is_long(part: Any) -> bool:
    """Whether the part of a key takes much memory: long strings, tuples of many items."""
    return type(part) is tuple and any(isinstance(x, str | bytes | tuple) and len(x) > _LIMIT_PART for x in part)


def _part(kind: Kind, met: dict[Region, int]) -> Hashable | None:
    if isinstance(kind, Num):
        return (kind.exact, type(kind.value), kind.value, kind.none)
    if isinstance(kind, Arr):
        place = met.setdefault(kind.region.root(), len(met))
        return (kind.dtype, kind.dtypes, kind.rank, kind.loose, kind.none, kind.library, place)
    if isinstance(kind, Obj) and isinstance(kind.value, type(None) | str | bytes | type | np.dtype):
        return (type(kind.value), kind.value)
    if isinstance(kind, Some):
        return ("some", kind.cls)
    if isinstance(kind, Box) and kind.cls is tuple and isinstance(kind.region.root().elt, Bottom):
        node = kind.region.root()
        parts = tuple(_part(k, met) if isinstance(k, (Num, Obj)) else None for k in node.fields.values())
        return None if None in parts or node.open else ("tuple", parts)
    return None


class Scratch:
    """A world of its own with copies of arguments, on which an outcome is found."""

    def __init__(self, kinds: Sequence[Kind]) -> None:
        self.world = World()
        self.regions: dict[Region, Region] = {}
        self.kinds = [self._copy(kind) for kind in kinds]
        self.made: dict[Any, Region] = {}

    def fresh(self, path: Any) -> Region:
        """The region of something new, the same one for the same place."""
        return self.made.setdefault(path, self.world.region())

    def outcome(self, kind: Kind) -> Outcome | None:
        """A result as an outcome; None where it cannot be told apart from its regions."""
        if isinstance(kind, Arr):
            node = kind.region.root()
            path = next(path for path, region in self.made.items() if region.root() is node)
            shared = self._positions(node)
            views = [base for view, base, _ in self.world.links if view.root() is node]
            linked = tuple(dict.fromkeys(i for base in views for i in self._positions(base.root())))
            return Made(replace(kind, region=Region(self.world)), path, shared, linked)
        if isinstance(kind, Box):
            node = kind.region.root()
            if kind.cls is not tuple or node.open or not isinstance(node.elt, Bottom):
                return None
            path = next(path for path, region in self.made.items() if region.root() is node)
            items = tuple((key, self.outcome(item)) for key, item in node.fields.items())
            plain = all(isinstance(item, (Num, Obj)) for _, item in items)
            return Made(None, path, items=items) if plain else None
        return kind

    def _positions(self, node: Region) -> tuple[int, ...]:
        return tuple(i for i, region in enumerate(self.regions.values()) if region.root() is node)

    def _copy(self, kind: Kind) -> Kind:
        if isinstance(kind, Arr):
            node = kind.region.root()
            copied = self.regions.setdefault(node, self.world.region())
            return replace(kind, region=copied)
        if isinstance(kind, Box):
            box = Box(kind.cls, self.world.region(), kind.none)
            box.region.born(())
            box.region.fields.update(kind.region.root().fields)
            return box
        return kind


def put_together(outcome: Outcome, world: World, fresh: Fresh, kinds: Sequence[Kind], span: Span) -> Kind:
    """The outcome as a result for these arguments."""
    if not isinstance(outcome, Made):
        return outcome
    region = fresh(outcome.path)
    if outcome.kind is None:
        for key, item in outcome.items:
            region.put(key, item)
        return Box(tuple, region)
    made = outcome.kind
    if not (outcome.united or outcome.linked):
        return made.at(region.root())
    bases = list(dict.fromkeys(kind.region.root() for kind in kinds if isinstance(kind, Arr)))
    for i in outcome.united:
        bases[i].unite(region)
    world.links.extend((region, bases[i], span) for i in outcome.linked)
    return made.at(region.root())
