"""Checks of derivatives: reverse mode against forward mode against differences.

`check_grads` finds the gradient in every way there is and demands that they agree; `gradcheck` is its short form.

>>> import numpy as np
>>> import tangentx as tx
>>> tx.testing.check_grads(lambda x: np.sum(np.sin(x)), (np.array([0.3, 0.7]),))
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tangentx.arrays import has_derivative
from tangentx.common import pytrees
from tangentx.common.naming import public_name
from tangentx.errors import NotDifferentiable, NoTemplate
from tangentx.templates import find, no_rule
from tangentx.testing.differences import complex_step, extrapolated, precision
from tangentx.testing.test_points import (
    Case,
    Derivatives,
    Function,
    Vector,
    Wrt,
    elements,
    joined,
    places,
    random_direction,
)

__all__ = ["Derivatives", "check_grads", "check_rule", "gradcheck"]


def check_grads(
    f: Function,
    args: Sequence[Any],
    *,
    wrt: Wrt = 0,
    order: int = 2,
    modes: Sequence[str] = ("reverse", "forward"),
    rtol: float | None = None,
    atol: float | None = None,
    eps: float | None = None,
    using: Derivatives | None = None,
) -> None:
    """Check the derivatives of `f` at `args`, and raise `AssertionError` where two ways to find one disagree.

    `f` returns a real scalar. The arguments that `wrt` names (a position, a name, or a tuple of them) are numbers,
    arrays, or nested tuples, lists, dicts, named tuples and dataclasses of them. Each element of the gradient in
    reverse mode and in forward mode is compared with extrapolated central differences, or with the complex step
    where `f` takes complex arguments and both agree; of more than 64 elements a fixed choice of 64, all of them
    together by a direction. With ``order=2`` the derivative of the gradient along a fixed random direction follows,
    forward over reverse and reverse over reverse. The message names argument, index, mode, order and both numbers.

    `rtol`, `atol` (of values of the size of the function's) and the largest step `eps` default to what the least
    precise of the checked dtypes allows. `f` is called many times, with copies of its arrays and containers.
    `using` puts another differentiator in the place of tangentx.
    """
    if order not in (1, 2) or not modes or not set(modes) <= {"reverse", "forward"}:
        raise ValueError("order is 1 or 2; modes are 'reverse', 'forward' or both")
    case = Case.of(f, tuple(args), wrt, _ours() if using is None else using)
    if not case.point:
        raise NotDifferentiable("nothing to check: no real or complex number or array in the arguments that wrt names")
    value = np.asarray(f(*case.fresh()))
    if value.shape != () or value.dtype.kind != "f":
        raise NotDifferentiable(
            f"check_grads needs a real scalar, and the function returned shape {value.shape}, dtype {value.dtype}",
            hint="check a sum of the results, each with its own weight",
        )
    check = _Check(case, tuple(modes), rtol, atol, eps, float(np.nan_to_num(abs(value))))
    check.first_order()
    if order == 2:
        check.second_order()


def gradcheck(func: Function, x: Any, eps: float = 1e-6, *, using: Derivatives | None = None) -> bool:
    """True if the gradient of `func` at `x` is that of central differences of step `eps`; else `AssertionError`.

    A tuple `x` is several arguments, and all that have a derivative are checked. float32 and float16 are too coarse
    for this: they are checked as float64, with a warning.
    """
    args = x if type(x) is tuple else (x,)
    found = [leaf for _, leaf in pytrees.leaves("x", args) if pytrees.is_differentiable(leaf)]
    if any(precision(leaf).machine > np.finfo(np.float64).eps for leaf in found):
        warnings.warn("gradcheck promotes float32 arguments to float64", UserWarning, stacklevel=2)
        args = pytrees.rebuild(args, _promoted)
    has = [any(pytrees.is_differentiable(leaf) for _, leaf in pytrees.leaves("x", arg)) for arg in args]
    wrt = tuple(i for i in range(len(args)) if has[i])
    check_grads(func, args, wrt=wrt, order=1, eps=eps, using=using)
    return True


def _ours() -> Derivatives:
    from tangentx.api import functions  # here, so that a check with another differentiator loads no compiler

    return functions


def _promoted(leaf: Any) -> Any:
    if not pytrees.is_differentiable(leaf) or precision(leaf).machine <= np.finfo(np.float64).eps:
        return leaf
    return (leaf * np.ones((), np.float64)).astype(np.result_type(leaf.dtype, np.float64))


@dataclass(frozen=True)
class _Check:
    """The comparisons at one case."""

    case: Case
    modes: tuple[str, ...]
    rtol: float | None
    atol: float | None
    eps: float | None
    size: float

    def first_order(self) -> None:
        case = self.case
        reverse = case.flat(case.gradient()(*case.fresh()), "reverse, order 1") if "reverse" in self.modes else None
        rng = np.random.default_rng(0)
        for where, direction in [*elements(case, rng), ("a random direction", random_direction(case, rng))]:
            found: dict[str, Any] = {}
            if reverse is not None:
                found["reverse"] = sum(np.sum(np.real(g * d)) for g, d in zip(reverse, direction, strict=True))
            if "forward" in self.modes:
                found["forward"] = self.tangent(direction, where)
            by_differences, rtol = self.reference(direction)
            for mode, number in found.items():
                self.compare(number, by_differences, f"{mode}, order 1: {where}", "differences give", rtol)
            if len(found) == 2:
                both = f"reverse against forward, order 1: {where}"
                self.compare(found["reverse"], found["forward"], both, "forward gives", None)

    def second_order(self) -> None:
        case = self.case
        gradient = case.gradient()
        direction = random_direction(case, np.random.default_rng(1))

        moved_gradient = case.along(direction, gradient)

        def slope(h: float) -> Vector:
            return joined(case.flat(moved_gradient(h), "order 2"))

        expected = extrapolated(slope, precision(*case.point), self.eps)
        scaled = replace(self, size=max(self.size, float(np.max(np.abs(slope(0.0)), initial=0.0))))
        for mode in self.modes:
            label = f"{mode} over reverse, order 2"
            if mode == "forward":
                _, found = case.using.jvp(gradient, case.fresh(), case.tangents(direction))
            else:
                seeds = tuple(case.tangents(direction)[p] for p in case.positions)
                _, pullback = case.using.vjp(gradient, *case.fresh())
                cotangents = pullback(seeds if isinstance(case.wrt, tuple) else seeds[0])
                every = cotangents if len(case.args) > 1 else (cotangents,)
                picked = tuple(every[p] for p in case.positions)
                found = picked if isinstance(case.wrt, tuple) else picked[0]
            numbers = joined(case.flat(found, label))
            for (path, index), number, wanted in zip(places(case), numbers, expected, strict=True):
                scaled.compare(number, wanted, f"{label}: argument {path}, index {index}", "differences give", None)

    def tangent(self, direction: Sequence[Any], where: str) -> float:
        value, found = self.case.using.jvp(self.case.f, self.case.fresh(), self.case.tangents(direction))
        if np.shape(found) != ():
            raise AssertionError(f"forward, order 1: {where}: the tangent has shape {np.shape(found)}, not ()")
        self.compare(value, self.case.f(*self.case.fresh()), f"forward, order 1: {where}: value", "f returns", None)
        return float(np.real(found))

    def reference(self, direction: Sequence[Any]) -> tuple[float, float | None]:
        """The derivative along `direction` without tangentx, and the relative tolerance if it is a tighter one."""
        case, along = self.case, self.case.along(direction)
        limits = precision(*case.point)
        estimate = float(extrapolated(along, limits, self.eps))
        if limits.complex_step and not any(np.iscomplexobj(leaf) for leaf in case.point):
            exact = complex_step(along)
            if exact is not None and abs(exact - estimate) <= 1e-5 * abs(exact) + 1e-9 * max(1.0, self.size):
                return exact, 1e-8
        return estimate, None

    def compare(self, number: Any, expected: Any, where: str, says: str, rtol: float | None) -> None:
        limits = precision(*self.case.point)
        relative = self.rtol if self.rtol is not None else limits.rtol if rtol is None else rtol
        absolute = self.atol if self.atol is not None else limits.atol
        tolerance = absolute * max(1.0, self.size) + relative * max(abs(number), abs(expected))
        if not (abs(number - expected) <= tolerance or number == expected):
            raise AssertionError(f"{where}: got {number!s}, {says} {expected!s} (tolerance {tolerance:.1e})")


def check_rule(
    function: Any,
    *args: Any,
    order: int = 2,
    modes: Sequence[str] = ("reverse", "forward"),
    rtol: float | None = None,
    atol: float | None = None,
) -> None:
    """Compare the rule of `function`, a library's or a primitive, with differences at `args`.

    The result, a number, an array or a tuple of them, is weighed and summed; the sum goes to `check_grads`, by the
    arguments that the rule has a derivative for. Raises AssertionError
    where they disagree, and where the function gives memory of an argument, or changes one; NoTemplate where there is
    no rule, or none for a mode that is asked for.

    >>> from scipy import special
    >>> check_rule(special.expit, np.array([-1.0, 0.5]))
    """
    template = find(function)
    if template is None:
        message, hint = no_rule(function)
        raise NoTemplate(message, hint=hint)
    before = copy.deepcopy(args)
    result = function(*args)
    parts = result if isinstance(result, tuple) else (result,)
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(before, args, strict=True)), (
        f"{public_name(function)} writes into its arguments"
    )
    shared = any(np.may_share_memory(np.asarray(a), np.asarray(b)) for a in parts for b in args if np.ndim(b))
    assert not shared, f"{public_name(function)} gives memory of an argument: copy it"
    names = [p.name for p in template.params]
    known = [names[min(i, len(names) - 1)] in template.cotangents and has_derivative(a) for i, a in enumerate(args)]
    first, end = known.index(True) if any(known) else 0, len(known) - known[::-1].index(True) if any(known) else 0
    weights = [np.cos(1.0 + np.arange(np.size(part))).reshape(np.shape(part)) for part in parts]
    weighed = _weighed(_holding(function, args[:first], args[end:]), weights, isinstance(result, tuple))
    check_grads(weighed, (args[first:end],), order=order, modes=modes, rtol=rtol, atol=atol)


def _holding(function: Any, front: tuple[Any, ...], back: tuple[Any, ...]) -> Any:
    """The function of the arguments between those."""
    return lambda *args: function(*front, *args, *back)


def _weighed(function: Any, weights: list[Any], several: bool) -> Any:
    def of_several(point: Any) -> Any:
        total = 0.0
        for weight, part in zip(weights, function(*point), strict=True):
            total = total + np.sum(weight * np.real(part))
        return total

    def of_one(point: Any) -> Any:
        return np.sum(weights[0] * np.real(function(*point)))

    return of_several if several else of_one
