"""Parameters as one vector, there and back."""

import numpy as np
import pytest

import tangentx as tx
from tangentx import nn


class Tied(nn.Module):
    def __init__(self):
        self.first = nn.Linear(3, 3, bias=False, generator=0)
        self.second = nn.Linear(3, 3, bias=False, generator=1)
        self.second.weight = self.first.weight
        self.table = np.ones(2)

    def forward(self, x):
        return self.second(np.tanh(self.first(x)))


def test_there_and_back():
    model = nn.Sequential(nn.Linear(3, 2, generator=0), nn.BatchNorm1d(2), nn.Linear(2, 1, generator=1))
    vector, unravel = tx.tree.ravel(model)
    assert vector.shape == (sum(p.size for p in model.parameters()),)
    again = unravel(2.0 * vector)
    for old, new in zip(model.parameters(), again.parameters(), strict=True):
        np.testing.assert_array_equal(new.current, 2.0 * old.current)
    with pytest.raises(ValueError, match=r"a vector of shape \(\d+,\), not \(3,\)"):
        unravel(vector[:3])


def test_structures_keep_classes_and_dtypes():
    tree = {"w": np.ones((2, 2), np.float32), "z": 1.0 + 2.0j, "n": 3, "rest": (np.float64(2.0), "name")}
    vector, unravel = tx.tree.ravel(tree)
    made = unravel(vector)
    assert vector.dtype == np.complex128 and made["w"].dtype == np.float32 and made["z"] == 1.0 + 2.0j
    assert made["n"] == 3 and made["rest"] == (2.0, "name") and tx.tree.ravel([])[0].shape == (0,)


def test_scipy_minimises_a_model():
    minimize = pytest.importorskip("scipy.optimize").minimize
    x = np.random.default_rng(0).normal(size=(20, 3))
    value_and_grad = tx.value_and_grad(lambda model, x: nn.functional.mse_loss(model(x), x))
    model = Tied()
    start, unravel = tx.tree.ravel(model)
    assert start.shape == (9,)

    def run(vector):
        model = unravel(vector)
        value, slopes = value_and_grad(model, x)
        return value, tx.tree.ravel(slopes, like=model)[0]

    h = 1e-6 * np.eye(9)[4]
    slope = (run(start + h)[0] - run(start - h)[0]) / 2e-6
    np.testing.assert_allclose(run(start)[1][4], slope, rtol=1e-6)
    assert minimize(run, start, jac=True).fun < 0.5 * run(start)[0]
