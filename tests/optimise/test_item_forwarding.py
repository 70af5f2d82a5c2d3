"""What is added first to an item of zeros is what the item becomes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tests.optimise.support import WAYS

X = np.linspace(-1.0, 1.0, 6).reshape(2, 3)
W, B = np.linspace(0.1, 0.7, 6).reshape(3, 2), np.array([0.3, -0.2])


def in_a_dict(p, x):
    return np.sum(np.tanh(x @ p["W"] + p["b"]) ** 2)


def unpacked(p, x):
    W, b = p
    return np.sum(np.tanh(x @ W + b) ** 2)


def numbers(p, x):
    mean, width = p
    return np.sum(((x - mean) / np.exp(width)) ** 2)


def one_for_two(p, x):
    return np.sum(np.sin(p[0] + p[1]) * x[0, :2])


def twice(p, x):
    return np.sum(p["b"] ** 2) + np.sum(np.tanh(x @ p["W"] + p["b"]))


def from_both_ends(p, x):
    return p[-1] * np.exp(p[1]) + p[0] * np.sum(x)


def in_branches(p, x):
    if p["b"][0] > 0.0:
        return np.sum(p["b"] * p["b"])
    return np.sum(x @ p["W"])


CASES: list[tuple[Any, Any]] = [
    (in_a_dict, {"W": W, "b": B}),
    (unpacked, (W, B)),
    (unpacked, [W, B]),
    (numbers, (0.2, -0.3)),
    (one_for_two, [B, B * 2.0]),
    (twice, {"W": W, "b": B}),
    (from_both_ends, [0.4, -0.7]),
    (in_branches, {"W": W, "b": B}),
]


def leaves(x: Any) -> list[Any]:
    return list(x.values()) if isinstance(x, dict) else list(x)


def with_leaf(p: Any, k: int, leaf: Any) -> Any:
    items = [leaf if i == k else item for i, item in enumerate(leaves(p))]
    return dict(zip(p, items, strict=True)) if isinstance(p, dict) else type(p)(items)


def differences(f: Any, p: Any, h: float = 1e-6) -> list[Any]:
    found = []
    for k, leaf in enumerate(leaves(p)):
        bar = np.zeros(np.shape(leaf))
        for place in np.ndindex(bar.shape):
            step = np.zeros(bar.shape)
            step[place] = h
            ahead, behind = (f(with_leaf(p, k, (leaf + sign * step)[()]), X) for sign in (1.0, -1.0))
            bar[place] = (ahead - behind) / (2.0 * h)
        found.append(bar)
    return found


@pytest.mark.parametrize(("f", "p"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_all_ways_agree(f: Any, p: Any) -> None:
    wanted = differences(f, p)
    for off in (*WAYS[:2], "filled", "stores", "common"):
        with pipeline.proofs(off=off):
            found = leaves(tx.grad(f, fallback="error")(p, X))
        for k, (got, want) in enumerate(zip(found, wanted, strict=True)):
            np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-8)
            assert not any(np.shares_memory(got, other) for other in (*found[:k], *leaves(p)))


@pytest.mark.parametrize(("f", "p"), CASES[:3], ids=["dict", "tuple", "list"])
def test_nothing_is_added_to_zero(f: Any, p: Any) -> None:
    text = tx.grad(f).source_for(p, X)
    assert "] + " not in text[text.index("p_bar = zero(p)") :]


def test_an_array_for_two_items_is_not_one_array() -> None:
    text = tx.grad(one_for_two).source_for([B, B], X)
    assert text.count("p_bar[") >= 3, text


def test_an_item_that_is_given_more_is_added_to() -> None:
    text = tx.grad(twice).source_for({"W": W, "b": B}, X)
    assert text.count('= p_bar["b"] + ') == 1
    assert '= p_bar["W"] + ' not in text
