"""Recurrent layers over sequences: PyTorch's numbers, on Tensors and compiled."""

import numpy as np
import pytest

import tangentx as tx
from tangentx import nn
from tests.nn.models import agrees, filled, flat, wave

OPTIONS = {
    "plain": {},
    "deep": {"num_layers": 2, "bidirectional": True},
    "batch first": {"batch_first": True, "bias": False},
}


def loss(model, x):
    y, state = model(x)
    first = state[0] if isinstance(state, tuple) else state
    return np.sum(y * y) + np.sum(first**3)


@pytest.mark.share(1)
@pytest.mark.parametrize("how", OPTIONS)
@pytest.mark.parametrize("name", ["RNN", "GRU", "LSTM"])
def test_values_and_gradients_are_pytorchs(name, how):
    layers = filled(getattr(nn, name)(3, 2, **OPTIONS[how]))
    x = wave(4, 2, 3)
    with tx.no_grad():
        y, state = layers(x)
    states = state if name == "LSTM" else (state,)
    by_model, by_x = tx.grad(loss, wrt=(0, 1), fallback="error")(layers, x)
    agrees(f"{name} {how}", y, *states, by_x, *by_model.parameters())
    given = tx.tensor(x, requires_grad=True)
    loss(layers, given).backward()
    agrees(f"{name} {how}", y, *states, given.grad, *(p.grad for p in layers.parameters()))


def test_parameters_have_pytorchs_names():
    layers = nn.LSTM(3, 4, num_layers=2, bidirectional=True, generator=0)
    names = [
        f"{name}_l{k}{end}"
        for k in range(2)
        for end in ("", "_reverse")
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    ]
    assert list(layers.state_dict()) == names == [name for name, _ in layers.named_parameters()]
    assert layers.state_dict()["weight_ih_l1"].shape == (16, 8)
    assert repr(layers) == "LSTM(3, 4, num_layers=2, bidirectional=True)  # 736 parameters"
    other = nn.LSTM(3, 4, num_layers=2, bidirectional=True, generator=1)
    other.load_state_dict(layers.state_dict())
    np.testing.assert_array_equal(flat(*other.parameters()), flat(*layers.parameters()))
    assert len(list(layers.arrays().parameters())) == 16


@pytest.mark.parametrize("name", ["RNN", "GRU", "LSTM"])
def test_states_that_are_given(name):
    layers, x, start = getattr(nn, name)(3, 4, num_layers=2, generator=0), wave(6, 2, 3), 0.5 * wave(2, 2, 4)
    state = (start, start) if name == "LSTM" else start
    with tx.no_grad():
        whole, end = layers(x, state)
        half, middle = layers(x[:3], state)
        rest, last = layers(x[3:], middle)
    np.testing.assert_allclose(flat(half, rest), flat(whole), rtol=1e-14)
    np.testing.assert_allclose(
        flat(*(last if name == "LSTM" else (last,))), flat(*(end if name == "LSTM" else (end,))), rtol=1e-14
    )
    alone, _ = layers(x[:, 0])
    together, _ = layers(x)
    np.testing.assert_allclose(flat(alone), flat(together[:, 0]), rtol=1e-14)


def test_dropout_is_between_layers_while_training():
    layers, x = nn.GRU(3, 4, num_layers=2, dropout=0.5, generator=0), wave(5, 2, 3)
    assert not np.array_equal(flat(layers(x)[0]), flat(layers(x)[0]))
    layers.eval()
    np.testing.assert_array_equal(flat(layers(x)[0]), flat(layers(x)[0]))
    single = nn.GRU(3, 4, dropout=0.5, generator=0)
    np.testing.assert_array_equal(flat(single(x)[0]), flat(single(x)[0]))


def test_a_weight_that_is_tied_has_the_sum_of_gradients():
    class Twice(nn.Module):
        def __init__(self):
            self.first, self.second = nn.RNN(3, 3, generator=0), nn.RNN(3, 3, generator=1)
            self.second.cells[0].weight_ih = self.first.cells[0].weight_ih

        def forward(self, x):
            return self.second(self.first(x)[0])

    model, x = Twice(), wave(4, 2, 3)
    loss(model, x).backward()
    found = tx.grad(loss)(model, x)
    np.testing.assert_allclose(
        found.first.cells[0].weight_ih, model.first.cells[0].weight_ih.grad.numpy(), rtol=1e-12, atol=1e-14
    )


def test_bad_input():
    layers = nn.RNN(3, 4)
    with pytest.raises(ValueError, match="the sequence is empty"):
        layers(np.ones((0, 2, 3)))
    with pytest.raises(ValueError, match="has the axes"):
        layers(np.ones(3))
    with pytest.raises(ValueError, match="num_layers=0"):
        nn.LSTM(3, 4, num_layers=0)
    with pytest.raises(ValueError, match="dropout=2 is no probability"):
        nn.GRU(3, 4, dropout=2)
    with pytest.raises(ValueError, match="nonlinearity='sin'"):
        nn.RNN(3, 4, nonlinearity="sin")
