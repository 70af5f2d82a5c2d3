"""Rules of products and matrices of quaternions, each by the same operations."""

from __future__ import annotations

from typing import Any

from tangentx.arrays import conjugated, form_as_matrix, matrix_as_form, quaternion_product
from tangentx.templates.registry import bilinear, linear


@linear(conjugated, domain=("A(4)", "A(2,4)"))
def conjugated_(q: Any, *, ans_bar: Any) -> Any:
    """Back again."""
    q_bar = conjugated(ans_bar)
    return q_bar


@bilinear(quaternion_product, domain=("A(4), A(4)", "A(2,4), A(2,4)"), broadcasts=True)
def quaternion_product_(p: Any, q: Any, *, ans_bar: Any) -> Any:
    """Products with the other rotation back."""
    p_bar = quaternion_product(ans_bar, conjugated(q))
    q_bar = quaternion_product(conjugated(p), ans_bar)
    return p_bar, q_bar


@linear(form_as_matrix, domain=("A(4,4)", "A(2,4,4)"))
def form_as_matrix_(form: Any, *, ans_bar: Any) -> Any:
    """The form that a matrix has."""
    form_bar = matrix_as_form(ans_bar)
    return form_bar


@linear(matrix_as_form, domain=("A(3,3)", "A(2,3,3)"))
def matrix_as_form_(matrix: Any, *, ans_bar: Any) -> Any:
    """The matrix that a form has."""
    matrix_bar = form_as_matrix(ans_bar)
    return matrix_bar
