"""`np.vectorize` of functions with effects, which NumPy calls once more to learn the type of the results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx

CALLS: list[float] = []
X = np.array([0.5, 1.5, 2.0])


def noted(v):
    CALLS.append(1.0)
    return v * v


PLAIN, TYPED, KEPT = np.vectorize(noted), np.vectorize(noted, otypes=[float]), np.vectorize(noted, cache=True)


def plain(x):
    return np.sum(PLAIN(x))


def typed(x):
    return np.sum(TYPED(x))


def kept(x):
    return np.sum(KEPT(x))


def made_here(x):
    return np.sum(np.vectorize(noted)(x))


@pytest.mark.parametrize("f", [plain, typed, kept, made_here])
def test_the_function_is_called_as_often_as_numpy_does(f: Callable[..., Any]) -> None:
    CALLS.clear()
    f(X)
    wanted = len(CALLS)
    CALLS.clear()
    np.testing.assert_allclose(tx.grad(f, fallback="error")(X), 2.0 * X)
    assert len(CALLS) == wanted


def test_no_elements_have_no_type() -> None:
    for f in (plain, tx.grad(plain)):
        with pytest.raises(ValueError, match="size 0 inputs unless `otypes` is set"):
            f(X[:0])
    assert tx.grad(typed)(X[:0]).shape == (0,)


def poly(a, coefs):
    return np.polyval(coefs, a)


def scaled(c, a, b=1.0):
    return c[0] * a**2 * b + c[1]


BY_NAME, BY_PLACE, FIRST = (
    np.vectorize(poly, excluded={"coefs"}),
    np.vectorize(poly, excluded=[1]),
    np.vectorize(scaled, excluded=[0]),
)


def curved(x):
    weight = x[0]

    def local(t, coefs):
        return weight * t * coefs[0] + coefs[1]

    return np.sum(np.vectorize(local, excluded=["coefs"], otypes=[float])(x, coefs=x[1:]))


HELD: dict[str, Callable[..., Any]] = {
    "by name": lambda x: np.sum(BY_NAME(x, coefs=x[1:])),
    "by place": lambda x: np.sum(BY_PLACE(x, x[1:])),
    "the first": lambda x: np.sum(FIRST(x[:2], x, x[::-1])),
    "the first, others by name": lambda x: np.sum(FIRST(x[:2], b=x[:, None], a=x)),
    "none": lambda x: np.sum(np.vectorize(scaled, excluded=[0])(x, x) * np.vectorize(noted)(v=x)),
    "of one made here": curved,
}


@pytest.mark.parametrize("name", HELD)
def test_excluded_arguments_are_held_and_others_may_be_given_by_name(name: str) -> None:
    tx.testing.check_grads(HELD[name], (X,), order=1)


REFUSED: dict[str, tuple[Callable[..., Any], str]] = {
    "in the middle": (lambda x: np.sum(np.vectorize(lambda a, c, b: a * c[0] * b, excluded=[1])(x, x, x)), "between"),
    "all": (lambda x: np.sum(np.vectorize(poly, excluded=[0, 1])(x, x)), "between"),
    "a set that is made here": (lambda x: np.sum(np.vectorize(poly, excluded={1})(x, x)), "a list of constants"),
    "rows": (lambda x: np.sum(np.vectorize(np.sum, signature="(n)->()")(x)), "in a loop"),
    "many places": (lambda x: np.sum(np.vectorize(lambda *a: a[0] * a[1], excluded=["k"])(x, x)), "plain"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_forms_are_refused(name: str) -> None:
    f, words = REFUSED[name]
    with pytest.raises(tx.UnsupportedSyntax, match=words):
        tx.grad(f, fallback="error")(X)
