"""Products, quotients, powers, derivatives, integrals, roots and fits of series in all bases of `numpy.polynomial`.

All of it goes by ``x * P[n] = up * P[n + 1] + stay * P[n] + down * P[n - 1]``, which each basis has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial, polyutils

from tangentx.arrays import series_companion, series_length, series_steps, series_table, stop_gradient
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition, has_composition
from tangentx.templates.refusals import refused
from tangentx.templates.registry import constant, find

constant(series_steps, series_companion)

F = TypeVar("F", bound=Callable[..., Any])
BASES: tuple[tuple[str, Any, str], ...] = (
    ("Polynomial", polynomial, "poly"),
    ("Chebyshev", chebyshev, "cheb"),
    ("Legendre", legendre, "leg"),
    ("Hermite", hermite, "herm"),
    ("HermiteE", hermite_e, "herme"),
    ("Laguerre", laguerre, "lag"),
)
"""The classes by name, which a text on Tensors may compare, their modules, and how the names of the functions begin."""


def _row(c: Any) -> Any:
    """Coefficients that are inexact, without the highest that are 0."""
    given = np.atleast_1d(c) * 1.0
    if np.ndim(given) != 1:
        raise NotDifferentiable("a series with tables of coefficients has no derivative", hint="take one row at a time")
    return given[: series_length(given)]


def _longer(c: Any, count: int) -> Any:
    """Coefficients with so many zeros behind them."""
    return np.concatenate([c, np.zeros(count, c.dtype)])


def times_x(basis: str, c: Any) -> Any:
    """The coefficients of the product with the variable."""
    steps, none = series_steps(basis, c), np.zeros(1, c.dtype)
    found = np.concatenate([none, steps[0] * c]) + np.concatenate([steps[1] * c, none])
    return found + np.concatenate([(steps[2] * c)[1:], none, none])


def _multiples(basis: str, c: Any, count: int) -> Any:
    """The products of a series with the first functions of the basis, each longer by one than the last."""
    steps = series_steps(basis, np.ones(count, c.dtype))
    found = [c]
    for n in range(count - 1):
        moved = times_x(basis, found[n]) - steps[1, n] * _longer(found[n], 1)
        if n > 0:
            moved = moved - steps[2, n] * _longer(found[n - 1], 2)
        found.append(moved / steps[0, n])
    return found


def product_of(basis: str, a: Any, b: Any) -> Any:
    """The coefficients of a product."""
    short, other = (b, a) if len(a) > len(b) else (a, b)
    rows, count = _multiples(basis, other, len(short)), len(short)
    total = _longer(rows[0] * short[0], count - 1)
    for n in range(1, count):
        total = total + _longer(rows[n] * short[n], count - 1 - n)
    if count == 1:
        total = in_double(basis, total)
    return total[: series_length(total)]


def in_double(basis: str, c: Any) -> Any:
    """Coefficients in double precision, in which NumPy goes on with most bases from a zero or a one."""
    return c if basis == "Polynomial" or basis == "Chebyshev" else c + np.zeros(1)


def quotient_of(basis: str, a: Any, b: Any) -> Any:
    """The coefficients of quotient and remainder."""
    if b[-1] == 0:
        raise ZeroDivisionError
    if len(a) < len(b):
        return a[:1] * 0.0, a
    rows, rest, found = _multiples(basis, in_double(basis, b), len(a) - len(b) + 1), in_double(basis, a), []
    for i in range(len(a) - len(b), -1, -1):
        factor = rest[-1] / rows[i][-1]
        rest = rest[:-1] - factor * rows[i][:-1]
        found.append(factor)
    quotient = np.array(found[::-1], (a[:1] * b[:1]).dtype)
    if len(b) == 1:
        return quotient, a[:1] * 0.0
    return quotient, rest[: series_length(rest)]


def power_of(basis: str, c: Any, exponent: int) -> Any:
    """The coefficients of a whole power."""
    found = np.ones(1, c.dtype) if exponent == 0 else c
    for _ in range(1, exponent):
        found = product_of(basis, found, c)
    return found


def companion_of(basis: str, c: Any) -> Any:
    """The matrix whose eigenvalues are the roots: of a function of the basis NumPy's own, from whose last column the
    lower coefficients are taken."""
    if len(c) < 2:
        raise ValueError("a series without a variable has no companion matrix")
    table = series_companion(basis, c)
    last = np.zeros(len(c) - 1, c.dtype)
    last[-1] = 1.0
    return table[:, :-1] - np.outer(table[:, -1] * c[:-1] / c[-1], last)


def roots_of_series(basis: str, c: Any) -> Any:
    """Where the value is 0, in NumPy's order."""
    if len(c) < 2:
        return np.zeros(0, c.dtype)
    found = np.linalg.eigvals(companion_of(basis, c)[::-1, ::-1])
    return found[np.argsort(stop_gradient(found))]


