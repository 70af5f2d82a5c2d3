"""Lists that are operands of one operation: their items get their cotangents without a list of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tests.optimise.support import differences

X, H, W = np.array([0.5, 0.7]), np.array([1.1, 0.3, 0.9]), np.linspace(0.2, 1.0, 10).reshape(5, 2)


def slope(y, c):
    return np.array([y[1] * c, c * (1.0 - y[0] ** 2) * y[1] - y[0]])


def steps(y, c):
    for _ in range(4):
        y = y + 0.1 * slope(y, c)
    return np.sum(y * y)


def joined(x, c):
    return np.sum(np.tanh(np.concatenate([x, H * c * x[0]]) @ W))


def joined_columns(x, c):
    a = np.outer(x, x)
    for _ in range(3):
        a = np.concatenate([a[:, :1] * c, np.sin(a)], axis=1)[:, 1:] * c
    return np.sum(a * a)


def joined_rows_behind(x, c):
    return np.sum(np.concatenate((np.outer(x, H), c * np.outer(H, H), np.ones((1, 3))), axis=-2) ** 2)


def of_rows(x, c):
    return np.sum(np.array([x * c, x[::-1], np.ones(2)]) ** 3)


def of_lists(x, c):
    return np.linalg.det(np.array([[x[0], c], [1.0, x[1] * c]]))


def stacked(x, c):
    return np.sum(np.stack([x, x * c], axis=1)[:, 0] ** 2) + np.sum(np.stack((x * c, x))[0])


def of_whole_numbers(x, c):
    return np.sum(np.array([1, x[0] * c, 2]) ** 2)


def of_truth_values(x, c):
    return np.sum(np.array([x[0] > 0.0, c, True]) * c * x[0])


def biggest(x, c):
    return max([x[0], x[1] * c, c]) + sum([x[0], c * c]) * min(x[0], c)


def bound_anew(x, c):
    """The item is another number when the operation is there."""
    a = x[0]
    items = [a, c]
    a = a * 3.0
    return np.sum(np.array(items) * a)


def read_twice(x, c):
    items = [x[0], c]
    return np.sum(np.array(items)) * items[1]


def grown(x, c):
    items = [x[0], c]
    items.append(x[1])
    return np.sum(np.array(items) ** 2)


def in_another_block(x, c):
    items = [x[0] * c, c]
    total = 0.0
    for k in range(2):
        total = total + np.sum(np.array(items)) * k
    return total


def written(x, c):
    a = np.concatenate([x, H])
    b = np.concatenate([a[1:], a[:1] * c])
    a[0] = c
    b[1:] = b[1:] * a[0]
    return np.sum(a * b)


def of_matrices(x, c):
    m = np.outer(x, x)
    return np.sum(np.vstack([x, m]) ** 2) + np.sum(np.hstack([m, c * m]) ** 3) + np.sum(np.column_stack((x, c * x)))


PLAIN = (
    steps,
    joined,
    joined_columns,
    joined_rows_behind,
    of_rows,
    of_lists,
    stacked,
    of_whole_numbers,
    of_truth_values,
    biggest,
)
ALL = (*PLAIN, bound_anew, read_twice, grown, in_another_block, written, of_matrices)


@pytest.mark.share(3)
@pytest.mark.parametrize("off", [(), "operands", "all"])
@pytest.mark.parametrize("f", ALL)
def test_gradients_agree_with_differences(f: Any, off: Any) -> None:
    with pipeline.proofs(off=off):
        x_bar, c_bar = tx.grad(f, wrt=(0, 1))(X, 0.8)
        again = tx.grad(lambda x, c: tx.grad(f, wrt=1)(x, c))(X, 0.8)
    assert np.allclose(x_bar, differences(lambda x: f(x, 0.8), (X,)), rtol=1e-6, atol=1e-8)
    assert np.allclose(c_bar, differences(lambda c: f(X, c), (0.8,)), rtol=1e-6, atol=1e-8)
    assert np.allclose(again, differences(lambda x: tx.grad(f, wrt=1)(x, 0.8), (X,)), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("f", ALL)
def test_forward_mode_agrees(f: Any) -> None:
    x_bar, c_bar = tx.grad(f, wrt=(0, 1))(X, 0.8)
    value, slope = tx.jvp(f, (X, 0.8), (np.ones(2), 1.0))
    assert value == f(X, 0.8) and np.isclose(slope, np.sum(x_bar) + c_bar)


@pytest.mark.parametrize("f", [steps, joined, joined_columns, of_rows, of_lists, of_whole_numbers])
def test_no_list_of_cotangents_is_made(f: Any) -> None:
    text = tx.grad(f, wrt=(0, 1)).source_for(X, 0.8)
    assert "split_like" not in text and "nested" not in text
    with pipeline.proofs(off="operands"):
        text = tx.grad(f, wrt=(0, 1)).source_for(X, 0.8)
        assert "split_like" in text or "nested" in text


def test_a_right_hand_side_records_nothing() -> None:
    assert "saved" not in tx.grad(steps, wrt=(0, 1)).source_for(X, 0.8)


def test_lengths_need_not_be_known() -> None:
    def f(x, y, c):
        return np.sum(np.concatenate([x * c, y, x]) ** 2)

    gradient = tx.grad(f, wrt=(0, 1))
    for n in (0, 1, 3):
        for m in (0, 2):
            x, y = np.linspace(1.0, 2.0, n), np.linspace(2.0, 3.0, m)
            x_bar, y_bar = gradient(x, y, 0.5)
            assert np.allclose(x_bar, 2.5 * x) and np.allclose(y_bar, 2.0 * y)
