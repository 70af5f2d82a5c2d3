"""Losses and activations are those of torch, and hold where numbers are large."""

import numpy as np
import pytest

import tangentx as tx
from tangentx import nn
from tangentx.nn import CrossEntropyLoss, MSELoss, NLLLoss, functional
from tests.nn.models import agrees, wave

LOGITS, TARGET, WEIGHT = 3.0 * wave(4, 3), np.array([0, 2, 1, 2]), np.array([0.5, 1.0, 2.0])
PROBABILITIES = functional.softmax(wave(4, 3, start=2.0), -1)
F = functional

CROSS = {
    "plain": {},
    "weight": {"weight": WEIGHT},
    "ignored": {"ignore_index": 2},
    "smooth": {"label_smoothing": 0.2},
    "all": {"weight": WEIGHT, "ignore_index": 2, "label_smoothing": 0.2},
    "sum": {"weight": WEIGHT, "reduction": "sum", "label_smoothing": 0.2},
    "none": {"reduction": "none", "ignore_index": 0, "label_smoothing": 0.1},
}


@pytest.mark.parametrize("name", CROSS)
def test_cross_entropy(name):
    z = tx.tensor(LOGITS, requires_grad=True)
    loss = F.cross_entropy(z, TARGET, **CROSS[name])
    loss.sum().backward()
    agrees(f"cross_entropy {name}", loss, z.grad)
    if name != "none":
        found = tx.value_and_grad(CrossEntropyLoss(**CROSS[name]).forward, wrt="input")(LOGITS, TARGET)
        agrees(f"cross_entropy {name}", *found)


def test_cross_entropy_of_probabilities_and_places():
    agrees("probabilities plain", F.cross_entropy(LOGITS, PROBABILITIES))
    agrees("probabilities all", F.cross_entropy(LOGITS, PROBABILITIES, weight=WEIGHT, label_smoothing=0.2))
    agrees("places", F.cross_entropy(wave(2, 3, 2), np.array([[0, 2], [1, 1]]), weight=WEIGHT))
    agrees("nll", NLLLoss(weight=WEIGHT)(F.log_softmax(LOGITS, 1), TARGET))
    assert F.cross_entropy(LOGITS[0], 1) == pytest.approx(F.cross_entropy(LOGITS[:1], [1]))


def test_even_logits_and_the_gradient():
    z = tx.tensor(np.zeros((1, 1000)), requires_grad=True)
    loss = F.cross_entropy(z, np.array([7]))
    loss.backward()
    assert float(loss.detach()) == pytest.approx(6.907755, abs=1e-6)
    np.testing.assert_allclose(z.grad.current, 0.001 - (np.arange(1000) == 7)[None], atol=1e-15)


def test_large_logits():
    for z in ([1000.0, 0.0, -1000.0], [1e300, 0.0, 0.0]):
        value, slope = tx.value_and_grad(F.cross_entropy)(np.array([z]), np.array([0]))
        assert value == 0.0 and np.all(slope == 0.0)
    assert F.bce_with_logits(np.array([800.0, -800.0]), np.array([0.0, 1.0])) == 800.0
    assert F.softplus(1000.0) == 1000.0 and F.sigmoid(-1000.0) == 0.0 and F.silu(-1000.0) == 0.0
    assert F.log_softmax(np.array([0.0, -1e4]))[1] == -1e4


def test_a_class_that_there_is_not_is_refused():
    for target in ([3], [-1]):
        with pytest.raises(IndexError, match="class"):
            F.cross_entropy(LOGITS[:1], np.array(target))
    with pytest.raises(ValueError, match="reduction"):
        F.mse_loss(1.0, 2.0, reduction="median")


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"])
def test_differences(name):
    x, loss = wave(4, 3), getattr(F, name)
    agrees(name, loss(2.0 * LOGITS, x), loss(LOGITS, x, reduction="none"))
    z = tx.tensor(LOGITS, requires_grad=True)
    loss(z, x).backward()
    np.testing.assert_allclose(tx.grad(loss)(LOGITS, x), z.grad.current, rtol=1e-12)


def test_probabilities():
    agrees("smooth_l1 beta", F.smooth_l1_loss(LOGITS, wave(4, 3), beta=0.3))
    agrees("bce logits", F.bce_with_logits(30.0 * wave(4, 3), PROBABILITIES, pos_weight=WEIGHT))
    given = np.broadcast_to([0.0, 1.0, 0.3], (4, 3)).copy()
    agrees("bce", F.binary_cross_entropy(given, PROBABILITIES))
    assert MSELoss("sum")(np.array([1.0, 3.0]), 0.0) == 10.0


@pytest.mark.parametrize("name", ["relu", "gelu", "elu", "softplus", "silu", "leaky_relu", "sigmoid", "logsigmoid"])
def test_activations(name):
    z = tx.tensor(4.0 * wave(9), requires_grad=True)
    y = getattr(F, name)(z)
    y.sum().backward()
    agrees(name, y, z.grad)
    value, slope = tx.value_and_grad(lambda x: np.sum(getattr(F, name)(x)))(4.0 * wave(9))
    np.testing.assert_allclose(slope, z.grad.current, rtol=1e-12)


def test_at_the_kinks():
    zero = tx.tensor([0.0], requires_grad=True)
    for name, slope in {"relu": 0.0, "elu": 1.0, "leaky_relu": 0.01}.items():
        zero.grad = None
        getattr(F, name)(zero).sum().backward()
        assert zero.grad.tolist() == [slope], name
    agrees("gelu tanh", F.gelu(4.0 * wave(9), approximate="tanh"))
    assert F.gelu(np.float32(1.0)).dtype == np.float32
    with pytest.raises(ValueError, match="approximate"):
        F.gelu(1.0, approximate="erf")


def test_attention_of_allowed_places():
    q = wave(2, 3, 4)
    allowed = np.tril(np.ones((3, 3), bool))
    found = F.scaled_dot_product_attention(q, q, q, allowed)
    np.testing.assert_allclose(found[:, 0], q[:, 0])
    added = F.scaled_dot_product_attention(q, q, q, np.where(allowed, 0.0, -np.inf))
    np.testing.assert_allclose(found, added)


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "huber_loss"])
def test_weighed_losses(name):
    loss, far, near, each = getattr(F, name), wave(4, 3), wave(4, 3, start=1.0), 1.5 + wave(4, 3)
    agrees(f"{name} weight", *(loss(far, near, weight=each, reduction=how) for how in ("mean", "sum", "none")))
    with pytest.raises(ValueError, match=r"expects targets of shape \(4, 3\)"):
        loss(far, near, weight=each[0])


def test_targets_of_another_shape_are_refused():
    for loss in (F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss, F.bce_with_logits, F.binary_cross_entropy):
        with pytest.raises(
            ValueError, match=r"expects targets of shape \(4, 1\) for this input, and got the shape \(4,\)"
        ):
            loss(np.full((4, 1), 0.5), np.full(4, 0.5))
    assert F.mse_loss(np.ones(3), 0.0) == 1.0


def test_softplus_beyond_its_threshold():
    agrees("softplus threshold", F.softplus(4.0 * wave(9), beta=2.0, threshold=3.0))
    assert nn.Softplus(2.0, 3.0)(np.array(1.6)) == 1.6
    assert tx.grad(F.softplus)(1000.0) == 1.0 and tx.grad(F.softplus)(-1000.0) == 0.0
