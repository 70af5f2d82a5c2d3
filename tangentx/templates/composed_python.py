"""Functions of Python's own library, written in operations that have a template."""

from __future__ import annotations

import cmath
import heapq
import math
from typing import Any

import numpy as np

from tangentx.arrays import ordered
from tangentx.templates.compositions import composition
from tangentx.templates.registry import constant

constant(ordered)


class _Absent:
    """Stands for an argument that is not given."""


@composition(divmod, domain=("x, 0.4", "-x, 0.4", "A(3), 0.4", "A(2,3), P(3)"), containers=True)
def quotient_and_remainder(a: Any, b: Any) -> Any:
    """How often `b` fits into `a`, and what is left."""
    return a // b, a % b


@composition(math.log, domain=("x, y", "x, 2", "y, 10.0"), containers=True)
def log_to_base(x: Any, base: Any) -> Any:
    """Logarithm to any base, as Python computes it."""
    return math.log(x) / math.log(base)


@composition(math.hypot, domain=("x", "-x", "x, y, -x", "x, y, x, y"), containers=True)
def length(*coordinates: Any) -> Any:
    """Length of a vector of any number of coordinates."""
    total = 0.0
    for coordinate in coordinates:
        total = math.hypot(total, coordinate)
    return total


@composition(math.prod, domain=("[x, y], start=2.0", "(), start=x", "(x,), start=3"), containers=True)
def product_from(iterable: Any, *, start: Any) -> Any:
    """Product on top of `start`."""
    return start * math.prod(iterable)


@composition(sorted, domain=("[y, x]", "(y, x, 1.5), reverse=True", "[x, -y, 0.1], key=abs", "A(4)"), containers=True)
def in_order(iterable: Any, *, key: Any = None, reverse: Any = False) -> Any:
    """A list of the items in order."""
    items = list(iterable)
    keys = items if key is None else [key(item) for item in items]
    return [items[i] for i in ordered(keys, reverse)]


@composition(heapq.nlargest, domain=("2, [y, x, 0.1]", "1, [x, -y, 0.1], key=abs", "9, A(4)"), containers=True)
def largest_few(n: Any, iterable: Any, key: Any = None) -> Any:
    """The `n` largest items, as its documentation says it."""
    return sorted(iterable, key=key, reverse=True)[: max(n, 0)]


@composition(heapq.nsmallest, domain=("2, [y, x, 0.1]", "1, [x, -y, 0.1], key=abs", "9, A(4)"), containers=True)
def smallest_few(n: Any, iterable: Any, key: Any = None) -> Any:
    """The `n` smallest items."""
    return sorted(iterable, key=key)[: max(n, 0)]


def _told_of_nothing(fn: Any) -> str:
    """What Python says where there is nothing to choose from, which differs by its version."""
    try:
        fn(())
    except ValueError as error:
        return str(error)
    raise AssertionError


_NOTHING_FOR_MAX, _NOTHING_FOR_MIN = _told_of_nothing(max), _told_of_nothing(min)


@composition(
    max, domain=("[x, -y], key=abs", "x, -y, key=abs", "[x, y], default=0.1", "(), default=y"), containers=True
)
def largest(*args: Any, key: Any = None, default: Any = _Absent) -> Any:
    """The first of the items with the largest key."""
    items = args[0] if len(args) == 1 else args
    if default is not _Absent and len(items) == 0:
        return default
    if key is None:
        return max(items)
    if len(items) == 0:
        raise ValueError(_NOTHING_FOR_MAX)
    best = items[0]
    most = key(best)
    for i in range(1, len(items)):
        now = key(items[i])
        if now > most:
            best, most = items[i], now
    return best


@composition(
    min, domain=("[x, -y], key=abs", "x, -y, key=abs", "[x, y], default=0.1", "(), default=y"), containers=True
)
def smallest(*args: Any, key: Any = None, default: Any = _Absent) -> Any:
    """The first of the items with the smallest key."""
    items = args[0] if len(args) == 1 else args
    if default is not _Absent and len(items) == 0:
        return default
    if key is None:
        return min(items)
    if len(items) == 0:
        raise ValueError(_NOTHING_FOR_MIN)
    best = items[0]
    least = key(best)
    for i in range(1, len(items)):
        now = key(items[i])
        if now < least:
            best, least = items[i], now
    return best


@composition(complex.conjugate, domain=("1.0+2.0j",), containers=True)
def conjugate(z: Any) -> Any:
    """Complex conjugate of a Python number."""
    return complex(z.real, -z.imag)


@composition(cmath.rect, domain=("x, y",), containers=True)
def rectangular(r: Any, phi: Any) -> Any:
    """The complex number of a length and an angle."""
    return complex(r * math.cos(phi), r * math.sin(phi))


@composition(cmath.phase, domain=("1.0+2.0j",), containers=True)
def phase(z: Any) -> Any:
    """Angle of a complex number."""
    return math.atan2(z.imag, z.real)


@composition(cmath.polar, domain=("1.0+2.0j",), containers=True)
def polar(z: Any) -> Any:
    """Length and angle of a complex number."""
    return abs(z), math.atan2(z.imag, z.real)


@composition(
    np.linalg.multi_dot,
    domain=("[A(2,3), A(3,4), A(4,2)]", "[A(3), A(3,4), A(4)]", "[A(2,3), A(3,1)]"),
    containers=True,
)
def multi_dot(arrays: Any) -> Any:
    """A product of several matrices, from the left or from the right, as takes fewer products of numbers."""
    first, last = np.shape(arrays[0]), np.shape(arrays[-1])
    if len(first) == 2 and (len(last) == 1 or first[0] > last[1]):
        product = arrays[-1]
        for i in range(len(arrays) - 2, -1, -1):
            product = np.matmul(arrays[i], product)
        return product
    product = arrays[0]
    for i in range(1, len(arrays)):
        product = np.matmul(product, arrays[i])
    return product
