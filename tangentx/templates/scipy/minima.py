"""Minima, fits and linear programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

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
    stop_gradient,
    valued,
)
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.registry import constant
from tangentx.templates.solver_table import Fit, Minimum, Solution, solver_of

# Minima and fits, as the points where a gradient is zero.
#
# Where a coordinate of the minimum is held by a bound it stays there: its equation is that it is the bound.

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


@solver_of(optimize.fmin, optimize.fmin_powell, form="float64[1]")
def fmin(
    found: Any,
    func: Any,
    x0: Any,
    args: Any = (),
    xtol: Any = 1e-4,
    ftol: Any = 1e-4,
    maxiter: Any = None,
    maxfun: Any = None,
    full_output: Any = 0,
    disp: Any = 1,
    retall: Any = 0,
    callback: Any = None,
    initial_simplex: Any = None,
) -> Any:
    """Minimum of a function of a row, found without its slope."""
    _demand_answer_alone(full_output, retall)
    return settle(minimum_of_row, found, func, args if isinstance(args, tuple) else (args,))


@solver_of(optimize.fmin_bfgs, optimize.fmin_cg, form="float64[1]")
def fmin_bfgs(
    found: Any,
    f: Any,
    x0: Any,
    fprime: Any = None,
    args: Any = (),
    gtol: Any = 1e-5,
    norm: Any = np.inf,
    epsilon: Any = 1.5e-8,
    maxiter: Any = None,
    full_output: Any = 0,
    disp: Any = 1,
    retall: Any = 0,
    callback: Any = None,
    **options: Any,
) -> Any:
    """Minimum of a function of a row, found by its slope."""
    _demand_answer_alone(full_output, retall)
    return settle(minimum_of_row, found, f, args if isinstance(args, tuple) else (args,))


@solver_of(optimize.fmin_ncg, form="float64[1]")
def fmin_ncg(
    found: Any,
    f: Any,
    x0: Any,
    fprime: Any,
    fhess_p: Any = None,
    fhess: Any = None,
    args: Any = (),
    avextol: Any = 1e-5,
    epsilon: Any = 1.5e-8,
    maxiter: Any = None,
    full_output: Any = 0,
    disp: Any = 1,
    retall: Any = 0,
    callback: Any = None,
    **options: Any,
) -> Any:
    """Minimum of a function of a row, found by its second derivatives."""
    _demand_answer_alone(full_output, retall)
    return settle(minimum_of_row, found, f, args if isinstance(args, tuple) else (args,))


@solver_of(optimize.fmin_l_bfgs_b, form="(float64[1], float, object)")
def fmin_l_bfgs_b(
    found: Any,
    func: Any,
    x0: Any,
    fprime: Any = None,
    args: Any = (),
    approx_grad: Any = 0,
    bounds: Any = None,
    **options: Any,
) -> Any:
    """Minimum of a function of a row between bounds."""
    given = args if isinstance(args, tuple) else (args,)
    objective = func if fprime is not None or approx_grad else (lambda z, *a: func(z, *a)[0])
    limits = as_written(near_pairs, "(float64[1], float64[1])", constant_option(bounds, "`bounds`"), found[0])
    x = settle(minimum_in_a_box, found[0], objective, given, limits[0], limits[1])
    return x, settle(value_there, found[1], objective, x, given), found[2]


@solver_of(optimize.fminbound, optimize.brent, optimize.golden, form="float")
def fminbound(found: Any, func: Any, *given: Any, args: Any = (), full_output: Any = 0, **options: Any) -> Any:
    """Minimum of a function of a number; at a bound it is refused."""
    _demand_answer_alone(full_output, 0)
    return settle(minimum_of_number, found, func, args if isinstance(args, tuple) else (args,))


def _demand_answer_alone(full_output: Any, retall: Any) -> None:
    if full_output or retall:
        raise NotDifferentiable(
            "this solver has no derivative with `full_output` or `retall`", hint="use scipy.optimize.minimize"
        )


@solver_of(
    *(optimize.differential_evolution, optimize.dual_annealing, optimize.direct, optimize.shgo),
    form="object",
)
def global_minimum(found: Any, func: Any, bounds: Any, args: Any = (), constraints: Any = (), **options: Any) -> Any:
    """Least of the minima between bounds."""
    if not (isinstance(constraints, tuple) and len(constraints) == 0):
        raise NotDifferentiable(
            "a minimum with `constraints` has no derivative", hint="give `bounds` alone, or solve its conditions"
        )
    given = args if isinstance(args, tuple) else (args,)
    place = found_part(found, "x", "float64[1]")
    limits = as_written(near_pairs, "(float64[1], float64[1])", constant_option(bounds, "`bounds`"), place)
    x = settle(minimum_in_a_box, place, func, given, limits[0], limits[1])
    return Solution(
        x,
        settle(value_there, found_part(found, "fun", "float"), func, x, given),
        found_part(found, "success", "bool"),
        found_part(found, "status", "None | int"),
        found_part(found, "message", "object"),
        found_part(found, "nfev", "None | int"),
        found_part(found, "nit", "None | int"),
    )


@solver_of(optimize.basinhopping, form="object")
def basinhopping(found: Any, func: Any, x0: Any, *given: Any, minimizer_kwargs: Any = None, **options: Any) -> Any:
    """Least of the minima that are met, of a function of a row."""
    if minimizer_kwargs is not None:
        raise NotDifferentiable(
            "scipy.optimize.basinhopping has no derivative with `minimizer_kwargs`",
            hint="capture the parameters, and call scipy.optimize.minimize once more, from the answer",
        )
    x = settle(minimum_of_row, found_part(found, "x", "float64[1]"), func, ())
    return Solution(
        x,
        settle(value_there, found_part(found, "fun", "float"), func, x, ()),
        found_part(found, "success", "bool"),
        0,
        found_part(found, "message", "object"),
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


@solver_of(optimize.leastsq, form="(float64[1], int)")
def leastsq(
    found: Any, func: Any, x0: Any, args: Any = (), Dfun: Any = None, full_output: Any = False, **options: Any
) -> Any:
    """Parameters with the smallest sum of squares."""
    if full_output:
        raise NotDifferentiable(
            "scipy.optimize.leastsq has no derivative with `full_output`", hint="use scipy.optimize.least_squares"
        )
    given = args if isinstance(args, tuple) else (args,)

    def cost(z: Any) -> Any:
        return 0.5 * np.sum(np.square(np.atleast_1d(func(z, *given))))

    return settle(minimum_of_row, found[0], cost, ()), found[1]


def support_of(A: Any, b: Any) -> Any:
    """The unknowns that are above 0 where `scipy.optimize.nnls` has solved a system."""
    return np.nonzero(optimize.nnls(A, b)[0] > 0.0)[0].astype(np.int64)


@composition(optimize.nnls, domain=())
def nnls(A: Any, b: Any, maxiter: Any = None) -> Any:
    """Nearest solution of a system with no unknown below 0: that of those which are above, where they stay so."""
    table, right = np.asarray(A), np.asarray(b)
    above = as_written(support_of, "int64[1]", stop_gradient(table), stop_gradient(right))
    x = np.zeros(np.shape(table)[1])
    x[above] = np.linalg.lstsq(table[:, above], right)[0]
    return x, np.linalg.norm(table @ x - right)


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


@composition(optimize.rosen, domain=("A(4)", "A(3,2)"))
def rosen(x: Any) -> Any:
    """Rosenbrock's function."""
    x = np.asarray(x)
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2, axis=0)


