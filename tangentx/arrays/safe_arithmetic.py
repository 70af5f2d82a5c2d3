"""Arithmetic of cotangents that neither raises nor turns a known zero into nan."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tangentx.arrays.libraries import as_array, is_elsewhere
from tangentx.common.float_events import under_events
from tangentx.errors import NotDifferentiable


def _number(x: Any) -> Any:
    """An array of rank 0 as the scalar it holds."""
    return x[()] if isinstance(x, np.ndarray) and x.ndim == 0 else x


def has_nan(a: Any) -> bool:
    """Whether an element of an array, or a number, is nan: the sum of squares is, and then alone, in one quick pass. An
    array on a device may have one: to ask it would be a transfer.

    >>> has_nan(np.array([1.0, np.nan])), has_nan(np.array([1.7e308, -np.inf]))
    (True, False)
    """
    if isinstance(a, np.ndarray) and a.dtype.char in "fd":
        return bool(np.isnan(np.vdot(a, a)))
    return is_elsewhere(a) or bool(np.isnan(a).any())


def _is_plain(p: Any) -> bool:
    """Whether products with a number need no guard: it is neither 0 nor infinite, as half a precision has it either."""
    return isinstance(p, float) and 1e-4 < abs(p) < 1e4


def _are_real(t: Any) -> bool:
    """Whether it is an array of real floating-point numbers, whose products with a finite number raise no flag."""
    return isinstance(t, np.ndarray) and t.dtype.kind == "f"


def _known(truths: Any) -> bool:
    """Whether all are true, as far as that can be told without a transfer from a device."""
    return not is_elsewhere(truths) and bool(np.all(truths))


def _zero_where(mask: Any, x: Any) -> Any:
    """`x`, 0 where the mask has it, in its dtype."""
    return _number(np.where(mask, as_array(x).dtype.type(0), x))


def guarded(p: Any, t: Any) -> Any:
    """``p * t``, but 0 where one of them is 0 and the other is not finite. Each element is found by itself: the sign of
    a 0 that is a product is the product's."""
    if isinstance(p, float) and isinstance(t, float):  # np.float64 is one too
        if (p != 0.0 and t != 0.0) or math.isfinite(p + t):
            return p * t
        return 0.0 if type(p) is float and type(t) is float else np.float64(0.0)
    if (_is_plain(p) and _are_real(t)) or (_is_plain(t) and _are_real(p)):
        return np.multiply(p, t)
    product = under_events(lambda: np.multiply(p, t), invalid="ignore")
    if not has_nan(product):  # as 0 times what is not finite is
        return product
    return _zero_where((np.equal(t, 0) | np.equal(p, 0)) & np.isnan(product), product)


def quiet_sum(a: Any, b: Any) -> Any:
    """``a + b`` of slopes that may be infinite, without the warning where they are with opposite signs."""
    return under_events(lambda: a + b, invalid="ignore")


def quiet_difference(a: Any, b: Any) -> Any:
    """``a - b`` of slopes that may be infinite, without the warning where both are, with one sign."""
    return under_events(lambda: a - b, invalid="ignore")


def ratio(a: Any, b: Any) -> Any:
    """``a / b`` with inf and nan instead of warnings and errors."""
    if isinstance(a, float) and isinstance(b, float) and b != 0.0:  # np.float64 is one too
        return a / b
    result = under_events(lambda: np.true_divide(a, b), divide="ignore", invalid="ignore")
    return float(result) if type(a) is float and type(b) is float else result


def over_root(a: Any, b: Any) -> Any:
    """`ratio`, exactly 0 where `a` is 0: the slope ``1 / b`` times `a`, guarded."""
    if isinstance(a, float) and isinstance(b, float) and b != 0.0:  # np.float64 is one too
        return a / b
    result = ratio(a, b)
    if _known(~np.isnan(np.sum(result))):
        return result
    found = _zero_where(np.equal(a, 0), result)
    return float(found) if type(result) is float else found


def quotient(a: Any, b: Any) -> Any:
    """`ratio`, where the primal has divided by `b` too, so that it has raised or warned already."""
    return ratio(a, b)


