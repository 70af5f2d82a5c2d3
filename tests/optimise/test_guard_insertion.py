"""Where a slope may be infinite though the program is fine, what it is multiplied with is guarded; nowhere else."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import tangentx as tx

ZEROS = np.zeros(3)


def strictly(run: Any) -> Any:
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        return run()


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sqrt(np.sum(x**2)),
        lambda x: np.sqrt(np.sum(x * x)),
        lambda x: np.sqrt(x[0] * x[0] + x[1] * x[1]),
        lambda x: math.sqrt(x[0] * x[0] + x[1] ** 2),
        lambda x: np.sum(np.sqrt(np.abs(x))),
        lambda x: np.sum((x * x) ** 0.5),
        lambda x: np.sum(np.sqrt(x * x)) * 3.0,
    ],
)
def test_roots_of_squares(f: Any) -> None:
    np.testing.assert_array_equal(strictly(lambda: tx.grad(f, fallback="error")(ZEROS)), ZEROS)
    assert strictly(lambda: tx.jvp(f, (ZEROS,), (np.ones(3),), fallback="error")[1]) == 0.0


def roots_in_a_loop(x):
    total = 0.0
    for i in range(3):
        total = total + np.sqrt(x[i] * x[i])
    return total


def root_in_a_helper(x):
    return roots_in_a_loop(x) * 2.0


@pytest.mark.parametrize("f", [roots_in_a_loop, root_in_a_helper])
def test_roots_that_are_recorded(f: Any) -> None:
    np.testing.assert_array_equal(strictly(lambda: tx.grad(f, fallback="error")(ZEROS)), ZEROS)
    value, pullback = tx.vjp(f, ZEROS, fallback="error")
    assert value == 0.0
    np.testing.assert_array_equal(strictly(lambda: pullback(1.0)), ZEROS)


def test_the_root_itself_has_an_infinite_slope() -> None:
    assert strictly(lambda: tx.grad(lambda x: np.sqrt(x), fallback="error")(0.0)) == np.inf
    found = strictly(lambda: tx.grad(lambda x: np.sum(np.sqrt(x)), fallback="error")(ZEROS))
    np.testing.assert_array_equal(found, np.full(3, np.inf))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sqrt(1.0 + np.sum(x**2)),
        lambda x: np.sqrt(np.sum(x * x) + 1e-9),
        lambda x: np.sum(np.log(x) * x),
        lambda x: np.sum(1.0 / (x * x)),
        lambda x: np.sum((x * x) ** 1.5),
    ],
)
def test_what_is_finite_where_the_program_is_quiet_has_no_guard(f: Any) -> None:
    assert "guarded" not in tx.grad(f, fallback="error", guarded=True).source_for(np.ones(3))


def test_products_of_the_user_are_left_alone() -> None:
    def f(x):
        y = np.sqrt(x * x)
        return np.sum(y * (x * np.inf))

    with pytest.raises(FloatingPointError):
        strictly(lambda: f(ZEROS))
    with pytest.raises(FloatingPointError):
        strictly(lambda: tx.value_and_grad(f, fallback="error")(ZEROS))


@pytest.mark.parametrize("name", ["cbrt", "entr", "xlogy", "rel_entr", "kl_div", "xlog1py"])
def test_functions_of_scipys_that_are_silent_at_0(name: str) -> None:
    special = pytest.importorskip("scipy.special")
    programs: dict[str, Any] = {
        "cbrt": lambda x: special.cbrt(x * x) * x,
        "entr": lambda x: special.entr(x * x),
        "xlogy": lambda x: special.xlogy(x * x, x * x),
        "rel_entr": lambda x: special.rel_entr(x * x, 2.0),
        "kl_div": lambda x: special.kl_div(x * x, 2.0),
        "xlog1py": lambda x: special.xlog1py(x * x, x * x - 1.0),
    }
    f = programs[name]
    assert strictly(lambda: tx.grad(f, fallback="error")(0.0)) == 0.0
    assert strictly(lambda: tx.jvp(f, (0.0,), (1.0,), fallback="error")[1]) == 0.0
    leaf = tx.tensor(0.0, requires_grad=True)
    strictly(lambda: f(leaf).backward())
    assert float(leaf.grad) == 0.0


def test_a_logarithm_of_what_is_positive_needs_no_guard() -> None:
    special = pytest.importorskip("scipy.special")
    gradient = tx.grad(lambda x: special.entr(1.0 + x * x), guarded=True)
    gradient(0.5)
    assert "guarded(" not in gradient.source


def roots_of_what_is_clipped(u, a):
    v = np.maximum(u, 0.0)
    return np.sum(a * np.sqrt(v) - np.exp(v**0.5))


def roots_of_each_in_turn(u, a):
    total = 0.0
    for x in u:
        v = max(x, 0.0)
        total += a * np.sqrt(v) - np.exp(v**0.5)
    return total


def roots_of_a_choice(u, a):
    v = np.where(u > 0.0, u, 0.0)
    return np.sum(np.sqrt(v) - a * v**0.5 + v * v**0.25)


@pytest.mark.parametrize("f", [roots_of_what_is_clipped, roots_of_each_in_turn, roots_of_a_choice])
def test_infinite_slopes_that_meet_before_they_are_dropped(f) -> None:
    u = np.array([-1.0, 0.5, -2.0, 3.0])
    wanted = [(f(u + s, 1.5) - f(u - s, 1.5)) / 2e-6 for s in 1e-6 * np.eye(4)]
    with np.errstate(all="raise"):
        assert np.allclose(tx.grad(f)(u, 1.5), wanted, atol=1e-5)
        assert np.allclose(tx.grad(f, guarded=True)(u, 1.5), wanted, atol=1e-5)
        assert np.allclose(tx.vjp(f, u, 1.5)[1](1.0)[0], wanted, atol=1e-5)
    assert "quiet_" in tx.grad(f, guarded=True).source_for(u, 1.5)
    assert "quiet_" not in tx.grad(f).source_for(u, 1.5)


@pytest.mark.parametrize("f", [roots_of_what_is_clipped, roots_of_each_in_turn, roots_of_a_choice])
def test_second_order_of_slopes_that_meet(f) -> None:
    u, along, step = np.array([2.0, 0.5, 1.5, 3.0]), np.array([1.0, -0.5, 0.3, 0.2]), 1e-5
    gradient = tx.grad(f, fallback="error")
    wanted = (gradient(u + step * along, 1.5) - gradient(u - step * along, 1.5)) / (2.0 * step)
    assert np.allclose(tx.hvp(f, (u, 1.5), (along, None), fallback="error")[0], wanted, atol=1e-6)
    total = tx.grad(lambda u: np.sum(tx.grad(f)(u, 1.5) * along), fallback="error")
    assert np.allclose(total(u), wanted, atol=1e-6)
