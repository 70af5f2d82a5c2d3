"""L-BFGS finds minima in both forms."""

import numpy as np
import pytest

import tangentx as tx
from tangentx.errors import NotDifferentiable
from tangentx.optim import LBFGS

pytest.importorskip("scipy")


def rosenbrock(p):
    return 100.0 * (p[1] - p[0] ** 2) ** 2 + (1.0 - p[0]) ** 2


def test_on_tensors():
    p = tx.tensor([-1.2, 1.0], requires_grad=True)
    opt = LBFGS([p], max_iter=100)

    def closure():
        opt.zero_grad()
        loss = rosenbrock(p)
        loss.backward()
        return loss

    assert float(opt.step(closure).detach()) == pytest.approx(24.2)
    np.testing.assert_allclose(p.current, 1.0, atol=1e-5)
    with pytest.raises(TypeError, match="closure"):
        opt.step()


def test_on_a_structure():
    def loss(p, target):
        return np.sum((p["a"] * p["b"] - target) ** 2) + (p["a"] - 2.0) ** 2

    target = np.array([[1.0, 2.0], [3.0, 4.0]])
    params, value = LBFGS(max_iter=200).minimize(
        tx.value_and_grad(loss), {"a": 1.0, "b": np.ones((2, 2)), "name": "x"}, target
    )
    assert value < 1e-9 and params["name"] == "x" and type(params["a"]) is float
    np.testing.assert_allclose(params["a"] * params["b"], target, atol=1e-4)
    with pytest.raises(NotDifferentiable, match="real"):
        LBFGS().minimize(tx.value_and_grad(loss), {"a": 1.0j, "b": target}, target)
