"""What is computed twice is computed once, and only that; each program is written against a way to get it wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tangentx.testing import check_grads

x = np.array([0.4, 1.3, 0.8])
y = np.array([1.1, 0.2, 0.5])


def in_two_statements(u, v):
    a = np.sqrt(u * v) * u
    b = np.sqrt(u * v) * v
    return np.sum(a * np.exp(b))


def in_one_statement(u, v):
    return np.sum(np.exp(u) * v) + np.sum(np.exp(u) * v * v)


def behind_other_names(u, v):
    w = u
    a = np.sin(w * v) * 2.0
    return np.sum(a * np.cos(u * v) + np.sin(u * v))


def of_elements(u, v):
    total = 0.0
    for i in range(1, len(u)):
        total += np.sqrt(u[i] * v[i - 1]) * u[i] + np.exp(np.sqrt(u[i] * v[i - 1]))
    return total


def before_a_loop(u, v):
    total = np.sum(np.sin(u) * v)
    for k in range(2):
        total += np.sum(np.sin(u) * k)
    return total


def of_slices(u, v):
    w = u * v
    return np.sum((w[1:] - w[:-1]) ** 2) * np.sum(np.exp(w[1:] - w[:-1]))


ONCE = [in_two_statements, in_one_statement, behind_other_names, of_elements, before_a_loop, of_slices]


def bound_anew(u, v):
    a = np.sin(u) * v
    u = u * 2.0
    return np.sum(a * np.sin(u))


def written_in_between(u, v):
    w = u.copy()
    a = np.sum(np.sin(w) * v)
    w[0] = v[1] * 3.0
    return a * np.sum(np.sin(w) * v)


def written_through_a_view(u, v):
    w = u * 1.0
    part = w[1:]
    a = np.sum(np.exp(w) * v)
    part[:] = v[1:] * part
    return a * np.sum(np.exp(w))


def _scale(w, by):
    w *= by


def written_by_a_helper(u, v):
    w = u.copy()
    a = np.sum(np.sin(w))
    _scale(w, v)
    return a * np.sum(np.sin(w) * w)


def written_in_a_loop(u, v):
    w = u.copy()
    total = 0.0
    for i in range(3):
        total += np.sum(np.sin(w) * v)
        w[i] = w[i] * v[i]
        total += np.sum(np.sin(w) * u)
    return total


def on_one_way(u, v):
    total = 0.0
    if u[0] > 0.1:
        total = np.sum(np.sin(u) * v)
    return total + np.sum(np.sin(u))


def of_the_trip_before(u, v):
    total, w = 0.0, u
    for _ in range(3):
        total += np.sum(np.sin(w))
        w = np.sin(w) * v
    return total + np.sum(np.sin(w))


def bound_anew_in_a_trip(u, v):
    total, w = 0.0, u
    for _ in range(3):
        total += np.sum(np.sin(w) * v)
        w = w * v
        total += np.sum(np.sin(w))
    return total


def buffers_made_alike(u, v):
    a, b = np.empty_like(u), np.empty_like(u)
    total = 0.0
    for _ in range(2):
        np.multiply(u, v, out=a)
        total += np.sum(np.roll(a, 1) * v)
        np.add(u, v, out=b)
        total += np.sum(np.roll(b, 1) * u)
    return total


def copies_made_alike(u, v):
    a, b = u.copy(), u.copy()
    first = np.sum(np.sin(a[1:])) * np.sum(np.sin(b[1:]))
    a[1] = v[0]
    return first * np.sum(np.sin(a[1:]) * v[1:]) * np.sum(np.sin(b[1:]) * v[1:])


def gathered_alike(u, v):
    order = np.array([2, 0, 1])
    a, b = u[order], u[order]
    a[0] = v[1] * 2.0
    return np.sum(np.sin(a) * v) * np.sum(np.sin(b) * v)


def results_that_are_written(u, v):
    a = u * v
    b = u * v
    a[0] = 5.0 * u[1]
    return np.sum(a * b)


def one_of_two_is_written(u, v):
    rows = [u * v, u * v]
    rows[0][1] = v[2] * v[2]
    return np.sum(rows[0] * rows[1])


class Held:
    def __init__(self, u):
        self.u = u


def of_attributes(u, v):
    box = Held(u)
    a = np.sum(np.sin(box.u) * v)
    box.u = v
    return a * np.sum(np.sin(box.u))


def of_items(u, v):
    held = {"w": u}
    a = np.sum(np.exp(held["w"]))
    held["w"] = held["w"] * v
    return a * np.sum(np.exp(held["w"]))


def zeros_of_two_signs(u, v):
    return np.sum(np.copysign(u * v, 0.0) + np.copysign(u * v, -0.0))


def constants_of_two_types(u, v):
    return np.sum(np.power(u, 2) * v) + np.sum(np.power(u, 2.0) * np.sin(v))


TWICE = [
    bound_anew,
    written_in_between,
    written_through_a_view,
    written_by_a_helper,
    written_in_a_loop,
    on_one_way,
    of_the_trip_before,
    bound_anew_in_a_trip,
    buffers_made_alike,
    copies_made_alike,
    gathered_alike,
    results_that_are_written,
    one_of_two_is_written,
    of_attributes,
    of_items,
    zeros_of_two_signs,
    constants_of_two_types,
]


@pytest.mark.share(1)
@pytest.mark.parametrize("f", [*ONCE, *TWICE], ids=lambda f: f.__name__)
def test_derivatives_are_right(f: Any) -> None:
    check_grads(f, (x, y), order=2)


@pytest.mark.parametrize("f", [*ONCE, *TWICE], ids=lambda f: f.__name__)
def test_values_are_the_same_to_the_bit(f: Any) -> None:
    value, _ = tx.value_and_grad(f, fallback="error")(x, y)
    assert value == f(x, y)
    with tx.checked():
        assert tx.value_and_grad(f, fallback="error")(x, y)[0] == value


def calls(f: Any, name: str) -> int:
    return str(tx.grad(f).source_for(x, y)).count(f"{name}(")


def test_what_is_computed_twice_is_computed_once() -> None:
    for f, name in ((in_two_statements, "np.sqrt"), (in_one_statement, "np.exp"), (behind_other_names, "np.sin")):
        found = calls(f, name)
        with pipeline.proofs("repeats"):
            assert found < calls(f, name), f.__name__


def two_of_one_value(u, v):
    return np.sum(u * v), (u * v, u * v)


def test_arrays_that_are_given_back_are_two() -> None:
    (_, (a, b)), _ = tx.value_and_grad(two_of_one_value, has_aux=True, fallback="error")(x, y)
    assert not np.shares_memory(a, b)


def asked_by_name(u, v):
    a = u * v
    b = u * v
    return np.sum(a * b) * (2.0 if a is b else 3.0)


def asked_at_once(u, v):
    return np.sum(u * v) * (2.0 if (u * v) is not (u * v) else 3.0)


def asked_for_memory(u, v):
    return np.sum(u * v) * (2.0 if np.shares_memory(u * v, u * v) else 3.0)


def asked_by_a_helper(u, v):
    def one(a, b):
        return a is b

    return np.sum(u * v) * (2.0 if one(u * v, u * v) else 3.0)


@pytest.mark.parametrize("f", [asked_by_name, asked_at_once, asked_for_memory, asked_by_a_helper])
def test_who_asks_is_told_that_arrays_are_two(f: Any) -> None:
    assert tx.value_and_grad(f, fallback="error")(x, y)[0] == f(x, y)
    assert tx.jvp(f, (x, y), (x, y), fallback="error")[0] == f(x, y)


def in_quiet_first(u, v):
    with np.errstate(all="ignore"):
        a = np.log(u) * v
    return np.sum(a) + np.sum(np.log(u) * u)


def test_an_expression_raises_where_the_program_does() -> None:
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        tx.grad(in_quiet_first, fallback="error")(np.array([0.0, 1.0, 2.0]), y)


@tx.primitive
def drawn(a):
    return np.sin(a)


@drawn.partials
def _(a):
    return np.cos(a)


def two_draws(u, v):
    return np.sum(drawn(u) * v[0]) + np.sum(drawn(u) * v[1])


def test_a_function_of_the_users_own_may_answer_differently_each_time() -> None:
    assert tx.grad(two_draws, wrt="v").source_for(x, y).count(".drawn(u)") == 2
