"""Quaternion products (x, y, z, w), rotation matrices, and sequences of Euler angles."""

from __future__ import annotations

from typing import Any

import numpy as np

_AXES = {"x": 0, "y": 1, "z": 2}


def elementary_axes(seq: str) -> Any:
    """The unit vectors of the axes that are turned about, a row each.

    >>> elementary_axes("ZX")
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """
    if not 1 <= len(seq) <= 3 or not (set(seq) <= set("xyz") or set(seq) <= set("XYZ")):
        raise ValueError(f"the axes of Euler angles are one to three of xyz, or of XYZ, not {seq!r}")
    return np.eye(3)[[_AXES[letter] for letter in seq.lower()]]


def euler_order(seq: str) -> tuple[int, int, int, int, int, int]:
    """The axes i, j and k by which angles are found, the sign of their order, whether the first and the last axis are
    the same one (1 or 0), and the place of the angle that is found first (2 where axes turn along, else 0).

    Formula: E. Bernardes and S. Viollet, "Quaternion to Euler angles conversion" (2022).
    """
    turning = seq.isupper()
    letters = seq.lower()[::-1] if turning else seq.lower()
    i, j, k = (_AXES[letter] for letter in letters)
    symmetric = int(i == k)
    k = 3 - i - j if symmetric else k
    return i, j, k, (i - j) * (j - k) * (k - i) // 2, symmetric, 2 if turning else 0


_FLIP = np.array([-1.0, -1.0, -1.0, 1.0])


def _products() -> Any:
    """The product of two quaternions as a matrix: of the row of products of their parts, four numbers."""
    x, y, z, w = np.eye(4)
    signs = ((x, w, 1), (w, x, 1), (y, z, 1), (z, y, -1)), ((y, w, 1), (w, y, 1), (z, x, 1), (x, z, -1))
    rest = ((z, w, 1), (w, z, 1), (x, y, 1), (y, x, -1)), ((w, w, 1), (x, x, -1), (y, y, -1), (z, z, -1))
    return np.stack([sum(sign * np.outer(p, q).ravel() for p, q, sign in each) for each in (*signs, *rest)], axis=1)


def _matrices() -> Any:
    """The matrix of a rotation as one: of the row of products of the parts of its quaternion, nine numbers."""
    units = np.eye(4) * _FLIP
    columns = []
    for axis in range(3):  # q v q*, for each unit vector v
        first = np.einsum("kl,klm->km", np.eye(4), _PRODUCTS.reshape(4, 4, 4)[:, axis : axis + 1].repeat(4, axis=1))
        columns.append(np.einsum("km,mnj,ln->klj", first, _PRODUCTS.reshape(4, 4, 4), units)[..., :3])
    found = np.stack(columns, axis=-1).reshape(4, 4, 9)
    return (0.5 * (found + np.swapaxes(found, 0, 1))).reshape(16, 9)


_PRODUCTS = _products()
_MATRICES = _matrices()


def conjugated(q: Any) -> Any:
    """The quaternions of the rotations back.

    >>> conjugated(np.array([1.0, 2.0, 3.0, 4.0]))
    array([-1., -2., -3.,  4.])
    """
    return q * _FLIP.astype(q.dtype)


def quaternion_product(p: Any, q: Any) -> Any:
    """The quaternions of the rotations `q`, then `p`.

    >>> quaternion_product(np.array([1.0, 0.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0, 0.0]))
    array([0., 0., 1., 0.])
    """
    return _mapped(p[..., :, None] * q[..., None, :], _PRODUCTS)


def form_as_matrix(form: Any) -> Any:
    """The matrices of rotations from products of the parts of their quaternions, four by four.

    >>> form_as_matrix(np.diag([0.0, 0.0, 0.0, 1.0]))
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    return np.reshape(_mapped(form, _MATRICES), (*form.shape[:-2], 3, 3))


def matrix_as_form(matrix: Any) -> Any:
    """The adjoint of `form_as_matrix`."""
    return np.reshape(_mapped(matrix, _MATRICES.T), (*matrix.shape[:-2], 4, 4))


def _mapped(tables: Any, by: Any) -> Any:
    """The elements of tables, in rows, times a matrix; of the analysis' samples, which are smaller, a part of it."""
    size = tables.shape[-2] * tables.shape[-1]
    return np.matmul(np.reshape(tables, (*tables.shape[:-2], size)), by[:size].astype(tables.dtype))
