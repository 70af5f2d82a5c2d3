"""Rotations, `scipy.spatial.transform.Rotation`, by their quaternions (x, y, z, w), one a row.

At the rotation by no angle series are used, so that there are derivatives of all orders there too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from tangentx.arrays import (
    conjugated,
    elementary_axes,
    euler_order,
    form_as_matrix,
    made_of,
    matrix_as_form,
    quaternion_product,
)
from tangentx.errors import NotDifferentiable
from tangentx.templates.library_classes import constructor_of, methods_of
from tangentx.templates.registry import constant

constant(elementary_axes, euler_order)

_TURN = 57.29577951308232
"""Degrees in a radian."""


def _rotation(quaternions: Any, single: Any) -> Any:
    return made_of(Rotation, _quat=quaternions, _single=single)


def _of_length_one(quaternions: Any) -> Any:
    return quaternions / np.sqrt(np.sum(quaternions * quaternions, axis=-1, keepdims=True))


def _of_vectors(vectors: Any) -> Any:
    """Quaternions of rotations about vectors, by angles that are their lengths."""
    squares = np.sum(vectors * vectors, axis=-1, keepdims=True)
    near = squares <= 1e-6
    angles = np.sqrt(np.where(near, 1.0, squares))
    scale = np.where(near, 0.5 - squares / 48.0 + squares * squares / 3840.0, np.sin(0.5 * angles) / angles)
    last = np.where(near, 1.0 - squares / 8.0 + squares * squares / 384.0, np.cos(0.5 * angles))
    return np.concatenate([scale * vectors, last], axis=-1)


def _as_vectors(quaternions: Any) -> Any:
    """Rotation vectors, of angles of half a turn at most."""
    upper = np.where(quaternions[:, 3:] < 0.0, -1.0, 1.0) * quaternions
    vectors, last = upper[:, :3], upper[:, 3:]
    squares = np.sum(vectors * vectors, axis=-1, keepdims=True)
    near = squares <= 2.5e-7
    lengths = np.sqrt(np.where(near, 1.0, squares))
    whole = np.where(near, last, 1.0)
    ratio = np.where(near, squares / (whole * whole), 0.0)
    series = 2.0 / whole * (1.0 - ratio / 3.0 + ratio * ratio / 5.0)
    return np.where(near, series, 2.0 * np.arctan2(lengths, last) / lengths) * vectors


def _as_matrices(quaternions: Any) -> Any:
    return form_as_matrix(quaternions[:, :, None] * quaternions[:, None, :])


def _of_matrices(matrices: Any) -> Any:
    """Quaternions, by the row of their products that has the largest divisor for each matrix."""
    forms = matrix_as_form(matrices) + np.eye(4)
    rows = np.arange(len(forms))
    return _of_length_one(forms[rows, np.argmax(forms[:, np.arange(4), np.arange(4)], axis=-1)])


def _degrees(angles: Any, degrees: Any) -> Any:
    return np.asarray(angles) / _TURN if degrees else np.asarray(angles) * 1.0


@constructor_of(Rotation)
def rotation(quat: Any, normalize: Any = True, copy: Any = True, scalar_first: Any = False) -> Any:
    """Rotations by quaternions."""
    return Rotation.from_quat(quat, scalar_first=scalar_first)


@methods_of(Rotation)
class Turns:
    """Quaternions `_quat`, one a row; whether there is a single rotation, `_single`."""

    _quat: Any
    _single: Any

    @staticmethod
    def from_quat(quat: Any, *, scalar_first: Any = False) -> Any:
        """Rotations by quaternions, which are made of length 1."""
        given = np.asarray(quat) * 1.0
        rows = _of_length_one(np.reshape(given, (-1, 4)))
        return _rotation(np.roll(rows, -1, -1) if scalar_first else rows, np.ndim(given) == 1)

    @staticmethod
    def identity(num: Any = None) -> Any:
        """Rotations that leave all where it is."""
        count = 1 if num is None else num
        return _rotation(np.concatenate([np.zeros((count, 3)), np.ones((count, 1))], axis=-1), num is None)

    @staticmethod
    def concatenate(rotations: Any) -> Any:
        """Several rotations, or arrays of them, in one array."""
        return _rotation(np.concatenate([rotation._quat for rotation in rotations]), False)

    @staticmethod
    def from_mrp(mrp: Any) -> Any:
        """Rotations about vectors, as long as the tangents of a quarter of the angles."""
        given = np.asarray(mrp) * 1.0
        rows = np.reshape(given, (-1, 3))
        squares = np.sum(rows * rows, axis=-1, keepdims=True)
        return _rotation(np.concatenate([2.0 * rows, 1.0 - squares], axis=-1) / (1.0 + squares), np.ndim(given) == 1)

    @staticmethod
    def from_rotvec(rotvec: Any, degrees: Any = False) -> Any:
        """Rotations about vectors, by angles that are their lengths."""
        given = _degrees(rotvec, degrees)
        return _rotation(_of_vectors(np.reshape(given, (-1, 3))), np.ndim(given) == 1)

    @staticmethod
    def from_matrix(matrix: Any, *, assume_valid: Any = False) -> Any:
        """Rotations by matrices; of one that is not orthogonal the nearest, by steps of Newton's method."""
        given = np.asarray(matrix) * 1.0
        rows = np.reshape(given, (-1, 3, 3))
        if not assume_valid:
            for _ in range(9):
                rows = 0.5 * (rows + np.swapaxes(np.linalg.inv(rows), -1, -2))
        return _rotation(_of_matrices(rows), np.ndim(given) == 2)

    @staticmethod
    def from_euler(seq: Any, angles: Any, degrees: Any = False) -> Any:
        """Rotations by angles about axes: `xyz` stay where they are, `XYZ` turn along."""
        axes = elementary_axes(seq)
        given = _degrees(angles, degrees)
        count = np.shape(axes)[0]
        rows = np.reshape(given, (-1, count))
        single = np.ndim(given) == 0 or (np.ndim(given) == 1 and len(seq) > 1)
        found = _of_vectors(rows[:, :1] * axes[0])
        for k in range(1, count):
            other = _of_vectors(rows[:, k : k + 1] * axes[k])
            found = quaternion_product(found, other) if seq.isupper() else quaternion_product(other, found)
        return _rotation(found, single)

    @property
    def single(self) -> Any:
        """Whether there is a single rotation."""
        return self._single

    def __len__(self) -> Any:
        """How many rotations there are."""
        if self._single:
            raise TypeError("Single rotation has no len().")
        return np.shape(self._quat)[0]

    def __getitem__(self, indexer: Any) -> Any:
        """Some of the rotations."""
        rows = self._quat[indexer]
        if np.ndim(rows) == 1:
            return _rotation(rows[None, :], True)
        return _rotation(rows, False)

    def as_quat(self, canonical: Any = False, *, scalar_first: Any = False) -> Any:
        """The quaternions."""
        rows = self._quat
        if canonical:
            rows = np.where(rows[:, 3:] < 0.0, -1.0, 1.0) * rows
        rows = np.roll(rows, 1, -1) if scalar_first else rows * 1.0
        return rows[0] if self._single else rows

    def as_matrix(self) -> Any:
        """The matrices."""
        found = _as_matrices(self._quat)
        return found[0] if self._single else found

    def as_rotvec(self, degrees: Any = False) -> Any:
        """The vectors about which is turned, as long as the angles."""
        found = _as_vectors(self._quat)
        found = found * _TURN if degrees else found
        return found[0] if self._single else found

    def as_mrp(self) -> Any:
        """The axes, as long as the tangents of a quarter of the angles."""
        upper = np.where(self._quat[:, 3:] < 0.0, -1.0, 1.0) * self._quat
        found = upper[:, :3] / (1.0 + upper[:, 3:])
        return found[0] if self._single else found

    def as_euler(self, seq: Any, degrees: Any = False, *, suppress_warnings: Any = False) -> Any:
        """Angles about axes."""
        found = _euler(self._quat, seq)
        found = found * _TURN if degrees else found
        return found[0] if self._single else found

    def magnitude(self) -> Any:
        """The angles."""
        found = 2.0 * np.arctan2(np.linalg.norm(self._quat[:, :3], axis=-1), np.abs(self._quat[:, 3]))
        return found[0] if self._single else found

    def apply(self, vectors: Any, inverse: Any = False) -> Any:
        """Vectors, turned."""
        given = np.asarray(vectors)
        matrices = _as_matrices(self._quat)
        turned = np.swapaxes(matrices, -1, -2) if inverse else matrices
        rows = np.reshape(given, (-1, 3))
        found = np.sum(turned * rows[:, None, :], axis=-1)
        return found[0] if self._single and np.ndim(given) == 1 else found

    def inv(self) -> Any:
        """The rotations back."""
        return _rotation(conjugated(self._quat), self._single)

    def __mul__(self, other: Any) -> Any:
        """The rotations of `other`, then these."""
        found = _of_length_one(quaternion_product(self._quat, other._quat))
        return _rotation(found, self._single and other._single)

    def __pow__(self, n: Any, modulus: Any = None) -> Any:
        """The rotations by `n` times the angles."""
        return _rotation(_of_vectors(n * _as_vectors(self._quat)), self._single)


