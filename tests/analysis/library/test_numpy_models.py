"""Parts of an array that is written are views; how many there are must be known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tests.frontend.made import defined

A = np.arange(24.0).reshape(4, 6) / 10.0


@pytest.mark.parametrize(
    "parts",
    [
        "np.split(a, 2)",
        "np.split(a, 3, axis=1)",
        "np.split(a, [1, 4], -1)",
        "np.array_split(a, 4, axis=1)",
        "np.array_split(a, 1)",
        "np.hsplit(a, 2)",
        "np.vsplit(a, [3])",
    ],
)
def test_what_is_written_through_a_part_lands_in_the_array(parts: str) -> None:
    source = f"import numpy as np\ndef f(a, s):\n    p = {parts}\n    p[-1][0] *= s\n    return np.sum(a * a)\n"
    f: Any = defined(source)
    gradient, by_s = tx.grad(f, wrt=(0, 1), fallback="error")(A.copy(), 3.0)
    scale = np.ones_like(A)
    eval(parts, {"np": np, "a": scale})[-1][0] *= 3.0
    np.testing.assert_allclose(gradient, 2.0 * A * scale**2)
    assert by_s == pytest.approx(np.sum(A[scale > 1.0] ** 2) * 6.0)


def test_uneven_parts_raise_as_numpy_does() -> None:
    def f(a):
        p = np.split(a, 3)
        p[0][0] = 0.0
        return np.sum(a)

    with pytest.raises(ValueError, match="equal division"):
        tx.grad(f, fallback="error")(A.copy())


def test_parts_of_unknown_number_are_refused() -> None:
    def f(a, n):
        p = np.split(a, n)
        p[0][0] = 0.0
        return np.sum(a)

    with pytest.raises(tx.TangentxError, match="how many parts") as caught:
        tx.grad(f, fallback="error")(A.copy(), 2)
    assert caught.value.span is not None


def test_the_indices_of_a_grid_are_known_by_kind_before_there_are_any() -> None:
    def f(a, s):
        for at in np.ndindex(a.shape):
            a[at] *= s
        total = 0.0
        for (i, j), v in np.ndenumerate(np.outer(a[0], a[1])):
            total += i * j * v
        return total

    expected = sum(i * j * A[0, i] * A[1, j] for i, j in np.ndindex(6, 6))
    assert tx.grad(f, wrt="s", fallback="error")(A.copy(), 2.0) == pytest.approx(4.0 * expected)
