"""Forward mode: beside each statement, that of the tangents."""

from __future__ import annotations

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tangentx.testing import check_grads
from tests.analysis.made import in_order
from tests.derive.made import forward_text


def put(x, A, i):
    A[i] = x * x
    return A[0]


def rebound(x):
    for _ in range(2):
        x = x * np.sin(x)
    return x


def helper(x):
    return x * x


def calls(x):
    return helper(x)


def test_storages_have_a_tangent_that_is_written_as_they_are() -> None:
    assert in_order(forward_text(put, 2.0, np.ones(3), 1), "A = entry_copy(A)", "A_dot = ", "A_dot[i] = ", "A[i] = ")


def test_the_tangent_is_found_before_the_name_is_bound() -> None:
    found = forward_text(rebound, 2.0)
    body = found.partition("for ")[2]
    assert in_order(body, "x_dot)", "x = ", "x_dot = ")
    step = 1e-6
    numeric = (rebound(2.0 + step) - rebound(2.0 - step)) / (2 * step)
    with pipeline.proofs("all"):
        assert tx.jvp(rebound, (2.0,), (1.0,))[1] == pytest.approx(numeric, rel=1e-6)


def test_a_callee_gives_value_and_tangent() -> None:
    assert in_order(forward_text(calls, 2.0), "call helper_tangent(x, x_dot)", "[0]", "[1]")


def test_a_linear_operation_is_applied_to_the_tangent() -> None:
    assert "sum(A_dot)" in forward_text(lambda A: np.sum(A), np.ones(2))


@pytest.mark.parametrize("function", [lambda z: z @ z, lambda z: np.dot(z, b=z), lambda z: np.sum(np.outer(z, z))])
def test_a_product_of_a_name_with_itself_has_a_tangent_for_each_place(function) -> None:
    def f(y):
        z = np.sin(y)
        return function(z)

    y, y_dot = np.array([0.9, 0.3]), np.array([1.0, 2.0])
    found = tx.jvp(f, (y,), (y_dot,), fallback="error")[1]
    assert found == pytest.approx(tx.grad(f, fallback="error")(y) @ y_dot)


def test_the_tangent_of_a_sum_is_not_that_of_an_array_that_is_written_later() -> None:
    def shifted(a):
        y = a + 1.0
        z = y - 2.0
        a[0] = 5.0 * a[1]
        z[1] = 0.0
        return np.sum(y * y) + np.sum(z)

    x, v = np.array([1.0, 2.0, 3.0]), np.array([0.3, 0.5, 0.7])
    for off in ((), "all"):
        with pipeline.proofs(off=off):
            assert tx.jvp(shifted, (x,), (v,))[1] == pytest.approx(2.0 * (x + 1.0) @ v + v[0] + v[2])
            assert tx.grad(shifted)(x) @ v == pytest.approx(2.0 * (x + 1.0) @ v + v[0] + v[2])


def test_a_constant_in_memory_that_is_varied_under_another_name() -> None:
    def f(a, b):
        framed, second = np.pad(b, 1, "wrap"), a * 1.0
        if framed.size > 100:
            framed, second = second, framed
        return np.sum(framed) * np.sum(second * second)

    a, b = np.array([1.0, 2.0]), np.array([0.5, 0.7, 0.9])
    found = tx.jvp(f, (a, b), (np.ones(2), None), fallback="error")[1]
    assert found == pytest.approx(2.0 * np.sum(np.pad(b, 1, "wrap")) * 3.0)
    gradient = tx.grad(f, fallback="error")(a, b)
    np.testing.assert_allclose(gradient, 2.0 * np.sum(np.pad(b, 1, "wrap")) * a)


def one_array_twice(x):
    return np.concatenate([x, x])[1:] * x[0]


def one_array_thrice(x):
    return np.stack([x] * 3)[1:] * x[0]


def beside_a_constant(x):
    return np.vstack([x, np.ones(3), x])[1:] * x[0]


@pytest.mark.parametrize("f", [one_array_twice, one_array_thrice, beside_a_constant], ids=lambda f: f.__name__)
def test_parts_of_a_list_that_are_one_array(f) -> None:
    def along(x):
        dot = np.arange(3.0) * x[0]
        return np.sum(tx.jvp(f, (x,), (dot,))[1] ** 2)

    check_grads(along, (np.array([0.3, 0.9, 0.7]),), order=1)
