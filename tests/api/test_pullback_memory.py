"""What pullbacks own: copies of what others may write, none of what nobody can write or no reverse sweep reads."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import tangentx as tx

SIZE = 100_000
X = np.array([0.5, 1.5, 2.0])
W = np.array([1.0, 2.0, 3.0])
TABLE = {"w": np.array([1.0, 2.0, 3.0]), "b": np.ones(3)}
STILL = np.array([1.0, 2.0, 3.0])
STILL.flags.writeable = False


def weighed(x, w):
    return np.sum(x * x * w) + np.sum(w)


def with_a_global(x):
    return np.sum(x * x * W) + np.sum(TABLE["b"])


def with_an_item(x):
    return np.sum(x * x * TABLE["w"])


def with_a_still_global(x):
    return np.sum(x * x * STILL)


def capturing(c):
    def inner(x):
        return np.sum(x * x * c)

    return inner


def explained(f: Any, *args: Any) -> str:
    whole = tx.differentiate(f)
    whole.vjp(*args)
    return str(whole.explain())


def test_explain_says_what_is_copied() -> None:
    text = explained(lambda x, w: np.sum(x * x * w) + np.sum(w), X, W.copy())
    assert "copies, for the pullback reads it later" in text
    assert "`x`, an argument: 24 bytes at the last call" in text
    assert "`w`, an argument: 24 bytes at the last call" in text
    text = explained(with_a_global, X)
    assert "`W`, a global: 24 bytes at the last call" in text
    assert "TABLE" not in text.partition("copies")[2]
    assert "`TABLE['w']`, a global: 24 bytes" in explained(with_an_item, X)
    assert "`c`, captured by the function: 24 bytes" in explained(capturing(W.copy()), X)


def test_explain_says_where_nothing_is() -> None:
    assert "copies nothing that others hold" in explained(lambda x: x * 2.0, 1.0)
    assert "`w`, an argument: nothing at the last call, for nobody can write there" in explained(weighed, X, STILL)
    assert "`STILL`, a global: nothing at the last call" in explained(with_a_still_global, X)


def test_a_gradient_copies_nothing_for_later() -> None:
    whole = tx.differentiate(with_a_global)
    whole.grad(X)
    assert "copies" not in whole.grad.explain()


def allocated(f: Any, *args: Any) -> int:
    """The bytes that a pullback keeps."""
    tx.vjp(f, *args)
    tracemalloc.start()
    try:
        kept = tx.vjp(f, *args)
        held = tracemalloc.get_traced_memory()[0]
        assert kept[0] is not None
        return held
    finally:
        tracemalloc.stop()


def linear_in_b(x, b):
    return np.sum(x * x) + np.sum(b)


def test_memory_that_nobody_can_write_is_shared() -> None:
    w, x = np.arange(SIZE) / SIZE, np.arange(SIZE) + 1.0
    own = allocated(weighed, x, w)
    for array in (x, w):
        array.flags.writeable = False
    shared = allocated(weighed, x, w)
    assert own - shared > 1.9 * 8 * SIZE
    value, pullback = tx.vjp(weighed, x, w)
    np.testing.assert_allclose(pullback(1.0)[0], 2.0 * x * w)


def test_arguments_are_copied_once() -> None:
    x = np.arange(SIZE) + 1.0
    assert allocated(lambda x: np.sum(x * x * x), x) < 2.1 * 8 * SIZE  # x, and its square


def test_a_view_that_can_be_written_counts() -> None:
    base = np.array([1.0, 2.0, 3.0])
    view = base[:]
    view.flags.writeable = False
    value, pullback = tx.vjp(weighed, X, view)
    base[:] = 100.0
    np.testing.assert_allclose(pullback(1.0)[0], 2.0 * X * np.array([1.0, 2.0, 3.0]))


def test_so_does_one_in_the_same_argument() -> None:
    def paired(p):
        return np.sum(p[0] * p[0] * p[1])

    base = np.array([1.0, 2.0, 3.0])
    view = base[:]
    base.flags.writeable = False  # the view made before can still be written
    value, pullback = tx.vjp(paired, [view, base])
    view[:] = 100.0
    np.testing.assert_allclose(pullback(1.0)[0], 2.0 * np.array([1.0, 4.0, 9.0]))


def test_memory_of_bytes_is_shared() -> None:
    w = np.frombuffer(W.tobytes())
    assert "nothing at the last call, for nobody can write there" in explained(weighed, X, w)


def test_what_is_made_writable_afterwards_is_refused() -> None:
    own = W.copy()
    own.flags.writeable = False
    value, pullback = tx.vjp(weighed, X, own)
    pullback(1.0)
    own.flags.writeable = True
    with pytest.raises(tx.NotDifferentiable, match="read-only when this pullback was made is writable now"):
        pullback(1.0)


@pytest.mark.parametrize("mode", ["vjp", "jvp", "linearize", "aux"])
def test_results_share_memory_with_nothing_read_only(mode: str) -> None:
    def same(x, w):
        return [w, x]

    if mode == "aux":
        found = tx.grad(lambda x, w: (np.sum(x * w), w), has_aux=True)(X, STILL)[1]
    elif mode == "jvp":
        found = tx.jvp(same, (X, STILL), (X, X))[0][0]
    else:
        found = getattr(tx, mode)(same, X, STILL)[0][0]
    assert not np.shares_memory(found, STILL)


def test_cotangents_have_the_form_of_arguments() -> None:
    x = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    _, pullback = tx.vjp(lambda x: np.sum(x) * 2.0, x)
    np.testing.assert_allclose(pullback(1.0), np.full((2, 3), 2.0))
    _, pullback = tx.vjp(lambda p: p["a"][0] * 2.0 + np.sum(p["b"][1]), {"a": X, "b": [1, X]})
    bars = pullback(1.0)
    np.testing.assert_allclose(bars["a"], [2.0, 0.0, 0.0])
    assert bars["b"][0] is None
    np.testing.assert_allclose(bars["b"][1], np.ones(3))


def test_the_user_may_write_into_what_was_read() -> None:
    for f, memory in ((with_a_global, W), (with_an_item, TABLE["w"])):
        before = memory.copy()
        x = X.copy()
        wanted = tx.grad(f)(x)
        _, pullback = tx.vjp(f, x)
        try:
            memory[:] = 50.0
            x[:] = 7.0
            np.testing.assert_allclose(pullback(1.0), wanted)
        finally:
            memory[:] = before


def test_a_batch_has_the_arguments_as_they_were() -> None:
    x = X.copy()
    _, pullback = tx.vjp(lambda x: np.exp(x) * 2.0, x)
    wanted = np.diag(2.0 * np.exp(X))
    x[:] = 0.0
    np.testing.assert_allclose(tx.vmap(pullback)(np.eye(3)), wanted)
