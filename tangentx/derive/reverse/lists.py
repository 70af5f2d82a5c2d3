"""Lists and dicts whose cotangents need no list or dict of their own kept from the forward sweep."""

from __future__ import annotations

import builtins
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tangentx import arrays
from tangentx.analysis.types.kinds import Arr, Box, Kind, Num
from tangentx.analysis.types.primitives import has_effect
from tangentx.derive.emit import SHADOW, VALUE, Frame, mode
from tangentx.ir.markers import EMPTY
from tangentx.ir.nodes import (
    Append,
    Assign,
    Atom,
    Block,
    Break,
    Continue,
    For,
    If,
    Index,
    Key,
    Lit,
    Loop,
    Make,
    Op,
    Pop,
    Raise,
    Return,
    Statement,
    Store,
    Var,
)
from tangentx.ir.walk import atoms, blocks, bound, reads, statements, writes

# Stack-like lists: they change at their end only, so that their cotangents live in the reverse sweep alone.
#
#     tape.append(u)          # u_bar += tape_bar.pop()
#     ...
#     v = tape.pop()          # tape_bar.append(v_bar)
#
# By the general rule the forward sweep keeps a second list of zeros beside each one, which grows and shrinks with it.
# A list that is made empty outside of all loops and branches, and is only appended to, popped from, read item by item
# or given to operations, needs none there: the reverse sweep begins with zeros for what the list holds at the end,
# and goes back from that. It begins with an empty list where all that was appended is popped again for certain. Loops
# and branches of a forward sweep and their twins in a reverse sweep do so, as in a gradient that is differentiated
# again.
#
#     out.append(u[1])                        # u_bar[1] += out_bar.pop()
#     ...
#     misfit = np.array(out) - data           # out_bar = nested(misfit_bar, out)
#
# Where an operation is the last that has to do with the list, outside of all loops and branches, its reverse comes
# before all others', and binds the cotangents: nobody reads the zeros.


class Change(NamedTuple):
    """What a statement does to a list: puts an item on, or (`back`) takes one off; or what its blocks do, as often as a
    twin, of the same `what`, undoes it."""

    what: object
    back: bool
    blocks: tuple[tuple[Change, ...], ...] = ()


class Stack(NamedTuple):
    """Whether the list is empty for certain where the function ends, and the operation that reads all of it last."""

    is_emptied: bool
    end: Statement | None = None


def stacks(frame: Frame) -> Mapping[str, Stack]:
    """The lists of a function that change at their end alone."""
    body = frame.function.body
    if not body or [s for s in statements(body) if isinstance(s, Return)] != [body[-1]]:
        return {}
    made = {s.target for s in body if isinstance(s, Assign) and s.value == EMPTY}
    made = {name for name in made if _holds_values(frame, name)}
    bound: Counter[str] = Counter()
    for s in statements(body) if made else ():
        made -= _otherwise_used(frame, s)
        bound.update(writes(s))
    found = sorted(name for name in made if bound[name] == 1)
    return {name: Stack(_is_emptied(body, name), _end(frame, body, name)) for name in found}


def _holds_values(frame: Frame, name: str) -> bool:
    """Whether cotangents of the items are values: those of numbers, and of arrays that nobody writes."""
    kind = frame.kinds[name]
    if not isinstance(kind, Box) or kind.cls is not list or mode(kind) != SHADOW:
        return False
    item = kind.region.any()
    plain = not item.none if isinstance(item, Num) else isinstance(item, Arr) and item.sure and not item.dtypes
    return mode(item) == VALUE and plain


def _otherwise_used(frame: Frame, s: Statement) -> frozenset[str]:
    """The names that a statement reads, but for lists of which it uses the end, the length, an item or a value."""
    match s:
        case Append(base=Var(name), value=value) if value != Var(name):
            return reads(s) - {name}
        case Assign(value=Pop(base=Var(name))) | Assign(value=Op(fn=builtins.len, args=(Var(name),))):
            return frozenset()
        case Assign(target=target, value=Op() | Index() as value) if _is_value(frame.kinds[target]):
            if has_effect(value):
                return reads(s)
            return frozenset()
        case For(snapshots=snapshots) if snapshots is not None:  # its steps run again in the reverse sweep
            return frozenset(name for each in statements((s,)) for name in reads(each))
    return reads(s)


