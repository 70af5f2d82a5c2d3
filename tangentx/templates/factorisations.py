"""Factorisations of matrices: QR, eigenvalues and eigenvectors, singular values and vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import (
    beside,
    counting,
    cropped,
    demand_apart,
    demand_basis,
    demand_exact,
    demand_full_rank,
    demand_rank,
    directions_of,
    eigen_parts,
    eigenvalues_of,
    eigenvectors_of,
    hermitian_parts,
    leaving,
    left_basis_of,
    left_vectors_of,
    mirrored,
    orthonormal_of,
    pseudo_inverse_of,
    ratio_or_zero,
    right_vectors_of,
    roots_of,
    shape_of_values,
    short_of,
    singular_parts,
    singular_values_of,
    triangular_of,
    triangular_parts,
    turning,
    unmirrored,
)
from tangentx.templates.registry import adjoint, constant, linear

# The QR factorisation.
#
# Formulas: S. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra functions" (2010); for complex
# matrices L. Roberts and L. Roberts, "QR and LQ decomposition matrix backpropagation algorithms" (2020). With C = dA
# R⁻¹ and U the upper half of Qᴴ C + (Qᴴ C)ᴴ, with half its diagonal, the factors change by ``C - Q U`` and ``U R``.

constant(triangular_parts)


@linear(demand_full_rank, domain=("A(2,2), A(2,2)",))
def demand_full_rank_(t: Any, r: Any, *, ans_bar: Any) -> Any:
    """A check that changes nothing."""
    t_bar = ans_bar
    return t_bar


@adjoint(orthonormal_of, domain=(), drawn=False)
def orthonormal_of_(a: Any, q: Any, r: Any, *, ans: Any, ans_bar: Any) -> Any:
    """The factor with orthonormal columns."""
    inner = np.matmul(np.swapaxes(ans, -1, -2), ans_bar)
    moved = demand_full_rank(ans_bar - np.matmul(np.conj(ans), mirrored(inner, "U")), r)
    a_bar = np.swapaxes(np.linalg.solve(triangular_of(a, q, r), np.swapaxes(moved, -1, -2)), -1, -2)
    return a_bar


@orthonormal_of_.tangent
def orthonormal_of_dot(a: Any, q: Any, r: Any, *, ans: Any, a_dot: Any) -> Any:
    """The change, less what turns the columns into one another or makes them longer."""
    across = np.swapaxes(demand_full_rank(a_dot, r), -1, -2)
    change = np.swapaxes(np.linalg.solve(np.swapaxes(triangular_of(a, q, r), -1, -2), across), -1, -2)
    inner = np.matmul(np.conj(np.swapaxes(ans, -1, -2)), change)
    both = inner + np.conj(np.swapaxes(inner, -1, -2))
    ans_dot = change - 0.5 * np.matmul(ans, np.triu(both) + np.triu(both, 1))
    return ans_dot


@adjoint(triangular_of, domain=(), drawn=False)
def triangular_of_(a: Any, q: Any, r: Any, *, ans: Any, ans_bar: Any) -> Any:
    """The upper triangular factor."""
    inner = np.matmul(np.triu(ans_bar), np.swapaxes(ans, -1, -2))
    moved = np.matmul(np.conj(orthonormal_of(a, q, r)), mirrored(inner, "U"))
    a_bar = np.swapaxes(np.linalg.solve(ans, np.swapaxes(demand_full_rank(moved, r), -1, -2)), -1, -2)
    return a_bar


@triangular_of_.tangent
def triangular_of_dot(a: Any, q: Any, r: Any, *, ans: Any, a_dot: Any) -> Any:
    """The upper half of the change that the columns see."""
    seen = np.matmul(np.conj(np.swapaxes(orthonormal_of(a, q, r), -1, -2)), demand_full_rank(a_dot, r))
    inner = np.swapaxes(np.linalg.solve(np.swapaxes(ans, -1, -2), np.swapaxes(seen, -1, -2)), -1, -2)
    both = inner + np.conj(np.swapaxes(inner, -1, -2))
    ans_dot = 0.5 * np.matmul(np.triu(both) + np.triu(both, 1), ans)
    return ans_dot


# Singular values and vectors, and the pseudo-inverse.
#
# Formulas: J. Townsend, "Differentiating the singular value decomposition" (2016), for complex matrices Z. Wan and S.
# Zhang, "Automatic differentiation for complex valued SVD" (2019); G. Golub and V. Pereyra, "The differentiation of
# pseudo-inverses" (1973). With P = Uᴴ dA V, the left vectors turn by ``E * (P + Pᴴ) / 2 + H * (P - Pᴴ) / 2`` and the
# right ones by the same with a minus, where E are the inverse differences of the values and H their inverse sums. A
# pair of vectors may be turned together (its sign, its phase): the rules have the derivative of what does not depend
# on it.

constant(beside, counting, shape_of_values, short_of, singular_parts)


@linear(demand_rank, domain=("A(3,2), P(2), A(3,2)",))
def demand_rank_(t: Any, values: Any, vectors: Any, *, ans_bar: Any) -> Any:
    """A check that changes nothing."""
    t_bar = ans_bar
    return t_bar


@linear(leaving, domain=("A(3,2), P(2)",))
def leaving_(p: Any, values: Any, *, ans_bar: Any) -> Any:
    """A mark where there is no derivative."""
    p_bar = ans_bar
    return p_bar


@adjoint(demand_exact, domain=(), drawn=False)
def demand_exact_(t: Any, a: Any, inverse: Any, *, ans_bar: Any) -> Any:
    """A check that changes nothing."""
    t_bar = ans_bar
    return t_bar


@demand_exact_.tangent
def demand_exact_dot(t: Any, a: Any, inverse: Any, *, t_dot: Any) -> Any:
    """The tangent itself."""
    ans_dot = demand_exact(t_dot, a, inverse)
    return ans_dot


@adjoint(singular_values_of, domain=(), drawn=False)
def singular_values_of_(a: Any, left: Any, values: Any, right: Any, *, ans_bar: Any) -> Any:
    """Singular values, which are sizes: where one is 0, so is its derivative."""
    columns = np.conj(left_vectors_of(a, left, values, right))
    rows = np.conj(right_vectors_of(a, left, values, right))
    a_bar = np.matmul(columns * np.expand_dims(np.sign(values) * ans_bar, -2), rows)
    return a_bar


@singular_values_of_.tangent
def singular_values_of_dot(a: Any, left: Any, values: Any, right: Any, *, a_dot: Any) -> Any:
    """The change seen from both sides."""
    columns = np.conj(left_vectors_of(a, left, values, right))
    rows = np.conj(right_vectors_of(a, left, values, right))
    seen = np.sum(np.real(columns * np.matmul(a_dot, np.swapaxes(rows, -1, -2))), axis=-2)
    ans_dot = np.sign(values) * seen
    return ans_dot


@adjoint(left_vectors_of, domain=(), drawn=False)
def left_vectors_of_(a: Any, left: Any, values: Any, right: Any, *, ans: Any, ans_bar: Any) -> Any:
    """Left singular vectors, of which no two have one value."""
    found = singular_values_of(a, left, values, right)
    later = np.expand_dims(found, -2)
    earlier = np.expand_dims(found, -1)
    slopes = ratio_or_zero(0.5, later - earlier) + ratio_or_zero(0.5, later + earlier)
    bar = demand_rank(demand_apart(ans_bar, values), values, left)
    inner = np.matmul(np.swapaxes(ans, -1, -2), bar)
    within = np.matmul(np.conj(ans), slopes * (inner - np.conj(np.swapaxes(inner, -1, -2))))
    outside = beside(left) * ratio_or_zero(bar - np.matmul(np.conj(ans), inner), later)
    a_bar = np.matmul(within + outside, np.conj(right_vectors_of(a, left, values, right)))
    return a_bar


@left_vectors_of_.tangent
def left_vectors_of_dot(a: Any, left: Any, values: Any, right: Any, *, ans: Any, a_dot: Any) -> Any:
    """Each vector turns towards the others and out of their space; nan where values are equal, or 0."""
    found = singular_values_of(a, left, values, right)
    later = np.expand_dims(found, -2)
    earlier = np.expand_dims(found, -1)
    moved = np.matmul(a_dot, np.conj(np.swapaxes(right_vectors_of(a, left, values, right), -1, -2)))
    seen = np.matmul(np.conj(np.swapaxes(ans, -1, -2)), moved)
    turned = np.conj(np.swapaxes(seen, -1, -2))
    jointly = ratio_or_zero(0.5, later - earlier) * turning(seen + turned, values)
    within = np.matmul(ans, jointly + ratio_or_zero(0.5, later + earlier) * (seen - turned))
    ans_dot = within + beside(left) * ratio_or_zero(leaving(moved - np.matmul(ans, seen), values), later)
    return ans_dot


@adjoint(right_vectors_of, domain=(), drawn=False)
def right_vectors_of_(a: Any, left: Any, values: Any, right: Any, *, ans: Any, ans_bar: Any) -> Any:
    """Right singular vectors, as rows, of which no two have one value."""
    found = singular_values_of(a, left, values, right)
    later = np.expand_dims(found, -2)
    earlier = np.expand_dims(found, -1)
    slopes = ratio_or_zero(0.5, later - earlier) - ratio_or_zero(0.5, later + earlier)
    bar = np.swapaxes(ans_bar, -1, -2)
    columns = demand_rank(demand_apart(bar, values), values, np.swapaxes(right, -1, -2))
    inner = np.matmul(ans, columns)
    across = np.swapaxes(inner, -1, -2)
    within = np.matmul(slopes * (np.conj(inner) - across), np.conj(ans))
    outside = np.swapaxes(columns, -1, -2) - np.matmul(across, np.conj(ans))
    rows = within + beside(np.swapaxes(right, -1, -2)) * ratio_or_zero(outside, earlier)
    a_bar = np.matmul(np.conj(left_vectors_of(a, left, values, right)), rows)
    return a_bar


@right_vectors_of_.tangent
def right_vectors_of_dot(a: Any, left: Any, values: Any, right: Any, *, ans: Any, a_dot: Any) -> Any:
    """Each vector turns towards the others and out of their space; nan where values are equal, or 0."""
    found = singular_values_of(a, left, values, right)
    later = np.expand_dims(found, -2)
    earlier = np.expand_dims(found, -1)
    moved = np.matmul(np.conj(np.swapaxes(left_vectors_of(a, left, values, right), -1, -2)), a_dot)
    seen = np.matmul(moved, np.conj(np.swapaxes(ans, -1, -2)))
    turned = np.conj(np.swapaxes(seen, -1, -2))
    jointly = ratio_or_zero(0.5, later - earlier) * turning(seen + turned, values)
    within = np.matmul(ratio_or_zero(0.5, later + earlier) * (seen - turned) - jointly, ans)
    outside = np.swapaxes(leaving(np.swapaxes(moved - np.matmul(seen, ans), -1, -2), values), -1, -2)
    ans_dot = within + beside(np.swapaxes(right, -1, -2)) * ratio_or_zero(outside, earlier)
    return ans_dot


@adjoint(left_basis_of, domain=(), drawn=False)
def left_basis_of_(a: Any, basis: Any, left: Any, values: Any, right: Any, *, ans: Any, ans_bar: Any) -> Any:
    """Left singular vectors and what completes the basis, as vectors of the value 0, which span a space together."""
    found = cropped(singular_values_of(a, left, values, right), shape_of_values(basis))
    later = np.expand_dims(found, -2)
    earlier = np.expand_dims(found, -1)
    slopes = ratio_or_zero(0.5, later - earlier) + ratio_or_zero(0.5, later + earlier)
    inner = np.matmul(np.swapaxes(ans, -1, -2), demand_apart(ans_bar, values))
    turns = cropped(slopes * (inner - np.conj(np.swapaxes(inner, -1, -2))), np.shape(left))
    a_bar = np.matmul(np.matmul(np.conj(ans), turns), np.conj(right_vectors_of(a, left, values, right)))
    return a_bar


@left_basis_of_.tangent
def left_basis_of_dot(a: Any, basis: Any, left: Any, values: Any, right: Any, *, ans: Any, a_dot: Any) -> Any:
    """Each vector turns towards the others; nan where values are equal."""
    found = cropped(singular_values_of(a, left, values, right), shape_of_values(basis))
    later = np.expand_dims(found, -2)
    earlier = np.expand_dims(found, -1)
    moved = np.matmul(a_dot, np.conj(np.swapaxes(right_vectors_of(a, left, values, right), -1, -2)))
    seen = cropped(np.matmul(np.conj(np.swapaxes(ans, -1, -2)), moved), np.shape(basis))
    turned = np.conj(np.swapaxes(seen, -1, -2))
    jointly = ratio_or_zero(0.5, later - earlier) * turning(seen + turned, values)
    ans_dot = np.matmul(ans, jointly + ratio_or_zero(0.5, later + earlier) * (seen - turned))
    return ans_dot


@adjoint(pseudo_inverse_of, domain=(), drawn=False)
def pseudo_inverse_of_(a: Any, inverse: Any, *, ans: Any, ans_bar: Any) -> Any:
    """Pseudo-inverse; where the rank is not full, its derivative among matrices of the same rank."""
    turned = np.conj(ans)
    across = np.swapaxes(ans, -1, -2)
    bar = np.conj(np.swapaxes(ans_bar, -1, -2))
    tall = np.matmul(demand_exact(bar, a, inverse), np.matmul(turned, across))
    wide = np.matmul(np.matmul(across, turned), bar)
    below = short_of(a, inverse, -2) * (tall - np.matmul(np.conj(a), np.matmul(turned, tall)))
    aside = short_of(a, inverse, -1) * (wide - np.matmul(np.matmul(wide, turned), np.conj(a)))
    a_bar = below + aside - np.matmul(np.matmul(across, ans_bar), across)
    return a_bar


@pseudo_inverse_of_.tangent
def pseudo_inverse_of_dot(a: Any, inverse: Any, *, ans: Any, a_dot: Any) -> Any:
    """Tangent of the pseudo-inverse."""
    turned = np.conj(np.swapaxes(ans, -1, -2))
    dot = np.conj(np.swapaxes(a_dot, -1, -2))
    tall = np.matmul(np.matmul(ans, turned), demand_exact(dot, a, inverse))
    wide = np.matmul(dot, np.matmul(turned, ans))
    below = short_of(a, inverse, -2) * (tall - np.matmul(np.matmul(tall, a), ans))
    aside = short_of(a, inverse, -1) * (wide - np.matmul(ans, np.matmul(a, wide)))
    ans_dot = below + aside - np.matmul(np.matmul(ans, a_dot), ans)
    return ans_dot


# Eigenvalues and eigenvectors.
#
# Formulas: M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation"
# (2008); for complex matrices C. Boeddeker et al., "On the computation of complex-valued gradients" (2017). A vector
# may be turned (its sign, its phase) and stays an eigenvector: the rules have the derivative of what does not depend
# on it.

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
