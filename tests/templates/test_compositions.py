"""Compositions take the calls that they mean right, and no others."""

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


def complex_determinant(a):
    return np.linalg.slogdet(a + 1j * np.eye(3))[1]


def complex_factor(a):
    return np.sum(np.real(np.linalg.cholesky(a + 0j)))


def grid_of_three(a):
    return np.sum(np.meshgrid(a[0], a[1], a[2])[0])


def periodic(a):
    return np.sum(np.interp(a[0], x, x, period=2.0))


REFUSED: list[Callable[..., Any]] = [
    deep_kron, ramp_pad, maximum_pad, layout_order, nuclear, norms_of_axes,
    complex_determinant, complex_factor, grid_of_three, periodic,
]  # fmt: skip


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


@pytest.mark.parametrize("f", [slopes_of_a_cube, negative_order])
def test_calls_that_were_refused_once(f: Callable[..., Any]) -> None:
    a = np.array([[1.5, 0.7, 2.1], [0.4, 1.1, 0.9]])
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
