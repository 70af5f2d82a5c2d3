"""The QR factorisation.

Formulas: S. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra functions" (2010); for complex
matrices L. Roberts and L. Roberts, "QR and LQ decomposition matrix backpropagation algorithms" (2020). With C = dA R⁻¹
and U the upper half of Qᴴ C + (Qᴴ C)ᴴ, with half its diagonal, the factors change by ``C - Q U`` and ``U R``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import demand_full_rank, mirrored, orthonormal_of, triangular_of, triangular_parts
from tangentx.templates.registry import adjoint, constant, linear

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
