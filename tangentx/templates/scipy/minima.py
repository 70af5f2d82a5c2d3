"""Minima and fits, as the points where a gradient is zero.

Where a coordinate of the minimum is held by a bound it stays there: its equation is that it is the bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import optimize

from tangentx.arrays import (
    as_written,
    constant_option,
    found_part,
    gradient_of,
    held_above,
    held_below,
    near_pairs,
    near_rows,
    regular,
    settle,
    settled,
    settled_row,
    slope_of,
    valued,
)
from tangentx.errors import NotDifferentiable
from tangentx.templates.registry import constant
from tangentx.templates.solutions import Fit, Minimum, Solution
from tangentx.templates.solvers import solver_of

constant(optimize.linear_sum_assignment)


def minimum_of_number(x: Any, fun: Any, args: Any) -> Any:
    """The step at whose end a number is a minimum."""

    def slope(z: Any) -> Any:
        return slope_of(fun, z, *args)

    left = slope(x)
    return settled(x, left, regular(slope_of(slope, x), left, x))


def minimum_of_row(x: Any, fun: Any, args: Any) -> Any:
    """The step at whose end a row is a minimum."""

    def objective(z: Any) -> Any:
        return fun(z, *args)

    downhill = gradient_of(objective)
    left = downhill(x)
    return settled_row(x, left, regular(slope_of(downhill, x), left, x))


def minimum_in_a_box(x: Any, fun: Any, args: Any, low: Any, high: Any) -> Any:
    """The step at whose end a row is a minimum between bounds, of which only those that it has met are finite."""

    def objective(z: Any) -> Any:
        return fun(z, *args)

    downhill = gradient_of(objective)
    slope = downhill(x)
    at_low, at_high = held_below(low, slope), held_above(high, slope)

    def conditions(z: Any) -> Any:
        return np.where(at_low, z - low, np.where(at_high, z - high, downhill(z)))

    left = conditions(x)
    return settled_row(x, left, regular(slope_of(conditions, x), left, x))


def value_there(value: Any, fun: Any, x: Any, args: Any) -> Any:
    """What a function gives at an answer."""
    return valued(value, fun(x, *args))


@solver_of(optimize.minimize, form="object")
def minimize(
    found: Any,
    fun: Any,
    x0: Any,
    args: Any = (),
    method: Any = None,
    jac: Any = None,
    hess: Any = None,
    hessp: Any = None,
    bounds: Any = None,
    constraints: Any = (),
    tol: Any = None,
    callback: Any = None,
    options: Any = None,
) -> Any:
    """Minimum of a function of a row, on whose start it does not depend."""
    if not (isinstance(constraints, tuple) and len(constraints) == 0):
        raise NotDifferentiable(
            "scipy.optimize.minimize with `constraints` has no derivative",
            hint="solve the conditions of Karush, Kuhn and Tucker with scipy.optimize.root, or give `bounds` alone",
        )
    given = args if isinstance(args, tuple) else (args,)
    objective = (lambda z, *a: fun(z, *a)[0]) if isinstance(jac, bool) and jac else fun
    place = found_part(found, "x", "float64[1]")
    if bounds is None:
        x = settle(minimum_of_row, place, objective, given)
    else:
        limits = as_written(near_pairs, "(float64[1], float64[1])", constant_option(bounds, "`bounds`"), place)
        x = settle(minimum_in_a_box, place, objective, given, limits[0], limits[1])
    return Solution(
        x,
        settle(value_there, found_part(found, "fun", "float"), objective, x, given),
        found_part(found, "success", "bool"),
        found_part(found, "status", "int"),
        found_part(found, "message", "str"),
        found_part(found, "nfev", "None | int"),
        found_part(found, "nit", "None | int"),
    )


@solver_of(optimize.minimize_scalar, form="object")
def minimize_scalar(
    found: Any,
    fun: Any,
    bracket: Any = None,
    bounds: Any = None,
    args: Any = (),
    method: Any = None,
    tol: Any = None,
    options: Any = None,
) -> Any:
    """Minimum of a function of a number; at a bound it is refused."""
    given = args if isinstance(args, tuple) else (args,)
    x = settle(minimum_of_number, found_part(found, "x", "float"), fun, given)
    return Minimum(
        x,
        settle(value_there, found_part(found, "fun", "float"), fun, x, given),
        found_part(found, "success", "bool"),
        found_part(found, "message", "str"),
        found_part(found, "nfev", "None | int"),
        found_part(found, "nit", "None | int"),
    )


def sum_of_losses(residuals: Any, loss: Any, scale: Any) -> Any:
    """The cost of residuals, as `scipy.optimize.least_squares` defines it."""
    z = np.square(residuals / scale)
    if loss == "linear":
        rho = z
    elif loss == "soft_l1":
        rho = 2.0 * (np.sqrt(1.0 + z) - 1.0)
    elif loss == "huber":
        rho = np.where(z <= 1.0, z, 2.0 * np.sqrt(np.where(z <= 1.0, 1.0, z)) - 1.0)
    elif loss == "cauchy":
        rho = np.log1p(z)
    elif loss == "arctan":
        rho = np.arctan(z)
    else:
        raise NotDifferentiable(
            "scipy.optimize.least_squares has no derivative with a `loss` of your own", hint="name one"
        )
    return 0.5 * scale**2 * np.sum(rho)


@solver_of(optimize.least_squares, form="object")
def least_squares(
    found: Any,
    fun: Any,
    x0: Any,
    jac: Any = "2-point",
    bounds: Any = None,
    method: Any = "trf",
    *,
    loss: Any = "linear",
    f_scale: Any = 1.0,
    args: Any = (),
    kwargs: Any = {},  # noqa: B006
    **options: Any,
) -> Any:
    """Parameters with the smallest sum of squares, or of losses."""

    def residuals(z: Any) -> Any:
        return np.atleast_1d(fun(z, *args, **kwargs))

    def cost(z: Any) -> Any:
        return sum_of_losses(residuals(z), loss, f_scale)

    place = found_part(found, "x", "float64[1]")
    if bounds is None:
        x = settle(minimum_of_row, place, cost, ())
    else:
        met = found_part(found, "active_mask", "int64[1]")
        known = constant_option(bounds, "`bounds`")
        low, high = as_written(near_rows, "(float64[1], float64[1])", known, place, met)
        x = settle(minimum_in_a_box, place, cost, (), low, high)
    return Fit(
        x,
        settle(value_there, found_part(found, "cost", "float"), cost, x, ()),
        settle(value_there, found_part(found, "fun", "float64[1]"), residuals, x, ()),
        found_part(found, "success", "bool"),
        found_part(found, "status", "int"),
        found_part(found, "message", "str"),
        found_part(found, "nfev", "None | int"),
    )


def covariance(value: Any, residuals: Any, x: Any, absolute: Any) -> Any:
    """The covariance of fitted parameters: the inverse of the squared Jacobian, in units of the variance that is
    left where `absolute` is not set."""
    slopes = slope_of(residuals, x)
    spread = np.linalg.inv(slopes.T @ slopes)
    if not absolute:
        spread = spread * np.sum(np.square(residuals(x))) / (slopes.shape[0] - slopes.shape[1])
    return valued(value, spread)


def _fit_form(given: Mapping[str, Any]) -> str:
    rest = ", object, str, int" if given["full_output"] else ""
    return f"(float64[1], float64[2]{rest})"


@solver_of(optimize.curve_fit, form=_fit_form)
def curve_fit(
    found: Any,
    f: Any,
    xdata: Any,
    ydata: Any,
    p0: Any = None,
    sigma: Any = None,
    absolute_sigma: Any = False,
    check_finite: Any = None,
    bounds: Any = None,
    method: Any = None,
    jac: Any = None,
    full_output: Any = False,
    nan_policy: Any = None,
    **options: Any,
) -> Any:
    """Parameters of a curve, and their covariance."""

    def residuals(z: Any) -> Any:
        apart = f(xdata, *z) - ydata
        if sigma is None:
            scaled = apart
        elif np.ndim(sigma) < 2:
            scaled = apart / sigma
        else:
            scaled = np.linalg.solve(np.linalg.cholesky(np.asarray(sigma)), apart)
        return scaled

    def cost(z: Any) -> Any:
        return 0.5 * np.sum(np.square(residuals(z)))

    if bounds is None:
        x = settle(minimum_of_row, found[0], cost, ())
    else:
        limits = as_written(near_rows, "(float64[1], float64[1])", constant_option(bounds, "`bounds`"), found[0])
        x = settle(minimum_in_a_box, found[0], cost, (), limits[0], limits[1])
    spread = settle(covariance, found[1], residuals, x, absolute_sigma)
    return (x, spread, found[2], found[3], found[4]) if full_output else (x, spread)
