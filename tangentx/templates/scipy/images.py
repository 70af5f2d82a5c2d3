"""Filters of images, and images that are read between their elements: `scipy.ndimage`.

What lies beyond the edges is taken from the array by index, so an adjoint adds it back there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import ndimage, special

from tangentx.arrays import edge_places, neighbour_sums, spline_weights, tap_places
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.scipy.precisions import in_precision_of


def beyond(x: Any, before: Any, after: Any, axis: Any, mode: Any, cval: Any) -> Any:
    """The array, continued along an axis."""
    size = np.shape(x)[axis]
    places = edge_places(size, before, after, mode)
    if before >= 0 and after >= 0:
        ends = np.maximum(places[:before], 0), np.maximum(places[before + size :], 0)
        found = np.concatenate([np.take(x, ends[0], axis), x, np.take(x, ends[1], axis)], axis=axis)
    else:
        found = np.take(x, np.maximum(places, 0), axis)
    if mode not in ("constant", "grid-constant"):
        return found
    return np.moveaxis(np.where(places >= 0, np.moveaxis(found, axis, -1), cval), -1, axis)


@composition(ndimage.correlate1d, domain=("A(5), A(3)", "A(3,4), A(2), 0, mode='constant', cval=x, origin=-1"))
def correlate1d(
    input: Any,
    weights: Any,
    axis: Any = -1,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
) -> Any:
    """Sums of neighbours along an axis, weighed."""
    demand_no_output(output)
    x, w = np.asarray(input) * 1.0, np.asarray(weights) * 1.0
    before = np.shape(w)[0] // 2 + origin
    wide = beyond(x, before, np.shape(w)[0] - 1 - before, axis, mode, cval)
    return in_precision_of(x, neighbour_sums(wide, w, axis))


def along_axis(given: Any, axis: Any) -> Any:
    """What is given for an axis, or for all of them."""
    if isinstance(given, (tuple, list)):
        return given[axis]
    return given if np.ndim(given) == 0 else given[axis]


def chosen_axes(count: Any, axes: Any) -> Any:
    """The axes that are filtered: all, where none are said."""
    if axes is None:
        return list(range(count))
    return list(axes) if isinstance(axes, (tuple, list)) else [axes]


def demand_no_output(output: Any) -> None:
    if output is not None:
        raise NotDifferentiable(
            "scipy.ndimage has no derivative with `output`", hint="leave it out, and convert or store the result"
        )


def demand_all_axes(axes: Any) -> None:
    if axes is not None:
        raise NotDifferentiable(
            "scipy.ndimage.correlate and convolve have no derivative with `axes`",
            hint="give the weights an axis of length 1 for each axis that is left out",
        )


@composition(ndimage.convolve1d, domain=("A(5), A(3)", "A(5), A(4), mode='wrap'"))
def convolve1d(
    input: Any,
    weights: Any,
    axis: Any = -1,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
) -> Any:
    """Sums of neighbours along an axis, weighed in turn."""
    w = np.flip(np.asarray(weights))
    return ndimage.correlate1d(input, w, axis, output, mode, cval, -origin - 1 + np.shape(w)[0] % 2)


@composition(ndimage.correlate, domain=("A(4,5), A(3,2)", "A(5), A(3), None, 'mirror'"))
def correlate(
    input: Any,
    weights: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Sums of neighbours along all axes, weighed."""
    demand_all_axes(axes)
    demand_no_output(output)
    wide, w = np.asarray(input) * 1.0, np.asarray(weights) * 1.0
    for axis in range(np.ndim(w)):
        before = np.shape(w)[axis] // 2 + along_axis(origin, axis)
        wide = beyond(wide, before, np.shape(w)[axis] - 1 - before, axis, mode, cval)
    return in_precision_of(wide, np.tensordot(sliding_window_view(wide, np.shape(w)), w, np.ndim(w)))


