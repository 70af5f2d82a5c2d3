"""Stack-like lists: they change at their end only, so that their cotangents live in the reverse sweep alone.

    tape.append(u)          # u_bar += tape_bar.pop()
    ...
    v = tape.pop()          # tape_bar.append(v_bar)

By the general rule the forward sweep keeps a second list of zeros beside each one, which grows and shrinks with it. A
list that is made empty outside of all loops and branches, and is only appended to, popped from, read item by item or
given to operations, needs none there: the reverse sweep begins with zeros for what the list holds at the end, and goes
back from that. It begins with an empty list where all that was appended is popped again for certain. Loops and branches
of a forward sweep and their twins in a reverse sweep do so, as in a gradient that is differentiated again.

    out.append(u[1])                        # u_bar[1] += out_bar.pop()
    ...
    misfit = np.array(out) - data           # out_bar = nested(misfit_bar, out)

Where an operation is the last that has to do with the list, outside of all loops and branches, its reverse comes before
all others', and binds the cotangents: nobody reads the zeros.
"""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tangentx.analysis.types.kinds import Arr, Box, Kind, Num
from tangentx.analysis.types.primitives import has_effect
from tangentx.derive.emit import SHADOW, VALUE, Frame, mode
from tangentx.ir.nodes import Append, Assign, Block, For, If, Index, Op, Pop, Return, Statement, Var
from tangentx.ir.tapes import EMPTY
from tangentx.ir.walk import atoms, blocks, reads, statements, writes


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
