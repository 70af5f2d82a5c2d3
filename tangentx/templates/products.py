"""Products of vectors, matrices and stacks of them."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tangentx.arrays import (
    careful_matmul,
    cross3,
    cross_of_space,
    dot_left,
    dot_right,
    guarded,
    inner_left,
    inner_right,
    matmul_left,
    matmul_right,
    outer_left,
    outer_right,
    tensordot_left,
    tensordot_right,
)
from tangentx.templates.registry import bilinear, methods

_RANKS = (
    "A(3), A(3)",
    "A(2,3), A(3)",
    "A(3), A(3,2)",
    "A(2,3), A(3,4)",
    "A(2,4,3), A(3)",
    "A(3), A(2,3,4)",
    "A(2,3), A(4,3,2)",
    "A(2,4,3), A(3,2)",
    "A(0), A(0)",
    "C(2,3), C(3,2)",
)


@bilinear(np.dot, *methods("dot"), domain=(*_RANKS, "A(2,4,3), A(2,3,5)", "A(), A(3)", "A(2,3), y", "A(), A()"))
def dot(a: Any, b: Any, out: Any = None, *, ans_bar: Any, a_shape: Any, b_shape: Any) -> Any:
    """Product over the last axis of `a` and the last but one of `b`."""
    a_bar = dot_left(ans_bar, b, a_shape)
    b_bar = dot_right(ans_bar, a, b_shape)
    return a_bar, b_bar


@bilinear(dot_left, domain=("A(2), A(3), (2,3)", "A(2,4), A(3,4), (2,3)", "A(2,2), A(2,3,2), (3,)"))
def dot_left_(t: Any, y: Any, shape: Any, *, ans_bar: Any, y_shape: Any) -> Any:
    """Adjoint of `dot` in its first factor."""
    t_bar = np.dot(ans_bar, y)
    y_bar = dot_right(t, ans_bar, y_shape)
    return t_bar, y_bar


@bilinear(dot_right, domain=("A(2), A(2,3), (3,)", "A(2,4), A(2,3), (3,4)", "A(5,2,4), A(5,3), (2,3,4)"))
def dot_right_(t: Any, x: Any, shape: Any, *, ans_bar: Any, x_shape: Any) -> Any:
    """Adjoint of `dot` in its second factor."""
    t_bar = np.dot(x, ans_bar)
    x_bar = dot_left(t, ans_bar, x_shape)
    return t_bar, x_bar


@bilinear(
    np.matmul,
    operator.matmul,
    domain=(*_RANKS, "A(2,4,3), A(2,3,5)", "A(2,1,4,3), A(5,3,2)", "A(1,4,3), A(2,3,5)", "A(2,0), A(0,3)"),
)
def matmul(x1: Any, x2: Any, *, ans_bar: Any, x1_shape: Any, x2_shape: Any) -> Any:
    """Matrix product; stacks broadcast."""
    x1_bar = matmul_left(ans_bar, x2, x1_shape)
    x2_bar = matmul_right(ans_bar, x1, x2_shape)
    return x1_bar, x2_bar


@bilinear(careful_matmul, domain=("A(3), A(3)", "A(2,3), A(3)", "A(3), A(3,2)", "A(2,3), A(3,4)"))
def careful_matmul_(x: Any, y: Any, *, ans_bar: Any, x_shape: Any, y_shape: Any) -> Any:
    """As `matmul`."""
    x_bar = matmul_left(ans_bar, y, x_shape)
    y_bar = matmul_right(ans_bar, x, y_shape)
    return x_bar, y_bar


@bilinear(matmul_left, domain=("A(2), A(3), (2,3)", "A(2,4), A(3,4), (2,3)", "A(5,2,4), A(5,3,4), (2,3)"))
def matmul_left_(t: Any, y: Any, shape: Any, *, ans_bar: Any, y_shape: Any) -> Any:
    """Adjoint of `matmul` in its first factor."""
    t_bar = np.matmul(ans_bar, y)
    y_bar = matmul_right(t, ans_bar, y_shape)
    return t_bar, y_bar


@bilinear(matmul_right, domain=("A(2), A(2,3), (3,)", "A(2,4), A(2,3), (3,4)", "A(5,2,4), A(5,2,3), (3,4)"))
def matmul_right_(t: Any, x: Any, shape: Any, *, ans_bar: Any, x_shape: Any) -> Any:
    """Adjoint of `matmul` in its second factor."""
    t_bar = np.matmul(x, ans_bar)
    x_bar = matmul_left(t, ans_bar, x_shape)
    return t_bar, x_bar


@bilinear(np.inner, domain=("A(3), A(3)", "A(2,3), A(3)", "A(2,3), A(4,3)", "A(2,5,3), A(4,3)", "x, A(3)", "A(3), A()"))
def inner(a: Any, b: Any, *, ans_bar: Any, a_shape: Any, b_shape: Any) -> Any:
    """Product over the last axes."""
    a_bar = inner_left(ans_bar, b, a_shape)
    b_bar = inner_right(ans_bar, a, b_shape)
    return a_bar, b_bar


@bilinear(inner_left, domain=("A(2), A(3), (2,3)", "A(2,4), A(4,3), (2,3)", "x, A(3), (3,)"))
def inner_left_(t: Any, y: Any, shape: Any, *, ans_bar: Any, y_shape: Any) -> Any:
    """Adjoint of `inner` in its first factor."""
    t_bar = np.inner(ans_bar, y)
    y_bar = inner_right(t, ans_bar, y_shape)
    return t_bar, y_bar


@bilinear(inner_right, domain=("A(2), A(2,3), (3,)", "A(2,4), A(2,3), (4,3)", "x, A(3), (3,)"))
def inner_right_(t: Any, x: Any, shape: Any, *, ans_bar: Any, x_shape: Any) -> Any:
    """Adjoint of `inner` in its second factor."""
    t_bar = np.inner(x, ans_bar)
    x_bar = inner_left(t, ans_bar, x_shape)
    return t_bar, x_bar


@bilinear(np.outer, domain=("A(2), A(3)", "A(2,2), A(3)", "x, A(3)", "A(2), A(3,1)"))
def outer(a: Any, b: Any, out: Any = None, *, ans_bar: Any, a_shape: Any, b_shape: Any) -> Any:
    """All products of an element of `a` and one of `b`."""
    a_bar = outer_left(ans_bar, b, a_shape)
    b_bar = outer_right(ans_bar, a, b_shape)
    return a_bar, b_bar


@bilinear(outer_left, domain=("A(2,3), A(3), (2,)", "A(4,3), A(3), (2,2)"))
def outer_left_(t: Any, y: Any, shape: Any, *, ans_bar: Any, y_shape: Any) -> Any:
    """Adjoint of `outer` in its first factor."""
    t_bar = np.outer(ans_bar, y)
    y_bar = outer_right(t, ans_bar, y_shape)
    return t_bar, y_bar


@bilinear(outer_right, domain=("A(2,3), A(2), (3,)", "A(2,4), A(2), (2,2)"))
def outer_right_(t: Any, x: Any, shape: Any, *, ans_bar: Any, x_shape: Any) -> Any:
    """Adjoint of `outer` in its second factor."""
    t_bar = np.outer(x, ans_bar)
    x_bar = outer_left(t, ans_bar, x_shape)
    return t_bar, x_bar


@bilinear(np.vdot, domain=("A(3), A(3)", "A(2,3), A(2,3)", "A(2,3), A(3,2)", "C(3), C(3)", "x, y"))
def vdot(a: Any, b: Any, *, ans_bar: Any, a_shape: Any, b_shape: Any) -> Any:
    """Sum of all products, the first factor conjugated."""
    a_bar = np.reshape(np.conj(guarded(b, ans_bar)), a_shape)
    b_bar = np.reshape(guarded(np.conj(a), ans_bar), b_shape)
    return a_bar, b_bar


@bilinear(
    np.tensordot,
    domain=(
        "A(2,3,4), A(3,4,2)",
        "A(2,3), A(3,4), 1",
        "A(2), A(3), 0",
        "A(2,3,4), A(4,3,5), axes=([1, 2], [1, 0])",
        "A(2,3,4), A(5,3), (1, 1)",
        "A(3,2,4), A(2,3,4), ([1, 0, 2], [0, 1, 2])",
    ),
)
def tensordot(a: Any, b: Any, axes: Any = 2, *, ans_bar: Any, a_shape: Any, b_shape: Any) -> Any:
    """Product over pairs of axes."""
    a_bar = tensordot_left(ans_bar, b, a_shape, axes)
    b_bar = tensordot_right(ans_bar, a, b_shape, axes)
    return a_bar, b_bar


@bilinear(tensordot_left, domain=("A(2,4), A(3,4), (2,3), 1", "A(2,5), A(4,3,5), (2,3,4), ([1, 2], [1, 0])"))
def tensordot_left_(t: Any, y: Any, shape: Any, axes: Any = 2, *, ans_bar: Any, y_shape: Any) -> Any:
    """Adjoint of `tensordot` in its first factor."""
    t_bar = np.tensordot(ans_bar, y, axes)
    y_bar = tensordot_right(t, ans_bar, y_shape, axes)
    return t_bar, y_bar


@bilinear(tensordot_right, domain=("A(2,4), A(2,3), (3,4), 1", "A(2,5), A(2,3,4), (4,3,5), ([1, 2], [1, 0])"))
def tensordot_right_(t: Any, x: Any, shape: Any, axes: Any = 2, *, ans_bar: Any, x_shape: Any) -> Any:
    """Adjoint of `tensordot` in its second factor."""
    t_bar = np.tensordot(x, ans_bar, axes)
    x_bar = tensordot_left(t, ans_bar, x_shape, axes)
    return t_bar, x_bar


@bilinear(np.cross, cross3, cross_of_space, domain=("A(3), A(3)", "A(2,3), A(3)", "A(2,1,3), A(4,3)"), broadcasts=True)
def cross(a: Any, b: Any, *, ans_bar: Any) -> Any:
    """Vector product in three dimensions."""
    a_bar = cross3(b, ans_bar)
    b_bar = cross3(ans_bar, a)
    return a_bar, b_bar
