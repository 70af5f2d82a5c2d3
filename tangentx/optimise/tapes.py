"""The shapes of what is popped from a tape: the one shape of all that is appended to it."""

from __future__ import annotations

from tangentx.ir.nodes import Append, Assign, Block, Make, Op, Pop, Statement, Var
from tangentx.ir.walk import statement_atoms, statements
from tangentx.optimise.dims import Lengths, Shape


class Tapes:
    """Lists that a function makes empty, once, and only appends to, pops from and measures."""

    def __init__(self, body: Block) -> None:
        self._missing: dict[str, set[int]] = {}
        self._shapes: dict[str, Shape] = {}
        made: dict[str, int] = {}
        other: set[str] = set()
        for s in statements(body):
            if isinstance(s, Assign):
                made[s.target] = made.get(s.target, 0) + (s.value == Make(list, ()) or 2)
            other.update(a.name for a in statement_atoms(s) if isinstance(a, Var) and not _as_tape(s, a))
        names = {name for name, count in made.items() if count == 1 and name not in other}
        for s in statements(body):
            if isinstance(s, Append) and isinstance(s.base, Var) and s.base.name in names:
                self._missing.setdefault(s.base.name, set()).add(id(s))

    def append(self, name: str, statement: int, shape: Shape) -> None:
        """Notes the shape that a statement, by its identity, appends; another one each time it is looked at is none."""
        if name in self._missing:
            shape = shape if is_lasting(shape) else None
            self._shapes[name] = shape if self._shapes.get(name, shape) == shape else None
            self._missing[name].discard(statement)

    def popped(self, name: str) -> Shape:
        """The shape of what is popped, None where it is not known or where not all that appends has been seen."""
        return None if self._missing.get(name, True) else self._shapes[name]


def _as_tape(s: Statement, atom: Var) -> bool:
    """Whether the statement reads the name as that of a tape only."""
    if isinstance(s, Append):
        return s.value != atom
    return isinstance(s, Assign) and (isinstance(s.value, Pop) or (isinstance(s.value, Op) and s.value.fn is len))


def is_lasting(shape: Shape) -> bool:
    """Whether the shape, or length, means the same wherever it is met in a call of the function."""
    if isinstance(shape, Lengths):
        return all(map(is_lasting, shape))
    if isinstance(shape, tuple):
        return shape[0] in ("param", "once") or (shape[0] in ("slice", "less") and is_lasting(shape[1]))
    return isinstance(shape, int)
