"""Roots of equations, by the implicit function theorem."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scipy import optimize

from tangentx.arrays import settle, settled, settled_row, slope_of
from tangentx.templates.solvers import solver_of


def root_of_number(x: Any, residual: Any, args: Any) -> Any:
    """The step at whose end a number is a root."""
    return settled(x, residual(x, *args), slope_of(residual, x, *args))


def root_of_row(x: Any, residual: Any, args: Any) -> Any:
    """The step at whose end a row is a root."""
    return settled_row(x, residual(x, *args), slope_of(residual, x, *args))


@solver_of(optimize.brentq, optimize.brenth, optimize.bisect, optimize.ridder, form="float")
def bracketed(
    found: Any,
    f: Any,
    a: Any,
    b: Any,
    args: Any = (),
    xtol: Any = None,
    rtol: Any = None,
    maxiter: Any = 100,
    full_output: Any = False,
    disp: Any = True,
) -> Any:
    """Root in a bracket, on which it does not depend."""
    return settle(root_of_number, found, f, args if isinstance(args, tuple) else (args,))
