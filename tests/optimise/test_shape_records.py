"""Shapes asked of what is there anyway, where a record would be kept for nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tests.optimise.support import WAYS, differences

W, X = np.linspace(-0.4, 0.6, 32).reshape(4, 8), np.linspace(0.1, 0.9, 6).reshape(3, 2)


def gates(w, x):
    h = np.zeros((3, 2))
    for _ in range(3):
        z = np.concatenate([x, h], axis=1) @ w
        h = np.exp(-z[:, :2]) * np.tanh(z[:, 2:4]) + np.exp(z[:, 4:6]) * np.tanh(z[:, 6:])
    return np.sum(h * h)


def turned(w, x):
    h = x
    for _ in range(2):
        z = (w.T @ np.concatenate([x, h], axis=1).T).T
        h = z[:, :2] * np.sin(z[:, 2:4])
    return np.sum(h.T.ravel() * np.arange(6.0))


def moved(w, q):
    v = np.zeros_like(q)
    for _ in range(3):
        d = q[None, :, :] - q[:, None, :]
        v = v + w[0, 0] * np.sum(d * d * d, axis=1)
        q = q + 0.1 * v
    return np.sum(q * q)


@pytest.mark.parametrize("f", [gates, turned, moved])
def test_gradients_agree_with_differences(f: Any) -> None:
    found = tx.grad(f)(W, X)
    assert np.allclose(found, differences(f, (W, X)), rtol=1e-6, atol=1e-8)
    for off in [way for way in WAYS if way in ("all", "asked", "stores", "handed")]:
        with pipeline.proofs(off=off):
            assert np.allclose(tx.grad(f)(W, X), found, rtol=1e-12, atol=1e-14)
    with tx.checked():
        assert np.array_equal(tx.grad(f)(W, X), found)


def test_nothing_is_recorded_for_its_shape() -> None:
    text = tx.grad(gates).source_for(W, X)
    assert "np.zeros_like(z)" not in text and "z_bar = np.zeros((" in text
    with pipeline.proofs(off="asked"):
        assert "z_bar = np.zeros_like(z)" in tx.grad(gates).source_for(W, X)


def through_faces(w, q):
    for n in range(3):
        flux = w[0] * q[:-1] + q[1:] ** 2
        q[1:-1] -= 0.1 * (flux[1:] - flux[:-1])
    return np.sum(q * q)


def every_other(w, q):
    for n in range(3):
        pairs = q[::2] * w[0, 0]
        pairs[0] = pairs[1] * 0.5
        r = pairs[::-1] - 2.0 * pairs
        q[::2] = r
    return np.sum(q)


@pytest.mark.parametrize(
    ("f", "shape", "wanted"),
    [
        (through_faces, (5, 2), "flux_bar = np.zeros_like(q_bar[1:])"),
        (through_faces, (2, 2), "flux_bar = np.zeros_like(q_bar[1:])"),
        (every_other, (6, 2), "pairs_bar = np.zeros_like(q_bar[::2])"),
    ],
)
def test_slices_stand_for_what_has_their_shape(f: Any, shape: tuple[int, ...], wanted: str) -> None:
    q, w = np.random.default_rng(3).uniform(0.5, 1.5, shape), np.array([[0.7, 0.4]])
    gradient = tx.grad(f, wrt=(0, 1))
    found = gradient(w, q)
    assert wanted in gradient.source
    with pipeline.proofs(off="asked"):
        other = tx.grad(f, wrt=(0, 1))
        assert all(np.array_equal(one, two) for one, two in zip(found, other(w, q), strict=True))
        assert wanted not in other.source
    assert np.allclose(found[1], differences(lambda q: f(w, q.copy()), (q,)), rtol=1e-6, atol=1e-8)


def test_nothing_is_left_of_a_question_for_the_shape_of_zeros_that_go() -> None:
    """The zeros are bound to what is added to them first, and the slice that had their shape goes with them."""

    def weighed(w, q):
        for n in range(3):
            pairs = q[::2] * q[1::2] * w[0, 0]
            pairs[0] = pairs[1] * 0.5
            q[::2] = pairs
        return np.sum(q)

    text = tx.grad(weighed).source_for(np.array([[0.7, 0.4]]), np.ones((6, 2)))
    assert not [line for line in text.splitlines() if line.strip().startswith("q_bar[") and "=" not in line]


def test_a_pullback_keeps_no_argument_for_its_shape() -> None:
    def shifted(w, x):
        h = x
        for _ in range(3):
            h = np.tanh(w + h)
        return np.sum(h)

    args = np.ones((3, 2)), X
    value, pullback = tx.vjp(shifted, *args)
    assert np.isclose(value, shifted(*args))
    first, second = pullback(1.0), pullback(1.0)
    assert all(np.array_equal(one, two) for one, two in zip(first, second, strict=True))
    assert np.allclose(first[0], tx.grad(shifted)(*args), rtol=1e-13)
