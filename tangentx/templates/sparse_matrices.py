"""Rules of sparse matrices as triplets."""

from __future__ import annotations

from typing import Any

from tangentx.arrays import (
    compressed,
    diagonal_length,
    height,
    on_diagonals,
    places_of,
    row_of_each,
    sparse_found,
    sparse_iterated,
    sparse_solved,
    triplet_outer,
    triplet_product,
)
from tangentx.templates.registry import adjoint, bilinear, constant

constant(row_of_each, compressed, sparse_iterated, height, places_of, on_diagonals, diagonal_length)

_PLACES = "np.array([0, 1, 2, 2]), np.array([1, 0, 2, 0])"


@bilinear(triplet_product, domain=(f"A(4), {_PLACES}, A(3), 3", f"A(4), {_PLACES}, A(3,2), 4"))
def triplet_product_(data: Any, rows: Any, cols: Any, x: Any, count: Any, *, ans_bar: Any) -> Any:
    """The elements of an outer product, and the transposed matrix times the cotangent."""
    data_bar = triplet_outer(ans_bar, x, rows, cols)
    x_bar = triplet_product(data, cols, rows, ans_bar, height(x))
    return data_bar, x_bar


@bilinear(triplet_outer, domain=(f"A(3), A(3), {_PLACES}", f"A(3,2), A(4,2), {_PLACES}"))
def triplet_outer_(y: Any, x: Any, rows: Any, cols: Any, *, ans_bar: Any) -> Any:
    """The matrix of cotangents times one factor, transposed times the other."""
    y_bar = triplet_product(ans_bar, rows, cols, x, height(y))
    x_bar = triplet_product(ans_bar, cols, rows, y, height(x))
    return y_bar, x_bar


@adjoint(sparse_solved, domain=(), drawn=False)
def sparse_solved_(data: Any, rows: Any, cols: Any, b: Any, *, ans: Any, ans_bar: Any) -> Any:
    """Solution of a system; its adjoint solves the transposed one."""
    b_bar = sparse_solved(data, cols, rows, ans_bar)
    data_bar = -triplet_outer(b_bar, ans, rows, cols)
    return data_bar, b_bar


@sparse_solved_.tangent
def sparse_solved_dot(data: Any, rows: Any, cols: Any, b: Any, *, ans: Any, data_dot: Any, b_dot: Any) -> Any:
    """The same system for the tangents."""
    ans_dot = sparse_solved(data, rows, cols, b_dot - triplet_product(data_dot, rows, cols, ans, height(ans)))
    return ans_dot


@adjoint(sparse_found, domain=(), drawn=False)
def sparse_found_(data: Any, rows: Any, cols: Any, b: Any, found: Any, *, ans: Any, ans_bar: Any) -> Any:
    """A solution that was found by iteration: by the system that it solves."""
    b_bar = sparse_solved(data, cols, rows, ans_bar)
    data_bar = -triplet_outer(b_bar, ans, rows, cols)
    return data_bar, b_bar


@sparse_found_.tangent
def sparse_found_dot(
    data: Any, rows: Any, cols: Any, b: Any, found: Any, *, ans: Any, data_dot: Any, b_dot: Any
) -> Any:
    """The system for the tangents."""
    ans_dot = sparse_solved(data, rows, cols, b_dot - triplet_product(data_dot, rows, cols, ans, height(ans)))
    return ans_dot
