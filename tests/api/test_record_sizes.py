"""How many bytes a derivative records and holds, as `explain` tells of a call."""

from __future__ import annotations

import numpy as np

import tangentx as tx
from tangentx.api.tape_report import sizes_of


def decayed(v, steps):
    for _ in range(steps):
        v = v - 0.1 * v * v
    return np.sum(v)


def burgers(u, steps):
    for _ in range(steps):
        u[1:-1] -= 0.1 * u[1:-1] * (u[2:] - u[:-2])
    return np.sum(u * u)


def weighted(x, w):
    e = np.exp(x * w)
    return np.sum(e * w) / np.sum(e)


def halved(r):
    return r * np.tanh(r)


def by_a_helper(x, steps):
    for _ in range(steps):
        x = halved(np.sin(x))
    return np.sum(x * x)


printed: list[int] = []


def told(x):
    printed.append(1)
    return np.sum(x * x)


def test_what_is_recorded_in_each_trip_is_weighed() -> None:
    found = tx.grad(decayed).explain(np.ones(5), 3)
    assert ": 120 bytes" in found
    assert ": 400 bytes" in tx.grad(decayed).explain(np.ones(10), 5)


def test_the_arguments_are_as_they_were() -> None:
    u = np.linspace(0.0, 1.0, 6)
    found = tx.grad(burgers).explain(u, 2)
    assert ": 64 bytes" in found and "`u`: 48 bytes" in found
    assert np.array_equal(u, np.linspace(0.0, 1.0, 6))


def test_what_is_held_between_the_sweeps_is_told_but_no_argument() -> None:
    held = tx.grad(weighted).explain(np.ones(4), np.ones(4)).partition("holds, from the forward")[2]
    assert "`e`: 32 bytes" in held
    assert "`w`" not in held and "`x`" not in held


def test_what_a_helper_saves_is_weighed() -> None:
    found = tx.grad(by_a_helper).explain(np.ones(3), 2)
    assert " bytes" in found.partition("records, for the reverse of")[2]


def test_without_arguments_nothing_runs() -> None:
    gradient = tx.grad(told)
    gradient(np.ones(3))
    del printed[:]
    assert "bytes" not in gradient.explain() and not printed


def test_the_decorated_function_tells_of_its_gradient() -> None:
    f = tx.differentiate(decayed)
    assert ": 120 bytes" in f.explain(np.ones(5), 3)
    assert ": 120 bytes" in f.value_and_grad.explain(np.ones(5), 3)


def test_nothing_is_said_of_what_runs_without_the_text() -> None:
    assert sizes_of(print, "", ()) is None
