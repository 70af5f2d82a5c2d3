"""Polynomials that are objects: `np.poly1d`, and the classes of `numpy.polynomial`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import (
    Chebyshev,
    Hermite,
    HermiteE,
    Laguerre,
    Legendre,
    Polynomial,
    chebyshev,
    hermite,
    hermite_e,
    laguerre,
    legendre,
    polynomial,
)

from tangentx.arrays import leading_zeros, made_of, series_table
from tangentx.errors import NotDifferentiable
from tangentx.templates.composed_series_algebra import (
    least_squares,
    power_of,
    product_of,
    quotient_of,
    roots_of_series,
    rows_of,
)
from tangentx.templates.compositions import composition
from tangentx.templates.library_classes import constructor_of, methods_of
from tangentx.templates.registry import constant

constant(series_table)


@constructor_of(np.poly1d)
def poly1d(c_or_r: Any, r: Any = False, variable: Any = None) -> Any:
    """A polynomial by its coefficients, the highest power first, or by its roots."""
    if isinstance(c_or_r, np.poly1d):
        return made_of(np.poly1d, coeffs=c_or_r.coeffs)
    given = np.atleast_1d(np.poly(c_or_r) if r else c_or_r)
    return made_of(np.poly1d, coeffs=given[leading_zeros(given) :])


def _coefficients(p: Any) -> Any:
    """The coefficients of an object, of a row of numbers or of a number."""
    return p.coeffs if isinstance(p, np.poly1d) else np.atleast_1d(p)


@methods_of(np.poly1d)
class ByPowers:
    """A polynomial by its coefficients `coeffs`, of which the first is not 0 where there are others."""

    def __call__(self, val: Any) -> Any:
        """The value; of another polynomial one that is composed."""
        if isinstance(val, np.poly1d):
            found = np.zeros(1)
            for coefficient in self.coeffs:
                found = np.polyadd(np.polymul(found, val.coeffs), coefficient)
            return np.poly1d(found)
        return np.polyval(self.coeffs, val)

    @property
    def coeffs(self) -> Any:
        """The coefficients, which have other names too."""
        return self.coeffs

    @property
    def order(self) -> Any:
        """The degree."""
        return len(self.coeffs) - 1

    @property
    def roots(self) -> Any:
        """Where the value is 0."""
        return np.roots(self.coeffs)

    def __len__(self) -> Any:
        """The degree."""
        return len(self.coeffs) - 1

    def __getitem__(self, val: Any) -> Any:
        """The coefficient of a power."""
        if val < 0 or val >= len(self.coeffs):
            return 0.0
        return self.coeffs[len(self.coeffs) - 1 - val]

    def __neg__(self) -> Any:
        """The opposite."""
        return np.poly1d(-self.coeffs)

    def __pos__(self) -> Any:
        """The same."""
        return self

    def __add__(self, other: Any) -> Any:
        """The sum with a polynomial or a number."""
        return np.poly1d(np.polyadd(self.coeffs, _coefficients(other)))

    def __radd__(self, other: Any) -> Any:
        """The sum with a number."""
        return np.poly1d(np.polyadd(self.coeffs, _coefficients(other)))

    def __sub__(self, other: Any) -> Any:
        """The difference from a polynomial or a number."""
        return np.poly1d(np.polysub(self.coeffs, _coefficients(other)))

    def __rsub__(self, other: Any) -> Any:
        """The difference of a number from it."""
        return np.poly1d(np.polysub(_coefficients(other), self.coeffs))

    def __mul__(self, other: Any) -> Any:
        """The product with a polynomial or a number."""
        return np.poly1d(np.polymul(self.coeffs, _coefficients(other)))

    def __rmul__(self, other: Any) -> Any:
        """The product with a number."""
        return np.poly1d(np.polymul(self.coeffs, _coefficients(other)))

    def __truediv__(self, other: Any) -> Any:
        """The quotient by a number; of two polynomials quotient and remainder."""
        if isinstance(other, np.poly1d):
            quotient, rest = np.polydiv(self.coeffs, other.coeffs)
            return np.poly1d(quotient), np.poly1d(rest)
        return np.poly1d(self.coeffs / other)

    def __pow__(self, val: Any) -> Any:
        """A whole power."""
        found = np.ones(1)
        for _ in range(val):
            found = np.polymul(self.coeffs, found)
        return np.poly1d(found)

    def deriv(self, m: Any = 1) -> Any:
        """The derivative of an order."""
        return np.poly1d(np.polyder(self.coeffs, m))

    def integ(self, m: Any = 1, k: Any = 0) -> Any:
        """The integral of an order, with constants."""
        return np.poly1d(np.polyint(self.coeffs, m, k))


def _made(cls: Any, coef: Any, domain: Any, window: Any) -> Any:
    """A series of a class."""
    ends, onto = np.asarray(domain) * 1.0, np.asarray(window) * 1.0
    return made_of(cls, coef=np.atleast_1d(coef) * 1.0, domain=ends, window=onto)


def _declare(cls: Any) -> None:
    """Declares what a call of one of the classes makes, and of its `fit`."""
    basis = cls.__name__

    @constructor_of(cls)
    def series(coef: Any, domain: Any = None, window: Any = None, symbol: Any = "x") -> Any:
        """A series by its coefficients, the constant first."""
        return _made(cls, coef, cls.domain if domain is None else domain, cls.window if window is None else window)

    @composition(cls.fit, domain=(), containers=True, always=True)
    def fit(
        x: Any,
        y: Any,
        deg: Any,
        domain: Any = None,
        rcond: Any = None,
        full: Any = False,
        w: Any = None,
        window: Any = None,
        symbol: Any = "x",
    ) -> Any:
        """The series of least squares."""
        if full or np.ndim(deg) > 0 or np.ndim(y) != 1:
            raise NotDifferentiable(
                "`fit` has a derivative for one row of values and one degree, without `full`",
                hint="leave `full` out, and fit the rows one by one",
            )
        ends = _ends_of(x) if domain is None else domain
        onto = cls.window if window is None else window
        offset, scale = _map(ends, onto)
        rows = rows_of(basis, offset + scale * np.asarray(x), deg)
        return _made(cls, least_squares(rows, np.asarray(y) * 1.0, w, rcond), np.stack([ends[0], ends[1]]), onto)


def _map(old: Any, new: Any) -> Any:
    """Offset and scale of the straight line that takes an interval to another one."""
    length = old[1] - old[0]
    return (old[1] * new[0] - old[0] * new[1]) / length, (new[1] - new[0]) / length


def _value(series: Any, x: Any, c: Any) -> Any:
    """The value of coefficients in the basis of a series."""
    if isinstance(series, Polynomial):
        return polynomial.polyval(x, c)
    if isinstance(series, Chebyshev):
        return chebyshev.chebval(x, c)
    if isinstance(series, Legendre):
        return legendre.legval(x, c)
    if isinstance(series, Hermite):
        return hermite.hermval(x, c)
    if isinstance(series, HermiteE):
        return hermite_e.hermeval(x, c)
    return laguerre.lagval(x, c)


def _of_same(series: Any, other: Any) -> Any:
    """The coefficients of what is added to a series, or multiplied with it."""
    if isinstance(other, (Polynomial, Chebyshev, Legendre, Hermite, HermiteE, Laguerre)):
        if not isinstance(other, series.__class__):
            raise TypeError("Polynomial types differ")
        if not (np.all(series.domain == other.domain) and np.all(series.window == other.window)):
            raise TypeError("Domains or windows differ")
        return other.coef
    return np.atleast_1d(other) * 1.0


def _ends_of(x: Any) -> Any:
    """The least and the largest of some points, one apart where they are the same."""
    low, high = np.min(x), np.max(x)
    return (low - 1.0, high + 1.0) if low == high else (low, high)


@methods_of(Polynomial, Chebyshev, Legendre, Hermite, HermiteE, Laguerre)
class Series:
    """Coefficients `coef`, the constant first, of a variable that goes from `domain` to `window`."""

    coef: Any
    domain: Any
    window: Any

    def __call__(self, arg: Any) -> Any:
        """The value."""
        offset, scale = _map(self.domain, self.window)
        return _value(self, offset + scale * np.asarray(arg), self.coef)

    def __len__(self) -> Any:
        """How many coefficients there are."""
        return len(self.coef)

    def degree(self) -> Any:
        """The degree."""
        return len(self.coef) - 1

    def mapparms(self) -> Any:
        """Offset and scale of the variable."""
        return _map(self.domain, self.window)

    def __neg__(self) -> Any:
        """The opposite."""
        return _made(self.__class__, -self.coef, self.domain, self.window)

    def __pos__(self) -> Any:
        """The same."""
        return self

    def __add__(self, other: Any) -> Any:
        """The sum with a series or a number."""
        found = polynomial.polyadd(self.coef, _of_same(self, other))
        return _made(self.__class__, found, self.domain, self.window)

    def __radd__(self, other: Any) -> Any:
        """The sum with a number."""
        found = polynomial.polyadd(_of_same(self, other), self.coef)
        return _made(self.__class__, found, self.domain, self.window)

    def __sub__(self, other: Any) -> Any:
        """The difference from a series or a number."""
        found = polynomial.polysub(self.coef, _of_same(self, other))
        return _made(self.__class__, found, self.domain, self.window)

    def __rsub__(self, other: Any) -> Any:
        """The difference of a number from it."""
        found = polynomial.polysub(_of_same(self, other), self.coef)
        return _made(self.__class__, found, self.domain, self.window)

    def __mul__(self, other: Any) -> Any:
        """The product with a series or a number."""
        return _made(
            self.__class__,
            product_of(self.__class__.__name__, self.coef, _of_same(self, other)),
            self.domain,
            self.window,
        )

    def __rmul__(self, other: Any) -> Any:
        """The product with a number."""
        return _made(
            self.__class__,
            product_of(self.__class__.__name__, self.coef, _of_same(self, other)),
            self.domain,
            self.window,
        )

    def __truediv__(self, other: Any) -> Any:
        """The quotient by a number."""
        return _made(self.__class__, self.coef / other, self.domain, self.window)

    def __floordiv__(self, other: Any) -> Any:
        """The quotient by a series or a number, without the remainder."""
        found = quotient_of(self.__class__.__name__, self.coef, _of_same(self, other))
        return _made(self.__class__, found[0], self.domain, self.window)

    def __mod__(self, other: Any) -> Any:
        """The remainder of a division."""
        found = quotient_of(self.__class__.__name__, self.coef, _of_same(self, other))
        return _made(self.__class__, found[1], self.domain, self.window)

    def __divmod__(self, other: Any) -> Any:
        """Quotient and remainder."""
        found = quotient_of(self.__class__.__name__, self.coef, _of_same(self, other))
        quotient = _made(self.__class__, found[0], self.domain, self.window)
        return quotient, _made(self.__class__, found[1], self.domain, self.window)

    def __pow__(self, other: Any) -> Any:
        """A whole power."""
        return _made(self.__class__, power_of(self.__class__.__name__, self.coef, other), self.domain, self.window)

    def deriv(self, m: Any = 1) -> Any:
        """The derivative of an order."""
        offset, scale = _map(self.domain, self.window)
        table = series_table(self.__class__.__name__, "deriv", len(self.coef), m)
        return _made(self.__class__, table @ self.coef * scale**m, self.domain, self.window)

    def integ(self, m: Any = 1, k: Any = (), lbnd: Any = None) -> Any:
        """The integral of an order, with constants, from a lower bound."""
        offset, scale = _map(self.domain, self.window)
        start = 0.0 if lbnd is None else offset + scale * lbnd
        given, c = np.atleast_1d(k) * 1.0, self.coef
        for i in range(m):
            c = series_table(self.__class__.__name__, "integ", len(c), 1) @ c / scale
            first = (given[i] if i < len(given) else 0.0) - _value(self, start, c)
            c = np.concatenate([c[:1] + first, c[1:]])
        return _made(self.__class__, c, self.domain, self.window)

    def roots(self) -> Any:
        """Where the value is 0."""
        offset, scale = _map(self.window, self.domain)
        return offset + scale * roots_of_series(self.__class__.__name__, self.coef)

    def linspace(self, n: Any = 100, domain: Any = None) -> Any:
        """Even points of the domain, and the values there."""
        ends = self.domain if domain is None else domain
        x = np.linspace(ends[0], ends[1], n)
        return x, self(x)

    def convert(self, domain: Any = None, kind: Any = None, window: Any = None) -> Any:
        """The same as a plain polynomial of the variable itself."""
        wanted = self.__class__.__name__ if kind is None else kind.__name__
        if wanted != "Polynomial" or not (domain is None and window is None):
            raise NotDifferentiable(
                "series are converted to numpy.polynomial.Polynomial alone", hint="write `p.convert(kind=Polynomial)`"
            )
        offset, scale = _map(self.domain, self.window)
        plain = series_table(self.__class__.__name__, "convert", len(self.coef), 1) @ self.coef
        found = plain[-1:]
        for i in range(2, len(plain) + 1):
            found = polynomial.polyadd(
                np.convolve(found, np.stack([offset, scale])), plain[len(plain) - i : len(plain) - i + 1]
            )
        return _made(Polynomial, found, [-1.0, 1.0], [-1.0, 1.0])


for _each in (Polynomial, Chebyshev, Legendre, Hermite, HermiteE, Laguerre):
    _declare(_each)
