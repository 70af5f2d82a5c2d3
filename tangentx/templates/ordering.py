"""Elements put in order, and their differences."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import (
    decayed_rests,
    decayed_sums,
    lead,
    put_along,
    running_as,
    running_logaddexp,
    running_max,
    running_min,
    sorted_as,
    undiff,
    unrun,
    unsort,
)
from tangentx.templates.registry import adjoint, linear


@adjoint(np.sort, domain=("A(4)", "A(2,3)", "A(2,3), 0", "A(2,3), axis=None", "A(0)"))
def sort(a: Any, axis: Any = -1, *, ans_bar: Any) -> Any:
    """Elements in ascending order; equal ones share."""
    a_bar = unsort(ans_bar, a, axis)
    return a_bar


@sort.tangent
def sort_tangent(a: Any, axis: Any = -1, *, a_dot: Any) -> Any:
    """Tangents in the order of the elements, the mean of them where these are equal."""
    ans_dot = sorted_as(a_dot, a, axis)
    return ans_dot


@adjoint(np.partition, domain=("A(5), 2", "A(2,4), 1", "A(3,2), 0, 0", "A(4), (1, 2)", "A(2,3), 2, None"))
def partition(a: Any, kth: Any, axis: Any = -1, *, ans: Any, ans_bar: Any) -> Any:
    """Elements in an order of which only the places `kth` are told; it is found from what came out."""
    in_order = np.take_along_axis(ans_bar, np.argsort(ans, axis=axis), axis)
    a_bar = unsort(in_order, a, axis)
    return a_bar


@partition.tangent
def partition_tangent(a: Any, kth: Any, axis: Any = -1, *, ans: Any, a_dot: Any) -> Any:
    """Tangents in the order of what came out."""
    in_order = sorted_as(a_dot, a, axis)
    ans_dot = put_along(in_order, np.shape(ans), np.argsort(ans, axis=axis), axis)
    return ans_dot


@linear(sorted_as, domain=("A(4), A(4)", "A(2,3), A(2,3), 0", "A(2,3), A(2,3), None", "A(3), np.array([1., 0., 1.])"))
def sorted_as_(x: Any, a: Any, axis: Any = -1, *, ans_bar: Any) -> Any:
    """Elements in the order of others."""
    x_bar = unsort(ans_bar, a, axis)
    return x_bar


@linear(unsort, domain=("A(4), A(4)", "A(2,3), A(2,3), 0", "A(6), A(2,3), None", "A(3), np.array([1., 0., 1.])"))
def unsort_(t: Any, a: Any, axis: Any = -1, *, ans_bar: Any) -> Any:
    """Adjoint of sorting."""
    t_bar = sorted_as(ans_bar, a, axis)
    return t_bar


@linear(
    np.take_along_axis,
    domain=(
        "A(2,3), np.array([[0, 0], [2, 1]]), 1",
        "A(2,3), np.array([[1, 0, 1]]), 0",
        "A(2,3), np.array([5, 5]), None",
    ),
)
def take_along_axis(arr: Any, indices: Any, axis: Any = -1, *, ans_bar: Any, arr_shape: Any) -> Any:
    """Elements by their indices along an axis, other axes matched."""
    arr_bar = put_along(ans_bar, arr_shape, indices, axis)
    return arr_bar


@linear(put_along, domain=("A(2,2), (2,3), np.array([[0, 0], [2, 1]]), 1", "A(2), (2,3), np.array([5, 5]), None"))
def put_along_(t: Any, shape: Any, indices: Any, axis: Any = -1, *, ans_bar: Any) -> Any:
    """Adjoint of taking along an axis."""
    t_bar = np.take_along_axis(ans_bar, indices, axis)
    return t_bar


@adjoint(running_max, running_min, domain=("A(4)", "A(3,2)", "A(2,3), 1", "A(0)"))
def running_(a: Any, axis: Any = 0, *, ans: Any, ans_bar: Any) -> Any:
    """The largest, or smallest, elements so far; equal ones share."""
    a_bar = unrun(ans_bar, a, ans, axis)
    return a_bar


@running_.tangent
def running_tangent(a: Any, axis: Any = 0, *, ans: Any, a_dot: Any) -> Any:
    """Tangents of the elements that are the best so far, the mean of them where these are equal."""
    ans_dot = running_as(a_dot, a, ans, axis)
    return ans_dot


_RUN = "np.array([1., 3., 3., 2.]), np.array([1., 3., 3., 3.])"


@linear(running_as, domain=(f"A(4), {_RUN}", "A(1,3), np.array([[1., 0., 2.]]), np.array([[1., 1., 2.]]), 1"))
def running_as_(x: Any, a: Any, best: Any, axis: Any = 0, *, ans_bar: Any) -> Any:
    """Elements at the places of the best of others so far."""
    x_bar = unrun(ans_bar, a, best, axis)
    return x_bar


@linear(unrun, domain=(f"A(4), {_RUN}", "A(1,3), np.array([[1., 0., 2.]]), np.array([[1., 1., 2.]]), 1"))
def unrun_(t: Any, a: Any, best: Any, axis: Any = 0, *, ans_bar: Any) -> Any:
    """Adjoint of the best so far."""
    t_bar = running_as(ans_bar, a, best, axis)
    return t_bar


@adjoint(running_logaddexp, domain=("A(4)", "A(3,2)", "A(2,3), 1", "A(0)", "A(3), None"))
def running_logaddexp_(array: Any, axis: Any = 0, *, ans: Any, ans_bar: Any) -> Any:
    """Logarithms of running sums of exponentials."""
    array_bar = np.exp(lead(array, ans)) * decayed_rests(ans_bar, ans, axis)
    return array_bar


@running_logaddexp_.tangent
def running_logaddexp_tangent(array: Any, axis: Any = 0, *, ans: Any, array_dot: Any) -> Any:
    """The tangents, each weighed by its share."""
    ans_dot = decayed_sums(array_dot * np.exp(lead(array, ans)), ans, axis)
    return ans_dot


_RISING = "np.array([-1., 0.5, 2.])"


@adjoint(decayed_sums, domain=(f"A(3), {_RISING}", "A(1,3), np.array([[1., 1.5, 2.]]), 1"))
def decayed_sums_(t: Any, y: Any, axis: Any = 0, *, ans: Any, ans_bar: Any) -> Any:
    """Running sums that decay."""
    t_bar = decayed_rests(ans_bar, y, axis)
    y_bar = t * decayed_rests(ans_bar, y, axis) - ans_bar * ans
    return t_bar, y_bar


@decayed_sums_.tangent
def decayed_sums_tangent(t: Any, y: Any, axis: Any = 0, *, ans: Any, t_dot: Any, y_dot: Any) -> Any:
    """Sums of what changes, less what decays faster."""
    ans_dot = decayed_sums(t_dot + t * y_dot, y, axis) - ans * y_dot
    return ans_dot


@adjoint(decayed_rests, domain=(f"A(3), {_RISING}", "A(1,3), np.array([[1., 1.5, 2.]]), 1"))
def decayed_rests_(t: Any, y: Any, axis: Any = 0, *, ans: Any, ans_bar: Any) -> Any:
    """Running sums from the end that decay."""
    t_bar = decayed_sums(ans_bar, y, axis)
    y_bar = ans_bar * ans - t * decayed_sums(ans_bar, y, axis)
    return t_bar, y_bar


@decayed_rests_.tangent
def decayed_rests_tangent(t: Any, y: Any, axis: Any = 0, *, ans: Any, t_dot: Any, y_dot: Any) -> Any:
    """Sums of what changes, and what decays less."""
    ans_dot = decayed_rests(t_dot - t * y_dot, y, axis) + ans * y_dot
    return ans_dot


@linear(np.diff, domain=("A(4)", "A(4), 2", "A(3,2), axis=0", "A(1)"))
def diff(a: Any, n: Any = 1, axis: Any = -1, *, ans_bar: Any) -> Any:
    """Differences of neighbours."""
    a_bar = undiff(ans_bar, n, axis)
    return a_bar


@linear(undiff, domain=("A(3)", "A(2), 2", "A(2,2), 1, 0", "A(0)"))
def undiff_(t: Any, n: Any = 1, axis: Any = -1, *, ans_bar: Any) -> Any:
    """Adjoint of differences."""
    t_bar = np.diff(ans_bar, n, axis)
    return t_bar