def rows_of(basis: str, x: Any, deg: Any) -> Any:
    """The basis of a class up to a degree at each of some points, in a row each."""
    found = [np.ones_like(x), 1.0 - x if basis == "Laguerre" else 2.0 * x if basis == "Hermite" else x]
    for n in range(1, deg):
        if basis == "Chebyshev":
            found.append(2.0 * x * found[-1] - found[-2])
        elif basis == "Legendre":
            found.append(((2 * n + 1) * x * found[-1] - n * found[-2]) / (n + 1))
        elif basis == "Hermite":
            found.append(2.0 * x * found[-1] - 2 * n * found[-2])
        elif basis == "HermiteE":
            found.append(x * found[-1] - n * found[-2])
        elif basis == "Laguerre":
            found.append(((2 * n + 1 - x) * found[-1] - n * found[-2]) / (n + 1))
        else:
            found.append(x * found[-1])
    return np.stack(found[: deg + 1], axis=-1)


def least_squares(rows: Any, right: Any, w: Any, rcond: Any) -> Any:
    """The coefficients of what is nearest, of columns that are scaled as NumPy does it."""
    if w is not None:
        weights = np.asarray(w)
        rows = rows * weights[:, None]
        right = right * (weights if np.ndim(right) == 1 else weights[:, None])
    sizes = np.sqrt(np.sum(stop_gradient(rows) ** 2, axis=0))
    sizes = np.where(sizes == 0.0, 1.0, sizes)
    found = np.linalg.lstsq(rows / sizes, right, len(right) * 2.0**-52 if rcond is None else rcond)[0]
    return found / (sizes if np.ndim(right) == 1 else sizes[:, None])


def _of_points(basis: str, x: Any, count: int) -> Any:
    """The first functions of the basis at the points of an array, along a last axis."""
    return rows_of(basis, np.asarray(x) * 1.0, count - 1)


def _declare_arithmetic(basis: str, module: Any, prefix: str) -> None:
    """Declares products, quotients and powers."""

    @_declared(module, prefix + "mul", "A(3), A(2)", "A(2), A(3)", "A(1), A(3)")
    def multiplied(c1: Any, c2: Any) -> Any:
        """Product of two series."""
        return product_of(basis, _row(c1), _row(c2))

    @_declared(module, prefix + "div", "A(4), P(2)", "A(2), P(3)", "A(3), P(1)")
    def divided(c1: Any, c2: Any) -> Any:
        """Quotient and remainder of two series."""
        return quotient_of(basis, _row(c1), _row(c2))

    @_declared(module, prefix + "pow", "A(3), 2", "A(2), 0")
    def raised(c: Any, pow: Any, maxpower: Any = 16) -> Any:
        """Whole power of a series."""
        if pow != int(pow) or pow < 0 or (maxpower is not None and pow > maxpower):
            raise ValueError("the power of a series is a whole number from 0 to `maxpower`")
        return power_of(basis, _row(c), int(pow))

    @_declared(module, prefix + "mulx", "A(3)", "A(1)")
    def moved(c: Any) -> Any:
        """Product of a series with its variable."""
        row = _row(c)
        return row if len(row) == 1 and row[0] == 0 else times_x(basis, row)


