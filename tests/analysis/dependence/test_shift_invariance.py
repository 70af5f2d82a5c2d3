"""Maxima that are subtracted for the numbers' sake: those that need no derivative, and those that do."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline

FLOWS = re.compile(r"\bties\(")
X = np.random.default_rng(3).normal(size=(3, 3))
X[1, 0] = X[1, 2]  # a tie, of the largest ones of a row after what follows
X[1] += [5.0, 0.0, 5.0]


# ---- no derivative by the maximum ----


def kept(x):
    s = x - np.max(x, axis=-1, keepdims=True)
    logs = s - np.log(np.sum(np.exp(s), axis=-1, keepdims=True))
    return np.sum(logs * x)


def reduced(x):
    m = np.max(x, axis=1)
    return np.sum((m + np.log(np.sum(np.exp(x - m[:, None]), axis=1))) ** 2)


def by_a_method(x):
    e = np.exp(x - x.max(axis=1).reshape(-1, 1))
    p = e / e.sum(axis=1, keepdims=True)
    return np.sum(p * p * x)


def by_columns(x):
    m = x.max(axis=0)
    e = np.exp(x - m)
    return np.sum(np.log(np.sum(e, axis=0)) + m)


def of_all(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def rebound(x):
    y = x * x
    y = y - np.max(y, axis=1, keepdims=True)
    y = np.exp(y)
    y = y / np.sum(y, axis=1, keepdims=True)
    return np.sum(y * x)


def in_a_loop(x):
    total = 0.0
    for k in range(3):
        m = np.max(x[k])
        e = np.exp(x[k] - m)
        total = total + np.sum(e / np.sum(e) * x[0])
    return total


def by_a_minimum(x):
    m = np.min(x, axis=1)[:, None]
    return np.sum(np.log(np.sum(np.exp(-(x - m)), axis=1)) - m[:, 0])


def squared(x):
    m = np.max(x, axis=1, keepdims=True)
    e = np.exp(x - m)
    return np.sum(e * e / (np.sum(e, axis=1, keepdims=True) * np.mean(e, axis=1, keepdims=True)))


def of_a_label(x):
    row = x[0]
    s = row - row.max()
    return np.log(np.sum(np.exp(s))) - s[1]


def helped(x):
    return np.sum(probabilities(x) * x)


def probabilities(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def of_two_terms(x):
    m = np.max(x[0, :2])
    return m + math.log(math.exp(x[0, 0] - m) + math.exp(x[0, 1] - m))


def asked(x):
    m = np.max(x, axis=1, keepdims=True)
    if not np.isfinite(m).all():
        return np.sum(x)
    return np.sum(np.log(np.sum(np.exp(x - m), axis=1, keepdims=True)) + m)


WITHOUT = [
    kept, reduced, by_a_method, by_columns, of_all, rebound, in_a_loop, squared, of_a_label, helped, asked,
    of_two_terms,
]  # fmt: skip


# ---- the derivative by the maximum counts ----


def shifted_alone(x):
    return np.sum((x - np.max(x, axis=1, keepdims=True)) ** 2)


def other_axis(x):
    e = np.exp(x - np.max(x, axis=0, keepdims=True))
    return np.sum(e / np.sum(e, axis=1, keepdims=True) * x)


def turned(x):
    m = np.max(x, axis=1)  # goes along the columns, for the matrix is square
    e = np.exp(x - m)
    return np.sum(np.log(np.sum(e, axis=1)) + m)


def added_once_too_often(x):
    m = np.max(x)
    return m + m + np.log(np.sum(np.exp(x - m)))


def half_back(x):
    m = np.max(x)
    return 0.5 * m + np.log(np.sum(np.exp(x - m)))


def read_later(x):
    m = np.max(x, axis=1, keepdims=True)
    e = np.exp(x - m)
    p = e / np.sum(e, axis=1, keepdims=True)
    return np.sum(p * p) + np.sum(e)


def of_the_trip_before(x):
    m = 0.0
    total = 0.0
    for k in range(3):
        total = total + m * k
        m = np.max(x[k])
        total = total + m + np.log(np.sum(np.exp(x[k] - m)))
    return total


def behind_a_branch(x):
    m = np.max(x)
    e = np.exp(x - m)
    p = e / np.sum(e)
    if x[0, 0] < 10.0:
        return np.sum(p * p) * m
    return np.sum(p)


def of_a_name_with_two_values(x):
    m = np.max(x)
    if x[0, 0] > 10.0:
        m = x[0, 1] * 2.0
    return m * 0.5 + np.log(np.sum(np.exp(x - m)))


def with_more_added(x):
    m = np.max(x)
    return m + np.log(1.0 + np.sum(np.exp(x - m)))


def with_a_sum_of_logarithms(x):
    m = np.max(x, axis=1, keepdims=True)
    return np.sum(np.log(np.sum(np.exp(x - m), axis=1))) + np.sum(m)


def written_into(x):
    s = x - np.max(x, axis=1, keepdims=True)
    s[0, 0] = 1.0
    e = np.exp(s)
    return np.sum(e / np.sum(e, axis=1, keepdims=True) * x)


def of_terms_that_differ(x):
    m = np.max(x)
    return 2.0 * m + np.log(np.sum(np.exp(x - m)) + np.sum(np.exp(2.0 * x - m - m)))


def in_a_list(x):
    m = [np.max(x)]
    return m[0] + 2.0 * np.log(np.sum(np.exp(x - m[0])))


def put(box, value):
    box["m"] = value


def stored_by_a_callee(x):
    box = {"m": 0.0}
    put(box, np.max(x))
    return box["m"] * np.sum(x)


def counted(box, value):
    box[0] = value
    return 3


def stored_by_one_that_counts(x):
    box = [0.0]
    n = counted(box, np.max(x))
    return box[0] * np.sum(x) * n


def captured(x):
    m = np.max(x)

    def times(t):
        return t * m

    return times(2.0) + times(np.sum(x))


WITH = [
    shifted_alone, other_axis, turned, added_once_too_often, half_back, read_later, of_the_trip_before,
    behind_a_branch, of_a_name_with_two_values, with_more_added, with_a_sum_of_logarithms, written_into, in_a_list,
    by_a_minimum, of_terms_that_differ, stored_by_a_callee, stored_by_one_that_counts, captured,
]  # fmt: skip


@pytest.mark.parametrize("fn", [*WITHOUT, *WITH], ids=lambda fn: fn.__name__)
def test_the_same_without_the_proof(fn: Callable[..., Any]) -> None:
    direction = np.random.default_rng(0).normal(size=X.shape)
    found = tx.value_and_grad(fn, fallback="error")(X)
    moved = tx.jvp(fn, (X,), (direction,), fallback="error")
    with pipeline.proofs("shifts"):
        wanted = tx.value_and_grad(fn, fallback="error")(X)
    assert found[0] == wanted[0] == moved[0]
    np.testing.assert_allclose(found[1], wanted[1], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(moved[1], np.sum(wanted[1] * direction), rtol=1e-11)


@pytest.mark.parametrize("fn", WITHOUT, ids=lambda fn: fn.__name__)
def test_nothing_flows_through_the_maximum(fn: Callable[..., Any]) -> None:
    assert not FLOWS.search(tx.grad(fn, fallback="error").source_for(X))
    with pipeline.proofs("shifts"):
        assert FLOWS.search(tx.grad(fn, fallback="error").source_for(X))


@pytest.mark.parametrize("fn", WITH, ids=lambda fn: fn.__name__)
def test_it_counts(fn: Callable[..., Any]) -> None:
    assert FLOWS.search(tx.grad(fn, fallback="error").source_for(X))


@pytest.mark.parametrize("fn", WITHOUT, ids=lambda fn: fn.__name__)
def test_second_order(fn: Callable[..., Any]) -> None:
    y = X + np.arange(9.0).reshape(3, 3) * 0.01  # no ties: a product with the Hessian has differences there
    direction = np.random.default_rng(1).normal(size=X.shape)
    gradient = tx.grad(fn, fallback="error")
    found = tx.hvp(fn, (y,), (direction,), fallback="error")
    wanted = (gradient(y + 1e-6 * direction) - gradient(y - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=1e-7)