def _is_value(kind: Kind) -> bool:
    """Whether it is a number or an array whose cotangent is a value, and so shares nothing with a list."""
    return isinstance(kind, Num | Arr) and mode(kind) in (VALUE, None)


def _end(frame: Frame, body: Block, name: str) -> Statement | None:
    """The statement of the function's own that has to do with the list last, if it is an operation on all of it."""
    last = [s for s in body if any(name in reads(each) for each in statements((s,)))][-1:]
    match last:
        case [Assign(target=target, value=Op(fn=fn) as op) as s] if fn is not builtins.len:
            is_varied = mode(frame.kinds[target]) == VALUE
            return s if is_varied and list(atoms(op)).count(Var(name)) == 1 else None
    return None


def _is_emptied(body: Block, name: str) -> bool:
    """Whether all that is appended to the list is popped again, as far as twins tell."""
    return not _changes(body, name)


def _changes(block: Block, name: str) -> tuple[Change, ...]:
    """What a block does to the list; what undoes what comes before it is left out, with that."""
    found: list[Change] = []
    for s in block:
        for change in _own(s, name):
            if found and found[-1] == _opposite(change):
                found.pop()
            else:
                found.append(change)
    return tuple(found)


def _own(s: Statement, name: str) -> Iterator[Change]:
    match s:
        case Append(base=Var(base)) if base == name:
            yield Change(Append, False)
        case Assign(value=Pop(base=Var(base))) if base == name:
            yield Change(Append, True)
    inside = tuple(_changes(block, name) for block in blocks(s))
    if any(inside):
        twin = s.twin if isinstance(s, If | For) else None
        yield Change(s, False, inside) if twin is None else Change(twin.name, twin.back, inside)


def _opposite(change: Change) -> Change:
    inside = tuple(tuple(map(_opposite, reversed(block))) for block in change.blocks)
    return Change(change.what, not change.back, inside)


# Lists that are filled and then summed: every item receives the cotangent of the sum.
#
#     sum(v * v for v in x)               # v_bar gets 2.0 * v * ans_bar, in each trip
#
# By the general rule a list has a shadow, another list of which the reverse of the sum adds to each item, and the
# reverse of each append takes one off. Where a list is made empty, filled, and added up in one block that is not left
# in between, and nothing else reads it but its length, each of these is the cotangent of the sum: the list needs none
# of its own, and is not emptied again. What is appended is a number, or an array that nobody writes.

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


# Items of a dict under construction by a comprehension over a range: keys that cannot occur twice.
#
#     e = {k: x[k] ** 2 for k in range(3)}
#
# By the general rule it is recorded whether a key is there already, and the reverse sweep takes away what was not.
# The numbers of a range differ, so in a dict that was empty before the loop none of them is there; and nothing but
# the store names the dict in the loop, so nobody sees in its reverse sweep what is left in it.


def fresh_items(body: Block) -> frozenset[int]:
    """The stores of such items, by their identities."""
    bindings = Counter(name for s in statements(body) for name in writes(s))
    found: set[int] = set()
    todo = [body]
    while todo:
        block = todo.pop()
        empty: set[str] = set()
        for s in block:
            todo += blocks(s)
            store = _store_of(s) if isinstance(s, For) else None
            if store is not None and isinstance(store.base, Var) and store.base.name in empty:
                found.add(id(store))
            empty -= {name for inner in statements((s,)) for name in reads(inner)}
            if isinstance(s, Assign) and s.value == Make(dict, (), ()) and bindings[s.target] == 1:
                empty.add(s.target)
    return frozenset(found)


def _store_of(s: For) -> Store | None:
    """The statement of a loop, the only one that reads what it writes into, that stores an item under the loop's own
    number."""
    key = Key((Var(s.target),))
    stores = [each for each in _trip(s.body) if isinstance(each, Store) and each.key == key]
    if len(stores) != 1 or s.snapshots is not None or s.target in bound(s.body):
        return None
    (store,) = stores
    names = [name for each in statements(s.body) for name in reads(each)]
    return store if isinstance(store.base, Var) and names.count(store.base.name) == 1 else None


def _trip(block: Block) -> list[Statement]:
    """The statements that a trip comes to once at most."""
    inner = [each for s in block if isinstance(s, If) for each in (*_trip(s.body), *_trip(s.orelse))]
    return [*block, *inner]
