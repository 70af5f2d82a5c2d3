"""Tangents of operations, by the kind of their rule."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.kinds import Arr, Box, Kind
from tangentx.analysis.primitives import SPREADING, hashable
from tangentx.derive.dialect import Dialect, dialect
from tangentx.derive.emit import SHADOW, Emitter, Frame, motion
from tangentx.derive.rules import arguments, atom_of, checked, demand_rule, inline, is_square, lacking, requested, times
from tangentx.ir.keys import WHOLE
from tangentx.ir.nodes import Atom, Lit, Make, Op, Store, Var
from tangentx.ir.walk import atoms
from tangentx.templates import Template

if TYPE_CHECKING:
    from tangentx.derive.forward import Forward


def _each(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _keyword_only(fn: Any) -> list[str]:
    kinds = inspect.signature(fn).parameters.values()
    return [p.name for p in kinds if p.kind is inspect.Parameter.KEYWORD_ONLY]


def notes_of(frame: Frame, names: Iterable[str]) -> dict[str, Any]:
    """For the optimiser: the tangents of the parameters of these names, and which arrays have the shape of which."""
    moving = {frame.other(n): n for n in names if motion(frame.kinds[n]) is not None}
    return {
        "dots": tuple(moving),
        "alike": {dot: n for dot, n in moving.items() if isinstance(frame.kinds[n], Arr)},
    }


def stored_copy(emit: Emitter, new: Atom, dot: Atom) -> Atom:
    """The tangent of a new storage: memory laid out as the primal's."""
    made = emit.op(arrays.zero, new)
    emit.add(Store(made, WHOLE, dot, emit.span))
    return made


def fresh(f: Forward, emit: Emitter, op: Op, template: Template, new: Var, kind: Kind) -> Atom:
    """The tangent of an operation whose result is no view."""
    bound = arguments(op, template, emit.span)
    demand_rule(template, _silent(template), bound, lambda a: f.frame.mode(a) is not None, emit.span)
    rules = {"elementwise": _elementwise, "linear": _linear, "bilinear": _bilinear}
    dot = rules.get(template.kind, _adjoint)(f, emit, op, template, bound, new)
    dot = checked(emit, template, dot, new, new, "the tangent")
    if isinstance(kind, Box):
        return dot
    fitted = emit.op(arrays.unbroadcast, dot, new)
    return stored_copy(emit, new, fitted) if motion(kind) == SHADOW else fitted


def _silent(template: Template) -> Sequence[str]:
    """The parameters of whose tangents a rule says nothing, for forward mode."""
    if template.signature is None or template.kind == "elementwise":
        return template.refusing
    if template.tangent is None:
        return ()  # that there is no rule at all is said elsewhere
    asked = _keyword_only(template.tangent)
    return [p.name for p in template.params if f"{p.name}_dot" not in asked]


def _sum(emit: Emitter, terms: list[Atom], new: Atom) -> Atom:
    if not terms:
        return emit.op(arrays.zero, new)
    total = terms[0]
    for term in terms[1:]:
        total = emit.op(operator.add, total, term)
    return total


def _elementwise(f: Forward, emit: Emitter, op: Op, template: Template, bound: dict[str, Any], new: Var) -> Atom:
    requests = requested(emit, template, template.requests, bound, {"ans": new})
    partials = inline(f.frame.program.lift, emit, template.body, bound, requests, _dialect(f, op))
    names = list(template.cotangents)
    if is_square(names, partials, bound):
        names, partials = names[:1], [emit.op(operator.mul, Lit(2.0), partials[0])]
    terms = []
    for name, partial in zip(names, partials, strict=True):
        if name is not None and f.frame.mode(atom_of(bound[name])) is not None:
            terms.append(times(emit, template, partial, f.dot(atom_of(bound[name]))))
    return _sum(emit, terms, new)


def _dialect(f: Forward, op: Op) -> Dialect:
    return dialect(op, map(f.frame.kind, atoms(op)))


def _linear(f: Forward, emit: Emitter, op: Op, template: Template, bound: dict[str, Any], new: Var) -> Atom:
    if op.fn in hashable(SPREADING, op.fn) and f.frame.mode(op.args[0]) == SHADOW:
        # A read-only view of the tangent, which may be written yet; the view of the primal is not.
        copied = emit.op(np.array, f.dot_or_zero(emit, op.args[0]))
        return emit.let(Op(op.fn, (copied, *op.args[1:]), op.kwargs))
    moving = [a for a in op.args if f.frame.mode(a) is not None]
    if op.fn in hashable(_SUMS, op.fn) and len(moving) == 1:  # as it is: what is constant adds nothing
        dot = f.dot(moving[0])
        if op.fn is operator.sub and moving[0] is op.args[1]:
            return emit.op(operator.neg, dot)
        return emit.op(arrays.clone, dot) if f.frame.mode(moving[0]) == SHADOW else dot  # it may be written yet
    return _applied(f, emit, op, template, bound, set(template.cotangents))


_SUMS = frozenset((operator.add, operator.sub))


def _bilinear(f: Forward, emit: Emitter, op: Op, template: Template, bound: dict[str, Any], new: Var) -> Atom:
    active = [n for n in template.cotangents if n and f.frame.mode(atom_of(bound[n])) is not None]
    terms = [_applied(f, emit, op, template, bound, {name}) for name in active]
    return _sum(emit, terms, new)


def _applied(
    f: Forward, emit: Emitter, op: Op, template: Template, bound: dict[str, Any], names: set[str | None]
) -> Atom:
    """The primal with the tangents of the named parameters in their places."""
    places = {id(a) for n in names if n for a in _each(bound[n])}
    args = tuple(_whole_dot(f, emit, a) if id(a) in places else a for a in op.args)
    kwargs = tuple((k, _whole_dot(f, emit, a) if id(a) in places else a) for k, a in op.kwargs)
    return emit.let(Op(op.fn, args, kwargs))


def _whole_dot(f: Forward, emit: Emitter, atom: Atom) -> Atom:
    """The tangent of an operand, zeros in a container where items have none."""
    dot = f.dot_or_zero(emit, atom)
    return emit.op(arrays.filled, dot, atom) if isinstance(f.frame.kind(atom), Box) else dot


def _adjoint(f: Forward, emit: Emitter, op: Op, template: Template, bound: dict[str, Any], new: Var) -> Atom:
    if template.tangent is None:
        raise lacking(template, "tangent", emit.span)
    given: dict[str, Atom] = {"ans": new}
    dot_of = f.dot_or_zero if template.signature is None else functools.partial(_whole_dot, f)
    for name in template.params:
        value = bound[name.name]
        if isinstance(value, tuple):
            dots = tuple(dot_of(emit, atom_of(a)) for a in value)
            given[f"{name.name}_dot"] = emit.let(Make(list, dots))
        else:
            given[f"{name.name}_dot"] = dot_of(emit, atom_of(value))
    wanted = _keyword_only(template.tangent)
    requests = requested(emit, template, wanted, bound, given)
    found = inline(f.frame.program.lift, emit, template.tangent, bound, requests, _dialect(f, op))
    return found[0] if len(found) == 1 else emit.let(Make(list, tuple(found)))
