"""Lists that are filled and then summed: every item receives the cotangent of the sum.

    sum(v * v for v in x)               # v_bar gets 2.0 * v * ans_bar, in each trip

By the general rule a list has a shadow, another list of which the reverse of the sum adds to each item, and the reverse
of each append takes one off. Where a list is made empty, filled, and added up in one block that is not left in between,
and nothing else reads it but its length, each of these is the cotangent of the sum: the list needs none of its own, and
is not emptied again. What is appended is a number, or an array that nobody writes.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tangentx import arrays
from tangentx.analysis.types.kinds import Arr, Box, Num
from tangentx.derive.emit import SHADOW, VALUE, Frame, mode
from tangentx.ir.nodes import (
    Append,
    Assign,
    Atom,
    Block,
    Break,
    Continue,
    For,
    Lit,
    Loop,
    Make,
    Op,
    Raise,
    Return,
    Statement,
    Var,
)
from tangentx.ir.tapes import EMPTY
from tangentx.ir.walk import blocks, reads, statements, writes

_SUMS = (builtins.sum, math.fsum, arrays.sum_of_some)


@dataclass(frozen=True)
class Summed:
    """`bars`: the name of the cotangent by the names of each list; `sums`: that by the identity of what adds it up."""

    bars: Mapping[str, str] = field(default_factory=dict)
    sums: Mapping[int, str] = field(default_factory=dict)


def summed_lists(frame: Frame) -> Summed:
    """The lists of a function that are added up and have no other use."""
    body = frame.function.body
    readers: dict[str, list[Statement]] = {}
    bound: dict[str, int] = {p.name: 1 for p in frame.function.params}
    for s in statements(body):
        for name in reads(s):
            readers.setdefault(name, []).append(s)
        for name in writes(s):
            bound[name] = bound.get(name, 0) + 1
    bars, sums = dict[str, str](), dict[int, str]()
    for block, i in _made(body):
        names = _Names(frame, readers, bound)
        end = names.follow(block, i)
        if end is not None:
            bar = frame.other(names.called())
            bars |= dict.fromkeys(names.names, bar)
            sums[id(end)] = bar
    return Summed(bars, sums)


def _made(body: Block) -> Iterator[tuple[Block, int]]:
    """Where empty lists are made: the block and the position."""
    todo = [body]
    while todo:
        block = todo.pop()
        for i, s in enumerate(block):
            todo += blocks(s)
            if isinstance(s, Assign) and isinstance(s.value, Make) and s.value == EMPTY:
                yield block, i


class _Names:
    """The names of one list, and all that reads it."""

    def __init__(self, frame: Frame, readers: Mapping[str, list[Statement]], bound: Mapping[str, int]) -> None:
        self.frame, self.readers, self.bound = frame, readers, bound
        self.names: list[str] = []

    def follow(self, block: Block, i: int) -> Assign | None:
        """What adds the list up that is made at a position of a block; None where it may have another use."""
        made = block[i]
        assert isinstance(made, Assign)
        between: list[Statement] = []
        if not self._is_summed(made.target) or not self._names(made.target):
            return None
        for s in block[i + 1 :]:
            if isinstance(s, Assign) and isinstance(s.value, Var) and s.value.name in self.names:
                if not self._names(s.target):
                    return None
            elif isinstance(s, Assign) and self._is_sum(s):
                return s if self._is_all(s, between) else None
            inside = list(statements((s,)))
            if any(isinstance(each, Break | Continue | Return | Raise | Loop) or _is_rerun(each) for each in inside):
                return None
            between += inside
        return None

    def _is_summed(self, name: str) -> bool:
        """Whether anything adds the list up, under this name or one bound to it: else what follows needs no look."""
        todo, seen = [name], {name}
        while todo:
            for s in self.readers.get(todo.pop(), ()):
                if isinstance(s, Assign) and isinstance(s.value, Op) and s.value.fn in _SUMS:
                    return True
                if isinstance(s, Assign) and isinstance(s.value, Var) and s.target not in seen:
                    seen.add(s.target)
                    todo.append(s.target)
        return False

    def called(self) -> str:
        """The user's name of the list, if it has one."""
        return next((name for name in self.names if not name.startswith("%")), self.names[0])

    def _names(self, name: str) -> bool:
        """Whether the name holds this list alone, whose items are numbers or arrays that nobody writes."""
        kind = self.frame.kinds[name]
        self.names.append(name)
        if self.bound[name] != 1 or not isinstance(kind, Box) or kind.cls is not list or mode(kind) != SHADOW:
            return False
        item = kind.region.any()
        still = isinstance(item, Arr) and item.sure and not item.none and item.region.still()
        return still or (isinstance(item, Num) and not item.none)

    def _is_sum(self, s: Assign) -> bool:
        value = s.value
        if not isinstance(value, Op) or value.kwargs or value.fn not in _SUMS or not self._is_mine(value.args[0]):
            return False
        return all(isinstance(start, Lit) for start in value.args[1:]) and mode(self.frame.kinds[s.target]) == VALUE

    def _is_mine(self, atom: Atom) -> bool:
        return isinstance(atom, Var) and atom.name in self.names

    def _is_all(self, end: Assign, between: list[Statement]) -> bool:
        """Whether nobody reads the list but the sum, what fills it before that, and who asks its length."""
        inside = {id(s) for s in between}
        return all(
            s is end or self._is_plain(s, id(s) in inside) for name in self.names for s in self.readers.get(name, ())
        )

    def _is_plain(self, s: Statement, inside: bool) -> bool:
        match s:
            case Append(value=value):
                return inside and not self._is_mine(value)
            case Assign(target=target, value=Var()):
                return inside and target in self.names
            case Assign(value=Op(fn=builtins.len)):
                return True
        return False


def _is_rerun(s: Statement) -> bool:
    """Whether the steps of the loop run again in the reverse sweep."""
    return isinstance(s, For) and s.snapshots is not None
