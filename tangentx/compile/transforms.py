"""The table of transforms: gradient, Jacobian, jvp, vjp and linearize as functions of the IR."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tangentx.analysis.infer.program import Instance, Program
from tangentx.analysis.types.kinds import Bottom, Box, Kind, describe, holds_itself
from tangentx.common.naming import as_python_says
from tangentx.compile import pipeline
from tangentx.derive import products
from tangentx.derive.jacobians import Wanted
from tangentx.derive.leaf_values import domains, may_lack, numbers
from tangentx.derive.prologue import has_effects
from tangentx.derive.reverse.gradient import Request
from tangentx.dispatch.validation import demand_real_scalar, demand_result, has_leaf, value_of
from tangentx.errors import NotDifferentiable, Span
from tangentx.ir.nodes import Assign, Function, Lit


def derived(program: Program, root: Instance, wrt: tuple[int, ...], spec: Any, *, inside: bool = False) -> Function:
    """The derived function. Raises NotDifferentiable for results that have no such derivative.

    A gradient has the seed as its last parameter, a product the tangents, all else the parameters of the function.
    `inside`: it becomes part of a program that is differentiated.
    """
    if spec.transform in ("jvp", "hvp"):
        tangent = pipeline.derive_tangent(program, root, wrt)
        return products.along(root, tangent, wrt, spec.wrt if spec.transform == "hvp" else None)
    if inside and isinstance(root.result, Bottom):
        return products.primal(root)  # which raises
    many = isinstance(spec.wrt, tuple)
    if spec.transform != "jacobian":
        ones = spec.transform == "elementwise"
        demand_real_scalar(root, spec.has_aux, elementwise=ones)
        return pipeline.derive_gradient(program, root, Request(wrt, many, spec.value, spec.has_aux, ones))
    result = demand_numbers(root, spec.has_aux)
    if is_reverse(root, result, wrt, spec.mode):
        if numbers(result) == 1 and not isinstance(result, Box) and domains(result) == {"f"}:
            return pipeline.derive_gradient(program, root, Request(wrt, many, False, spec.has_aux))
        if inside:
            _demand_repeatable(root, "the Jacobian of")
        return _jacobian(program, root, Wanted(wrt, many, spec.has_aux), reverse=True, inside=inside)
    return _jacobian(program, root, Wanted(wrt, many, spec.has_aux), reverse=False)


def _jacobian(program: Program, root: Instance, wanted: Wanted, *, reverse: bool, inside: bool = False) -> Function:
    from tangentx.compile import batched  # which no gradient needs

    return batched.jacobian(program, root, wanted, reverse=reverse, inside=inside)


def pulled(program: Program, root: Instance, wrt: tuple[int, ...], spec: Any) -> tuple[Function, Function]:
    """The program, and its pullback as a function of primals and cotangent. Raises NotDifferentiable."""
    demand_cotangent(root)
    _demand_repeatable(root, "the pullback of")
    return products.primal(root), products.pulled(root, pipeline.derive_seeded(program, root, wrt), spec.wrt)


def _demand_repeatable(root: Instance, what: str) -> None:
    """Refuses to derive what runs the program anew each time, where it acts on something outside."""
    if has_effects(root):
        name = as_python_says(root.source.name)
        message = f"{what} `{name}` inside a differentiated function would repeat its side effects"
        raise NotDifferentiable(
            message, root.source.span, "move its side effects out of it: printing, random numbers, files"
        )


def demand_cotangent(root: Instance) -> None:
    """Refuses a result that has no real or complex number in it."""
    demand_result(root)
    if not has_leaf(root.result, ()):
        raise NotDifferentiable(
            f"the result is {describe(root.result)}: it has no cotangent",
            root.source.span,
            "return a real or complex number, an array of them, or a structure of both",
        )


def demand_numbers(root: Instance, has_aux: bool) -> Kind:
    """The kind of the result that is differentiated. Raises NotDifferentiable where it has no real number."""
    kind = value_of(root.result, root.source.span) if has_aux else root.result
    if holds_itself(kind):
        hint = "return the parts that are needed, in a list or tuple"
        raise NotDifferentiable("the result holds itself, or parts of its own kind", root.source.span, hint)
    if isinstance(kind, Bottom) or not domains(kind):
        hint = "return a real or complex number, an array of them, or a structure of both"
        raise NotDifferentiable(f"the result is {describe(kind)}: it has no Jacobian", root.source.span, hint)
    if may_lack(kind):
        message = "the result is a dict whose keys are not known before the program runs: it has no Jacobian"
        raise NotDifferentiable(message, root.source.span, "make it with all its keys, or return a tuple")
    return kind


def is_reverse(root: Instance, result: Kind, wrt: tuple[int, ...], mode: str) -> bool:
    """Whether a Jacobian is found row by row. Raises NotDifferentiable where complex numbers allow neither."""
    given = frozenset[str]().union(*(domains(root.params[i]) for i in wrt))
    span = root.source.span
    if "c" in given and "c" in domains(result):
        hint = "split it into real and imaginary parts, or use tx.jvp and tx.vjp"
        raise NotDifferentiable(
            "a complex result of a complex parameter has no Jacobian with one number for each pair", span, hint
        )
    if mode == "forward" and "c" in given:
        raise _no_mode("forward", "a complex parameter", "reverse", span)
    if mode == "reverse" and "c" in domains(result):
        raise _no_mode("reverse", "a complex result", "forward", span)
    if mode != "auto" and not has_effects(root):
        return mode == "reverse"
    if "c" in given or "c" in domains(result):
        return "c" in given
    return has_effects(root) or numbers(result) == 1


def _no_mode(mode: str, what: str, other: str, span: Span) -> NotDifferentiable:
    message = f"the Jacobian of {what} cannot be taken in {mode} mode"
    return NotDifferentiable(message, span, f'use mode="{other}", or "auto"')


def undecided(root: Instance, result: Kind, wrt: tuple[int, ...]) -> bool:
    """Whether only the sizes of arrays say which mode is the shorter one."""
    mixed = "c" in domains(result) or any("c" in domains(root.params[i]) for i in wrt)
    one = numbers(result) == 1 or sum(numbers(root.params[i]) or 2 for i in wrt) == 1
    return not (mixed or one or has_effects(root))


def sizes_wanted(root: Instance, wrt: tuple[int, ...], spec: Any) -> dict[str, Any]:
    """A note for an entry in forward mode that another one in reverse mode may be shorter, by the sizes at hand."""
    if spec.transform != "jacobian" or spec.mode != "auto":
        return {}
    return {"undecided": undecided(root, demand_numbers(root, spec.has_aux), wrt)}


def seeded(function: Function) -> Function:
    """The derived function with the seed of a gradient fixed at one."""
    if not function.params or function.params[-1].default != Lit(1.0):
        return function
    seed = Assign(function.params[-1].name, Lit(1.0), function.span)
    return replace(function, params=function.params[:-1], body=(seed, *function.body))
