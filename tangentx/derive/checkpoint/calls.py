"""Reverse mode of a checkpointed call: the callee runs unrecorded, and again in the reverse sweep.

Nothing is kept of the first run. Where the reverse sweep comes to the call, what the caller holds is as it was after
it; the arrays that the callee writes are given the content that they had before, of which a copy was kept. Then the
callee's two sweeps run one after the other: the second one leaves all as it was before the call.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

import numpy as np

from tangentx import arrays, templates
from tangentx.analysis.infer.calling_conventions import SETTLED
from tangentx.analysis.infer.program import Instance
from tangentx.analysis.types.kinds import Arr, Box, Kind
from tangentx.analysis.types.primitives import makes_new
from tangentx.common.naming import as_python_says
from tangentx.derive.emit import SHADOW, VALUE, Emitter, item_at, mode
from tangentx.derive.prologue import outside_of
from tangentx.derive.reverse import calls
from tangentx.derive.reverse.context import Pair, Reverse
from tangentx.errors import NotDifferentiable, UnsupportedSyntax
from tangentx.ir.nodes import (
    WHOLE,
    Accumulate,
    Append,
    Assign,
    Atom,
    Call,
    Delete,
    Expr,
    Function,
    Index,
    Key,
    Lit,
    Make,
    Op,
    Pop,
    Return,
    Store,
    Var,
)
from tangentx.ir.opaque_ops import Attempt, Observed
from tangentx.ir.walk import atoms, bound, reads, statements, writes

_COPIES = (np.copy, np.array, np.ndarray.copy)


def is_settled(callee: Instance) -> bool:
    """Whether a callee is a step, to which its first argument is the answer."""
    return bool(callee.source.notes.get(SETTLED))


def held(function: Function) -> frozenset[str]:
    """The names in a step of which no derivative is asked for: slopes at which something settles, and what tests
    alone go by."""
    if not function.notes.get(SETTLED):
        return frozenset()
    moved: set[str] = set()  # names of which a derivative is asked for
    for s in reversed(function.body):
        if isinstance(s, Return):
            moved |= reads(s)
        elif isinstance(s, Assign) and s.target in moved:
            moved |= {a.name for a in _moving(s.value) if isinstance(a, Var)}
        elif not isinstance(s, Assign):
            moved |= {name for each in statements((s,)) for name in reads(each)}
    return bound(function.body) - moved


def _moving(value: Expr) -> Sequence[Atom]:
    """The operands by which an expression has a derivative."""
    if not isinstance(value, Op):
        return atoms(value)
    template = templates.find(value.fn)
    if template is not None and template.kind == "constant":
        return ()
    return value.args[1:2] if value.fn in (arrays.settled, arrays.settled_row) else atoms(value)


def repeated(
    r: Reverse, s: Assign, expr: Call, callee: Instance, pair: Pair, forward: Emitter, reverse: Emitter
) -> None:
    """Both sweeps of ``y = checkpoint(g, x)``, or of a step that settles at `y`, which is run again from there."""
    _demand_repeatable(r, s, callee)
    restore = r.record(forward, s.target)
    kept = [(a, _copy(r, forward, a)) for a in _written(r, s, expr, callee)]
    other = r.frame.other(s.target)
    same = _returned(r, expr, callee) if r.how(s.target) == SHADOW else None
    given = forward.let(Make(tuple, expr.args))
    forward.add(s)
    if same is not None:
        forward.assign(other, r.shadow(forward, same))
    elif r.how(s.target) == SHADOW:
        for storage in () if is_settled(callee) else _storages(forward, callee.result, Var(s.target)):
            # The second run gives other memory than the first, so it must not be memory of the caller's.
            where = Lit(f"`{callee.source.name}` in {s.span}")
            forward.add(Assign(forward.temporary(), Op(arrays.demand_own, (storage, given, where)), s.span))
        forward.assign(other, forward.zero(Var(s.target), r.frame.kinds[s.target]))
    before = [(a, take(reverse)) for a, take in kept]
    seed = calls.seeds(r, s, expr, pair, reverse)
    bar = reverse.let(Var(other)) if pair.result == SHADOW else None
    if is_settled(callee):
        expr = Call(expr.link, (reverse.let(Var(s.target)), *expr.args[1:]))
    restore(reverse)
    for a, content in before:
        reverse.add(Store(a, WHOLE, content, s.span))
    shadows = calls.shadows(r, expr, pair, reverse)
    made = reverse.let(Call(pair.forward, (*expr.args, *shadows)))
    if bar is not None and same is None:
        _hand_over(r, s, reverse, callee.result, reverse.item(made, 1), bar)
    state = reverse.item(made, 2 if pair.result == SHADOW else 1)
    calls.give_back(r, expr, pair, reverse, shadows, state, seed)


def _copy(r: Reverse, forward: Emitter, a: Atom) -> Callable[[Emitter], Atom]:
    assert isinstance(a, Var)
    name = r.frame.names.fresh("before" if a.name.startswith("%") else f"{a.name}_before")
    forward.assign(name, Op(np.copy, (a,)))
    return r.once_more(forward, name)


def _storages(forward: Emitter, kind: Kind, result: Atom) -> list[Atom]:
    """The result, or of a tuple the items, whose cotangent is a shadow."""
    if not isinstance(kind, Box) or kind.region.root().open:
        return [result]
    keys = [key for key in kind.region.root().fields if mode(item_at(kind, key)) == SHADOW]
    return [forward.let(Index(result, Key((Lit(key),)))) for key in keys]


def _refused(s: Assign, callee: Instance, what: str, hint: str) -> UnsupportedSyntax:
    if is_settled(callee):
        message = f"the function that is solved {what}; its derivative runs it again"
        return UnsupportedSyntax(message, s.span, "let it compute what it returns, and no more")
    return UnsupportedSyntax(f"`{as_python_says(callee.source.name)}` is checkpointed and {what}", s.span, hint)


def _demand_repeatable(r: Reverse, s: Assign, callee: Instance) -> None:
    """Refuses effects, which a second run would have once more."""
    todo, seen = [callee], {callee}
    while todo:
        function = todo.pop().link.function
        for each in statements(function.body if function is not None else ()):
            value = each.value if isinstance(each, Assign) else None
            if isinstance(value, Op) and (value.fn is operator.call or isinstance(value.fn, Attempt | Observed)):
                hint = "move the call of other code out of it, or call it without `tx.checkpoint`"
                raise _refused(s, callee, "has side effects, which running it twice would repeat", hint)
            if isinstance(value, Call) and (inner := calls.instance_of(r.program, value)) not in seen:
                seen.add(inner)
                todo.append(inner)


def _written(r: Reverse, s: Assign, expr: Call, callee: Instance) -> list[Atom]:
    """The arrays among the arguments that the callee writes, each once. Refuses one that writes into containers, or
    into what is outside."""
    function = callee.link.function
    assert function is not None
    found: dict[str, Atom] = {}
    outside = outside_of(callee)
    if is_settled(callee) and not calls.writes_into(r.program, callee):
        return []
    for param, atom in zip(function.params, expr.args, strict=True):
        kind = callee.kinds[param.name]
        if not isinstance(kind, Arr | Box) or not _writes(r, callee, param.name):
            continue
        if param.name in outside and is_settled(callee):
            raise _refused(s, callee, f"changes `{outside[param.name].name}`", "")
        if param.name in outside:
            what = f"`{as_python_says(callee.source.name)}` is checkpointed and changes `{outside[param.name].name}`"
            raise NotDifferentiable(
                f"{what}, which a second run would do again",
                s.span,
                "do it outside of what is checkpointed, or call it without `tx.checkpoint`",
            )
        if isinstance(kind, Box) or not isinstance(atom, Var):
            hint = "let it write into arrays that it is given one by one, and return the rest"
            raise _refused(s, callee, "writes into a container that it is given", hint)
        found[atom.name] = atom
    return list(found.values())


def _writes(r: Reverse, callee: Instance, param: str) -> bool:
    """Whether the callee may write into the parameter, or into what that holds.

    Two proofs that it does not: no memory of the parameter's class is written (`calls.writes_into`), and no name to
    which the parameter comes is written. The first knows shallow copies, ``q = dict(p)``; the second tells
    ``p = {k: v - dv for k, v in p.items()}`` in a loop, where both dicts are of one class.
    """
    function = callee.link.function
    assert function is not None
    if not calls.writes_into(r.program, callee, (callee.kinds[param],)):
        return False
    reached = {param}
    while True:
        before = len(reached)
        for s in statements(function.body):
            base: Atom | None = s.base if isinstance(s, Store | Accumulate | Append | Delete) else None
            if isinstance(s, Store | Append) and isinstance(s.value, Var) and s.value.name in reached:
                holds = isinstance(s.base, Var) and isinstance(callee.kinds[s.base.name], Box)
                reached |= {s.base.name} if holds and isinstance(s.base, Var) else set()
            if isinstance(s, Assign):
                touched = any(isinstance(a, Var) and a.name in reached for a in atoms(s.value))
                base = s.value.base if isinstance(s.value, Pop) else None
                if touched and isinstance(s.value, Call):
                    inner = calls.instance_of(r.program, s.value)
                    if calls.writes_into(r.program, inner):
                        return True
                if touched and isinstance(callee.kinds.get(s.target), Arr | Box) and not _is_new(s.value):
                    reached.add(s.target)
            if isinstance(base, Var) and base.name in reached:
                return True
        if len(reached) == before:
            return False


def _is_new(value: Expr) -> bool:
    """Whether an expression shares no memory with what it is made of."""
    if not isinstance(value, Op):
        return False
    template = templates.find(value.fn)
    kind = template.kind if template is not None else ""
    return makes_new(value.fn) or kind in ("elementwise", "constant") or (value.fn in _COPIES and not value.kwargs)


def _returned(r: Reverse, expr: Call, callee: Instance) -> Atom | None:
    """The argument that the callee always returns; None if that is not so."""
    function = callee.link.function
    assert function is not None
    every = list(statements(function.body))
    names = {s.value.name if isinstance(s.value, Var) else "" for s in every if isinstance(s, Return)}
    params = [p.name for p in function.params]
    bound = {name for s in every for name in writes(s)}
    given = [expr.args[params.index(name)] for name in names if name in params and name not in bound]
    return given[0] if len(names) == 1 and given and r.frame.mode(given[0]) == SHADOW else None


def _hand_over(r: Reverse, s: Assign, emit: Emitter, kind: Kind, to: Atom, bar: Atom) -> None:
    """The cotangent of the first run's result to that of the second's."""
    if isinstance(kind, Arr):
        emit.add(Store(to, WHOLE, bar, s.span))
        return
    assert isinstance(kind, Box)
    node = kind.region.root()
    if node.open or kind.cls is not tuple:
        raise UnsupportedSyntax(
            "the checkpointed function returns a container", s.span, "return a number, an array or a tuple of these"
        )
    for key in node.fields:
        item = item_at(kind, key)
        part = Key((Lit(key),))
        if mode(item) == VALUE:
            emit.add(Store(to, part, emit.let(Index(bar, part)), s.span))
        elif mode(item) == SHADOW:
            _hand_over(r, s, emit, item, emit.let(Index(to, part)), emit.let(Index(bar, part)))
