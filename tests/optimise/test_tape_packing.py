"""Tapes that grow and shrink together are one, unless what is recorded, or its name, changes on the way."""

from __future__ import annotations

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tests.optimise.support import WAYS, differences, gradient


def spiral(x, steps):
    """Both names are recorded, and both are bound anew after the last record."""
    y = x
    for _ in range(steps):
        x, y = np.sin(x) + y * y, x * y
    return x * y


def left_between(x, limit):
    """The loop may end between the two records."""
    y = x
    for _ in range(9):
        x = x * np.sin(y)
        if x < limit:
            break
        y = y * np.cos(x)
    return x * y


def rebound_between(x, steps):
    """`x` is bound anew between its own record and that of `y`."""
    y = x
    for _ in range(steps):
        x = x * y
        y = np.sin(y * x)
    return x + y


def inner_loop(x, steps):
    """Records of the outer trip around those of the inner one, with trips that end early."""
    y = x
    for k in range(steps):
        y = y * np.sin(x)
        for j in range(3):
            if j > k:
                continue
            y = y * x + np.cos(y)
        x = x * np.cos(y)
    return x * y


def arrays_of_two(a, b, steps):
    """Whole arrays, records by reference: the second is written in place before the last record."""
    for k in range(steps):
        a = a * np.sin(b)
        b = b.copy()
        b[k] = a[0] * b[k] * b[k]
    return np.sum(a * b)


PROGRAMS = [
    (spiral, (0.7, 4)),
    (left_between, (0.9, 0.1)),
    (rebound_between, (0.8, 3)),
    (inner_loop, (0.6, 3)),
    (arrays_of_two, (np.array([0.3, 0.8, 1.2]), np.array([1.1, 0.4, 0.9]), 3)),
]


def appends(f, *values, off=()):
    with pipeline.proofs(off=off):
        text = tx.grad(f).source_for(*values)
    return [line.strip() for line in text.splitlines() if ".append(" in line]


@pytest.mark.share(2)
@pytest.mark.parametrize("off", WAYS)
@pytest.mark.parametrize(("f", "values"), PROGRAMS)
def test_gradients_are_right(f, values, off) -> None:
    np.testing.assert_allclose(gradient(f, values, off), differences(f, values), rtol=1e-6, atol=1e-8)


def test_what_a_trip_records_is_one_tuple() -> None:
    assert appends(spiral, 0.7, 4) == ["tape.append((x, y))"]
    assert len(appends(spiral, 0.7, 4, off=("bundles",))) == 2


def test_trips_that_end_between_the_records_keep_two_tapes() -> None:
    assert len(appends(left_between, 0.9, 0.1)) >= 2


def test_a_record_does_not_move_past_a_binding_of_its_name() -> None:
    assert len(appends(rebound_between, 0.8, 3)) == len(appends(rebound_between, 0.8, 3, off=("bundles",)))


def into_a_loop(x, steps):
    """What is popped is read first inside an inner loop, which the joint pop stands before."""
    total = 0.0
    for k in range(steps):
        rows = np.sin(x) * k
        found = False
        for v in rows:
            if v * v > 0.3:
                found = True
                total += v * v
                break
        x = x * 1.1
        if not found:
            total += np.sum(rows)
    return total


PROGRAMS_OF_LOOPS = [(into_a_loop, (np.array([0.3, 0.8, 1.2]), 3))]


@pytest.mark.parametrize("off", [(), ("bundles",)])
@pytest.mark.parametrize(("f", "values"), PROGRAMS_OF_LOOPS)
def test_pops_before_inner_loops(f, values, off) -> None:
    np.testing.assert_allclose(gradient(f, values, off), differences(f, values), rtol=1e-6, atol=1e-8)


def steps_of(x, y, steps):
    """What a callee records: two arrays a trip, and by the last trip alone which way it went."""
    for k in range(steps):
        x, y = np.sin(x) + y * y, x * y
        if x[0] > 0.9:
            y = y * x
    return x * y


def helped(x, steps):
    return np.sum(steps_of(x, x * 0.5, steps) * x)


def helped_in_a_loop(x, steps):
    total = 0.0
    for k in range(steps):
        total = total + np.sum(steps_of(x, x * 0.5, k) * x) * x[0]
    return total


def helped_in_two_ways(x, steps):
    once = steps_of(x, x * 0.5, steps)
    numbers = steps_of(np.array([x[1] * 0.3]), np.array([0.4]), steps)
    return np.sum(once * x) * numbers[0]


def descend(x, depth, steps):
    y = x
    for k in range(steps):
        x, y = np.sin(x) + 0.1 * y * y, x * y
    return descend(x * 0.5, depth - 1, steps) + y if depth else x * y


def recursive(x, steps):
    return np.sum(descend(x, 2, steps) * x)


def found_by_newton(x, steps):
    """A derivative inside of the program, which is differentiated again."""
    z = x * 1.0
    for k in range(steps):
        z = z - 0.1 * tx.grad(helped)(z, 2)
    return np.sum(z * x)


def moved_along(x):
    """What is saved of it holds a number that is the same in each call, beside the tapes."""
    items = [x, x[0] * x]
    items.insert(1, items[0])
    items.append(x)
    items[0][1] += 0.5 * (items[0][-1] + items[-1][1])
    return sum([np.sum(item) * (k + 1.0) for k, item in enumerate(items)])


def helped_by_lists(x, steps):
    total = 0.0
    for k in range(steps):
        total = total * x[2] + moved_along(x * (k + 1.0))
    return total


X = np.array([0.3, 0.8, 1.2])
OF_CALLEES = (helped_by_lists, helped, helped_in_a_loop, helped_in_two_ways, recursive, found_by_newton)


@pytest.mark.parametrize("off", [(), ("bundles",), ("stacks",)])
@pytest.mark.parametrize("f", OF_CALLEES)
def test_gradients_of_callees_are_right(f, off) -> None:
    np.testing.assert_allclose(gradient(f, (X, 3), off), differences(f, (X, 3)), rtol=1e-5, atol=1e-8)
    pull = tx.vjp(f, X, 3)[1]
    np.testing.assert_array_equal(pull(1.0)[0], pull(1.0)[0])
    with tx.checked():
        gradient(f, (X, 3), off)


@pytest.mark.parametrize("f", [helped, helped_in_a_loop, recursive])
def test_what_a_callee_records_is_one_tuple_too(f) -> None:
    """The two sweeps of a callee are functions of their own, with what is saved between them."""
    tuples = [line for line in appends(f, X, 3) if line.startswith("tape") and ", " in line]
    assert tuples and len(appends(f, X, 3)) < len(appends(f, X, 3, off=("bundles",)))


def test_what_was_recorded_keeps_its_name() -> None:
    text = tx.grad(helped).source_for(X, 3)
    assert "= tape.pop()" in text.partition("def steps_of_backward")[2] and "item" not in text
