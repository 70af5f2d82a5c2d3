"""Applies templates: the body of a rule as statements on the operands, in scalar spelling where the primal is."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from tangentx import arrays, templates
from tangentx.analysis.types.kinds import Arr, Kind, Num
from tangentx.derive.emit import NONE, Emitter
from tangentx.errors import NoTemplate, NotResolved, Span
from tangentx.ir.nodes import Apply, Assign, Atom, Ext, Lit, Make, Op, Return, Statement, Var
from tangentx.ir.rewrite import rename
from tangentx.templates import Template, without_rule

# Scalar spelling: rules of scalar programs use `math` where the primal does.

Dialect: TypeAlias = Mapping[Callable[..., Any], Callable[..., Any]]

_MATH: Dialect = {getattr(np, name): getattr(math, name) for name in ("sin", "cos", "sinh", "cosh", "sqrt")}
"""These raise for no argument for which the functions whose derivatives they are have not raised already."""
_SILENT: Dialect = {arrays.quotient: arrays.ratio}
_PYTHON = (bool, int, float, complex)


def dialect(op: Op, kinds: Iterable[Kind]) -> Dialect:
    """What the rule of `op`, applied to arguments of these kinds, uses in place of what it is written in.

    A `quotient` divides by what the primal divides by. Where that raises (Python's numbers), the primal has raised;
    but where NumPy has made its own scalar of Python's numbers it has not, and the quotient must not raise either.
    """
    found = list(kinds)
    python = [isinstance(k, Num) and k.type in _PYTHON for k in found]
    array = any(isinstance(k, Arr) and k.sure and k.rank for k in found)
    plain = array or not any(python) or (all(python) and not isinstance(op.fn, np.ufunc))
    swaps = {} if plain else dict(_SILENT)
    if getattr(math, getattr(op.fn, "__name__", ""), None) is op.fn:
        swaps.update(_MATH)
    return swaps


# Applies templates: the body of a rule as statements on the operands of one application.

_PLAIN = (int, float, bool, type(None))
"""Types of constants that stand in a rule's body where its parameters stood."""
_QUOTIENTS = (operator.truediv, np.divide)


def ruled(op: Op) -> tuple[Op, Template | None]:
    """The operation whose rule is applied, and its template: ``1.0 / y`` is a reciprocal, whose slope is made of the
    result alone, so that `y` need not be kept, nor divided by again."""
    template = templates.find(op.fn)
    if template is not None and template is templates.find(operator.truediv) and op.fn in _QUOTIENTS:
        match op:
            case Op(args=(Lit(value=int() | float() as one), y), kwargs=()) if one == 1 and type(one) is not bool:
                return Op(np.reciprocal, (y,)), templates.find(np.reciprocal)
    return op, template


def arguments(op: Op, template: Template, span: Span) -> dict[str, Any]:
    """Atoms by parameter; a tuple of atoms for varargs. Raises NoTemplate, located."""
    try:
        return templates.bind(template, op.args, dict(op.kwargs))
    except NoTemplate as error:
        raise NoTemplate(error.message, span, error.hint or "compute it in another way") from None


def atom_of(value: Any) -> Atom:
    """An argument as an atom: a default is a constant."""
    return value if isinstance(value, Var | Lit | Ext) else Lit(value)


def inline(
    lift: Any, emit: Emitter, body: Any, bound: Mapping[str, Any], requests: Mapping[str, Atom], swaps: Dialect
) -> list[Atom]:
    """The statements of a rule's body with its parameters bound, in a dialect; the values that it returns, those of a
    tuple that stands behind the return itself one by one."""
    function = lift(body)
    names: dict[str, str] = {}
    literals: dict[str, Lit] = {}
    for param in function.params:
        value = requests[param.name] if param.name in requests else bound[param.name]
        if isinstance(value, tuple):
            value = emit.let(Make(tuple, tuple(atom_of(v) for v in value)))
        atom = atom_of(value)
        if isinstance(atom, Lit) and type(atom.value) in _PLAIN:
            literals[param.name] = atom
        else:
            names[param.name] = atom.name if isinstance(atom, Var) else emit.let(atom).name
    inner = _straight(function.body, function.span)
    last = inner[-1]
    several = isinstance(last, Return) and isinstance(last.value, Var) and last.value.name.startswith("%")
    renamed = rename(tuple(_named(emit, inner, names, literals)), names, literals)
    final = renamed[-1]
    assert isinstance(final, Return)
    made = {s.target: s for s in renamed[:-1] if isinstance(s, Assign)}
    result = final.value
    if several and isinstance(result, Var) and result.name in made and isinstance(made[result.name].value, Make):
        tuple_made = made[result.name].value
        assert isinstance(tuple_made, Make)
        emit.add(*(_at(s, emit.span, swaps) for s in renamed[:-1] if s is not made[result.name]))
        return list(tuple_made.items)
    emit.add(*(_at(s, emit.span, swaps) for s in renamed[:-1]))
    return [result]


def _named(
    emit: Emitter, body: Sequence[Statement], names: dict[str, str], literals: dict[str, Lit]
) -> Iterator[Statement]:
    """The statements of a body, each of whose names has another from here on; a copy of a name is that name itself."""
    for s in body:
        if isinstance(s, Assign):
            if s.target in names or s.target in literals:
                raise NotResolved("a rule binds a name twice", s.span)
            if isinstance(s.value, Var):
                known = s.value.name
                if known in literals:
                    literals[s.target] = literals[known]
                else:
                    names[s.target] = names[known]
                continue
            names[s.target] = emit.temporary()
        yield s


def _at(statement: Statement, span: Span, swaps: Dialect) -> Statement:
    assert isinstance(statement, Assign)
    value = statement.value
    if isinstance(value, Apply) and isinstance(value.fn, Ext) and value.fn.value in swaps:
        value = Op(swaps[value.fn.value], value.args, value.kwargs)
    return Assign(statement.target, value, span)


def _straight(body: Sequence[Statement], span: Span) -> list[Statement]:
    for s in body:
        if not isinstance(s, Assign | Return):
            raise NotResolved("a rule must be straight-line code", s.span)
    return list(body)


def requested(
    emit: Emitter, template: Template, names: Sequence[str], bound: Mapping[str, Any], given: Mapping[str, Atom]
) -> dict[str, Atom]:
    """What a body asks for by name: `given` (ans, ans_bar, tangents), and shapes of arguments."""
    result: dict[str, Atom] = {}
    for name in names:
        if name in given:
            result[name] = given[name]
        elif name.endswith("_shape"):
            result[name] = emit.op(np.shape, atom_of(bound[name.removesuffix("_shape")]))
        else:
            raise NoTemplate(f"the rule of `{template.name}` asks for `{name}`, which is not known", emit.span)
    return result


def cotangents(
    lift: Any, emit: Emitter, op: Op, template: Template, ans: Atom, ans_bar: Atom, wanted: Any, swaps: Dialect
) -> list[tuple[Atom, Atom]]:
    """(operand, its cotangent) for each operand for which ``wanted(operand)`` holds; shapes are not yet undone."""
    bound = arguments(op, template, emit.span)
    given = {"ans": ans, "ans_bar": ans_bar}
    requests = requested(emit, template, template.requests, bound, given)
    if template.body is None:
        raise lacking(template, "adjoint", emit.span)
    demand_rule(template, template.refusing, bound, wanted, emit.span)
    values = inline(lift, emit, template.body, bound, requests, swaps)
    names = list(template.cotangents)
    if template.kind == "elementwise" and is_square(names, values, bound):
        names, values = names[:1], [emit.op(operator.mul, Lit(2.0), values[0])]
    result: list[tuple[Atom, Atom]] = []
    for name, value in zip(names, values, strict=True):
        if name is None or (isinstance(value, Lit) and value.value is None and template.signature is None):
            continue
        operand = bound[name]
        if isinstance(operand, tuple):
            whole = emit.let(Make(tuple, tuple(map(atom_of, operand)))) if template.signature is not None else NONE
            value = checked(emit, template, value, whole, ans_bar, f"`{name}_bar`")
            for i, each in enumerate(operand):
                if wanted(atom_of(each)):
                    result.append((atom_of(each), emit.item(value, i)))
        elif wanted(atom_of(operand)):
            if template.kind == "elementwise":
                value = times(emit, template, value, ans_bar)
            result.append(
                (atom_of(operand), checked(emit, template, value, atom_of(operand), ans_bar, f"`{name}_bar`"))
            )
    return result


def checked(emit: Emitter, template: Template, value: Atom, like: Atom, result: Atom, name: str) -> Atom:
    """What a rule of the user's gives, which is looked at while the program runs: it may be of any form."""
    if template.signature is None:
        return value
    return emit.op(arrays.of_rule, value, like, result, Lit(template.name), Lit(name))


def demand_rule(
    template: Template, names: Sequence[str], bound: Mapping[str, Any], active: Callable[[Atom], bool], span: Span
) -> None:
    """Refuses what varies at a parameter of these names, of which the rule says nothing."""
    for name in names:
        value = bound[name]
        if any(active(atom_of(each)) for each in (value if isinstance(value, tuple) else (value,))):
            error = without_rule(template, name)
            raise NoTemplate(error.message, span, error.hint)


def lacking(template: Template, what: str, span: Span) -> NoTemplate:
    """The error for a rule that its author has written for the other mode alone."""
    return NoTemplate(f"`{template.name}` has no `{what}` rule", span, f"give it a rule: `@{template.name}.{what}`")


def is_square(names: Sequence[str | None], values: Sequence[Atom], bound: Mapping[str, Any]) -> bool:
    """Whether an operation of two operands is given one name twice, with the same partial for both."""
    if len(names) != 2 or None in names or not isinstance(values[0], Var) or values[0] != values[1]:
        return False
    one, other = (bound[name] for name in names if name is not None)
    return isinstance(one, Var) and one == other


def times(emit: Emitter, template: Template, partial: Atom, other: Atom) -> Atom:
    """Partial times tangent or cotangent: zero where the one is, even if the other is not finite."""
    if isinstance(partial, Lit) and partial.is_tame:
        return emit.op(operator.mul, partial, other)
    return emit.op(arrays.guarded, partial, other)
