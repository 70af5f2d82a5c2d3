"""The rows of the reference that ask for layers, optimisers, precision and workers, by their numbers."""

from __future__ import annotations

import concurrent.futures
import math
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx import nn
from tangentx.nn import functional
from tests.nn.models import wave
from tests.nn.test_training import moons

RNG = np.random.default_rng(3)


def entropy(model: Any, x: Any, labels: Any) -> Any:
    return functional.cross_entropy(model(x), labels)


def close(found: Any, wanted: Any, tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(getattr(found, "current", found), wanted, rtol=tolerance, atol=tolerance)


def small_vgg() -> nn.models.VGG:
    return nn.models.VGG((4, 0, 6, 0), num_classes=3, width=8, dropout=0.0, generator=0, dtype=float)


PICTURES, LABELS = wave(2, 3, 14, 14), np.array([0, 2])


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_0_18_the_mean_of_shards_is_the_gradient_of_the_batch(workers: int) -> None:
    first, last = nn.Linear(5, 4, generator=0, dtype=float), nn.Linear(4, 3, generator=1, dtype=float)
    model = nn.Sequential(first, nn.Tanh(), last)
    x, labels = RNG.normal(size=(12, 5)), RNG.integers(0, 3, 12)
    shards = list(zip(np.split(x, 4), np.split(labels, 4), strict=True))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        value, gradient = tx.parallel.value_and_grad(entropy, executor=pool, shards=shards, reduce="mean")(model)
    wanted, whole = tx.value_and_grad(entropy)(model, x, labels)
    close(value, wanted)
    for (name, p), (_, q) in zip(gradient.named_parameters(), whole.named_parameters(), strict=True):
        np.testing.assert_allclose(p, q, rtol=1e-12, atol=1e-12, err_msg=name)


def test_0_19_float16_with_master_weights_and_a_scaled_loss() -> None:
    options = {"dtype": np.float32}
    model = nn.Sequential(nn.Linear(8, 16, generator=0, **options), nn.Tanh(), nn.Linear(16, 3, generator=1, **options))
    x, labels = RNG.normal(size=(20, 8)).astype(np.float32), RNG.integers(0, 3, 20)
    wanted = [p for _, p in tx.grad(entropy)(model, x, labels).named_parameters()]
    scaler = tx.amp.GradScaler(init_scale=1024.0)
    opt = tx.optim.SGD(model.parameters(), lr=0.1)
    with tx.amp.autocast():
        product = x @ model[0].weight.T
        loss = entropy(model, x, labels)
    assert product.dtype == np.float16 and loss.dtype == np.float32
    scaler.scale(loss).backward()
    first = next(model.parameters()).grad.current
    assert np.max(np.abs(first)) > 100.0 * np.max(np.abs(wanted[0]))  # scaled until the optimiser unscales it
    scaler.unscale_(opt)
    for p, slope in zip(model.parameters(), wanted, strict=True):
        assert p.dtype == p.grad.dtype == np.float32
        assert np.linalg.norm(p.grad.current - slope) <= 1e-2 * np.linalg.norm(slope)
    before = [p.current.copy() for p in model.parameters()]
    scaler.step(opt)
    scaler.update()
    for p, old, slope in zip(model.parameters(), before, wanted, strict=True):
        assert p.dtype == np.float32 and np.linalg.norm(p.current - (old - 0.1 * slope)) <= 2e-3 * np.linalg.norm(slope)


@pytest.mark.thorough
def test_2_2_and_2_4_vgg11() -> None:
    model = nn.models.vgg11(generator=0)
    kinds = [type(layer) for layer in model.modules()]
    assert [kinds.count(each) for each in (nn.Conv2d, nn.MaxPool2d, nn.Linear)] == [8, 5, 3]
    assert sum(p.size for p in model.parameters()) == 132_863_336
    model.eval()
    with tx.no_grad():
        assert model(np.random.default_rng(0).random((1, 3, 224, 224), np.float32)).shape == (1, 1000)


def test_2_4_logits_for_each_class() -> None:
    assert small_vgg()(PICTURES).shape == (2, 3)


@pytest.mark.parametrize("label", [0, 7, 999])
def test_2_5_uniform_logits(label: int) -> None:
    logits = tx.tensor(np.zeros((1, 1000)), requires_grad=True)
    loss = functional.cross_entropy(logits, np.array([label]))
    assert float(loss.detach()) == pytest.approx(math.log(1000.0), abs=1e-12)
    assert float(loss.detach()) == pytest.approx(6.907755, abs=5e-7)
    loss.backward()
    wanted = np.full((1, 1000), 1e-3)
    wanted[0, label] -= 1.0
    close(logits.grad, wanted, 1e-15)
    close(tx.grad(lambda t: functional.cross_entropy(t, np.array([label])))(np.zeros((1, 1000))), wanted, 1e-15)


def test_2_6_every_parameter_has_a_gradient_and_it_is_pytorchs() -> None:
    torch = pytest.importorskip("torch")
    model = small_vgg()
    entropy(model, PICTURES, LABELS).backward()
    theirs = [torch.tensor(p.current.copy(), requires_grad=True) for p in model.parameters()]
    (w1, b1, w2, b2), dense = theirs[:4], theirs[4:]
    x = torch.tensor(PICTURES)
    for weight, bias in ((w1, b1), (w2, b2)):
        x = torch.nn.functional.conv2d(x, weight, bias, padding=1).relu()
        x = torch.nn.functional.max_pool2d(x, 2)
    x = torch.nn.functional.adaptive_avg_pool2d(x, 7).flatten(1)
    for place in range(0, len(dense), 2):
        x = torch.nn.functional.linear(x, dense[place], dense[place + 1])
        x = x.relu() if place + 2 < len(dense) else x
    torch.nn.functional.cross_entropy(x, torch.tensor(LABELS)).backward()
    for ours, other in zip(model.parameters(), theirs, strict=True):
        close(ours.grad, other.grad.numpy(), 1e-6)


@pytest.mark.parametrize("form", [{"lr": 0.001}, {"learning_rate": 0.001}])
def test_2_7_the_first_step_of_adam(form: dict[str, float]) -> None:
    p = nn.Parameter(np.zeros(3))
    opt = tx.optim.Adam(parameters=[p], **form)
    p.grad = np.array([0.3, -7.0, 0.0])
    opt.step()
    close(p, [-0.001, 0.001, 0.0], 1e-9)
    state = (compiled := tx.optim.Adam(**form)).init(np.zeros(2))
    close(compiled.update(np.zeros(2), np.array([0.3, -7.0]), state)[0], [-0.001, 0.001], 1e-9)


def test_2_8_five_steps_lower_the_loss() -> None:
    model = small_vgg()
    opt = tx.optim.Adam(learning_rate=0.001, parameters=model.parameters())
    seen = []
    for _ in range(6):
        opt.zero_grad()
        loss = entropy(model, PICTURES, LABELS)
        loss.backward()
        assert all(p.grad is not None and p.grad.shape == p.shape for p in model.parameters())  # row 2.6
        opt.step()
        seen.append(float(loss.detach()))
    assert seen[5] < seen[0]


def test_4_22_evaluation() -> None:
    dropout, norm = nn.Dropout(0.5, generator=0), nn.BatchNorm1d(2, dtype=float)
    model = nn.Sequential(norm, dropout)
    x = RNG.normal(size=(64, 2)) * 3.0 + 5.0
    for _ in range(3):
        dropped = model(x)
    assert 0 < np.count_nonzero(dropped.current == 0.0) < dropped.size
    mean, variance = norm.running_mean.copy(), norm.running_var.copy()
    model.eval()
    with tx.no_grad():
        y = model(x)
    assert y.grad_fn is None and not y.requires_grad
    close(y, (x - mean) / np.sqrt(variance + norm.eps))
    close(norm.running_mean, mean)
    close(norm.running_var, variance)


def test_4_24_the_joint_norm_of_gradients() -> None:
    tensors = [nn.Parameter(np.zeros(1)), nn.Parameter(np.zeros((1, 1)))]
    tensors[0].grad, tensors[1].grad = np.array([3.0]), np.array([[4.0]])
    total = nn.utils.clip_grad_norm_(tensors, max_norm=1.0)
    assert float(total) == 5.0
    close(tensors[0].grad, [0.6], 1e-6)
    close(tensors[1].grad, [[0.8]], 1e-6)


def test_4_25_autocast() -> None:
    enable_autocast = True
    a = tx.tensor(RNG.normal(size=(3, 3)).astype(np.float32), requires_grad=True)
    with tx.amp.autocast(enabled=enable_autocast):
        product = a @ a
        total = product.sum()
    assert product.dtype == np.float16 and total.dtype == np.float32
    with tx.amp.autocast(enabled=False):
        assert (a @ a).dtype == np.float32


def test_4_26_two_moons() -> None:
    x, labels = moons(200, np.random.default_rng(0))
    model = nn.Sequential(nn.Linear(2, 16, generator=0), nn.ReLU(), nn.Linear(16, 2, generator=1))
    optimizer = tx.optim.Adam(model.parameters(), lr=0.03)
    for _ in range(200):
        optimizer.zero_grad()
        entropy(model, x, labels).backward()
        optimizer.step()
    others, wanted = moons(1000, np.random.default_rng(1))
    with tx.no_grad():
        assert np.mean(np.argmax(model(others).current, axis=1) == wanted) > 0.97
