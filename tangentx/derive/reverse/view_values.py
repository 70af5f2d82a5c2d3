"""Arrays used by value only: their cotangents are separate arrays although the values are views.

    a = x[:3]               # x_bar[:3] += a_bar
    for step in range(4):
        a = a + 0.1 * np.sin(a)

By the general rule what may share memory with `x`, which is indexed, has a shadow that shares memory with that of `x`
alike. It is made in the forward sweep, and recorded wherever the name is bound anew. Where nobody writes into memory it
makes no difference who shares it: a view is as good as a copy, whose cotangent is given back whole. So names whose
values are operands of operations alone, and copies of one another, are counted as memory of their own.

Numbers may be read out of them, too. The cotangent is a storage then, to which each number adds its own, and making it
must not take longer than what is there anyhow: views that a loop forms stay what they are.
"""

from __future__ import annotations

from collections.abc import Iterator

from tangentx.analysis.types.kinds import Arr, Box, Num, Region
from tangentx.analysis.types.primitives import DIAGONALS, hashable, makes_new
from tangentx.derive.emit import SHADOW, Frame, mode
from tangentx.ir.nodes import Assign, Block, For, Index, Loop, Op, Statement, Var
from tangentx.ir.walk import key_atoms, reads, statements, writes


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
    looped = {id(s) for each in statements(body) if isinstance(each, For | Loop) for s in statements(each.body)}
    for names in _copies_of_one_another(body, found):
        bindings = [s for s in statements(body) if isinstance(s, Assign) and s.target in names]
        indexed = any(_base(s) in names for s in statements(body))
        if not (_is_worth_it(bindings, looped) if indexed else _is_more_than_views(bindings)):
            continue
        kind = frame.kinds[min(names)]
        assert isinstance(kind, Arr)
        own = Region(kind.region.world)
        own.varied, own.indexed = True, indexed
        for name in names:
            frame.kinds[name] = frame.kinds[name].at(own)  # type: ignore[union-attr]


def _copies_of_one_another(body: Block, found: set[str]) -> list[set[str]]:
    """The names, those together of which one is bound to another."""
    groups = {name: {name} for name in found}
    for s in statements(body):
        if isinstance(s, Assign) and isinstance(s.value, Var) and s.target in found and s.value.name in found:
            joined = groups[s.target] | groups[s.value.name]
            groups |= dict.fromkeys(joined, joined)
    return list({id(group): group for group in groups.values()}.values())


def _base(s: Statement) -> str | None:
    """The name of what a statement takes a part of."""
    match s:
        case Assign(value=Index(base=Var(name))):
            return name
    return None


def _is_more_than_views(bindings: list[Assign]) -> bool:
    """Whether some binding is not a part of another array, cut out there: of those that are, the shadows are the same
    parts of shadows, cut out again where the reverse sweep needs them."""
    return not all(isinstance(s.value, Index) for s in bindings)


def _is_worth_it(bindings: list[Assign], looped: set[int]) -> bool:
    """Whether one binding makes an array, and none is a view that is formed in a loop."""
    made = [isinstance(s.value, Op) and makes_new(s.value.fn) for s in bindings]
    return any(made) and all(new or id(s) not in looped for s, new in zip(bindings, made, strict=True))


def _is_read_only(frame: Frame, name: str) -> bool:
    """Whether the name has a shadow, though nobody writes into its memory, nor views imaginary parts in it."""
    kind = frame.kinds[name]
    if not isinstance(kind, Arr) or kind.none or mode(kind) != SHADOW:
        return False
    return kind.region.still() and not kind.region.root().parted


def _otherwise_used(frame: Frame, s: Statement, found: set[str]) -> Iterator[str]:
    """The names that a statement binds, or reads, in another way than operations do."""
    match s:
        case Assign(target=target, value=Var(name)) if isinstance(frame.kinds.get(name), Arr):
            yield from () if target in found else (name,)
        case Assign(target=target, value=Op(fn=fn)) if not isinstance(frame.kinds[target], Box):
            # What goes back to a diagonal through the whole matrix costs more than a view of the diagonal.
            yield from (target,) if fn in hashable(DIAGONALS, fn) else ()
        case Assign(target=target, value=Index(base=base, key=key)) if isinstance(frame.kind(base), Arr):
            number = isinstance(frame.kinds[target], Num)
            yield from [a.name for a in key_atoms(key) if isinstance(a, Var)] if number else reads(s)
        case _:
            yield from writes(s)
            yield from reads(s)
