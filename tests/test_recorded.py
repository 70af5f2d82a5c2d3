"""A compiled function called with Tensors is one node, at any order; derivatives are too."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tangentx as tx

SWEEPS: list[int] = []


@tx.differentiate
def inner(x, y):
    total = x * 0.0
    for k in range(3):
        total = total + np.sin(x) * y * k
    return total, {"dot": x @ y}


def helper(x):
    """Not to be compiled: it runs on Tensors."""
    try:
        y = x * x
    except ValueError:
        y = x
    return y


def mixed(x):
    """A dynamic outer loop, a compiled inner function, an untransformable helper inside."""
    for _ in range(2):
        first, more = inner(x, helper(x))
        x = first * more["dot"] * 0.1
    return np.sum(x)


def composed(x):
    """The same, to be compiled whole."""
    for _ in range(2):
        total = x * 0.0
        for k in range(3):
            total = total + np.sin(x) * (x * x) * k
        x = total * (x @ (x * x)) * 0.1
    return np.sum(x)


x0 = np.array([0.7, 1.1])


def test_one_node() -> None:
    x = tx.tensor(x0, requires_grad=True)
    first, more = inner(x, x * 2.0)
    assert first.grad_fn is more["dot"].grad_fn and first.grad_fn.name == "innerBackward"
    assert [n.name for n, _ in first.grad_fn.next_functions] == ["AccumulateGrad", "MulBackward"]
    (first.sum() * more["dot"]).backward()
    wanted = tx.grad(lambda v: np.sum(inner(v, v * 2.0)[0]) * inner(v, v * 2.0)[1]["dot"])(x0)
    np.testing.assert_allclose(x.grad.numpy(), wanted)


def test_what_needs_no_gradient_is_not_recorded() -> None:
    first, more = inner(tx.tensor(x0), tx.tensor(x0))
    assert type(first) is tx.Tensor and not first.requires_grad
    with tx.no_grad():
        assert not inner(tx.tensor(x0, requires_grad=True), x0)[0].requires_grad
    assert type(inner(x0, x0)[0]) is np.ndarray


def test_mixed_programs_at_both_orders() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tx.FallbackWarning)
        np.testing.assert_allclose(tx.grad(mixed)(x0), tx.grad(composed)(x0), rtol=1e-12)
    x = tx.tensor(x0)
    np.testing.assert_allclose(
        tx.autograd.hessian(mixed, x).numpy(), tx.jacobian(tx.grad(composed))(x0), rtol=1e-10, atol=1e-12
    )


def test_derivatives_take_tensors() -> None:
    def energy(x):
        return np.sum(np.exp(x) * x)

    x = tx.tensor(x0, requires_grad=True)
    slope = tx.grad(energy)(x)
    np.testing.assert_allclose(slope.detach().numpy(), np.exp(x0) * (x0 + 1.0))
    (second,) = tx.autograd.grad(slope.sum(), x, create_graph=True)
    np.testing.assert_allclose(second.detach().numpy(), np.exp(x0) * (x0 + 2.0))
    (third,) = tx.autograd.grad(second.sum(), x)
    np.testing.assert_allclose(third.numpy(), np.exp(x0) * (x0 + 3.0))
    value, slope = tx.value_and_grad(energy)(x)
    assert type(value) is tx.Tensor and type(slope) is tx.Tensor


def test_derivatives_of_what_cannot_be_compiled_take_tensors() -> None:
    x = tx.tensor(2.0, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tx.FallbackWarning)
        slope = tx.grad(lambda v: helper(v) * v)(x)
        assert float(slope) == 12.0
        assert float(tx.autograd.grad(slope, x)[0]) == 12.0


def test_other_products_refuse_tensors() -> None:
    x = tx.tensor(2.0, requires_grad=True)
    calls: list[Any] = [lambda: tx.vjp(helper, x), lambda: tx.jvp(helper, (x,), (1.0,))]
    for call in calls:
        with pytest.raises(tx.NotDifferentiable, match="does not take Tensors"):
            call()


def test_the_caller_may_write_into_what_was_passed() -> None:
    x = tx.tensor(x0, requires_grad=True)
    y = x * 1.0
    first, _ = inner(y, x0)
    y[0] = 100.0
    first.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 3.0 * np.cos(x0) * x0)
