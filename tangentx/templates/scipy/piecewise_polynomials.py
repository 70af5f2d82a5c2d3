"""Splines as polynomials between points: `CubicSpline`, `PchipInterpolator`, `Akima1DInterpolator`, `PPoly`.

An object is known by its coefficients and breakpoints, so derivatives are those by the values and points that it was
made of, and by the places where it is evaluated. Slopes of the pieces as in Fritsch and Butland (1984) for `Pchip`, as
in Akima (1970) and his modification for `Akima1DInterpolator`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate, linalg

from tangentx.arrays import interval_of, made_of, power_sum
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.library_classes import constructor_of, methods_of


def _widths(x: Any, y: Any) -> Any:
    """Lengths of the pieces, as a factor of differences of `y` too."""
    return np.reshape(np.diff(x), (-1,) + (1,) * (np.ndim(y) - 1))


def _of_slopes(cls: Any, x: Any, y: Any, slopes: Any, extrapolate: Any, axis: Any) -> Any:
    """The pieces that have the values and slopes at their ends."""
    widths = _widths(x, y)
    mean = np.diff(y, axis=0) / widths
    bend = (slopes[:-1] + slopes[1:] - 2.0 * mean) / widths
    c = np.stack([bend / widths, (mean - slopes[:-1]) / widths - bend, slopes[:-1], y[:-1]])
    return made_of(cls, c=c, x=x, extrapolate=extrapolate, axis=axis)


def _first(y: Any, axis: Any) -> Any:
    values = np.asarray(y) * 1.0
    return values if np.ndim(values) == 1 else np.moveaxis(values, axis, 0)


@constructor_of(interpolate.PPoly)
def ppoly(c: Any, x: Any, extrapolate: Any = None, axis: Any = 0) -> Any:
    """Polynomials between points."""
    coefficients = np.asarray(c) * 1.0
    if axis != 0:
        coefficients = np.moveaxis(np.moveaxis(coefficients, axis + 1, 0), axis + 1, 0)
    beyond = True if extrapolate is None else extrapolate
    return made_of(interpolate.PPoly, c=coefficients, x=np.asarray(x) * 1.0, extrapolate=beyond, axis=axis)


@constructor_of(interpolate.CubicHermiteSpline)
def cubic_hermite_spline(x: Any, y: Any, dydx: Any, axis: Any = 0, extrapolate: Any = None) -> Any:
    """Cubic pieces with given values and slopes."""
    beyond = True if extrapolate is None else extrapolate
    points, values = np.asarray(x) * 1.0, _first(y, axis)
    return _of_slopes(interpolate.CubicHermiteSpline, points, values, _first(dydx, axis), beyond, axis)


@constructor_of(interpolate.CubicSpline)
def cubic_spline(x: Any, y: Any, axis: Any = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None) -> Any:
    """Cubic pieces with two continuous derivatives."""
    points, values = np.asarray(x) * 1.0, _first(y, axis)
    if isinstance(bc_type, str):
        start, end = bc_type, bc_type
    else:
        start, end = bc_type
    around = isinstance(start, str) and start == "periodic"
    if extrapolate is None:
        beyond = "periodic" if around else True
    else:
        beyond = extrapolate
    slopes = _periodic_slopes(points, values) if around else _smooth_slopes(points, values, start, end)
    return _of_slopes(interpolate.CubicSpline, points, values, slopes, beyond, axis)


def _condition(given: Any) -> Any:
    """The order of the derivative that is given at an end, and its value; order 0 where none is."""
    if isinstance(given, str):
        if given == "not-a-knot":
            return 0, 0.0
        return (1, 0.0) if given == "clamped" else (2, 0.0)
    order, value = given
    return order, value


def _smooth_slopes(x: Any, y: Any, start: Any, end: Any) -> Any:
    """The slopes at the points, of a system of three diagonals."""
    first, at_start = _condition(start)
    last, at_end = _condition(end)
    widths = np.diff(x)
    wide = _widths(x, y)
    mean = np.diff(y, axis=0) / wide
    if len(x) == 2:
        return _two_slopes(wide, mean, y, first, at_start, last, at_end)
    if len(x) == 3 and first == 0 and last == 0:
        return _three_slopes(widths, wide, mean, y)
    if first == 0:
        across = x[2] - x[0]
        head, beside = widths[1], across
        right = ((wide[0] + 2.0 * across) * wide[1] * mean[0] + wide[0] ** 2 * mean[1]) / across
    elif first == 1:
        head, beside, right = 1.0, 0.0, at_start + 0.0 * y[0]
    else:
        head, beside = 2.0 * widths[0], widths[0]
        right = -0.5 * at_start * widths[0] ** 2 + 3.0 * (y[1] - y[0])
    if last == 0:
        across = x[-1] - x[-3]
        foot, before = widths[-2], across
        left = (wide[-1] ** 2 * mean[-2] + (2.0 * across + wide[-1]) * wide[-2] * mean[-1]) / across
    elif last == 1:
        foot, before, left = 1.0, 0.0, at_end + 0.0 * y[0]
    else:
        foot, before = 2.0 * widths[-1], widths[-1]
        left = 0.5 * at_end * widths[-1] ** 2 + 3.0 * (y[-1] - y[-2])
    inner = 3.0 * (wide[1:] * mean[:-1] + wide[:-1] * mean[1:])
    upper = np.concatenate([np.array([0.0, beside]), widths[:-1]])
    middle = np.concatenate([np.array([head]), 2.0 * (widths[:-1] + widths[1:]), np.array([foot])])
    lower = np.concatenate([widths[1:], np.array([before, 0.0])])
    given = np.concatenate([np.expand_dims(right, 0), inner, np.expand_dims(left, 0)])
    found = linalg.solve_banded((1, 1), np.stack([upper, middle, lower]), np.reshape(given, (len(x), -1)))
    return np.reshape(found, np.shape(y))


def _two_slopes(wide: Any, mean: Any, y: Any, first: Any, at_start: Any, last: Any, at_end: Any) -> Any:
    """The slopes of a single piece."""
    w, m = wide[0], mean[0]
    if first == 2 and last == 2:
        return np.stack([m - w * (2.0 * at_start + at_end) / 6.0, m + w * (at_start + 2.0 * at_end) / 6.0])
    if first == 2:
        right = m if last == 0 else at_end + 0.0 * m
        return np.stack([1.5 * m - 0.5 * right - 0.25 * at_start * w, right])
    left = m if first == 0 else at_start + 0.0 * m
    if last == 2:
        return np.stack([left, 1.5 * m - 0.5 * left + 0.25 * at_end * w])
    return np.stack([left, m if last == 0 else at_end + 0.0 * m])


def _three_slopes(widths: Any, wide: Any, mean: Any, y: Any) -> Any:
    """The slopes of a parabola through three points."""
    matrix = np.array([[1.0, 1.0, 0.0], [widths[1], 2.0 * (widths[0] + widths[1]), widths[0]], [0.0, 1.0, 1.0]])
    given = np.stack([2.0 * mean[0], 3.0 * (wide[0] * mean[1] + wide[1] * mean[0]), 2.0 * mean[1]])
    return np.reshape(np.linalg.solve(matrix, np.reshape(given, (3, -1))), np.shape(y))


def _periodic_slopes(x: Any, y: Any) -> Any:
    """The slopes at the points where the last one is the first one again."""
    if np.any(np.abs(y[0] - y[-1]) > 1e-15 + 1e-15 * np.abs(y[-1])):
        raise ValueError("the first and the last value of a periodic spline must be the same")
    widths = np.diff(x)
    wide = _widths(x, y)
    mean = np.diff(y, axis=0) / wide
    before = np.roll(widths, 1)
    matrix = np.diag(2.0 * (before + widths)) + np.roll(np.diag(before), 1, 1) + np.roll(np.diag(widths), -1, 1)
    given = 3.0 * (wide * np.roll(mean, 1, 0) + np.roll(wide, 1, 0) * mean)
    found = np.linalg.solve(matrix, np.reshape(given, (len(x) - 1, -1)))
    return np.reshape(np.concatenate([found, found[:1]]), np.shape(y))


@constructor_of(interpolate.PchipInterpolator)
def pchip_interpolator(x: Any, y: Any, axis: Any = 0, extrapolate: Any = None) -> Any:
    """Cubic pieces that rise and fall where the values do."""
    points, values = np.asarray(x) * 1.0, _first(y, axis)
    wide = _widths(points, values)
    mean = np.diff(values, axis=0) / wide
    beyond = True if extrapolate is None else extrapolate
    if len(points) == 2:
        slopes = np.concatenate([mean, mean])
    else:
        turns = (np.sign(mean[1:]) != np.sign(mean[:-1])) | (mean[1:] == 0.0) | (mean[:-1] == 0.0)
        first, second = 2.0 * wide[1:] + wide[:-1], wide[1:] + 2.0 * wide[:-1]
        shares = first / np.where(turns, 1.0, mean[:-1]) + second / np.where(turns, 1.0, mean[1:])
        inner = np.where(turns, 0.0, (first + second) / np.where(turns, 1.0, shares))
        start = _slope_at_an_end(wide[0], wide[1], mean[0], mean[1])
        end = _slope_at_an_end(wide[-1], wide[-2], mean[-1], mean[-2])
        slopes = np.concatenate([np.expand_dims(start, 0), inner, np.expand_dims(end, 0)])
    return _of_slopes(interpolate.PchipInterpolator, points, values, slopes, beyond, axis)


def _slope_at_an_end(w0: Any, w1: Any, m0: Any, m1: Any) -> Any:
    found = ((2.0 * w0 + w1) * m0 - w0 * m1) / (w0 + w1)
    steep = (np.sign(m0) != np.sign(m1)) & (np.abs(found) > 3.0 * np.abs(m0))
    return np.where(np.sign(found) != np.sign(m0), 0.0, np.where(steep, 3.0 * m0, found))


@constructor_of(interpolate.Akima1DInterpolator)
def akima_interpolator(x: Any, y: Any, axis: Any = 0, *, method: Any = "akima", extrapolate: Any = None) -> Any:
    """Cubic pieces whose slopes follow their neighbours."""
    points, values = np.asarray(x) * 1.0, _first(y, axis)
    mean = np.diff(values, axis=0) / _widths(points, values)
    beyond = False if extrapolate is None else extrapolate
    if len(points) == 2:
        slopes = np.concatenate([mean, mean])
    else:
        slopes = _akima_slopes(mean, method)
    return _of_slopes(interpolate.Akima1DInterpolator, points, values, slopes, beyond, axis)


def _akima_slopes(mean: Any, method: Any) -> Any:
    """Mean slopes weighed by how much those on the other side change."""
    before, after = 2.0 * mean[0] - mean[1], 2.0 * mean[-1] - mean[-2]
    head, tail = np.stack([2.0 * before - mean[0], before]), np.stack([after, 2.0 * after - mean[-1]])
    m = np.concatenate([head, mean, tail])
    changes = np.abs(np.diff(m, axis=0))
    right, left = changes[2:], changes[:-2]
    if method == "makima":
        sizes = np.abs(m[1:] + m[:-1])
        right, left = right + 0.5 * sizes[2:], left + 0.5 * sizes[:-2]
    both = right + left
    flat = both <= 1e-9 * np.max(both, initial=0.0)
    shares = np.where(flat, 0.5, left / np.where(flat, 1.0, both))
    even = 0.5 * (m[3:] + m[:-3])
    return np.where(flat, even, m[1:-2] + shares * (m[2:-1] - m[1:-2]))


@methods_of(
    *(interpolate.PPoly, interpolate.CubicSpline, interpolate.CubicHermiteSpline),
    *(interpolate.PchipInterpolator, interpolate.Akima1DInterpolator),
)
class PiecewisePolynomial:
    """What is made of coefficients `c`, of the highest power first, between breakpoints `x`."""

    c: Any
    x: Any
    extrapolate: Any
    axis: Any

    def __call__(self, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
        """The values at `x`, or derivatives of order `nu`."""
        beyond = self.extrapolate if extrapolate is None else extrapolate
        given = np.asarray(x)
        places = np.ravel(given)
        if isinstance(beyond, str):
            places = self.x[0] + (places - self.x[0]) % (self.x[-1] - self.x[0])
        pieces = interval_of(self.x, places)
        found = power_sum(self.c[:, pieces], places - self.x[pieces], nu)
        if not beyond:
            low, high = np.minimum(self.x[0], self.x[-1]), np.maximum(self.x[0], self.x[-1])
            outside = (places < low) | (places > high)
            found = np.where(np.reshape(outside, (-1,) + (1,) * (np.ndim(self.c) - 2)), np.nan, found)
        found = np.reshape(found, np.shape(given) + np.shape(self.c)[2:])
        if np.ndim(self.c) > 2 and self.axis != 0:
            for _ in range(np.ndim(given)):
                found = np.moveaxis(found, 0, np.ndim(given) - 1 + self.axis)
        return found

    def derivative(self, nu: Any = 1) -> Any:
        """The derivative of order `nu`, as an object."""
        c = self.c
        for _ in range(nu):
            powers = np.arange(np.shape(c)[0] - 1, 0, -1.0)
            c = c[:-1] * np.reshape(powers, (-1,) + (1,) * (np.ndim(c) - 1)) if np.shape(c)[0] > 1 else 0.0 * c
        return made_of(self.__class__, c=c, x=self.x, extrapolate=self.extrapolate, axis=self.axis)

    def antiderivative(self, nu: Any = 1) -> Any:
        """An antiderivative of order `nu` that is 0 at the first breakpoint, as an object."""
        c = self.c
        for _ in range(nu):
            powers = np.arange(np.shape(c)[0], 0, -1.0)
            rows = c / np.reshape(powers, (-1,) + (1,) * (np.ndim(c) - 1))
            rows = np.concatenate([rows, 0.0 * rows[:1]])
            sums = np.cumsum(power_sum(rows, np.diff(self.x)), axis=0)
            c = np.concatenate([rows[:-1], np.expand_dims(np.concatenate([0.0 * sums[:1], sums[:-1]]), 0)])
        beyond = False if isinstance(self.extrapolate, str) else self.extrapolate
        return made_of(self.__class__, c=c, x=self.x, extrapolate=beyond, axis=self.axis)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """The integral from `a` to `b`."""
        beyond = self.extrapolate if extrapolate is None else extrapolate
        if isinstance(beyond, str):
            raise NotDifferentiable(
                "the integral of a periodic spline has no derivative rule",
                hint="use the difference of two values of `antiderivative()`",
            )
        whole = self.antiderivative()
        return whole(b, extrapolate=beyond) - whole(a, extrapolate=beyond)


@composition(interpolate.pchip_interpolate, domain=())
def pchip_interpolate(xi: Any, yi: Any, x: Any, der: Any = 0, axis: Any = 0) -> Any:
    """Values, or derivatives of one order, of a `PchipInterpolator`."""
    return interpolate.PchipInterpolator(xi, yi, axis)(x, der)
