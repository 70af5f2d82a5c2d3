"""Which cotangents have no zeros by structure, and that no others lose their guard."""

from __future__ import annotations

import numpy as np
import pytest

import tangentx as tx
from tests.optimise.support import WAYS, differences, gradient


def softened(x, w):
    z = np.log(x) * w
    return np.sum(np.log(np.sum(np.exp(z - np.max(z)))))


def chosen(x, c):
    return np.sum(np.where(c > 0.0, np.log(x), 0.0)) + np.sum(np.log(c + 2.0))


def overwritten(x, c):
    y = np.log(x)
    y[0] = c[0]
    return np.sum(y) + np.max(c)


def in_a_branch(x, c):
    total = 0.0
    y = np.sqrt(x)
    if c[0] > 5.0:
        total = total + np.sum(y)
    return total + np.max(c)


def picked(x, c):
    y = np.sqrt(x)
    return np.sum(y[1:] * c[1:]) + np.max(c)


def overwritten_either_way(x, c):
    if c[0] > 5.0:
        y = np.sqrt(x)
        y[0] = c[0]
    else:
        y = np.log(x)
        y[0] = c[1]
    return np.sum(y) + np.max(c)


def overwritten_in_turns(x, c):
    total = np.max(c)
    for i in range(3):
        y = np.log(x)
        y[i] = c[i]
        total = total + np.sum(y[:1] * c[i])
    return total


C = np.array([-1.0, 2.0, 0.5])
AT_ZERO = np.array([0.0, 0.7, 1.3])


def test_a_full_cotangent_needs_no_guard() -> None:
    text = tx.grad(softened, guarded=True).source_for(AT_ZERO + 1.0, C)
    assert "z_bar / x" in text
    assert text.count("guarded(") == text.count("ties(") == 1  # the weights of the maximum


@pytest.mark.parametrize(
    ("f", "wanted"),
    [
        (chosen, np.array([0.0, 1.0 / 0.7, 1.0 / 1.3])),
        (overwritten, np.array([0.0, 1.0 / 0.7, 1.0 / 1.3])),
        (in_a_branch, np.zeros(3)),
        (overwritten_either_way, np.array([0.0, 1.0 / 0.7, 1.0 / 1.3])),
        (picked, np.array([0.0, 1.0 / np.sqrt(0.7), 0.25 / np.sqrt(1.3)])),
    ],
)
@pytest.mark.parametrize("off", ["all", "guards", ()])
def test_what_is_left_out_is_zero(f, wanted, off) -> None:
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(gradient(f, (AT_ZERO, C), off), wanted)


@pytest.mark.share(1)
@pytest.mark.parametrize("off", WAYS)
@pytest.mark.parametrize("f", [softened, chosen, overwritten, overwritten_either_way, overwritten_in_turns, picked])
def test_gradients_are_the_same(f, off) -> None:
    args = (AT_ZERO + 0.5, C)
    np.testing.assert_allclose(gradient(f, args, off), differences(f, args), rtol=1e-6)