def _euler(quaternions: Any, seq: Any) -> Any:
    """The angles of rotations, one row a rotation, which no two axes that are one leave open."""
    if len(seq) != 3:
        raise NotDifferentiable(
            "Rotation.as_euler has a derivative for three axes", hint="use three letters, as in 'xyz'"
        )
    i, j, k, sign, symmetric, start = euler_order(seq)
    x, y, z, w = quaternions[:, i], quaternions[:, j], quaternions[:, k] * sign, quaternions[:, 3]
    if symmetric:
        a, b, c, d = w, x, y, z
    else:
        a, b, c, d = w - y, x + z, y + w, z - x
    if np.any((np.hypot(a, b) < 1e-7) | (np.hypot(c, d) < 1e-7)):
        raise NotDifferentiable(
            "Euler angles have no derivative where two of the axes are one", hint="use `as_matrix` or `as_rotvec`"
        )
    middle = 2.0 * np.arctan2(np.hypot(c, d), np.hypot(a, b))
    half, rest = np.arctan2(b, a), np.arctan2(d, c)
    early, late = half - rest, half + rest
    if not symmetric:
        late, middle = late * sign, middle - 0.5 * np.pi
    found = np.stack([late, middle, early] if start else [early, middle, late], axis=-1)
    return found - 2.0 * np.pi * np.round(found / (2.0 * np.pi))


