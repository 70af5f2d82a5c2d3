"""Arrays that are only computed with: their cotangents are values, though they show, or may show, parts of others.

    a = x[:3]               # x_bar[:3] += a_bar
    for step in range(4):
        a = a + 0.1 * np.sin(a)

By the general rule what may share memory with `x`, which is indexed, has a shadow that shares memory with that of `x`
alike. It is made in the forward sweep, and recorded wherever the name is bound anew. Where nobody writes into memory it
makes no difference who shares it: a view is as good as a copy, whose cotangent is given back whole. So a name whose
value is an operand of operations alone, and never indexed itself, is counted as memory of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from tangentx.analysis.types.kinds import Arr, Box, Region
from tangentx.analysis.types.primitives import DIAGONALS, hashable
from tangentx.derive.emit import SHADOW, Frame, mode
from tangentx.ir.nodes import Assign, For, Index, Op, Statement, Var
from tangentx.ir.walk import reads, statements, writes


def set_apart(frame: Frame) -> None:
    """Gives the names of a function of which that holds kinds with regions of their own."""
    body = frame.function.body
    found = {name for name in frame.kinds if _is_read_only(frame, name)} - {p.name for p in frame.function.params}
    if not found or any(isinstance(s, For) and s.snapshots is not None for s in statements(body)):
        return  # steps of a checkpointed loop hand their names on by what the program's kinds say
    left = -1
    while left != len(found):
        left = len(found)
        for s in statements(body):
            found.difference_update(_otherwise_used(frame, s, found))
    for name in found - _plain_views(frame, found):
        kind = frame.kinds[name]
        assert isinstance(kind, Arr)
        own = Region(kind.region.world)
        own.varied = True
        frame.kinds[name] = kind.at(own)


def _is_read_only(frame: Frame, name: str) -> bool:
    """Whether the name has a shadow, though nobody writes into its memory, nor views imaginary parts in it."""
    kind = frame.kinds[name]
    if not isinstance(kind, Arr) or kind.none or mode(kind) != SHADOW:
        return False
    return kind.region.still() and not kind.region.root().parted


def _plain_views(frame: Frame, names: set[str]) -> set[str]:
    """The names that are never anything but parts of other arrays, each cut out where it is bound: their shadows are
    the same parts of shadows, cut out again where the reverse sweep needs them."""
    bindings = [s for s in statements(frame.function.body) if isinstance(s, Assign)]
    copied = {s.value.name for s in bindings if isinstance(s.value, Var)}
    return names - copied - {s.target for s in bindings if not isinstance(s.value, Index)}


def _otherwise_used(frame: Frame, s: Statement, found: set[str]) -> Iterator[str]:
    """The names that a statement binds, or reads, in another way than operations do."""
    match s:
        case Assign(target=target, value=Var(name)) if isinstance(frame.kinds.get(name), Arr):
            yield from () if target in found else (name,)
        case Assign(target=target, value=Op(fn=fn)) if not isinstance(frame.kinds[target], Box):
            # What goes back to a diagonal through the whole matrix costs more than a view of the diagonal.
            yield from (target,) if fn in hashable(DIAGONALS, fn) else ()
        case Assign(value=Index(base=base)) if isinstance(frame.kind(base), Arr):
            yield from reads(s)
        case _:
            yield from writes(s)
            yield from reads(s)
