"""Hyper-dual arrays: exact first and second derivatives of a NumPy program, by running it.

A `Dual` holds four parts, the coefficients of 1, e1, e2 and e1*e2 where e1**2 = e2**2 = 0. Each part is a float, or an
array; the parts of an array have one shape and one memory layout, so that a view of the value is a view of every part,
a copy of it is a copy of every part, and a write writes them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

Parts: TypeAlias = tuple[Any, Any, Any, Any]
KINK = 1e-6


class Kink(Exception):
    """The program decides by a comparison too near to a tie for differences to be trusted."""


class Dual:
    """A number (`parts` are floats) or an array (`parts` are arrays of one layout)."""

    __slots__ = ("parts",)
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, parts: Parts) -> None:
        first = parts[0]
        if isinstance(first, np.ndarray) and first.size:
            for part in parts[1:]:
                steps = zip(first.shape, first.strides, part.strides, strict=True)
                same = part.shape == first.shape and all(n == 1 or one == other for n, one, other in steps)
                assert same, "the parts of a dual array must have one layout"
        self.parts = parts

    def __repr__(self) -> str:
        return f"Dual{self.parts}"

    # ---- structure ----
    @property
    def value(self) -> Any:
        return self.parts[0]

    @property
    def shape(self) -> tuple[int, ...]:
        return np.shape(self.parts[0])

    @shape.setter
    def shape(self, shape: Any) -> None:
        for part in self.parts:
            part.shape = shape

    @property
    def ndim(self) -> int:
        return np.ndim(self.parts[0])

    @property
    def size(self) -> int:
        return int(np.size(self.parts[0]))

    @property
    def T(self) -> Dual:
        return self._each(lambda p: p.T)

    @property
    def real(self) -> Dual:
        return self._each(lambda p: p.real)

    @real.setter
    def real(self, value: Any) -> None:
        self.real[...] = value

    @property
    def imag(self) -> Dual:
        return self._each(lambda p: p.imag)

    @imag.setter
    def imag(self, value: Any) -> None:
        self.imag[...] = value

    def conjugate(self) -> Dual:
        return self._each(np.conjugate)

    def _each(self, fn: Callable[[Any], Any]) -> Dual:
        """Apply a linear function of NumPy, or one that makes a view, to every part."""
        a, b, c, d = self.parts
        return Dual((fn(a), fn(b), fn(c), fn(d)))

    def __len__(self) -> int:
        return len(self.parts[0])

    def __iter__(self) -> Iterator[Dual]:
        for i in range(len(self)):
            yield self[i]

    def __getitem__(self, key: Any) -> Dual:
        return self._each(lambda p: p[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        for part, new in zip(self.parts, lift(value).parts, strict=True):
            part[key] = new

    @property
    def flat(self) -> Row:
        return Row(self)

    def fill(self, value: Any) -> None:
        self[...] = value

    def put(self, at: Any, values: Any) -> None:
        for part, new in zip(self.parts, lift(values).parts, strict=True):
            part.put(at, new)

    def sort(self, axis: int = -1) -> None:
        self._order(np.argsort(self.value, axis), axis)
        rows = self.swapaxes(0, axis)
        clear(rows[1:], rows[:-1])

    def partition(self, kth: int, axis: int = -1) -> None:
        """The order on both sides is as NumPy has it; told by the values, which must be apart."""
        places = np.argsort(np.argsort(np.partition(self.value, kth, axis), axis), axis)
        self._order(np.take_along_axis(np.argsort(self.value, axis), places, axis), axis)
        rows = self.copy()
        rows.sort(axis)

    def _order(self, order: Any, axis: int) -> None:
        self[...] = self._each(lambda p: np.take_along_axis(p, order, axis))

    def copy(self) -> Dual:
        return self._each(lambda p: p.copy())

    def reshape(self, *shape: Any) -> Dual:
        return self._each(lambda p: p.reshape(*shape))

    def ravel(self) -> Dual:
        return self._each(lambda p: p.ravel())

    def flatten(self) -> Dual:
        return self._each(lambda p: p.flatten())

    def view(self) -> Dual:
        return self._each(lambda p: p.view())

    def squeeze(self, axis: Any = None) -> Dual:
        return self._each(lambda p: p.squeeze(axis))

    def transpose(self, *axes: int) -> Dual:
        return self._each(lambda p: p.transpose(*axes))

    def swapaxes(self, first: int, second: int) -> Dual:
        return self._each(lambda p: p.swapaxes(first, second))

    def diagonal(self, offset: int = 0) -> Dual:
        return self._each(lambda p: p.diagonal(offset))

    def sum(self, axis: Any = None, keepdims: bool = False) -> Dual:
        return self._each(lambda p: np.sum(p, axis=axis, keepdims=keepdims))

    def mean(self, axis: Any = None, keepdims: bool = False) -> Dual:
        return self._each(lambda p: np.mean(p, axis=axis, keepdims=keepdims))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        """The values, for a place that holds whole numbers; they must be away from where those jump."""
        clear(self, np.round(self.value))
        return np.asarray(self.value)

    def __int__(self) -> int:
        return int(self.__array__())

    # ---- arithmetic ----
    def __add__(self, other: Any) -> Dual:
        return joint(np.add, self, other)

    def __sub__(self, other: Any) -> Dual:
        return joint(np.subtract, self, other)

    def __mul__(self, other: Any) -> Dual:
        return bilinear(np.multiply, self, other)

    def __matmul__(self, other: Any) -> Dual:
        return bilinear(np.matmul, self, other)

    def __truediv__(self, other: Any) -> Dual:
        inverse = elementwise(lambda v: 1.0 / v, lambda v: -1.0 / v**2, lambda v: 2.0 / v**3, lift(other))
        return bilinear(np.multiply, self, inverse)

    def __floordiv__(self, other: Any) -> Dual:
        """The whole part of the quotient, which must not be near to where it jumps."""
        quotient = self / other
        clear(quotient, np.round(quotient.value))
        return lift(np.floor_divide(self.value, value_of(other)))

    def __mod__(self, other: Any) -> Dual:
        return self - other * (self // other)

    def __pow__(self, other: Any) -> Dual:
        n, m = float(other), float(other) * (float(other) - 1.0)
        return elementwise(
            lambda v: v**n,
            lambda v: n * v ** (n - 1.0) if n else 0.0 * v,
            lambda v: m * v ** (n - 2.0) if m else 0.0 * v,
            self,
        )

    def __radd__(self, other: Any) -> Dual:
        return lift(other) + self

    def __rsub__(self, other: Any) -> Dual:
        return lift(other) - self

    def __rmul__(self, other: Any) -> Dual:
        return lift(other) * self

    def __rmatmul__(self, other: Any) -> Dual:
        return lift(other) @ self

    def __rtruediv__(self, other: Any) -> Dual:
        return lift(other) / self

    def __neg__(self) -> Dual:
        return self._each(np.negative)

    def __abs__(self) -> Dual:
        if np.iscomplexobj(self.value):
            root = self.real * self.real + self.imag * self.imag
            return elementwise(np.sqrt, lambda v: 0.5 / np.sqrt(v), lambda v: -0.25 / (v * np.sqrt(v)), root)
        sign = np.sign(self.value)  # at zero the slope is zero
        clear(self + np.where(sign == 0.0, 1.0, 0.0), 0.0)
        return bilinear(np.multiply, self, sign)

    # ---- in place: an array is written, a number is rebound ----
    def _renew(self, result: Dual) -> Dual:
        if not isinstance(self.value, np.ndarray):
            return result
        self[...] = result
        return self

    def __iadd__(self, other: Any) -> Dual:
        return self._renew(self + other)

    def __isub__(self, other: Any) -> Dual:
        return self._renew(self - other)

    def __imul__(self, other: Any) -> Dual:
        return self._renew(self * other)

    def __itruediv__(self, other: Any) -> Dual:
        return self._renew(self / other)

    def __ifloordiv__(self, other: Any) -> Dual:
        return self._renew(self // other)

    def __ipow__(self, other: Any) -> Dual:
        return self._renew(self**other)

    def __imatmul__(self, other: Any) -> Dual:
        return self._renew(self @ other)

    # ---- comparisons are made on values, and must be clear ----
    def __lt__(self, other: Any) -> Any:
        return clear(self, other)[0] < value_of(other)

    def __le__(self, other: Any) -> Any:
        return clear(self, other)[0] <= value_of(other)

    def __gt__(self, other: Any) -> Any:
        return clear(self, other)[0] > value_of(other)

    def __ge__(self, other: Any) -> Any:
        return clear(self, other)[0] >= value_of(other)

    def __eq__(self, other: Any) -> Any:
        return clear(self, other)[0] == value_of(other)

    def __bool__(self) -> bool:
        return bool(clear(self, 0.0)[0])


class Row:
    """The elements of an array by rows."""

    def __init__(self, of: Dual) -> None:
        self.of = of

    def __getitem__(self, key: Any) -> Dual:
        return self.of._each(lambda p: p.flat[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        for part, new in zip(self.of.parts, lift(value).parts, strict=True):
            part.flat[key] = new


def part_of(x: Any, k: int) -> Any:
    """Part `k` of a dual, or of each in nested lists."""
    if isinstance(x, (list, tuple)):
        return [part_of(item, k) for item in x]
    return lift(x).parts[k]


def gather(fn: Callable[..., Any], items: Any, **kwargs: Any) -> Dual:
    """A function of NumPy that puts the arrays or numbers of a list together."""
    return settle(tuple(fn([part_of(item, k) for item in items], **kwargs) for k in range(4)))


def value_of(x: Any) -> Any:
    """The value part of a dual; anything else as it is."""
    return x.parts[0] if isinstance(x, Dual) else x


def lift(x: Any) -> Dual:
    """A dual as it is; a list as an array of its items; a constant with derivatives zero."""
    if isinstance(x, Dual):
        return x
    if isinstance(x, (list, tuple)):
        return gather(np.array, x)
    if isinstance(x, np.ndarray):
        x = x.astype(float) if x.dtype.kind == "b" else x  # a mask among numbers has the layout of numbers
        zeros: Any = [np.zeros_like(x, dtype=np.result_type(x, float)) for _ in range(3)]
        return Dual((x, zeros[0], zeros[1], zeros[2]))
    return Dual((x, 0.0, 0.0, 0.0))


def clear(a: Any, b: Any) -> Parts:
    """The parts of `a`, after a look whether it is within `KINK` of `b` where their difference can move."""
    gap = (lift(a) - b).parts
    moves = (gap[1] != 0.0) | (gap[2] != 0.0) | (gap[3] != 0.0)
    if np.any((np.abs(gap[0]) < KINK) & moves):
        raise Kink
    return lift(a).parts


def joint(fn: Callable[[Any, Any], Any], a: Any, b: Any) -> Dual:
    """A function that is linear in (a, b) together."""
    p, q = lift(a).parts, lift(b).parts
    return settle((fn(p[0], q[0]), fn(p[1], q[1]), fn(p[2], q[2]), fn(p[3], q[3])))


def bilinear(fn: Callable[[Any, Any], Any], a: Any, b: Any) -> Dual:
    """A function that is linear in `a` and in `b`."""
    p, q = lift(a).parts, lift(b).parts
    cross = fn(p[3], q[0]) + fn(p[1], q[2]) + fn(p[2], q[1]) + fn(p[0], q[3])
    return settle((fn(p[0], q[0]), fn(p[1], q[0]) + fn(p[0], q[1]), fn(p[2], q[0]) + fn(p[0], q[2]), cross))


def elementwise(f: Callable[[Any], Any], df: Callable[[Any], Any], ddf: Callable[[Any], Any], x: Any) -> Dual:
    """``f(x)`` from f and its first two derivatives."""
    v, a, b, ab = lift(x).parts
    value = f(v)
    with np.errstate(all="ignore"):  # a slope may be infinite where a selection takes the element away
        slope = df(v)
        return settle((value, slope * a, slope * b, slope * ab + ddf(v) * a * b))


def settle(parts: Any) -> Dual:
    """A dual of freshly made parts, each given the layout of the value."""
    first: Any = parts[0]
    if not isinstance(first, np.ndarray):
        return Dual((first, parts[1], parts[2], parts[3]))
    laid: list[Any] = []
    for part in parts[1:]:
        laid.append(np.empty_like(first, dtype=np.result_type(first, float)))
        laid[-1][...] = part
    return Dual((first, laid[0], laid[1], laid[2]))
