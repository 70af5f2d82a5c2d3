"""Trips that end early are branches, and mean the same."""

from __future__ import annotations

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tangentx.errors import Span
from tangentx.ir.nodes import Assign, Continue, For, Function, If, Lit, Var
from tangentx.ir.walk import statements
from tangentx.optimise.structurise_continue import straightened
from tests.optimise.support import differences, gradient


def others(x, n):
    """Two ways to go on with the next trip, one of them by a value that is written below."""
    total = 0.0
    for i in range(n):
        if i == 1:
            total += np.sin(x)
            continue
        y = x * i
        if y > 2.0:
            continue
        total += y * total + x
        x = x * 1.1
    return total


def in_both_branches(x, n):
    k = 0
    while k < n:
        k += 1
        if x > 1.0:
            x = x * 0.5
            if k % 2:
                continue
            x = x + 0.3
        else:
            x = x + np.cos(x)
            continue
        x = x * x
    return x


def left_or_gone_on(x, n):
    """A trip may end the loop too, and the loop has an `else`."""
    for i in range(n):
        if x > 3.0:
            if i > 2:
                break
            continue
        x = x * 1.7
    else:
        x = x * x
    return x


def flag_is_rebound(x, n):
    """The test is a name that the rest of the trip binds."""
    skip = False
    total = x
    for i in range(n):
        if skip:
            total = total * x
            continue
        total = total + np.sin(total)
        skip = total > 2.0
    return total


def nested(a, n):
    for i in range(n):
        if i % 2:
            continue
        for j in range(len(a)):
            if i == j:
                continue
            if a[j] > 1.0:
                break
            a[j] = a[j] * a[i - 1] + 0.1
        a[0] += np.sin(a[1])
    return np.sum(a * a)


def deep(x, n):
    for i in range(n):
        if i == 1:
            continue
        if i == 2:
            continue
        if i == 3:
            continue
        if i == 4:
            continue
        if i == 5:
            continue
        if i == 6:
            continue
        if i == 7:
            continue
        x = np.sin(x) + x
    return x


def within_a_manager(x, n):
    """The rest of the trip stands outside of the manager that the branch stands in."""
    for i in range(n):
        with np.errstate(over="ignore"):
            y = np.exp(x * i)
            if y > 3.0:
                continue
        x = x + np.sin(y)
    return x


PROGRAMS = [
    (within_a_manager, (0.4, 4)),
    (others, (0.7, 5)),
    (in_both_branches, (1.4, 6)),
    (in_both_branches, (0.4, 5)),
    (left_or_gone_on, (0.9, 8)),
    (left_or_gone_on, (0.1, 2)),
    (flag_is_rebound, (0.6, 7)),
    (nested, (np.array([0.3, 0.8, 0.5]), 3)),
    (deep, (0.6, 10)),
]


@pytest.mark.parametrize("off", [(), "all", ("continues",)])
@pytest.mark.parametrize(("f", "values"), PROGRAMS)
def test_gradients_are_right(f, values, off) -> None:
    def again(*given):
        return f(*(a.copy() if isinstance(a, np.ndarray) else a for a in given))

    np.testing.assert_allclose(gradient(f, values, off), differences(again, values), rtol=1e-6, atol=1e-8)


def text(f, *values, off=()):
    with pipeline.proofs(off=off):
        return tx.grad(f).source_for(*values)


def test_no_trip_records_where_it_ended() -> None:
    assert "exits" not in text(others, 0.7, 5) and " continue" not in text(others, 0.7, 5)
    assert "exits" in text(others, 0.7, 5, off=("continues",))


def test_branches_are_not_too_deep() -> None:
    lines = text(deep, 0.6, 10).splitlines()
    assert " continue" in "".join(lines)
    assert max(len(line) - len(line.lstrip()) for line in lines) < 40


def test_a_test_that_the_trip_binds_stays_where_it_is() -> None:
    span = Span("made up", 1, 0, "", ())
    branch = If(Var("c"), (Continue(span),), (), span)
    for name, stays in (("c", True), ("d", False)):
        body = (For("i", Lit(0), Lit(3), Lit(1), False, (branch, Assign(name, Lit(False), span)), span),)
        function = Function("f", (), body, span)
        kept = any(isinstance(s, Continue) for s in statements(straightened(function).body))
        assert kept is stays


def test_what_stands_outside_of_a_manager_stays_there() -> None:
    found = text(within_a_manager, 0.4, 4)
    assert " continue" in found and found == text(within_a_manager, 0.4, 4, off=("continues",))
