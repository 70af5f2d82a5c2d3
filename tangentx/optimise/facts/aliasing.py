"""Aliasing: which names may share memory with a result or be views of one another."""

from __future__ import annotations

import builtins
import operator

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, Region
from tangentx.analysis.types.primitives import makes_new
from tangentx.ir.nodes import Assign, Atom, Attr, Call, Index, Make, Op, Return, Var
from tangentx.ir.walk import atoms, statement_atoms, statements
from tangentx.optimise.facts.unit import Unit

PASSING = (
    arrays.unbroadcast,
    arrays.alike,
    arrays.one_system_each,
    arrays.seed_of_scalar,
    arrays.fitting,
    arrays.same_members,
    np.asarray,
    np.real,
)
"""Operations that may give back the very object that they were given."""
_IDENTITY = (operator.is_, operator.is_not, builtins.id, np.shares_memory, np.may_share_memory)


def is_view(program: Program, unit: Unit, result: Atom, made: Op) -> bool:
    """Whether the result may share memory with an operand."""
    kind = unit.kind(program, result)
    if not isinstance(kind, Arr) or makes_new(made.fn):
        return False
    kinds = [unit.kind(program, a) for a in atoms(made)]
    return any(isinstance(k, Arr) and k.region.root() is kind.region.root() for k in kinds)


def returned(unit: Unit, program: Program) -> frozenset[str]:
    """Names whose value may be, hold or share memory with what the function returns."""
    every = unit.statements()
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
        case Op(fn=fn) if fn in PASSING or is_view(program, unit, Var(s.target), s.value):
            return list(atoms(s.value))
    return []


def passed_on(unit: Unit) -> frozenset[str]:
    """Names that others than operations on values and places read: who holds two arrays may ask whether they are one,
    ``a is b``, or may be given them both. Arrays of one value stand for one another only by names that are not here."""
    found: set[str] = set()
    for s in unit.statements():
        if isinstance(s, Assign) and (
            isinstance(s.value, Index | Attr) or (isinstance(s.value, Op) and not _tells_apart(s.value.fn))
        ):
            continue
        found.update(a.name for a in statement_atoms(s) if isinstance(a, Var))
    return frozenset(found)


def _tells_apart(fn: object) -> bool:
    return any(fn is each for each in (*PASSING, *_IDENTITY))


def viewed(program: Program) -> frozenset[Region]:
    """Memory of which an operation in any function of the program may give a view, by strides that a new array must
    then have too. What gives back the object itself, or a new one, asks for no strides."""
    found: set[Region] = set()
    for instance in program.reached():
        body = instance.link.function.body if instance.link.function is not None else ()
        for s in statements(body):
            kind = instance.kinds.get(s.target) if type(s) is Assign and type(s.value) is Op else None
            if type(s) is not Assign or type(s.value) is not Op or type(kind) is not Arr or makes_new(s.value.fn):
                continue
            root = kind.region.root()
            for a in atoms(s.value):
                given = instance.kinds.get(a.name) if type(a) is Var else None
                if type(given) is not Arr or given.region.root() is not root:
                    continue
                if given.dtype != kind.dtype or s.value.fn not in PASSING:
                    found.add(root)
    return frozenset(found)
