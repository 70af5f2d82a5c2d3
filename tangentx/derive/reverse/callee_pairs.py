"""Callees: two functions, joined by the residuals that the first returns, or inlined."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from tangentx.analysis.infer.program import Instance, Program
from tangentx.analysis.types.kinds import Arr
from tangentx.analysis.types.primitives import has_effect
from tangentx.derive.emit import SHADOW, VALUE, Emitter, mode, rebound
from tangentx.derive.reverse.context import Pair, Reverse
from tangentx.derive.reverse.first_contributions import bound_by_first
from tangentx.derive.reverse.item_cotangents import zero_items
from tangentx.derive.reverse.tape import formed
from tangentx.derive.reverse.tuple_results import ITEMS, Results, find
from tangentx.derive.reverse.walker import Walker
from tangentx.ir.markers import PAIR, STATE
from tangentx.ir.nodes import (
    UNBOUND,
    Assign,
    Atom,
    Block,
    Call,
    For,
    Function,
    If,
    Index,
    Key,
    Link,
    Lit,
    Loop,
    Make,
    Op,
    Param,
    Return,
    Statement,
    Var,
)
from tangentx.ir.rewrite import map_expr
from tangentx.ir.value_names import with_stem
from tangentx.ir.walk import statements, used, writes

# Inlines callees that consist of a single expression, before differentiation.
#
# Such a callee binds nothing but temporaries and its result, writes nothing and calls nobody, so that its statements
# mean the same with the arguments in the place of the parameters. What its operations gave is then at hand in the
# reverse sweep, and nothing has to be saved.

MOST = 12
"""Operations of a callee that is called in one or two places, or of all its calls together."""
FEW = 3
"""Operations of a callee that may be called anywhere."""
_COUNT = itertools.count(1)


def inline(program: Program) -> None:
    """Writes small callees in the place of their calls, in all functions of the program."""
    instances = program.reached()
    calls = (_called(s) for i in instances for s in _body(i) if isinstance(s, Assign))
    sites = Counter(link for link in calls if link is not None)
    small = {i.link: i for i in instances[1:] if _is_small(i, sites[i.link])}
    if not small:
        return
    for instance in instances:
        function = instance.link.function
        if function is not None and any(isinstance(s, Assign) and _called(s) in small for s in _body(instance)):
            instance.link.function = replace(function, body=_block(instance, function.body, small))


def _body(instance: Instance) -> list[Statement]:
    return list(statements(instance.link.function.body)) if instance.link.function is not None else []


def _called(s: Assign) -> Link | None:
    return s.value.link if isinstance(s.value, Call) else None


def _is_small(instance: Instance, sites: int) -> bool:
    """Whether the callee is one expression, of few enough operations."""
    function = instance.link.function
    if function is None or not sites or not function.body or function.notes.get("outside"):
        return False
    *steps, last = function.body
    if not isinstance(last, Return) or (len(steps) > (MOST if sites <= 2 else FEW) and len(steps) * sites > MOST):
        return False
    names = {p.name for p in function.params}
    for s in steps:
        if not isinstance(s, Assign) or s.target in names or has_effect(s.value):
            return False
        if not s.target.startswith("%") and last.value != Var(s.target):
            return False
        if not isinstance(s.value, Op | Index | Var):
            return False
        names.add(s.target)
    return True


def _block(caller: Instance, block: Block, small: dict[Link, Instance]) -> Block:
    out: list[Statement] = []
    for s in block:
        match s:
            case Assign(value=Call(link=link, args=args)) if link in small:
                out += _written(caller, s, small[link], args)
            case If():
                out.append(replace(s, body=_block(caller, s.body, small), orelse=_block(caller, s.orelse, small)))
            case For() | Loop():
                out.append(replace(s, body=_block(caller, s.body, small)))
            case _:
                out.append(s)
    return tuple(out)


def _written(caller: Instance, s: Assign, callee: Instance, args: tuple[Atom, ...]) -> list[Statement]:
    """The statements of the callee with the arguments for its parameters, under the line of the call."""
    function = callee.link.function
    assert function is not None
    known: dict[str, Atom] = {p.name: a for p, a in zip(function.params, args, strict=True)}

    def change(atom: Atom) -> Atom:
        return known.get(atom.name, atom) if isinstance(atom, Var) else atom

    out: list[Statement] = []
    for step in function.body:
        if isinstance(step, Assign):
            name = f"%n{next(_COUNT)}"
            caller.kinds[name] = callee.kinds[step.target]
            out.append(Assign(name, map_expr(step.value, change), s.span))
            known[step.target] = Var(name)
        else:
            assert isinstance(step, Return)
            out.append(Assign(s.target, change(step.value), s.span))
    return out


# Callees as pairs: forward and reverse sweep as two functions, joined by the residuals that the first returns.


class Derivation:
    """Reverse mode of a whole program; `exact` says that its arrays have the dtypes of their kinds.

    `fits` tells, once calls of one expression are inlined, which operands have the shape of what is computed of them:
    the identity of the statement, and the name.
    """

    def __init__(
        self,
        program: Program,
        off: frozenset[str] = frozenset(),
        exact: bool = False,
        fits: Callable[[], frozenset[tuple[int, str]]] = frozenset,
    ) -> None:
        self.program = program
        self.off = off
        self.exact = exact
        if self.proves("inline"):
            inline(program)
        self.fits = fits()
        self.results = find(program) if self.proves("results") else Results()
        self.pairs: dict[Instance, Pair] = {}
        self.pending: list[Instance] = []

    def proves(self, name: str) -> bool:
        """Whether a proof is to be made."""
        return name not in self.off

    def pair(self, instance: Instance) -> Pair:
        """The pair of a callee; its functions are written by `finish`."""
        if instance not in self.pairs:
            name = instance.link.name
            params = tuple(mode(instance.kinds[p.name]) for p in _params(instance))
            links = Link(f"{name}_forward"), Link(f"{name}_backward")
            assert instance.link.function is not None
            names = [p.name for p in _params(instance)]
            anew = rebound(instance.link.function.body, names)
            again = tuple(n not in anew for n in names)
            self.pairs[instance] = Pair(*links, params, again, self._result(instance))
            self.pending.append(instance)
        return self.pairs[instance]

    def _result(self, instance: Instance) -> str | None:
        return ITEMS if instance.link in self.results.modes else mode(instance.result)

    def finish(self) -> None:
        """Writes the functions of all pairs that were asked for."""
        while self.pending:
            instance = self.pending.pop(0)
            write_pair(self, instance, self.pairs[instance])


def _params(instance: Instance) -> tuple[Param, ...]:
    assert instance.link.function is not None
    return instance.link.function.params


def with_zeros(r: Reverse, reverse: Sequence[Statement], kept: Sequence[str]) -> list[Statement]:
    """The reverse sweep, and what gives its results, with zero cotangents where it begins: those of all values but
    the ones that a contribution binds. The cotangents of `kept` are given back."""
    emit = Emitter(r.frame.function.span)
    read: dict[int, str] = {}
    for name, kind in r.frame.kinds.items():
        inside = name == r.named or name in r.local or r.frame.other(name) in r.seeds
        later = isinstance(kind, Arr) and name in r.again.names  # its cotangent begins where it is formed
        if mode(kind) == VALUE and not (inside or later):
            emit.assign(r.frame.other(name), r.frame.zero_value(Var(name), kind))
            read[id(emit.block[-1])] = name
    for s in statements(r.frame.function.body):
        if isinstance(s, Assign) and isinstance(s.value, Call) and s.target in r.parts.held:
            zero_items(r, emit, s.target, r.derive.results.modes[s.value.link])
    block = [*emit.block, *reverse]
    if r.derive.proves("first"):
        block = bound_by_first(r, block, kept)
    left = [read[id(s)] for s in block if id(s) in read]
    r.unbound |= {name: None for name in left if isinstance(r.frame.kinds[name], Arr)}
    return block


def opening(r: Reverse, params: Sequence[str], also: Sequence[str] = ()) -> list[Statement]:
    """Empty tapes, and names that may be recorded before they are bound."""
    emit = Emitter(r.frame.function.span)
    for tape in r.tapes:
        emit.assign(tape, Make(list, ()))
    for name in dict.fromkeys((*r.unbound, *also)):
        if name not in params and name not in r.tapes:
            emit.assign(name, Lit(UNBOUND))
    return emit.block


def write_pair(derivation: Derivation, instance: Instance, pair: Pair) -> None:
    """Fills in both functions of a pair."""
    r = Walker(derivation.program, instance, derivation, paired=True)
    forward, reverse = r.sweeps()
    span = r.frame.function.span
    names = [p.name for p in r.frame.function.params]
    shadows = [r.frame.other(n) for n, m in zip(names, pair.params, strict=True) if m == SHADOW]
    back = with_zeros(r, reverse, names)
    made = (n for s in statements(tuple(forward)) for n in writes(s))
    bound = dict.fromkeys((*names, *shadows, *made, *r.tapes, *r.unbound))  # in the order of the text
    given = [
        atom.name
        for atom in pair.given_again([Var(n) for n in names], [Var(n) for n in shadows])
        if isinstance(atom, Var)
    ]
    again = formed(r)
    read = used(tuple(back))
    saved = [n for n in bound if n in read and n not in given and n not in again]
    forward = [
        *opening(r, [*names, *shadows], [n for n in saved if n not in shadows]),
        *_with_saved(r, forward, saved, pair.result),
    ]
    params = as_params([*names, *shadows])
    notes = {"shadows": r.shadows(), PAIR: object()}  # what both keep, and copies of them for other arguments
    pair.forward.function = Function(pair.forward.name, params, tuple(forward), span, notes=notes)
    taken = Emitter(span)
    state = r.frame.names.fresh("saved")
    for i, name in enumerate(saved):
        taken.assign(name, Index(Var(state), Key((Lit(i),))))
    values = [r.frame.other(n) for n, m in zip(names, pair.params, strict=True) if m == VALUE]
    end = Emitter(span)
    result = end.let(Make(tuple, tuple(Var(v) for v in values)))
    body = (*taken.block, *back, *end.block, Return(result, span))
    seeds = [r.seed] if pair.result == VALUE else r.seeds
    params = as_params([*given, state, *seeds])
    pair.backward.function = Function(pair.backward.name, params, body, span, notes={**notes, STATE: state})


def as_params(names: Sequence[str]) -> tuple[Param, ...]:
    """Parameters of these names."""
    return tuple(Param(name) for name in names)


def _with_saved(r: Reverse, block: Sequence[Statement], saved: list[str], result: str | None) -> list[Statement]:
    """The forward sweep with what it saves added to each of its returns."""
    out: list[Statement] = []
    for s in block:
        match s:
            case Return(value=value):
                emit = Emitter(s.span)
                state = emit.assign(with_stem(emit.temporary(), "saved"), Make(tuple, tuple(Var(n) for n in saved)))
                parts: tuple[Atom, ...] = (value, r.shadow(emit, value), state) if result == SHADOW else (value, state)
                out += [*emit.block]
                last = Emitter(s.span)
                made = last.let(Make(tuple, parts))
                out += [*last.block, Return(made, s.span)]
            case If():
                body, orelse = _with_saved(r, s.body, saved, result), _with_saved(r, s.orelse, saved, result)
                out.append(replace(s, body=tuple(body), orelse=tuple(orelse)))
            case For():
                inner = tuple(_with_saved(r, s.body, saved, result))
                out.append(replace(s, body=inner))
            case Loop():
                out.append(Loop(tuple(_with_saved(r, s.body, saved, result)), s.span))
            case _:
                out.append(s)
    return out
