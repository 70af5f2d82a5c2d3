"""Eigenvalues and eigenvectors.

Formulas: M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation"
(2008); for complex matrices C. Boeddeker et al., "On the computation of complex-valued gradients" (2017). A vector may
be turned (its sign, its phase) and stays an eigenvector: the rules have the derivative of what does not depend on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import (
    demand_apart,
    demand_basis,
    directions_of,
    eigen_parts,
    eigenvalues_of,
    eigenvectors_of,
    hermitian_parts,
    mirrored,
    ratio_or_zero,
    roots_of,
    turning,
    unmirrored,
)
from tangentx.templates.registry import adjoint, constant, linear

constant(eigen_parts, hermitian_parts)


@linear(mirrored, domain=("A(3,3)", "C(2,2), 'U'", "A(4,2,2)"))
def mirrored_(a: Any, UPLO: Any = "L", *, ans_bar: Any) -> Any:
    """A Hermitian matrix made of one triangle."""
    a_bar = unmirrored(ans_bar, UPLO)
    return a_bar


@linear(unmirrored, domain=("A(3,3)", "C(2,2), 'U'"))
def unmirrored_(t: Any, UPLO: Any = "L", *, ans_bar: Any) -> Any:
    """Both triangles of a matrix added to one."""
    t_bar = mirrored(ans_bar, UPLO)
    return t_bar


@linear(demand_apart, domain=("A(2,2), A(2)",))
def demand_apart_(t: Any, values: Any, *, ans_bar: Any) -> Any:
    """A check that changes nothing."""
    t_bar = ans_bar
    return t_bar


@linear(turning, domain=("A(2,2), A(2)",))
def turning_(p: Any, values: Any, *, ans_bar: Any) -> Any:
    """A mark where there is no derivative."""
    p_bar = ans_bar
    return p_bar


@linear(demand_basis, domain=("A(2,2), A(2,2)",))
def demand_basis_(t: Any, vectors: Any, *, ans_bar: Any) -> Any:
    """A check that changes nothing."""
    t_bar = ans_bar
    return t_bar


@adjoint(eigenvalues_of, domain=(), drawn=False)
def eigenvalues_of_(a: Any, values: Any, vectors: Any, *, ans_bar: Any) -> Any:
    """Eigenvalues of a Hermitian matrix; of equal ones each has its own direction, the vector that was found."""
    turned = np.conj(eigenvectors_of(a, values, vectors))
    a_bar = np.matmul(turned * np.expand_dims(ans_bar, -2), np.conj(np.swapaxes(turned, -1, -2)))
    return a_bar


@eigenvalues_of_.tangent
def eigenvalues_of_dot(a: Any, values: Any, vectors: Any, *, a_dot: Any) -> Any:
    """The change seen along each vector."""
    basis = eigenvectors_of(a, values, vectors)
    ans_dot = np.sum(np.real(np.conj(basis) * np.matmul(a_dot, basis)), axis=-2)
    return ans_dot


@adjoint(eigenvectors_of, domain=(), drawn=False)
def eigenvectors_of_(a: Any, values: Any, vectors: Any, *, ans: Any, ans_bar: Any) -> Any:
    """Eigenvectors of a Hermitian matrix, of which no two have one eigenvalue."""
    found = eigenvalues_of(a, values, vectors)
    slopes = ratio_or_zero(1.0, np.expand_dims(found, -2) - np.expand_dims(found, -1))
    turned = np.conj(ans)
    inner = np.matmul(np.swapaxes(ans, -1, -2), demand_apart(ans_bar, values))
    turns = 0.5 * slopes * (inner - np.conj(np.swapaxes(inner, -1, -2)))
    a_bar = np.matmul(np.matmul(turned, turns), np.swapaxes(ans, -1, -2))
    return a_bar


@eigenvectors_of_.tangent
def eigenvectors_of_dot(a: Any, values: Any, vectors: Any, *, ans: Any, a_dot: Any) -> Any:
    """Each vector turns towards the others, the more the nearer their eigenvalues; nan where these are equal."""
    found = eigenvalues_of(a, values, vectors)
    slopes = ratio_or_zero(1.0, np.expand_dims(found, -2) - np.expand_dims(found, -1))
    seen = turning(np.matmul(np.conj(np.swapaxes(ans, -1, -2)), np.matmul(a_dot, ans)), values)
    ans_dot = np.matmul(ans, slopes * seen)
    return ans_dot


@adjoint(roots_of, domain=(), drawn=False)
def roots_of_(a: Any, values: Any, vectors: Any, *, ans_bar: Any) -> Any:
    """Eigenvalues of a square matrix."""
    across = np.swapaxes(directions_of(a, values, vectors), -1, -2)
    a_bar = np.linalg.solve(across, demand_basis(np.expand_dims(ans_bar, -1) * across, vectors))
    return a_bar


@roots_of_.tangent
def roots_of_dot(a: Any, values: Any, vectors: Any, *, a_dot: Any) -> Any:
    """The change as the eigenvectors see it."""
    basis = directions_of(a, values, vectors)
    seen = np.linalg.solve(basis, demand_basis(np.matmul(a_dot, basis), vectors))
    ans_dot = np.diagonal(seen, axis1=-2, axis2=-1)
    return ans_dot


@adjoint(directions_of, domain=(), drawn=False)
def directions_of_(a: Any, values: Any, vectors: Any, *, ans: Any, ans_bar: Any) -> Any:
    """Eigenvectors of a square matrix, which keep their length."""
    found = roots_of(a, values, vectors)
    slopes = ratio_or_zero(1.0, np.expand_dims(found, -2) - np.expand_dims(found, -1))
    across = np.swapaxes(ans, -1, -2)
    bar = demand_basis(demand_apart(ans_bar, values), vectors)
    along = np.expand_dims(np.real(np.sum(ans * bar, axis=-2)), -2)
    turns = slopes * np.matmul(across, bar - np.conj(ans) * along)
    a_bar = np.linalg.solve(across, np.matmul(turns, across))
    return a_bar


@directions_of_.tangent
def directions_of_dot(a: Any, values: Any, vectors: Any, *, ans: Any, a_dot: Any) -> Any:
    """Each vector turns towards the others, and is made as long as it was; nan where eigenvalues are equal."""
    found = roots_of(a, values, vectors)
    slopes = ratio_or_zero(1.0, np.expand_dims(found, -2) - np.expand_dims(found, -1))
    seen = np.linalg.solve(ans, demand_basis(np.matmul(a_dot, ans), vectors))
    turned = np.matmul(ans, slopes * turning(seen, values))
    ans_dot = turned - ans * np.expand_dims(np.real(np.sum(np.conj(ans) * turned, axis=-2)), -2)
    return ans_dot
