"""`np.vectorize` of functions with effects, which NumPy calls once more to learn the type of the results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx

CALLS: list[float] = []
X = np.array([0.5, 1.5, 2.0])


def noted(v):
    CALLS.append(1.0)
    return v * v


PLAIN, TYPED, KEPT = np.vectorize(noted), np.vectorize(noted, otypes=[float]), np.vectorize(noted, cache=True)


def plain(x):
    return np.sum(PLAIN(x))


def typed(x):
    return np.sum(TYPED(x))


def kept(x):
    return np.sum(KEPT(x))


def made_here(x):
    return np.sum(np.vectorize(noted)(x))


@pytest.mark.parametrize("f", [plain, typed, kept, made_here])
def test_the_function_is_called_as_often_as_numpy_does(f: Callable[..., Any]) -> None:
    CALLS.clear()
    f(X)
    wanted = len(CALLS)
    CALLS.clear()
    np.testing.assert_allclose(tx.grad(f, fallback="error")(X), 2.0 * X)
    assert len(CALLS) == wanted


def test_no_elements_have_no_type() -> None:
    for f in (plain, tx.grad(plain)):
        with pytest.raises(ValueError, match="size 0 inputs unless `otypes` is set"):
            f(X[:0])
    assert tx.grad(typed)(X[:0]).shape == (0,)
