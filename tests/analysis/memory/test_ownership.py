"""What a library may overwrite is not read afterwards: SciPy leaves something else there than derivatives do."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import fft, linalg

import tangentx as tx

LOWER = np.array([[3.0, 0.0, 0.0], [1.0, 2.0, 0.0], [0.5, 0.2, 1.0]])
OUTSIDE = np.array([1.0, 2.0, 0.5])
X = np.array([0.9, 0.31, 0.58])


def solved(b, overwrite_b=True):
    return linalg.solve_triangular(LOWER, b, lower=True, overwrite_b=overwrite_b)


def by_name(x):
    b = x * 1.0
    y = linalg.solve_triangular(LOWER, b, 0, True, False, True)
    return np.sum(y * y) + np.sum(b**3)


def the_argument(x):
    return np.sum(linalg.solve_triangular(LOWER, x, lower=True, overwrite_b=True)) + x[0]


def by_a_view(x):
    b = x * 1.0
    v = b[1:]
    return np.sum(fft.dct(b, overwrite_x=True)) + np.sum(v**3)


def by_a_helper(x):
    B = np.outer(x, x)
    return np.sum(solved(B[0])) + np.sum(B**2)


def in_a_container(x):
    d = {"b": x * 1.0}
    y = linalg.solve_triangular(LOWER, d["b"], lower=True, overwrite_b=True)
    return np.sum(y) + np.sum(d["b"] ** 3)


class State:
    pass


def of_an_object(x):
    s = State()
    s.b = x * 1.0
    y = linalg.solve_triangular(LOWER, s.b, lower=True, overwrite_b=True)
    return np.sum(y) + np.sum(s.b**3)


def in_the_next_trip(x):
    b, s = x * 1.0, 0.0
    for _ in range(2):
        s = s + np.sum(b)
        s = s + np.sum(solved(b))
    return s


def kept_from_another_trip(x):
    kept, s = [], 0.0
    for k in range(2):
        b = x * (k + 1.0)
        kept.append(b)
        s = s + np.sum(solved(b) ** 2)
    return s + np.sum(kept[0])


def by_a_closure(x):
    b = x * 1.0
    total = lambda: np.sum(b**2)
    return np.sum(linalg.solve_triangular(LOWER, b, lower=True, overwrite_b=True)) + total()


def by_a_partial(x):
    f = functools.partial(linalg.solve_triangular, lower=True, overwrite_b=True)
    b = x * 1.0
    return np.sum(f(LOWER, b)) + np.sum(b**2)


def in_one_branch(x):
    b = x * 1.0
    y = linalg.solve_triangular(LOWER, b, lower=True, overwrite_b=True) if x[0] > 0.5 else b
    return np.sum(y) + np.sum(b**2)


def of_the_input(x):
    b = x * 1.0
    return np.median(b, overwrite_input=True) * b[0]


def from_outside(x):
    return np.sum(linalg.solve_triangular(LOWER * x[0], OUTSIDE, lower=True, overwrite_b=True))


@pytest.mark.parametrize(
    "program",
    [by_name, the_argument, by_a_view, by_a_helper, in_a_container, of_an_object, in_the_next_trip,
     kept_from_another_trip, by_a_closure, by_a_partial, in_one_branch, of_the_input, from_outside],
)  # fmt: skip
def test_what_is_read_afterwards_is_refused(program: Callable[..., Any]) -> None:
    for way in (lambda f: tx.grad(f)(X.copy()), lambda f: tx.jvp(f, (X.copy(),), (X,))):
        with pytest.raises(tx.NotDifferentiable, match="overwrit") as caught:
            way(program)
        assert caught.value.span is not None
        assert caught.value.span.file == __file__
        assert "np.copy" in caught.value.hint


def anew_in_each_trip(x):
    s = 0.0
    for k in range(3):
        b = x * (k + 1.0)
        s = s + np.sum(solved(b) ** 2)
    return s


def bound_again(x):
    b = x * 1.0
    b = linalg.solve_triangular(LOWER, b, lower=True, overwrite_b=True)
    return np.sum(b**3)


def temporaries(x):
    a = np.asfortranarray(np.outer(x, x) + LOWER)
    return np.sum(linalg.solve(a, x * 2.0, overwrite_a=True, overwrite_b=True) ** 3)


def read_in_the_other_branch(x):
    b = x * 1.0
    if x[0] > 0.5:
        return np.sum(linalg.solve_triangular(LOWER, b, lower=True, overwrite_b=True))
    return np.sum(b * b)


def not_allowed(x):
    b = x * 1.0
    return np.sum(linalg.solve_triangular(LOWER, b, lower=True, overwrite_b=False)) + np.sum(b**2)


@pytest.mark.parametrize(
    "program", [anew_in_each_trip, bound_again, temporaries, read_in_the_other_branch, not_allowed]
)
def test_what_is_not_read_afterwards_is_right(program: Callable[..., Any]) -> None:
    wanted = [(program(X + e) - program(X - e)) / 2e-6 for e in np.eye(3) * 1e-6]
    x = X.copy()
    np.testing.assert_allclose(tx.grad(program, fallback="error", check=True)(x), wanted, rtol=1e-6, atol=1e-7)
    assert (x == X).all()


def test_on_tensors_it_is_nan() -> None:
    t = tx.tensor(X, requires_grad=True)
    assert np.isnan(of_the_input(t).item())
    b = t * 1.0
    (np.median(b, overwrite_input=True) * 2.0).backward()
    np.testing.assert_allclose(t.grad.numpy(), [0.0, 0.0, 2.0])
