"""Norms of vectors and matrices, and condition numbers, in terms of sums, maxima and singular values."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import counting, det_sign, length_of, valued
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition


def _takes_none() -> bool:
    """Whether the largest size of no elements is 0 in NumPy's norms, which in older versions is an error."""
    try:
        return bool(np.linalg.norm(np.zeros(0), np.inf) == 0.0)
    except ValueError:
        return False


_TAKES_NONE = _takes_none()


@composition(
    np.linalg.norm,
    domain=(
        "A(3), 2",
        "A(3), 1",
        "A(3), ord=np.inf",
        "A(3), ord=3",
        "A(2,3), 1, axis=1",
        "A(2,3), 'fro'",
        "A(2,3), 1",
        "A(2,3), 'nuc'",
        "A(4,2,3), -2, (1, -1), True",
        "C(3,2), 2",
    ),
)
def norm(x: Any, ord: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """Norms of vectors and matrices by their order."""
    if isinstance(axis, tuple) and len(axis) == 2:
        found = _matrix_norm(np.moveaxis(x, axis, (-2, -1)), ord)
        return np.expand_dims(found, axis) if keepdims else found
    if axis is None and np.ndim(x) == 2 and ord is not None:
        found = _matrix_norm(x, ord)
        return np.expand_dims(found, (0, 1)) if keepdims else found
    if isinstance(axis, tuple):
        return _vector_norm(x, ord, axis[0], keepdims)
    if axis is None and np.ndim(x) != 1 and ord is not None:
        raise ValueError("Improper number of dimensions to norm.")
    return _vector_norm(x, ord, axis, keepdims)


def _vector_norm(x: Any, ord: Any, axis: Any, keepdims: Any) -> Any:
    """Norms of vectors."""
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if ord is None or ord == 2:
        return _by_order(np.linalg.norm(x, axis=axis, keepdims=keepdims), x, ord, axis, keepdims)
    if ord == 1:
        return _by_order(np.sum(np.abs(x), axis=axis, keepdims=keepdims), x, ord, axis, keepdims)
    if ord == np.inf:
        return _largest(np.abs(x), axis, keepdims)
    if ord == -np.inf:
        return np.min(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == 0:
        return np.sum((x != 0).astype(np.abs(x).dtype), axis=axis, keepdims=keepdims)
    if not ord > 0:  # nor a number
        return np.sum(np.abs(x) ** ord, axis=axis, keepdims=keepdims) ** (1.0 / ord)
    return _of_order(x, ord, axis, keepdims)


def _by_order(found: Any, x: Any, ord: Any, axis: Any, keepdims: Any) -> Any:
    """What a shorter formula found, with its derivative by the order where that may vary: a number, array or Tensor."""
    if ord is None or isinstance(ord, (int, np.integer)):
        return found
    return valued(found, _of_order(x, ord, axis, keepdims))


def _of_order(x: Any, ord: Any, axis: Any, keepdims: Any) -> Any:
    """The norm by its definition, of a positive order: the derivative by an order that is no whole number is its."""
    total = np.sum(power_of_some(np.abs(x), ord), axis=axis, keepdims=keepdims)
    return power_of_some(total, 1.0 / ord)[()]


def _largest(sizes: Any, axis: Any, keepdims: Any) -> Any:
    """The largest of some sizes, none of which is negative."""
    if _TAKES_NONE:
        return np.max(sizes, axis=axis, keepdims=keepdims, initial=0.0)
    return np.max(sizes, axis=axis, keepdims=keepdims)


def power_of_some(sizes: Any, exponent: Any) -> Any:
    """A power of what is not 0, which has no slope there."""
    zero = sizes == 0.0
    return np.where(zero, 0.0, np.where(zero, 1.0, sizes) ** exponent)


def _matrix_norm(x: Any, ord: Any) -> Any:
    """Norms of the matrices along the last two axes."""
    if ord is None or ord == "fro":
        return np.linalg.norm(x, axis=(-2, -1))
    if ord == "nuc":
        values = np.linalg.svdvals(x)
        return np.sum(values * counting(values), axis=-1)
    if isinstance(ord, str):
        raise ValueError("Invalid norm order for matrices.")
    if ord == 1:
        return _largest(np.sum(np.abs(x), axis=-2), -1, False)
    if ord == np.inf:
        return _largest(np.sum(np.abs(x), axis=-1), -1, False)
    if ord == -1:
        return np.min(np.sum(np.abs(x), axis=-2), axis=-1)
    if ord == -np.inf:
        return np.min(np.sum(np.abs(x), axis=-1), axis=-1)
    if ord == 2:
        return _largest(np.linalg.svdvals(x), -1, False)
    if ord == -2:
        return np.min(np.linalg.svdvals(x), axis=-1)
    raise ValueError("Invalid norm order for matrices.")


@composition(
    np.linalg.vector_norm,
    domain=("A(3)", "A(3), ord=1", "A(2,3), axis=1, ord=3", "A(2,3,4), axis=(0, -1), keepdims=True", "A(2,3), ord=-1"),
)
def vector_norm(x: Any, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Any:
    """Norms of vectors; of all elements along several axes, or along all."""
    if axis is None:
        found = _vector_norm(np.ravel(x), ord, None, False)
        return np.reshape(found, (1,) * np.ndim(x)) if keepdims else found
    if isinstance(axis, tuple) and ord == 2:
        return length_of(np.sum(np.real(np.conj(x) * x), axis=axis, keepdims=keepdims))
    return _vector_norm(x, ord, axis, keepdims)


@composition(np.linalg.matrix_norm, domain=("A(2,3)", "A(2,3), ord=1", "A(4,2,3), keepdims=True, ord='nuc'"))
def matrix_norm(x: Any, *, keepdims: Any = False, ord: Any = "fro") -> Any:
    """Norms of the matrices along the last two axes."""
    found = _matrix_norm(x, ord)
    return np.expand_dims(found, (-2, -1)) if keepdims else found


def _infinite(ratio: Any, x: Any) -> Any:
    """A condition number, which is infinite where both values are 0."""
    unknown = np.isnan(ratio) & ~np.any(np.isnan(x), axis=(-2, -1))
    return np.where(unknown, np.inf, ratio)[()]


@composition(
    np.linalg.cond,
    domain=("A(3,3)", "A(3,2), 2", "A(2,2), -2", "A(4,2,2), 'fro'", "A(2,2), p=np.inf"),
)
def cond(x: Any, p: Any = None) -> Any:
    """Condition numbers: of the singular values, or a norm times that of the inverse."""
    if p is None or p == 2:
        values = np.linalg.svdvals(x)
        return _infinite(values[..., 0] / values[..., -1], x)
    if p == -2:
        values = np.linalg.svdvals(x)
        return _infinite(values[..., -1] / values[..., 0], x)
    if np.any(det_sign(x) == 0.0):
        raise NotDifferentiable(
            "np.linalg.cond has no derivative where a matrix is singular: it is infinite there",
            hint="add a small multiple of the identity to the matrix",
        )
    return _matrix_norm(x, p) * _matrix_norm(np.linalg.inv(x), p)
