"""Rematerialisation: numbers and arrays that the reverse sweep recomputes rather than records."""

from __future__ import annotations

import builtins
import operator
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from tangentx import arrays
from tangentx.analysis.dependence.array_dependence import Elements, Spot
from tangentx.analysis.dependence.control_context import Course, Place
from tangentx.analysis.types.kinds import Arr, Box, Num, Region, is_view, varied
from tangentx.analysis.types.primitives import hashable
from tangentx.analysis.types.selection import is_basic
from tangentx.common.forks import once
from tangentx.derive.emit import SHADOW, Frame, item_of_box, mode
from tangentx.derive.rules import ruled
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Atom,
    Attr,
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

# Element stability: array elements that keep their value while other elements of the array are written.


class Staying:
    """The elements that one function reads and writes, looked at where somebody asks."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    @once
    def _elements(self) -> Elements:
        function = self.frame.function
        return Elements(Course(function.body, [p.name for p in function.params]), self.frame.kind)

    @once
    def _places(self) -> dict[int, Place]:
        return {id(place.statement): place for place in self._elements.course.places}

    def is_apart(self, read: Statement, change: Statement, memory: Region) -> bool:
        """Whether a statement, after another one that reads an element, in the same trip of all loops that both stand
        in, writes other elements of the memory alone."""
        spot = self._spot(read)
        writes = list(self._writes(change, memory))
        return spot is not None and all(w is not None and not self._elements.may_meet_within(spot, w) for w in writes)

    def is_last(self, write: Store, memory: Region, alone: bool) -> bool:
        """Whether nothing writes over what a statement writes, so that it need not be brought back; `alone`: nor has
        anything written there before it, so that nothing is brought back in its place."""
        spot = self._spot(write)
        every = [place.statement for place in self._elements.course.places]
        calls = (s.value for s in every if isinstance(s, Assign) and isinstance(s.value, Call))
        if spot is None or any(not isinstance(self.frame.kind(a), Num) for call in calls for a in call.args):
            return False
        others = (w for s in every for w in self._writes(s, memory, inside=False))
        meet = self._elements.may_meet
        return all(w is not None and not meet(spot, w) and not (alone and meet(w, spot)) for w in others)

    def _spot(self, s: Statement) -> Spot | None:
        """The element that a statement reads or writes."""
        if isinstance(s, Store | Accumulate):
            return self._elements.spot(s.base, s.key.parts, self._places[id(s)])
        if isinstance(s, Assign) and isinstance(s.value, Index):
            return self._elements.spot(s.value.base, s.value.key.parts, self._places[id(s)])
        return None

    def _writes(self, change: Statement, memory: Region, inside: bool = True) -> Iterator[Spot | None]:
        """What a statement, and those `inside` it, write of the memory; None where that is not known."""
        for s in statements((change,)) if inside else (change,):
            popped = s.value.base if isinstance(s, Assign) and isinstance(s.value, Pop) else None
            base = s.base if isinstance(s, Store | Accumulate | Append | Delete) else popped
            kind = None if base is None else self.frame.kind(base)
            if isinstance(kind, Arr) and kind.region.root() is memory:
                yield self._spot(s)


ANYTHING = "anything"  # a region for whatever an unknown call may write


class Steps:
    """The statements of a block: where they, and those inside them, read and change what, and where they may leave.

    A point is twice the position of a statement where the state before it is meant, one more for that after it.
    """

    def __init__(
        self, frame: Frame, block: Block, staying: Staying | None, read: Callable[[Statement], Iterable[str]] = reads
    ) -> None:
        """`read` gives the names that the reverse of a statement may read for the statement."""
        self.frame = frame
        self.block = block
        self.staying = staying
        self.end = 2 * len(block)
        self.read: dict[str, list[tuple[int, int]]] = {}
        self.changed: dict[str | Region, list[int]] = {}
        self.exits: list[int] = []
        for i, s in enumerate(block):
            every = list(statements((s,)))
            for name, count in Counter(name for inner in every for name in read(inner)).items():
                self.read.setdefault(name, []).append((i, count))
            for found in dict.fromkeys(found for inner in every for found in _changes(frame, inner)):
                self.changed.setdefault(found, []).append(i)
            if any(isinstance(inner, Break | Continue | Return) for inner in every):
                self.exits.append(i)

    def uses(self, name: str) -> list[tuple[int, int]]:
        """The positions of the statements that read the name, each with the number of its reads."""
        return self.read.get(name, [])

    def state(self, i: int, name: str) -> int:
        """0 where the name is read when the state before the statement is back, else 1: while that of after it is."""
        s = self.block[i]
        if isinstance(s, Assign) and not isinstance(s.value, Call | Pop):
            return 0
        if isinstance(s, Store | Accumulate) and isinstance(self.frame.kind(s.base), Arr):
            return 1 if Var(name) in (s.base, *key_atoms(s.key)) else 0
        return 1

    def last(self, i: int, s: Assign, read: Counter[str]) -> int:
        """Of the statement at a position the last one that reads its target; -1 where some do so elsewhere, or none."""
        uses = self.uses(s.target)
        if not uses or uses[0][0] <= i or sum(count for _, count in uses) != read[s.target] or s.target in reads(s):
            return -1
        return uses[-1][0]

    def keeps(self, i: int, last: int, name: str, stuff: Stuff) -> bool:
        """Whether the name can be formed again for the last statement that reads it, where its state is back."""
        point = 2 * last + self.state(last, name)
        return not self.leave(i, point) and self.stays(i, point, stuff)

    def leave(self, i: int, point: int) -> bool:
        """Whether control may leave the block between the statement and the point."""
        return _any_within(self.exits, i + 1, point // 2)

    def stays(self, i: int, point: int, stuff: Stuff) -> bool:
        """Whether nothing between the statement and the point changes what the name is formed of."""
        memory = any(isinstance(x, Region) for x in stuff)
        watched = [*stuff, ANYTHING] if memory else stuff
        changes = ((x, j) for x in watched for j in _within(self.changed.get(x, []), i + 1, (point + 1) // 2))
        return all(self._is_apart(i, j, x) for x, j in changes)

    def is_last(self, i: int, memory: Region, alone: bool) -> bool:
        """Whether nothing writes over what the statement at the position writes into an array; see `Staying`."""
        s = self.block[i]
        return self.staying is not None and isinstance(s, Store) and self.staying.is_last(s, memory, alone)

    def _is_apart(self, i: int, j: int, changed: str | Region) -> bool:
        """Whether the statement at one position reads an element, and that at the other changes others alone."""
        if self.staying is None or not isinstance(changed, Region):
            return False
        return self.staying.is_apart(self.block[i], self.block[j], changed)


def _any_within(positions: list[int], start: int, stop: int) -> bool:
    return bool(_within(positions, start, stop))


def _within(positions: list[int], start: int, stop: int) -> list[int]:
    return positions[bisect_left(positions, start) : bisect_left(positions, stop)]


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


# Rematerialisation of arrays, where recomputing one saves more records than it needs.
#
# The products and sums of a step of an explicit scheme are each needed by the reverse of the next one. Recorded, they
# cost an array each; formed again, they ask for what they are formed of, which is mostly one array: the part that the
# step overwrites. Which of the two is less is counted here, taking all arrays of a block to be of one size.

CHEAP = frozenset(
    (operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos, np.sqrt, np.square)
)
_LINEAR = frozenset((operator.add, operator.sub, operator.neg, operator.pos))
_BY_RESULT = frozenset((np.exp, np.sqrt, np.tanh, np.cbrt, np.reciprocal))


@dataclass(eq=False)
class _Needs:
    """What the reverse sweep reads: names of arrays that are recorded, and memory whose old content is restored."""

    names: set[str] = field(default_factory=set)
    memory: set[Region] = field(default_factory=set)


Stuff = frozenset[str | Region]
Keeps = Callable[[int, int, str, Stuff], bool]
"""Whether a name, bound at one place and read last at another, can be formed again of such names and memory."""


def chosen(frame: Frame, block: Block, places: list[tuple[int, Assign, int]], keeps: Keeps) -> dict[str, Stuff]:
    """The arrays of a block that are formed again, with what they are formed of; `places` are those of its bindings
    that are read in the block alone, with their places and those of the last statements that read them."""
    found: dict[str, Stuff] = {}
    eligible: dict[str, Assign] = {}
    for i, s, last in places:
        if not _is_formable(frame, s):
            continue
        stuff: Stuff = frozenset((*(a.name for a in atoms(s.value) if isinstance(a, Var)), *_memory_of(frame, s)))
        if keeps(i, last, s.target, stuff):
            found[s.target], eligible[s.target] = stuff, s
    return {name: found[name] for name in _spared(frame, block, eligible)} if found else {}


def _is_formable(frame: Frame, s: Assign) -> bool:
    """Whether the value is cheap arithmetic of arrays and numbers, with no memory of its own."""
    kind, value = frame.kinds[s.target], s.value
    if not (isinstance(value, Op) and value.fn in hashable(CHEAP, value.fn) and not value.kwargs):
        return False
    if not (isinstance(kind, Arr) and kind.sure and mode(kind) != SHADOW and not kind.region.root().written):
        return False
    return all(_is_plain(frame, a) for a in value.args)


def _is_plain(frame: Frame, atom: Atom) -> bool:
    kind = frame.kind(atom)
    return isinstance(kind, Num) or (isinstance(kind, Arr) and kind.sure)


def _memory_of(frame: Frame, s: Assign) -> frozenset[Region]:
    """The memory of the operands that is written somewhere."""
    kinds = [frame.kind(a) for a in atoms(s.value)]
    nodes = [kind.region.root() for kind in kinds if isinstance(kind, Arr)]
    return frozenset(node for node in nodes if node.written)


def _spared(frame: Frame, block: Block, eligible: dict[str, Assign]) -> frozenset[str]:
    """Of the arrays that may be formed again those that should be: all that are needed, or none."""
    needs = _Needs()
    for name in _needed(frame, block):  # what is read after the loop needs nothing that the loop overwrites
        _need(frame, needs, name, eligible)
    wanted = [name for name in eligible if name in needs.names]
    after = _Needs(needs.names - eligible.keys(), set(needs.memory))
    formed: dict[str, None] = {}
    todo = list(wanted)
    while todo:
        name = todo.pop()
        if name in formed:
            continue
        formed[name] = None
        for atom in atoms(eligible[name].value):
            if isinstance(atom, Var) and atom.name in eligible:
                todo.append(atom.name)
            elif isinstance(atom, Var):
                _need(frame, after, atom.name, eligible)
    inside = _bound_in_loops(frame.function.body)
    more = len((after.names - needs.names) & inside) + sum(
        _records(frame, node) for node in after.memory - needs.memory
    )
    return frozenset(formed) if more < len(wanted) else frozenset()


def _need(frame: Frame, needs: _Needs, name: str, eligible: dict[str, Assign]) -> None:
    kind = frame.kinds.get(name)
    if isinstance(kind, Arr) and kind.region.root().written:
        needs.memory.add(kind.region.root())
    elif isinstance(kind, Arr):
        needs.names.add(name)


def _needed(frame: Frame, body: Block) -> Iterator[str]:
    """The arrays whose values the reverse of a statement reads."""
    for s in statements(body):
        if not isinstance(s, Assign):
            continue
        if isinstance(s.value, Call):
            yield from (a.name for a in s.value.args if isinstance(a, Var))
        elif isinstance(s.value, Op) and varied(frame.kinds[s.target]):
            yield from _used_by(frame, s.target, s.value)


def _used_by(frame: Frame, target: str, op: Op) -> Iterator[str]:
    op, template = ruled(op)
    if op.fn in hashable(_LINEAR, op.fn) or (template is not None and template.kind in ("linear", "constant")):
        return
    if op.fn in hashable(_BY_RESULT, op.fn):
        yield target
        return
    given = [a for a in atoms(op) if isinstance(a, Var)]
    if op.fn is operator.mul:
        given = [a for a, other in zip(op.args, reversed(op.args), strict=True) if varied(frame.kind(other))]  # type: ignore[misc]
    yield from (a.name for a in given if isinstance(a, Var))


def _records(frame: Frame, node: Region) -> int:
    """How many statements overwrite the memory, each of which would have to record what it overwrites."""
    count = 0
    for s in statements(frame.function.body):
        if isinstance(s, Store | Accumulate | Append | Delete):
            kind = frame.kind(s.base)
            count += isinstance(kind, Arr) and kind.region.root() is node
        elif isinstance(s, Assign) and isinstance(s.value, Call | Pop):
            held = [frame.kind(a) for a in atoms(s.value)]
            count += 100 * any(isinstance(k, Arr) and k.region.root() is node for k in held)
    return count


def _bound_in_loops(body: Block) -> frozenset[str]:
    found: set[str] = set()
    todo: list[tuple[Block, bool]] = [(body, False)]
    while todo:
        block, inside = todo.pop()
        for s in block:
            if inside and isinstance(s, Assign):
                found.add(s.target)
            todo += [(inner, inside or isinstance(s, For | Loop)) for inner in blocks(s)]
    return frozenset(found)


# Rematerialisation: values that the reverse sweep recomputes rather than records.
#
# Where the reverse of a statement gives its cotangents, every name and all memory have the content that they had
# before the statement. So a name that is formed cheaply, bound in one place and read only after it in the same block,
# can be formed again there, provided that nothing it is formed of changes between its place and that of the
# statement. It is formed where the reverse sweep reads it first, which is at the last statement that reads it.

ARITHMETIC = frozenset(
    (
        operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
        operator.neg, operator.pos, operator.abs, operator.lt, operator.le, operator.gt, operator.ge, operator.eq,
        operator.ne, operator.not_, operator.is_, operator.is_not, abs, float, int, bool, max, min,
    )
)  # fmt: skip
"""Operations on numbers that cost no more than a record."""
MEASURES = frozenset((builtins.len, np.shape, np.size, np.ndim))
VIEWS = frozenset((np.transpose, np.swapaxes))


Fits: TypeAlias = frozenset[tuple[int, str]]
_NUMBERS = {float: np.float64, complex: np.complex128}
"""The numbers of Python's that an array gives back to the bit, each with the type that they have there."""


