"""The factor of the loss: as PyTorch's, step by step."""

import importlib.util

import numpy as np
import pytest

import tangentx as tx
from tangentx.amp import GradScaler


def parameter(gradient):
    p = tx.tensor([1.0, 2.0], requires_grad=True)
    p.grad = np.array(gradient)
    return p


GRADIENTS = [[1.0, 2.0], [3.0, 4.0], [np.inf, 1.0], [5.0, 6.0], [np.nan, 0.0], [7.0, 8.0], [1.0, 1.0], [2.0, 2.0]]


def steps():
    """Parameters and factor after each step."""
    scaler = GradScaler(init_scale=8.0, growth_interval=2)
    p = tx.tensor([1.0, 2.0], requires_grad=True)
    opt = tx.optim.SGD([p], lr=0.5)
    found = []
    for gradient in GRADIENTS:
        p.grad = np.array(gradient) * scaler.get_scale()
        scaler.step(opt)
        scaler.update()
        found.append((p.detach().numpy().tolist(), scaler.get_scale()))
    return found


def test_steps_are_skipped_where_a_gradient_is_not_finite():
    found = steps()
    assert [scale for _, scale in found] == [8.0, 16.0, 8.0, 8.0, 4.0, 4.0, 8.0, 8.0]
    assert found[1][0] == found[2][0] == [-1.0, -1.0]
    assert found[3][0] == found[4][0] == [-3.5, -4.0]


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_the_factor_is_pytorchs():
    import torch

    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    p = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    opt = torch.optim.SGD([p], lr=0.5)
    scaler.scale(torch.tensor(1.0))
    for gradient, (values, scale) in zip(GRADIENTS, steps(), strict=True):
        p.grad = torch.tensor(gradient, dtype=torch.float64) * scaler.get_scale()
        scaler.step(opt)
        scaler.update()
        assert p.tolist() == values
        assert scaler.get_scale() == scale


def test_gradients_are_unscaled_once_before_they_are_clipped():
    p = parameter([24.0, 32.0])
    opt, scaler = tx.optim.SGD([p], lr=1.0), GradScaler(init_scale=8.0)
    scaler.unscale_(opt)
    assert p.grad.numpy().tolist() == [3.0, 4.0]
    assert tx.optim.clip_grad_norm_([p], 1.0) == 5.0
    scaler.step(opt)
    np.testing.assert_allclose(p.detach().numpy(), [0.4, 1.2], rtol=1e-6)
    with pytest.raises(RuntimeError, match="has been called for this optimiser"):
        scaler.unscale_(opt)
    scaler.update()
    with pytest.raises(RuntimeError, match="no step to go by"):
        scaler.update()


def test_the_compiled_form():
    scaler = GradScaler(init_scale=4.0, growth_interval=1)
    grads = {"w": np.array([4.0, 8.0], np.float32), "b": 2.0, "n": None}
    assert scaler.unscale(grads)["w"].tolist() == [1.0, 2.0]
    found = scaler.unscale(grads)
    assert found["w"].dtype == np.float32 and found["b"] == 0.5 and found["n"] is None
    scaler.update()
    assert scaler.get_scale() == 8.0
    assert scaler.unscale({"w": np.array([np.inf])}) is None
    scaler.update()
    assert scaler.get_scale() == 4.0


def test_losses_are_scaled():
    scaler = GradScaler(init_scale=4.0)
    w = tx.tensor([1.0, 2.0], requires_grad=True)
    scaler.scale((w * w).sum()).backward()
    assert w.grad.numpy().tolist() == [8.0, 16.0]
    assert scaler.scale([1.0, 2.0]) == [4.0, 8.0]


def test_switched_off_it_does_nothing():
    p = parameter([1.0, np.inf])
    opt, scaler = tx.optim.SGD([p], lr=1.0), GradScaler(enabled=False)
    assert scaler.get_scale() == 1.0 and not scaler.is_enabled() and scaler.scale(3.0) == 3.0
    scaler.unscale_(opt)
    scaler.step(opt)
    scaler.update()
    assert p.detach().numpy().tolist() == [0.0, -np.inf]
    assert scaler.unscale([np.inf]) == [np.inf]


def test_its_state():
    scaler = GradScaler(init_scale=4.0, growth_interval=3)
    scaler.unscale([1.0])
    scaler.update()
    other = GradScaler()
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict()
    for _ in range(2):
        other.unscale([1.0])
        other.update()
    assert other.get_scale() == 8.0
    other.update(new_scale=2.0)
    assert other.get_scale() == 2.0


@pytest.mark.parametrize(
    "options", [{"init_scale": 0.0}, {"growth_factor": 1.0}, {"backoff_factor": 1.0}, {"growth_interval": 0}]
)
def test_bad_input(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        GradScaler(**options)
