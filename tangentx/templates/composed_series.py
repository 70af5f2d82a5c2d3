"""Polynomials and series of orthogonal polynomials by their coefficients, the constant first: `numpy.polynomial`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

from tangentx.arrays import series_length
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.registry import constant

constant(series_length)


def _trimmed(c: Any) -> Any:
    """Without the highest coefficients that are 0."""
    return c[: series_length(c)]


def _demand_row(c: Any) -> None:
    if np.ndim(c) != 1:
        raise NotDifferentiable("a series with tables of coefficients has no derivative", hint="take one row at a time")


def _beside(x: Any, c: Any, tensor: Any) -> Any:
    """Coefficients of several series, each of which has a value at each place; where not `tensor` at its own alone."""
    if np.ndim(c) == 1 or not tensor:
        return c
    return np.reshape(c, (*np.shape(c), *((1,) * np.ndim(x))))


@composition(polynomial.polyval, domain=("x, A(3)", "A(2,2), A(3)", "A(2), [x, y]", "A(2), A(3,2)"))
def polyval(x: Any, c: Any, tensor: Any = True) -> Any:
    """Value of a polynomial."""
    c = _beside(x, c, tensor)
    value = c[-1] + x * 0
    for i in range(2, len(c) + 1):
        value = c[-i] + value * x
    return value


@composition(
    polynomial.polyadd,
    chebyshev.chebadd,
    legendre.legadd,
    hermite.hermadd,
    hermite_e.hermeadd,
    laguerre.lagadd,
    domain=("A(3), A(2)",),
)
def polyadd(c1: Any, c2: Any) -> Any:
    """Sum of two polynomials, or of two series of one basis."""
    return _trimmed(np.polyadd(c1[::-1], c2[::-1])[::-1])


@composition(
    polynomial.polysub,
    chebyshev.chebsub,
    legendre.legsub,
    hermite.hermsub,
    hermite_e.hermesub,
    laguerre.lagsub,
    domain=("A(3), A(2)",),
)
def polysub(c1: Any, c2: Any) -> Any:
    """Difference of two polynomials, or of two series of one basis."""
    return _trimmed(np.polysub(c1[::-1], c2[::-1])[::-1])


@composition(polynomial.polymul, domain=("A(3), A(2)",))
def polymul(c1: Any, c2: Any) -> Any:
    """Product of two polynomials."""
    return _trimmed(np.convolve(c1, c2))


@composition(polynomial.polypow, domain=("A(3), 2", "A(2), 0"))
def polypow(c: Any, pow: Any) -> Any:
    """Power of a polynomial."""
    factor = _trimmed(c)
    found = factor if pow > 0 else np.ones_like(c, shape=1)
    for _ in range(1, pow):
        found = np.convolve(found, factor)
    return found


@composition(polynomial.polyder, domain=("A(4)", "A(4), 2, x"))
def polyder(c: Any, m: Any = 1, scl: Any = 1) -> Any:
    """Derivative of a polynomial of a scaled variable."""
    _demand_row(c)
    if m >= len(c):
        return c[:1] * 0.0
    for _ in range(m):
        c = np.arange(1, len(c), dtype=c.dtype) * (c * scl)[1:]
    return c


@composition(polynomial.polyint, domain=("A(3)", "A(3), 2, [x, y]", "A(3), lbnd=2.0, scl=3.0"))
def polyint(c: Any, m: Any = 1, k: Any = 0.0, lbnd: Any = 0.0, scl: Any = 1.0) -> Any:
    """Integral of a polynomial of a scaled variable, from a lower bound."""
    _demand_row(c)
    given = np.atleast_1d(k)
    for i in range(m):
        start = given[i] if i < len(given) else 0.0
        above = scl * c / np.arange(1, len(c) + 1, dtype=c.dtype)
        first = start - lbnd * polynomial.polyval(lbnd, above)
        c = np.concatenate([np.asarray([first], above.dtype), above])
    return c


@composition(polynomial.polyfromroots, domain=("A(3)",))
def polyfromroots(roots: Any) -> Any:
    """The polynomial with given roots."""
    given = np.asarray(roots)
    if given.dtype == np.float32:  # NumPy goes on in double precision
        given = given.astype(np.float64)
    found = np.ones_like(given, shape=1)
    for root in given:
        found = np.convolve(found, np.stack([-root, np.ones_like(root)]))
    return found


@composition(polynomial.polyvander, domain=("A(3), 2",))
def polyvander(x: Any, deg: Any) -> Any:
    """Powers of each element."""
    place = np.atleast_1d(x)
    powers = [place * 0 + 1, place]
    for _ in range(1, deg):
        powers.append(powers[-1] * place)
    return np.stack(powers[: deg + 1], axis=-1)


def _clenshaw(x: Any, c: Any, before: Any, behind: Any) -> Any:
    """The first two coefficients that are left of a series, from the last on, as NumPy finds them."""
    if len(c) == 1:
        return c[0], np.zeros_like(c[0])
    first, second = c[-2], c[-1]
    for i in range(3, len(c) + 1):
        degree = len(c) - i + 2
        first, second = c[-i] - before(second, degree), first + behind(second, x, degree)
    return first, second


@composition(chebyshev.chebval, domain=("x, A(4)", "A(3), A(1)", "A(2,2), A(3)", "A(2), A(3,2), tensor=False"))
def chebval(x: Any, c: Any, tensor: Any = True) -> Any:
    """Value of a series of Chebyshev polynomials."""
    c = _beside(x, c, tensor)
    first, second = _clenshaw(x, c, lambda s, n: s, lambda s, x, n: s * (2 * x))
    return first + second * x


@composition(legendre.legval, domain=("x, A(4)", "A(3), A(2)", "A(3), A(3,2)"))
def legval(x: Any, c: Any, tensor: Any = True) -> Any:
    """Value of a series of Legendre polynomials."""
    c = _beside(x, c, tensor)
    first, second = _clenshaw(x, c, lambda s, n: s * ((n - 1) / n), lambda s, x, n: s * x * ((2 * n - 1) / n))
    return first + second * x


@composition(hermite.hermval, domain=("x, A(4)", "A(3), A(2)"))
def hermval(x: Any, c: Any, tensor: Any = True) -> Any:
    """Value of a series of physicists' Hermite polynomials."""
    c = _beside(x, c, tensor)
    first, second = _clenshaw(x, c, lambda s, n: s * (2 * (n - 1)), lambda s, x, n: s * (x * 2))
    return first + second * (x * 2)


@composition(hermite_e.hermeval, domain=("x, A(4)", "A(3), A(2)"))
def hermeval(x: Any, c: Any, tensor: Any = True) -> Any:
    """Value of a series of probabilists' Hermite polynomials."""
    c = _beside(x, c, tensor)
    first, second = _clenshaw(x, c, lambda s, n: s * (n - 1), lambda s, x, n: s * x)
    return first + second * x


@composition(laguerre.lagval, domain=("x, A(4)", "A(3), A(2)", "A(3), A(4,3), False"))
def lagval(x: Any, c: Any, tensor: Any = True) -> Any:
    """Value of a series of Laguerre polynomials."""
    c = _beside(x, c, tensor)
    first, second = _clenshaw(x, c, lambda s, n: s * (n - 1) / n, lambda s, x, n: s * (2 * n - 1 - x) / n)
    return first + second * (1 - x)
