"""Rematerialisation: values that the reverse sweep recomputes rather than records.

Where the reverse of a statement gives its cotangents, every name and all memory have the content that they had before
the statement. So a name that is formed cheaply, bound in one place and read only after it in the same block, can be
formed again there, provided that nothing it is formed of changes between its place and that of the statement. It is
formed where the reverse sweep reads it first, which is at the last statement that reads it.
"""

from __future__ import annotations

import builtins
import operator
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from tangentx import arrays
from tangentx.analysis.types.kinds import Arr, Box, Num, Region, is_view
from tangentx.analysis.types.selection import is_basic
from tangentx.derive.emit import SHADOW, Frame, item_of_box, mode
from tangentx.derive.reverse.block_effects import Staying, Steps, Stuff
from tangentx.derive.reverse.rematerialise_arrays import chosen
from tangentx.ir.nodes import (
    Assign,
    Atom,
    Attr,
    Block,
    Ext,
    For,
    Index,
    Lit,
    Loop,
    Op,
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
