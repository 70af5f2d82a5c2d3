"""Sums of radial functions through scattered points: `RBFInterpolator`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from tangentx.arrays import length_of, made_of, monomial_powers, stop_gradient
from tangentx.errors import NotDifferentiable
from tangentx.templates.library_classes import constructor_of, methods_of
from tangentx.templates.registry import constant

constant(monomial_powers)


@constructor_of(interpolate.RBFInterpolator)
def rbf_interpolator(
    y: Any,
    d: Any,
    neighbors: Any = None,
    smoothing: Any = 0.0,
    kernel: Any = "thin_plate_spline",
    epsilon: Any = None,
    degree: Any = None,
) -> Any:
    """Weights of a radial function around each point, and of a polynomial.

    By where the polynomial is centred, and how it is scaled, the sum does not change.
    """
    if neighbors is not None:
        raise NotDifferentiable(
            "scipy.interpolate.RBFInterpolator has a derivative without `neighbors`", hint="leave `neighbors` out"
        )
    points, values = np.asarray(y) * 1.0, np.asarray(d) * 1.0
    count, rank = np.shape(points)
    width = _width(kernel, epsilon)
    powers = monomial_powers(rank, _least_degree(kernel) if degree is None else degree)
    least, most = np.min(stop_gradient(points), axis=0), np.max(stop_gradient(points), axis=0)
    shift, scale = (most + least) / 2.0, np.where(most == least, 1.0, (most - least) / 2.0)
    terms = _monomials((points - shift) / scale, powers)
    smooth = np.asarray(smoothing) + np.zeros(count)
    square = _radial(kernel, points * width, points * width) + np.diag(smooth)
    below = np.concatenate([np.transpose(terms), np.zeros((len(powers), len(powers)))], axis=1)
    system = np.concatenate([np.concatenate([square, terms], axis=1), below])
    table = np.reshape(values, (count, -1))
    right = np.concatenate([table, np.zeros((len(powers), np.shape(table)[1]))])
    return made_of(
        interpolate.RBFInterpolator,
        y=points,
        d=table,
        d_shape=np.shape(values)[1:],
        smoothing=smooth,
        kernel=kernel,
        epsilon=width,
        powers=powers,
        _shift=shift,
        _scale=scale,
        _coeffs=np.linalg.solve(system, right),
    )


def _width(kernel: Any, epsilon: Any) -> Any:
    """By what distances are multiplied."""
    if epsilon is not None:
        return epsilon * 1.0
    if kernel not in ("linear", "thin_plate_spline", "cubic", "quintic"):
        raise ValueError("`epsilon` must be specified for this `kernel`.")
    return 1.0


def _least_degree(kernel: Any) -> Any:
    """The degree of the polynomial that a radial function needs."""
    if kernel == "thin_plate_spline" or kernel == "cubic":
        return 1
    return 2 if kernel == "quintic" else 0


def _monomials(x: Any, powers: Any) -> Any:
    """Products of powers of the coordinates, a row for each point."""
    return np.prod(np.power(np.expand_dims(x, 1), powers), axis=-1)


def _radial(kernel: Any, x: Any, centres: Any) -> Any:
    """The radial function of the distance of each point from each centre."""
    square = np.sum((np.expand_dims(x, 1) - centres) ** 2, axis=-1)
    if kernel == "thin_plate_spline":
        return 0.5 * square * np.log(np.where(square == 0.0, 1.0, square))
    if kernel == "linear":
        return -length_of(square)
    if kernel == "cubic":
        return square * length_of(square)
    if kernel == "quintic":
        return -square * square * length_of(square)
    if kernel == "multiquadric":
        return -np.sqrt(square + 1.0)
    if kernel == "inverse_multiquadric":
        return 1.0 / np.sqrt(square + 1.0)
    if kernel == "inverse_quadratic":
        return 1.0 / (square + 1.0)
    if kernel == "gaussian":
        return np.exp(-square)
    raise ValueError("`kernel` must be one of SciPy's.")


@methods_of(interpolate.RBFInterpolator)
class Sum:
    """Points `y`, and weights of what stands around them."""

    y: Any
    d: Any
    d_shape: Any
    smoothing: Any
    kernel: Any
    epsilon: Any
    powers: Any
    _shift: Any
    _scale: Any
    _coeffs: Any

    def __call__(self, x: Any) -> Any:
        """The values at `x`."""
        places = np.asarray(x) * 1.0
        radial = _radial(self.kernel, places * self.epsilon, self.y * self.epsilon)
        terms = _monomials((places - self._shift) / self._scale, self.powers)
        found = np.matmul(np.concatenate([radial, terms], axis=1), self._coeffs)
        return np.reshape(found, (len(places), *self.d_shape))
