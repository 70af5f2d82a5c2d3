"""Options of ufuncs that say in which type they calculate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx

X = np.array([0.4, 0.7, 1.3])


def wider(x):
    return np.sum(np.multiply(x, [2.0, 3.0, x[0]], dtype=np.float64) ** 2)


def into(x):
    found = np.empty(3, complex)
    np.exp(1j * x, dtype="complex128", out=found)
    return np.sum(found.imag)


def laid_out(x):
    return np.sum(np.divide(1.0, x, casting="same_kind", order="F", subok=False))


def on_tensors(x):
    class Unknown:
        pass

    return np.sum(np.add(np.multiply(x, x, dtype=np.float64), 1.0, order="C"))


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize("f", [wider, into, laid_out, on_tensors], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_right_in_both_modes(f: Callable[..., Any], dtype: type) -> None:
    fallback: Any = "tensor" if f is on_tensors else "error"
    at = X.astype(dtype)
    gradient = tx.grad(f, fallback=fallback)(at)
    wanted = [(f(X + 1e-6 * e) - f(X - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
    assert gradient.dtype == dtype
    np.testing.assert_allclose(gradient, wanted, rtol=1e-5)
    value, dot = tx.jvp(f, (at,), (np.ones(3, dtype),), fallback=fallback)
    np.testing.assert_allclose(dot, np.sum(wanted), rtol=1e-5)
    assert type(value) is type(f(at))


def test_what_is_not_cast_is_refused() -> None:
    with pytest.raises(tx.NoTemplate, match="dtype"):
        tx.grad(lambda x: np.sum(np.abs(x + 1j, dtype=float)), fallback="error")(X)
