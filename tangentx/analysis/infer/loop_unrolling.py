"""Unrolls loops whose items have no common kind (layers of different classes, closures): one copy of the body each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from tangentx.analysis.types.kinds import BOTTOM, FUNCTIONS, Arr, Bottom, Box, Either, Kind, Num, Obj, Region, Some
from tangentx.ir.markers import entry_value
from tangentx.ir.nodes import Assign, Atom, Attr, Block, Break, Continue, For, Index, Lit, Op, Statement, Var
from tangentx.ir.rewrite import map_atoms
from tangentx.ir.walk import statements

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker

LONGEST = 64  # trips of a loop over unlike things


def takes_unlike(w: Walker, body: Block, trips: int) -> bool:
    """Whether the body of a loop of so many trips takes one of several things that have no kind in common, and can
    be written once for each trip."""
    every = list(statements(body))
    if trips > LONGEST or any(isinstance(s, Break | Continue) for s in every):
        return False
    attributes = {s.target: s.value for s in every if isinstance(s, Assign) and isinstance(s.value, Attr)}
    read = [s.value for s in every if isinstance(s, Assign) and isinstance(s.value, Index)]
    bases = {item.base for item in read if any(isinstance(part, Var) for part in item.key.parts)}
    made = [s.value for s in every if isinstance(s, Assign) and isinstance(s.value, Op)]
    bases |= {op.args[0] for op in made if op.fn is entry_value}
    return any(_holds_unlike(_known(w, base, attributes)) for base in bases)


def _known(w: Walker, base: Atom, attributes: dict[str, Attr]) -> Kind:
    """The kind of a container at the head of the loop, which the body may reach by its attributes."""
    assert w.env is not None
    if not isinstance(base, Var) or any(w.env.get(base.name, ())):
        return w.read(base)[1]
    if base.name not in attributes:
        return BOTTOM
    whole = attributes[base.name]
    kind = _known(w, whole.base, {name: value for name, value in attributes.items() if name != base.name})
    return kind.region.get(whole.name) if isinstance(kind, Box) else BOTTOM


def _holds_unlike(kind: Kind) -> bool:
    """Whether a container of known length holds what has no kind in common."""
    if not isinstance(kind, Box) or not issubclass(kind.cls, list | tuple | dict) or kind.region.root().open:
        return False
    items = list(kind.region.root().fields.values())
    return any(not _alike(a, b, set()) for a, b in combinations(items, 2))


def _alike(a: Kind, b: Kind, seen: set[tuple[Region, Region]]) -> bool:
    """Whether the two have a kind in common; asks what `regions.join` finds, and unites nothing."""
    if a == b or isinstance(a, Bottom) or isinstance(b, Bottom):
        return True
    if isinstance(a, Box) and isinstance(b, Box):
        return a.cls is b.cls and _alike_inside(a.region.root(), b.region.root(), a.cls in (list, tuple), seen)
    if isinstance(a, Num | Arr | Box) or isinstance(b, Num | Arr | Box):
        return all(isinstance(kind, Num | Arr) or kind == Obj(None) for kind in (a, b))
    if _is_function(a) and _is_function(b):
        return True
    cls = _opaque(a)
    return cls is not None and cls is _opaque(b) and (cls is str or isinstance(a, Some) or isinstance(b, Some))


def _opaque(kind: Kind) -> type | None:
    """The class of an object that is known by it alone, or by itself."""
    return kind.cls if isinstance(kind, Some) else type(kind.value) if isinstance(kind, Obj) else None


def _alike_inside(a: Region, b: Region, listed: bool, seen: set[tuple[Region, Region]]) -> bool:
    """Of lists of different lengths nobody would know what stands where: all items have to have a kind in common."""
    if a is b or (a, b) in seen:
        return True
    seen.add((a, b))
    if listed and list(a.fields) != list(b.fields):
        items = [*a.fields.values(), *b.fields.values(), a.elt, b.elt]
        return all(_alike(x, y, seen) for x, y in combinations(items, 2))
    pairs = [(kind, b.fields.get(key, b.elt)) for key, kind in a.fields.items()]
    return all(_alike(x, y, seen) for x, y in (*pairs, (a.elt, b.elt)))


def _is_function(kind: Kind) -> bool:
    return isinstance(kind, Either) or (isinstance(kind, Obj) and isinstance(kind.value, FUNCTIONS))


def turns(loop: For, trips: Sequence[int]) -> Block:
    """The body of the loop once for each trip."""
    out: list[Statement] = []
    for place in reversed(trips) if loop.backward else trips:
        out += [Assign(loop.target, Lit(place), loop.span), *map_atoms(loop.body, lambda atom: atom)]
    return tuple(out)