# Linear programs: the answer is a vertex, the solution of the equations that hold there.
#
# Which equations those are the solver says, and they count as constant: so the answer moves with the coefficients of
# the constraints, and stays where it is when the costs move. Where fewer hold than there are unknowns the answer is
# one of many, where more do it moves otherwise on each side: both are refused.

_NEAR = 1e-7
"""How near to a constraint, by its size, the answer is taken to lie on it."""


class Vertex(NamedTuple):
    """What `scipy.optimize.linprog` has found."""

    x: Any
    fun: Any
    slack: Any
    con: Any
    success: Any
    status: Any
    message: Any


def ends_of(bounds: Any, count: Any) -> Any:
    """The lower bounds of the unknowns, then the upper ones; infinite where there is none."""
    rows = np.array([(np.nan if b is None else b) for b in np.ravel(np.array(bounds, object))], float)
    pairs = np.broadcast_to(np.reshape(rows, (-1, 2)), (count, 2))
    return np.concatenate(
        [np.where(np.isnan(pairs[:, 0]), -np.inf, pairs[:, 0]), np.where(np.isnan(pairs[:, 1]), np.inf, pairs[:, 1])]
    )


def equations_of(c: Any, rows: Any, right: Any, equal: Any, above: Any, bounds: Any, method: Any) -> Any:
    """The places of the equations that hold at the answer, among those of the constraints and of the bounds."""
    ub, eq = slice(equal, equal + above), slice(0, equal)
    found = optimize.linprog(c, rows[ub], right[ub], rows[eq], right[eq], bounds, method)
    if found.status != 0:
        raise NotDifferentiable(f"linprog has found no answer: {found.message}", hint="look at the program itself")
    left = np.abs(right - rows @ found.x)
    held = np.nonzero((left <= _NEAR * (1.0 + np.abs(right))) & np.isfinite(right))[0]
    ends = held[held >= equal + above]
    twice = ends[np.isin(ends - len(c), held) & (ends >= equal + above + len(c))]  # a fixed unknown has two bounds
    held = np.setdiff1d(held, twice)
    hint = "the derivative is not defined there: change the program a little"
    if np.linalg.matrix_rank(rows[held]) < len(c):
        raise NotDifferentiable("linprog has found one of many answers", hint=hint)
    if len(held) > len(c):
        raise NotDifferentiable("linprog has found a corner of more constraints than it has unknowns", hint=hint)
    fixed = np.isin(held, twice - len(c))
    weights = np.linalg.solve(rows[held].T, c)  # by how much the least cost moves with each of them
    if np.any((np.abs(weights) <= _NEAR * np.max(np.abs(c))) & (held >= equal) & ~fixed):
        raise NotDifferentiable("linprog has found one of many answers", hint=hint)
    return held.astype(np.int64)


