"""Dead argument elimination: parameters that a function does not read, or that are the same in all calls, are
removed; an item of its result that is one constant wherever it returns is that constant for its callers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tangentx.analysis.infer.calling_conventions import SETTLED
from tangentx.analysis.infer.program import Program
from tangentx.ir.nodes import Assign, Atom, Block, Call, For, If, Index, Key, Lit, Loop, Make, Return, Statement, Var
from tangentx.ir.rewrite import map_blocks
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.unit import Unit


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Takes the parameters that nothing reads, or that are one constant in every call, out of signatures and calls."""
    changed = _constant_items(units)
    return _fewer_params(units) or changed


def _constant_items(units: Sequence[Unit]) -> bool:
    """Gives callers the constants among the items of results; True if there are any."""
    results = {unit.link: found for unit in units if (found := _constants_of(unit))}
    changed = False
    for unit in units if results else ():
        _, bound = unit.counts()
        calls = {
            s.target: results[call.link] for s, call in unit.calls() if call.link in results and bound[s.target] == 1
        }
        body = _with_items(unit.body, calls) if calls else unit.body
        if body != unit.body:
            unit.body, changed = body, True
    return changed


def _constants_of(unit: Unit) -> dict[int, Lit]:
    """The items that are one number in every tuple which a function returns; none where that is not known."""
    _, bound = unit.counts()
    made = {s.target: s.value for s in unit.statements() if isinstance(s, Assign) and bound[s.target] == 1}
    returned = [made.get(getattr(s.value, "name", "")) for s in unit.statements() if isinstance(s, Return)]
    tuples = [value.items for value in returned if isinstance(value, Make) and value.cls is tuple]
    if not tuples or len(tuples) < len(returned):
        return {}
    alike = ((k, {repr(items[k]) if k < len(items) else "" for items in tuples}) for k in range(len(tuples[0])))
    firsts = {k: tuples[0][k] for k, found in alike if len(found) == 1}
    return {k: a for k, a in firsts.items() if isinstance(a, Lit) and type(a.value) in (int, float, bool)}


def _with_items(block: Block, calls: Mapping[str, Mapping[int, Lit]]) -> Block:
    """The block with constants in the place of items of what some calls give."""

    def changed(s: Statement) -> Statement:
        match s:
            case Assign(target, Index(Var(name), Key((Lit(int(k)),)))) if k in calls.get(name, ()):
                return Assign(target, calls[name][k], s.span)
        return map_blocks(s, lambda inner: _with_items(inner, calls))

    return tuple(map(changed, block))


def _fewer_params(units: Sequence[Unit]) -> bool:
    outer = (*memory.entries(units), *(unit for unit in units if unit.function.notes.get(SETTLED)))
    constants = _constants(units)
    kept: dict[Any, tuple[int, ...]] = {}
    for unit in units:
        params = unit.function.params
        if unit not in outer:
            _bind_constants(unit, constants.get(unit.link, {}))
        known = {params[i].name for i in constants.get(unit.link, {})} if unit not in outer else set()
        read, _ = unit.counts()
        places = tuple(i for i, p in enumerate(params) if p.name in read and p.name not in known)
        if unit not in outer and len(places) < len(params):
            kept[unit.link] = places
            unit.link.function = replace(unit.function, params=tuple(params[i] for i in places))
    if kept:
        for unit in units:
            if any(call.link in kept for _, call in unit.calls()):
                unit.body = _calls(unit.body, kept)
    return bool(kept)


def _constants(units: Sequence[Unit]) -> dict[Any, dict[int, Lit]]:
    """For each function the parameters that are the same number in every call."""
    given: dict[Any, list[tuple[Atom, ...]]] = {}
    for unit in units:
        for _, call in unit.calls():
            given.setdefault(call.link, []).append(call.args)
    found: dict[Any, dict[int, Lit]] = {}
    for link, calls in given.items():
        for i, first in enumerate(calls[0]):
            if isinstance(first, Lit) and type(first.value) in (int, float, bool):
                if all(isinstance(args[i], Lit) and repr(args[i]) == repr(first) for args in calls):
                    found.setdefault(link, {})[i] = first
    return found


def _bind_constants(unit: Unit, constants: dict[int, Lit]) -> None:
    """Binds these parameters in the body, where they are read."""
    read, _ = unit.counts()
    params = [(unit.function.params[i].name, value) for i, value in constants.items()]
    bound = [Assign(name, value, unit.function.span) for name, value in params if name in read]
    if bound:
        unit.body = (*bound, *unit.body)


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
