"""What the reverse sweep evaluates again instead of recording it.

Where the reverse of a statement gives its cotangents, every name and all memory have the content that they had before
the statement. So a name that is formed cheaply, bound in one place and read only after it in the same block, can be
formed again there, provided that nothing it is formed of changes between its place and that of the statement. It is
formed where the reverse sweep reads it first, which is at the last statement that reads it.
"""

from __future__ import annotations

import builtins
import operator
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tangentx.analysis.kinds import Arr, Box, Num
from tangentx.analysis.operations import is_view
from tangentx.analysis.regions import Region
from tangentx.analysis.selection import is_basic
from tangentx.derive.emit import Frame
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Atom,
    Block,
    Break,
    Call,
    Continue,
    Delete,
    Ext,
    For,
    Index,
    Lit,
    Loop,
    Op,
    Pop,
    Return,
    Slice,
    Statement,
    Store,
    Var,
)
from tangentx.ir.walk import atoms, blocks, key_atoms, reads, statements, writes

ARITHMETIC = frozenset(
    (
        operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
        operator.neg, operator.pos, operator.abs, operator.lt, operator.le, operator.gt, operator.ge, operator.eq,
        operator.ne, operator.not_, operator.is_, operator.is_not, abs, float, int, bool, max, min,
    )
)  # fmt: skip
"""Operations on numbers that cost no more than a record."""
ANYTHING = "anything"  # a region for whatever an unknown call may write
Stuff = frozenset[str | Region]


@dataclass(eq=False)
class Again:
    """The names that are formed again, and the statements at whose reverse they are.

    `at`: where the state before the statement is back; `early`: where that after it still is.
    """

    names: set[str] = field(default_factory=set)
    at: dict[int, list[Assign]] = field(default_factory=dict)
    early: dict[int, list[Assign]] = field(default_factory=dict)


class _Statement:
    """A statement of a block, with what it and its blocks read, bind and write, and whether they may leave."""

    def __init__(self, frame: Frame, s: Statement) -> None:
        self.statement = s
        every = [s, *(inner for block in blocks(s) for inner in statements(block))]
        self.reads = Counter(name for inner in every for name in reads(inner))
        self.changes = frozenset(found for inner in every for found in _changes(frame, inner))
        self.leaves = any(isinstance(inner, Break | Continue | Return) for inner in every)
        self.gives = frozenset[str]()
        if isinstance(s, Assign) and not isinstance(s.value, Call | Pop):
            self.gives = reads(s)
        elif isinstance(s, Store | Accumulate) and isinstance(frame.kind(s.base), Arr):
            where = {a.name for a in (s.base, *key_atoms(s.key)) if isinstance(a, Var)}
            self.gives = reads(s) - where

    def state(self, name: str) -> int:
        """0 where the name is read when the state before the statement is back, else 1: while that of after it is."""
        return 0 if name in self.gives else 1


def _changes(frame: Frame, s: Statement) -> Iterator[str | Region]:
    yield from writes(s)
    if isinstance(s, Assign) and isinstance(s.value, Call):
        yield ANYTHING
    base: Atom | None = s.base if isinstance(s, Store | Accumulate | Append | Delete) else None
    if isinstance(s, Assign) and isinstance(s.value, Pop):
        base = s.value.base
    if base is not None:
        kind = frame.kind(base)
        yield kind.region.root() if isinstance(kind, Arr | Box) else ANYTHING


def plan(frame: Frame, paired: bool) -> Again:
    """What to form again in one function; `paired`: its sweeps are two functions, so that no name outlives the first.

    Elsewhere a name that only one trip binds is still bound in the reverse sweep.
    """
    found = Again()
    body = frame.function.body
    bound = Counter(name for s in statements(body) for name in writes(s))
    bound.update(p.name for p in frame.function.params)
    read = Counter(name for s in statements(body) for name in reads(s))
    todo: list[tuple[Block, bool]] = [(body, paired)]
    while todo:
        block, fresh = todo.pop()
        if fresh:
            _block(frame, block, bound, read, found)
        todo += [(inner, fresh or isinstance(s, For | Loop)) for s in block for inner in blocks(s)]
    return found


