"""Both sweeps as two functions: what the state holds, what is copied, and that a pullback may run again."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.arrays import entry_copy
from tangentx.compile import pipeline
from tests.conftest import Golden

V, M = np.array([0.7, 1.2, -0.4]), np.array([[0.3, 0.1, 0.2], [0.5, -0.4, 0.1], [0.2, 0.2, 0.9]])


def recurrent(W, h, xs):
    loss = 0.0
    for x in xs:
        h = np.tanh(W @ h + x)
        loss += h[0] ** 2
    return loss


def decayed(u, rate, steps):
    u = u.copy()
    for _ in range(steps):
        u[0] -= rate * u[0] ** 2
    return np.sum(u)


def overwritten(u, v):
    u[1:] = v[:-1] * u[:-1]
    u *= v
    return u


def layers(params, x):
    h = np.tanh(x @ params["W"] + params["b"])
    return np.sum(h * h)


def left_early(u, n):
    total = 0.0
    for k in range(n):
        total += u[k] ** 2
        if total > 1.0:
            return total * u[0]
    return total


def raised(u, k):
    u[k] *= u[k] + 2.0
    return u[k] ** 2


def by_a_helper(u):
    u = u.copy()
    total = 0.0
    for k in range(len(u)):
        total += raised(u, k)
    return total


def last_of_none(u, n):
    s = u[0]
    for k in range(n):
        t = u[k] * s
        s = t * t
    return s


def rows_on_a_list(u):
    rows = []
    for k in range(3):
        rows.append(u * k)
        u = u * u
    rows[0][1] = u[2] ** 2
    return rows[0] * rows[1] + rows[2]


def nothing_kept(u):
    return u + 0.0


def structure(u, s):
    return {"a": u * s, "b": [np.sum(u), s]}


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (recurrent, (M, V, np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]))),
    (decayed, (V, 0.3, 4)),
    (overwritten, (V, np.array([1.5, 0.5, 2.0]))),
    (layers, ({"W": M, "b": V}, M + 1.0)),
    (left_early, (V, 3)),
    (left_early, (V, 1)),
    (by_a_helper, (V,)),
    (last_of_none, (V, 0)),
    (last_of_none, (V, 2)),
    (rows_on_a_list, (V,)),
    (nothing_kept, (V,)),
    (structure, (V, 1.3)),
]


def ones(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: ones(item) for key, item in tree.items()}
    if isinstance(tree, list):
        return [ones(item) for item in tree]
    return np.ones_like(tree) if isinstance(tree, np.ndarray) else 1.0


def total(tree: Any) -> Any:
    if isinstance(tree, dict):
        return sum(total(item) for item in tree.values())
    return sum(total(item) for item in tree) if isinstance(tree, list) else np.sum(tree)


def spoil(tree: Any) -> None:
    if isinstance(tree, np.ndarray):
        tree.fill(np.nan)
    for item in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, (list, tuple)) else ():
        spoil(item)


def direction(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: direction(item) for key, item in tree.items()}
    if isinstance(tree, np.ndarray):
        return np.cos(np.arange(1.0, tree.size + 1)).reshape(tree.shape)
    return 0.7 if isinstance(tree, float) else None


def inner(a: Any, b: Any) -> Any:
    if isinstance(a, dict):
        return sum(inner(a[key], b[key]) for key in a)
    return 0.0 if b is None else np.sum(a * b)


@pytest.mark.parametrize("off", [(), "all"])
@pytest.mark.parametrize(("fn", "args"), PROGRAMS, ids=lambda x: getattr(x, "__name__", ""))
def test_a_pullback_gives_the_same_whatever_is_written_in_between(
    fn: Callable[..., Any], args: tuple[Any, ...], off: Any
) -> None:
    with pipeline.proofs(off):
        given = entry_copy(args)
        value, pullback = tx.vjp(fn, *given, fallback="error")
        seed = ones(value)
        spoil(given)
        spoil(value)
        bars = [pullback(seed)]
        first = entry_copy(bars[0])
        spoil(bars[0])
        bars.append(pullback(seed))
    moves = tuple(map(direction, args))
    _, dot = tx.jvp(fn, args, moves, fallback="error")
    for one in (first, bars[1]):
        found = one if len(args) > 1 else (one,)
        assert sum(map(inner, found, moves)) == pytest.approx(total(dot), rel=1e-12)


@pytest.mark.parametrize("fn", [recurrent, decayed, overwritten, layers, left_early, by_a_helper])
def test_text(fn: Callable[..., Any], golden: Golden) -> None:
    args = next(args for other, args in PROGRAMS if other is fn)
    golden(f"cut_{fn.__name__}", tx.differentiate(fn, wrt=0).vjp.source_for(*args))


def test_an_argument_that_the_state_does_not_hold_is_not_copied() -> None:
    text = tx.differentiate(recurrent, wrt=0).vjp.source_for(*PROGRAMS[0][1])
    assert "W, h = entry_copies(W, h)" in text
    assert not re.search(r"\bxs\b", text.split("def recurrent_pullback")[1])
