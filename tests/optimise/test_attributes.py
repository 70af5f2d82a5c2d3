"""Attributes in place of functions."""

from __future__ import annotations

import numpy as np

import tangentx as tx
from tangentx.compile import pipeline


def turned(w, x):
    return np.sum(np.tanh(x @ np.transpose(w)))


def of_number(x):
    return x * np.size(x)


def code(*args):
    text = tx.grad(turned).source_for(*args)
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))


def test_attributes_of_arrays_alone() -> None:
    w, x = np.ones((2, 3)), np.ones((4, 3))
    assert "w.T" in (text := code(w, x)) and "np.transpose" not in text
    with pipeline.proofs(off="attributes"):
        assert "np.transpose(w)" in code(w, x)
        plain = tx.grad(turned)(w, x)
    assert np.array_equal(tx.grad(turned)(w, x), plain)
    assert "np.size(x)" in tx.grad(of_number).source_for(2.0)
    assert tx.grad(of_number)(2.0) == 1.0


def test_they_are_read_again_at_second_order() -> None:
    w, x = np.linspace(0, 1, 6).reshape(2, 3), np.linspace(-1, 1, 12).reshape(4, 3)
    one = lambda w: np.sum(tx.grad(turned)(w, x) ** 2)
    step = 1e-6 * np.eye(6)[2].reshape(2, 3)
    assert np.isclose(tx.grad(one)(w)[0, 2], (one(w + step) - one(w - step)) / 2e-6, rtol=1e-6)
