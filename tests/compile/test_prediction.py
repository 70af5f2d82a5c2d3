"""What a derivative that nobody has called yet is shown for: bare parameters as the text reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx


def by_length(x, n):
    return sum(n * k for k in range(len(x)))


def by_element(x):
    return x[0] * x[-1]


def by_element_of_rows(a):
    return a[0][1:][0] * a[1, 1]


def by_rows(a):
    return np.sum(a[:, None, 0] * a[..., 1])


def by_loop(x):
    total = 0.0
    for v in x:
        total += v * v
    return total


def by_comprehension(x):
    return sum([v * v for v in x])


def by_product(x):
    return x @ np.ones(2)


def by_method(x):
    return x.sum()


def by_shape(x):
    return np.sum(x) / x.shape[0]


def as_number(x):
    return np.sum(x) * x.real


@pytest.mark.parametrize(
    "f, rank",
    [
        (by_element, 1),
        (by_element_of_rows, 2),
        (by_rows, 2),
        (by_loop, 1),
        (by_comprehension, 1),
        (by_product, 1),
        (by_method, 1),
        (by_shape, 1),
        (lambda x: x[0][0][0], 3),
    ],
)
def test_what_is_read_as_an_array_is_taken_for_one(f: Any, rank: int) -> None:
    text = tx.grad(f, fallback="error").source
    assert f"# Assumed to be an array of rank {rank}, for the text reads it so: " in text
    assert f": an array of float64 of rank {rank}" in text


def test_the_others_are_floats() -> None:
    text = tx.grad(by_length, wrt="n", fallback="error").source
    assert "# Assumed to be a float, for nothing says more: `n`.\n" in text
    assert "# Assumed to be an array of rank 1, for the text reads it so: `x`.\n" in text
    assert "# Assumed to be a float, for nothing says more: `x`." in tx.grad(as_number, fallback="error").source


def test_annotations_count_for_more() -> None:
    def listed(x: list[float]):
        return x[0] * 2.0

    text = tx.grad(listed).source
    assert "x: a list" in text
    assert "Assumed" not in text


@pytest.mark.parametrize("f", [lambda p: p["mass"] * 2.0, lambda p: p.mass * 2.0, lambda p: p[0]["mass"] * 2.0])
def test_what_is_neither_is_not_guessed(f: Any) -> None:
    with pytest.raises(tx.NotResolved, match=r"no annotation says what `p` is"):
        _ = tx.grad(f).source
