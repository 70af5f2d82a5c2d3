"""Functions that rearrange elements and change none."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from tangentx.arrays import add_windows, inverse_axes
from tangentx.templates.registry import linear, methods


@linear(np.reshape, domain=("A(2,3), (3,2)", "A(2,3), -1", "A(1), ()", "A(0), (0,2)", "x, (1,1)"))
def reshape(a: Any, shape: Any, *, ans_bar: Any, a_shape: Any) -> Any:
    """New shape."""
    a_bar = np.reshape(ans_bar, a_shape)
    return a_bar


@linear(*methods("reshape"), domain=("A(2,3), 3, 2", "A(2,3), (3,2)", "A(2,3), -1"))
def reshape_method(a: Any, *shape: Any, ans_bar: Any, a_shape: Any) -> Any:
    """New shape, given as one tuple or as several numbers."""
    a_bar = np.reshape(ans_bar, a_shape)
    return a_bar


@linear(np.atleast_1d, np.atleast_2d, np.atleast_3d, *methods("item"), domain=("A(1,1)", "A(1)", "A()", "x"))
def atleast(a: Any, *, ans_bar: Any, a_shape: Any) -> Any:
    """At least so many axes; also the one element of an array as a number."""
    a_bar = np.reshape(ans_bar, a_shape)
    return a_bar


@linear(np.ravel, *methods("ravel", "flatten"), domain=("A(2,3)", "A()", "A(0)", "A(3)"))
def ravel(a: Any, *, ans_bar: Any, a_shape: Any) -> Any:
    """All elements in a row, in the order of their indices."""
    a_bar = np.reshape(ans_bar, a_shape)
    return a_bar


@linear(np.squeeze, *methods("squeeze"), domain=("A(1,3,1)", "A(1,3,1), 0", "A(1,3,1), axis=(0,2)", "A()"))
def squeeze(a: Any, axis: Any = None, *, ans_bar: Any, a_shape: Any) -> Any:
    """Without axes of length one."""
    a_bar = np.reshape(ans_bar, a_shape)
    return a_bar


@linear(np.expand_dims, domain=("A(3), 0", "A(2,3), -1", "A(3), (0,2)", "A(), 0"))
def expand_dims(a: Any, axis: Any, *, ans_bar: Any, a_shape: Any) -> Any:
    """With new axes of length one."""
    a_bar = np.reshape(ans_bar, a_shape)
    return a_bar


@linear(np.transpose, domain=("A(2,3)", "A(2,3,4), (1,2,0)", "A(2,3,4), axes=(-1,0,1)", "A(3)", "A()"))
def transpose(a: Any, axes: Any = None, *, ans_bar: Any) -> Any:
    """Axes in another order, or in reverse."""
    a_bar = np.transpose(ans_bar, inverse_axes(axes))
    return a_bar


@linear(*methods("transpose"), domain=("A(2,3)", "A(2,3,4), 1, 2, 0", "A(2,3,4), (1,2,0)", "A(2,3), None"))
def transpose_method(a: Any, *axes: Any, ans_bar: Any) -> Any:
    """Axes in another order, given as one tuple or as several numbers, or in reverse."""
    a_bar = np.transpose(ans_bar, inverse_axes(axes))
    return a_bar


@linear(np.swapaxes, *methods("swapaxes"), domain=("A(2,3), 0, 1", "A(2,3,4), 0, -1"))
def swapaxes(a: Any, axis1: Any, axis2: Any, *, ans_bar: Any) -> Any:
    """Two axes exchanged."""
    a_bar = np.swapaxes(ans_bar, axis1, axis2)
    return a_bar


@linear(np.moveaxis, domain=("A(2,3,4), 0, -1", "A(2,3,4), (0,1), (2,0)"))
def moveaxis(a: Any, source: Any, destination: Any, *, ans_bar: Any) -> Any:
    """Axes moved to other places."""
    a_bar = np.moveaxis(ans_bar, destination, source)
    return a_bar


@linear(np.broadcast_to, domain=("A(3), (2,3)", "A(1,3), (2,3)", "A(), (2,)", "x, (2,2)"), broadcasts=True)
def broadcast_to(array: Any, shape: Any, *, ans_bar: Any) -> Any:
    """Repeated to a shape."""
    array_bar = ans_bar
    return array_bar


@linear(sliding_window_view, domain=("A(5), 3", "A(3,4), (2,2)", "A(3,4), 2, 1"))
def windows(x: Any, window_shape: Any, axis: Any = None, *, ans_bar: Any, x_shape: Any) -> Any:
    """All windows of a length along some axes, read-only."""
    x_bar = add_windows(ans_bar, x_shape, window_shape, axis)
    return x_bar


@linear(add_windows, domain=("A(3,3), (5,), 3", "A(2,3,2,2), (3,4), (2,2)"))
def add_windows_(t: Any, shape: Any, window_shape: Any, axis: Any = None, *, ans_bar: Any) -> Any:
    """Adjoint of looking through windows."""
    t_bar = np.array(sliding_window_view(ans_bar, window_shape, axis))
    return t_bar


@linear(np.flip, domain=("A(3)", "A(2,3)", "A(2,3), 0", "A(2,3), axis=(0,1)"))
def flip(m: Any, axis: Any = None, *, ans_bar: Any) -> Any:
    """Elements in reverse order."""
    m_bar = np.flip(ans_bar, axis)
    return m_bar


@linear(np.flipud, domain=("A(3)", "A(2,3)"))
def flipud(m: Any, *, ans_bar: Any) -> Any:
    """Rows in reverse order."""
    m_bar = np.flipud(ans_bar)
    return m_bar


@linear(np.fliplr, domain=("A(3,2)", "A(2,3)"))
def fliplr(m: Any, *, ans_bar: Any) -> Any:
    """Columns in reverse order."""
    m_bar = np.fliplr(ans_bar)
    return m_bar


@linear(np.roll, domain=("A(4), 1", "A(2,3), 2", "A(2,3), -1, axis=1", "A(2,3), (1,2), (0,1)"), stepwise=("shift",))
def roll(a: Any, shift: Any, axis: Any = None, *, ans_bar: Any) -> Any:
    """Elements moved along, those that fall off entering at the other end."""
    a_bar = np.roll(ans_bar, np.negative(shift), axis)
    return a_bar
