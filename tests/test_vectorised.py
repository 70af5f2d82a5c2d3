"""`tx.vmap`: all members at once where that is right, one after the other where it is not, always what a loop gives."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx import pipeline

RNG = np.random.default_rng(5)
VECTORS, OTHERS, MATRICES = RNG.normal(size=(5, 3)), RNG.normal(size=(5, 3)), RNG.normal(size=(5, 3, 3))
NUMBERS, WHOLE = RNG.normal(size=5), np.arange(5)


def energy(w, x):
    return np.sum(np.tanh(w @ x) ** 2)


def stencil(u):
    v = np.zeros_like(u)
    for i in range(1, len(u) - 1):
        v[i] = u[i - 1] - 2.0 * u[i] + u[i + 1]
    v[0] += u[-1]
    return v * u.size


def pieces(u, v):
    parts = [u[:2], v[1:] * 2.0]
    return {"joined": np.concatenate(parts), "dot": u @ v, "pair": (np.outer(u, v), u.max())}


def recurrence(x, n):
    total = 0.0
    for k in range(n):
        total += x / (k + 1)
        x = np.sin(x) * total
    return total


def half(x):
    return x * np.float32(0.5) + 1.0


def same(x):
    return 2.0


def selected(x):
    return np.where(x > 0.0, x, np.exp(x)), np.sort(x), np.argmax(x), x > 0.0, x[::-1].T


def settings(x, axis, scale):
    return np.sum(x, axis=axis) * scale + np.mean(x, axis=0, keepdims=True)


def clipped(x):
    return np.clip(x, -0.5, 0.5), np.linalg.norm(x), np.max(x), x.std(), np.cumsum(x), x.reshape(3, 1)


def inside(x, c):
    def force(y):
        return c * y**3

    return x + 0.1 * force(x + 0.05 * force(x))


def counted(n):
    return n * 2 + n // 2, n % 3 == 1, float(n) / 4


def solved(a, b):
    return np.linalg.solve(a + 5.0 * np.eye(3), b), np.linalg.det(a), np.trace(a), a.T @ a, a[0], a[:, 1], a[1, 2]


def own_places(u, k):
    return u[k % 3], u


AT_ONCE: dict[str, tuple[Callable[..., Any], tuple[Any, ...], Any]] = {
    "energy": (energy, (MATRICES[0], VECTORS), (None, 0)),
    "energy_of_both": (energy, (MATRICES, VECTORS), 0),
    "stencil": (stencil, (VECTORS,), 0),
    "pieces": (pieces, (VECTORS, OTHERS), 0),
    "pieces_of_one": (pieces, (VECTORS, OTHERS[0]), (0, None)),
    "recurrence": (recurrence, (NUMBERS, 4), (0, None)),
    "half": (half, (VECTORS.astype(np.float32),), 0),
    "half_of_numbers": (half, (NUMBERS.astype(np.float32),), 0),
    "same": (same, (VECTORS,), 0),
    "selected": (selected, (VECTORS,), 0),
    "settings": (settings, (MATRICES, 1, NUMBERS), (0, None, 0)),
    "clipped": (clipped, (VECTORS,), 0),
    "inside": (inside, (VECTORS, NUMBERS), 0),
    "solved": (solved, (MATRICES, VECTORS), 0),
    "own_places": (own_places, (VECTORS, WHOLE), 0),
    "counted": (counted, (WHOLE,), 0),
    "gradient": (tx.grad(energy), (MATRICES[0], VECTORS), (None, 0)),
    "both_gradients": (tx.value_and_grad(energy, wrt=("w", "x")), (MATRICES, VECTORS), 0),
    "second": (tx.hessian(energy, wrt="x"), (MATRICES[0], VECTORS), (None, 0)),
}


def leaves(tree: Any) -> list[Any]:
    if isinstance(tree, dict):
        return [leaf for k in sorted(tree) for leaf in leaves(tree[k])]
    return [leaf for part in tree for leaf in leaves(part)] if isinstance(tree, tuple | list) else [tree]


def loop(f: Any, args: tuple[Any, ...], axes: Any) -> list[Any]:
    given = axes if isinstance(axes, tuple) else (axes,) * len(args)
    members = [[a if x is None else a[k] for a, x in zip(args, given, strict=True)] for k in range(5)]
    results = [leaves(f(*member)) for member in members]
    return [np.stack([np.asarray(r) for r in column]) for column in zip(*results, strict=True)]


def agree(found: Any, wanted: list[Any]) -> None:
    for a, b in zip(leaves(found), wanted, strict=True):
        assert type(a) is np.ndarray and a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-6 if a.dtype == np.float32 else 1e-12, atol=1e-14)


@pytest.mark.parametrize("name", AT_ONCE)
def test_all_members_at_once_are_what_a_loop_gives(name: str) -> None:
    f, args, axes = AT_ONCE[name]
    batch = tx.vmap(f, axes)
    agree(batch(*args), loop(f, args, axes))
    assert "all members at once" in batch.explain()


def branching(x):
    return x.sum() if x[0] > 0.0 else x.mean()


def masked(x):
    y = x.copy()
    y[y > 0.0] = 0.0
    return y


def iterated(x):
    total = 0.0
    while total < 3.0:
        total += abs(x[0]) + 0.1
    return total


def written(x):
    x[0] = 5.0
    return x


def shorter(x, n):
    return np.sum(x[:n]), np.sum(np.arange(n))


def lengths(n):
    return np.sum(np.arange(n))


def gathered(*vectors):
    return vectors[0] + vectors[1]


ONE_BY_ONE: dict[str, tuple[Callable[..., Any], tuple[Any, ...], str]] = {
    "branching": (branching, (VECTORS,), "a test depends on the batch (test_vectorised.py:"),
    "masked": (masked, (VECTORS,), "an index that depends on the batch"),
    "iterated": (iterated, (VECTORS,), "a test depends on the batch"),
    "written": (written, (VECTORS,), "it writes into its arguments"),
    "shorter": (shorter, (VECTORS, WHOLE), "a slice that depends on the batch"),
    "lengths": (lengths, (WHOLE,), "raised ValueError"),
    "gathered": (gathered, (VECTORS, OTHERS), "a parameter gathers arguments"),
    "gradient": (tx.grad(branching), (VECTORS,), "a test depends on the batch"),
}


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_members_that_differ_go_one_after_the_other(name: str) -> None:
    f, args, reason = ONE_BY_ONE[name]
    kept = [a.copy() for a in args]
    batch = tx.vmap(f)
    found = batch(*args)
    assert "one member after the other" in batch.explain() and reason in batch.explain()
    agree(found, loop(f, tuple(a.copy() for a in args), 0))
    for a, b in zip(args, kept, strict=True):
        np.testing.assert_array_equal(a, b)


def test_axes_anywhere_in_structures() -> None:
    def model(params, x):
        return {"y": params["w"] @ x + params["b"], "x": x}

    params = {"w": MATRICES[0], "b": VECTORS.T}
    found = tx.vmap(model, ({"w": None, "b": 1}, 0), {"y": 1, "x": 0})(params, OTHERS)
    np.testing.assert_allclose(found["y"], (OTHERS @ MATRICES[0].T + VECTORS).T, rtol=1e-13)
    np.testing.assert_array_equal(found["x"], OTHERS)
    assert not np.shares_memory(found["x"], OTHERS)
    last = tx.vmap(stencil, -1, -1)
    np.testing.assert_array_equal(last(VECTORS.T), tx.vmap(stencil)(VECTORS).T)
    assert "at once" in last.explain()


def test_numpy_is_called_equally_often_for_batches_of_any_length() -> None:
    calls = [0]
    batch, gradient = tx.vmap(energy, (None, 0)), tx.vmap(tx.grad(energy), (None, 0))

    def counted_of(f: Any, x: Any) -> int:
        def profile(frame: Any, event: str, arg: Any) -> None:
            calls[0] += event in ("call", "c_call")

        f(MATRICES[0], x)
        entry = f._cache.last.functions[0]
        calls[0] = 0
        sys.setprofile(profile)
        try:
            entry(len(x), MATRICES[0], x)
        finally:
            sys.setprofile(None)
        return calls[0]

    for f in (batch, gradient):
        assert 0 < counted_of(f, np.ones((2, 3))) == counted_of(f, np.ones((64, 3)))
        assert "at once" in f.explain()


def test_a_batch_inside_a_differentiated_function_is_refused() -> None:
    def outer(x):
        return np.sum(tx.vmap(branching)(x))

    with pytest.raises(tx.UnsupportedSyntax, match=r"(?s)`vmap` inside a differentiated function.*tx\.vmap\(tx\.grad"):
        tx.grad(outer, fallback="error")(VECTORS)


def test_with_all_proofs_off() -> None:
    with pipeline.proofs(off="all"):
        agree(tx.vmap(energy, (None, 0))(MATRICES[0], VECTORS), loop(energy, (MATRICES[0], VECTORS), (None, 0)))


def residual(weights, points):
    """A network's second derivative, and what it should be: u'' + u = 0."""
    hidden, shift, out = weights

    def u(t):
        return np.sum(out * np.tanh(hidden * t + shift))

    second = tx.grad(tx.grad(u))
    total = 0.0
    for t in points:
        total += (second(t) + u(t)) ** 2
    return total


def test_the_gradient_of_a_physics_informed_residual() -> None:
    weights, points = tuple(RNG.normal(size=(3, 4))), np.linspace(0.1, 0.9, 3)
    gradient = tx.grad(residual, fallback="error")(weights, points)

    def plain(flat: Any) -> Any:
        hidden, shift, out = flat.reshape(3, 4)
        t = np.tanh(np.outer(points, hidden) + shift)
        return np.sum((((-2.0 * t * (1.0 - t * t) * hidden**2 + t) @ out) ** 2))

    np.testing.assert_allclose(np.concatenate(gradient), tx.grad(plain)(np.concatenate(weights)), rtol=1e-10)
