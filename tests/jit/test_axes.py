"""Reductions along axes, loops that step backwards, and lengths that many arguments share, compiled."""

import numpy as np
import pytest

import tangentx as tx
from tests.jit.test_entry import WAYS, both, compiled, own_cache  # noqa: F401

RNG = np.random.default_rng(3)


def sums(x):
    return np.sum(np.sum(x, axis=-1) ** 2) + np.sum(np.sum(x, axis=(0, 1)) * 2.0) + np.sum(np.mean(x, axis=1) ** 2)


def kept(x):
    return np.sum(x * np.sum(x, axis=1, keepdims=True)) + np.sum(x / np.mean(x * x + 1.0, axis=(1, 2), keepdims=True))


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return np.sum((e / np.sum(e, axis=-1, keepdims=True)) ** 2) + np.sum(np.min(x, axis=0))


def with_what_they_are_of(x):
    t = np.exp(x * 0.1)
    s = np.sum(t, axis=(0, 1))
    u = t - s  # the whole sum, in each row
    m = np.mean(u * u, axis=0)
    m[0] += s
    m[1:] *= np.sum(np.transpose(x, (1, 0, 2)), axis=1)[1:]
    return np.sum(m * u) + np.sum(np.sum(t * x, axis=1, keepdims=True) * t)


@pytest.mark.share(1)
@pytest.mark.parametrize("jit", WAYS)
@pytest.mark.parametrize("shape", [(3, 4, 5), (2, 1, 9), (2, 200, 3)])
@pytest.mark.parametrize("f", [sums, kept, softmax, with_what_they_are_of], ids=lambda f: f.__name__)
def test_along_axes(f, shape, jit):
    derivative = both(f, jit, RNG.normal(size=shape))
    assert not any(call.fn in (np.sum, np.max, np.min) for call in compiled(derivative).program.outside)


@pytest.mark.parametrize("jit", WAYS)
def test_no_maximum_of_nothing(jit):
    with pytest.raises(ValueError, match="zero-size array"):
        tx.value_and_grad(softmax, jit=jit)(np.zeros((2, 3, 0)))


def stepped(x, low, high):
    y, total = x.copy(), 0.0
    for k in range(low, high, 3):
        y[k] = y[k] * y[k - 1] + k
        total = total * 0.5 + y[k]
    for k in range(high, low, -2):
        y[k - 1] = y[k - 1] * y[k] * 0.5
    return total + np.sum(y)


@pytest.mark.parametrize("jit", WAYS)
def test_loops_with_steps_in_reverse(jit):
    x = RNG.normal(size=9)
    derivative = both(stepped, jit, x, 1, 8)
    for low in (0, 1, 2, 5):
        for high in (0, 1, 4, 6, 7, 8):
            wanted = tx.value_and_grad(stepped, guarded=True)(x, low, high)
            found = derivative(x, low, high)
            assert abs(found[0] - wanted[0]) < 1e-12 and np.allclose(found[1], wanted[1], rtol=0, atol=1e-12)
    assert not compiled(derivative).gave_up


def many(a, b, c, d, e):
    s = a * b + np.exp(c) * d
    t = d * e + b * c
    return np.sum(s * t + np.sin(a * e) * c)


@pytest.mark.parametrize("jit", WAYS)
def test_arguments_of_one_length_make_one_loop(jit):
    derivative = both(many, jit, *RNG.normal(size=(5, 6)), wrt=("a", "b", "c", "d", "e"))
    assert "in 1 loop" in derivative.explain() or "in 2 loops" in derivative.explain()
    with pytest.raises(ValueError, match="broadcast"):
        derivative(*RNG.normal(size=(4, 6)), np.ones(5))
