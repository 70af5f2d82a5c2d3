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
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tangentx.analysis.kinds import Arr, Box, Num, is_view
from tangentx.analysis.regions import Region
from tangentx.analysis.selection import is_basic
from tangentx.derive.emit import SHADOW, VALUE, Frame, mode
from tangentx.derive.sparing import chosen
from tangentx.derive.staying import Staying
from tangentx.derive.steps import Steps, Stuff
from tangentx.derive.views import item_of_box
from tangentx.ir.nodes import (
    Assign,
    Atom,
    Block,
    Ext,
    For,
    Index,
    Lit,
    Loop,
    Op,
    Slice,
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


@dataclass(eq=False)
class Again:
    """The names that are formed again, and the statements at whose reverse they are.

    `at`: where the state before the statement is back; `early`: where that after it still is. The names of `first` are
    formed where the reverse of their block begins, wherever the block was left.
    """

    names: set[str] = field(default_factory=set)
    first: set[str] = field(default_factory=set)
    at: dict[int, list[Assign]] = field(default_factory=dict)
    early: dict[int, list[Assign]] = field(default_factory=dict)


def plan(frame: Frame, paired: bool, proves: Callable[[str], bool]) -> Again:
    """What to form again in one function, as far as these proofs are made; `paired`: its sweeps are two functions, so
    that no name outlives the first. Elsewhere a name that only one trip binds is still bound in the reverse sweep."""
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
            steps = Steps(frame, block, staying)
            _block(frame, steps, bound, read, found, recorded and proves("sparing"))
        for s in block:
            again, once = isinstance(s, For | Loop), isinstance(s, For) and s.snapshots is not None
            todo += [(inner, fresh or again, (recorded or again) and not once) for inner in blocks(s)]
    return found


def _block(frame: Frame, steps: Steps, bound: Counter[str], read: Counter[str], found: Again, sparing: bool) -> None:
    block = steps.block
    within = [(i, s, steps.last(i, s, read)) for i, s in enumerate(block) if isinstance(s, Assign)]
    places = [(i, s, last) for i, s, last in within if last >= 0 and bound[s.target] == 1]
    arrays = chosen(frame, block, places, steps.keeps) if sparing else {}
    needed: dict[str, int] = {}  # since when a name has to be there because what it forms is formed again
    for i, s, last in reversed(places):
        stuff = arrays[s.target] if s.target in arrays else _formed_of(frame, s)
        if stuff is None:
            continue
        point = max(2 * last + steps.state(last, s.target), needed.get(s.target, 0))
        if steps.leave(i, point):
            point = steps.end
        if not steps.stays(i, point, stuff):
            continue
        found.names.add(s.target)
        if point == steps.end:
            found.first.add(s.target)
        else:
            where = found.early if point % 2 else found.at
            where.setdefault(id(block[point // 2]), []).insert(0, s)
        for atom in atoms(s.value):
            if isinstance(atom, Var):
                needed[atom.name] = max(needed.get(atom.name, 0), point)


def _formed_of(frame: Frame, s: Assign) -> Stuff | None:
    """The names and the memory of which the value is formed; None where it is not formed again."""
    kind, value = frame.kinds[s.target], s.value
    names = frozenset(a.name for a in atoms(value) if isinstance(a, Var))
    match value:
        case Var():
            return names if isinstance(kind, Num) and _is_number(frame, value) else None
        case Op(fn=fn, args=args, kwargs=()):
            if _among(fn, MEASURES) and isinstance(given := frame.kind(args[0]), Arr) and given.sure:
                return names if len(args) == 1 and mode(kind) is None else None
            if _among(fn, VIEWS) and mode(kind) is None and isinstance(kind, Arr) and kind.sure:
                return names
            cheap = isinstance(kind, Num) and _among(fn, ARITHMETIC) and all(_is_number(frame, a) for a in args)
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
        if mode(kind) == SHADOW and mode(item_of_box(frame, held, value.key)) != SHADOW:
            return None
        whole = isinstance(kind, Num | Box) or (isinstance(kind, Arr) and kind.sure and mode(kind) != VALUE)
        return frozenset((held.region.root(),)) if whole else None
    if not isinstance(held, Arr) or not held.sure:
        return None
    if isinstance(kind, Num):
        return frozenset((held.region.root(),))
    parts = tuple(() if isinstance(p, Slice) else frame.kind(p) for p in value.key.parts)
    basic = isinstance(kind, Arr) and kind.sure and is_view(kind, held) and is_basic(parts)
    return frozenset() if basic else None


def _is_number(frame: Frame, atom: Atom) -> bool:
    return isinstance(atom, Var | Lit | Ext) and isinstance(frame.kind(atom), Num)


def _among(fn: Any, group: frozenset[Any]) -> bool:
    try:
        return fn in group
    except TypeError:
        return False
