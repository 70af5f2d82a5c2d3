"""Functions of other libraries: NumPy's, of arrays that lie elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

import tangentx as tx
from tangentx.testing import device_arrays as cp

X = np.array([0.5, 2.0, -1.0])


def by_module(x):
    xp = cp.get_array_module(x)
    scale = xp.asarray([1.0, 2.0, 3.0]) + xp.arange(3) * xp.ones(3)
    return xp.sum(scale * xp.sin(x)) + xp.linalg.norm(x)


@pytest.mark.parametrize("put", [np.asarray, cp.asarray], ids=["here", "there"])
def test_the_module_is_that_of_the_argument(put):
    found = tx.grad(by_module, fallback="error")(put(X))
    assert type(found) is type(put(X))
    wanted = np.array([1.0, 3.0, 5.0]) * np.cos(X) + X / np.linalg.norm(X)
    np.testing.assert_allclose(cp.asnumpy(found), wanted, rtol=1e-13)


def test_questions_of_class_are_decided():
    def asked(x):
        if isinstance(x, cp.ndarray) and type(x) is cp.ndarray and not isinstance(x, np.ndarray):
            return cp.sum(x * x)
        return np.sum(x)

    assert tx.grad(asked, fallback="error")(cp.asarray(X)).get().tolist() == (2.0 * X).tolist()
    assert tx.grad(asked, fallback="error")(X).tolist() == [1.0, 1.0, 1.0]


def test_arrays_of_elements_and_elements_as_views():
    def turned(x):
        first = x[0]
        pair = cp.array([x[1], -x[0]])
        x[0] = 7.0  # `first` is a view there, not a number
        return cp.sum(pair**2) + first * x[2]

    assert tx.grad(turned, fallback="error")(cp.asarray(X)).get().tolist() == [1.0, 4.0, 7.0]


def test_a_list_or_number_is_no_transfer_that_is_ours():
    def weighed(x):
        return cp.sum(cp.array([1.0, 2.0, 3.0]) * x)

    x = cp.asarray(X)
    gradient = tx.grad(weighed, fallback="error")
    gradient(x)
    cp.transfers.reset()
    weighed(x)
    wanted = cp.transfers.up
    cp.transfers.reset()
    gradient(x)
    assert (cp.transfers.down, cp.transfers.up) == (0, wanted)


def test_functions_of_math_ask_once():
    import math

    def wave(x):
        return math.sin(x[0]) * x[1]

    x = cp.asarray(X)
    gradient = tx.grad(wave, fallback="error")
    gradient(x)
    cp.transfers.reset()
    found = gradient(x)
    assert cp.transfers.down == 1
    np.testing.assert_allclose(found.get(), [2.0 * np.cos(0.5), np.sin(0.5), 0.0], rtol=1e-14)


def test_the_outcome_of_a_test_is_asked_once():
    def branched(x):
        for _ in range(3):
            if x[0] > 0.1:
                x = x * x[0]
        return cp.sum(x)

    x = cp.asarray(X)
    gradient = tx.grad(branched, fallback="error")
    gradient(x)
    cp.transfers.reset()
    branched(x)
    wanted = cp.transfers.down
    cp.transfers.reset()
    gradient(x)
    assert cp.transfers.down == wanted == 3
