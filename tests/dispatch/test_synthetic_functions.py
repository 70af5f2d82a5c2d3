"""Callables without a text of their own: partials, cached functions, functions of libraries."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special
import scipy.stats

import tangentx as tx
from tangentx.dispatch.entries import compilations, target_of

X = np.array([0.4, -0.3, 0.8])
Y = X + 1.0


def loss(w: Any, x: Any, y: Any, *, s: float = 3.0, power: int = 2) -> Any:
    return np.sum((w * x - y) ** power) * s


class Model:
    gain = 2.0

    def value(self, x: Any, n: int) -> Any:
        return np.sum(x**n) * self.gain


@functools.lru_cache
def power(n: int, x: float) -> float:
    return 1.0 if n == 0 else x * power(n - 1, x)


PARTIALS: list[tuple[Callable[..., Any], tuple[Any, ...], Callable[..., Any]]] = [
    (functools.partial(loss, X), (X, Y), lambda x, y: loss(X, x, y)),
    (functools.partial(loss, x=X, y=Y), (X,), lambda w: loss(w, X, Y)),
    (functools.partial(loss, s=2.0, power=3), (X, X, Y), lambda w, x, y: loss(w, x, y, s=2.0, power=3)),
    (functools.partial(functools.partial(loss, X), s=1.0), (X, Y), lambda x, y: loss(X, x, y, s=1.0)),
    (functools.partial(Model().value, n=3), (X,), lambda x: Model().value(x, 3)),
    (functools.partial(power, 3), (0.7,), lambda x: x * x * x),
]


@pytest.mark.parametrize(("partial", "args", "alike"), PARTIALS)
def test_a_partial_is_the_function_with_what_it_holds(partial: Any, args: Any, alike: Any) -> None:
    wanted = tx.grad(alike, fallback="error")(*args)
    np.testing.assert_array_equal(tx.grad(partial, fallback="error")(*args), wanted)
    _, pull = tx.vjp(partial, *args, fallback="error")
    np.testing.assert_array_equal(pull(1.0)[0] if len(args) > 1 else pull(1.0), wanted)
    _, moved = tx.linearize(partial, *args, fallback="error")
    dots = [np.ones_like(args[0]) if np.ndim(args[0]) else 1.0, *(None for _ in args[1:])]
    assert moved(*dots) == pytest.approx(np.sum(wanted))


def test_partials_that_hold_other_values_share_what_is_compiled() -> None:
    before = 0
    for turn in range(4):
        found = tx.grad(functools.partial(loss, x=X * turn, y=Y), fallback="error")(X)
        np.testing.assert_allclose(found, tx.grad(loss)(X, X * turn, Y))
        before = before or compilations()
    assert compilations() == before


def test_a_keyword_of_a_partial_can_be_differentiated_by_name() -> None:
    assert tx.grad(functools.partial(loss, s=2.0), wrt="s")(X, X, Y) == pytest.approx(loss(X, X, Y, s=1.0))


def test_a_cached_function_is_what_it_keeps_results_of() -> None:
    assert tx.grad(power, wrt="x", fallback="error")(5, 0.5) == pytest.approx(5 * 0.5**4)
    assert target_of(power).function is power.__wrapped__


@pytest.mark.parametrize(
    ("function", "x", "wanted"),
    [
        (np.sin, 0.5, math.cos(0.5)),
        (math.exp, 0.5, math.exp(0.5)),
        (abs, -0.5, -1.0),
        (np.sum, X, np.ones(3)),
        (np.prod, X, np.array([-0.24, 0.32, -0.12])),
        (np.linalg.norm, X, X / np.linalg.norm(X)),
        (scipy.special.erf, 0.5, 2.0 / math.sqrt(math.pi) * math.exp(-0.25)),
        (scipy.special.logsumexp, X, scipy.special.softmax(X)),
        (scipy.stats.norm.logpdf, 0.5, -0.5),
        (scipy.stats.norm(1.0, 2.0).logpdf, 0.5, 0.125),
    ],
)
def test_functions_of_libraries(function: Any, x: Any, wanted: Any) -> None:
    np.testing.assert_allclose(tx.grad(function, fallback="error")(x), wanted)
    assert tx.grad(function) is tx.grad(function)


def test_functions_of_libraries_with_more_arguments() -> None:
    assert tx.jacobian(np.sum)(np.eye(3), axis=0).shape == (3, 3, 3)
    np.testing.assert_allclose(tx.grad(scipy.stats.norm.logpdf, wrt=(0, 1, 2))(0.5, 0.1, 2.0), (-0.1, 0.1, -0.48))
    assert tx.grad(tx.grad(np.sin))(0.3) == pytest.approx(-math.sin(0.3))
    np.testing.assert_allclose(tx.vmap(tx.grad(np.sin))(X), np.cos(X))


def test_what_has_no_rule_is_refused() -> None:
    with pytest.raises(tx.NoSource, match="`dir` is not a Python function"):
        tx.grad(dir)


@pytest.mark.parametrize("name", ["correlate", "convolve"])
def test_parameters_of_a_rule_that_are_given_by_name_alone(name: str) -> None:
    function = getattr(pytest.importorskip("scipy.ndimage"), name)
    assert float(tx.grad(function)(1.0, 2.0)) == 2.0
