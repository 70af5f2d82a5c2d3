"""Which arrays are formed again to spare records, and which are recorded although they could be."""

from __future__ import annotations

import ast

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tests.frontend.made import defined

U, V = np.linspace(0.2, 0.9, 5), np.linspace(0.7, 0.4, 5)


def gradient_of(body: str, off: tuple[str, ...] = ()) -> tuple[str, np.ndarray]:
    """The text of a gradient by `u`, and what it gives."""
    text = "import numpy as np\ndef f(u, v, n):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    with pipeline.proofs(off):
        gradient = tx.grad(defined(text), fallback="error")
        return gradient.source_for(U, V, 3), gradient(U, V, 3)


def records(text: str) -> int:
    """How many values a trip records."""
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    kept = [c.args[0] for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr == "append"]
    return sum(len(value.elts) if isinstance(value, ast.Tuple) else 1 for value in kept)


SPARED = {
    "a step": "for k in range(n):\n    u[1:-1] -= 0.1 * u[1:-1] * (u[2:] - u[:-2])\nreturn np.sum(u)",
    "lengths that change": "for k in range(n):\n    u[k:] *= (u[k:] + v[k:]) * (u[k:] - v[k:])\nreturn np.sum(u)",
    "in a branch": "for k in range(n):\n    if k % 2:\n        u[1:] *= (u[1:] + u[:-1]) * (2.0 * u[:-1] - v[1:])\n"
    "return np.sum(u)",
    "through a sine": "for k in range(n):\n    u[1:] += np.sin(u[1:] * u[:-1]) * (u[1:] - u[:-1])\nreturn np.sum(u)",
}
ROOT = """for k in range(n):
    d = u[1:] - u[:-1]
    t = np.square(d) + 1.0
    u[1:] += v[1:] * d / (t * np.sqrt(t))
return np.sum(u)"""
RECORDED = {
    "two parts are overwritten, and one array is needed": "w = v * 1.0\nfor k in range(n):\n    t = w[1:] - w[:-1]\n"
    "    u[1:] *= t\n    w[1:] = u[1:]\n    w[0] = u[0]\nreturn np.sum(u * w)",
    "the memory changes before it is asked for": "for k in range(n):\n    t = u[1:] - u[:-1]\n    s = u[1:] + u[:-1]\n"
    "    u[0] = v[0]\n    u[1:] = t * s\nreturn np.sum(u)",
}


@pytest.mark.parametrize("body", SPARED.values(), ids=SPARED)
def test_what_is_overwritten_is_recorded_instead(body: str) -> None:
    text, found = gradient_of(body)
    recorded, wanted = gradient_of(body, ("sparing",))
    assert records(text) < records(recorded)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    np.testing.assert_allclose(found, gradient_of(body, tuple(pipeline.PROOFS))[1], rtol=1e-12)


@pytest.mark.parametrize("body", RECORDED.values(), ids=RECORDED)
def test_where_it_would_not_help_the_arrays_are_recorded(body: str) -> None:
    text, found = gradient_of(body)
    assert records(text) == records(gradient_of(body, ("sparing",))[0])
    np.testing.assert_allclose(found, gradient_of(body, tuple(pipeline.PROOFS))[1], rtol=1e-12)


def test_roots_and_squares_are_formed_again() -> None:
    text, found = gradient_of(ROOT)
    assert records(text) == 2  # what is overwritten, and the quotient
    np.testing.assert_allclose(found, gradient_of(ROOT, tuple(pipeline.PROOFS))[1], rtol=1e-12)
