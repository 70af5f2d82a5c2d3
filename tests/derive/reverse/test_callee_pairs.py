"""The two functions of a callee, and the root."""

from __future__ import annotations

import numpy as np

import tangentx as tx
from tangentx.derive.reverse.callee_pairs import Derivation
from tangentx.derive.reverse.gradient import Request, gradient, pullback
from tangentx.ir.show import show
from tests.analysis.made import analysed, in_order
from tests.derive.made import reverse_text


def helper(x):
    return x * x


def calls(x):
    return helper(x) + helper(2.0 * x)


def fill(A, x):
    A[0] = x


def writes(x, A):
    fill(A, x)
    return A[0] * x


def idle(n):
    return n + 1


def with_idle(x, n):
    return x * idle(n)


def test_a_callee_has_one_pair_and_saves_what_its_reverse_reads() -> None:
    program, instance = analysed(calls, 2.0)
    derivation = Derivation(program, frozenset({"inline"}))
    gradient(derivation, instance, Request((0,)))
    (pair,) = derivation.pairs.values()
    forward, backward = show(pair.forward.function), show(pair.backward.function)
    assert in_order(forward, "mul(x, x)", "make tuple(", "return ")
    assert in_order(backward, "helper_backward(x, saved, ans_bar)", "x_bar = add(x_bar", "make tuple(x_bar)")


def test_calls_go_forward_in_order_and_back_in_reverse() -> None:
    forward, _, reverse = reverse_text(calls, 2.0).partition("reverse sweep")
    assert in_order(forward, "call helper_forward(x)", "call helper_forward(%2)")
    assert in_order(
        reverse, "call helper_backward(", "two_x_bar = add(%2_bar:two_x_bar", "call helper_backward(", "x_bar = add("
    )


def test_a_storage_goes_in_with_its_shadow() -> None:
    found = reverse_text(writes, 2.0, np.ones(2))
    assert in_order(found, "A = entry_copy(A)", "call fill_forward(A, x, A_bar)", "call fill_backward(")


def test_a_call_without_derivative_stays_as_it_is() -> None:
    found = reverse_text(with_idle, 2.0, 3)
    assert "call idle(n)" in found and "idle_forward" not in found


def test_a_pullback_works_on_a_copy_of_its_state() -> None:
    program, instance = analysed(writes, 2.0, np.ones(2))
    first, second, _ = pullback(Derivation(program, frozenset({"inline"})), instance, (0,))
    assert "call writes_forward(" in show(first)
    assert in_order(show(second), "entry_copy(state)", "call writes_backward(")


def test_the_value_comes_before_the_gradients() -> None:
    program, instance = analysed(helper, 2.0)
    found = show(gradient(Derivation(program, frozenset({"inline"})), instance, Request((0,), many=True, value=True)))
    assert in_order(found, "clone(%1)", "reverse sweep", "make tuple(x_bar)", "make tuple(")


def rescaled(x, c):
    x = x.copy()
    y = c * x
    x[:] = y
    return np.sum(x**2)


def test_what_shares_memory_in_a_state_is_not_told_apart() -> None:
    """Nothing in the first function writes into these arrays, but the second one writes into its copies of them."""
    c = np.array([0.5, 3.0])
    _, pull = tx.vjp(tx.grad(rescaled, fallback="error"), np.array([-1.0, 1.5]), c)
    np.testing.assert_allclose(pull(np.array([0.3, 0.7]))[0], 2.0 * c**2 * np.array([0.3, 0.7]))
