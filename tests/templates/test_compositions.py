"""Compositions take the calls that they mean right, and no others."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.testing import check_grads

x = np.array([0.3, 1.2, 0.7])
A = np.array([[1.0, 0.3, 0.2], [0.1, 2.0, 0.4], [0.5, 0.6, 3.0]])


def deep_kron(a):
    return np.sum(np.kron(np.expand_dims(a, (0, 1)), x))


def ramp_pad(a):
    return np.sum(np.pad(a, 1, mode="linear_ramp") ** 2)


def maximum_pad(a):
    return np.sum(np.pad(a, 1, "maximum") ** 2)


def layout_order(a):
    return np.sum(np.ravel(a, order="K") * np.arange(9))


def slopes_of_a_cube(a):
    return np.sum(np.gradient(np.stack([a, a]))[0])


def nuclear(a):
    return np.linalg.norm(a, "nuc")


def negative_order(a):
    return np.linalg.norm(a[0], -1)


def norms_of_axes(a):
    return np.linalg.norm(a, 1, axis=(0, 1))


def grid_of_three(a):
    return np.sum(np.meshgrid(a[0], a[1], a[2])[0])


def periodic(a):
    return np.sum(np.interp(a[0], x, x, period=2.0))


REFUSED: list[Callable[..., Any]] = [layout_order]


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_other_calls_are_refused_in_both_modes(f: Callable[..., Any]) -> None:
    f(A)
    with pytest.raises(tx.TangentxError):
        tx.grad(f, fallback="error")(A)
    with pytest.raises(tx.TangentxError):
        tx.jvp(f, (A,), (A,), fallback="error")


def weighted(a, b):
    return np.average([a, b, a * b], weights=[b, a, 1.0]) * np.ptp([a, b]) + np.trapezoid([a, b * b, a])


def test_lists_are_arrays() -> None:
    check_grads(weighted, (0.4, 1.3), wrt=(0, 1))


def product_of_arrays(a):
    return np.sum(math.prod([a, a[::-1], np.ones(3)]))


def test_a_product_of_arrays() -> None:
    check_grads(product_of_arrays, (x,))


def never(x, *rest, scale=1.0, **more):
    raise ValueError(f"{x} {rest} {scale} {more}")


def test_a_function_that_always_raises_is_called_as_it_was() -> None:
    with pytest.raises(ValueError, match=r"1\.0 \(2\.0,\) 3\.0 \{'y': 4\.0\}"):
        tx.grad(never, fallback="error")(1.0, 2.0, scale=3.0, y=4.0)


def middle(x):
    return np.median(x)


def test_equal_elements_share_a_median() -> None:
    gradient = tx.grad(middle)
    np.testing.assert_allclose(gradient(np.array([1.0, 2.0, 2.0, 2.0, 5.0])), [0.0, 1 / 3, 1 / 3, 1 / 3, 0.0])
    assert gradient(np.array([1.0, np.inf, 2.0, -np.inf, 5.0])).tolist() == [0.0, 0.0, 1.0, 0.0, 0.0]


TAKEN: list[Callable[..., Any]] = [
    slopes_of_a_cube, negative_order, nuclear, norms_of_axes, deep_kron, ramp_pad, maximum_pad, grid_of_three, periodic,
]  # fmt: skip


@pytest.mark.parametrize("f", TAKEN, ids=lambda f: f.__name__)
def test_calls_that_were_refused_once(f: Callable[..., Any]) -> None:
    a = np.array([[1.5, 0.7, 2.1], [0.4, 1.1, 0.9], [0.6, 1.3, 0.35]])
    found = tx.grad(f, fallback="error")(a)
    for place in np.ndindex(a.shape):
        step = np.zeros_like(a)
        step[place] = 1e-6
        assert found[place] == pytest.approx((f(a + step) - f(a - step)) / 2e-6, abs=1e-6)


WHERE = np.array([-1.0, 0.5, 1.5, 1.0, 2.0, 5.0])
INTERPOLATED = {
    "equal points inside": [0.0, 1.0, 1.0, 2.0],
    "equal points at the end": [0.0, 1.0, 2.0, 2.0],
    "equal points at both ends": [1.0, 1.0, 2.0, 2.0],
    "all points equal": [1.0, 1.0, 1.0, 1.0],
    "infinite points": [-np.inf, 0.25, 2.0, np.inf],
    "whole numbers": [0, 1, 2, 4],
}


@pytest.mark.share(1)
@pytest.mark.parametrize("points", INTERPOLATED.values(), ids=INTERPOLATED)
def test_interp_of_a_table_that_does_not_decrease(points: Any) -> None:
    def f(table):
        return np.sum(np.interp(WHERE, points, table) * np.arange(1.0, 7.0))

    table = np.array([1.0, 3.0, -2.0, 0.5])
    wanted = [f(row) for row in np.eye(4)]  # it is linear in the table
    for fallback in ("error", "tensor"):
        value, slope = tx.value_and_grad(f, fallback=fallback)(table)
        assert value == pytest.approx(f(table))
        np.testing.assert_allclose(slope, wanted)
    np.testing.assert_allclose(tx.jvp(f, (table,), (np.ones(4),), fallback="error")[1], np.sum(wanted))


@pytest.mark.share(1)
@pytest.mark.parametrize("points", [[0.0, 2.0, 1.0], [2.0, 1.0, 0.0], [0, 2, 1]])
def test_interp_of_a_table_in_no_order_is_refused(points: Any) -> None:
    def by_table(table):
        return np.sum(np.interp(WHERE, points, table))

    def by_place(place):
        return np.interp(place, points, [1.0, 2.0, 3.0])

    def by_points(at):
        return np.interp(0.5, at, np.arange(3.0))

    for f, at in ((by_table, np.ones(3)), (by_place, 0.5), (by_points, np.array(points, float))):
        for fallback in ("error", "tensor"):
            with pytest.raises(tx.NotDifferentiable, match="do not increase"):
                tx.grad(f, fallback=fallback)(at)
            with pytest.raises(tx.NotDifferentiable, match="do not increase"):
                tx.jvp(f, (at,), (at,), fallback=fallback)


def bent(x):
    return np.sum(np.piecewise(x, [x < 0.5, x >= 1.0], [lambda t: t**3, np.sin, 2.5]) * np.arange(1.0, 4.0))


def rows(a):
    return np.sum(np.apply_along_axis(lambda row, by: by * row * row[0], 1, a, 2.0) ** 2)


def huber(t):
    return 0.5 * t * t if abs(t) <= 0.5 else 0.5 * (abs(t) - 0.25)


hubers = np.vectorize(huber)


@np.vectorize
def gap(t, u):
    return t * u if t > u else t - u


def by_elements(x):
    made = np.vectorize(lambda t: t**2 if t > 1.0 else 0, otypes=[float])
    return np.sum(hubers(x) * np.arange(3.0)) + np.sum(gap(x[:, None], 2.0 * x)) + np.sum(made(x))


def grid(a):
    return np.sum(np.fromfunction(lambda i, j: np.sin(a * i) + j * a, (3, 2)))


@pytest.mark.share(1)
@pytest.mark.parametrize(("f", "at"), [(bent, x), (rows, A), (by_elements, x), (grid, 0.7)])
def test_functions_of_the_user_s_on_parts_of_arrays(f: Callable[..., Any], at: Any) -> None:
    check_grads(f, (at,), order=2)


def test_vectorize_of_whole_numbers_is_refused() -> None:
    f = lambda x: np.sum(np.vectorize(lambda t: t**2 if t > 0.5 else 0)(x))
    with pytest.raises(tx.NotDifferentiable, match="whole numbers"):
        tx.grad(f, fallback="error")(x)  # NumPy makes all results whole numbers
    np.testing.assert_allclose(tx.grad(f, fallback="error")(x[1:]), 2.0 * x[1:])


@pytest.mark.parametrize(
    "f",
    [
        lambda v: np.sum(np.vectorize(lambda t: t * t)(v)),
        lambda v: np.sum(np.vectorize(lambda t, u: np.sin(t) * u)(v, v[0])),
        lambda v: np.sum(np.vectorize(lambda t: np.float32(t) * t)(v)),
        lambda v: np.sum(np.vectorize(lambda t, u: t**u)(v, [1, 2, 3])),
    ],
)
def test_the_first_element_tells_the_type_of_all_results(f: Callable[..., Any]) -> None:
    for at in (x, x.astype(np.float32)):
        value, slope = tx.value_and_grad(f, fallback="error")(at)
        assert (type(value), value, slope.dtype) == (type(f(at)), f(at), at.dtype)
        np.testing.assert_allclose(slope, tx.jacfwd(f)(at), rtol=1e-6)


def test_equal_elements_share_what_stays_of_them() -> None:
    at = np.array([2.0, 1.0, 2.0, 2.0])
    for weigh in (lambda v: np.unique(v), lambda v: np.union1d(v[:2], v[2:])):
        found = tx.grad(lambda v, weigh=weigh: np.sum(weigh(v) * np.array([3.0, 6.0])), fallback="error")(at)
        np.testing.assert_allclose(np.sum(found[[0, 2, 3]]), 6.0)
        assert found[1] == 3.0
    gaps = np.array([1.0, np.nan, 0.5, np.nan])
    assert tx.grad(lambda v: np.nansum(np.unique(v)))(gaps).tolist() == [1.0, 0.0, 1.0, 0.0]


def trimmed(x):
    return np.sum(np.trim_zeros(x, "f") ** 2 * np.arange(2.0))


def test_trimmed_zeros_have_no_derivative() -> None:
    assert tx.grad(trimmed, fallback="error")(np.array([0.0, 0.0, 3.0, 2.0])).tolist() == [0.0, 0.0, 0.0, 4.0]


def beside_lists(x):
    powers = np.sum(x ** [1, 2, 3]) + np.sum(np.power.outer(x, [1.0, 2.0])) + np.sum(np.arctan2([1, 2, 3], x))
    counted = np.bincount([0, 2, 2], weights=x, minlength=4)[2] + np.sum(np.quantile(x, [0.2, 0.9], keepdims=True))
    return powers + counted + np.sum(np.percentile(x, [20, 70])) + np.einsum("i,i->", [1.0, 2.0, 3.0], x)


def test_lists_of_numbers_are_operands() -> None:
    check_grads(beside_lists, (x,), order=2)


# ---- values where a formula would do worse than NumPy ----


def divided(x):
    return np.divide.reduce(x)


def lengths_of_large(x):
    return np.hypot.reduce(1e200 * x) / 1e200


def less_infinite(x):
    return np.subtract.reduce(np.where(x > 2.5, np.inf, x)[::-1])


def whole_steps(x):
    return np.sum(np.linspace(x[0] - 1.7, x[1], 4, dtype=int)) * x[1]


def lengths_of_none(x):
    return np.hypot.reduce(x[:0]) + np.hypot.reduce(-x[1:2]) * np.hypot.reduce(np.outer(x, x), axis=None)


@pytest.mark.parametrize("f", [divided, lengths_of_large, whole_steps, lengths_of_none])
def test_a_composition_gives_what_numpy_gives(f) -> None:
    x = np.array([0.0, 2.0, 3.0])
    value, _ = tx.value_and_grad(f, fallback="error")(x)
    assert value == f(x) and np.isfinite(value)
    check_grads(f, (x + 0.01,), order=1)


def ramps_beside_infinity(x):
    return np.sum(np.pad(np.array([x[0], np.inf, x[1]]), (2, 1), "linear_ramp")[[0, 1, 2, 4, 5]] * x[2])


def reflected_beside_infinity(x):
    return np.sum(np.pad(np.array([x[0], np.inf, x[1], x[2]]), 1, "reflect", reflect_type="odd")[[1, 3, 4, 5]] ** 2)


def reflected_behind_infinity(x):
    rows = np.stack([np.array([np.inf, x[0], x[1]]), x])
    return np.sum(np.pad(rows, ((0, 0), (0, 2)), "symmetric", reflect_type="odd")[:, 1:] * x[2])


@pytest.mark.parametrize("f", [ramps_beside_infinity, reflected_beside_infinity, reflected_behind_infinity])
def test_what_an_element_does_not_enter_stays_finite(f) -> None:
    x = np.array([0.5, 2.0, 3.0])
    assert np.isfinite(f(x))
    assert tx.value_and_grad(f, fallback="error")(x)[0] == f(x)
    check_grads(f, (x,), order=1)


@pytest.mark.parametrize("mode", ["reflect", "symmetric"])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_wide_frames_are_reflected_again_and_again(n, mode) -> None:
    from tangentx.templates.composed_frames import pad

    row = np.linspace(1.0, 2.0, n) ** 3
    for width in itertools.product(range(0, 12, 2), range(1, 12, 3)):
        expected = np.pad(row, width, mode, reflect_type="odd")
        np.testing.assert_allclose(pad(row, width, mode, reflect_type="odd"), expected, rtol=1e-13)


def test_a_difference_from_infinity_is_infinite() -> None:
    x = np.array([0.0, 2.0, 3.0])
    assert tx.value_and_grad(less_infinite, fallback="error")(x)[0] == less_infinite(x) == np.inf


def joined_with_whole_numbers(x):
    return np.sum(np.concatenate([2.0 * np.asarray(v) for v in [x, np.array([1, 2])]]) ** 2)


def joined_with_a_list(x):
    return np.sum(np.concatenate([x, [1, 2]], dtype=np.float64) ** 2)


@pytest.mark.parametrize("f", [joined_with_whole_numbers, joined_with_a_list])
def test_whole_numbers_stand_beside_what_varies(f) -> None:
    check_grads(f, (np.array([0.3, 1.2, 0.7]),), order=2)


def cross_of_two(a):
    return np.sum(np.cross(a, np.ones((3, 4)), axisa=0, axisb=0))


def test_a_cross_product_with_a_plane_is_refused() -> None:
    for way in (tx.grad(cross_of_two), lambda a: tx.jvp(cross_of_two, (a,), (a,))):
        with pytest.raises(tx.NotDifferentiable, match="third component of 0"):
            way(np.ones((2, 4)))


def test_a_function_of_no_rows_raises_as_numpy_does() -> None:
    def rows(a):
        return np.sum(np.apply_along_axis(np.diff, 0, a))

    for f in (rows, tx.grad(rows)):
        with pytest.raises(ValueError, match="any iteration dimensions are 0"):
            f(np.ones((3, 0)))
    assert tx.grad(rows)(np.ones(0)).shape == (0,)


def test_a_polynomial_without_coefficients_is_zero() -> None:
    product = tx.grad(lambda p: np.sum(np.polymul(p, np.array([1.0, 2.0])) ** 2))
    np.testing.assert_allclose(product(np.array([1.0, -3.0])), [-2.0, -26.0])
    assert product(np.ones(0)).shape == (0,)


def real_or_complex(t):
    if np.iscomplexobj(t):
        return np.abs(t)
    return t * 3.0


def test_a_number_is_known_to_be_real_or_complex():
    assert tx.grad(lambda t: real_or_complex(t) + real_or_complex(2j * t), fallback="error")(1.5) == 5.0


def unwrapped_by_period(p, period):
    return np.sum(np.unwrap(p, period=period) * np.arange(5.0))


def test_the_period_of_unwrapped_phases():
    check_grads(unwrapped_by_period, (np.array([0.1, 2.9, 6.4, 1.0, 9.0]), 5.5), order=2)
