"""A loss or a gradient that is not finite is an error at the line that made it so, where that is asked for."""

from __future__ import annotations

import numpy as np
import pytest

import tangentx as tx
from tangentx import nn


def loss(w):
    doubled = w * 2.0
    logs = np.log(doubled)
    return np.sum(logs) + np.sum(doubled)


def steep(w):
    square = w * w
    return np.sum(np.sqrt(square - square + 0.0 * np.sum(square)))


def masked(w):
    return np.sum(np.where(w > 0.0, np.log(w), 0.0))


class Logarithms(nn.Module):
    def __init__(self):
        self.linear = nn.Linear(2, 2, generator=0)

    def forward(self, x):
        return np.log(self.linear(x) * 0.0 - 1.0)


def of_model(model, x):
    return np.sum(model(x) ** 2)


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("make", [tx.grad, tx.value_and_grad])
def test_the_line_is_named(make):
    derivative = make(loss, fallback="error")
    bad = np.array([1.0, 0.0])
    with tx.autograd.detect_anomaly():
        for good in (np.array([1.0, 2.0]), np.array([3.0, 2.0])):
            derivative(good)
        for _ in range(2):  # the way of the second call is another one
            with pytest.raises(
                tx.NotDifferentiable, match=r"`log` gives the first number.*\n *logs = np\.log\(doubled\)"
            ):
                derivative(bad)
    assert np.isinf(np.sum(derivative(bad)[-1]))


def test_a_loss_that_is_nan_beside_a_finite_gradient():
    with tx.autograd.detect_anomaly(), pytest.raises(tx.NotDifferentiable, match="logs = np.log"):
        tx.value_and_grad(loss)(np.array([1.0, -1.0]))


def test_a_slope_that_is_not_finite():
    with tx.autograd.detect_anomaly(), pytest.raises(tx.NotDifferentiable, match=r"return np\.sum\(np\.sqrt\("):
        tx.grad(steep)(np.array([1.0, 2.0]))


def test_what_is_selected_away_is_no_anomaly():
    with tx.autograd.detect_anomaly():
        value, slope = tx.value_and_grad(masked)(np.array([2.0, -1.0]))
    assert value == pytest.approx(np.log(2.0)) and slope.tolist() == [0.5, 0.0]


@pytest.mark.parametrize("form", ["tensors", "arrays"])
def test_the_layer_is_named(form):
    model = nn.Sequential(nn.Linear(2, 2, generator=1), Logarithms())
    given = model if form == "tensors" else model.arrays()
    with (
        tx.autograd.detect_anomaly(),
        pytest.raises(tx.NotDifferentiable, match="in a layer that was given") as caught,
    ):
        tx.value_and_grad(of_model)(given, np.ones((1, 2)))
    assert caught.value.__notes__[0].startswith("in the layer Logarithms(")
    assert caught.value.__notes__[1] == "which is `1` of Sequential"


def test_what_cannot_run_on_tensors_is_refused_with_less():
    from tangentx.testing import device_arrays as cp

    with tx.autograd.detect_anomaly(), pytest.raises(tx.NotDifferentiable, match=r"is not finite(.*\n)*Instead: look"):
        tx.value_and_grad(loss)(cp.asarray([1.0, -1.0]))
