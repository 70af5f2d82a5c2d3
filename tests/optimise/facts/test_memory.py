"""What statements do to memory, with all that they call."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import zero
from tangentx.ir.nodes import For
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.memory import Effects, effects
from tests.optimise.support import every, unit_of

A = np.ones(3)


def found(f: Any, *values: Any) -> tuple[Effects, Any]:
    program, unit = unit_of(f, *values)
    loop = next(s for s in every(unit) if isinstance(s, For))
    return effects(program, unit, loop.body), lambda name: memory.region(unit.kinds[name])


def test_a_write_replaces_and_a_read_of_a_number_reads() -> None:
    def f(a, b):
        for k in range(3):
            a[k] = b[k] * 2.0
        return a

    done, region = found(f, A, A)
    assert region("a") in done.replaced and region("a") not in done.read
    assert region("b") in done.read and region("b") not in done.written and not done.acts


def test_a_view_reads_nothing_and_a_new_array_is_apart() -> None:
    def f(a, b):
        for k in range(3):
            t = b * 2.0
            v = a[k:]
            v[...] = np.sum(t)
        return a

    done, region = found(f, A, A)
    assert region("a") in done.replaced and region("a") not in done.read
    assert region("t") not in done.read


def test_what_is_said_to_the_world_acts() -> None:
    def f(a, b):
        for k in range(3):
            print(a[k])
        return a

    assert found(f, A, A)[0].acts


def test_what_is_taken_out_of_a_new_container_is_written_and_read() -> None:
    def f(a, b):
        for k in range(3):
            row = zero([b, a])
            last = row.pop()
            a[k] = np.sum(last)
        return a

    done, region = found(f, A, A)
    assert region("row") in done.written and region("last") in done.read
