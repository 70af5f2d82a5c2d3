"""Modules on arrays of another library: their gradients are those of the module here, and stay there."""

from __future__ import annotations

import copy
import sys
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx import nn, optim
from tangentx.testing import device_arrays as cp

DRAW = np.random.default_rng(5)
IMAGES = DRAW.normal(size=(2, 2, 6, 6))


def squares(model: Any, x: Any) -> Any:
    return np.sum(model(x) ** 2)


@pytest.mark.parametrize(
    "layer",
    [
        nn.Linear(6, 3, generator=0),
        nn.Conv2d(2, 3, 3, padding=1, generator=0),
        nn.MaxPool2d(2),
        nn.AvgPool2d(2),
        nn.AdaptiveAvgPool2d((4, 3)),
        nn.BatchNorm2d(2),
        nn.LayerNorm(6),
        nn.GELU(),
        nn.Softmax(-1),
        nn.Sequential(nn.Flatten(), nn.Linear(72, 4, generator=1), nn.Tanh()),
    ],
    ids=lambda layer: type(layer).__name__,
)
def test_layers_on_a_device(layer):
    gradient = tx.grad(squares, wrt="x", fallback="error")
    there, x = copy.deepcopy(layer).to(cp), cp.asarray(IMAGES)
    gradient(there, x)
    cp.transfers.reset()
    found = gradient(there, x)
    assert (cp.transfers.down, cp.transfers.up) == (0, 0)
    np.testing.assert_allclose(found.get(), gradient(layer, IMAGES), rtol=1e-11, atol=1e-12)


SEQUENCE = DRAW.normal(size=(5, 2, 6))


def squares_of_first(model: Any, *x: Any) -> Any:
    found = model(*x)
    return np.sum((found[0] if isinstance(found, tuple) else found) ** 2)


