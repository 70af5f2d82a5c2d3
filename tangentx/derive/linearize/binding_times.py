"""Binding times: whether a name belongs to the constant half of a split function, the moving half, or both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from tangentx.analysis.batch.varying import Batched, Unbatchable
from tangentx.analysis.infer.program import Instance
from tangentx.analysis.types.kinds import Arr, Box, Kind, Region, reached
from tangentx.derive.emit import NONE
from tangentx.errors import Span
from tangentx.ir.nodes import Assign, Atom, Attr, Expr, For, Index, Make, Pop, Var
from tangentx.ir.walk import bound, statements


def torn(facts: Batched, root: Instance) -> frozenset[Region]:
    """The containers that hold what moves, and out of which something that does not is taken: they are on both sides.

    All others that hold what moves are with it, whatever else they hold.
    """
    found = {root.result.region.root()} if isinstance(root.result, Box) else set()
    for instance in facts.of_link.values():
        assert instance.link.function is not None
        for s in statements(instance.link.function.body):
            if isinstance(s, Assign) and isinstance(s.value, Index | Attr | Pop):
                box = facts.kind(instance, s.value.base)
                if isinstance(box, Box) and facts.within(box) and not facts.any(instance, Var(s.target)):
                    found.add(box.region.root())
    return frozenset(found)


class Sides:
    """The sides of the names of one function."""

    def __init__(self, facts: Batched, instance: Instance, both: frozenset[Region]) -> None:
        self.facts = facts
        self.instance = instance
        self.both = both
        self.loops: list[str] = []
        self.outside = frozenset(reached(kind for _, kind in facts.program.externals.values()))

    def kind(self, atom: Atom) -> Kind:
        """The kind of an atom."""
        return self.facts.kind(self.instance, atom)

    def moves(self, atom: Atom) -> bool:
        """Whether an atom is, or holds, anything that moves."""
        return self.facts.any(self.instance, atom)

    def only_moves(self, atom: Atom) -> bool:
        """Whether nothing of an atom is needed where nothing moves."""
        return self.moves(atom) and not self.is_torn(self.kind(atom))

    def is_torn(self, kind: Kind, seen: tuple[Region, ...] = ()) -> bool:
        """Whether a container, or one in it, is on both sides."""
        if not isinstance(kind, Box) or (node := kind.region.root()) in seen:
            return False
        return node in self.both or any(self.is_torn(k, (*seen, node)) for k in (*node.fields.values(), node.elt))

    def still_item(self, atom: Atom) -> Atom:
        """What stands for an atom where nothing moves."""
        return NONE if self.only_moves(atom) else atom

    def still(self, value: Expr, span: Span) -> Expr:
        """What stands for an expression that gives a container on both sides. Raises Unbatchable."""
        if isinstance(value, Make):
            return replace(value, items=tuple(map(self.still_item, value.items)))
        if isinstance(value, Var | Index | Attr | Pop):
            return value
        raise Unbatchable("a container of what moves and of what does not", span)

    def is_written(self, kind: Kind, seen: tuple[Region, ...] = ()) -> bool:
        """Whether a value may be changed after it is made: by the program, or by others that it is in reach of."""
        if not isinstance(kind, Arr | Box) or (node := kind.region.root()) in seen:
            return False
        inside = (*node.fields.values(), node.elt) if isinstance(kind, Box) else ()
        return node.written or node in self.outside or any(self.is_written(k, (*seen, node)) for k in inside)

    @contextmanager
    def inside(self, loop: For) -> Iterator[None]:
        """While it lasts, the variable of a loop has its value on both sides, unless the loop binds it anew."""
        given = [] if loop.target in bound(loop.body) else [loop.target]
        before, self.loops = self.loops, [*self.loops, *given]
        yield
        self.loops = before
