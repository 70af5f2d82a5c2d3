"""Linear programs: the answer is a vertex, the solution of the equations that hold there.

Which equations those are the solver says, and they count as constant: so the answer moves with the coefficients of the
constraints, and stays where it is when the costs move. Where fewer hold than there are unknowns the answer is one of
many, where more do it moves otherwise on each side: both are refused.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import optimize

from tangentx.arrays import as_written, constant_option, stop_gradient
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition

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
