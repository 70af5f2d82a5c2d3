"""Branches, loops and exits: merges what reaches each point, and unrolls loops over unlike items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from tangentx.analysis.infer.context import Env, LoopState
from tangentx.analysis.infer.functions import value_class
from tangentx.analysis.infer.program import Definition
from tangentx.analysis.infer.special_methods import defines, is_object
from tangentx.analysis.types.kinds import (
    BOTTOM,
    FUNCTIONS,
    MISSING,
    Arr,
    Bottom,
    Box,
    Either,
    Kind,
    Num,
    Obj,
    Region,
    Some,
    is_count,
    is_elsewhere,
)
from tangentx.common.branch_facts import Side, changed_names, enter
from tangentx.errors import NotResolved, UnsupportedSyntax
from tangentx.ir.markers import entry_value
from tangentx.ir.nodes import (
    Assign,
    Atom,
    Attr,
    Block,
    Break,
    Continue,
    For,
    If,
    Index,
    Lit,
    Loop,
    Method,
    Op,
    Raise,
    Statement,
    Var,
)
from tangentx.ir.rewrite import map_atoms
from tangentx.ir.walk import statements

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


# Unrolls loops whose items have no common kind (layers of different classes, closures): one copy of the body each.

LONGEST = 64  # trips of a loop over unlike things


def takes_unlike(w: Walker, body: Block, trips: int) -> bool:
    """Whether the body of a loop of so many trips takes one of several things that have no kind in common, and can
    be written once for each trip."""
    every = list(statements(body))
    if trips > LONGEST or any(isinstance(s, Break | Continue) for s in every):
        return False
    attributes = {s.target: s.value for s in every if isinstance(s, Assign) and isinstance(s.value, Attr)}
    read = [s.value for s in every if isinstance(s, Assign) and isinstance(s.value, Index)]
    bases = {item.base for item in read if any(isinstance(part, Var) for part in item.key.parts)}
    made = [s.value for s in every if isinstance(s, Assign) and isinstance(s.value, Op)]
    bases |= {op.args[0] for op in made if op.fn is entry_value}
    return any(_holds_unlike(_known(w, base, attributes)) for base in bases)


def _known(w: Walker, base: Atom, attributes: dict[str, Attr]) -> Kind:
    """The kind of a container at the head of the loop, which the body may reach by its attributes."""
    assert w.env is not None
    if not isinstance(base, Var) or any(w.env.get(base.name, ())):
        return w.read(base)[1]
    if base.name not in attributes:
        return BOTTOM
    whole = attributes[base.name]
    kind = _known(w, whole.base, {name: value for name, value in attributes.items() if name != base.name})
    return kind.region.get(whole.name) if isinstance(kind, Box) else BOTTOM


def _holds_unlike(kind: Kind) -> bool:
    """Whether a container of known length holds what has no kind in common."""
    if not isinstance(kind, Box) or not issubclass(kind.cls, list | tuple | dict) or kind.region.root().open:
        return False
    items = list(kind.region.root().fields.values())
    return any(not _alike(a, b, set()) for a, b in combinations(items, 2))


def _alike(a: Kind, b: Kind, seen: set[tuple[Region, Region]]) -> bool:
    """Whether the two have a kind in common; asks what `regions.join` finds, and unites nothing."""
    if a == b or isinstance(a, Bottom) or isinstance(b, Bottom):
        return True
    if isinstance(a, Box) and isinstance(b, Box):
        return a.cls is b.cls and _alike_inside(a.region.root(), b.region.root(), a.cls in (list, tuple), seen)
    if isinstance(a, Num | Arr | Box) or isinstance(b, Num | Arr | Box):
        return all(isinstance(kind, Num | Arr) or kind == Obj(None) for kind in (a, b))
    if _is_function(a) and _is_function(b):
        return True
    cls = _opaque(a)
    return cls is not None and cls is _opaque(b) and (cls is str or isinstance(a, Some) or isinstance(b, Some))


def _opaque(kind: Kind) -> type | None:
    """The class of an object that is known by it alone, or by itself."""
    return kind.cls if isinstance(kind, Some) else type(kind.value) if isinstance(kind, Obj) else None


def _alike_inside(a: Region, b: Region, listed: bool, seen: set[tuple[Region, Region]]) -> bool:
    """Of lists of different lengths nobody would know what stands where: all items have to have a kind in common."""
    if a is b or (a, b) in seen:
        return True
    seen.add((a, b))
    if listed and list(a.fields) != list(b.fields):
        items = [*a.fields.values(), *b.fields.values(), a.elt, b.elt]
        return all(_alike(x, y, seen) for x, y in combinations(items, 2))
    pairs = [(kind, b.fields.get(key, b.elt)) for key, kind in a.fields.items()]
    return all(_alike(x, y, seen) for x, y in (*pairs, (a.elt, b.elt)))


def _is_function(kind: Kind) -> bool:
    return isinstance(kind, Either) or (isinstance(kind, Obj) and isinstance(kind.value, FUNCTIONS))


def turns(loop: For, trips: Sequence[int]) -> Block:
    """The body of the loop once for each trip."""
    out: list[Statement] = []
    for place in reversed(trips) if loop.backward else trips:
        out += [Assign(loop.target, Lit(place), loop.span), *map_atoms(loop.body, lambda atom: atom)]
    return tuple(out)


# Branches, loops and exits: merges the definitions that reach each point.


def joined(names: Iterable[str], ends: Sequence[Env]) -> Env:
    """The definitions of these names that reach a place from several ends; None stands for "unbound"."""
    found: Env = {}
    for name in names:
        first, *others = [end.get(name, (None,)) for end in ends]
        for other in others:
            if other is not first and other != first:
                first = tuple(dict.fromkeys((*first, *other)))
        found[name] = first
    return found


def _behind(before: Env, a: Env | None, b: Env | None) -> Env | None:
    """The definitions that reach the place behind a branch: of names that neither side has bound, those before it."""
    ends = [side for side in (a, b) if side is not None]
    if not ends:
        return None
    names = changed_names(before, *ends)
    enter(before, names, joined(names, ends))
    return before


def _truth(kind: Kind) -> bool | None:
    if isinstance(kind, Num) and kind.value is not MISSING:
        return bool(kind.value)
    if isinstance(kind, Obj):
        return bool(kind.value)
    return True if value_class(kind) is not None or isinstance(kind, Either) else None


def never(w: Walker, value: Atom) -> None:
    """What should have made the value always raises: control does not come here."""
    w.env = None
    w.out.append(Raise(value, w.span))


def if_(w: Walker, s: If) -> None:
    """A branch: both sides are walked, or the one that the kind of the test decides."""
    test, kind = w.read(s.test)
    if isinstance(kind, Bottom) and not (w.program.final and w.program.problems):
        never(w, test)
        return
    said = next((name for name in ("__bool__", "__len__") if is_object(kind) and defines(w, kind, name)), None)
    if said is not None:
        w.expand("truth", lambda: _asked(s, said, w.temporary()))
        return
    if isinstance(kind, Arr) and is_elsewhere(kind):  # one transfer, of which both sweeps know the outcome
        told = w.temporary()
        w.expand("truth", lambda: (Assign(told, Op(bool, (s.test,)), s.span), replace(s, test=Var(told))))
        return
    truth = _truth(kind)
    if truth is not None:
        w.inline(s.body if truth else s.orelse)
        return
    assert w.env is not None
    before = w.env
    w.env = Side(before)
    body = w.block(s.body)
    after, w.env = w.env, Side(before)
    orelse = w.block(s.orelse)
    w.env = _behind(before, after, w.env)
    w.out.append(If(test, body, orelse, s.span, s.twin))


def _asked(s: If, name: str, told: str) -> Block:
    """The branch by what a method of the object says: what that writes has a part in the derivative."""
    return (Assign(told, Method(s.test, name, ()), s.span), If(Var(told), s.body, s.orelse, s.span))


def _looped(w: Walker, s: For | Loop, enter: Callable[[], str | None]) -> tuple[str | None, Block, LoopState]:
    """Walks the body of a loop from all that reaches its head; what its trips add is kept for the next round.

    What the first trip does not leave (its counter is 0) is walked again at once where its trips have added something:
    else what follows would be met in the next round alone, and there would be a round for each such loop.
    """
    outer = w.env
    while True:
        target, body, state, added = _walked(w, s, enter)
        if not added or isinstance(s, For) or state.left:
            return target, body, state
        w.env = outer


def _walked(w: Walker, s: For | Loop, enter: Callable[[], str | None]) -> tuple[str | None, Block, LoopState, bool]:
    """One walk of the body of a loop, and whether its trips have added anything to what reaches its head."""
    added = False
    backs: dict[str, list[Definition | None]] = w.instance.backs.setdefault(id(s), {})
    assert w.env is not None
    head = Side(w.env)
    for name, more in backs.items():
        known = head.get(name, (None,))
        head[name] = (*known, *(d for d in more if d not in known))
    w.env = Side(head)
    state = LoopState(head)
    w.loops.append(state)
    target = enter()
    body = w.block(s.body)
    w.loops.pop()
    if w.env is not None:
        state.again.append(w.env)
    for name, reaching in joined(changed_names(head, *state.again), state.again).items() if state.again else ():
        known = head.get(name, (None,))
        if reaching is not known and (new := [d for d in reaching if d not in known]):
            backs.setdefault(name, []).extend(new)
            w.program.world.changed = added = True
    return target, body, state, added


def _left(outer: Env, state: LoopState, ends: list[Env]) -> Env:
    """The definitions that reach the place behind a loop from the ends of it."""
    names = changed_names(outer, *ends)
    enter(outer, names, joined(names, ends))
    return outer


def for_(w: Walker, s: For) -> None:
    """A loop over a range."""
    bounds = [w.read(a) for a in (s.start, s.stop, s.step)]
    for bound, kind in bounds:
        if isinstance(kind, Bottom) and w.program.final and w.program.problems:
            continue
        if isinstance(kind, Bottom):
            never(w, bound)
            return
        if not is_count(kind):
            raise NotResolved("the bounds of a range must be whole numbers", s.span, "convert them with int()")
    snapshots = None if s.snapshots is None else _snapshots(w, s.snapshots)
    trips = _trips(bounds)
    if trips is not None and takes_unlike(w, s.body, len(trips)):
        w.expand(("turns", trips), lambda: turns(s, trips))
        return
    assert w.env is not None
    outer = w.env
    target, body, state = _looped(w, s, lambda: w.bind(s.target, Num(int)))
    assert target is not None
    ends = [*state.again, *state.left]
    if _trips(bounds) and not ends:  # Each trip leaves the function: what follows is never reached, but kept.
        w.env = state.head
        w.bind(s.target, Num(int))
        ends = [state.head]
    w.env = _left(outer, state, ends if _trips(bounds) else [outer, *ends])
    start, stop, step = (a for a, _ in bounds)
    w.out.append(For(target, start, stop, step, s.backward, body, s.span, snapshots, s.twin))


def _snapshots(w: Walker, atom: Atom) -> Atom:
    """How many snapshots a checkpointed loop may hold: a whole number, or None for as many as seem right."""
    atom, kind = w.read(atom)
    whole = _is_whole(kind) or (isinstance(kind, Num) and kind.type is int)
    if not (whole or kind == Obj(None) or isinstance(kind, Bottom)):
        hint = "write `tx.checkpointed(range(n), snapshots=20)`"
        raise UnsupportedSyntax("the number of snapshots must be a whole number", w.span, hint)
    return atom


def _trips(bounds: list[tuple[Atom, Kind]]) -> range | None:
    """The values that the loop's variable has, where they are known."""
    values = [k.value for _, k in bounds if isinstance(k, Num) and k.value is not MISSING]
    return range(*values) if len(values) == 3 and values[2] != 0 else None


def _is_whole(kind: Kind) -> bool:
    return isinstance(kind, Num) and issubclass(kind.type, np.integer)


def loop(w: Walker, s: Loop) -> None:
    """A loop without a head, left by its exits alone."""
    outer = w.env
    _, body, state = _looped(w, s, lambda: None)
    w.env = _left(outer, state, state.left) if outer is not None and state.left else None
    w.out.append(Loop(body, s.span))


def break_(w: Walker, s: Break) -> None:
    """The definitions go to the loop's end."""
    if w.env is not None:
        w.loops[-1].left.append(w.env)
    w.env = None
    w.out.append(s)


def continue_(w: Walker, s: Continue) -> None:
    """The definitions go to the loop's head."""
    if w.env is not None:
        w.loops[-1].again.append(w.env)
    w.env = None
    w.out.append(s)
