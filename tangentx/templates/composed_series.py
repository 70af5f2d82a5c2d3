"""Polynomials and series of orthogonal polynomials by their coefficients, the constant first: `numpy.polynomial`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

from tangentx.arrays import series_length
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition, has_composition
from tangentx.templates.refusals import refused
from tangentx.templates.registry import constant, find

constant(series_length)


def _trimmed(c: Any) -> Any:
    """Without the highest coefficients that are 0."""
    return c[: series_length(c)]


def _demand_row(c: Any) -> None:
    if np.ndim(c) != 1:
        raise NotDifferentiable("a series with tables of coefficients has no derivative", hint="take one row at a time")


@composition(polynomial.polyval, domain=("x, A(3)", "A(2,2), A(3)", "A(2), [x, y]"))
def polyval(x: Any, c: Any) -> Any:
    """Value of a polynomial."""
    _demand_row(c)
    return np.polyval(c[::-1], x)


@composition(polynomial.polyadd, domain=("A(3), A(2)",))
def polyadd(c1: Any, c2: Any) -> Any:
    """Sum of two polynomials."""
    return _trimmed(np.polyadd(c1[::-1], c2[::-1])[::-1])


@composition(polynomial.polysub, domain=("A(3), A(2)",))
def polysub(c1: Any, c2: Any) -> Any:
    """Difference of two polynomials."""
    return _trimmed(np.polysub(c1[::-1], c2[::-1])[::-1])


@composition(polynomial.polymul, domain=("A(3), A(2)",))
def polymul(c1: Any, c2: Any) -> Any:
    """Product of two polynomials."""
    return _trimmed(np.convolve(c1, c2))


@composition(polynomial.polypow, domain=("A(3), 2", "A(2), 0"))
def polypow(c: Any, pow: Any) -> Any:
    """Power of a polynomial."""
    found = np.ones(1)
    for _ in range(pow):
        found = np.convolve(found, c)
    return found


@composition(polynomial.polyder, domain=("A(4)", "A(4), 2, x"))
def polyder(c: Any, m: Any = 1, scl: Any = 1) -> Any:
    """Derivative of a polynomial of a scaled variable."""
    _demand_row(c)
    if m >= len(c):
        return c[:1] * 0.0
    for _ in range(m):
        c = c[1:] * np.arange(1, len(c)) * scl
    return c


@composition(polynomial.polyint, domain=("A(3)", "A(3), 2, [x, y]", "A(3), lbnd=2.0, scl=3.0"))
def polyint(c: Any, m: Any = 1, k: Any = 0.0, lbnd: Any = 0.0, scl: Any = 1.0) -> Any:
    """Integral of a polynomial of a scaled variable, from a lower bound."""
    _demand_row(c)
    given = np.atleast_1d(k)
    for i in range(m):
        start = given[i] if i < len(given) else 0.0
        c = np.append(0.0, scl * c / np.arange(1, len(c) + 1))
        c = np.append(start - np.polyval(c[::-1], lbnd), c[1:])
    return c


@composition(polynomial.polyfromroots, domain=("A(3)",))
def polyfromroots(roots: Any) -> Any:
    """The polynomial with given roots."""
    return np.poly(roots)[::-1]


@composition(polynomial.polyvander, domain=("A(3), 2",))
def polyvander(x: Any, deg: Any) -> Any:
    """Powers of each element."""
    return np.power(np.expand_dims(x, -1), np.arange(deg + 1))


@composition(chebyshev.chebval, domain=("x, A(4)", "A(3), A(1)", "A(2,2), A(3)"))
def chebval(x: Any, c: Any) -> Any:
    """Value of a series of Chebyshev polynomials."""
    _demand_row(c)
    before, now = np.zeros_like(x), np.ones_like(x)
    value = c[0] * now
    for k in range(1, len(c)):
        before, now = now, (x if k == 1 else 2.0 * x) * now - before
        value = value + c[k] * now
    return value


@composition(legendre.legval, domain=("x, A(4)", "A(3), A(2)"))
def legval(x: Any, c: Any) -> Any:
    """Value of a series of Legendre polynomials."""
    _demand_row(c)
    before, now = np.zeros_like(x), np.ones_like(x)
    value = c[0] * now
    for k in range(1, len(c)):
        before, now = now, ((2 * k - 1) * x * now - (k - 1) * before) / k
        value = value + c[k] * now
    return value


@composition(hermite.hermval, domain=("x, A(4)", "A(3), A(2)"))
def hermval(x: Any, c: Any) -> Any:
    """Value of a series of physicists' Hermite polynomials."""
    _demand_row(c)
    before, now = np.zeros_like(x), np.ones_like(x)
    value = c[0] * now
    for k in range(1, len(c)):
        before, now = now, 2.0 * x * now - 2.0 * (k - 1) * before
        value = value + c[k] * now
    return value


@composition(hermite_e.hermeval, domain=("x, A(4)", "A(3), A(2)"))
def hermeval(x: Any, c: Any) -> Any:
    """Value of a series of probabilists' Hermite polynomials."""
    _demand_row(c)
    before, now = np.zeros_like(x), np.ones_like(x)
    value = c[0] * now
    for k in range(1, len(c)):
        before, now = now, x * now - (k - 1) * before
        value = value + c[k] * now
    return value


@composition(laguerre.lagval, domain=("x, A(4)", "A(3), A(2)"))
def lagval(x: Any, c: Any) -> Any:
    """Value of a series of Laguerre polynomials."""
    _demand_row(c)
    before, now = np.zeros_like(x), np.ones_like(x)
    value = c[0] * now
    for k in range(1, len(c)):
        before, now = now, ((2 * k - 1 - x) * now - (k - 1) * before) / k
        value = value + c[k] * now
    return value


def _others() -> list[Any]:
    """The functions of `numpy.polynomial` that have no rule here."""
    found = []
    for module in (polynomial, chebyshev, legendre, hermite, hermite_e, laguerre):
        for name in module.__all__:
            public = getattr(module, name)
            plain = callable(public) and not isinstance(public, type)
            if plain and find(public) is None and not has_composition(public):
                found.append(public)
    return found


refused(
    *_others(),
    reason="only values of series in one variable are differentiated, and sums and products of plain polynomials",
    hint="use `polyval`, `chebval` ... on the coefficients, or plain polynomials",
)
