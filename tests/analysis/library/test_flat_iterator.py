"""`a.flat`, `a.shape = ...`, `a.real = ...`: what they do to the array, or an error that says what to write."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tests.frontend.made import defined

A = np.arange(12.0).reshape(3, 4) / 10.0


def slope_of_sum(body: str, *rest: Any, a: Any = A) -> Any:
    """The gradient of the sum of squares of what the statements leave in `a`."""
    lines = "\n    ".join(body.split("; "))
    function: Any = defined(f"import numpy as np\ndef f(a, s):\n    {lines}\n    return np.sum(a * a)\n")
    return tx.grad(function, wrt=(0, 1), fallback="error")(a.copy(order="K"), 2.0, *rest)


@pytest.mark.parametrize("a", [A, A.T, A[::2], A[0]], ids=["rows", "columns", "strided", "vector"])
def test_flat_is_the_elements_by_rows(a: Any) -> None:
    expected = 2.0 * a
    expected.flat[[1, 3]] = 0.0
    gradient, by_s = slope_of_sum("a.flat[1] = s; row = a.flat; row[3] = s * s", a=a)
    np.testing.assert_allclose(gradient, expected)
    assert by_s == pytest.approx(2.0 * 2.0 + 4.0 * 2.0**3)


def test_a_loop_over_what_is_written_is_refused() -> None:
    with pytest.raises(tx.TangentxError, match="a loop over the elements") as caught:
        slope_of_sum("for v in a.flat:;     a[0, 0] = v * s".replace(";   ", "; "))
    assert caught.value.span is not None


def test_a_loop_over_what_nobody_writes() -> None:
    def f(a):
        total = 0.0
        for v in a.flat:
            total += v * v
        return total + max(a.flat) + len(a.flat)

    expected = 2.0 * A
    expected[-1, -1] += 1.0
    np.testing.assert_allclose(tx.grad(f, fallback="error")(A), expected)


def test_the_shape_of_the_only_holder_is_set() -> None:
    gradient, by_s = slope_of_sum("a = a * s; a.shape = (4, 3); a[0] = s; a.shape = -1; a[5] = 0.0")
    expected = 8.0 * A
    expected.flat[[0, 1, 2, 5]] = 0.0
    np.testing.assert_allclose(gradient, expected)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("b = a; a.shape = -1; b[0] = s", "`b` may hold"),
        ("a[0].shape = (2, 2)", "without a name"),
        ("a.imag = s", "imaginary part of an array of reals"),
        ("a.flat[0, 1] = s", "one index"),
        ("a.T = a", "attribute `T`"),
        ("a.strides = (8, 8)", "attribute `strides`"),
    ],
)
def test_what_is_refused(body: str, message: str) -> None:
    with pytest.raises(tx.TangentxError, match=message) as caught:
        slope_of_sum(body)
    assert caught.value.span is not None


def test_a_helper_does_not_set_the_shape_of_its_callers_array() -> None:
    source = "import numpy as np\ndef g(b):\n    b.shape = -1\ndef f(a, s):\n    g(a)\n    return np.sum(a) * s\n"
    with pytest.raises(tx.TangentxError, match="the caller may hold"):
        tx.grad(defined(source), fallback="error")(A.copy(), 2.0)
