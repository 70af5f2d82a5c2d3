"""Derivatives of functions that have captured Tensors of the user's, taken beside his own operations."""

import numpy as np
import pytest

import tangentx as tx

pytestmark = pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
X = np.array([0.3, -0.7, 1.1])
WEIGHTS = np.array([0.5, 1.5, -0.4])


class Holder:
    def __init__(self, w):
        self.w = w

    def energy(self, x):
        return np.sum(np.tanh(x * self.w) * x)


class Layer(tx.nn.Module):
    def __init__(self, w):
        self.w = tx.nn.Parameter(w)

    def forward(self, x):
        return np.sum(np.tanh(x * self.w) * x)


def energy(w, x):
    return np.sum(np.tanh(x * w) * x)


def of_a_lambda(w):
    return lambda x: energy(w, x)


def through_a_helper(w):
    def helper(x):
        return energy(w, x)

    def function(x):
        return 1.0 * helper(x)

    return function


def of_an_object(w):
    held = Holder(w)
    return lambda x: held.energy(x)


def of_a_list(w):
    held = [w]
    return lambda x: energy(held[0], x)


WAYS = {
    "lambda": of_a_lambda,
    "helper": through_a_helper,
    "object": of_an_object,
    "list": of_a_list,
}
TAKEN = {
    "grad": lambda f: tx.grad(f)(X),
    "value_and_grad": lambda f: tx.value_and_grad(f)(X)[1] * tx.value_and_grad(f)(X)[0],
    "grad with extras": lambda f: tx.grad(lambda x: (f(x), 3.0), has_aux=True)(X)[0],
    "grad of grad": lambda f: tx.grad(lambda x: np.sum(tx.grad(f)(x) ** 2))(X),
    "jacobian": lambda f: tx.jacobian(lambda x: f(x) * x)(X),
    "hessian": lambda f: tx.hessian(f)(X),
    "vjp": lambda f: tx.vjp(f, X)[1](1.0),
    "jvp": lambda f: tx.jvp(f, (X,), (X,))[1],
    "decorated": lambda f: tx.differentiate(f).grad(X),
}


def penalty(taken, way, w):
    return np.sum(np.sin(taken(way(w))))


@pytest.mark.share(1)
@pytest.mark.parametrize("taken", TAKEN.values(), ids=TAKEN)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_they_depend_on_what_is_captured(way, taken):
    w = tx.tensor(WEIGHTS, requires_grad=True)
    penalty(taken, way, w).backward()
    for i in range(3):
        ends = [penalty(taken, way, WEIGHTS + step * np.eye(3)[i]) for step in (1e-6, -1e-6)]
        np.testing.assert_allclose(w.grad.numpy()[i], (ends[0] - ends[1]) / 2e-6, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("taken", TAKEN.values(), ids=TAKEN)
def test_they_depend_on_a_module_that_is_captured(taken):
    layer, w = Layer(WEIGHTS), tx.tensor(WEIGHTS, requires_grad=True)
    penalty(taken, lambda layer: lambda x: layer(x), layer).backward()
    penalty(taken, of_a_lambda, w).backward()
    np.testing.assert_allclose(layer.w.grad.numpy(), w.grad.numpy(), rtol=1e-12)


@pytest.mark.parametrize("taken", TAKEN.values(), ids=TAKEN)
def test_nothing_is_recorded_where_recording_is_off(taken):
    w = tx.tensor(WEIGHTS, requires_grad=True)
    with tx.no_grad():
        found = taken(of_a_lambda(w))
    np.testing.assert_allclose(found, taken(of_a_lambda(WEIGHTS)), rtol=1e-12)
    assert not isinstance(found, tx.Tensor)


def test_what_does_not_matter_leaves_plain_results():
    w = tx.tensor(WEIGHTS, requires_grad=True)
    found = tx.grad(lambda x: np.sum(x * x) * len(w))(X)
    assert type(found) is np.ndarray
    np.testing.assert_allclose(found, 6.0 * X)


def test_the_function_runs_once():
    w, seen = tx.tensor(WEIGHTS, requires_grad=True), []

    def counted(x):
        seen.append(len(seen))
        return energy(w, x)

    derivative = tx.grad(counted)
    derivative(X)
    derivative(X)
    assert seen == [0, 1]


@pytest.mark.parametrize(
    "take, name",
    [(lambda f: tx.hvp(f, (X,), (X,)), "hvp"), (lambda f: tx.linearize(f, X), "linearize")],
    ids=["hvp", "linearize"],
)
def test_products_that_would_lose_it_are_refused(take, name):
    w = tx.tensor(WEIGHTS, requires_grad=True)
    with pytest.raises(tx.NotDifferentiable, match=f"`tx.{name}` is taken of a function that captures") as caught:
        take(of_a_lambda(w))
    assert "tx.no_grad()" in str(caught.value)
    with tx.no_grad():
        take(of_a_lambda(w))


@pytest.mark.parametrize("make", [lambda w: w, lambda w: [w], Holder], ids=["Tensor", "list", "object"])
def test_a_default_is_an_argument_and_refused(make):
    def function(x, held=make(tx.tensor(WEIGHTS, requires_grad=True))):
        return np.sum(x * x)

    with pytest.raises(tx.TangentxError, match="Tensor"):
        tx.grad(function)(X)
