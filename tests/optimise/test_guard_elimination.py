"""What is exactly 0 by its structure stays 0, and nothing else is guarded."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.api.derivative import derivative_of
from tangentx.api.products import jvp_of
from tangentx.compile import pipeline
from tangentx.dispatch.request import Spec
from tests.optimise.support import WAYS, gradient


def overwritten(x):
    y = np.sqrt(x)
    if x < 1.0:
        y = 2.0 * x
    return y


def not_added(x):
    y = np.sqrt(x)
    z = x
    if x > 1.0:
        z = z + y
    return z


def overwritten_in_a_loop(x):
    y = x
    for i in range(2):
        y = np.sqrt(x) if i == 0 else 3.0 * x
    return y


def root(x):
    return np.sqrt(x)


def by_a_helper(x):
    y = root(x)
    if x < 1.0:
        y = 2.0 * x
    return y


def taken(x):
    return np.take(np.sqrt(x), 1)


def diagonal(x):
    return np.sum(np.diagonal(np.sqrt(x)))


def split(x):
    first, last = np.split(np.sqrt(x), 2)
    return np.sum(last) + 0.0 * len(first)


def chosen(x):
    return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0))


def masked(x):
    return np.sum(np.sqrt(x)[x > 0.0])


def largest(x):
    return np.max(np.sqrt(x))


def element_overwritten(x):
    y = np.sqrt(x)
    y[0] = 0.0
    return np.sum(y)


def limited(x):
    return np.sum(np.minimum(1.0 / x, 5.0))


def clipped(x):
    return np.sum(np.clip(np.sqrt(x), 0.1, 9.0))


def clipped_before(x):
    return np.sum(np.sqrt((x - 1.0).clip(0.0)))


def limited_before(x):
    return np.sum(np.sqrt(np.maximum(x - 1.0, 0.0)))


def limited_number_before(x):
    return np.sqrt(max(x - 1.0, 0.0))


def middle(x):
    return np.median(np.concatenate([1.0 / x, np.ones(3)]))


EDGE = np.array([0.0, 4.0])
CASES: list[tuple[Callable[..., Any], Any, Any]] = [
    (overwritten, 0.0, 2.0),
    (not_added, 0.0, 1.0),
    (overwritten_in_a_loop, 0.0, 3.0),
    (by_a_helper, 0.0, 2.0),
    (taken, EDGE, [0.0, 0.25]),
    (diagonal, np.array([[4.0, 0.0], [0.0, 4.0]]), [[0.25, 0.0], [0.0, 0.25]]),
    (split, EDGE, [0.0, 0.25]),
    (chosen, EDGE, [0.0, 0.25]),
    (masked, EDGE, [0.0, 0.25]),
    (largest, EDGE, [0.0, 0.25]),
    (element_overwritten, EDGE, [0.0, 0.25]),
    (limited, EDGE, [0.0, -0.0625]),
    (clipped, EDGE, [0.0, 0.25]),
    (clipped_before, EDGE, [0.0, 0.5 / np.sqrt(3.0)]),
    (limited_before, EDGE, [0.0, 0.5 / np.sqrt(3.0)]),
    (limited_number_before, 0.0, 0.0),
    (middle, EDGE, [0.0, 0.0]),
]


@pytest.mark.share(3)
@pytest.mark.parametrize("off", WAYS, ids=str)
@pytest.mark.parametrize(("fn", "x", "wanted"), CASES, ids=[case[0].__name__ for case in CASES])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_zero_times_infinity_is_zero(fn: Callable[..., Any], x: Any, wanted: Any, off: Any) -> None:
    np.testing.assert_allclose(gradient(fn, (x,), off), wanted)


@pytest.mark.parametrize("off", [(), "all"], ids=str)
@pytest.mark.parametrize(("fn", "x", "wanted"), CASES, ids=[case[0].__name__ for case in CASES])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_forward_too(fn: Callable[..., Any], x: Any, wanted: Any, off: Any) -> None:
    with pipeline.proofs(off=off):
        _, dot = tx.jvp(fn, (x,), (np.ones_like(x)[()],), fallback="error")
    np.testing.assert_allclose(dot, np.sum(wanted))


@pytest.mark.parametrize(("fn", "x", "wanted"), [case for case in CASES if case[0] is not limited_number_before])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_on_tensors_too(fn: Callable[..., Any], x: Any, wanted: Any) -> None:
    t = tx.Tensor(x, requires_grad=True)
    fn(t).backward()
    np.testing.assert_allclose(t.grad.numpy(), wanted)


def weighted(x, w):
    return np.sum(np.where(np.isfinite(w), x * w, 0.0))


def test_an_infinite_argument_that_is_not_selected() -> None:
    assert gradient(weighted, (np.ones(2), np.array([np.inf, 3.0]))).tolist() == [0.0, 3.0]


def roots(x):
    return np.sqrt(x)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_unit_vectors_given_from_outside() -> None:
    _, pullback = tx.vjp(roots, EDGE, fallback="error")
    assert pullback(np.array([0.0, 1.0])).tolist() == [0.0, 0.25]
    assert tx.jvp(roots, (EDGE,), (np.array([0.0, 1.0]),))[1].tolist() == [0.0, 0.25]


def plain(x):
    return np.sum(np.log(x) * np.sqrt(x))


def rectified(x):
    return np.sum(np.maximum(x, 0.0) * 3.0)


def bounded_in_a_loop(x, n):
    for _ in range(n):
        x = x + np.sin(x) * x / 2.0
    return x


@pytest.mark.parametrize(
    ("fn", "args"), [(plain, (np.array([1.0, 2.0]),)), (bounded_in_a_loop, (0.4, 3)), (rectified, (EDGE,))]
)
def test_no_guard_where_nothing_is_zero_or_nothing_infinite(fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
    assert "guarded" not in tx.grad(fn, guarded=True).source_for(*args)


def quotients(r):
    s = 1.0 / (r * r)
    return np.exp(-s) * s * np.log(s)


def test_the_tangent_of_an_infinite_result_needs_no_guard() -> None:
    jvp = derivative_of(quotients, Spec("jvp", None, fallback="error"))
    assert jvp_of(jvp, (EDGE + 1.0,), (EDGE,))[1].shape == EDGE.shape
    assert "guarded" not in jvp.source


def converging(x, n):
    change = 0.0
    for _ in range(n):
        new = math.exp(-x) * math.sin(x)
        change = max(change, abs(new - x))
        x = new
    return x


def rooted(x, n):
    A = np.zeros(2)
    A[0] = np.sqrt(x)
    A[0] = x
    return A[0] * n


def test_functions_that_raise_where_they_would_overflow_need_no_guard() -> None:
    assert "guarded" not in tx.grad(converging, guarded=True).source_for(0.3, 2)
    assert tx.grad(rooted)(0.0, 2) == 2.0


SIGN = tx.grad(lambda z: np.sqrt(z * z))
SIGNS = tx.grad(lambda z: np.sum(np.sqrt(z * z)))


def with_its_sign(x):
    return SIGN(x) * x


def with_their_signs(x):
    return np.sum(SIGNS(x) * x)


def test_a_derivative_inside_keeps_the_guards_that_it_has_alone() -> None:
    edge = np.array([0.0, 2.0])
    assert SIGN(0.0) == 0.0 and SIGNS(edge).tolist() == [0.0, 1.0]
    assert tx.value_and_grad(with_its_sign)(0.0) == (0.0, 0.0)
    value, gradient = tx.value_and_grad(with_their_signs)(edge)
    assert value == 2.0 and gradient.tolist() == [0.0, 1.0]
    assert tx.jvp(with_their_signs, (edge,), (np.array([0.0, 1.0]),))[0] == 2.0
