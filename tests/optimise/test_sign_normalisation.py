"""Signs in front, equal contributions joined, and the gradient the same."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import tangentx as tx
from tangentx.optimise import sign_normalisation
from tests.optimise.support import WAYS, differences, gradient, operations, unit_of


def product(a, b):
    return a * -b


def total(a, b):
    return a + -b


def twice(a, b):
    return a + b * a + b * a


def shared(a, b):
    n = -b
    return a * n + n


def square(x, c):
    for _ in range(2):
        x = x - c * (x * x)
    return x


def after(f):
    program, unit = unit_of(f, 1.0, 2.0, reverse=True)
    while sign_normalisation.run(program, [unit]):
        pass
    return operations(unit)


def test_a_sign_moves_to_the_partial() -> None:
    assert after(product) == [operator.neg, operator.neg, operator.mul]


def test_a_negative_contribution_is_subtracted() -> None:
    assert operator.sub in after(total) and operator.add not in after(total)


def test_two_equal_contributions_are_one() -> None:
    assert after(twice).count(operator.mul) > operations(unit_of(twice, 1.0, 2.0)[1]).count(operator.mul)
    assert "2.0 * " in tx.grad(square).source_for(0.3, 0.5)


def normed(y, c):
    y = y.copy()
    for _ in range(2):
        y /= np.sqrt(y @ y + c)
    return y[0] * c - y[1]


def overwritten_in_between(y, c):
    u = y * c
    total = np.sum(y * u)
    u[0] = 5.0 * c
    return total + np.sum(y * u)


def test_equal_contributions_of_what_is_written_elsewhere_are_one() -> None:
    y = np.array([0.3, 0.8, -0.4])
    text = tx.grad(normed).source_for(y, 0.5)
    assert "2.0 * " in text and " * y + " not in text.partition("reverse sweep")[2]
    for f in (normed, overwritten_in_between):
        for off in ((), ("signs",)):
            wanted = differences(f, (y, 0.5))
            np.testing.assert_allclose(gradient(f, (y, 0.5), off), wanted, rtol=1e-6, atol=1e-8)


def test_a_sign_that_two_read_stays() -> None:
    assert after(shared) == operations(unit_of(shared, 1.0, 2.0)[1])


def test_text() -> None:
    text = tx.grad(square).source_for(0.3, 0.5)
    reverse = text[text.index("reverse sweep") :]
    assert "+ -" not in reverse and "* -" not in reverse


@pytest.mark.parametrize("off", WAYS)
def test_gradients_agree_with_differences(off) -> None:
    for f in (product, total, twice, shared, square):
        assert np.isclose(gradient(f, (0.3, 0.5), off), differences(f, (0.3, 0.5)), rtol=1e-6)


def of_both(a, b):
    """The opposite of `b` is read in both sweeps, where each reader can have the sign."""
    return np.exp(-b * (0.5 + 0.25 * a * b)) - b * a


def halves(a, b):
    return 0.5 * a * a * b + 0.25 * a * b * b


def test_an_opposite_that_sums_and_numbers_can_take_is_read_once() -> None:
    text = tx.grad(of_both, wrt=("a", "b")).source_for(0.3, 0.5)
    assert " = -b\n" not in text
    assert "+ -" not in text


def test_numbers_of_two_factors_are_one() -> None:
    assert "2.0 * a * (0.5" not in tx.grad(halves).source_for(0.3, 0.5)


@pytest.mark.parametrize("off", WAYS)
def test_gradients_with_signs_in_numbers(off) -> None:
    for f in (of_both, halves):
        assert np.isclose(gradient(f, (0.3, 0.5), off), differences(f, (0.3, 0.5)), rtol=1e-6)
        assert np.isclose(
            gradient(f, (0.3, 0.5), off, wrt="b"), differences(lambda b, f=f: f(0.3, b), (0.5,)), rtol=1e-6
        )


def logistic(x, w, c):
    return np.sum(w * (1.0 / (1.0 + c * np.exp(-x * x))))


def of_numbers(x, w, c):
    return np.sum(-1.0 / (2.0 + x) * (w * -c)) - c * np.sum(w * x)


def test_the_sign_of_an_array_is_that_of_a_number_beside_it() -> None:
    x, w = np.array([0.3, -0.7]), np.array([1.5, 0.2])
    text = tx.grad(logistic, wrt=("x", "w")).source_for(x, w, 0.5)
    assert "ratio * ratio * (w * -ans_bar)" in text and "-(" not in text


@pytest.mark.parametrize("off", WAYS)
@pytest.mark.parametrize("f", [logistic, of_numbers])
def test_gradients_with_signs_turned(f, off) -> None:
    x, w = np.array([0.3, -0.7]), np.array([1.5, 0.2])
    for name, rest in (("x", lambda a: f(a, w, 0.5)), ("w", lambda a: f(x, a, 0.5))):
        wanted = differences(rest, ({"x": x, "w": w}[name],))
        assert np.allclose(gradient(f, (x, w, 0.5), off, wrt=name), wanted, rtol=1e-6)
