"""Containers whose arrays have no axis of length one, although the program writes to them.

    for b in bodies:
        b.q = b.q + dt * b.v

No array in `bodies` has an axis of length one when the program begins. What is written into the bodies is a sum of such
arrays, so it has none either, as long as all of them are as they were. That is an induction over the statements as they
run: all containers are taken to be such, then those go in which some statement puts an array of which it does not
follow, until none goes. Regions are those of all functions together, so what holds of one holds wherever it is read.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Iterable, Sequence

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, Box, Kind, Region
from tangentx.analysis.types.primitives import has_effect
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Atom,
    Attr,
    Augstore,
    Call,
    Expr,
    Index,
    Make,
    Op,
    Pop,
    Slice,
    Statement,
    Store,
    Var,
)
from tangentx.ir.opaque_ops import Attempt
from tangentx.ir.walk import atoms
from tangentx.optimise.facts.memory import is_opaque, outside, reach
from tangentx.optimise.facts.shape_arithmetic import Lengths, is_long
from tangentx.optimise.facts.shapes import Facts
from tangentx.optimise.facts.unit import Unit

LIMIT_ROUNDS = 8
_HARMLESS = (builtins.len, operator.is_, operator.is_not, operator.contains, arrays.same_length)
"""They take a container, and leave it as it is."""
_COPYING = (arrays.entry_copy, arrays.zero)
"""They give a container of arrays of the same shapes."""


class _Putting(Facts):
    """Notes containers into which an array goes that may have an axis of length one."""

    def __init__(self, program: Program, unit: Unit) -> None:
        super().__init__(program, unit)
        self.gone: set[Region] = set()

    def after(self, s: Statement) -> None:
        """Looks at what a statement puts where."""
        super().after(s)
        if type(s) is Assign:
            self._assigned(s)
        elif type(s) is Store or type(s) is Append:
            sliced = type(s) is Store and any(type(part) is Slice for part in s.key.parts)
            if sliced or not self._is_long(s.value):
                self._drop([self._kind(s.base)], inner=False)
        elif type(s) in (Accumulate, Augstore):
            self._drop([self._kind(s.base)], inner=False)  # type: ignore[union-attr]

    def _assigned(self, s: Assign) -> None:
        value, kind = s.value, self.unit.kinds.get(s.target)
        if type(value) is Make:
            if kind is not None and not all(map(self._is_long, value.items)):
                self._drop([kind], inner=False)
            return
        if type(value) is Op and not _is_harmless(value):
            self._drop(self._kind(a) for a in atoms(value))
        if kind is not None and self._is_new(value):
            self._drop([kind])

    def _is_new(self, value: Expr) -> bool:
        """Whether a container is made of which it is not known what is in it."""
        if type(value) is Op and value.fn in _COPYING:
            kind = self._kind(value.args[0])
            return not all(map(self._stays, reach([kind], arrays_too=False)))
        if type(value) is Index:
            return any(type(part) is Slice for part in value.key.parts)
        return type(value) not in (Var, Attr, Call, Pop)

    def _stays(self, node: Region) -> bool:
        return node in self.unit.leaves or not _holds_arrays(node)

    def _is_long(self, atom: Atom) -> bool:
        """Whether it is no array, or one without axes of length one."""
        if type(self._kind(atom)) is not Arr:
            return True
        shape = self.shape(atom)
        return isinstance(shape, Lengths) and all(map(is_long, shape))

    def _drop(self, kinds: Iterable[Kind], *, inner: bool = True) -> None:
        for kind in kinds:
            if type(kind) is Box:
                self.gone.update(reach([kind], arrays_too=False) if inner else (kind.region.root(),))


def _is_harmless(op: Op) -> bool:
    """Whether the containers that it takes are left as they are."""
    ours = getattr(op.fn, "__module__", None) or ""
    return op.fn in _HARMLESS or (ours.startswith("tangentx.arrays") and not has_effect(op))


def tell_long_items(program: Program, units: Sequence[Unit]) -> None:
    """Finds these containers, and tells each function of the program of them."""
    found, relied = _candidates(program, units), program.axes.relied
    for _ in range(LIMIT_ROUNDS):
        for unit in units:
            unit.leaves, unit.asked = found, None  # what was found by what does not hold is found again
        if not found:
            return
        gone: set[Region] = set()
        for unit in units:
            walk = _Putting(program, unit)
            walk.block(unit.body)
            gone |= walk.gone
        if found.isdisjoint(gone):
            program.axes.relied = relied or bool(program.axes.taken)  # whoever makes use of it relies on it
            return
        found -= gone
    for unit in units:
        unit.leaves, unit.asked = frozenset(), None


def _candidates(program: Program, units: Sequence[Unit]) -> frozenset[Region]:
    """The containers that hold arrays, but those from outside and arguments that hold arrays of another kind."""
    if program.on_tensors or program.read_on_tensors or is_opaque(units) or any(map(_tries, units)):
        return frozenset()
    kinds = [kind for unit in units for kind in unit.kinds.values() if type(kind) is Box]
    holding = {node for node in reach(kinds, arrays_too=False) if _holds_arrays(node) and not node.external}
    if not holding:
        return frozenset()
    root = units[0]
    others = [root.kinds[p.name] for p in root.function.params if root.axes.get(p.name) != () and p.name in root.kinds]
    return frozenset(holding - set(reach(others, arrays_too=False)) - outside(program))


def _holds_arrays(node: Region) -> bool:
    inner = (*node.fields.values(), node.elt)
    return any(type(kind) is Arr for kind in inner)


def _tries(unit: Unit) -> bool:
    values = (s.value for s in unit.statements() if type(s) is Assign)
    return any(type(value) is Op and isinstance(value.fn, Attempt) for value in values)