def _declare_roots(basis: str, module: Any, prefix: str) -> None:
    """Declares what the roots of a series are, and the other way."""

    @_declared(module, prefix + "companion", "P(4)", "P(2)")
    def companion(c: Any) -> Any:
        """The matrix whose eigenvalues are the roots."""
        return companion_of(basis, _row(c))

    @_declared(module, prefix + "roots", "np.array([-2.0, 0.3, 1.0])", "P(2)")
    def roots(c: Any) -> Any:
        """Where the value of a series is 0."""
        return roots_of_series(basis, _row(c))

    @_declared(module, prefix + "fromroots", "A(3)")
    def from_roots(roots: Any) -> Any:
        """The series with given roots."""
        given = np.atleast_1d(roots) * 1.0
        if given.dtype == np.float32:  # NumPy goes on in double precision
            given = given.astype(np.float64)
        found = np.ones(1, given.dtype)
        for root in given:
            found = times_x(basis, found) - root * _longer(found, 1)
        return found


def _declare_calculus(basis: str, module: Any, prefix: str) -> None:
    """Declares derivatives and integrals of a series, the same as a plain polynomial, and the other way."""
    value = getattr(module, prefix + "val")

    @_declared(module, prefix + "der", "A(4)", "A(4), 2, x", "A(4,2), axis=0", "A(2,4), axis=1")
    def derivative(c: Any, m: Any = 1, scl: Any = 1, axis: Any = 0) -> Any:
        """Derivative of a series of a scaled variable."""
        rows = np.moveaxis(np.asarray(c) * 1.0, axis, 0)
        if m >= len(rows):
            if np.ndim(rows) > 1:
                raise NotDifferentiable("tables of constants have no derivative here", hint="use zeros in their place")
            return rows[:1] * 0.0
        table = series_table(basis, "deriv", len(rows), m).astype(rows.dtype)
        return np.moveaxis(np.tensordot(table, rows, 1) * scl**m, 0, axis)

    @_declared(module, prefix + "int", "A(3)", "A(3), 2, [x, y]", "A(3), lbnd=2.0, scl=3.0")
    def integral(c: Any, m: Any = 1, k: Any = (), lbnd: Any = 0, scl: Any = 1) -> Any:
        """Integral of a series of a scaled variable, from a lower bound."""
        found, given = np.atleast_1d(c) * 1.0, np.atleast_1d(k) * 1.0
        for i in range(m):
            above = series_table(basis, "integ", len(found), 1).astype(found.dtype) @ found * scl
            start = given[i] if i < len(given) else 0.0
            first = start - value(lbnd, above)
            found = np.concatenate([np.asarray(above[:1] + first, above.dtype), above[1:]])
        return found

    @_declared(module, prefix + "2poly", "A(4)")
    def to_plain(c: Any) -> Any:
        """The coefficients of the plain polynomial that a series is."""
        row = _row(c)
        return series_table(basis, "convert", len(row), 1).astype(row.dtype) @ row

    @_declared(module, "poly2" + prefix, "A(4)")
    def of_plain(pol: Any) -> Any:
        """The coefficients of the series that a plain polynomial is."""
        row = _row(pol) + np.zeros(1)  # NumPy begins with a zero in double precision
        return series_table(basis, "of plain", len(row), 1).astype(row.dtype) @ row


