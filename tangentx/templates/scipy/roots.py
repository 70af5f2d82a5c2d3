"""Roots of equations, by the implicit function theorem."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import optimize

from tangentx.arrays import found_part, regular, settle, settled, settled_row, slope_of, valued
from tangentx.errors import NotDifferentiable
from tangentx.templates.solver_table import Root, Solution, solver_of


def root_of_number(x: Any, residual: Any, args: Any) -> Any:
    """The step at whose end a number is a root."""
    left = residual(x, *args)
    return settled(x, left, regular(slope_of(residual, x, *args), left, x))


def root_of_row(x: Any, residual: Any, args: Any) -> Any:
    """The step at whose end a row is a root; the residual is an array, or a list of numbers."""

    def equations(z: Any) -> Any:
        return np.atleast_1d(residual(z, *args))

    left = equations(x)
    return settled_row(x, left, regular(slope_of(equations, x), left, x))


def fixed_number(x: Any, function: Any, args: Any) -> Any:
    """The step at whose end a number is what a function makes of it."""

    def residual(z: Any) -> Any:
        return function(z, *args) - z

    return root_of_number(x, residual, ())


def fixed_row(x: Any, function: Any, args: Any) -> Any:
    """The step at whose end a row is what a function makes of it."""

    def residual(z: Any) -> Any:
        return function(z, *args) - z

    return root_of_row(x, residual, ())


def _bracketed_form(given: Mapping[str, Any]) -> str:
    return "(float, object)" if given["full_output"] else "float"


@solver_of(optimize.brentq, optimize.brenth, optimize.bisect, optimize.ridder, form=_bracketed_form)
def bracketed(
    found: Any,
    f: Any,
    a: Any,
    b: Any,
    args: Any = (),
    xtol: Any = 2e-12,
    rtol: Any = 1e-15,
    maxiter: Any = 100,
    full_output: Any = False,
    disp: Any = True,
) -> Any:
    """Root in a bracket, on which it does not depend."""
    given = args if isinstance(args, tuple) else (args,)
    answer = settle(root_of_number, found[0] if full_output else found, f, given)
    return (answer, found[1]) if full_output else answer


@solver_of(optimize.toms748, form=_bracketed_form)
def toms748(
    found: Any,
    f: Any,
    a: Any,
    b: Any,
    args: Any = (),
    k: Any = 1,
    xtol: Any = 2e-12,
    rtol: Any = 1e-15,
    maxiter: Any = 100,
    full_output: Any = False,
    disp: Any = True,
) -> Any:
    """Root in a bracket, on which it does not depend."""
    given = args if isinstance(args, tuple) else (args,)
    answer = settle(root_of_number, found[0] if full_output else found, f, given)
    return (answer, found[1]) if full_output else answer


def _newton_form(given: Mapping[str, Any]) -> str:
    if getattr(given["x0"], "rank", 0):
        return "float64[1]"
    return "(np.float64, object)" if given["full_output"] else "np.float64"


@solver_of(optimize.newton, form=_newton_form)
def newton(
    found: Any,
    func: Any,
    x0: Any,
    fprime: Any = None,
    args: Any = (),
    tol: Any = 1.48e-08,
    maxiter: Any = 50,
    fprime2: Any = None,
    x1: Any = None,
    rtol: Any = 0.0,
    full_output: Any = False,
    disp: Any = True,
) -> Any:
    """Root near a point, on which it does not depend."""
    if np.iscomplexobj(x0):
        raise NotDifferentiable(
            "scipy.optimize.newton has no derivative in the complex plane",
            hint="solve for the real and the imaginary part with scipy.optimize.root",
        )
    if np.ndim(x0) > 0:
        if full_output:
            raise NotDifferentiable(
                "scipy.optimize.newton of an array has no derivative with `full_output`", hint="leave `full_output` out"
            )
        return settle(root_of_row, found, func, args)
    answer = settle(root_of_number, found[0] if full_output else found, func, args)
    return (answer, found[1]) if full_output else answer


def _row_form(given: Mapping[str, Any]) -> str:
    return "(float64[1], object, int, str)" if given["full_output"] else "float64[1]"


@solver_of(optimize.fsolve, form=_row_form)
def fsolve(
    found: Any,
    func: Any,
    x0: Any,
    args: Any = (),
    fprime: Any = None,
    full_output: Any = 0,
    col_deriv: Any = 0,
    xtol: Any = 1.49012e-08,
    maxfev: Any = 0,
    band: Any = None,
    epsfcn: Any = None,
    factor: Any = 100,
    diag: Any = None,
) -> Any:
    """Root of a system near a point, on which it does not depend."""
    given = args if isinstance(args, tuple) else (args,)
    answer = settle(root_of_row, found[0] if full_output else found, func, given)
    return (answer, found[1], found[2], found[3]) if full_output else answer


@solver_of(optimize.newton_krylov, optimize.broyden1, optimize.broyden2, optimize.anderson, form="float64[1]")
def iterated_root(found: Any, F: Any, xin: Any, **options: Any) -> Any:
    """Root of a system near a point, on which it does not depend."""
    if np.ndim(xin) != 1:
        raise NotDifferentiable(
            "this solver has a derivative for a row of unknowns", hint="give it a function that takes and gives a row"
        )
    return settle(root_of_row, found, F, ())


@solver_of(optimize.root, form="object")
def root(
    found: Any,
    fun: Any,
    x0: Any,
    args: Any = (),
    method: Any = "hybr",
    jac: Any = None,
    tol: Any = None,
    callback: Any = None,
    options: Any = None,
) -> Any:
    """Root of a system near a point, on which it does not depend."""
    if np.ndim(x0) != 1 and not (method == "hybr" and np.ndim(x0) == 0):
        raise NotDifferentiable(
            "scipy.optimize.root of this form has no derivative: `x0` is no row",
            hint="give it `x0.ravel()`, and a function that takes a row and returns one",
        )
    given = args if isinstance(args, tuple) else (args,)
    equations = (lambda z, *a: fun(z, *a)[0]) if isinstance(jac, bool) and jac else fun
    x = settle(root_of_row, found_part(found, "x", "float64[1]"), equations, given)
    return Solution(
        x,
        settle(residual_there, found_part(found, "fun", "float64[1]"), equations, x, given),
        found_part(found, "success", "bool"),
        found_part(found, "status", "int"),
        found_part(found, "message", "str"),
        found_part(found, "nfev", "None | int"),
        found_part(found, "nit", "None | int"),
    )


def residual_there(value: Any, residual: Any, x: Any, args: Any) -> Any:
    """The residual at a root."""
    return valued(value, np.atleast_1d(residual(x, *args)))


@solver_of(optimize.root_scalar, form="object")
def root_scalar(
    found: Any,
    f: Any,
    args: Any = (),
    method: Any = None,
    bracket: Any = None,
    fprime: Any = None,
    fprime2: Any = None,
    x0: Any = None,
    x1: Any = None,
    xtol: Any = None,
    rtol: Any = None,
    maxiter: Any = None,
    options: Any = None,
) -> Any:
    """Root of a function of one number."""
    given = args if isinstance(args, tuple) else (args,)
    residual = (lambda z, *a: f(z, *a)[0]) if isinstance(fprime, bool) and fprime else f
    return Root(
        settle(root_of_number, found_part(found, "root", "float"), residual, given),
        found_part(found, "converged", "bool"),
        found_part(found, "flag", "str"),
        found_part(found, "iterations", "int"),
        found_part(found, "function_calls", "int"),
    )


@solver_of(optimize.fixed_point, form=lambda given: "float64[1]" if getattr(given["x0"], "rank", 0) else "object")
def fixed_point(
    found: Any,
    func: Any,
    x0: Any,
    args: Any = (),
    xtol: Any = 1e-08,
    maxiter: Any = 500,
    method: Any = "del2",
) -> Any:
    """Point that a function leaves where it is."""
    if np.ndim(x0) > 0:
        answer = settle(fixed_row, found, func, args)
    else:
        answer = settle(fixed_number, float(found), func, args)
    return answer
