"""Shapes of what a tape holds.

What is popped was appended in a trip that came to its end, so what that trip showed of lengths holds there, too:

    tape.append(t)          # of shape (common of n and m,)
    u[...] = t              # u of shape (n,): so they have n together

The equations are those of lengths that mean the same wherever they are met, between the append and where control may
part from it: a branch, a loop, a way out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from tangentx.ir.markers import EMPTY
from tangentx.ir.nodes import Append, Assign, Make, Op, Pop, Statement, Var
from tangentx.ir.walk import statement_atoms
from tangentx.optimise.facts.shape_arithmetic import MADE_OF, Length, Lengths, Shape, parts_of, replaced, spelled
from tangentx.optimise.facts.unit import Unit

Equations: TypeAlias = set[tuple[Length, Length]]


_LASTING = ("param", "once", "long", "single")


class Tapes:
    """Lists that a function makes empty, once, and only appends to, pops from and measures."""

    def __init__(self, unit: Unit) -> None:
        self._missing = {name: set(appending) for name, appending in unit.found(appending).items()}
        self._given: dict[str, Shape] = {}
        self._shapes: dict[str, dict[object, Shape]] = {}
        self._equal: dict[str, dict[object, tuple[int, Equations]]] = {}
        self._open: list[tuple[str, object, Equations]] = []
        self._ways = 0

    def append(self, name: str, statement: object, shape: Shape, equal: Mapping[Length, Length], loop: int) -> None:
        """Notes the shape that a statement, by its identity, appends; another one each time it is looked at is none.
        `equal` is what is known of lengths there, `loop` the identity of the outermost loop around it, 0 for none."""
        if name in self._missing:
            self._shapes.setdefault(name, {})[statement] = shape
            shape = _lasting(shape)
            self._given[name] = shape if self._given.get(name, shape) == shape else None
            self._missing[name].discard(statement)
            found = {pair for pair in equal.items() if all(map(is_lasting, pair))}
            self._equal.setdefault(name, {})[statement] = loop, found
            self._open.append((name, statement, found))

    def showed(self, one: Length, other: Length) -> None:
        """Notes that lengths have turned out to be equal, for what was appended on the way to the place in hand: that
        the second stands for the first."""
        for name, statement, found in self._open:
            self._shapes[name][statement] = replaced(self._shapes[name][statement], one, other)
            if is_lasting(one) and is_lasting(other):
                found.add((one, other))

    def parted(self) -> tuple[list[tuple[str, object, Equations]], int]:
        """A block begins, which need not run because what was appended before was; gives what `joined` wants."""
        held = self._open, self._ways
        self._open = []
        return held

    def joined(self, held: tuple[list[tuple[str, object, Equations]], int]) -> None:
        """A block has ended: what comes now runs whether something was appended before it or in it, unless there was
        a way out of it."""
        before, ways = held
        self._open = before + self._open if ways == self._ways else []

    def left(self) -> None:
        """Here is a way out of the block, past what comes after it."""
        self._open = []
        self._ways += 1

    def popped(self, name: str, loop: int) -> Shape:
        """The shape of what is popped, None where it is not known or where not all that appends has been seen."""
        if self._missing.get(name, True):
            return None
        if self._is_within(name, loop):
            return self._given[name]
        first, *others = map(_lasting, self._shapes[name].values())
        return first if all(shape == first for shape in others) else None

    def _is_within(self, name: str, loop: int) -> bool:
        """Whether something is appended in the same outermost loop, whose trips have not come to their end."""
        return bool(loop) and any(site == loop for site, _ in self._equal.get(name, {}).values())

    def implied(self, name: str, loop: int) -> Sequence[tuple[Length, Length]]:
        """The equations that hold where something is popped, in another loop than what appended it; in an order that is
        the same in each process, for it decides which of several lengths is written for all."""
        if self._missing.get(name, True) or self._is_within(name, loop):
            return ()
        return sorted(set.intersection(*(found for _, found in self._equal[name].values())), key=spelled)


def appending(unit: Unit) -> dict[str, set[object]]:
    """The statements, by identity, that append to each tape."""
    made: dict[str, int] = {}
    other: set[str] = set()
    found: dict[str, set[object]] = {}
    every = unit.statements()
    for s in every:
        if type(s) is Append and type(s.base) is Var:
            found.setdefault(s.base.name, set()).add(id(s))
    for s in every if found else ():
        if type(s) is Assign:
            empty = type(s.value) is Make and s.value == EMPTY
            made[s.target] = made.get(s.target, 0) + (1 if empty else 2)
        other.update(a.name for a in statement_atoms(s) if type(a) is Var and not _as_tape(s, a))
    return {name: appending for name, appending in found.items() if made.get(name) == 1 and name not in other}


def _as_tape(s: Statement, atom: Var) -> bool:
    """Whether the statement reads the name as that of a tape only."""
    if type(s) is Append:
        return s.value != atom
    return type(s) is Assign and (type(s.value) is Pop or (type(s.value) is Op and s.value.fn is len))


def _lasting(shape: Shape) -> Shape:
    """The shape, or those of the items of a tuple, as far as they mean the same later."""
    if isinstance(shape, tuple) and shape[:1] == ("items",):
        return ("items", *map(_lasting, shape[1:]))
    return shape if is_lasting(shape) else None


def is_lasting(shape: Shape) -> bool:
    """Whether the shape, or length, means the same wherever it is met in a call of the function."""
    if isinstance(shape, Lengths):
        return all(map(is_lasting, shape))
    if isinstance(shape, tuple):
        if shape[0] in MADE_OF:
            return all(part is None or is_lasting(part) for part in parts_of(shape))
        return shape[0] in _LASTING and shape[1:2] not in (("made",), ("met",))
    return isinstance(shape, int)
