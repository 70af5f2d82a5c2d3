"""Products as functions for other programs: validation of directions, and public forms of results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tangentx import arrays
from tangentx.analysis.infer.program import Instance
from tangentx.analysis.types.kinds import Arr, Box, Kind, is_inexact, varied
from tangentx.common.naming import Names
from tangentx.derive.emit import NONE, Emitter
from tangentx.derive.prologue import arguments_of, entry, fetch
from tangentx.derive.reverse.callee_pairs import as_params
from tangentx.ir.nodes import Atom, Block, Call, For, Function, If, Link, Lit, Loop, Make, Return, Statement, Var


def along(instance: Instance, tangent: Function, wrt: Sequence[int], wanted: tuple[int | None, ...] | None) -> Function:
    """``(value, tangent)`` of primals and tangents of those at `wrt`.

    Where the value is a tuple, `wanted` has in the place of each primal the number of its item, or None: they are given
    alone, as one cotangent is, or several are.
    """
    emit = Emitter(instance.source.span)
    names = arguments_of(instance)
    fresh = Names(names)
    given = [fresh.fresh(f"{names[i]}_dot") for i in wrt]
    dots = [_checked(emit, Var(dot), Var(names[i]), instance.params[i]) for dot, i in zip(given, wrt, strict=True)]
    made = emit.let(Call(Link(tangent.name, tangent), (*map(Var, names), *dots)))
    value, dot = emit.item(made, 0), emit.item(made, 1)
    public = finished(emit, instance.result, value, dot)
    result = emit.let(Make(tuple, (value, public))) if wanted is None else _as_wanted(emit, public, wanted)
    emit.add(Return(result, emit.span))
    name = f"{instance.source.name}_{'along' if wanted is None else 'hvp'}"
    return Function(name, as_params([*names, *given]), tuple(emit.block), emit.span)


def tangent_alone(tangent: Function) -> Function:
    """Forward mode that gives the tangent, without the value: what that alone needs is left out later."""

    def block(statements: Block) -> Block:
        out: list[Statement] = []
        for s in statements:
            match s:
                case Return(value=value):
                    emit = Emitter(s.span)
                    emit.add(Return(emit.item(value, 1), s.span))
                    out += emit.block
                case If():
                    out.append(replace(s, body=block(s.body), orelse=block(s.orelse)))
                case For() | Loop():
                    out.append(replace(s, body=block(s.body)))
                case _:
                    out.append(s)
        return tuple(out)

    return replace(tangent, body=block(tangent.body))


def _checked(emit: Emitter, dot: Atom, primal: Atom, kind: Kind) -> Atom:
    return dot if isinstance(kind, Box) else emit.op(arrays.moving, dot, primal)


def finished(emit: Emitter, kind: Kind, value: Atom, dot: Atom) -> Atom:
    """The public form of a tangent."""
    if isinstance(kind, Box):
        return emit.op(arrays.finish, dot if varied(kind) else NONE, value)
    if varied(kind):
        return dot
    if not is_inexact(kind):
        return NONE
    return emit.op(arrays.zero, value) if isinstance(kind, Arr) else Lit(0.0)


def _as_wanted(emit: Emitter, found: Atom, wanted: tuple[int | None, ...]) -> Atom:
    places = [i for i in wanted if i is not None]
    items: list[Atom] = [NONE if i is None else emit.item(found, places.index(i)) for i in wanted]
    return items[0] if len(items) == 1 else emit.let(Make(tuple, tuple(items)))


def pulled(instance: Instance, seeded: Function, wanted: tuple[int | None, ...]) -> Function:
    """The pullback as a function of primals and cotangent: as many cotangents as there are primals, in their places."""
    emit = Emitter(instance.source.span)
    names = [p.name for p in seeded.params]
    bars = emit.let(Call(Link(seeded.name, seeded), tuple(map(Var, names))))
    emit.add(Return(_as_wanted(emit, bars, wanted), emit.span))
    return Function(f"{instance.source.name}_pullback", as_params(names), tuple(emit.block), emit.span)


def primal(instance: Instance) -> Function:
    """The program itself, which writes into copies of its arguments, and reads what is outside where it begins."""
    function = instance.link.function
    assert function is not None
    emit = Emitter(function.span)
    fetch(instance, emit)
    given = arguments_of(instance)
    entry(instance, emit, given)
    params = tuple(p for p in function.params if p.name in given)
    return replace(function, params=params, body=(*emit.block, *function.body))
