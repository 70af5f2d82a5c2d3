"""Clocks: functions timed in turn, so that what slows the machine slows all of them."""

from __future__ import annotations

import statistics
import time
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def interleaved(calls: Sequence[Callable[[], Any]], seconds: float) -> list[float]:
    """Median seconds of one call of each, all of them called in turn for about `seconds` in total."""
    return [statistics.median(times) for times in _in_turn(calls, seconds, 2e-4)]


def undisturbed(calls: Sequence[Callable[[], Any]], seconds: float) -> list[float]:
    """Least seconds of one call of each, likewise.

    For differences of a microsecond: what else the machine does adds to them, and more to a longer way through Python.
    """
    return [min(times) for times in _in_turn(calls, seconds, 2e-5)]


def _in_turn(calls: Sequence[Callable[[], Any]], seconds: float, least: float) -> list[list[float]]:
    """Seconds of one call of each, round after round; as many calls a round as take the `least` that can be clocked."""
    loops = [_loops(call, least) for call in calls]
    once = sum(_timed(call, n) * n for call, n in zip(calls, loops, strict=True))
    rounds = max(3, min(1000, round(seconds / once)))
    found: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for times, call, n in zip(found, calls, loops, strict=True):
            times.append(_timed(call, n))
    return found


def _loops(call: Callable[[], Any], least: float) -> int:
    """How many calls take long enough for the clock; the first of all, which may have more to do, is not asked."""
    call()
    n = 1
    while _timed(call, n) * n < least:
        n *= 2
    return n


def _timed(call: Callable[[], Any], n: int) -> float:
    start = time.perf_counter()
    for _ in range(n):
        call()
    return (time.perf_counter() - start) / n


def peak(call: Callable[[], Any]) -> int:
    """Most bytes that one call has at a time, its result included."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def demand_equal(name: str, found: Sequence[Any], wanted: Sequence[Any]) -> None:
    """Raises ValueError where two gradients differ."""
    if len(found) != len(wanted):
        raise ValueError(f"{name}: {len(found)} gradients, not {len(wanted)}")
    for i, (a, b) in enumerate(zip(found, wanted, strict=True)):
        if np.shape(a) != np.shape(b) or not np.max(np.abs(np.subtract(a, b))) <= 1e-9 * np.max(np.abs(b)):
            raise ValueError(f"{name}: gradient {i} differs from the one written by hand")
