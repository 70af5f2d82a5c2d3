"""Loops over a last axis that may be short, in each way: every length, rows with gaps, arrays that share memory."""

import numpy as np
import pytest

import tangentx as tx
from tests.jit.test_entry import HAS_C, WAYS, both, own_cache  # noqa: F401

RNG = np.random.default_rng(7)
LENGTHS = (0, 1, 2, 3, 4, 5, 7)


def forces(q, w):
    d = q[None, :, :] - q[:, None, :]
    square = np.sum(d * d, axis=2) + 0.5
    pull = np.sum((w / square)[:, :, None] * d, axis=1)
    return np.sum(pull * q) + np.sum(square)


def in_place(q, w):
    q = q.copy()
    q[1:] += w[1:, None] * q[:-1]  # each row by the one before as it was
    q[:-1] *= q[1:] + 1.0
    p = q[::-1]
    p += q * w[:, None]
    return np.sum(q * p)


def turned(q, w):
    t = np.transpose(q) * w + 1.0
    return np.sum(np.transpose(t) * q) + np.sum(t[:, ::2] ** 2)


def deep(q, w):
    x = w[:, None, None] * (q[None, :, :] + q[:, None, :])
    y = np.where(x > 0.0, x * x, np.sin(x))
    return np.sum(y[:, 1:, :] - y[:, :-1, :]) + np.sum(x[::2] * y[::2])


def row_sums(q, w):
    z = q * -0.0  # whose sums are positive zeros
    t = q[None, :, :] * w[:, None, None]
    sums = np.sum(t, axis=-1) * np.sum(t[::-1], axis=2)
    return np.sum(sums) + np.sum(np.arctan2(0.0, np.sum(z, axis=1) - 1.0) * w) + np.sum(np.sum(z, axis=1))


def last_row(q, w):
    sums = np.zeros(len(w))
    for k in range(len(w)):
        row = q[k]
        sums[k] = np.sum(row)
    return np.sum(sums * w) + np.sum(row * row)  # the row that the last trip has left


@pytest.mark.share(1)
@pytest.mark.parametrize("jit", WAYS)
@pytest.mark.parametrize("f", [forces, in_place, turned, deep, row_sums, last_row], ids=lambda f: f.__name__)
def test_every_length(f, jit):
    plain, derivative = tx.value_and_grad(f, wrt=("q", "w")), tx.value_and_grad(f, wrt=("q", "w"), jit=jit)
    for length in LENGTHS:
        wide = RNG.normal(size=(6, 2 * length + 3))
        for q in (wide[:, :length].copy(), wide[:, :length], wide[:, 1 : 2 * length + 1 : 2], wide[::-1, :length]):
            w = RNG.random(6) if f is not turned else RNG.random(6)[::-1]
            for found, wanted in zip(derivative(q, w)[1], plain(q, w)[1], strict=True):
                assert np.allclose(found, wanted, rtol=0, atol=1e-12 * np.max(np.abs(wanted), initial=1.0))


@pytest.mark.parametrize("jit", WAYS)
@pytest.mark.parametrize("length", LENGTHS)
def test_one_array_for_two(length, jit):
    def f(a, b):
        a = a.copy()
        a[1:] -= 0.5 * b[:-1]
        return np.sum(a * b)

    x = RNG.normal(size=(5, length))
    both(f, jit, x, x)


@pytest.mark.skipif(not HAS_C, reason="no C compiler")
def test_the_text_has_them():
    q, w = RNG.normal(size=(6, 3)), RNG.random(6)
    text = tx.grad(forces, jit="c").source_for(q, w)
    assert "= ((0.0 + " in text
    assert ".n[1] == 3 && " in text and "* 3]" in text and "* 3 + 2]" in text
