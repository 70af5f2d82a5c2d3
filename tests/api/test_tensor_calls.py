"""A compiled function called with Tensors is one node, at any order; derivatives are too."""

from __future__ import annotations

import math
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
    finally:
        pass
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


@tx.differentiate
def damped(v, rate):
    """Compiles."""
    total = 0.0
    for k in range(len(v)):
        total = total + np.sin(rate * v[k]) * v[k]
    return total


@tx.differentiate
def limited(v):
    """Does not compile."""
    try:
        out = np.zeros(3)
        for k in range(3):
            out[k] = v[k] * math.exp(-v[k])
    except ValueError:
        out = v
    finally:
        pass
    return out


def dynamic(x, rate):
    """How often the loop runs, its values decide."""
    v, steps = x, 0
    while float(np.sum(v).detach() if isinstance(v, tx.Tensor) else np.sum(v)) > 0.5 and steps < 6:
        v, steps = limited(v) * 0.9 + 0.01 * damped(v, rate), steps + 1
    return np.sum(v * v) + damped(v, rate) * steps


def untransformable(x, rate):
    try:
        return dynamic(x, rate)
    except ValueError:
        return rate
    finally:
        pass


def differences(f: Any, x: Any, dot: Any, h: float = 1e-4) -> float:
    a, b, c, d = (f(x + w * dot) for w in (-2.0 * h, -h, h, 2.0 * h))
    return float((8.0 * (c - b) - (d - a)) / (12.0 * h))


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@tx.differentiate
def by_float(v):
    try:
        y = v * v.__float__()
    except (ValueError, tx.TangentxError):
        y = v
    finally:
        pass
    return y


class Scaled:
    def __init__(self, k):
        self.k = k

    @tx.differentiate
    def run(self, v):
        try:
            out = np.zeros(2)
            out[:] = v * self.k
        except ValueError:
            out = v
        finally:
            pass
        return out


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
def test_values_do_not_leave_a_function_that_falls_back_silently() -> None:
    x = tx.tensor(2.0, requires_grad=True)
    with pytest.raises(tx.NotDifferentiable, match="its derivative would be lost"):
        by_float(x)
    assert float(x) == 2.0  # in code of the user's own it is a number
    v = tx.tensor([1.0, 2.0], requires_grad=True)
    assert tx.autograd.grad(Scaled(3.0).run(v).sum(), v)[0].tolist() == [3.0, 3.0]


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
def test_a_dynamic_loop_around_compiled_and_untransformable_functions() -> None:
    x, rate, dot = np.array([0.4, 0.9, 1.3]), 0.7, np.array([1.0, -0.5, 2.0])
    slope = differences(lambda x: dynamic(x, rate), x, dot)
    by_rate = differences(lambda rate: dynamic(x, rate), rate, 1.0)
    t, r = tx.tensor(x, requires_grad=True), tx.tensor(rate, requires_grad=True)
    first, second = tx.autograd.grad(dynamic(t, r), (t, r), create_graph=True)
    assert (float((first * dot).sum()), float(second)) == pytest.approx((slope, by_rate), rel=1e-8)
    gradient = tx.grad(untransformable, (0, 1))
    assert gradient(x, rate)[0] @ dot == pytest.approx(slope, rel=1e-8)
    assert gradient(x, rate)[1] == pytest.approx(by_rate, rel=1e-8)
    assert tx.jvp(untransformable, (x, rate), (dot, None))[1] == pytest.approx(slope, rel=1e-8)
    bent = differences(lambda x: gradient(x, rate)[0] @ dot, x, dot)
    again = tx.autograd.grad((first * dot).sum(), t)[0].numpy()
    assert again @ dot == pytest.approx(bent, rel=1e-6)
    assert tx.hvp(untransformable, (x, rate), (dot, None))[0] @ dot == pytest.approx(bent, rel=1e-6)


@tx.differentiate
def overwriting(a):
    a[0] = a[1] * a[2]
    return np.sum(a)


@tx.differentiate
def parts(a):
    return a[1:]


@tx.differentiate
def sharing(a):
    whole = np.sin(a)
    return whole, whole[1:]


y0 = np.array([0.3, 0.5, 0.7])


def test_a_compiled_function_writes_into_a_tensor_as_into_an_array() -> None:
    x = tx.tensor(y0, requires_grad=True)
    h = x * 1.0
    total = overwriting(h)
    np.testing.assert_allclose(h.detach().numpy(), [0.35, 0.5, 0.7])
    (total + np.sum(h * h)).backward()
    b, c = y0[1:]
    np.testing.assert_allclose(x.grad.numpy(), [0.0, c + 1.0 + 2 * b * c * c + 2 * b, b + 1.0 + 2 * b * b * c + 2 * c])


@pytest.mark.parametrize("recorded", [True, False])
def test_what_backward_needs_is_kept_where_a_compiled_function_writes_unrecorded(recorded: bool) -> None:
    x, w = tx.tensor(y0, requires_grad=True), tx.tensor(y0)
    part = w[1:]
    total = np.sum(w * x) + np.sum(part * x[1:])
    with tx.set_grad_enabled(recorded):
        overwriting(w)
    np.testing.assert_allclose(w.numpy(), [0.35, 0.5, 0.7])
    w[2] = 9.0
    assert part.tolist() == [0.5, 9.0]
    total.backward()
    np.testing.assert_allclose(x.grad.numpy(), y0 + [0.0, 0.5, 0.7])


def test_a_part_of_an_argument_that_a_compiled_function_gives_is_a_view() -> None:
    x = tx.tensor(y0, requires_grad=True)
    h = x * 1.0
    found = parts(h)
    found[0] = 5.0
    assert h.detach().tolist() == [0.3, 5.0, 0.7]
    np.sum(h * h).backward()
    np.testing.assert_allclose(x.grad.numpy(), [0.6, 0.0, 1.4])


def test_results_that_share_memory_are_not_written() -> None:
    for x in (tx.tensor(y0, requires_grad=True), tx.tensor(y0)):
        whole, part = sharing(x)
        np.testing.assert_allclose(part.detach().numpy(), np.sin(y0[1:]))
        for t in (whole, part):
            with pytest.raises(ValueError, match="read-only"):
                t[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        parts(tx.tensor(y0))[0] = 1.0
