"""Elements that nobody reads any more are not brought back; programs that would mislead the proof."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline

U = np.array([0.7, 1.2, -0.4, 0.9, 1.1])
S = np.array([[2.0, 0.3, 0.1, 0.2], [0.3, 2.5, 0.4, 0.1], [0.1, 0.4, 1.8, 0.3], [0.2, 0.1, 0.3, 2.2]])


def recurrence(u):
    x = np.zeros(len(u))
    x[0] = u[0]
    for i in range(1, len(u)):
        x[i] = x[i - 1] * x[i - 1] * u[i]
    return np.sum(x)


def from_the_end(u):
    for i in range(len(u) - 2, -1, -1):
        u[i] = u[i + 1] * u[i + 1]
    return u[0]


def factors(A):
    n = A.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            A[i, k] = A[i, k] - A[k, k]
            for j in range(k + 1, n):
                A[i, j] -= A[i, k] * A[k, j]
    return A[n - 1, n - 1]


def lower(A):
    n = A.shape[0]
    L = np.zeros((n, n))
    for j in range(n):
        s = 0.0
        for k in range(j):
            s += L[j, k] * L[j, k]
        L[j, j] = A[j, j] - s
        for i in range(j + 1, n):
            L[i, j] = A[i, j] * L[j, j]
    return np.sum(L)


def table(u):
    n = len(u)
    D = np.zeros((n + 1, n + 1))
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            D[i, j] = (u[i - 1] - u[j - 1]) ** 2 + max(D[i - 1, j - 1], D[i - 1, j], D[i, j - 1])
    return D[n, n]


def rows(A):
    for i in range(1, len(A)):
        A[i] += A[i - 1] * A[i - 1]
    return np.sum(A[-1])


def eliminated(A):
    n = A.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            for j in range(k + 1, n):
                A[i, j] -= A[i, k] * A[k, j]
    return A[n - 1, n - 1]


def cholesky(A):
    n = A.shape[0]
    for j in range(n):
        A[j, j] = np.sqrt(A[j, j] - A[j, :j] @ A[j, :j])
        for i in range(j + 1, n):
            s = 0.0
            for k in range(j):
                s += A[i, k] * A[j, k]
            A[i, j] = (A[i, j] - s) / A[j, j]
    return np.sum(np.diag(A))


def solved(A):
    b = np.ones(len(A))
    for i in range(len(b) - 1, -1, -1):
        b[i] = (b[i] - A[i, i + 1 :] @ b[i + 1 :]) / A[i, i]
    return b @ b


RECORDING_NOTHING = {f.__name__: (f, x) for f, x in (
    (recurrence, U), (from_the_end, U), (factors, S), (lower, S), (table, U), (rows, S),
    (eliminated, S), (cholesky, S), (solved, S),
)}  # fmt: skip


def round_the_end(u):
    for i in range(len(u)):
        u[i] = u[i] * u[i - 1]
    return np.sum(u)


def ahead(u):
    for i in range(len(u) - 1):
        u[i] = u[i] * u[i + 1]
    return np.sum(u)


def over_and_over(u):
    for _ in range(3):
        for i in range(1, len(u)):
            u[i] = u[i] * u[i - 1]
    return np.sum(u)


def in_a_ring(u):
    x = np.ones(2)
    for i in range(1, len(u)):
        x[i % 2] = x[(i - 1) % 2] * x[i % 2] * u[i]
    return np.sum(x)


def index_of_its_own(u):
    k = 0
    while k < len(u) - 1:
        k = k + 1
        u[k] = u[k] * u[k - 1]
        if k == 3:
            k = k - 1
            u[k] = u[k] * u[k + 1]
            k = k + 2
    return np.sum(u)


def backwards_in_a_view(u):
    v = u[::-1]
    for i in range(1, len(u)):
        v[i] = v[i] * u[i - 1]
    return np.sum(u)


def other_name(u):
    v = u
    for i in range(1, len(u)):
        v[i - 1] = u[i] * v[i - 1]
        u[i] = v[i - 1] * u[i]
    return np.sum(u)


def two_rows(u):
    old, new = np.ones(len(u)), np.zeros(len(u))
    for _ in range(3):
        for i in range(1, len(u)):
            new[i] = old[i - 1] * u[i] + old[i] * new[i - 1]
        old, new = new, old
    return np.sum(old) + np.sum(new)


def square(u, i):
    u[i] = u[i] * u[i]
    return u[i]


def in_a_callee(u):
    total = 0.0
    for i in range(1, len(u)):
        total += u[i - 1] * square(u, i) * u[i]
    return total


def left_in_the_middle(u):
    for i in range(1, len(u)):
        if u[i] < 0.0:
            continue
        u[i] = u[i] * u[i - 1]
        if i == 3:
            break
        u[i - 1] = u[i] * u[i - 1]
    return np.sum(u)


def every_second(u):
    for c in range(2):
        for i in range(1 + c, len(u) - 1, 2):
            u[i] = u[i - 1] * u[i] * u[i + 1]
    return np.sum(u)


def guarded_by_a_test(u):
    n = len(u)
    D = np.ones((n, n))
    for i in range(n):
        for j in range(n):
            if i > 0 and j < n - 1:
                D[i, j] = D[i - 1, j + 1] * u[i] + D[i, j - 1] * u[j]
    return np.sum(D)


def chosen_places(u, p):
    for i in range(1, len(u)):
        u[p[i]] = u[p[i - 1]] * u[p[i]]
    return np.sum(u)


def a_new_array_each_time(u):
    total = 0.0
    x = u * 1.0
    for k in range(3):
        for i in range(1, len(u)):
            x[i] = x[i] * x[i - 1]
        total += x[k % len(u)]
        x = x * u if k else x
    return total


def written_again(u):
    x = np.zeros(len(u))
    for i in range(len(u)):
        t = np.exp(u[i])
        x[i] = t
        total = x[i] * t
        x[i] = x[i] * x[i - 1] * total
    return np.sum(x)


def in_single_precision(u):
    x = np.zeros(len(u), np.float32)
    total = 0.0
    for i in range(len(u)):
        t = np.exp(u[i])
        x[i] = t
        total += t * t * x[i]
    return total


def at_one_place(u):
    x = np.zeros(3)
    for i in range(len(u)):
        t = np.exp(u[i])
        x[i // 2] = t
        x[0] += np.sin(t) * x[i // 2]
    return np.sum(x)


def under_another_index(u):
    x = np.zeros(len(u) + 1)
    for i in range(len(u)):
        k = i
        t = np.exp(u[i])
        x[k] = t
        k = k + 1
        x[k] = t * t
    return np.sum(x) + x[0] * x[1]


MISLEADING = {f.__name__: f for f in (
    round_the_end, ahead, over_and_over, in_a_ring, index_of_its_own, backwards_in_a_view, other_name, two_rows,
    in_a_callee, left_in_the_middle, every_second, guarded_by_a_test, chosen_places, a_new_array_each_time,
    written_again, in_single_precision, at_one_place, under_another_index,
)}  # fmt: skip


def given(f: Callable[..., Any], x: Any) -> tuple[Any, ...]:
    return (x.copy(), np.array([0, 2, 1, 2, 0])[: len(x)] % len(x)) if f is chosen_places else (x.copy(),)


@pytest.mark.parametrize("name", RECORDING_NOTHING)
def test_what_is_written_once_is_not_recorded(name: str) -> None:
    f, x = RECORDING_NOTHING[name]
    gradient = tx.grad(f, fallback="error")
    found = gradient(x.copy())
    assert "append" not in gradient.source
    with pipeline.proofs(off="elements"):
        without = tx.grad(f, fallback="error")
        assert "append" in without.source_for(x)
        assert np.array_equal(found, without(x.copy()))


@pytest.mark.parametrize("name", MISLEADING)
def test_what_would_be_missed_is_recorded(name: str) -> None:
    f = MISLEADING[name]
    for x in (U, U[:2], U[:1]):
        if f is index_of_its_own and len(x) > 4:
            x = x[:4]
        arguments = given(f, x)
        with pipeline.proofs(off="all"):
            wanted = tx.grad(f, fallback="error")(*given(f, x))
        assert np.allclose(tx.grad(f, fallback="error")(*arguments), wanted, rtol=1e-12, atol=0.0)
        assert np.array_equal(arguments[0], x)


@pytest.mark.parametrize("f", [recurrence, over_and_over, round_the_end, table])
def test_at_the_second_order(f: Callable[..., Any]) -> None:
    found = tx.hessian(f)(U[:4].copy())
    with pipeline.proofs(off="elements"):
        assert np.allclose(found, tx.hessian(f)(U[:4].copy()), rtol=1e-12, atol=1e-14)


def test_a_pullback_called_twice() -> None:
    _, pullback = tx.vjp(recurrence, U)
    assert np.array_equal(pullback(1.0), pullback(1.0))
    assert np.allclose(pullback(1.0), tx.grad(recurrence)(U), rtol=1e-14)