@constructor_of(Slerp)
def slerp(times: Any, rotations: Any) -> Any:
    """Rotations between those at times, by even turns."""
    moments = np.asarray(times) * 1.0
    before = _rotation(rotations._quat[:-1], False)
    turns = _as_vectors(_of_length_one(quaternion_product(before.inv()._quat, rotations._quat[1:])))
    return made_of(Slerp, times=moments, timedelta=np.diff(moments), rotations=before, rotvecs=turns)


@methods_of(Slerp)
class EvenTurns:
    """Rotations at `times` but for the last, and the vectors about which one becomes the next."""

    times: Any
    timedelta: Any
    rotations: Any
    rotvecs: Any

    def __call__(self, times: Any) -> Any:
        """The rotations at `times`."""
        given = np.asarray(times)
        moments = np.atleast_1d(given) * 1.0
        if np.any((moments < self.times[0]) | (moments > self.times[-1])):
            raise ValueError("Interpolation times must be within the range")
        pieces = np.clip(np.searchsorted(self.times, moments) - 1, 0, len(self.timedelta) - 1)
        share = (moments - self.times[pieces]) / self.timedelta[pieces]
        turns = _of_vectors(self.rotvecs[pieces] * share[:, None])
        found = _of_length_one(quaternion_product(self.rotations._quat[pieces], turns))
        return _rotation(found, np.ndim(given) == 0)
