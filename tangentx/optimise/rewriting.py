"""What passes that write single statements anew have in common: facts, the two sweeps, and when a copy will do."""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np

from tangentx import arrays
from tangentx.analysis.kinds import Arr, Kind, Num, is_inexact
from tangentx.analysis.primitives import makes_new
from tangentx.analysis.program import Program
from tangentx.analysis.regions import Region
from tangentx.ir.nodes import Assign, Atom, Block, Call, Index, Lit, Make, Op, Return, Statement, Var
from tangentx.ir.walk import atoms, statement_atoms, statements
from tangentx.optimise.flow import sweeps
from tangentx.optimise.shapes import Facts, is_array
from tangentx.optimise.unit import Unit

_PASSING = (
    arrays.unbroadcast,
    arrays.one_system_each,
    arrays.seed_of_scalar,
    arrays.fitting,
    np.asarray,
    np.real,
)
"""Operations that may give back the very object that they were given."""


class Rewriter(Facts):
    """Facts, and whether the statement in hand belongs to the function's own reverse sweep."""

    def __init__(self, program: Program, unit: Unit) -> None:
        super().__init__(program, unit)
        self.reverse = False
        self.returned = unit.found(returned, program)

    def whole(self) -> Block:
        """The body written anew; the very same one if nothing changed."""
        body = self.unit.body
        forward, reverse = sweeps(self.unit.function)
        first = self.block(forward)
        self.reverse = True
        second = self.block(reverse) if self.env is not None else reverse
        return body if first is forward and second is reverse else (*first, *second)

    def kind(self, atom: Atom) -> Kind:
        """The kind of an atom."""
        return self.unit.kind(self.program, atom)

    def same(self, s: Assign, atom: Atom) -> Statement | None:
        """``target = atom`` for what is known to equal it, where a shared array can do no harm; else None.

        An array that the function gives back must be of its own, so it is copied unless nobody else has it.
        """
        old, new = self.unit.kinds.get(s.target), self.kind(atom)
        if isinstance(new, Num):
            number = isinstance(old, Num) or (isinstance(old, Arr) and old.loose)
            return Assign(s.target, atom, s.span) if number else None
        if not (isinstance(old, Arr) and is_array(new) and isinstance(new, Arr)):
            return None
        if old.region.root().written or new.region.root().written or old.dtype != new.dtype:
            return None
        if s.target in self.returned and not self._own(atom, s):
            return Assign(s.target, Op(arrays.clone, (atom,)), s.span)
        old.region.unite(new.region)
        return Assign(s.target, atom, s.span)

    def _own(self, atom: Atom, s: Statement) -> bool:
        """Whether the array was made by an operation for the statement alone: nothing else reads it."""
        if not isinstance(atom, Var) or self.bindings[atom.name] > 1 or self.count[atom.name] > 1:
            return False
        if atom not in statement_atoms(s):
            return False
        made = self.expr(atom)
        return isinstance(made, Op) and made.fn not in _PASSING and not is_view(self.program, self.unit, atom, made)

    def still(self, atom: Atom) -> bool:
        """Whether the value of the atom cannot be changed by a write into memory."""
        kind = self.kind(atom)
        return isinstance(kind, Num) or (isinstance(kind, Arr) and not kind.region.root().written)

    def real(self, atom: Atom) -> bool:
        """Whether the atom is a real or complex number, or an array of them."""
        return is_inexact(self.kind(atom))


class Following(Rewriter):
    """Knows another name of what an operation gave by that operation too; so it cannot tell whose an array is."""

    def after(self, s: Statement) -> None:
        """Passes on to a name what is known of the one it stands for."""
        super().after(s)
        if not (isinstance(s, Assign) and isinstance(s.value, Var)) or self.env is None:
            return
        made = self.expr(s.value)
        if isinstance(made, Op) and self._note_readers(s.target, made):
            self.env[s.target] = self.env[s.target]._replace(expr=made)


def is_view(program: Program, unit: Unit, result: Atom, made: Op) -> bool:
    """Whether the result may share memory with an operand."""
    kind = unit.kind(program, result)
    if not isinstance(kind, Arr) or makes_new(made.fn):
        return False
    kinds = [unit.kind(program, a) for a in atoms(made)]
    return any(isinstance(k, Arr) and k.region.root() is kind.region.root() for k in kinds)


def returned(unit: Unit, program: Program) -> frozenset[str]:
    """Names whose value may be, hold or share memory with what the function returns."""
    every = list(statements(unit.body))
    bound: dict[str, list[Assign]] = {}
    for s in every:
        if type(s) is Assign:
            bound.setdefault(s.target, []).append(s)
    todo = [s.value.name for s in every if type(s) is Return and type(s.value) is Var]
    found = set(todo)
    while todo:
        for s in bound.get(todo.pop(), ()):
            more = {a.name for a in _passed(program, unit, s) if type(a) is Var} - found
            found |= more
            todo += more
    return frozenset(found)


def _passed(program: Program, unit: Unit, s: Assign) -> list[Atom]:
    match s.value:
        case Var() | Make() | Call() | Index():
            return list(atoms(s.value))
        case Op(fn=fn) if fn in _PASSING or is_view(program, unit, Var(s.target), s.value):
            return list(atoms(s.value))
    return []


def viewed(program: Program) -> frozenset[Region]:
    """Memory of which an operation in any function of the program may give a view, by strides that a new array must
    then have too."""
    found: set[Region] = set()
    for instance in program.reached():
        body = instance.link.function.body if instance.link.function is not None else ()
        for s in statements(body):
            kind = instance.kinds.get(s.target) if isinstance(s, Assign) and isinstance(s.value, Op) else None
            if not isinstance(kind, Arr) or not isinstance(s, Assign):
                continue
            given = (instance.kinds.get(a.name) for a in atoms(s.value) if isinstance(a, Var))
            if any(isinstance(k, Arr) and k.region.root() is kind.region.root() for k in given):
                found.add(kind.region.root())
    return frozenset(found)


def is_number(atom: Atom, value: float) -> bool:
    """Whether the atom is the constant `value`, an int or a float."""
    return isinstance(atom, Lit) and type(atom.value) in (int, float) and atom.value == value


def run_each(program: Program, units: Sequence[Unit], rewriter: type[Rewriter]) -> bool:
    """Writes each function anew; True if any changed."""
    changed = False
    for unit in units:
        if unit.settled.get(rewriter) is unit.body:
            continue
        body = rewriter(program, unit).whole()
        if body is unit.body:
            unit.settled[rewriter] = body
        else:
            unit.body = body
            changed = True
    return changed


ADD, SUB, MUL, NEG, MATMUL = operator.add, operator.sub, operator.mul, operator.neg, operator.matmul
