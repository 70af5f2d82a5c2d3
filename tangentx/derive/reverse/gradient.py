"""The root: assembles the gradient function, or the two functions of a pullback."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.program import Instance
from tangentx.analysis.types.kinds import Arr, Box, Kind, Num
from tangentx.derive.emit import SHADOW, VALUE, Emitter, mode
from tangentx.derive.prologue import arguments_of, entry, fetch, has_effects, zeros_of_storages
from tangentx.derive.reverse.accumulate import demand_straight, give, give_slot, turned
from tangentx.derive.reverse.callee_pairs import Derivation, as_params, opening, with_zeros
from tangentx.derive.reverse.context import Pair, Reverse
from tangentx.derive.reverse.walker import Walker
from tangentx.ir.markers import CUT, FORWARD, REVERSE
from tangentx.ir.nodes import (
    Atom,
    Block,
    Call,
    Function,
    Index,
    Key,
    Link,
    Lit,
    Make,
    Note,
    Op,
    Param,
    Return,
    Statement,
    Var,
)

# The root: assembles the gradient function.


@dataclass(frozen=True)
class Request:
    """What is asked of the root: positions of `wrt`, whether the value comes too, whether the result carries extras.

    `ones`: the result may be an array, and each of its elements gets the cotangent one. `seeded`: the result may be
    anything with a derivative, and the last parameter is its cotangent. `cut`: what is seeded gives the value and the
    cotangents, and is to become two functions, the second one from the mark of the reverse sweep on.
    """

    wrt: tuple[int, ...]
    many: bool = False
    value: bool = False
    aux: bool = False
    ones: bool = False
    seeded: bool = False
    cut: bool = False


def gradient(derivation: Derivation, instance: Instance, request: Request) -> Function:
    """The gradient function of the root: a real scalar result, cotangents of `request.wrt`."""
    r = Walker(derivation.program, instance, derivation)
    names = [p.name for p in r.frame.function.params]
    emit = Emitter(r.frame.function.span)
    fetch(instance, emit)
    entry(instance, emit, arguments_of(instance), everything=request.cut)
    joint = r.code is None
    body = _joint(r, emit, names, request) if joint else _driver(derivation, r, instance, emit, names, request)
    derivation.finish()
    seed = Param(r.seed, None if request.seeded else Lit(1.0))
    given = as_params(arguments_of(instance))
    notes: dict[str, object] = {"shadows": r.shadows(), **({CUT: True} if request.cut else {})}
    return Function(f"{instance.source.name}_grad", (*given, seed), body, r.frame.function.span, notes=notes)


def _joint(r: Walker, emit: Emitter, names: list[str], request: Request) -> Block:
    """Both sweeps in one function, for a root with one return at its end."""
    forward, reverse = r.sweeps()
    last = forward.pop()
    assert isinstance(last, Return)
    wanted = [names[i] for i in request.wrt]
    shadows_of_params(r, emit, names, wanted)
    back = Emitter(r.frame.function.span)
    ans = last.value
    middle = Emitter(last.span)
    shadow = r.shadow(middle, ans) if mode(r.instance.result) == SHADOW else None
    outputs = _outputs(r, middle, ans, request)
    _seed(r, back if request.cut else middle, ans, shadow, request)
    end = _results(r, names, request, outputs)
    notes = Note(FORWARD, last.span), Note(REVERSE, last.span)
    reverse = with_zeros(r, [*back.block, *reverse, *end], wanted)
    start = opening(r, names)
    return (*start, *emit.block, notes[0], *forward, *middle.block, notes[1], *reverse)


def _driver(
    derivation: Derivation, r: Reverse, instance: Instance, emit: Emitter, names: list[str], request: Request
) -> Block:
    """A call of the forward function and one of the backward function, for a root with several returns."""
    pair = derivation.pair(instance)
    shadows_of_params(r, emit, names, [names[i] for i in request.wrt])
    shadows = [Var(r.frame.other(n)) for n, m in zip(names, pair.params, strict=True) if m == SHADOW]
    made = emit.let(Call(pair.forward, (*(Var(n) for n in names), *shadows)))
    ans = emit.item(made, 0)
    shadow = emit.item(made, 1) if pair.result == SHADOW else None
    saved = emit.item(made, 2 if pair.result == SHADOW else 1)
    outputs = _outputs(r, emit, ans, request)
    if request.cut or has_effects(instance):
        emit.add(Note(REVERSE, emit.span))
    _seed(r, emit, ans, shadow, request)
    seed = (Var(r.seed),) if pair.result == VALUE else ()
    given = pair.given_again([Var(n) for n in names], shadows)
    back = emit.let(Call(pair.backward, (*given, saved, *seed)))
    position = 0
    for name, m in zip(names, pair.params, strict=True):
        if m == VALUE:
            emit.assign(r.frame.other(name), Index(back, Key((Lit(position),))))
            position += 1
    return (*emit.block, *_results(r, names, request, outputs))


def shadows_of_params(r: Reverse, emit: Emitter, names: Sequence[str], wrt: Sequence[str] = ()) -> None:
    """Shadows for parameters that are storages; of those in `wrt` no parts share memory that is written."""
    zeros_of_storages(r.frame, emit, [name for name in names if mode(r.frame.kinds[name]) == SHADOW], wrt)


def _outputs(r: Reverse, emit: Emitter, ans: Atom, request: Request) -> list[Atom]:
    """The value, and what comes with it, out of reach of the reverse sweep."""
    outputs: list[Atom] = []
    if request.value:
        value: Atom = emit.item(ans, 0) if request.aux else ans
        outputs.append(emit.op(arrays.entry_copy if isinstance(r.instance.result, Box) else arrays.clone, value))
    if request.aux:
        outputs.append(emit.op(arrays.entry_copy, emit.item(ans, 1)))
    return outputs


def _seed(r: Reverse, emit: Emitter, ans: Atom, shadow: Atom | None, request: Request) -> None:
    """Puts the seed where the reverse sweep starts."""
    kind = r.instance.result
    value: Atom = ans
    if request.aux:
        assert isinstance(kind, Box)
        value, item = emit.item(ans, 0), kind.region.get(0)
        _demand_scalar(r, emit, value, item, request.ones)
        if shadow is not None and mode(item) is not None:
            give_slot(emit, item, shadow, Key((Lit(0),)), value, Var(r.seed))
        return
    if request.seeded and not request.cut:
        emit.assign(r.seed, Op(arrays.tangent_as if isinstance(kind, Box) else arrays.moving, (Var(r.seed), value)))
    elif not request.cut:
        _demand_scalar(r, emit, value, kind, request.ones)
    if shadow is not None:
        assert isinstance(shadow, Var)
        give(emit, kind, shadow, ans, Var(r.seed))


def _demand_scalar(r: Reverse, emit: Emitter, value: Atom, kind: Kind, ones: bool) -> None:
    if ones:
        emit.assign(r.seed, Op(np.ones_like, (value,)) if isinstance(kind, Arr) else Lit(1.0))
    elif isinstance(kind, Arr) and kind.library != "numpy" and kind.rank == 0:
        emit.assign(r.seed, Op(np.full_like, (value, Var(r.seed))))
    elif (isinstance(kind, Arr) and kind.rank is None) or (isinstance(kind, Num) and kind.none):
        emit.assign(r.seed, Op(arrays.seed_of_scalar, (value, Var(r.seed))))


def _results(r: Reverse, names: list[str], request: Request, outputs: list[Atom]) -> list[Statement]:
    emit = Emitter(r.frame.function.span)
    bars: list[Atom] = []
    for position in request.wrt:
        name = names[position]
        kind = r.frame.kinds[name]
        if isinstance(kind, Num | Arr) and mode(kind) is not None:
            bar = Var(r.frame.other(name))
            bars.append(turned(emit, kind, bar))
        else:
            demand_straight(kind, emit.span)
            shadow: Atom = Var(r.frame.other(name)) if mode(kind) is not None else emit.op(arrays.zero, Var(name))
            bars.append(emit.op(arrays.finish, shadow, Var(name)))
    grads = emit.let(Make(tuple, tuple(bars))) if request.many else bars[0]
    if outputs:
        value: Atom = outputs[0]
        if request.value and request.aux:
            value = emit.let(Make(tuple, tuple(outputs)))
        parts = (value, grads) if request.value else (grads, value)
        grads = emit.let(Make(tuple, parts))
    emit.add(Return(grads, emit.span))
    return emit.block


# The root as a pullback: a forward and a reverse function.


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
