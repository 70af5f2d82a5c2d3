"""Norms, inverses, determinants, linear systems and sums of products by subscripts."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import (
    columns_outer,
    demand_real,
    det_phase,
    einsum_left,
    einsum_of,
    einsum_right,
    guarded,
    log_det,
    mirrored,
    one_system_each,
    ratio_or_zero,
    unmirrored,
    unreduce,
)
from tangentx.templates.registry import adjoint, bilinear, linear


@adjoint(
    np.linalg.norm, domain=("A(3)", "A(2,3)", "A(2,3), None, 1", "A(2,3), axis=0, keepdims=True", "C(3)"), singular=True
)
def norm(
    x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False, *, ans: Any, ans_bar: Any, x_shape: Any
) -> Any:
    """Euclidean length; 0 at 0."""
    direction = np.conj(x) * unreduce(ratio_or_zero(1.0, ans), x_shape, axis, keepdims)
    x_bar = guarded(direction, unreduce(ans_bar, x_shape, axis, keepdims))
    return x_bar


@norm.tangent
def norm_tangent(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False, *, ans: Any, x_dot: Any) -> Any:
    """The part of the tangent along `x`."""
    ans_dot = ratio_or_zero(np.sum(np.real(np.conj(x) * x_dot), axis=axis, keepdims=keepdims), ans)
    return ans_dot


@adjoint(np.linalg.inv, domain=("A(2,2) + 4.0 * np.eye(2)", "A(3,2,2) + 4.0 * np.eye(2)"))
def inv(a: Any, *, ans: Any, ans_bar: Any) -> Any:
    """Inverse of a matrix, or of each of a stack."""
    turned = np.swapaxes(ans, -1, -2)
    a_bar = -np.matmul(np.matmul(turned, ans_bar), turned)
    return a_bar


@inv.tangent
def inv_tangent(a: Any, *, ans: Any, a_dot: Any) -> Any:
    """Tangent of the inverse."""
    ans_dot = -np.matmul(np.matmul(ans, a_dot), ans)
    return ans_dot


@adjoint(np.linalg.det, domain=("A(2,2)", "A(3,2,2) + 4.0 * np.eye(2)", "A(1,1)"))
def det(a: Any, *, ans: Any, ans_bar: Any) -> Any:
    """Determinant; where it is 0 the inverse raises LinAlgError."""
    a_bar = guarded(np.swapaxes(np.linalg.inv(a), -1, -2), np.expand_dims(guarded(ans, ans_bar), (-2, -1)))
    return a_bar


@det.tangent
def det_tangent(a: Any, *, ans: Any, a_dot: Any) -> Any:
    """Determinant times the trace of the relative change."""
    ans_dot = ans * np.trace(np.matmul(np.linalg.inv(a), a_dot), axis1=-2, axis2=-1)
    return ans_dot


@adjoint(log_det, domain=("A(2,2)", "C(2,2)", "A(3,2,2) + 4.0 * np.eye(2)", "A(1,1)"))
def log_det_(a: Any, *, ans_bar: Any) -> Any:
    """Logarithm of the size of the determinant."""
    a_bar = guarded(np.swapaxes(np.linalg.inv(a), -1, -2), np.expand_dims(ans_bar, (-2, -1)))
    return a_bar


@log_det_.tangent
def log_det_tangent(a: Any, *, a_dot: Any) -> Any:
    """Trace of the relative change."""
    ans_dot = np.real(np.trace(np.matmul(np.linalg.inv(a), a_dot), axis1=-2, axis2=-1))
    return ans_dot


@adjoint(det_phase, domain=("C(2,2)", "C(3,2,2)", "C(1,1)"))
def det_phase_(a: Any, *, ans: Any, ans_bar: Any) -> Any:
    """Direction of the determinant, which turns by the imaginary part of the trace of the relative change."""
    turn = 1j * np.imag(guarded(ans, ans_bar))
    a_bar = guarded(np.swapaxes(np.linalg.inv(a), -1, -2), np.expand_dims(turn, (-2, -1)))
    return a_bar


@det_phase_.tangent
def det_phase_tangent(a: Any, *, ans: Any, a_dot: Any) -> Any:
    """The direction across, times how fast it turns."""
    ans_dot = 1j * ans * np.imag(np.trace(np.matmul(np.linalg.inv(a), a_dot), axis1=-2, axis2=-1))
    return ans_dot


@adjoint(np.linalg.cholesky, domain=("A(2,2) + 4.0 * np.eye(2)", "A(3,2,2) + 4.0 * np.eye(2)", "P(1,1)"))
def cholesky(a: Any, *, ans: Any, ans_bar: Any) -> Any:
    """Lower triangular factor of a Hermitian matrix; as NumPy reads the lower triangle alone, that gets it all."""
    upper = np.swapaxes(ans, -1, -2)
    inner = np.matmul(upper, ans_bar)
    halved = 0.5 * (np.tril(inner) + np.tril(inner, -1))
    across = np.swapaxes(np.linalg.solve(upper, halved), -1, -2)
    a_bar = unmirrored(np.swapaxes(np.linalg.solve(np.conj(upper), across), -1, -2))
    return a_bar


@cholesky.tangent
def cholesky_tangent(a: Any, *, ans: Any, a_dot: Any) -> Any:
    """The factor times the lower half of the change that it sees."""
    half = np.conj(np.swapaxes(np.linalg.solve(ans, mirrored(a_dot)), -1, -2))
    seen = np.linalg.solve(ans, half)
    ans_dot = np.matmul(ans, 0.5 * (np.tril(seen) + np.tril(seen, -1)))
    return ans_dot


@linear(demand_real, domain=("A(2,2), A(2,2), A(2,2)",))
def demand_real_(t: Any, found: Any, a: Any, *, ans_bar: Any) -> Any:
    """A check that changes nothing."""
    t_bar = ans_bar
    return t_bar


@adjoint(
    np.linalg.solve,
    domain=(
        "A(2,2) + 4.0 * np.eye(2), A(2)",
        "A(2,2) + 4.0 * np.eye(2), A(2,3)",
        "A(3,2,2) + 4.0 * np.eye(2), A(3,2,1)",
    ),
)
def solve(a: Any, b: Any, *, ans: Any, ans_bar: Any, a_shape: Any, b_shape: Any) -> Any:
    """Solution of a linear system; its adjoint solves the transposed one."""
    b_bar = np.linalg.solve(np.swapaxes(a, -1, -2), one_system_each(ans_bar, a_shape, b_shape))
    a_bar = -columns_outer(b_bar, ans)
    return a_bar, b_bar


@solve.tangent
def solve_tangent(a: Any, b: Any, *, ans: Any, a_dot: Any, b_dot: Any, a_shape: Any, b_shape: Any) -> Any:
    """The same system for the tangents."""
    ans_dot = np.linalg.solve(a, b_dot - np.matmul(a_dot, one_system_each(ans, a_shape, b_shape)))
    return ans_dot


@linear(one_system_each, domain=("A(2), (2, 2), (2,)",))
def one_system_each_(t: Any, a_shape: Any, b_shape: Any, *, ans_bar: Any) -> Any:
    """A check that changes nothing."""
    t_bar = ans_bar
    return t_bar


@bilinear(columns_outer, domain=("A(2), A(2)", "A(2,3), A(2,3)", "A(4,2,3), A(4,2,3)"))
def columns_outer_(u: Any, v: Any, *, ans_bar: Any) -> Any:
    """Products of columns."""
    u_bar = np.matmul(ans_bar, v)
    v_bar = np.matmul(np.swapaxes(ans_bar, -1, -2), u)
    return u_bar, v_bar


@bilinear(
    np.einsum,
    domain=(
        "'ij,jk->ik', A(2,3), A(3,4)",
        "'ij, kj', A(2,3), A(4,3)",
        "'ii', A(3,3)",
        "'ii->i', A(3,3)",
        "'ij->j', A(2,3)",
        "'ij,k->k', A(2,3), A(4)",
        "'bij,bjk->bik', A(2,3,4), A(2,4,2)",
        "'ii,ij->j', A(3,3), A(3,2)",
        "'i,i->', A(3), A(3)",
        "'ij,ij->ij', A(1,3), A(2,3)",
        "'i,j->ij', C(2), C(3)",
        "'ij->ji', A(2,3)",
    ),
)
def einsum(subscripts: Any, a: Any, b: Any = None, *, ans_bar: Any, a_shape: Any, b_shape: Any) -> Any:
    """Sum of products of one operand or two."""
    a_bar = einsum_left(ans_bar, b, a_shape, subscripts)
    b_bar = einsum_right(ans_bar, a, b_shape, subscripts)
    return a_bar, b_bar


@bilinear(einsum_of, domain=("'ij,jk->ik', A(2,3), A(3,4)", "'ii->i', A(3,3), None"))
def einsum_of_(subscripts: Any, a: Any, b: Any, *, ans_bar: Any, a_shape: Any, b_shape: Any) -> Any:
    """The sum of products, with None for the operand that there is not."""
    a_bar = einsum_left(ans_bar, b, a_shape, subscripts)
    b_bar = einsum_right(ans_bar, a, b_shape, subscripts)
    return a_bar, b_bar


@bilinear(
    einsum_left,
    domain=("A(2,4), A(3,4), (2,3), 'ij,jk->ik'", "A(4), A(4), (2,3), 'ij,k->k'", "A(3), None, (3,3), 'ii->i'"),
)
def einsum_left_(t: Any, y: Any, shape: Any, subscripts: Any, *, ans_bar: Any, y_shape: Any) -> Any:
    """Adjoint of `einsum` in its first operand."""
    t_bar = einsum_of(subscripts, ans_bar, y)
    y_bar = einsum_right(t, ans_bar, y_shape, subscripts)
    return t_bar, y_bar


@bilinear(einsum_right, domain=("A(2,4), A(2,3), (3,4), 'ij,jk->ik'", "A(4), A(2,3), (4,), 'ij,k->k'"))
def einsum_right_(t: Any, x: Any, shape: Any, subscripts: Any, *, ans_bar: Any, x_shape: Any) -> Any:
    """Adjoint of `einsum` in its second operand."""
    t_bar = np.einsum(subscripts, x, ans_bar)
    x_bar = einsum_left(t, ans_bar, x_shape, subscripts)
    return t_bar, x_bar
