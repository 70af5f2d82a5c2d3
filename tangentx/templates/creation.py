"""New arrays that depend on numbers, and conversions of number types."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import arange_dot, unarange
from tangentx.templates.registry import adjoint, linear


@linear(np.full, domain=("(2,3), x", "3, A()", "(2,3), A(3)", "(), x"), broadcasts=True)
def full(shape: Any, fill_value: Any, dtype: Any = None, *, ans_bar: Any) -> Any:
    """An array filled with a value."""
    fill_value_bar = ans_bar
    return fill_value_bar


@linear(np.full_like, domain=("A(2,3), x", "A(2,3), A(3)"), broadcasts=True, stepwise=("a",))
def full_like(a: Any, fill_value: Any, dtype: Any = None, *, ans_bar: Any) -> Any:
    """An array like another, filled with a value."""
    fill_value_bar = ans_bar
    return fill_value_bar


@linear(
    np.linspace,
    domain=("x, y, 5", "0.0, y", "x, y, 4, False", "x, y, num=1", "A(2), A(2), 3"),
    broadcasts=True,
    stepwise=("num", "endpoint"),
)
def linspace(start: Any, stop: Any, num: Any = 50, endpoint: Any = True, *, ans_bar: Any) -> Any:
    """Even steps from `start` to `stop`."""
    weights = np.reshape(np.linspace(0.0, 1.0, num, endpoint), (-1,) + (1,) * (np.ndim(ans_bar) - 1))
    start_bar = np.sum((1.0 - weights) * ans_bar, axis=0)
    stop_bar = np.sum(weights * ans_bar, axis=0)
    return start_bar, stop_bar


@adjoint(np.arange, domain=("3.5", "x, 3.0", "x, 3.0, y", "0.0, x, 0.25"))
def arange(*args: Any, ans_bar: Any) -> Any:
    """Even steps; where the number of steps changes there is no derivative."""
    args_bar = unarange(ans_bar, args)
    return args_bar


@arange.tangent
def arange_tangent(*args: Any, ans: Any, args_dot: Any) -> Any:
    """How the elements move with start and step."""
    ans_dot = arange_dot(args_dot, ans)
    return ans_dot


@linear(unarange, domain=("A(3), (x, 3.0)", "A(3), (x, 3.0, y)"))
def unarange_(t: Any, args: Any, *, ans_bar: Any) -> Any:
    """Adjoint of `arange`."""
    t_bar = arange_dot(ans_bar, t)
    return t_bar


@linear(arange_dot, domain=("(x, y), A(3)", "(x, y, 0.5), A(3)"))
def arange_dot_(dots: Any, ans: Any, *, ans_bar: Any) -> Any:
    """Tangent of `arange`."""
    dots_bar = unarange(ans_bar, dots)
    return dots_bar


@linear(
    float,
    np.float64,
    np.float32,
    np.float16,
    np.longdouble,
    np.complex128,
    np.complex64,
    np.double,
    domain=("x", "A()"),
)
def number(x: Any, *, ans_bar: Any) -> Any:
    """A number of another type."""
    x_bar = ans_bar
    return x_bar


@linear(complex, domain=("x", "x, y", "1.0 + 2.0j"))
def complex_number(real: Any, imag: Any = 0.0, *, ans_bar: Any) -> Any:
    """A complex number of its parts."""
    real_bar = ans_bar
    imag_bar = 1j * ans_bar
    return real_bar, imag_bar
