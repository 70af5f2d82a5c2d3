"""Solver results: the solution that a library found with the user's function, and its dependence on parameters.

A solver runs once, as the user wrote the call. What it finds is a constant of the run, the *settled* point of a step:
a function ``step(x, residual)`` that gives `x` back where the residual is zero, and whose derivative, with `x` held, is
that of the answer by the implicit function theorem. The derivative runs that step again, at the answer itself, so there
are derivatives of every order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tangentx.arrays.copies import clone
from tangentx.errors import NotDifferentiable


def as_written(function: Callable[..., Any], form: str, *args: Any, **kwargs: Any) -> Any:
    """``function(*args, **kwargs)`` of a library, of which nothing is differentiated; it gives the kind `form`."""
    return function(*args, **kwargs)


def settle(step: Callable[..., Any], x: Any, *functions: Any) -> Any:
    """`x`, at which ``step(x, *functions)`` is settled: it gives `x`, and its derivative with `x` held is that of `x`.

    The step is not run where no derivative is asked for.
    """
    return x


def settled(x: Any, residual: Any, slope: Any) -> Any:
    """`x`, a number, as the root of a residual: its derivative is that of the residual over ``-slope``."""
    return x


def settled_row(x: Any, residual: Any, slope: Any) -> Any:
    """As `settled`, for an array of one axis, and the Jacobian matrix of as many residuals; in memory of its own."""
    return clone(x)


_NEAR = 1e-2
"""How far a step of Newton's may go from an answer, relative to it and to one."""


_ON = 1e-6
"""How far a coordinate may lie from a bound that it has met, relative to it and to one."""


def regular(slope: Any, residual: Any, x: Any) -> Any:
    """`slope`, by which an answer `x` depends on what it solves; `residual` is what is left there.

    Raises NotDifferentiable where it is singular, or where a step of Newton's leads away: that was no solution.
    """
    if np.ndim(slope) == 0:
        step = np.inf if slope == 0 else residual / slope
    else:
        try:
            step = np.linalg.solve(slope, residual)
        except np.linalg.LinAlgError:
            step = np.inf
    size, room = np.max(np.abs(step), initial=0.0), _NEAR * (1.0 + np.max(np.abs(x), initial=0.0))
    if size <= room:
        return slope
    if not np.isfinite(size):
        raise NotDifferentiable(
            "the answer has no derivative: the equations that it solves are singular there, as at a double root",
            hint="give the solver equations that determine the answer, each coordinate of it",
        )
    raise NotDifferentiable(
        f"the answer is no solution, so that it has no derivative: a step of Newton's from there goes {size:.1g} away",
        hint="see that the solver has converged (`success`), and that no bound or constraint stands in the way",
    )


_RETRACED = {
    "integral": (
        "by extrapolation, which a sum over the nodes does not give",
        "substitute a variable that takes the singular point away, such as `t = s**2` at an end where it is zero",
    ),
    "trajectory": (
        "by steps of an implicit method, which explicit ones do not give, as for a stiff system",
        "take the steps yourself: a loop with scipy.optimize.root, of which each has a derivative",
    ),
}


def agreed(model: Any, value: Any, error: Any, what: str) -> Any:
    """`model`, which has to give the `value` that was found up to `error`. Raises NotDifferentiable otherwise."""
    apart, room = np.max(np.abs(model - value)), 100.0 * error + 1e-7 * np.max(np.abs(value))
    if apart <= room:
        return model
    how, hint = _RETRACED[what]
    raise NotDifferentiable(f"this {what} is found {how}: it differs by {apart:.1g}", hint=hint)


_JUMP = 1e-6
"""How high a jump of an integrand is, relative to its largest value, that is seen."""


def without_jumps(total: Any, values: Any, nodes: Any, ends: Any) -> Any:
    """`total`, the sum of an integrand's `values` at `nodes`, of which none jumps between two `ends` of the pieces.

    From one node to the next a function without jumps goes no faster than it does beside them; three times as fast is
    taken for a jump. Raises NotDifferentiable there: it would be left out where its place, or a limit, moves.
    """
    order = np.argsort(nodes, kind="stable")
    at, found = np.asarray(nodes, float)[order], np.asarray(values)[order]
    steps, heights = np.diff(at), np.abs(np.diff(found))
    within = np.searchsorted(np.sort(ends), at[:-1], "right") == np.searchsorted(np.sort(ends), at[1:], "left")
    known = within & (steps > 0)
    slopes = np.where(known, heights / np.where(steps > 0, steps, 1.0), 0.0)
    beside = np.maximum(np.append(0.0, slopes[:-1]), np.append(slopes[1:], 0.0))
    room = 3.0 * steps * beside + _JUMP * np.max(np.abs(found), initial=0.0)
    alone = np.append(False, known[:-1]) & np.append(known[1:], False)
    jumps = np.nonzero(known & alone & (heights > room))[0]
    if jumps.size == 0:
        return total
    place = 0.5 * (at[jumps[0]] + at[jumps[0] + 1])
    raise NotDifferentiable(
        f"what is integrated jumps near {place:.6g}, and the derivative would leave out that the jump moves",
        hint=f"give its place, from which there is a derivative too: `points=[...]`, where it is {place:.6g} now",
    )


def slope_of(function: Callable[..., Any], x: Any, *args: Any) -> Any:
    """The derivative of a function by its first argument: that of a number, or the Jacobian matrix of a row."""
    raise AssertionError("a marker, never run")


def gradient_of(function: Callable[..., Any]) -> Any:
    """The function that gives the gradient of a real function by its first argument."""
    raise AssertionError("a marker, never run")


def valued(value: Any, model: Any) -> Any:
    """`value`, with the derivative of `model`, which gives the same but for rounding; in memory of its own."""
    return clone(value)


def found_part(found: Any, name: str, form: str) -> Any:
    """The attribute `name` of what a library found, of the kind `form` (see `arrays.form_of`)."""
    return getattr(found, name)


def constant_option(value: Any, name: str) -> Any:
    """`value`, which may not be differentiated by; `name` says what it is, for the message."""
    return value


def near_pairs(bounds: Any, x: Any) -> tuple[Any, Any]:
    """The bounds by which `x` lies, lower and upper, and infinities where it does not.

    They are given as pairs, with None for no bound, or by an object as `lb` and `ub`.
    """
    if bounds is None or hasattr(bounds, "lb"):
        return near_rows((-np.inf, np.inf) if bounds is None else bounds, x)
    lows = [-np.inf if low is None else low for low, _ in bounds]
    return near_rows((lows, [np.inf if high is None else high for _, high in bounds]), x)


def near_rows(bounds: Any, x: Any, met: Any = None) -> tuple[Any, Any]:
    """As `near_pairs`, for bounds that are given as two rows or numbers; `met` tells by -1 and 1 which are met, where
    the solver knows."""
    given = (bounds.lb, bounds.ub) if hasattr(bounds, "lb") else bounds
    low, high = (np.broadcast_to(np.asarray(each, float), x.shape) for each in given)
    room = _ON * (1.0 + np.abs(x))
    at_low, at_high = (x - low <= room, high - x <= room) if met is None else (met < 0, met > 0)
    return np.where(at_low, low, -np.inf), np.where(at_high, high, np.inf)


def held_below(low: Any, slope: Any) -> Any:
    """Which coordinates are held by their lower bounds: they would go below them, where the slope leads."""
    return np.isfinite(low) & (slope > 0)


def held_above(high: Any, slope: Any) -> Any:
    """Which coordinates are held by their upper bounds."""
    return np.isfinite(high) & (slope < 0)
