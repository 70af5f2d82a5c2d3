"""Rules of parts of matrices: bands, triangles, and sums at a lag."""

from __future__ import annotations

from typing import Any

from tangentx.arrays import (
    advanced,
    band_outer,
    band_product,
    band_transpose,
    delayed,
    lagged,
    other_side,
    reversed_pair,
    triangle,
    turned,
)
from tangentx.templates.registry import bilinear, constant, linear

# Rules of matrices of few diagonals.

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


# Rules of triangles of matrices and of sums at a lag.

constant(other_side)


@linear(triangle, domain=("A(3,3)", "A(3,3), True", "A(2,3,3), False, True"))
def triangle_(m: Any, lower: Any = False, unit_diagonal: Any = False, *, ans_bar: Any) -> Any:
    """Its own adjoint."""
    m_bar = triangle(ans_bar, lower, unit_diagonal)
    return m_bar


@linear(turned, domain=("A(3,2), 0", "A(3,2), 1"))
def turned_(m: Any, trans: Any, *, ans_bar: Any) -> Any:
    """Its own adjoint."""
    m_bar = turned(ans_bar, trans)
    return m_bar


@bilinear(lagged, domain=("A(5), A(5), (1.0, 1.0, 1.0)", "A(4,2), A(4,2), (1.0, 1.0), 0"))
def lagged_(g: Any, x: Any, like: Any, axis: Any = -1, *, ans_bar: Any) -> Any:
    """Sums over the lags instead of over the places."""
    g_bar = delayed(ans_bar, x, g, axis)
    x_bar = advanced(ans_bar, g, x, axis)
    return g_bar, x_bar


@bilinear(delayed, domain=("A(3), A(5), (1.0,)", "A(2), A(4,2), (1.0,), 0"))
def delayed_(c: Any, x: Any, like: Any, axis: Any = -1, *, ans_bar: Any) -> Any:
    """Sums over places, and over what comes later."""
    c_bar = lagged(ans_bar, x, c, axis)
    x_bar = advanced(c, ans_bar, x, axis)
    return c_bar, x_bar


@bilinear(advanced, domain=("A(3), A(5), (1.0,)", "A(2), A(4,2), (1.0,), 0"))
def advanced_(c: Any, g: Any, like: Any, axis: Any = -1, *, ans_bar: Any) -> Any:
    """Sums over places, and over what came before."""
    c_bar = lagged(g, ans_bar, c, axis)
    g_bar = delayed(c, ans_bar, g, axis)
    return c_bar, g_bar