@composition(ndimage.convolve, domain=("A(4,5), A(3,2)",))
def convolve(
    input: Any,
    weights: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Sums of neighbours along all axes, weighed in turn."""
    demand_all_axes(axes)
    if isinstance(origin, (tuple, list)) or origin != 0:
        raise NotDifferentiable("scipy.ndimage.convolve has no derivative with `origin`", hint="use `correlate`")
    w = np.flip(np.asarray(weights))
    even = [-1 + size % 2 for size in np.shape(w)]
    return ndimage.correlate(input, w, output, mode, cval, even)


def _gaussian(sigma: Any, order: Any, radius: Any) -> Any:
    """Weights of neighbours, or of a derivative: those times a polynomial, which is found derivative by derivative."""
    x = np.arange(-radius, radius + 1.0)
    bell = np.exp(-0.5 * x * x / (sigma * sigma))
    bell = bell / np.sum(bell)
    factors = [np.ones_like(x)]
    for k in range(order):
        last = -x / (sigma * sigma) * factors[k]
        factors.append(last - (k / (sigma * sigma)) * factors[k - 1] if k > 0 else last)
    return bell * factors[order]


@composition(
    ndimage.gaussian_filter1d, domain=("A(5), 0.8", "A(3,4), 0.6, 0, 1", "A(5), 0.8, order=3", "A(5), 0.9, -1, 2")
)
def gaussian_filter1d(
    input: Any,
    sigma: Any,
    axis: Any = -1,
    order: Any = 0,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    truncate: Any = 4.0,
    *,
    radius: Any = None,
) -> Any:
    """Means of neighbours along an axis, weighed by a bell."""
    width = int(truncate * sigma + 0.5) if radius is None else radius
    if width < 0:
        raise ValueError("a Gaussian filter has no negative radius")
    weights = np.flip(_gaussian(sigma, order, width))
    return ndimage.correlate1d(input, weights, axis, output, mode, cval)


@composition(
    ndimage.gaussian_filter,
    domain=(
        "A(4,5), 0.7",
        "A(4,3), (0.7, 0.4), mode='nearest'",
        "A(4,3), 0.7, (0, 1), mode=('nearest', 'wrap'), radius=2",
        "A(2,3,4), (0.7, 0.6), axes=(-1, 1)",
    ),
)
def gaussian_filter(
    input: Any,
    sigma: Any,
    order: Any = 0,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    truncate: Any = 4.0,
    *,
    radius: Any = None,
    axes: Any = None,
) -> Any:
    """Means of neighbours along all axes, or some, weighed by bells."""
    found = np.asarray(input) * 1.0
    chosen = chosen_axes(np.ndim(found), axes)
    for k in range(len(chosen)):
        if along_axis(sigma, k) > 1e-15:  # SciPy leaves the other axes as they are
            found = ndimage.gaussian_filter1d(
                found,
                along_axis(sigma, k),
                chosen[k],
                along_axis(order, k),
                output,
                along_axis(mode, k),
                cval,
                truncate,
                radius=along_axis(radius, k),
            )
    return found


@composition(ndimage.uniform_filter1d, domain=("A(5), 3", "A(3,4), 2, 0"))
def uniform_filter1d(
    input: Any, size: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0
) -> Any:
    """Means of neighbours along an axis."""
    return ndimage.correlate1d(input, np.ones(size) / size, axis, output, mode, cval, origin)


@composition(
    ndimage.uniform_filter,
    domain=("A(4,5)", "A(4,3), (2, 3)", "A(2,3,4), (1, 3), mode=['wrap', 'nearest'], axes=(2, 1)"),
)
def uniform_filter(
    input: Any,
    size: Any = 3,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Means of neighbours along all axes, or some."""
    found = np.asarray(input) * 1.0
    chosen = chosen_axes(np.ndim(found), axes)
    for k in range(len(chosen)):
        if along_axis(size, k) > 1:  # SciPy leaves the other axes as they are
            found = ndimage.uniform_filter1d(
                found, along_axis(size, k), chosen[k], output, along_axis(mode, k), cval, along_axis(origin, k)
            )
    return found


def _across(input: Any, axis: Any, side: Any, output: Any, mode: Any, cval: Any) -> Any:
    """Differences along an axis, and means along the others."""
    x = np.asarray(input) * 1.0
    along = axis % np.ndim(x)
    found = ndimage.correlate1d(x, np.array([-1.0, 0.0, 1.0]), axis, output, along_axis(mode, along), cval)
    for other in range(np.ndim(x)):
        if other != along:
            weights = np.array([1.0, side, 1.0])
            found = ndimage.correlate1d(found, weights, other, output, along_axis(mode, other), cval)
    return found


@composition(ndimage.sobel, domain=("A(4,5)", "A(4,5), 0, mode=('wrap', 'nearest')"))
def sobel(input: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Any:
    """Differences along an axis, smooth along the others."""
    return _across(input, axis, 2.0, output, mode, cval)


@composition(ndimage.prewitt, domain=("A(4,5)",))
def prewitt(input: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Any:
    """Differences along an axis, summed along the others."""
    return _across(input, axis, 1.0, output, mode, cval)


@composition(ndimage.laplace, domain=("A(4,5)", "A(2,4,5), mode=('nearest', 'wrap'), axes=(1, 2)"))
def laplace(input: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None) -> Any:
    """Second differences along all axes, or some."""
    x = np.asarray(input) * 1.0
    chosen = chosen_axes(np.ndim(x), axes)
    total = 0.0 * x
    for k in range(len(chosen)):
        weights = np.array([1.0, -2.0, 1.0])
        total = total + ndimage.correlate1d(x, weights, chosen[k], output, along_axis(mode, k), cval)
    return total


def _filtered(x: Any, order: Any, mode: Any) -> Any:
    """Coefficients of the spline through the elements, by the matrix of the filter along each axis."""
    for axis in range(np.ndim(x)):
        matrix = ndimage.spline_filter1d(np.eye(np.shape(x)[axis]), order, 0, mode=mode)
        x = np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis)
    return x


@composition(ndimage.spline_filter, domain=("A(4,5)",))
def spline_filter(input: Any, order: Any = 3, output: Any = np.float64, mode: Any = "mirror") -> Any:
    """Coefficients of the spline through the elements."""
    return _filtered(np.asarray(input) * 1.0, order, mode)


@composition(ndimage.spline_filter1d, domain=("A(5)", "A(4,5), 2, 0"))
def spline_filter1d(input: Any, order: Any = 3, axis: Any = -1, output: Any = np.float64, mode: Any = "mirror") -> Any:
    """Coefficients of the spline through the elements along an axis."""
    x = np.asarray(input) * 1.0
    matrix = ndimage.spline_filter1d(np.eye(np.shape(x)[axis]), order, 0, mode=mode)
    return np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis)


_READ = "scipy.ndimage has a derivative of images that are read with mode 'constant', 'nearest', 'mirror' or 'reflect'"


def _within(c: Any, size: Any, mode: Any) -> Any:
    """Coordinates, as they are between the edges."""
    if mode == "constant":
        return np.clip(c, 0.0, size - 1.0)
    if mode == "nearest":
        return np.clip(c, 0.0, size - 1.0)
    if mode == "mirror":
        if size == 1:
            return 0.0 * c
        found = c % (2.0 * (size - 1.0))
        return np.where(found > size - 1.0, 2.0 * (size - 1.0) - found, found)
    if mode in ("reflect", "grid-mirror"):
        found = (c + 0.5) % (2.0 * size)
        return np.where(found > size, 2.0 * size - found, found) - 0.5
    if mode == "grid-wrap":
        return c % (1.0 * size)
    raise NotDifferentiable(_READ, hint="use one of these, or continue the image by np.pad")


@composition(
    ndimage.map_coordinates,
    domain=(
        "A(4,5), 1.2 + 0.3 * P(2,3), order=1",
        "A(4,5), 1.2 + 0.3 * P(2,3)",
        "A(6), 1.1 + P(1,4), None, 2, 'mirror'",
        "A(4,5), 1.2 + 0.3 * P(2,3), order=5, mode='reflect'",
    ),
)
def map_coordinates(
    input: Any,
    coordinates: Any,
    output: Any = None,
    order: Any = 3,
    mode: Any = "constant",
    cval: Any = 0.0,
    prefilter: Any = True,
) -> Any:
    """The image at places, between its elements by a spline of an order."""
    demand_no_output(output)
    image, places = np.asarray(input) * 1.0, np.asarray(coordinates) * 1.0
    if mode not in ("constant", "nearest") and np.any(np.abs(places) > 2.0**53):
        raise NotDifferentiable(
            "scipy.ndimage does not find places that are so far outside of the image that no fraction is left",
            hint="bring the coordinates nearer, or use mode 'constant' or 'nearest'",
        )
    if np.size(image) == 0 or np.size(places) == 0:
        raise NotDifferentiable(
            "scipy.ndimage has no derivative of an image without elements, or at no places", hint="leave it out"
        )
    given = image
    columns = np.reshape(places, (np.shape(places)[0], -1))
    margin = 12 if mode == "nearest" and order > 1 and prefilter else 0
    if margin > 0:
        image, columns = np.pad(image, margin, mode="edge"), columns + 12.0
    if order > 1 and prefilter:
        image = _filtered(image, order, mode)
    found = _read(image, columns, order, mode, cval)
    return in_precision_of(given, np.reshape(found, np.shape(places)[1:]))


def _read(image: Any, columns: Any, order: Any, mode: Any, cval: Any) -> Any:
    """The sums of the coefficients around each place, along one axis after the other."""
    count = np.shape(columns)[1]
    taps = np.zeros((1, count), int)
    weights = []
    outside = np.zeros(count, bool)
    for axis in range(np.ndim(image)):
        size = np.shape(image)[axis]
        along = columns[axis]
        outside = outside | (along < 0.0) | (along > size - 1.0)
        inside = _within(along, size, mode)
        first = np.floor(inside if order % 2 else inside + 0.5).astype(int) - order // 2
        places = tap_places(first, size, order, mode)
        taps = np.reshape(taps[:, None, :] * size + places[None, :, :], (-1, count))
        weights.append(spline_weights(inside - first, order))
    values = np.ravel(image)[taps]
    for axis in range(np.ndim(image)):
        rows = weights[np.ndim(image) - 1 - axis]
        values = np.einsum("akn,kn->an", np.reshape(values, (-1, order + 1, count)), rows)
    return np.where(outside, cval, values[0]) if mode == "constant" else values[0]


@composition(ndimage.shift, domain=("A(4,5), 0.3, order=1", "A(5), x, mode='mirror'"))
def shift(
    input: Any,
    shift: Any,
    output: Any = None,
    order: Any = 3,
    mode: Any = "constant",
    cval: Any = 0.0,
    prefilter: Any = True,
) -> Any:
    """The image, moved."""
    image = np.asarray(input) * 1.0
    away = np.reshape(np.asarray(shift) * np.ones(np.ndim(image)), (-1,) + (1,) * np.ndim(image))
    return ndimage.map_coordinates(image, np.indices(np.shape(image)) - away, output, order, mode, cval, prefilter)


@composition(
    ndimage.affine_transform,
    domain=("A(4,5), np.eye(2) + 0.1 * A(2,2), 0.3 * P(2), order=1", "A(4,5), 1.0 - 0.2 * P(2), mode='reflect'"),
)
def affine_transform(
    input: Any,
    matrix: Any,
    offset: Any = 0.0,
    output_shape: Any = None,
    output: Any = None,
    order: Any = 3,
    mode: Any = "constant",
    cval: Any = 0.0,
    prefilter: Any = True,
) -> Any:
    """The image at the places to which a matrix brings those of the result."""
    image, table = np.asarray(input) * 1.0, np.asarray(matrix) * 1.0
    count = np.ndim(image)
    if np.shape(table)[-1] != count:
        raise NotDifferentiable(
            "scipy.ndimage.affine_transform has a derivative for a matrix and an offset",
            hint="take a homogeneous matrix apart: matrix[:n, :n], matrix[:n, n]",
        )
    grid = np.indices(np.shape(image) if output_shape is None else output_shape) * 1.0
    away = np.reshape(np.asarray(offset) * np.ones(count), (-1,) + (1,) * count)
    if np.ndim(table) == 1:
        places = np.reshape(table, (-1,) + (1,) * count) * grid + away
    else:
        places = np.tensordot(table, grid, 1) + away
    return ndimage.map_coordinates(image, places, output, order, mode, cval, prefilter)


@composition(
    ndimage.zoom,
    domain=("A(4,5), 1.6, order=1", "A(4,5), (1.5, 0.6), mode='reflect'", "A(5), 2.0, mode='nearest', grid_mode=True"),
)
def zoom(
    input: Any,
    zoom: Any,
    output: Any = None,
    order: Any = 3,
    mode: Any = "constant",
    cval: Any = 0.0,
    prefilter: Any = True,
    *,
    grid_mode: Any = False,
) -> Any:
    """The image with more elements, or fewer; their number takes steps with `zoom`, of which it is a constant."""
    image = np.asarray(input) * 1.0
    sizes = np.shape(image)
    counts = [int(round(sizes[axis] * along_axis(zoom, axis))) for axis in range(np.ndim(image))]
    if np.ndim(image) > 3:
        raise NotDifferentiable(
            "scipy.ndimage.zoom has a derivative for up to three axes", hint="use `map_coordinates`"
        )
    if np.ndim(image) == 1:
        grid = np.indices((counts[0],)) * 1.0
    elif np.ndim(image) == 2:
        grid = np.indices((counts[0], counts[1])) * 1.0
    else:
        grid = np.indices((counts[0], counts[1], counts[2])) * 1.0
    if min(counts) == 0:
        raise NotDifferentiable("scipy.ndimage.zoom has no derivative where nothing is left", hint="leave it out")
    rows = []
    for axis in range(np.ndim(image)):
        if grid_mode:
            rows.append((grid[axis] + 0.5) * (sizes[axis] / counts[axis]) - 0.5)
        elif counts[axis] > 1:
            rows.append(grid[axis] * ((sizes[axis] - 1.0) / (counts[axis] - 1.0)))
        else:
            rows.append(grid[axis])
    places = np.stack(rows)
    return ndimage.map_coordinates(image, places, output, order, mode, cval, prefilter)


@composition(
    ndimage.rotate,
    domain=("A(4,5), 20.0, order=1", "A(5,4), -35.0, (0, 1), mode='reflect'", "A(4,5), 10.0, reshape=False, order=2"),
)
def rotate(
    input: Any,
    angle: Any,
    axes: Any = (1, 0),
    reshape: Any = True,
    output: Any = None,
    order: Any = 3,
    mode: Any = "constant",
    cval: Any = 0.0,
    prefilter: Any = True,
) -> Any:
    """A picture, turned by an angle in degrees."""
    image = np.asarray(input) * 1.0
    if np.ndim(image) != 2:
        raise NotDifferentiable(
            "scipy.ndimage.rotate has a derivative for pictures of two axes", hint="use `affine_transform`"
        )
    c, s = special.cosdg(angle), special.sindg(angle)
    matrix = np.array([[c, s], [-s, c]])
    sizes = np.array(np.shape(image))
    counts = sizes
    if reshape:
        corners = matrix @ np.array([[0, 0, sizes[0], sizes[0]], [0, sizes[1], 0, sizes[1]]])
        counts = (np.max(corners, axis=1) - np.min(corners, axis=1) + 0.5).astype(int)
    away = 0.5 * (sizes - 1.0) - matrix @ (0.5 * (counts - 1.0))
    shape = (int(counts[0]), int(counts[1]))
    return ndimage.affine_transform(image, matrix, away, shape, output, order, mode, cval, prefilter)


def _derivatives(
    image: Any, order: Any, sigma: Any, output: Any, mode: Any, cval: Any, truncate: Any, radius: Any, chosen: Any
) -> Any:
    """Derivatives along each of the chosen axes of the image that bells have smoothed along all axes."""
    found = []
    for k in range(len(chosen)):
        along = chosen[k] % np.ndim(image)
        orders = [order if axis == along else 0 for axis in range(np.ndim(image))]
        way = along_axis(mode, k)
        found.append(ndimage.gaussian_filter(image, sigma, orders, output, way, cval, truncate, radius=radius))
    return found


@composition(
    ndimage.gaussian_laplace,
    domain=("A(4,5), 0.7", "A(5), 0.8, mode='nearest'", "A(2,4,5), (0.7, 0.6), mode=('wrap', 'mirror'), axes=(1, 2)"),
)
def gaussian_laplace(
    input: Any,
    sigma: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    *,
    axes: Any = None,
    truncate: Any = 4.0,
    radius: Any = None,
) -> Any:
    """Second derivatives of the image that a bell has smoothed, summed."""
    image = np.asarray(input) * 1.0
    chosen = chosen_axes(np.ndim(image), axes)
    widths = [0.0 * along_axis(sigma, 0) for axis in range(np.ndim(image))]
    for k in range(len(chosen)):
        widths[chosen[k]] = along_axis(sigma, k)
    total = 0.0 * image
    for part in _derivatives(image, 2, widths, output, mode, cval, truncate, radius, chosen):
        total = total + part
    return total


@composition(
    ndimage.gaussian_gradient_magnitude,
    domain=("A(4,5), 0.7", "A(5), 0.8, mode='nearest'", "A(2,4,5), 0.7, truncate=3.0, axes=(2, 1)"),
)
def gaussian_gradient_magnitude(
    input: Any,
    sigma: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    *,
    axes: Any = None,
    truncate: Any = 4.0,
    radius: Any = None,
) -> Any:
    """Length of the gradient, along the axes that are chosen, of the image that a bell has smoothed along all."""
    image = np.asarray(input) * 1.0
    chosen = chosen_axes(np.ndim(image), axes)
    parts = _derivatives(image, 1, sigma, output, mode, cval, truncate, radius, chosen)
    return np.linalg.norm(np.stack(parts), axis=0)


@composition(ndimage.center_of_mass, domain=())
def center_of_mass(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The mean place, weighed by the image."""
    if labels is not None or index is not None:
        raise NotDifferentiable(
            "scipy.ndimage.center_of_mass has no derivative with labels", hint="multiply by the mask of a label"
        )
    image = np.asarray(input)
    if np.ndim(image) > 3:
        raise NotDifferentiable(
            "scipy.ndimage.center_of_mass has a derivative for up to three axes", hint="write it as sums"
        )
    places = np.reshape(np.indices(np.shape(image)) * 1.0, (np.ndim(image), -1))
    found = np.sum(places * np.ravel(image), axis=1) / np.sum(image)
    if np.ndim(image) == 1:
        return (found[0],)
    return (found[0], found[1]) if np.ndim(image) == 2 else (found[0], found[1], found[2])
