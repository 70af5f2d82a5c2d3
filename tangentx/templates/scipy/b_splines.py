"""Splines by coefficients of basis functions: `BSpline`, `make_interp_spline`, `splrep` and what goes with them.

The basis functions are found by the recursion of de Boor and Cox; a derivative or an integral is a spline again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate, linalg

from tangentx.arrays import knot_span, made_of
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.library_classes import constructor_of, methods_of


def _basis(t: Any, k: Any, x: Any, spans: Any) -> Any:
    """The ``k + 1`` basis functions that are not 0 at each place, one a row."""
    rows = np.ones((1, len(spans))) + 0.0 * x
    for j in range(1, k + 1):
        steps = np.arange(j)[:, None]
        high, low = t[spans + 1 + steps], t[spans + 1 - j + steps]
        shares = rows / (high - low)
        none = 0.0 * rows[:1]
        rows = np.concatenate([(high - x) * shares, none]) + np.concatenate([none, (x - low) * shares])
    return rows


def _slope(t: Any, c: Any, k: Any) -> Any:
    """Knots and coefficients of the derivative of a spline of degree `k`; there are as many of both."""
    widths = t[k + 1 : -1] - t[1 : -k - 1]
    apart = (c[1 : -1 - k] - c[: -2 - k]) * k
    found = apart / np.reshape(widths, (-1,) + (1,) * (np.ndim(c) - 1))
    return t[1:-1], np.concatenate([found, np.zeros((k, *np.shape(c)[1:]))])


def _integral(t: Any, c: Any, k: Any) -> Any:
    """Knots and coefficients of an integral of a spline of degree `k`; there are as many of both."""
    widths = t[k + 1 :] - t[: -k - 1]
    sums = np.cumsum(c[: -k - 1] * np.reshape(widths, (-1,) + (1,) * (np.ndim(c) - 1)), axis=0) / (k + 1)
    last = np.repeat(sums[-1:], k + 2, axis=0)
    return np.concatenate([t[:1], t, t[-1:]]), np.concatenate([0.0 * sums[:1], sums, last])


def _padded(t: Any, c: Any) -> Any:
    """As many coefficients as knots."""
    return np.concatenate([c, np.zeros((np.shape(t)[0] - np.shape(c)[0], *np.shape(c)[1:]))])


def _evaluated(t: Any, c: Any, k: Any, x: Any, nu: Any) -> Any:
    """The spline, or its derivative of order `nu`, at a row of places."""
    degree = k
    if nu > 0:
        c = _padded(t, c)
    for _ in range(nu):
        t, c = _slope(t, c, degree)
        degree = degree - 1
    spans = knot_span(t, degree, x)
    rows = _basis(t, degree, x, spans)
    weights = np.reshape(rows, np.shape(rows) + (1,) * (np.ndim(c) - 1))
    return np.sum(weights * c[spans - degree + np.arange(degree + 1)[:, None]], axis=0)


@constructor_of(interpolate.BSpline)
def b_spline(t: Any, c: Any, k: Any, extrapolate: Any = True, axis: Any = 0) -> Any:
    """A spline of degree `k`, by its knots and coefficients."""
    coefficients = np.asarray(c) * 1.0
    if axis != 0:
        coefficients = np.moveaxis(coefficients, axis, 0)
    return made_of(interpolate.BSpline, t=np.asarray(t) * 1.0, c=coefficients, k=k, extrapolate=extrapolate, axis=axis)


@methods_of(interpolate.BSpline)
class KnotSpline:
    """What is made of knots `t`, coefficients `c` and a degree `k`."""

    t: Any
    c: Any
    k: Any
    extrapolate: Any
    axis: Any

    @property
    def tck(self) -> Any:
        """Knots, coefficients and degree."""
        return self.t, self.c, self.k

    def __call__(self, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
        """The values at `x`, or derivatives of order `nu`."""
        beyond = self.extrapolate if extrapolate is None else extrapolate
        given = np.asarray(x)
        places = np.ravel(given) * 1.0
        first, last = self.t[self.k], self.t[len(self.t) - self.k - 1]
        if isinstance(beyond, str):
            places = first + (places - first) % (last - first)
        found = _evaluated(self.t, self.c, self.k, places, nu)
        if not beyond:
            outside = (places < first) | (places > last)
            found = np.where(np.reshape(outside, (-1,) + (1,) * (np.ndim(self.c) - 1)), np.nan, found)
        found = np.reshape(found, np.shape(given) + np.shape(self.c)[1:])
        if np.ndim(self.c) > 1 and self.axis != 0:
            for _ in range(np.ndim(given)):
                found = np.moveaxis(found, 0, np.ndim(given) - 1 + self.axis)
        return found

    def derivative(self, nu: Any = 1) -> Any:
        """The derivative of order `nu`, as an object."""
        t, c, degree = self.t, _padded(self.t, self.c), self.k
        for _ in range(nu):
            t, c = _slope(t, c, degree)
            degree = degree - 1
        return made_of(interpolate.BSpline, t=t, c=c, k=degree, extrapolate=self.extrapolate, axis=self.axis)

    def antiderivative(self, nu: Any = 1) -> Any:
        """An antiderivative of order `nu`, as an object."""
        t, c, degree = self.t, _padded(self.t, self.c), self.k
        for _ in range(nu):
            t, c = _integral(t, c, degree)
            degree = degree + 1
        beyond = False if isinstance(self.extrapolate, str) else self.extrapolate
        return made_of(interpolate.BSpline, t=t, c=c, k=degree, extrapolate=beyond, axis=self.axis)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """The integral from `a` to `b`; outside of the knots the spline is 0 where it is not continued."""
        beyond = self.extrapolate if extrapolate is None else extrapolate
        if isinstance(beyond, str):
            raise NotDifferentiable(
                "the integral of a periodic spline has no derivative rule",
                hint="use the difference of two values of `antiderivative()`",
            )
        ends = np.stack([np.asarray(a) * 1.0, np.asarray(b) * 1.0])
        if not beyond:
            ends = np.clip(ends, self.t[self.k], self.t[len(self.t) - self.k - 1])
        t, c = _integral(self.t, _padded(self.t, self.c), self.k)
        found = _evaluated(t, c, self.k + 1, ends, 0)
        return np.asarray(found[1] - found[0])


def _knots(x: Any, k: Any) -> Any:
    """The knots of a spline through as many points as it has coefficients."""
    if k % 2:
        inner = x[(k + 1) // 2 : -(k + 1) // 2]
    else:
        middle = 0.5 * (x[1:] + x[:-1])
        inner = middle[k // 2 : -k // 2]
    return np.concatenate([np.repeat(x[:1], k + 1), inner, np.repeat(x[-1:], k + 1)])


def _through(x: Any, y: Any, t: Any, k: Any) -> Any:
    """The coefficients of the spline through points: a system with `k` diagonals on both sides."""
    count = len(x)
    spans = knot_span(t, k, x)
    rows = _basis(t, k, x, spans)
    places = spans - k + np.arange(k + 1)[:, None]
    matrix = np.zeros((2 * k + 1, count))
    matrix[k + np.arange(count) - places, places] = rows
    return np.reshape(linalg.solve_banded((k, k), matrix, np.reshape(y, (count, -1))), np.shape(y))


@composition(interpolate.make_interp_spline, domain=(), always=True)
def make_interp_spline(
    x: Any, y: Any, k: Any = 3, t: Any = None, bc_type: Any = None, axis: Any = 0, check_finite: Any = True
) -> Any:
    """The spline of degree `k` through points."""
    if bc_type is not None and bc_type != "not-a-knot":
        raise NotDifferentiable(
            "scipy.interpolate.make_interp_spline has a derivative without conditions at the ends",
            hint="use scipy.interpolate.CubicSpline with this `bc_type`",
        )
    points, values = np.asarray(x) * 1.0, np.asarray(y) * 1.0
    if axis != 0:
        values = np.moveaxis(values, axis, 0)
    if t is not None:
        knots = np.asarray(t) * 1.0
    elif k == 0:
        knots = np.concatenate([points, points[-1:]])
    else:
        knots = _knots(points, k)
    c = values if k == 0 else _through(points, values, knots, k)
    return made_of(interpolate.BSpline, t=knots, c=c, k=k, extrapolate=True, axis=axis)


@composition(interpolate.splrep, domain=())
def splrep(
    x: Any,
    y: Any,
    w: Any = None,
    xb: Any = None,
    xe: Any = None,
    k: Any = 3,
    task: Any = 0,
    s: Any = None,
    t: Any = None,
    full_output: Any = 0,
    per: Any = 0,
    quiet: Any = 1,
) -> Any:
    """Knots, coefficients and degree of the spline through points."""
    if w is not None or xb is not None or xe is not None or t is not None or task != 0 or full_output or per:
        raise NotDifferentiable(
            "scipy.interpolate.splrep has a derivative for x, y, k and s=0", hint="leave the other arguments out"
        )
    if s is not None and s != 0:
        raise NotDifferentiable(
            "a spline that smoothes has no derivative: its knots are found in steps", hint="use s=0, or fit by `lstsq`"
        )
    points = np.asarray(x) * 1.0
    knots = _knots(points, k)
    return knots, _padded(knots, _through(points, np.asarray(y) * 1.0, knots, k)), k


def _continued(t: Any, c: Any, k: Any, x: Any, nu: Any, ext: Any) -> Any:
    """The spline, continued beyond its knots (0), 0 there (1), not defined there (2), or as at the ends (3)."""
    given = np.asarray(x)
    places = np.ravel(given) * 1.0
    first, last = t[k], t[len(t) - k - 1]
    outside = (places < first) | (places > last)
    if ext == 2 and np.any(outside):
        raise ValueError("x value not allowed")
    if ext == 3:
        places = np.clip(places, first, last)
    found = _evaluated(t, c, k, places, nu)
    if ext == 1:
        found = np.where(outside, 0.0, found)
    return np.reshape(found, np.shape(given))


@composition(interpolate.splev, domain=(), containers=True)
def splev(x: Any, tck: Any, der: Any = 0, ext: Any = 0) -> Any:
    """The values of a spline, or derivatives of order `der`."""
    if not isinstance(tck, tuple):
        return tck(x, der, extrapolate=ext == 0)
    t, c, k = tck
    return _continued(np.asarray(t), np.asarray(c), k, x, der, ext)


@composition(interpolate.splint, domain=(), containers=True)
def splint(a: Any, b: Any, tck: Any, full_output: Any = 0) -> Any:
    """The integral of a spline, which is 0 beyond its knots."""
    t, c, k = tck if isinstance(tck, tuple) else tck.tck
    return _area(np.asarray(t), np.asarray(c), k, a, b)


def _area(t: Any, c: Any, k: Any, a: Any, b: Any) -> Any:
    ends = np.clip(np.stack([np.asarray(a) * 1.0, np.asarray(b) * 1.0]), t[k], t[len(t) - k - 1])
    knots, sums = _integral(t, _padded(t, c), k)
    found = _evaluated(knots, sums, k + 1, ends, 0)
    return found[1] - found[0]


def _as_number(ext: Any) -> Any:
    if isinstance(ext, str):
        return 0 if ext == "extrapolate" else 1 if ext == "zeros" else 2 if ext == "raise" else 3
    return ext


@constructor_of(interpolate.InterpolatedUnivariateSpline)
def interpolated_univariate_spline(
    x: Any, y: Any, w: Any = None, bbox: Any = (None, None), k: Any = 3, ext: Any = 0, check_finite: Any = False
) -> Any:
    """The spline of degree `k` through points."""
    if w is not None or bbox[0] is not None or bbox[1] is not None:
        raise NotDifferentiable(
            "scipy.interpolate.InterpolatedUnivariateSpline has a derivative without `w` and `bbox`",
            hint="leave them out",
        )
    points = np.asarray(x) * 1.0
    knots = _knots(points, k)
    c = _padded(knots, _through(points, np.asarray(y) * 1.0, knots, k))
    return made_of(interpolate.InterpolatedUnivariateSpline, _eval_args=(knots, c, k), ext=_as_number(ext))


@constructor_of(interpolate.UnivariateSpline)
def univariate_spline(
    x: Any,
    y: Any,
    w: Any = None,
    bbox: Any = (None, None),
    k: Any = 3,
    s: Any = None,
    ext: Any = 0,
    check_finite: Any = False,
) -> Any:
    """The spline of degree `k` through points; one that smoothes is made outside."""
    if s is None or s != 0:
        raise NotDifferentiable(
            "a spline that smoothes has no derivative by its points: its knots are found in steps",
            hint="make it outside of the differentiated function, or use s=0",
        )
    return interpolate.InterpolatedUnivariateSpline(x, y, w, bbox, k, ext)


@methods_of(interpolate.UnivariateSpline, interpolate.InterpolatedUnivariateSpline, interpolate.LSQUnivariateSpline)
class FittedSpline:
    """What is made of knots, coefficients and a degree, and of what is to be beyond the knots."""

    _eval_args: Any
    ext: Any

    def __call__(self, x: Any, nu: Any = 0, ext: Any = None) -> Any:
        """The values at `x`, or derivatives of order `nu`."""
        t, c, k = self._eval_args
        return _continued(t, c, k, x, nu, self.ext if ext is None else _as_number(ext))

    def integral(self, a: Any, b: Any) -> Any:
        """The integral from `a` to `b`."""
        t, c, k = self._eval_args
        return _area(t, c, k, a, b)

    def derivative(self, n: Any = 1) -> Any:
        """The derivative of order `n`, as an object."""
        t, c, k = self._eval_args
        c = _padded(t, c)
        for _ in range(n):
            t, c = _slope(t, c, k)
            k = k - 1
        return made_of(interpolate.UnivariateSpline, _eval_args=(t, c, k), ext=1 if self.ext == 3 else self.ext)

    def antiderivative(self, n: Any = 1) -> Any:
        """An antiderivative of order `n`, as an object."""
        t, c, k = self._eval_args
        c = _padded(t, c)
        for _ in range(n):
            t, c = _integral(t, c, k)
            k = k + 1
        return made_of(interpolate.UnivariateSpline, _eval_args=(t, c, k), ext=self.ext)

    def get_coeffs(self) -> Any:
        """The coefficients."""
        t, c, k = self._eval_args
        return c[: len(t) - k - 1]
