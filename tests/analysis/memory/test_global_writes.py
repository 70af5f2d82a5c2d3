"""State outside the arguments is written as the primal writes it, once."""

from __future__ import annotations

import numpy as np
import pytest

import tangentx as tx
from tangentx.analysis.memory import global_writes
from tests.analysis.made import analysed

LOG: list[float] = []
BUFFER = np.zeros(3)


def helper(x):
    LOG.append(x)
    BUFFER[1] += x
    return LOG[-1] * BUFFER[1]


def f(x, n):
    total = 0.0
    for i in range(n):
        total += helper(x * i)
        if total > 100.0:
            return total * x
    return total + LOG.pop() * x


def fresh(call):
    """What the call gives from the first state, and the state it leaves."""
    LOG[:] = []
    BUFFER[:] = 0.0
    result = call()
    return result, list(LOG), BUFFER.copy()


def numeric(x, n):
    step = 1e-5
    high, low = (fresh(lambda at=at: f(at, n))[0] for at in (x + step, x - step))
    return (high - low) / (2 * step)


CALLS = {
    "grad": lambda: tx.grad(f)(2.0, 3),
    "jvp": lambda: tx.jvp(f, (2.0, 3), (1.0, None))[1],
    "vjp": lambda: tx.vjp(f, 2.0, 3)[1](1.0)[0],
}


@pytest.mark.parametrize("name", CALLS)
def test_the_derivative_is_right_and_leaves_what_the_primal_leaves(name) -> None:
    _, log, buffer = fresh(lambda: f(2.0, 3))
    found, after, written = fresh(CALLS[name])
    assert found == pytest.approx(numeric(2.0, 3), rel=1e-7)
    assert after == log and log and np.array_equal(written, buffer) and buffer.any()


def test_the_second_derivative_leaves_it_too() -> None:
    _, log, buffer = fresh(lambda: f(2.0, 3))
    found, after, written = fresh(lambda: tx.grad(tx.grad(f))(2.0, 3))
    step = 1e-5
    high, low = (fresh(lambda at=at: tx.grad(f)(at, 3))[0] for at in (2.0 + step, 2.0 - step))
    assert found == pytest.approx((high - low) / (2 * step), rel=1e-6)
    assert after == log and np.array_equal(written, buffer)


def test_written_objects_become_parameters() -> None:
    _, instance = analysed(f, 2.0, 3)
    function = instance.link.function
    assert [p.name for p in function.params][:2] == ["x", "n"]
    assert {id(ext.value) for ext in function.notes[global_writes.NOTE]} == {id(LOG), id(BUFFER)}


def test_objects_that_are_only_read_stay_outside() -> None:
    table = np.arange(3.0)

    def g(x):
        return np.sum(table) * x

    assert len(analysed(g, 2.0)[1].link.function.params) == 1


STORE: dict[str, object] = {}


def of_what_is_stored(v):
    STORE["x"] = v[0]
    return tx.grad(lambda y: STORE["x"] * y * y)(2.0)


@pytest.mark.parametrize("before", [{}, {"x": 1}])
def test_a_derivative_inside_does_not_go_by_what_an_object_held_before(before, monkeypatch) -> None:
    monkeypatch.setitem(globals(), "STORE", dict(before))
    v = np.array([1.0, 2.0])
    with pytest.raises(tx.NotResolved, match=r"test_global_writes.*reads `STORE`, which then holds other kinds"):
        tx.grad(of_what_is_stored, fallback="error")(v)
    with pytest.raises(tx.NotResolved, match=r"test_global_writes.*reads `STORE`, which then holds other kinds"):
        tx.jvp(of_what_is_stored, (v,), (np.ones(2),), fallback="error")


def test_a_derivative_inside_reads_what_is_stored_of_the_same_kind(monkeypatch) -> None:
    v = np.array([1.0, 2.0])
    monkeypatch.setitem(globals(), "STORE", {"x": np.float64(5.0)})
    assert np.array_equal(tx.grad(of_what_is_stored, fallback="error")(v), [4.0, 0.0])
    assert STORE == {"x": 1.0}
