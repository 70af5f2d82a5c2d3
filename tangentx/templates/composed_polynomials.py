"""Polynomials by their coefficients, the highest power first."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import leading_zeros, ratio, remainder_start, stop_gradient
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.registry import adjoint, constant

constant(leading_zeros, remainder_start)


@composition(np.polyval, domain=("A(3), x", "A(3), A(2)", "A(1), A(2,2)", "[1.0, x], y"))
def polyval(p: Any, x: Any) -> Any:
    """Value of a polynomial, by Horner's rule."""
    value = np.zeros_like(x)[()]  # a number stays one, which is known of the result
    coefficients = np.asarray(p) if isinstance(p, (list, tuple)) else p  # Python's numbers would take the type of `x`
    for coefficient in coefficients.coeffs if isinstance(coefficients, np.poly1d) else coefficients:
        value = value * x + coefficient
    return value


@composition(np.polyadd, domain=("A(3), A(2)", "A(1), A(3)", "A(2), A(2)"))
def polyadd(a1: Any, a2: Any) -> Any:
    """Sum of two polynomials."""
    a1, a2 = np.atleast_1d(a1), np.atleast_1d(a2)
    more = np.zeros(max(len(a2) - len(a1), 0), a1.dtype)
    less = np.zeros(max(len(a1) - len(a2), 0), a2.dtype)
    return np.concatenate([more, a1]) + np.concatenate([less, a2])


@composition(np.polysub, domain=("A(3), A(2)", "A(1), A(3)"))
def polysub(a1: Any, a2: Any) -> Any:
    """Difference of two polynomials."""
    return np.polyadd(a1, np.negative(a2))


@composition(np.polymul, domain=("A(3), A(2)", "A(1), A(3)", "x, A(2)"))
def polymul(a1: Any, a2: Any) -> Any:
    """Product of two polynomials, without the powers whose coefficients are 0 at the front of a factor; one without
    coefficients is 0."""
    first = np.atleast_1d(a1) if np.size(a1) else np.zeros(1)
    second = np.atleast_1d(a2) if np.size(a2) else np.zeros(1)
    return np.convolve(first[leading_zeros(first) :], second[leading_zeros(second) :])


@composition(np.polyder, domain=("A(4)", "A(4), 2", "A(4), m=0", "A(1)"))
def polyder(p: Any, m: Any = 1) -> Any:
    """Derivative of a polynomial."""
    if isinstance(p, np.poly1d):
        return p.deriv(m)
    for _ in range(m):
        p = p[:-1] * np.arange(len(p) - 1, 0, -1)
    return p


@composition(np.polyint, domain=("A(3)", "A(3), 2", "A(3), 2, A(2)", "A(3), 1, x", "A(3), k=[x]"))
def polyint(p: Any, m: Any = 1, k: Any = None) -> Any:
    """Integral of a polynomial, with the constants `k`."""
    if isinstance(p, np.poly1d):
        return p.integ(m, 0 if k is None else k)
    given = np.atleast_1d(0.0 if k is None else k)
    for i in range(m):
        p = np.append(p / np.arange(len(p), 0, -1), given[i if len(given) > 1 else 0])
    return p


@composition(np.polydiv, domain=("A(4), A(2)", "A(2), A(3)", "A(3), A(3)", "A(3), A(1)"))
def polydiv(u: Any, v: Any) -> Any:
    """Quotient and remainder of two polynomials, by long division."""
    rest, v = np.atleast_1d(u), np.atleast_1d(v)
    if len(rest) < len(v):
        return np.zeros_like(v[:1]), rest[remainder_start(rest) :]
    scale = 1.0 / v[0]
    quotient = []
    for k in range(len(rest) - len(v) + 1):
        factor = scale * rest[k]
        quotient.append(factor)
        rest = np.concatenate([rest[:k], rest[k : k + len(v)] - factor * v, rest[k + len(v) :]])
    return np.stack(quotient), rest[remainder_start(rest) :]


@composition(np.poly, domain=("A(3)", "A(1)", "[x, y]"))
def poly(seq_of_zeros: Any) -> Any:
    """The polynomial with given roots, whose leading coefficient is 1."""
    if np.ndim(seq_of_zeros) > 1:
        raise NotDifferentiable(
            "np.poly of a matrix has no derivative", hint="give the eigenvalues: `np.poly(np.linalg.eigvalsh(a))`"
        )
    if np.iscomplexobj(seq_of_zeros):
        raise NotDifferentiable(
            "whether np.poly of complex roots is real depends on their values",
            hint="multiply the factors with `np.convolve`",
        )
    roots = np.atleast_1d(seq_of_zeros)
    if len(roots) == 0:
        raise NotDifferentiable("np.poly of no roots is the number 1.0, and no array", hint="treat this case apart")
    found = np.ones_like(roots, shape=1)
    for root in roots:
        found = np.convolve(found, np.stack([np.ones_like(root), -root]))
    return found


@composition(np.vander, domain=("A(3)", "A(3), 4", "A(3), N=2, increasing=True"))
def vander(x: Any, N: Any = None, increasing: Any = False) -> Any:
    """Powers of each element in a row."""
    powers = np.arange(len(x) if N is None else N)
    return np.power(np.expand_dims(x, 1), powers if increasing else powers[::-1])


@adjoint(np.roots, domain=("np.array([1.0, -1.0, 2.0])", "np.array([2.0, 1.0, 3.0])", "np.array([1.0, 0.3, 1.2, 0.5])"))
def roots(p: Any, *, ans: Any, ans_bar: Any, p_shape: Any) -> Any:
    """Roots, which move against the value of the polynomial there; a multiple root has an infinite derivative."""
    powers = np.arange(p_shape[0])[::-1]
    of_powers = powers * np.power(np.expand_dims(ans, 1), np.maximum(powers - 1, 0))
    moved = ratio(-ans_bar, np.matmul(of_powers, p))
    p_bar = np.matmul(moved, np.power(np.expand_dims(ans, 1), powers))
    return p_bar


@roots.tangent
def roots_tangent(p: Any, *, ans: Any, p_dot: Any, p_shape: Any) -> Any:
    """The value of the change over the slope, with the opposite sign."""
    powers = np.arange(p_shape[0])[::-1]
    of_powers = powers * np.power(np.expand_dims(ans, 1), np.maximum(powers - 1, 0))
    changed = np.matmul(np.power(np.expand_dims(ans, 1), powers), p_dot)
    ans_dot = ratio(-changed, np.matmul(of_powers, p))
    return ans_dot


@composition(np.polyfit, domain=("np.arange(5.0), A(5), 2", "A(5), A(5,2), 1", "A(4), A(4), 1, w=P(4)"))
def polyfit(x: Any, y: Any, deg: Any, rcond: Any = None, full: Any = False, w: Any = None, cov: Any = False) -> Any:
    """The polynomial with the least squares; its columns are scaled as NumPy does, which changes no solution."""
    if full or cov:
        raise NotDifferentiable("np.polyfit gives the coefficients alone here", hint="leave out `full` and `cov`")
    table, right = np.vander(x, deg + 1), np.asarray(y)
    if w is not None:
        weights = np.asarray(w)
        table = table * np.expand_dims(weights, 1)
        right = right * (weights if np.ndim(y) == 1 else np.expand_dims(weights, 1))
    scale = np.sqrt(np.sum(stop_gradient(table) ** 2, axis=0))
    least = len(x) * 2.0**-52 if rcond is None else rcond
    found = np.linalg.lstsq(table / scale, right, least)[0]
    return found / (scale if np.ndim(y) == 1 else np.expand_dims(scale, 1))
