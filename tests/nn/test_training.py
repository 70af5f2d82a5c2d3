"""Models that learn: on Tensors and compiled, step for step the same."""

import numpy as np
import pytest

import tangentx as tx
from tangentx import nn
from tangentx.nn import functional


def moons(count, rng):
    angle = np.pi * rng.random(count)
    upper = rng.random(count) < 0.5
    x = np.where(upper, np.cos(angle), 1.0 - np.cos(angle))
    y = np.where(upper, np.sin(angle), 0.5 - np.sin(angle))
    return np.stack([x, y], 1) + 0.1 * rng.normal(size=(count, 2)), upper.astype(int)


def network():
    return nn.Sequential(nn.Linear(2, 16, generator=0), nn.ReLU(), nn.Linear(16, 2, generator=1))


def loss(model, x, labels):
    return functional.cross_entropy(model(x), labels)


def test_two_moons_in_both_forms():
    x, labels = moons(200, np.random.default_rng(0))
    model = network()
    opt = tx.optim.Adam(model.parameters(), lr=0.03)
    for _ in range(200):
        opt.zero_grad()
        loss(model, x, labels).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1e6)  # changes nothing
        opt.step()
    params, functional_opt = network(), tx.optim.Adam(lr=0.03)
    state, step = functional_opt.init(params), tx.grad(loss)
    for _ in range(200):
        params, state = functional_opt.update(params, step(params, x, labels), state)
    with tx.no_grad():
        right = np.argmax(model(x).current, 1) == labels
        again = np.argmax(params(x).current, 1) == labels
    assert np.mean(right) > 0.97 and np.mean(again) > 0.97
    for a, b in zip(model.parameters(), params.parameters()):
        np.testing.assert_allclose(a.current, b.current, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_gradient_of_weights_is_computed_as_they_lie_in_memory(dtype):
    """Turned around, that of a large layer would be added to zeros in another order: thirty times slower."""
    layers = (
        nn.Flatten(),
        nn.Linear(4, 3, generator=0, dtype=dtype),
        nn.Tanh(),
        nn.Linear(3, 3, generator=1, dtype=dtype),
    )
    gradient = tx.grad(loss)
    gradient(nn.Sequential(*layers), np.ones((1, 2, 2), dtype), np.array([1]))
    assert "product_bar.T @ x" in gradient.source and "x.T @" not in gradient.source


class Reader(nn.Module):
    """Tells what comes next in a sequence."""

    def __init__(self):
        self.cell = nn.LSTMCell(1, 8, generator=0)
        self.head = nn.Linear(8, 1, generator=1)

    def forward(self, series):
        h = np.zeros((series.shape[1], 8))
        c = np.zeros((series.shape[1], 8))
        total = 0.0
        for t in range(len(series) - 1):
            h, c = self.cell(series[t], (h, c))
            total = total + np.mean((self.head(h) - series[t + 1]) ** 2)
        return total


def read(model, series):
    return model(series)


def test_a_recurrent_network_learns():
    times = np.arange(12.0)[:, None, None] + np.arange(3.0)[None, :, None]
    series = np.sin(0.7 * times)
    params, opt = Reader(), tx.optim.Adam(lr=0.02)
    state, step = opt.init(params), tx.value_and_grad(read)
    on_tensors = Reader()
    on_tensors(series).backward()
    first, gradient = step(params, series)
    for name, p in on_tensors.named_parameters():
        np.testing.assert_allclose(dict(gradient.named_parameters())[name], p.grad.current, rtol=1e-10, atol=1e-12)
    params = params.arrays()
    for _ in range(60):
        value, gradient = step(params, series)
        params, state = opt.update(params, gradient, state)
    assert value < 0.1 * first
    assert type(params.head.weight) is np.ndarray
