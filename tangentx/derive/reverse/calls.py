"""Reverse mode of calls: the callee's two sweeps, called in the caller's two sweeps."""

from __future__ import annotations

from collections.abc import Iterable

from tangentx.analysis.infer.program import Instance, Program
from tangentx.analysis.types.kinds import Arr, Box, Kind, Region, reached, varied
from tangentx.derive.emit import SHADOW, VALUE, Emitter, mode
from tangentx.derive.reverse.context import Pair, Reverse
from tangentx.derive.reverse.item_cotangents import seed_of, zero_items
from tangentx.derive.reverse.tuple_results import ITEMS
from tangentx.ir.nodes import Accumulate, Append, Assign, Atom, Call, Delete, Index, Key, Lit, Pop, Store, Var
from tangentx.ir.value_names import with_stem
from tangentx.ir.walk import statements


def unreversed(r: Reverse, s: Assign, forward: Emitter, reverse: Emitter) -> None:
    """A call through which no derivative flows, and which writes into nothing that it is given."""
    restore = r.record(forward, s.target)
    forward.add(s)
    if mode(r.frame.kinds[s.target]) == SHADOW:
        forward.assign(r.frame.other(s.target), forward.zero(Var(s.target), r.frame.kinds[s.target]))
    restore(reverse)


def call(r: Reverse, s: Assign, expr: Call, callee: Instance, forward: Emitter, reverse: Emitter) -> None:
    """``y = g(x)`` becomes ``y, saved = g_forward(x)`` and ``x_bar += g_backward(x, saved, y_bar)``."""
    pair = r.derive.pair(callee)
    restore = r.record(forward, s.target)
    saved = r.frame.names.fresh("saved")
    first = len(forward.block)
    made = forward.let(Call(pair.forward, (*expr.args, *shadows(r, expr, pair, forward))))
    forward.assign(s.target, forward.item(made, 0))
    how = r.how(s.target)
    if pair.result == SHADOW:
        forward.assign(r.frame.other(s.target), forward.item(made, 1))
    elif how == SHADOW:
        forward.assign(r.frame.other(s.target), forward.zero(Var(s.target), r.frame.kinds[s.target]))
    forward.assign(saved, forward.item(made, 2 if pair.result == SHADOW else 1))
    if not (SHADOW in (pair.result, how) or any(_holds_shadows(callee, k) for k, _ in enumerate(pair.params))):
        r.primal |= {id(each): () for each in forward.block[first:]} | {id(forward.block[first]): (s,)}
    taken = r.once_more(forward, saved)(reverse)
    seed = seeds(r, s, expr, pair, reverse)
    restore(reverse)
    give_back(r, expr, pair, reverse, shadows(r, expr, pair, reverse), taken, seed)


def _holds_shadows(callee: Instance, place: int) -> bool:
    """Whether an argument is a container whose shadow the callee may change."""
    kind = callee.params[place]
    return isinstance(kind, Box) and mode(kind) is not None


def shadows(r: Reverse, expr: Call, pair: Pair, emit: Emitter) -> tuple[Atom, ...]:
    """The shadows of the arguments that are storages."""
    return tuple(r.shadow(emit, a) for a, p in zip(expr.args, pair.params, strict=True) if p == SHADOW)


def seeds(r: Reverse, s: Assign, expr: Call, pair: Pair, reverse: Emitter) -> tuple[Atom, ...]:
    """The cotangents of the result that the backward function is given, as they are when the reverse sweep comes by."""
    if pair.result == VALUE:
        return (reverse.let(Var(r.frame.other(s.target))),)
    if pair.result != ITEMS:
        return ()
    modes = r.derive.results.modes[expr.link]
    found = tuple(seed_of(r, reverse, s.target, k) for k, m in enumerate(modes) if m == VALUE)
    zero_items(r, reverse, s.target, modes)
    return found


def give_back(
    r: Reverse, expr: Call, pair: Pair, reverse: Emitter, again: tuple[Atom, ...], state: Atom, seed: tuple[Atom, ...]
) -> None:
    """The backward function called, and what it gives added to the cotangents of the arguments."""
    back = reverse.let(Call(pair.backward, (*pair.given_again(expr.args, again), state, *seed)))
    callee = instance_of(r.program, expr)
    assert callee.link.function is not None
    params = [p.name for p in callee.link.function.params]
    values = [(a, name) for a, name, how in zip(expr.args, params, pair.params, strict=True) if how == VALUE]
    taken = []
    for k, (atom, name) in enumerate(values):
        if r.frame.mode(atom) is not None:
            item = with_stem(reverse.temporary(), f"{expr.link.name}_{name}{r.frame.suffix}")
            taken.append((atom, reverse.assign(item, Index(back, Key((Lit(k),)))), callee.kinds[name]))
    for atom, bar, kind in taken:
        r.give(reverse, atom, bar, r.is_alike(kind, r.frame.kind(atom)))


def instance_of(program: Program, expr: Call) -> Instance:
    """The instance that a closed call refers to."""
    for instance in program.instances.values():
        if instance.link is expr.link:
            return instance
    raise AssertionError("a call of a function that was not analysed")


def needs_reverse(program: Program, instance: Instance) -> bool:
    """Whether a call has to be reversed: a derivative flows through it, or it writes into what it is given."""
    if any(varied(k) for k in (*instance.params, instance.result)):
        return True
    return writes_into(program, instance)


def writes_into(program: Program, instance: Instance, kinds: Iterable[Kind] | None = None) -> bool:
    """Whether a callee may write into what it is given, or into those of its parameters that have the given kinds."""
    return _writes(program, instance, set(reached(instance.params if kinds is None else kinds)), set())


def _writes(program: Program, instance: Instance, regions: set[Region], seen: set[Instance]) -> bool:
    if instance in seen or instance.link.function is None:
        return False
    seen.add(instance)
    for s in statements(instance.link.function.body):
        base: Atom | None = None
        if isinstance(s, Store | Accumulate | Append | Delete):
            base = s.base
        elif isinstance(s, Assign) and isinstance(s.value, Pop):
            base = s.value.base
        elif isinstance(s, Assign) and isinstance(s.value, Call):
            if _writes(program, instance_of(program, s.value), regions, seen):
                return True
        kind = instance.kinds.get(base.name) if isinstance(base, Var) else None
        if isinstance(kind, Arr | Box) and kind.region.root() in regions:
            return True
    return False
