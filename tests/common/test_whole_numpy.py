"""Functions put in the place of NumPy's: what they would make wrong is refused, and is right once they are gone."""

from __future__ import annotations

import functools
import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest

import tangentx as tx
from tangentx.common.whole_numpy import _MODULES, demand_whole, is_numpys

X = np.array([0.3, 0.7, -0.2])


def sine(x):
    return np.sum(np.sin(x))


def cosine(x):
    return np.sum(np.cos(x))


def of_a_number(x):
    return math.cos(x[0])


def determinant(x):
    return np.linalg.det(np.outer(x, x) + np.eye(3))


def tripled(x):
    return x * 3.0


WAYS: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: tx.grad(f)(X),
    "jvp": lambda f: tx.jvp(f, (X,), (X,))[1],
    "vjp": lambda f: tx.vjp(f, X)[1](1.0),
    "jacobian": lambda f: tx.jacobian(f)(X),
    "vmap": lambda f: tx.vmap(tx.grad(f))(np.stack([X, 2.0 * X])),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("f", [cosine, of_a_number, determinant])
def test_what_reads_the_name_is_refused_while_another_has_it(
    f: Callable[..., Any], way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Texts read NumPy's names when they run, and rules when they are compiled: each took the other function."""
    before = WAYS[way](f)
    with monkeypatch.context() as patch:
        for owner, name in ((np, "sin"), (np.linalg, "inv"), (math, "sin")):
            patch.setattr(owner, name, tripled)
        for each in (f, lambda x: 1.0 * f(x)):
            with pytest.raises(tx.NotDifferentiable, match="is not NumPy's: `tripled` has taken its place"):
                WAYS[way](each)
    np.testing.assert_equal(WAYS[way](f), before)
    np.testing.assert_allclose(WAYS[way](lambda x: 1.0 * f(x)), before)


def test_the_programs_own_call_is_what_it_is_now() -> None:
    before = tx.grad(sine)(X)
    with mock.patch("numpy.sin", tripled):
        np.testing.assert_equal(tx.grad(sine)(X), np.full(3, 3.0))
    np.testing.assert_equal(tx.grad(sine)(X), before)


@pytest.mark.parametrize("module", [None, 3])
def test_functions_of_no_module(module: Any) -> None:
    """Such as `exec` makes in a namespace that has no name."""

    def f(x):
        return np.sum(np.sin(x))

    f.__module__ = module
    np.testing.assert_equal(tx.grad(f, fallback="error")(X), np.cos(X))


def test_one_that_says_that_it_is_numpys_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as count calls, or print them."""
    calls = []

    @functools.wraps(np.linalg.inv)
    def counted(a):
        calls.append(a)
        return inv(a)

    inv, before = np.linalg.inv, tx.grad(determinant)(X)
    monkeypatch.setattr(np.linalg, "inv", counted)
    np.testing.assert_allclose(tx.grad(determinant)(X), before)


FIRST = """
import math
import numpy as np
import tangentx as tx
from unittest import mock

def f(x):
    return np.sum(np.sin(x))

for use in (lambda: tx.grad(f)(np.ones(2)), lambda: tx.tensor([1.0]), lambda: tx.jvp(f, (np.ones(2),), (np.ones(2),))):
    for other in (mock.MagicMock(), lambda x: 3.0 * x, math.sin):
        with mock.patch("numpy.sin", other):
            try:
                use()
            except tx.NotDifferentiable as error:
                print("`np.sin` is not NumPy's" in str(error))
assert np.array_equal(tx.grad(f)(np.ones(2)), np.cos(np.ones(2)))
"""


def test_rules_are_not_loaded_for_another_function() -> None:
    """The rule of the sine was entered for what had its name, whose derivative was the cosine for ever."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FIRST], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True"] * 9


def test_numpy_is_whole_here() -> None:
    demand_whole()
    others = [tripled, functools.partial(np.sin), mock.MagicMock(), math.sin, type("Own", (), {})]
    assert not any(map(is_numpys, others))
    assert all(is_numpys(vars(module)[name]) for module in _MODULES.values() for name in vars(module).keys() & {"sin"})
