"""Rules of matrices of few diagonals."""

from __future__ import annotations

from typing import Any

from tangentx.arrays import band_outer, band_product, band_transpose, reversed_pair
from tangentx.templates.registry import bilinear, constant, linear

constant(reversed_pair)


@linear(band_transpose, domain=("A(3,4), (1, 1)", "A(4,5), (1, 2)", "A(4,2), (1, 2)"))
def band_transpose_(ab: Any, l_and_u: Any, *, ans_bar: Any) -> Any:
    """Transposed back; what lay outside of the matrix has no part in it."""
    ab_bar = band_transpose(ans_bar, reversed_pair(l_and_u))
    return ab_bar


@bilinear(band_product, domain=("A(3,4), A(4), (1, 1)", "A(4,5), A(5,2), (1, 2)"))
def band_product_(ab: Any, x: Any, l_and_u: Any, *, ans_bar: Any) -> Any:
    """Products with the cotangent, and the transposed matrix times it."""
    ab_bar = band_outer(ans_bar, x, l_and_u)
    x_bar = band_product(band_transpose(ab, l_and_u), ans_bar, reversed_pair(l_and_u))
    return ab_bar, x_bar


@bilinear(band_outer, domain=("A(4), A(4), (1, 1)", "A(5,2), A(5,2), (1, 2)"))
def band_outer_(y: Any, x: Any, l_and_u: Any, *, ans_bar: Any) -> Any:
    """The matrix of cotangents times one factor, transposed times the other."""
    y_bar = band_product(ans_bar, x, l_and_u)
    x_bar = band_product(band_transpose(ans_bar, l_and_u), y, reversed_pair(l_and_u))
    return y_bar, x_bar