def _declare_points(module: Any, prefix: str) -> None:
    """Declares values of series in several variables."""

    value = getattr(module, prefix + "val")

    @_declared(module, prefix + "val2d", "A(3), A(3), A(2,3)", "A(2,2), A(2,2), A(3,2)")
    def plane(x: Any, y: Any, c: Any) -> Any:
        """Value of a series in two variables."""
        return value(y, value(x, c), False)

    @_declared(module, prefix + "val3d", "A(3), A(3), A(3), A(2,3,2)")
    def space(x: Any, y: Any, z: Any, c: Any) -> Any:
        """Value of a series in three variables."""
        return value(z, value(y, value(x, c), False), False)

    @_declared(module, prefix + "grid2d", "A(3), A(4), A(2,3)")
    def grid(x: Any, y: Any, c: Any) -> Any:
        """Values of a series in two variables, on a grid."""
        return value(y, value(x, c))

    @_declared(module, prefix + "grid3d", "A(2), A(3), A(2), A(2,3,2)")
    def grid_in_space(x: Any, y: Any, z: Any, c: Any) -> Any:
        """Values of a series in three variables, on a grid."""
        return value(z, value(y, value(x, c)))


def _declare_tables(basis: str, module: Any, prefix: str) -> None:
    """Declares tables of the basis, and fits."""

    @_declared(module, prefix + "vander2d", "A(3), A(3), (1, 2)")
    def products(x: Any, y: Any, deg: Any) -> Any:
        """Products of the basis in two variables at each point, in a row each."""
        rows, columns = _of_points(basis, x, deg[0] + 1), _of_points(basis, y, deg[1] + 1)
        return np.reshape(rows[..., :, None] * columns[..., None, :], (*np.shape(x), -1))

    @_declared(module, prefix + "vander3d", "A(3), A(3), A(3), (1, 2, 1)")
    def products_in_space(x: Any, y: Any, z: Any, deg: Any) -> Any:
        """Products of the basis in three variables at each point, in a row each."""
        rows, columns = _of_points(basis, x, deg[0] + 1), _of_points(basis, y, deg[1] + 1)
        both = rows[..., :, None, None] * columns[..., None, :, None]
        return np.reshape(both * _of_points(basis, z, deg[2] + 1)[..., None, None, :], (*np.shape(x), -1))

    @_declared(module, prefix + "fit", "np.arange(5.0), A(5), 2", "A(5), A(5,2), 1", "A(4), A(4), 1, w=P(4)")
    def fit(x: Any, y: Any, deg: Any, rcond: Any = None, full: Any = False, w: Any = None) -> Any:
        """The series of least squares."""
        if full or np.ndim(deg) > 0:
            raise NotDifferentiable(
                "a series of least squares has a derivative for one degree, without `full`", hint="leave `full` out"
            )
        return least_squares(rows_of(basis, np.asarray(x) * 1.0, deg), np.asarray(y) * 1.0, w, rcond)


def _declared(module: Any, name: str, *domain: str) -> Callable[[F], F]:
    """Declares a composition for a function of a module, where there is such a function and it has none."""
    public = getattr(module, name, None)
    if public is None or has_composition(public):
        return lambda body: body
    return composition(public, domain=domain)


for _basis, _module, _prefix in BASES:
    _declare_arithmetic(_basis, _module, _prefix)
    _declare_calculus(_basis, _module, _prefix)
    _declare_roots(_basis, _module, _prefix)
    _declare_points(_module, _prefix)
    _declare_tables(_basis, _module, _prefix)


@composition(polyutils.trimcoef, domain=("A(3)", "np.array([0.5, 2.0, 0.01]), 0.1"))
def trimcoef(c: Any, tol: Any = 0) -> Any:
    """Without the highest coefficients that are no larger than a bound."""
    given = np.atleast_1d(c) * 1.0
    large = np.abs(stop_gradient(given)) > tol
    return given[: series_length(large)] if np.any(large) else given[:1] * 0.0


def _others() -> list[Any]:
    """The functions of `numpy.polynomial` that have no rule here."""
    found = []
    for module in (polynomial, chebyshev, legendre, hermite, hermite_e, laguerre, polyutils):
        for name in module.__all__:
            public = getattr(module, name)
            plain = callable(public) and not isinstance(public, type)
            if plain and find(public) is None and not has_composition(public):
                found.append(public)
    return found


refused(
    *_others(),
    reason="series are differentiated that are given by their coefficients or by points",
    hint="write it with the coefficients: `polyfromroots` gives those of a product of roots, `polyval` a value",
)
