"""What kinds take for granted of values is checked where the program would notice."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import tangentx as tx


def imaginary(x):
    return (x**0.5).imag


def imaginary_by_name(x):
    return np.imag(pow(x, 0.3)) * x


def imaginary_in_place(x):
    x **= 0.5
    return x.imag


def negative_exponent(x):
    return (x**-0.5).imag + x


def sized(x):
    return abs(x**0.3)


def sized_sum(x, c=-2.0):
    return abs(x * c**0.5 + x)


def made_complex(x, c=-2.0):
    return (c**0.5 * x * 1j).real


def classed(x):
    y = x**0.5
    return 2.0 * x if isinstance(y, complex) else x


def typed(x, c=-2.0):
    return 2.0 * x if type(c**0.5) is complex else x


def gathered(x, c=-2.0):
    return np.sum(np.abs(np.array([c**0.5 * x, x])))


def exponent(x):
    y = (-3.0) ** x
    return y.real * y.imag


def in_a_helper(x):
    return _root(x).imag * 2.0


def _root(x):
    return x**0.5


COMPLEX = [
    imaginary,
    imaginary_by_name,
    imaginary_in_place,
    negative_exponent,
    sized,
    sized_sum,
    made_complex,
    classed,
    typed,
    gathered,
    exponent,
    in_a_helper,
]


@pytest.mark.parametrize("f", COMPLEX)
@pytest.mark.parametrize("fallback", ["error", "tensor"])
def test_a_power_that_is_complex_is_refused_at_its_line(f: Any, fallback: Any) -> None:
    x = 0.7 if f is exponent else -1.5
    for derivative in (tx.grad(f, fallback=fallback), tx.value_and_grad(f, fallback=fallback)):
        for _ in range(2):
            with pytest.raises(tx.NotDifferentiable, match=r"\*\* .* is a complex number") as caught:
                derivative(x)
            assert caught.value.span is not None and caught.value.span.file == __file__
    with pytest.raises(tx.NotDifferentiable, match="complex"):
        tx.jvp(f, (x,), (1.0,), fallback=fallback)


@pytest.mark.parametrize("f", [f for f in COMPLEX if f is not exponent])
def test_where_it_is_real_nothing_is_refused(f: Any) -> None:
    args = (1.5, 2.0) if f.__defaults__ else (1.5,)
    step = 1e-6
    expected = (f(1.5 + step, *args[1:]) - f(1.5 - step, *args[1:])) / (2.0 * step)
    assert tx.grad(f, fallback="error")(*args) == pytest.approx(expected, abs=1e-8)


def plain(x, c=-2.0):
    return c**0.5 * x


def test_a_complex_gradient_of_a_real_number_is_refused() -> None:
    derivative = tx.grad(plain, fallback="error")
    assert derivative(1.5, 4.0) == 2.0
    for _ in range(2):
        with pytest.raises(tx.NotDifferentiable, match="became complex"):
            derivative(1.5, -2.0)
    value, dot = tx.jvp(plain, (1.5, -2.0), (1.0, None), fallback="error")
    assert value == plain(1.5) and dot == plain(1.0)


def read_only(x, c=-2.0):
    y = c**0.5
    return x * y.imag + x * abs(y) + x * y.conjugate().imag


def test_of_a_constant_all_parts_are_what_they_are() -> None:
    assert tx.grad(read_only, fallback="error")(1.5) == pytest.approx(math.sqrt(2.0))


def meant(x):
    return abs(complex(x) ** 0.3) + (complex(x) ** 0.5).imag


def test_the_remedy_works() -> None:
    expected = (meant(-1.5 + 1e-6) - meant(-1.5 - 1e-6)) / 2e-6
    assert tx.grad(meant, fallback="error")(-1.5) == pytest.approx(expected)


def roots(x):
    return abs(x * x + 1.0) ** 0.5 + abs(x) ** 1.5 + x**2.0 + x**-3.0 + 2.0**x + abs(x)


def looked_at_once(x):
    return abs(x) + x**1.5


def test_what_is_known_to_be_real_is_not_asked() -> None:
    for f in (roots, looked_at_once, plain):
        assert "real_power" not in tx.grad(f).source_for(1.5)
    assert "real_power" in tx.grad(imaginary).source_for(1.5)


def root_below_three(x):
    return (x - 3.0) ** 0.5


def no_rows_at_all(x):
    return np.sum(sum([row * 2.0 for row in x]) * x[:1])


@pytest.mark.parametrize(
    ("f", "x", "message"),
    [(root_below_three, 2.0, "is a complex number"), (no_rows_at_all, np.empty((0, 2)), "sum of no arrays is 0")],
)
@pytest.mark.parametrize("derivative", [tx.grad, tx.value_and_grad])
def test_checked_mode_refuses_what_is_not_as_it_was_assumed(derivative: Any, f: Any, x: Any, message: str) -> None:
    """Where the text without assertions notices nothing, or only in the reverse sweep."""
    with tx.checked(), pytest.raises(tx.NotDifferentiable, match=message) as caught:
        derivative(f)(x)
    assert caught.value.span is not None
    assert caught.value.span.text.strip().startswith("return ")
    assert caught.value.span.file == __file__
    with tx.checked():
        assert tx.grad(root_below_three)(5.0) == pytest.approx(0.5 * 2.0**-0.5)


def no_rows(x):
    s = sum(x[:0])
    return 3.0 * x[0, 0] if isinstance(s, int) else x[0, 0]


def no_rows_typed(x):
    s = sum([x[i] for i in range(len(x)) if x[i, 0] > 5.0])
    return 3.0 * x[0, 0] if type(s) is int else x[0, 0]


def no_rows_started(x):
    s = sum(x[:0], 0.0)
    return 3.0 * x[0, 0] if isinstance(s, float) else x[0, 0]


def no_rows_matched(x):
    match sum(x[:0]):
        case int():
            return 3.0 * x[0, 0]
    return x[0, 0]


def no_rows_added_to(x):
    s = sum(x[:0])
    s += x
    return np.sum(s * s)


@pytest.mark.parametrize("f", [no_rows, no_rows_typed, no_rows_started, no_rows_matched, no_rows_added_to])
@pytest.mark.parametrize("fallback", ["error", "tensor"])
def test_a_sum_of_no_rows_is_no_array(f: Any, fallback: Any) -> None:
    with pytest.raises(tx.NotDifferentiable, match="sum of no arrays is 0") as caught:
        tx.grad(f, fallback=fallback)(np.ones((2, 3)))
    assert caught.value.span is not None and "sum(" in caught.value.span.text
    with pytest.raises(tx.NotDifferentiable, match="sum of no arrays is 0"):
        tx.jvp(f, (np.ones((2, 3)),), (np.ones((2, 3)),), fallback=fallback)


def some_rows(x):
    s = sum(x)
    return np.sum(s * s) if isinstance(s, np.ndarray) else x[0, 0]


def nobody_asks(x):
    return np.sum(sum(x[:0]) * x) + np.sum((x + sum(x[:0])) ** 2)


def started_with_an_array(x):
    s = sum(x[:0], np.zeros(3))
    return np.sum((s + x) ** 2) if isinstance(s, np.ndarray) else x[0, 0]


def test_sums_of_rows_are_what_they_were() -> None:
    x = np.arange(6.0).reshape(2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(tx.grad(some_rows, fallback="error")(x), 2.0 * np.stack([x.sum(0)] * 2))
        np.testing.assert_allclose(tx.grad(nobody_asks, fallback="error")(x), 2.0 * x)
        np.testing.assert_allclose(tx.grad(started_with_an_array, fallback="error")(x), 2.0 * x)
    assert "sum_of_some" not in tx.grad(nobody_asks).source_for(x)


def tried(x):
    try:
        y = x**0.5
    except ValueError:
        y = 0.0
    return abs(y) * x


def parts(x):
    return [abs(x) * x**0.5, x**1.5]


def test_to_look_is_no_effect() -> None:
    assert tx.grad(tried, fallback="error")(1.5) == pytest.approx(1.5**1.5)
    with pytest.raises(tx.NotDifferentiable, match="is a complex number"):
        tx.grad(tried, fallback="error")(-1.5)
    checkpointed = tx.grad(lambda x: tx.checkpoint(in_a_helper_of, x) * x, fallback="error")
    assert checkpointed(1.5) == pytest.approx(2.5 * 1.5**1.5)
    assert tx.jacobian(parts, fallback="error")(1.5) == pytest.approx([1.5 * 1.5**0.5, 1.5 * 1.5**0.5])
    found = tx.vmap(sized)(np.array([1.0, 2.0]))
    np.testing.assert_allclose(found, [1.0, 2.0**0.3])


def in_a_helper_of(x):
    return abs(x**0.5) * x


PLANAR = np.array([0.3, 0.7])


def axes_of_a_product(x):
    return x[0] * 2.0 if np.ndim(np.cross(x, PLANAR)) == 0 else x[1] ** 3


def axes_of_a_multiple(x):
    c = np.cross(x, PLANAR) * 2.0
    return x[0] * 2.0 if c.ndim == 0 else x[1] ** 3


def axes_of_a_sum(x):
    return x[0] * 2.0 if np.ndim(sum(x * k for k in range(int(x[1])))) == 0 else x[1] ** 3


def length_of_a_shape(x):
    return x[0] * 2.0 if len(np.shape(np.cross(x, PLANAR))) == 0 else x[1] ** 3


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("f", [axes_of_a_product, axes_of_a_multiple, axes_of_a_sum, length_of_a_shape])
def test_what_has_no_axes_is_no_array(f: Any) -> None:
    x = np.array([0.5, 0.8])
    assert f(x) == 1.0
    for way in (lambda: tx.grad(f)(x), lambda: tx.jvp(f, (x,), (x,))):
        with pytest.raises(tx.NotDifferentiable, match="is a number|is 0"):
            way()


def product_in_space(x):
    c = np.cross(x, np.array([0.1, 0.2, 0.3]))
    return np.sum(c) if c.ndim == 1 else x[0]


def product_of_itself(x):
    return np.sum(np.cross(x, x**2))


def product_with_a_plane(x):
    return np.sum(np.cross(np.array([0.1, 0.2, 0.3]), x) * np.array([1.0, 2.0, 3.0]))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_products_of_vectors_in_space() -> None:
    x = np.array([0.5, 0.8, -0.2])
    np.testing.assert_allclose(tx.grad(product_in_space, fallback="error")(x), [-0.1, 0.2, -0.1], atol=1e-12)
    assert "cross_of_space(" not in tx.grad(product_of_itself).source_for(x)
    with pytest.raises(tx.NotDifferentiable):  # the vector in a plane would get a cotangent in space
        tx.grad(product_with_a_plane)(x[:2])
