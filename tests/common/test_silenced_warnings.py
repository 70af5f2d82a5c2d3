"""Warnings of our own work: no other thread hears less of its own, and the filters stay as they were."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pytest

import tangentx as tx
from tangentx.common.silenced_warnings import quietly


def test_nothing_is_told_in_this_thread() -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")

        def work() -> None:
            warnings.warn("sample", RuntimeWarning, stacklevel=1)
            quietly(lambda: np.mean(np.zeros(0)))
            assert np.isnan(np.zeros(1) / 0.0).all()

        quietly(work)
        assert told == []
        warnings.warn("own", RuntimeWarning, stacklevel=1)
    assert [str(w.message) for w in told] == ["own"]


def test_another_thread_is_told_all() -> None:
    before = list(warnings.filters)
    heard: list[str] = []
    inside, done = threading.Event(), threading.Event()

    def other() -> None:
        assert inside.wait(10)
        try:
            warnings.warn("mine", RuntimeWarning, stacklevel=1)
        except RuntimeWarning as error:  # as the tests have it
            heard.append(str(error))
        done.set()

    thread = threading.Thread(target=other)
    thread.start()
    quietly(lambda: (inside.set(), done.wait(10)))
    assert done.is_set()
    thread.join()
    assert heard == ["mine"]
    assert warnings.filters == before


@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_the_filters_stay_where_two_threads_change_them_in_turn(first: str) -> None:
    """What ``warnings.catch_warnings`` of both would leave changed for good."""
    before = list(warnings.filters)
    theirs = warnings.catch_warnings()
    if first == "ours":
        quietly(theirs.__enter__)
        theirs.__exit__(None, None, None)
    else:
        theirs.__enter__()
        quietly(lambda: theirs.__exit__(None, None, None))
    assert warnings.filters == before


def test_filters_that_are_reset_meanwhile() -> None:
    with warnings.catch_warnings():
        quietly(warnings.resetwarnings)
        assert warnings.filters == []


def test_compiling_changes_no_filter() -> None:
    before = list(warnings.filters)
    barrier = threading.Barrier(2)
    stop = threading.Event()

    def other() -> None:
        barrier.wait()
        while not stop.is_set():
            with warnings.catch_warnings():
                warnings.simplefilter("error")

    thread = threading.Thread(target=other)
    thread.start()
    barrier.wait()
    try:
        for power in range(2, 6):
            assert tx.grad(lambda x, n=power: np.sum(np.mean(x) ** n), fallback="error")(np.ones(2)).shape == (2,)
    finally:
        stop.set()
        thread.join()
    assert warnings.filters == before
