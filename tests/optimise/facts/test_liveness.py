"""What is live, what a function does, and what regions a value reaches."""

from __future__ import annotations

import numpy as np
import pytest

import tangentx as tx
from tangentx.ir.nodes import Assign, Op, Raise, Store
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.dtype_exactness import dtypes
from tangentx.optimise.facts.liveness import Liveness
from tangentx.optimise.facts.summaries import summaries
from tests.optimise.support import every, unit_of


def writes_and_raises(u, x):
    v = np.zeros(3)
    spare = np.zeros(3)
    v[0] = x
    spare[1] = x
    if x < 0.0:
        raise ValueError("negative")
    return u[0] + v[0]


def test_a_store_counts_if_its_memory_is_read() -> None:
    program, unit = unit_of(writes_and_raises, np.ones(3), 1.0)
    live = Liveness(program, [unit])
    first, second = [s for s in every(unit) if isinstance(s, Store)]
    assert live.needs(unit, first)
    assert not live.needs(unit, second)
    assert all(live.needs(unit, s) for s in every(unit) if isinstance(s, Raise))


def test_a_summary_says_what_is_written_and_whether_it_raises() -> None:
    program, unit = unit_of(writes_and_raises, np.ones(3), 1.0)
    found = summaries(program, [unit])[unit.link]
    assert found.raises
    assert memory.region(unit.kinds["v"]) in found.writes
    assert memory.region(unit.kinds["u"]) not in found.writes


def nested(x):
    pair = (x, [x * 2.0])
    return pair[1][0]


def test_a_value_reaches_what_it_holds() -> None:
    _, unit = unit_of(nested, np.ones(3))
    reached = set(memory.reach([unit.kinds["pair"]]))
    assert memory.region(unit.kinds["x"]) in reached
    assert len(set(memory.reach([unit.kinds["pair"]], arrays_too=False))) == 2
    assert memory.entries([unit]) == (unit,)


LOG = np.zeros(2)


def logged(x):
    LOG[0] = LOG[0] + x
    return x * LOG[0]


def test_state_outside_gets_its_content_once_whatever_is_dropped() -> None:
    LOG[:] = 1.0
    assert tx.grad(logged, fallback="error")(2.0) == pytest.approx(5.0)
    assert LOG.tolist() == [3.0, 1.0]


def two_dtypes(x):
    return np.sum(x.astype(np.float32)) + np.sum(x)


def one_dtype(x):
    return np.sum(x) * 2.0


def test_one_dtype_is_told_from_two() -> None:
    assert dtypes(unit_of(one_dtype, np.ones(3))[0])
    assert not dtypes(unit_of(two_dtypes, np.ones(3))[0])
    assert any(isinstance(s, Assign) and isinstance(s.value, Op) for s in every(unit_of(one_dtype, np.ones(3))[1]))
