"""Sets of numbers: sorted, without repeats; equal elements share the derivative of the one that stays."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import beside_unique, firsts
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.registry import constant

constant(beside_unique, firsts)

_COUNTS: Any = type(np.unique_counts(np.ones(1)))
_INVERSE: Any = type(np.unique_inverse(np.ones(1)))
_ALL: Any = type(np.unique_all(np.ones(1)))


@composition(
    np.unique,
    domain=(
        "A(4)",
        "A(3), True",
        "A(3), return_inverse=True, return_counts=True",
    ),
)
def unique(
    ar: Any,
    return_index: Any = False,
    return_inverse: Any = False,
    return_counts: Any = False,
    axis: Any = None,
    *,
    equal_nan: Any = True,
) -> Any:
    """The different elements in order, and where they are."""
    if axis is not None:
        raise NotDifferentiable("np.unique of rows has no derivative", hint="index the rows: `a[np.unique(k)]`")
    ordered = np.sort(np.ravel(ar))
    values = ordered[firsts(ordered, equal_nan)]
    if not (return_index or return_inverse or return_counts):
        return values
    return (values, *beside_unique(ar, return_index, return_inverse, return_counts, equal_nan))


@composition(np.unique_counts, domain=("A(3)",))
def unique_counts(x: Any) -> Any:
    """The different elements, and how many there are of each."""
    return _COUNTS(np.unique(x, equal_nan=False), beside_unique(x, False, False, True, False)[0])


@composition(np.unique_inverse, domain=("A(3)",))
def unique_inverse(x: Any) -> Any:
    """The different elements, and which of them stands at each place."""
    return _INVERSE(np.unique(x, equal_nan=False), beside_unique(x, False, True, False, False)[0])


@composition(np.unique_all, domain=("A(3)",))
def unique_all(x: Any) -> Any:
    """The different elements, and all about where they are."""
    rest = beside_unique(x, True, True, True, False)
    return _ALL(np.unique(x, equal_nan=False), rest[0], rest[1], rest[2])


@composition(np.union1d, domain=("A(3), A(2)",))
def union1d(ar1: Any, ar2: Any) -> Any:
    """The elements of either."""
    return np.unique(np.concatenate([np.ravel(ar1), np.ravel(ar2)]))


@composition(np.intersect1d, domain=("np.array([1.0, 2.0, 3.0]), np.array([2.5])",))
def intersect1d(ar1: Any, ar2: Any) -> Any:
    """The elements of both."""
    joined = np.sort(np.concatenate([np.unique(ar1), np.unique(ar2)]))
    return joined[:-1][joined[1:] == joined[:-1]]


@composition(np.setdiff1d, domain=("A(3), A(2)",))
def setdiff1d(ar1: Any, ar2: Any) -> Any:
    """The elements of the first that are not in the second."""
    found = np.unique(ar1)
    return found[np.isin(found, ar2, invert=True)]


@composition(np.setxor1d, domain=("A(3), A(2)",))
def setxor1d(ar1: Any, ar2: Any) -> Any:
    """The elements of one of the two alone."""
    one, other = np.unique(ar1), np.unique(ar2)
    kept = one[np.isin(one, other, invert=True)], other[np.isin(other, one, invert=True)]
    return np.sort(np.concatenate(kept))
