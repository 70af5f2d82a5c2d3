"""Rules of triangles of matrices and of sums at a lag."""

from __future__ import annotations

from typing import Any

from tangentx.arrays import advanced, delayed, lagged, other_side, triangle, turned
from tangentx.templates.registry import bilinear, constant, linear

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