@dataclass(eq=False)
class Again:
    """The names that are formed again, and the statements at whose reverse they are.

    `at`: where the state before the statement is back; `early`: where that after it still is. The names of `first` are
    formed where the reverse of their block begins, wherever the block was left. Names of `stored` are read from an
    array in which they stand, and made of what is read there by the function that is given.
    """

    names: set[str] = field(default_factory=set)
    first: set[str] = field(default_factory=set)
    stored: dict[str, Callable[..., Any]] = field(default_factory=dict)
    at: dict[int, list[Assign]] = field(default_factory=dict)
    early: dict[int, list[Assign]] = field(default_factory=dict)
    points: dict[str, int] = field(default_factory=dict)

    def add(self, s: Assign, point: int, needed: dict[str, int]) -> None:
        """Notes that a name is formed again at a point of its block, where what it is formed of has to be by then."""
        self.names.add(s.target)
        self.points[s.target] = point
        for name in reads(s):
            needed[name] = max(needed.get(name, 0), point)


def plan(
    frame: Frame,
    paired: bool,
    proves: Callable[[str], bool],
    read_for: Callable[[Statement], Iterable[str]] = reads,
    fits: Fits = frozenset(),
) -> Again:
    """What to form again in one function, as far as these proofs are made; `paired`: its sweeps are two functions, so
    that no name outlives the first. Elsewhere a name that only one trip binds is still bound in the reverse sweep.
    `read_for` gives what the reverse of a statement may read, `fits` which arrays have the shape of the place that they
    are written to."""
    found = Again()
    body = frame.function.body
    staying = Staying(frame) if proves("elements") else None
    bound = Counter(name for s in statements(body) for name in writes(s))
    bound.update(p.name for p in frame.function.params)
    read = Counter(name for s in statements(body) for name in reads(s))
    todo: list[tuple[Block, bool, bool]] = [(body, paired, False)]
    while todo:
        block, fresh, recorded = todo.pop()  # recorded: once for each trip
        if fresh:
            steps = Steps(frame, block, staying, read_for)
            _block(frame, steps, bound, read, found, recorded and proves("sparing"), block is body, fits)
        for s in block:
            again, once = isinstance(s, For | Loop), isinstance(s, For) and s.snapshots is not None
            todo += [(inner, fresh or again, (recorded or again) and not once) for inner in blocks(s)]
    return found


