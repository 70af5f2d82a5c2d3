"""Rematerialisation of arrays, where recomputing one saves more records than it needs.

The products and sums of a step of an explicit scheme are each needed by the reverse of the next one. Recorded, they
cost an array each; formed again, they ask for what they are formed of, which is mostly one array: the part that the
step overwrites. Which of the two is less is counted here, taking all arrays of a block to be of one size.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from tangentx.analysis.types.kinds import Arr, Num, Region, varied
from tangentx.analysis.types.primitives import hashable
from tangentx.derive.emit import SHADOW, Frame, mode
from tangentx.derive.rules import ruled
from tangentx.ir.nodes import Accumulate, Append, Assign, Atom, Block, Call, Delete, For, Loop, Op, Pop, Store, Var
from tangentx.ir.walk import atoms, blocks, statements

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
            yield from _read_by(frame, s.target, s.value)


def _read_by(frame: Frame, target: str, op: Op) -> Iterator[str]:
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
