"""The shapes of what is popped from a tape: the one shape of all that is appended to it."""

from __future__ import annotations

from tangentx.ir.nodes import Append, Assign, Make, Op, Pop, Statement, Var
from tangentx.ir.walk import statement_atoms
from tangentx.optimise.facts.shape_arithmetic import Lengths, Shape
from tangentx.optimise.facts.unit import Unit

EMPTY = Make(list, ())

_LASTING = ("param", "once", "long", "single")


class Tapes:
    """Lists that a function makes empty, once, and only appends to, pops from and measures."""

    def __init__(self, unit: Unit) -> None:
        self._missing = {name: set(appending) for name, appending in unit.found(appending).items()}
        self._shapes: dict[str, Shape] = {}

    def append(self, name: str, statement: object, shape: Shape) -> None:
        """Notes the shape that a statement, by its identity, appends; another one each time it is looked at is none."""
        if name in self._missing:
            shape = _lasting(shape)
            self._shapes[name] = shape if self._shapes.get(name, shape) == shape else None
            self._missing[name].discard(statement)

    def popped(self, name: str) -> Shape:
        """The shape of what is popped, None where it is not known or where not all that appends has been seen."""
        return None if self._missing.get(name, True) else self._shapes[name]


def appending(unit: Unit) -> dict[str, set[object]]:
    """The statements, by identity, that append to each tape."""
    made: dict[str, int] = {}
    other: set[str] = set()
    found: dict[str, set[object]] = {}
    for s in unit.statements():
        if type(s) is Append and type(s.base) is Var:
            found.setdefault(s.base.name, set()).add(id(s))
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
        return (shape[0] in _LASTING and shape[1:2] != ("made",)) or (
            shape[0] in ("slice", "less") and is_lasting(shape[1])
        )
    return isinstance(shape, int)
