"""Which calls are checkpointed, and which forms of the call are refused."""

from __future__ import annotations

import numpy as np
import pytest

import tangentx as tx
from tests.frontend.made import defined

HEAD = """
import numpy as np
import tangentx as tx

def g(y, k):
    z = np.sin(k * y)
    for i in range(2):
        z = z * y
    return z
"""
X = np.array([0.3, 0.8])


@pytest.mark.parametrize(
    "body",
    [
        "return np.sum(tx.checkpoint(g, x, 2.0))",
        "return np.sum(tx.checkpoint(H, x, 2.0))",
        "k = 2.0\n    def h(y):\n        return g(y, k) * 1.0\n    return np.sum(tx.checkpoint(h, x))",
        "return np.sum(tx.checkpoint(lambda y: g(y, 2.0), x))",
        "return np.sum(W(x, 2.0))",
        "return np.sum(tx.checkpoint(W, x, 2.0))",
    ],
)
def test_forms_of_the_call(body: str) -> None:
    function = defined(f"{HEAD}H = tx.differentiate(g)\nW = tx.checkpoint(g)\ndef f(x):\n    {body}\n")
    gradient = tx.grad(function, fallback="error")
    wanted = X * (2.0 * np.sin(2.0 * X) + 2.0 * X * np.cos(2.0 * X))
    np.testing.assert_allclose(gradient(X), wanted)
    forward, reverse = gradient.source.split("# ---- reverse sweep ----")[:2]
    assert "_forward(" in reverse and "_forward(" not in forward


def test_one_operation_keeps_its_argument_anyway() -> None:
    function = defined(
        "import numpy as np\nimport tangentx as tx\ndef f(x):\n    return np.sum(tx.checkpoint(np.sin, x))\n"
    )
    np.testing.assert_allclose(tx.grad(function, fallback="error")(X), np.cos(X))


def test_a_function_called_both_ways_is_two() -> None:
    function = defined(HEAD + "def f(x):\n    return np.sum(tx.checkpoint(g, x, 2.0) - g(x, 2.0))\n")
    np.testing.assert_allclose(tx.grad(function, fallback="error")(X), 0.0, atol=1e-15)
