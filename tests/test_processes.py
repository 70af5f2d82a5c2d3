"""Processes that are forked while another thread compiles, and texts that go with their derivatives."""

from __future__ import annotations

import gc
import linecache
import os
import signal
import threading
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tests.harness.surroundings import surroundings


def cube(x):
    return x * x * x


def in_a_child(work: Any) -> int:
    """The status with which a forked process ends that does `work` within ten seconds."""
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        status = 1
        try:
            status = 0 if work() else 2
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_process_is_forked_while_another_thread_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = pipeline.compile_functions
    compiling, forked = threading.Event(), threading.Event()

    def slowly(*args: Any, **kwargs: Any) -> Any:
        compiling.set()
        assert forked.wait(30)
        return whole(*args, **kwargs)

    monkeypatch.setattr(pipeline, "compile_functions", slowly)
    found: list[float] = []
    thread = threading.Thread(target=lambda: found.append(tx.grad(cube)(2.0)))
    thread.start()
    assert compiling.wait(30)

    def work() -> bool:
        pipeline.compile_functions = whole
        assert gc.isenabled()
        return tx.grad(lambda x: x * x)(3.0) == 6.0 and tx.grad(cube)(2.0) == 12.0

    try:
        assert in_a_child(work) == 0
    finally:
        forked.set()
        thread.join()
    assert found == [12.0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_process_is_forked_while_others_ask_for_derivatives() -> None:
    stop = threading.Event()

    def asking() -> None:
        while not stop.is_set():
            tx.grad(lambda x: x)

    threads = [threading.Thread(target=asking) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        assert [in_a_child(lambda: tx.grad(cube)(2.0) == 12.0) for _ in range(20)] == [0] * 20
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert surroundings()["register"]


def generated() -> int:
    return sum(name.startswith("<tangentx ") for name in linecache.cache)


def test_texts_go_with_their_derivatives() -> None:
    def made(n: int) -> Any:
        return lambda x: np.sum(x) * n

    gc.collect()
    before = generated()
    kept = [made(n) for n in range(5)]
    for f in kept:
        tx.grad(f)(np.ones(2))
        tx.vjp(f, np.ones(2))
        tx.jvp(f, (np.ones(2),), (np.ones(2),))
    gc.collect()
    assert generated() >= before + 15
    del kept, f
    gc.collect()
    assert generated() <= before