def _block(frame: Frame, block: Block, bound: Counter[str], read: Counter[str], found: Again) -> None:
    places = [_Statement(frame, s) for s in block]
    needed: dict[str, int] = {}  # since when a name has to be there because what it forms is formed again
    for i in range(len(places) - 1, -1, -1):
        s = places[i].statement
        if not isinstance(s, Assign) or bound[s.target] != 1 or s.target in reads(s):
            continue
        stuff = _formed_of(frame, s)
        uses = [j for j in range(i + 1, len(places)) if s.target in places[j].reads]
        if stuff is None or not uses or sum(places[j].reads[s.target] for j in uses) != read[s.target]:
            continue
        point = max(2 * uses[-1] + places[uses[-1]].state(s.target), needed.get(s.target, 0))
        if not _stays(places, i, point, stuff):
            continue
        found.names.add(s.target)
        where = found.early if point % 2 else found.at
        where.setdefault(id(places[point // 2].statement), []).insert(0, s)
        for atom in atoms(s.value):
            if isinstance(atom, Var):
                needed[atom.name] = max(needed.get(atom.name, 0), point)


def _stays(places: list[_Statement], i: int, point: int, stuff: Stuff) -> bool:
    """Whether control passes from the one to the other, and nothing in between changes what the name is formed of."""
    memory = any(isinstance(x, Region) for x in stuff)
    between = places[i + 1 : (point + 1) // 2]
    if any(p.leaves for p in places[i + 1 : point // 2]):
        return False
    return not any(p.changes & stuff or (memory and ANYTHING in p.changes) for p in between)


def _formed_of(frame: Frame, s: Assign) -> Stuff | None:
    """The names and the memory of which the value is formed; None where it is not formed again."""
    kind, value = frame.kinds[s.target], s.value
    names = frozenset(a.name for a in atoms(value) if isinstance(a, Var))
    match value:
        case Var():
            return names if isinstance(kind, Num) and _is_number(frame, value) else None
        case Op(fn=fn, args=args, kwargs=()):
            if fn is builtins.len and isinstance(given := frame.kind(args[0]), Arr) and not given.loose:
                return names
            cheap = isinstance(kind, Num) and _among(fn) and all(_is_number(frame, a) for a in args)
            return names if cheap else None
        case Index(base=Var() as base):
            memory = _read_by(frame, kind, base, value)
            return None if memory is None else names | memory
    return None


def _read_by(frame: Frame, kind: Any, base: Var, value: Index) -> frozenset[Region] | None:
    """The memory that an element is read from; none for a view, or for an item of a tuple."""
    held = frame.kind(base)
    if not all(_is_number(frame, a) or (isinstance(a, Lit) and a.value is None) for a in key_atoms(value.key)):
        return None
    if isinstance(held, Box):
        constant = held.cls is tuple and all(isinstance(a, Lit) for a in key_atoms(value.key))
        return frozenset() if constant and isinstance(kind, Num) else None
    if not isinstance(held, Arr) or held.loose:
        return None
    if isinstance(kind, Num):
        return frozenset((held.region.root(),))
    parts = tuple(() if isinstance(p, Slice) else frame.kind(p) for p in value.key.parts)
    basic = isinstance(kind, Arr) and not kind.loose and is_view(kind, held) and is_basic(parts)
    return frozenset() if basic else None


def _is_number(frame: Frame, atom: Atom) -> bool:
    return isinstance(atom, Var | Lit | Ext) and isinstance(frame.kind(atom), Num)


def _among(fn: Any) -> bool:
    try:
        return fn in ARITHMETIC
    except TypeError:
        return False
