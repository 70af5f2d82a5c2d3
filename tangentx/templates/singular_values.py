"""Singular values and vectors, and the pseudo-inverse.

Formulas: J. Townsend, "Differentiating the singular value decomposition" (2016), for complex matrices Z. Wan and
S. Zhang, "Automatic differentiation for complex valued SVD" (2019); G. Golub and V. Pereyra, "The differentiation of
pseudo-inverses" (1973). With P = Uᴴ dA V, the left vectors turn by ``E * (P + Pᴴ) / 2 + H * (P - Pᴴ) / 2`` and the
right ones by the same with a minus, where E are the inverse differences of the values and H their inverse sums. A pair
of vectors may be turned together (its sign, its phase): the rules have the derivative of what does not depend on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import (
    beside,
    counting,
    cropped,
    demand_apart,
    demand_exact,
    demand_rank,
    leaving,
    left_basis_of,
    left_vectors_of,
    pseudo_inverse_of,
    ratio_or_zero,
    right_vectors_of,
    shape_of_values,
    short_of,
    singular_parts,
    singular_values_of,
    turning,
)
from tangentx.templates.registry import adjoint, constant, linear

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
