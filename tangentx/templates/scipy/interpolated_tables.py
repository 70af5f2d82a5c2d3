"""Tables that are read between their entries: `interp1d`, `RegularGridInterpolator`, `interpn`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from tangentx.arrays import interval_of, made_of
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.library_classes import constructor_of, methods_of


@constructor_of(interpolate.interp1d)
def interp1d(
    x: Any,
    y: Any,
    kind: Any = "linear",
    axis: Any = -1,
    copy: Any = True,
    bounds_error: Any = None,
    fill_value: Any = np.nan,
    assume_sorted: Any = False,
) -> Any:
    """Values between those of a table."""
    points, values = np.asarray(x) * 1.0, np.asarray(y) * 1.0
    place = axis % np.ndim(values)
    if place != 0:
        values = np.moveaxis(values, place, 0)
    table = np.reshape(values, (len(points), -1))
    if not assume_sorted:
        order = np.argsort(points, kind="mergesort")
        points, table = points[order], table[order]
    degree, name = _form(kind)
    spline = None if degree is None else interpolate.make_interp_spline(points, table, degree)
    beyond = isinstance(fill_value, str)
    below, above = _ends(np.nan if beyond else fill_value)
    return made_of(
        interpolate.interp1d,
        x=points,
        _y=table,
        _y_axis=place,
        _y_extra_shape=np.shape(values)[1:],
        _kind=name,
        _spline=spline,
        _side="right" if kind == "nearest-up" else "left",
        bounds_error=not beyond if bounds_error is None else bounds_error,
        _extrapolate=beyond,
        _fill_value_below=below,
        _fill_value_above=above,
    )


def _form(kind: Any) -> Any:
    """The degree of the spline that is meant, None for what goes by neighbours, and what `interp1d` calls it."""
    if not isinstance(kind, str):
        return kind, "spline"
    if kind == "linear":
        return None, "linear"
    if kind == "nearest":
        return None, "nearest"
    if kind == "nearest-up":
        return None, "nearest"
    if kind == "previous":
        return None, "previous"
    if kind == "next":
        return None, "next"
    return 0 if kind == "zero" else 1 if kind == "slinear" else 2 if kind == "quadratic" else 3, "spline"


def _ends(fill_value: Any) -> Any:
    """What stands below and above."""
    if isinstance(fill_value, tuple):
        below, above = fill_value
        return np.asarray(below) * 1.0, np.asarray(above) * 1.0
    return np.asarray(fill_value) * 1.0, np.asarray(fill_value) * 1.0


@methods_of(interpolate.interp1d)
class Table:
    """Points `x` and values `_y`, one row a point."""

    x: Any
    _y: Any
    _y_axis: Any
    _y_extra_shape: Any
    _kind: Any
    _spline: Any
    _side: Any
    bounds_error: Any
    _extrapolate: Any
    _fill_value_below: Any
    _fill_value_above: Any

    def __call__(self, x: Any) -> Any:
        """The values at `x`."""
        given = np.asarray(x)
        places = np.ravel(given) * 1.0
        below, above = places < self.x[0], places > self.x[-1]
        if self.bounds_error:
            if np.any(below):
                raise ValueError("A value in x_new is below the interpolation range.")
            if np.any(above):
                raise ValueError("A value in x_new is above the interpolation range.")
        found = self._spline(places) if self._kind == "spline" else _rows(self, places)
        if not self._extrapolate:
            found = np.where(below[:, None], self._fill_value_below, found)
            found = np.where(above[:, None], self._fill_value_above, found)
        found = np.reshape(found, np.shape(given) + self._y_extra_shape)
        if len(self._y_extra_shape) > 0 and self._y_axis != 0:
            for _ in range(np.ndim(given)):
                found = np.moveaxis(found, 0, np.ndim(given) - 1 + self._y_axis)
        return found


def _rows(table: Any, places: Any) -> Any:
    """The values at places, without what is to be outside."""
    x, y = table.x, table._y
    if table._kind == "linear":
        after = np.clip(np.searchsorted(x, places), 1, len(x) - 1)
        slope = (y[after] - y[after - 1]) / (x[after] - x[after - 1])[:, None]
        return slope * (places - x[after - 1])[:, None] + y[after - 1]
    if table._kind == "nearest":
        middle = 0.5 * x
        return y[np.searchsorted(middle[1:] + middle[:-1], places, table._side)]
    if table._kind == "previous":
        return y[np.clip(np.searchsorted(x, places, "right"), 1, len(x)) - 1]
    return y[np.clip(np.searchsorted(x, places, "left"), 0, len(x) - 1)]


@constructor_of(interpolate.RegularGridInterpolator)
def regular_grid_interpolator(
    points: Any,
    values: Any,
    method: Any = "linear",
    bounds_error: Any = True,
    fill_value: Any = np.nan,
    *,
    solver: Any = None,
    solver_args: Any = None,
) -> Any:
    """Values between those at the points of a grid."""
    if method not in ("linear", "nearest", "slinear"):
        raise NotDifferentiable(
            "scipy.interpolate.RegularGridInterpolator has a derivative for 'linear' and 'nearest'",
            hint="use method='linear', or scipy.ndimage.map_coordinates with an order",
        )
    grid = _axes(points)
    for axis in grid:
        if len(axis) > 1 and axis[1] < axis[0]:
            raise NotDifferentiable(
                "scipy.interpolate.RegularGridInterpolator has a derivative for grids that increase",
                hint="turn the points and the values round: x[::-1], values[::-1]",
            )
    kind = "nearest" if method == "nearest" else "linear"
    return made_of(
        interpolate.RegularGridInterpolator,
        grid=grid,
        values=np.asarray(values) * 1.0,
        method=kind,
        bounds_error=bounds_error,
        fill_value=fill_value,
    )


def _axes(points: Any) -> Any:
    """The coordinates along each axis, as a tuple of arrays."""
    if len(points) == 0:
        return ()
    return (np.asarray(points[0]) * 1.0, *_axes(points[1:]))


@methods_of(interpolate.RegularGridInterpolator)
class Grid:
    """Values at the points of a grid, of which there is a row of coordinates for each axis."""

    grid: Any
    values: Any
    method: Any
    bounds_error: Any
    fill_value: Any

    def __call__(self, xi: Any, method: Any = None, *, nu: Any = None) -> Any:
        """The values at the places `xi`, whose coordinates are along the last axis."""
        if nu is not None:
            raise NotDifferentiable(
                "scipy.interpolate.RegularGridInterpolator has no derivative with `nu`", hint="leave `nu` out"
            )
        kind = self.method if method is None else method
        if kind not in ("linear", "nearest", "slinear"):
            raise NotDifferentiable(
                "scipy.interpolate.RegularGridInterpolator has a derivative for 'linear' and 'nearest'",
                hint="use method='linear', or scipy.ndimage.map_coordinates with an order",
            )
        given = np.stack(np.broadcast_arrays(*xi), axis=-1) if isinstance(xi, tuple) else np.asarray(xi)
        count = len(self.grid)
        if np.ndim(given) < 2:
            given = np.reshape(given, (-1, count))
        places = np.reshape(given, (-1, count)) * 1.0
        found = _between(self, places, kind)
        return np.reshape(found, np.shape(given)[:-1] + np.shape(self.values)[count:])


def _between(table: Any, places: Any, kind: Any) -> Any:
    """The values at places, of the corners around each."""
    corners = np.zeros((1, np.shape(places)[0]), int)
    weights = np.ones((1, np.shape(places)[0]))
    outside = np.zeros(np.shape(places)[0], bool)
    for axis, points in enumerate(table.grid):
        along = places[:, axis]
        before = interval_of(points, along)
        share = (along - points[before]) / (points[before + 1] - points[before])
        beyond = (along < points[0]) | (along > points[-1])
        if table.bounds_error and np.any(beyond):
            raise ValueError("One of the requested xi is out of bounds")
        outside = outside | beyond
        if kind == "nearest":
            corners = corners * len(points) + np.where(share <= 0.5, before, before + 1)
        else:
            corners = np.concatenate([corners * len(points) + before, corners * len(points) + before + 1])
            weights = np.concatenate([weights * (1.0 - share), weights * share])
    values = np.reshape(table.values, (-1,) + np.shape(table.values)[len(table.grid) :])
    behind = (1,) * (np.ndim(values) - 1)
    found = np.sum(np.reshape(weights, np.shape(weights) + behind) * values[corners], axis=0)
    if table.bounds_error or table.fill_value is None:
        return found
    return np.where(np.reshape(outside, (-1,) + behind), table.fill_value, found)


@composition(interpolate.interpn, domain=(), containers=True, always=True)
def interpn(
    points: Any,
    values: Any,
    xi: Any,
    method: Any = "linear",
    bounds_error: Any = True,
    fill_value: Any = np.nan,
) -> Any:
    """Values between those at the points of a grid."""
    return interpolate.RegularGridInterpolator(points, values, method, bounds_error, fill_value)(xi)
