"""Quotients without guards: the cotangent is divided once."""

from __future__ import annotations

import numpy as np

import tangentx as tx

DRAW = np.random.default_rng(3)


def solved(lower, b):
    x = np.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]
    return np.sum(x * x)


def shared(a, b):
    w = np.ones(3)
    w[1:] = a[1:] / b[1:]
    z = a / (b * w)
    return np.sum(z[:, None] * z)


def test_the_cotangent_of_a_quotient_is_divided_by_its_divisor() -> None:
    lower, b = np.tril(DRAW.uniform(0.5, 1.0, size=(4, 4))) + np.eye(4), DRAW.normal(size=4)
    gradient = tx.grad(solved, ("lower", "b"))
    lower_bar, b_bar = gradient(lower, b)
    text = gradient.source
    assert "1.0 / lower" not in text and text.count("/ lower[i, i]") == 3  # the program, its line, and ours
    x = np.linalg.solve(lower, b)
    t = np.linalg.solve(lower.T, 2.0 * x)
    assert np.allclose(b_bar, t) and np.allclose(lower_bar, -np.tril(np.outer(t, x)))


def test_a_quotient_of_what_is_written_later_is_used_twice() -> None:
    a, b = DRAW.uniform(0.5, 1.5, size=3), DRAW.uniform(0.5, 1.5, size=3)
    gradient = tx.grad(shared, ("a", "b"))
    got, e = gradient(a, b), 1e-6
    for k in range(2):
        for i in range(3):
            step = [np.zeros(3), np.zeros(3)]
            step[k][i] = e
            wanted = (shared(a + step[0], b + step[1]) - shared(a - step[0], b - step[1])) / (2.0 * e)
            assert np.isclose(got[k][i], wanted, rtol=1e-7)
    assert "1.0 / " not in gradient.source


def test_a_divisor_that_is_zero_is_found_by_the_guarded_text() -> None:
    """What is dropped has no cotangent, though its slope is infinite."""

    def f(a, b):
        x = np.zeros(2)
        with np.errstate(all="ignore"):
            x[0] = a / b[0]
            x[1] = a / b[1]
        x[0] = 0.0
        return np.sum(x)

    a_bar, b_bar = tx.grad(f, ("a", "b"))(2.0, np.array([0.0, 4.0]))
    assert a_bar == 0.25 and b_bar.tolist() == [0.0, -0.125]
