"""Results of solvers: the solution, which depends on parameters, and the report on the search."""

from __future__ import annotations

from typing import Any, NamedTuple


class Solution(NamedTuple):
    """What a solver has found: its answer `x`, and `fun`, which the user's function gives there."""

    x: Any
    fun: Any
    success: Any
    status: Any
    message: Any
    nfev: Any
    nit: Any


class Root(NamedTuple):
    """What `scipy.optimize.root_scalar` has found."""

    root: Any
    converged: Any
    flag: Any
    iterations: Any
    function_calls: Any


class Minimum(NamedTuple):
    """What `scipy.optimize.minimize_scalar` has found."""

    x: Any
    fun: Any
    success: Any
    message: Any
    nfev: Any
    nit: Any


class Fit(NamedTuple):
    """What `scipy.optimize.least_squares` has found."""

    x: Any
    cost: Any
    fun: Any
    success: Any
    status: Any
    message: Any
    nfev: Any


class Trajectory(NamedTuple):
    """What `scipy.integrate.solve_ivp` has found."""

    t: Any
    y: Any
    success: Any
    status: Any
    message: Any
    nfev: Any


RECORDS: frozenset[Any] = frozenset((Solution, Root, Minimum, Fit, Trajectory))
"""The classes here, whose fields are asked for by their names in brackets, too, as SciPy's results are."""
