"""Dead argument elimination: parameters that a function does not read, or that are the same in all calls, are
removed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tangentx.analysis.infer.calling_conventions import SETTLED
from tangentx.analysis.infer.program import Program
from tangentx.ir.nodes import Assign, Atom, Block, Call, For, If, Lit, Loop, Statement
from tangentx.ir.walk import used
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.unit import Unit


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Takes the parameters that nothing reads, or that are one constant in every call, out of signatures and calls."""
    outer = (*memory.entries(units), *(unit for unit in units if unit.function.notes.get(SETTLED)))
    constants = _constants(units)
    kept: dict[Any, tuple[int, ...]] = {}
    for unit in units:
        params = unit.function.params
        if unit not in outer:
            _bind_constants(unit, constants.get(unit.link, {}))
        read = used(unit.body) - {params[i].name for i in constants.get(unit.link, {}) if unit not in outer}
        places = tuple(i for i, p in enumerate(params) if p.name in read)
        if unit not in outer and len(places) < len(params):
            kept[unit.link] = places
            unit.link.function = replace(unit.function, params=tuple(params[i] for i in places))
    if kept:
        for unit in units:
            unit.body = _calls(unit.body, kept)
    return bool(kept)


def _constants(units: Sequence[Unit]) -> dict[Any, dict[int, Lit]]:
    """For each function the parameters that are the same number in every call."""
    given: dict[Any, list[tuple[Atom, ...]]] = {}
    for unit in units:
        for s in unit.statements():
            if isinstance(s, Assign) and isinstance(s.value, Call):
                given.setdefault(s.value.link, []).append(s.value.args)
    found: dict[Any, dict[int, Lit]] = {}
    for link, calls in given.items():
        for i, first in enumerate(calls[0]):
            if isinstance(first, Lit) and type(first.value) in (int, float, bool):
                if all(isinstance(args[i], Lit) and repr(args[i]) == repr(first) for args in calls):
                    found.setdefault(link, {})[i] = first
    return found


def _bind_constants(unit: Unit, constants: dict[int, Lit]) -> None:
    """Binds these parameters in the body, where they are read."""
    read = used(unit.body)
    params = [(unit.function.params[i].name, value) for i, value in constants.items()]
    unit.body = (*(Assign(name, value, unit.function.span) for name, value in params if name in read), *unit.body)


def _calls(block: Block, kept: dict[Any, tuple[int, ...]]) -> Block:
    out: list[Statement] = []
    for s in block:
        match s:
            case If():
                out.append(replace(s, body=_calls(s.body, kept), orelse=_calls(s.orelse, kept)))
            case For() | Loop():
                out.append(replace(s, body=_calls(s.body, kept)))
            case Assign(value=Call(link=link, args=args)) if link in kept:
                out.append(replace(s, value=Call(link, tuple(args[i] for i in kept[link]))))
            case _:
                out.append(s)
    return tuple(out)
