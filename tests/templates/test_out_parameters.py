"""Where functions take the array for their result, and that none may spoil what a derivative still needs."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import fft, linalg, signal

import tangentx as tx
from tangentx.templates import from_out, overwriting

LOWER = np.array([[3.0, 0.0, 0.0], [1.0, 2.0, 0.0], [0.5, 0.2, 1.0]])
X = np.array([0.9, 0.31, 0.58])


def test_the_place_of_out() -> None:
    assert from_out(np.round) == (2, ("out",))
    assert from_out(np.ndarray.round)[0] == from_out(np.round)[0]
    assert from_out(np.cumsum) == (3, ("out",))
    assert from_out(np.argmax) == (2, ("out",))
    for fn in (np.add, operator.add, np.ndarray.flatten, [].append):
        assert from_out(fn)[0] > 100


def test_what_allows_to_overwrite() -> None:
    assert overwriting(np.median) == {"overwrite_input": 3}
    assert overwriting(linalg.det) == {"overwrite_a": 1}
    assert overwriting(np.add) == overwriting(len) == overwriting(lambda overwrite_a: 0) == {}


def triangular(b):
    return linalg.solve_triangular(LOWER, b, lower=True, overwrite_b=True)


def median(b):
    return np.median(b, None, None, True)


def percentile(b):
    return np.percentile(b, 30.0, overwrite_input=True)


def cosines(b):
    return fft.dct(b, overwrite_x=True)


def detrended(b):
    return signal.detrend(b, overwrite_data=True)


def inverse(b):
    a = np.asfortranarray(np.outer(b, b) + LOWER @ LOWER.T)
    return np.sum(a**3) + linalg.inv(a, True)


@pytest.mark.parametrize("fn", [triangular, median, percentile, cosines, detrended, inverse])
def test_what_a_function_may_overwrite_is_kept(fn: Callable[[Any], Any]) -> None:
    def f(a):
        b = a * 1.0
        before = np.sum(b**3)
        return before + np.sum(fn(b) ** 2)

    def of_the_argument(a):
        return np.sum(fn(a) ** 2)

    for program in (f, of_the_argument):
        wanted = [(program(X + e) - program(X - e)) / 2e-6 for e in np.eye(3) * 1e-6]
        x = X.copy()
        np.testing.assert_allclose(tx.grad(program, fallback="error")(x), wanted, rtol=1e-6, atol=1e-7)
        tangent = tx.jvp(program, (x,), (np.ones(3),), fallback="error")[1]
        np.testing.assert_allclose(tangent, np.sum(wanted), rtol=1e-6, atol=1e-7)
        t = tx.tensor(x, requires_grad=True)
        (program if fn in (median, percentile) else tx.differentiate(program))(t).backward()
        np.testing.assert_allclose(t.grad.numpy(), wanted, rtol=1e-6, atol=1e-7)
        assert (x == X).all()