@composition(optimize.linprog, domain=(), always=True)
def linprog(
    c: Any,
    A_ub: Any = None,
    b_ub: Any = None,
    A_eq: Any = None,
    b_eq: Any = None,
    bounds: Any = (0, None),
    method: Any = "highs",
) -> Any:
    """The vertex at which a linear program has its answer."""
    costs = np.asarray(c) * 1.0
    n = len(costs)
    limits = np.zeros((0, n)) if A_ub is None else np.asarray(A_ub) * 1.0
    most = np.zeros(0) if b_ub is None else np.ravel(b_ub) * 1.0
    table = np.zeros((0, n)) if A_eq is None else np.asarray(A_eq) * 1.0
    wanted = np.zeros(0) if b_eq is None else np.ravel(b_eq) * 1.0
    ends = as_written(ends_of, "float64[1]", constant_option(bounds, "`bounds`"), n)
    rows = np.concatenate((table, limits, np.eye(n), np.eye(n)))
    right = np.concatenate((wanted, most, ends))
    given = (stop_gradient(costs), stop_gradient(rows), stop_gradient(right), len(wanted), len(most))
    held = as_written(equations_of, "int64[1]", *given, constant_option(bounds, "`bounds`"), method)
    x = np.linalg.solve(rows[held], right[held])
    told = "Optimization terminated successfully. (HiGHS Status 7: Optimal)"
    return Vertex(x, costs @ x, most - limits @ x, wanted - table @ x, True, 0, told)