def ratio_or_zero(a: Any, b: Any) -> Any:
    """``a / b``, 0 where `b` is 0."""
    if isinstance(a, float) and isinstance(b, float):  # np.float64 is one too
        return a / b if b != 0.0 else type(a)(0.0)
    result = ratio(a, b)
    if _known(as_array(b) != 0):
        return result
    return _zero_where(np.equal(b, 0), result)


def lead(x: Any, y: Any) -> Any:
    """``x - y``, 0 of equal infinities too."""
    found = under_events(lambda: np.subtract(x, y), invalid="ignore")
    return found if _known(np.isfinite(found)) else _zero_where(np.equal(x, y), found)


def length_of(square: Any) -> Any:
    """The square root of a sum of squares, whose derivative is taken as 0 where it is 0."""
    return np.sqrt(square)


def silent_power(x: Any, y: Any) -> Any:
    """``x ** y`` with inf and nan instead of warnings and errors."""
    base = as_array(x).astype(np.result_type(x, 0.0), copy=False)[()]
    return under_events(lambda: np.power(base, y), all="ignore")


def log_or_zero(x: Any) -> Any:
    """``log(x)``, 0 at 0, where the derivative of ``x ** y`` with respect to `y` is taken as 0."""
    given = _number(np.where(np.equal(x, 0), as_array(x).dtype.type(1), x))
    found = under_events(lambda: np.log(given), invalid="ignore")
    return found.item() if type(x) in (int, float, complex) else found  # which promotes nothing


def _complex_power(x: Any, y: Any) -> NotDifferentiable:
    return NotDifferentiable(
        f"{x!r} ** {y!r} is a complex number, but the derivative was compiled for a real one",
        hint="make the base complex where that is meant: `complex(x) ** y`",
    )


def real_power(x: Any, y: Any) -> Any:
    """``x ** y``, which has to be a real number."""
    result = x**y
    if type(result) is complex:
        raise _complex_power(x, y)
    return result


def sum_of_some(items: Any, start: Any = 0) -> Any:
    """``sum(items, start)`` of arrays, of which there have to be some."""
    if len(items) == 0 and not isinstance(start, np.ndarray):
        raise NotDifferentiable(
            f"the built-in sum of no arrays is {start!r}, but the derivative was compiled for an array",
            hint="start it with an array, `sum(rows, np.zeros(3))`, or use `np.sum(rows, axis=0)`",
        )
    return sum(items, start)


def _is_tame(x: Any, y: Any) -> bool:
    """Whether ``x ** (y - 1)`` is a real number that neither overflows nor underflows, whatever NumPy is set to do."""
    if type(y) is int:
        return 0 < abs(y) < 32 and 1e-4 < abs(x) < 1e4
    return type(y) is float and 0.0 < abs(y) < 32.0 and bool(1e-4 < x < 1e4)


def power_slope(x: Any, y: Any) -> Any:
    """``y * x ** (y - 1)``, the derivative of ``x ** y`` with respect to `x`; 0 where `y` is 0."""
    if isinstance(x, np.float64) and _is_tame(x, y):
        return y * x ** (y - 1)
    if type(x) is float and type(y) in (int, float):
        if y == 0:
            return 0.0
        try:
            slope = x ** (y - 1)
            slope = y * slope if slope else slope
        except (ZeroDivisionError, OverflowError):
            return power_slope(np.float64(x), y)
        if type(slope) is complex:
            raise _complex_power(x, y)
        return slope
    base = x if as_array(x).dtype.kind in "fc" else np.asarray(x, dtype=float)[()]

    def quiet_slope() -> Any:
        if type(y) in (int, float) and 0 < abs(y) < math.inf:
            return np.multiply(np.power(base, y - 1), y)
        found = as_array(guarded(np.power(base, y - 1), y))
        return _number(np.where(np.equal(y, 0), found.dtype.type(0), found))

    return under_events(quiet_slope, divide="ignore", invalid="ignore", over="ignore")
