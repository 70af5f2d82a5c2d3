"""Sums, products, powers, and what selects between two numbers."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from tangentx.arrays import (
    as_complex,
    as_reals,
    guarded,
    log_or_zero,
    power_slope,
    quotient,
    ratio,
    ratio_or_zero,
    real_power,
    share,
)
from tangentx.templates.registry import adjoint, elementwise, linear, methods


@linear(np.add, operator.add, domain=("x, y", "A(2,3), A(3)", "A(), A(2)", "A(1), x", "A(0), A(0)"), broadcasts=True)
def add(x: Any, y: Any, *, ans_bar: Any) -> Any:
    """Sum ``x + y``."""
    x_bar = ans_bar
    y_bar = ans_bar
    return x_bar, y_bar


@linear(
    np.subtract, operator.sub, domain=("x, y", "A(2,3), A(3)", "A(), A(2)", "A(1), x", "A(0), A(0)"), broadcasts=True
)
def subtract(x: Any, y: Any, *, ans_bar: Any) -> Any:
    """Difference ``x - y``."""
    x_bar = ans_bar
    y_bar = -ans_bar
    return x_bar, y_bar


@elementwise(np.multiply, operator.mul)
def multiply(x: Any, y: Any) -> Any:
    """Product ``x * y``."""
    return y, x


@elementwise(np.divide, operator.truediv, domain="real positive", singular=True)
def divide(x: Any, y: Any, *, ans: Any) -> Any:
    """Quotient ``x / y``; keeps the result."""
    return quotient(1.0, y), quotient(-ans, y)


@linear(np.negative, operator.neg, domain=("x", "A(3)", "A()", "A(0)"))
def negative(x: Any, *, ans_bar: Any) -> Any:
    """Negation ``-x``."""
    x_bar = -ans_bar
    return x_bar


@linear(np.positive, operator.pos, domain=("x", "A(3)", "A()", "A(0)"))
def positive(x: Any, *, ans_bar: Any) -> Any:
    """Identity ``+x``."""
    x_bar = ans_bar
    return x_bar


@elementwise(
    *(np.power, np.float_power, operator.pow, pow, math.pow, real_power), domain="positive exponent", singular=True
)
def power(x: Any, y: Any, *, ans: Any) -> Any:
    """Power ``x ** y``; at ``x == 0`` the derivative with respect to `y` is taken as 0."""
    return power_slope(x, y), guarded(ans, log_or_zero(x))


@elementwise(np.square)
def square(x: Any) -> Any:
    """Square ``x * x``."""
    return 2.0 * x


@elementwise(np.sqrt, math.sqrt, domain="positive", singular=True, silent="square root")
def sqrt(x: Any, *, ans: Any) -> Any:
    """Square root; keeps the result, not the argument."""
    return ratio(0.5, ans)


@elementwise(np.cbrt, math.cbrt, domain="positive", singular=True, analytic=False, silent="cube root")
def cbrt(x: Any, *, ans: Any) -> Any:
    """Cube root; keeps the result, not the argument."""
    return ratio(1.0, 3.0 * ans * ans)


@elementwise(np.reciprocal, domain="positive", singular=True)
def reciprocal(x: Any, *, ans: Any) -> Any:
    """Reciprocal ``1 / x``; keeps the result, not the argument."""
    return -(ans * ans)


@adjoint(np.absolute, operator.abs, abs, domain=("x", "-x", "A(3)", "C(3)", "A()", "A(0)", "0.6-0.8j"))
def absolute(x: Any, *, ans_bar: Any) -> Any:
    """Absolute value; 0 at 0."""
    x_bar = guarded(np.conj(np.sign(x)), ans_bar)
    return x_bar


@absolute.tangent
def absolute_tangent(x: Any, *, x_dot: Any) -> Any:
    """The part of the tangent along `x`."""
    ans_dot = np.real(guarded(np.conj(np.sign(x)), x_dot))
    return ans_dot


@elementwise(np.fabs, math.fabs, analytic=False)
def fabs(x: Any) -> Any:
    """Absolute value of a real; 0 at 0."""
    return np.sign(x)


@adjoint(np.sign, domain=("x", "A(3)", "C(3)", "A()", "A(0)"), real_constant=True)
def sign(x: Any, *, ans: Any, ans_bar: Any) -> Any:
    """Sign, or direction of a complex number: it turns, its length stays 1."""
    x_bar = guarded(ratio_or_zero(1.0, np.abs(x)), ans_bar - np.conj(ans) * np.real(ans * ans_bar))
    return x_bar


@sign.tangent
def sign_tangent(x: Any, *, ans: Any, x_dot: Any) -> Any:
    """The part of the tangent across `x`."""
    ans_dot = guarded(ratio_or_zero(1.0, np.abs(x)), x_dot - ans * np.real(np.conj(ans) * x_dot))
    return ans_dot


@elementwise(np.maximum, np.minimum, np.fmax, np.fmin, analytic=False)
def extreme(x: Any, y: Any, *, ans: Any) -> Any:
    """The larger or the smaller of two; equal ones share."""
    return share(x, y, ans), share(y, x, ans)


@elementwise(np.mod, operator.mod, domain="real positive", analytic=False)
def mod(x: Any, y: Any) -> Any:
    """Remainder with the sign of `y`."""
    return 1.0, -np.floor_divide(x, y)


@elementwise(np.fmod, math.fmod, domain="real positive", analytic=False)
def fmod(x: Any, y: Any) -> Any:
    """Remainder with the sign of `x`."""
    return 1.0, -np.trunc(ratio(x, y))


@elementwise(math.remainder, domain="real positive", analytic=False)
def remainder(x: Any, y: Any) -> Any:
    """Remainder of the nearest multiple, as IEEE 754 has it."""
    return 1.0, -np.rint(ratio(x, y))


@elementwise(np.copysign, math.copysign, analytic=False)
def copysign(x: Any, y: Any, *, ans: Any) -> Any:
    """The length of `x` with the sign of `y`."""
    return np.sign(x) * np.sign(ans), None


@linear(np.conjugate, *methods("conj", "conjugate"), domain=("A(3)", "C(3)", "C(0)"))
def conjugate(x: Any, *, ans_bar: Any) -> Any:
    """Complex conjugate."""
    x_bar = np.conj(ans_bar)
    return x_bar


@linear(np.real, domain=("x", "A(3)", "C(3)", "1.0+2.0j"))
def real(val: Any, *, ans_bar: Any) -> Any:
    """Real part."""
    val_bar = ans_bar
    return val_bar


@adjoint(np.imag, domain=("x", "A(3)", "C(3)", "1.0+2.0j"), real_constant=True)
def imag(val: Any, *, ans_bar: Any) -> Any:
    """Imaginary part; as a gradient is the derivative by x minus i times that by y."""
    val_bar = -1j * ans_bar
    return val_bar


@imag.tangent
def imag_tangent(val: Any, *, val_dot: Any) -> Any:
    """Imaginary part of the tangent."""
    ans_dot = np.imag(val_dot)
    return ans_dot


@adjoint(as_reals, domain=("C(3)", "C(2,2)", "C(0)"))
def as_reals_(a: Any, *, ans_bar: Any) -> Any:
    """Real and imaginary parts; the gradient is the derivative by the one minus i times that by the other."""
    a_bar = ans_bar[..., 0::2] - 1j * ans_bar[..., 1::2]
    return a_bar


@as_reals_.tangent
def as_reals_tangent(a: Any, *, a_dot: Any) -> Any:
    """The parts of the tangent."""
    ans_dot = as_reals(np.ascontiguousarray(a_dot))
    return ans_dot


@adjoint(as_complex, domain=("A(4)", "A(2,2)", "A(0)"))
def as_complex_(a: Any, *, ans_bar: Any, a_shape: Any) -> Any:
    """Numbers in twos as complex ones."""
    a_bar = np.reshape(np.stack([np.real(ans_bar), -np.imag(ans_bar)], axis=-1), a_shape)
    return a_bar


@as_complex_.tangent
def as_complex_tangent(a: Any, *, a_dot: Any) -> Any:
    """The tangents in twos."""
    ans_dot = as_complex(np.ascontiguousarray(a_dot))
    return ans_dot


@adjoint(np.angle, domain=("C(3)", "1.0+2.0j", "C(2,2)"), real_constant=True, singular=True)
def angle(z: Any, *, ans_bar: Any) -> Any:
    """Angle of a complex number."""
    z_bar = guarded(ratio(-1j, z), ans_bar)
    return z_bar


@angle.tangent
def angle_tangent(z: Any, *, z_dot: Any) -> Any:
    """How fast the direction of `z` turns."""
    ans_dot = np.real(ratio(-1j, z) * z_dot)
    return ans_dot
