"""The root as a pullback: a forward and a reverse function."""

from __future__ import annotations

from typing import Any

from tangentx import arrays
from tangentx.analysis.infer.program import Instance
from tangentx.analysis.types.kinds import Box
from tangentx.derive.emit import SHADOW, VALUE, Emitter
from tangentx.derive.prologue import arguments_of, entry, fetch
from tangentx.derive.reverse.accumulate import give
from tangentx.derive.reverse.callee_pairs import Derivation, as_params
from tangentx.derive.reverse.complex_shadows import demand_straight, turned
from tangentx.derive.reverse.context import Pair, Reverse
from tangentx.derive.reverse.gradient import shadows_of_params
from tangentx.derive.reverse.walker import Walker
from tangentx.ir.nodes import (
    Atom,
    Call,
    Function,
    Link,
    Make,
    Return,
    Var,
)


def pullback(derivation: Derivation, instance: Instance, wrt: tuple[int, ...]) -> tuple[Function, Function, Function]:
    """The root as (value and state) and (cotangents from state and seed); the third calls both, for their kinds."""
    pair = derivation.pair(instance)
    derivation.finish()
    r = Walker(derivation.program, instance, derivation)
    names = [p.name for p in r.frame.function.params]
    emit = Emitter(r.frame.function.span)
    fetch(instance, emit)
    entry(instance, emit, arguments_of(instance), everything=True)
    shadows_of_params(r, emit, names)
    shadows = [Var(r.frame.other(n)) for n, m in zip(names, pair.params, strict=True) if m == SHADOW]
    made = emit.let(Call(pair.forward, (*(Var(n) for n in names), *shadows)))
    ans = emit.item(made, 0)
    shadow: tuple[Atom, ...] = (emit.item(made, 1),) if pair.result == SHADOW else ()
    saved = emit.item(made, 2 if pair.result == SHADOW else 1)
    wanted = tuple(Var(names[i]) for i in wrt)
    own = tuple(Var(r.frame.other(names[i])) for i in wrt if pair.params[i] == SHADOW)
    given = pair.given_again([Var(n) for n in names], shadows)
    state = emit.let(Make(tuple, (saved, ans, *shadow, *wanted, *own, *given)))
    result = emit.let(Make(tuple, (ans, state)))
    emit.add(Return(result, emit.span))
    span = emit.span
    forward = Function(f"{instance.source.name}_vjp", as_params(arguments_of(instance)), tuple(emit.block), span)
    back = _pull(r, pair, instance, wrt, span)
    both = Emitter(span)
    seed = r.frame.names.fresh("seed")
    first = both.let(Call(Link(forward.name, forward), tuple(Var(n) for n in arguments_of(instance))))
    last = both.let(Call(Link(back.name, back), (both.item(first, 1), Var(seed))))
    both.add(Return(last, span))
    return forward, back, Function("both", as_params([*arguments_of(instance), seed]), tuple(both.block), span)


def _pull(r: Reverse, pair: Pair, instance: Instance, wrt: tuple[int, ...], span: Any) -> Function:
    names = [p.name for p in r.frame.function.params]
    emit = Emitter(span)
    given, seed = Var(r.frame.names.fresh("state")), Var(r.seed)
    state = emit.op(arrays.entry_copy, given)
    saved, ans = emit.item(state, 0), emit.item(state, 1)
    at = 2
    if pair.result == SHADOW:
        shadow = emit.item(state, at)
        at += 1
        give(emit, instance.result, shadow, ans, seed)
    primals = {i: emit.item(state, at + k) for k, i in enumerate(wrt)}
    at += len(wrt)
    bars: dict[int, Atom] = {}
    for i in wrt:
        if pair.params[i] == SHADOW:
            bars[i] = emit.item(state, at)
            at += 1
    shadows = [Var(r.frame.other(n)) for n, m in zip(names, pair.params, strict=True) if m == SHADOW]
    count = len(pair.given_again([Var(n) for n in names], shadows))
    given_again = tuple(emit.item(state, at + k) for k in range(count))
    back = emit.let(Call(pair.backward, (*given_again, saved, *([seed] if pair.result == VALUE else []))))
    position = 0
    for i, m in enumerate(pair.params):
        if m == VALUE:
            if i in wrt:
                bars[i] = emit.item(back, position)
            position += 1
    results = []
    for i in wrt:
        kind = r.frame.kinds[names[i]]
        bar = bars.get(i) or emit.op(arrays.zero, primals[i])
        if isinstance(kind, Box):
            demand_straight(kind, emit.span)
            bar = emit.op(arrays.finish, bar, primals[i])
        results.append(turned(emit, kind, bar))
    emit.add(Return(emit.let(Make(tuple, tuple(results))), span))
    return Function(f"{instance.source.name}_pullback", as_params([given.name, seed.name]), tuple(emit.block), span)
