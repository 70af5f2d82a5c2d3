"""Branches, loops and exits: which definitions reach a place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tangentx.analysis.infer.context import Env, LoopState
from tangentx.analysis.infer.functions import value_class
from tangentx.analysis.infer.loop_unrolling import takes_unlike, turns
from tangentx.analysis.infer.program import Definition
from tangentx.analysis.infer.special_methods import defines, is_object
from tangentx.analysis.types.kinds import MISSING, Arr, Bottom, Either, Kind, Num, Obj, is_count, is_elsewhere
from tangentx.common.branch_sides import Side, changed_names, enter, noted
from tangentx.errors import NotResolved, UnsupportedSyntax
from tangentx.ir.nodes import Assign, Atom, Block, Break, Continue, For, If, Loop, Method, Op, Raise, Var

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


def merge(a: Env | None, b: Env | None) -> Env | None:
    """The definitions that reach a place from two sides; None stands for "unbound", and for a side never left."""
    if a is None or b is None:
        return b if a is None else a
    if a is b:
        return a
    result = dict(a)  # most names are bound at the same places on both sides
    shared = 0
    for name, right in b.items():
        left = a.get(name)
        if left is None:
            result[name] = tuple(dict.fromkeys((None, *right)))
            continue
        shared += 1
        if left is not right and left != right:
            result[name] = tuple(dict.fromkeys((*left, *right)))
    if shared < len(a):
        result |= {name: tuple(dict.fromkeys((*left, None))) for name, left in a.items() if name not in b}
    return result


def _behind(before: Env, a: Env | None, b: Env | None) -> Env | None:
    """The definitions that reach the place behind a branch: of names that neither side has bound, those before it."""
    names = changed_names(before, a, b)
    if names is None or (a is None and b is None):
        return merge(a, b)
    if a is None or b is None:
        enter(before, names, b or a or {})
        return before
    for name in names:
        left, right = a.get(name, (None,)), b.get(name, (None,))
        before[name] = left if left is right or left == right else tuple(dict.fromkeys((*left, *right)))
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
    given = dict(w.env or {})
    while True:
        target, body, state, added = _walked(w, s, enter)
        if not added or isinstance(s, For) or state.left is not None:
            return target, body, state
        w.env = dict(given)


def _walked(w: Walker, s: For | Loop, enter: Callable[[], str | None]) -> tuple[str | None, Block, LoopState, bool]:
    """One walk of the body of a loop, and whether its trips have added anything to what reaches its head."""
    added = False
    backs: dict[str, list[Definition | None]] = w.instance.backs.setdefault(id(s), {})
    assert w.env is not None
    head = dict(w.env)
    for name, more in backs.items():
        known = head.get(name, (None,))
        head[name] = (*known, *(d for d in more if d not in known))
    w.env = dict(head)
    state = LoopState()
    w.loops.append(state)
    target = enter()
    body = w.block(s.body)
    state.again = merge(state.again, w.env)
    w.loops.pop()
    for name, reaching in (state.again or {}).items():
        known = head.get(name, (None,))
        if reaching is not known and (new := [d for d in reaching if d not in known]):
            backs.setdefault(name, []).extend(new)
            w.program.world.changed = added = True
    return target, body, state, added


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
    outer, before, head = w.env, dict(w.env), Env()

    def enter() -> str | None:
        nonlocal head
        target = w.bind(s.target, Num(int))
        head = dict(w.env or {})
        return target

    target, body, state = _looped(w, s, enter)
    assert target is not None
    after = merge(state.again, state.left)
    # Where each trip is known to leave the function, what follows is never reached, but kept: its names stay bound.
    w.env = noted(outer, (head if after is None else after) if _trips(bounds) else merge(before, after))
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
    w.env = noted(outer, state.left)
    w.out.append(Loop(body, s.span))


def break_(w: Walker, s: Break) -> None:
    """The definitions go to the loop's end."""
    w.loops[-1].left = merge(w.loops[-1].left, w.env)
    w.env = None
    w.out.append(s)


def continue_(w: Walker, s: Continue) -> None:
    """The definitions go to the loop's head."""
    w.loops[-1].again = merge(w.loops[-1].again, w.env)
    w.env = None
    w.out.append(s)
