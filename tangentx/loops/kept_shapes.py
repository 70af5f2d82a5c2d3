"""Shape stability: variables and tapes whose arrays have one shape throughout.

What the first binding gives is taken for granted of every other one, and compared there. Where one differs, the name is
noted, and the function is written again without: so what is taken for granted holds by induction, however often a loop
binds the name anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

from tangentx.ir import nodes as ir
from tangentx.ir import walk
from tangentx.loops.builder import Builder
from tangentx.loops.loop_ir import INT, Apply, Const, Expr, Extent, Local

Length: TypeAlias = tuple[Expr | None, int]
"""A length as `Builder.affine` has it: an atom that means the same in the whole function, and what is added to it."""


class KeptShapes:
    """The shapes of names of one function; those in `known` are known to change."""

    def __init__(self, builder: Builder, known: frozenset[str]) -> None:
        self.builder, self.known = builder, known
        self.changing: set[str] = set()
        self._shapes: dict[str, tuple[Length, ...]] = {}

    def hold(self, name: str, extents: Sequence[Expr]) -> None:
        """The name is given an array of these lengths."""
        found = tuple(map(self.builder.affine, extents))
        if name in self.known or name in self.changing:
            return
        if name not in self._shapes and all(base is None or self._lasts(base) for base, _ in found):
            self._shapes[name] = found
        elif self._shapes.get(name) is None or not self._same(self._shapes[name], found):
            self.change(name)

    def change(self, name: str) -> None:
        """The name is given something of another shape, or without one."""
        if name not in self.known:
            self.changing.add(name)

    def of(self, name: str) -> tuple[Expr, ...] | None:
        """The lengths that arrays of the name have, whenever one is read; None where they are not known."""
        if name not in self._shapes or name in self.changing:
            return None
        return tuple(self._length(*length) for length in self._shapes[name])

    def _length(self, base: Expr | None, more: int) -> Expr:
        if base is None:
            return Const(more, INT)
        if more == 0:
            return base
        op = "add" if more > 0 else "sub"
        return self.builder.let("n", Apply(op, (base, Const(abs(more), INT)), INT))

    def _same(self, shape: tuple[Length, ...], found: tuple[Length, ...]) -> bool:
        return all(self._now(*known) == length for known, length in zip(shape, found, strict=True))

    def _now(self, base: Expr | None, more: int) -> Length:
        """A length by what is known here of lengths that are equal."""
        if base is None:
            return None, more
        other, n = self.builder.affine(base)
        return other, n + more

    def _lasts(self, base: Expr) -> bool:
        if isinstance(base, Extent):
            return base.array in dict(self.builder.params) and self.builder.is_steady(base)
        return isinstance(base, Local) and base.name in self.builder.lasting


def tapes(body: ir.Block) -> frozenset[str]:
    """Names of lists that are made empty at one place, and are then only appended to and popped from: what they hold
    comes from these appends."""
    made: Counter[str] = Counter()
    empty: set[str] = set()
    others: set[str] = set()
    for s in walk.statements(body):
        if type(s) in walk.BINDING:
            made[s.target] += 1  # type: ignore[union-attr]
        if isinstance(s, ir.Assign) and isinstance(s.value, ir.Make) and s.value.cls is list and not s.value.items:
            empty.add(s.target)
        others |= {a.name for a in walk.statement_atoms(s) if isinstance(a, ir.Var)} - _moved(s)
    return frozenset(name for name in empty - others if made[name] == 1)


def _moved(s: ir.Statement) -> set[str]:
    """The list that a statement only appends to, or pops from."""
    match s:
        case ir.Append(base=ir.Var(name), value=value) if value != ir.Var(name):
            return {name}
        case ir.Assign(value=ir.Pop(base=ir.Var(name))):
            return {name}
    return set()