@pytest.mark.parametrize(
    "layer, count",
    [
        (nn.RNN(6, 4, num_layers=2, generator=0), 1),
        (nn.LSTM(6, 4, bidirectional=True, generator=0), 1),
        (nn.GRU(6, 4, batch_first=True, generator=0), 1),
        (nn.GRUCell(6, 4, generator=0), 1),
        (nn.MultiheadAttention(6, 2, generator=0), 3),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.share(1)
def test_sequences_on_a_device(layer, count):
    gradient = tx.grad(squares_of_first, wrt=("model", "x"), fallback="error")
    there, x = copy.deepcopy(layer).to(cp), cp.asarray(SEQUENCE)
    gradient(there, *[x] * count)
    cp.transfers.reset()
    slopes, (found, *_) = gradient(there, *[x] * count)
    assert (cp.transfers.down, cp.transfers.up) == (0, 0)
    wanted, (there_too, *_) = gradient(layer, *[SEQUENCE] * count)
    np.testing.assert_allclose(found.get(), there_too, rtol=1e-11, atol=1e-12)
    for ours, theirs in zip(slopes.parameters(), wanted.parameters(), strict=True):
        np.testing.assert_allclose(ours.get(), theirs, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("seeded", [True, False])
def test_dropout_draws_where_its_argument_lies(seeded):
    def halves(x, generator):
        return np.sum(nn.functional.dropout(x, 0.5, True, generator) * 3.0)

    x = cp.asarray(SEQUENCE)
    ask = tx.value_and_grad(halves, fallback="error")
    cp.transfers.reset()
    _, found = ask(x, np.random.default_rng(3) if seeded else None)
    assert (cp.transfers.down, cp.transfers.up) == (0, 0)
    kept = found.get() != 0.0
    assert 0.2 < np.mean(kept) < 0.8
    np.testing.assert_array_equal(found.get(), np.where(kept, 6.0, 0.0))
    if seeded:  # the same seed draws the same numbers, the next draw others
        generator = np.random.default_rng(3)
        np.testing.assert_array_equal(ask(x, generator)[1].get(), found.get())
        assert np.any(ask(x, generator)[1].get() != found.get())


def test_training_on_a_device():
    model = nn.Sequential(nn.Linear(2, 4, generator=0), nn.Tanh(), nn.Linear(4, 3, generator=1))
    x, y = DRAW.normal(size=(6, 2)), np.array([0, 1, 2, 0, 1, 2])

    def loss(model, x, y):
        return nn.functional.cross_entropy(model(x), y)

    def trained(model, x, y):
        rule = optim.Adam(lr=0.1)
        state = rule.init(model)
        for _ in range(5):
            model, state = rule.update(model, tx.grad(loss, fallback="error")(model, x, y), state)
        return model

    here = trained(model.arrays(), x, y)
    there = trained(model.arrays().to(cp), cp.asarray(x), cp.asarray(y))
    assert all(type(value) is cp.DeviceArray for value in there.parameters())
    for (name, ours), theirs in zip(there.to("cpu").named_parameters(), here.parameters(), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, err_msg=name)


def test_buffers_go_along():
    norm = nn.BatchNorm2d(2).to(cp)
    assert {type(value).__name__ for value in norm.buffers()} == {"DeviceArray"}
    assert {type(value).__name__ for value in norm.to("cpu").buffers()} == {"ndarray"}


def test_where_nothing_is(monkeypatch):
    layer = nn.Linear(2, 1)
    assert layer.to("cpu") is layer and layer.to(np) is layer
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(tx.NotDifferentiable, match=r"CuPy is not installed(.*\n)*Instead: pip install"):
        layer.to("cuda:0")
    with pytest.raises(tx.NotDifferentiable, match="a dtype is given where a layer is made"):
        layer.to(np.float32)


def network() -> Any:
    return nn.Sequential(
        nn.Conv2d(2, 4, 3, padding=1, generator=0),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4, 3, generator=1),
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-3),
        lambda p: optim.Adam(p, lr=0.01, amsgrad=True),
        lambda p: optim.RMSprop(p, centered=True, momentum=0.5),
        lambda p: optim.Adagrad(p),
    ],
)
def test_training_in_place_on_a_device(make, tmp_path):
    labels = np.array([1, 2])

    def trained(model: Any, x: Any, y: Any) -> Any:
        rule, scaler = make(model.parameters()), tx.amp.GradScaler(enabled=False)
        cp.transfers.reset()
        for _ in range(3):
            rule.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            scaler.scale(loss).backward()
            scaler.step(rule)
            scaler.update()
        assert (cp.transfers.down, cp.transfers.up) == (0, 0)
        return loss

    here, there = network(), network()
    assert there.to(cp) is there
    wanted, found = trained(here, IMAGES, labels), trained(there, cp.asarray(IMAGES), cp.asarray(labels))
    assert float(found.detach()) == pytest.approx(float(wanted.detach()), rel=1e-12)
    there.save(tmp_path / "model.npz")
    again = network().to(cp)
    again.load(tmp_path / "model.npz")
    assert {p.device for p in again.parameters()} == {"cuda:0"}
    for ours, same, theirs in zip(there.parameters(), again.parameters(), here.parameters(), strict=True):
        np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-10, atol=1e-15)
        np.testing.assert_array_equal(ours.detach().numpy(), same.detach().numpy())
    assert {p.device for p in there.to("cpu").parameters()} == {"cpu"}


def test_norms_are_clipped_there():
    model = nn.Linear(6, 3, generator=0).to(cp)
    squares(model, cp.asarray(IMAGES)).backward()
    cp.transfers.reset()
    norm = optim.clip_grad_norm_(model.parameters(), 1.0)
    assert float(norm) > 1.0 and cp.transfers.up == 0
    total = sum(np.sum(p.grad.numpy() ** 2) for p in model.parameters())
    assert total == pytest.approx(1.0, rel=1e-5)


def test_a_model_of_tensors_there_is_an_argument_of_compiled_derivatives():
    model, same = nn.Linear(6, 3, generator=0), nn.Linear(6, 3, generator=0).to(cp)
    value, slope = tx.value_and_grad(squares, fallback="error")(same, cp.asarray(IMAGES))
    wanted, slope_here = tx.value_and_grad(squares)(model, IMAGES)
    assert type(slope.weight) is cp.DeviceArray and float(value) == pytest.approx(wanted, rel=1e-12)
    np.testing.assert_allclose(slope.weight.get(), slope_here.weight, rtol=1e-12)