def _block(
    frame: Frame,
    steps: Steps,
    bound: Counter[str],
    read: Counter[str],
    found: Again,
    sparing: bool,
    outer: bool,
    fits: Fits,
) -> None:
    """The names of one block; `outer`: that of the function itself, which keeps a number once."""
    block = steps.block
    within = [(i, s, steps.last(i, s, read)) for i, s in enumerate(block) if isinstance(s, Assign)]
    places = [(i, s, last) for i, s, last in within if last >= 0 and bound[s.target] == 1]
    formed = chosen(frame, block, places, steps.keeps) if sparing else {}
    needed: dict[str, int] = {}  # since when a name has to be there because what it forms is formed again
    for i, s, last in reversed(places):
        if outer and _is_of_written(frame, s):
            continue  # the number is kept, rather than the array restored for it
        stuff = formed[s.target] if s.target in formed else _formed_of(frame, s)
        point = max(2 * last + steps.state(last, s.target), needed.get(s.target, 0))
        if _is_read_where_stored(frame, steps, s, (i, last, point), found, needed, fits) or stuff is None:
            continue
        if steps.leave(i, point):
            point = steps.end
        if not steps.stays(i, point, stuff):
            continue
        if point == steps.end:
            found.first.add(s.target)
        else:
            where = found.early if point % 2 else found.at
            where.setdefault(id(block[point // 2]), []).insert(0, s)
        found.add(s, point, needed)


def _is_read_where_stored(
    frame: Frame,
    steps: Steps,
    s: Assign,
    where: tuple[int, int, int],
    found: Again,
    needed: dict[str, int],
    fits: Fits,
) -> bool:
    """Has what is written into an array, at a place that keeps it, read there again; False where it is not.

    `where` has the positions of its binding and of its last reader, and the point at which it has to be there.
    """
    i, last, wanted = where
    if not isinstance(s.value, Op):
        return False
    for q in range(i + 1, last + 1):
        store, point = steps.block[q], max(wanted, 2 * q + 1)
        if not (isinstance(store, Store) and store.value == Var(s.target) and _keeps(frame, store, fits)):
            continue
        made = Assign(s.target, Index(store.base, store.key), s.span)
        region, names = frame.kind(store.base).region.root(), reads(made)  # type: ignore[union-attr]
        late = any(found.points.get(name, point) < point for name in names)
        if late or point >= steps.end or steps.leave(i, point) or not steps.stays(q, point, names | {region}):
            continue
        there = (found.early if point % 2 else found.at).setdefault(id(steps.block[point // 2]), [])
        after = max((k + 1 for k, other in enumerate(there) if other.target in names), default=0)
        alone = isinstance(frame.kinds[s.target], Arr)  # what is brought back over an array, it would be copied for
        if any(s.target in reads(other) for other in there[:after]) or not steps.is_last(q, region, alone):
            continue
        there.insert(after, made)
        found.add(made, point, needed)
        value = frame.kinds[s.target]
        if not isinstance(value, Num):
            found.stored[s.target] = arrays.clone  # of a place that the reverse sweep may write to
        elif value.type in _NUMBERS:
            found.stored[s.target] = value.type
        return True
    return False


def _keeps(frame: Frame, s: Store, fits: Fits) -> bool:
    """Whether a place holds the very numbers that are written to it."""
    kind, value, parts = frame.kind(s.base), frame.kind(s.value), s.key.parts
    if not (isinstance(kind, Arr) and kind.sure):
        return False
    if isinstance(value, Num):
        one = kind.rank == len(parts) and not any(isinstance(part, Slice) for part in parts)
        alike = not value.none and kind.dtype.type is _NUMBERS.get(value.type, value.type) and not value.types
        return one and alike and all(_is_number(frame, a) for a in key_atoms(s.key))
    if not (isinstance(value, Arr) and isinstance(s.value, Var) and (id(s), s.value.name) in fits):
        return False
    alike = value.sure and (kind.dtype, kind.library) == (value.dtype, value.library)
    if value.region.root().written:
        return False  # it may be another array by the time
    basic = is_basic(tuple(() if isinstance(part, Slice) else frame.kind(part) for part in parts))
    return alike and basic and all(isinstance(a, Lit) or _is_number(frame, a) for a in key_atoms(s.key))


def _formed_of(frame: Frame, s: Assign) -> Stuff | None:
    """The names and the memory of which the value is formed; None where it is not formed again."""
    kind, value = frame.kinds[s.target], s.value
    names = frozenset(a.name for a in atoms(value) if isinstance(a, Var))
    match value:
        case Var():
            if isinstance(kind, Num):
                return names if _is_number(frame, value) else None
            return names if frame.kind(value) == kind and _is_sure(kind) else None
        case Op(fn=fn, args=args, kwargs=()):
            if _among(fn, MEASURES) and isinstance(given := frame.kind(args[0]), Arr) and given.sure:
                return names if len(args) == 1 and mode(kind) is None else None
            if _among(fn, VIEWS) and mode(kind) != SHADOW and isinstance(kind, Arr) and kind.sure:
                return names
            cheap = isinstance(kind, Num) and _among(fn, ARITHMETIC) and all(_is_number(frame, a) for a in args)
            return names if cheap else None
        case Attr(base=Var() as base, name="shape" | "size" | "ndim") if isinstance(given := frame.kind(base), Arr):
            return names if given.sure and mode(kind) is None else None
        case Index(base=Var() as base):
            memory = _read_by(frame, kind, base, value)
            return None if memory is None else names | memory
    return None


def _read_by(frame: Frame, kind: Any, base: Var, value: Index) -> frozenset[Region] | None:
    """The memory that an element is read from; none for a view, or for an item of a tuple."""
    held = frame.kind(base)
    if not all(_is_number(frame, a) or isinstance(a, Lit) for a in key_atoms(value.key)):
        return None
    if isinstance(held, Box):
        if mode(kind) == SHADOW and mode(item_of_box(frame, held, value.key)) != SHADOW:
            return None
        return frozenset((held.region.root(),)) if _is_sure(kind) else None
    if not isinstance(held, Arr) or not held.sure:
        return None
    if isinstance(kind, Num):
        return frozenset((held.region.root(),))
    parts = tuple(() if isinstance(p, Slice) else frame.kind(p) for p in value.key.parts)
    basic = isinstance(kind, Arr) and kind.sure and is_view(kind, held) and is_basic(parts)
    return frozenset() if basic else None


def _is_sure(kind: Any) -> bool:
    """Whether values of the kind are all numbers, all arrays or all containers."""
    return isinstance(kind, Num | Box) or (isinstance(kind, Arr) and kind.sure)


def _is_of_written(frame: Frame, s: Assign) -> bool:
    """Whether it reads a number from an array that the program writes."""
    kind = frame.kind(s.value.base) if isinstance(s.value, Index) else None
    return isinstance(kind, Arr) and kind.region.root().written and isinstance(frame.kinds[s.target], Num)


def _is_number(frame: Frame, atom: Atom) -> bool:
    return isinstance(atom, Var | Lit | Ext) and isinstance(frame.kind(atom), Num)


def _among(fn: Any, group: frozenset[Any]) -> bool:
    try:
        return fn in group
    except TypeError:
        return False
