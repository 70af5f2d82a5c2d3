"""Interrupts: whenever they come, the process is as it was afterwards, and the next call is right."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.common.scoped_state import Lasting, holding, lasting
from tangentx.compile import observation, pipeline
from tangentx.tensor.core.modes import during, recording
from tests.harness.entries import FRESH, KNOWN, X, same, written
from tests.harness.interrupts import MANAGERS, PACKAGE, Interrupts, alarm, interrupted
from tests.harness.surroundings import assert_unchanged, surroundings

pytestmark = [
    pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning"),
    # What is closed by the collector cannot raise: Python says so, and goes on.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
LEVEL: ContextVar[int] = ContextVar("level", default=0)
ENTRIES = {name: FRESH[name] for name in FRESH if name not in ("Tensors", "Tensors, checkpoint")} | {
    name: KNOWN[name] for name in ("Tensors", "Tensors, checkpoint")
}
SHORT = ("fallback forward", "unknown code", "no_grad", "Tensors, checkpoint", "helper", "source")


# ---- state that lasts while something runs ----
def test_a_variable_has_the_value_while_it_lasts() -> None:
    assert lasting(LEVEL, 2, LEVEL.get) == 2 and LEVEL.get() == 0
    with pytest.raises(ZeroDivisionError):
        lasting(LEVEL, 3, lambda: 1 / 0)
    assert LEVEL.get() == 0
    with Lasting(LEVEL, lambda before: before + 1) as nothing, Lasting(LEVEL, lambda before: before + 1):
        assert nothing is None and LEVEL.get() == 2
    assert LEVEL.get() == 0


@pytest.mark.parametrize(
    "work",
    [
        lambda: lasting(LEVEL, 1, LEVEL.get),
        lambda: during(recording, grad=False, honest=True),
        lambda: pipeline.switched_off(),
    ],
    ids=["lasting", "during", "nothing"],
)
def test_wherever_an_interrupt_comes_the_variable_is_as_before(work: Callable[[], Any]) -> None:
    files = (PACKAGE, __file__)
    counted = Interrupts(files=files)
    assert interrupted(counted, work) is None
    before = surroundings()
    for at in range(counted.count):
        assert isinstance(interrupted(Interrupts(at, files), work), KeyboardInterrupt)
        assert LEVEL.get() == 0
        assert_unchanged(before)


@pytest.mark.parametrize("make", [threading.Lock, threading.RLock])
def test_wherever_an_interrupt_comes_a_lock_is_let_go(make: Callable[[], Any]) -> None:
    """On Python 3.14 ``with lock:`` itself has a place between the two."""
    lock, runs = make(), []
    work = lambda: holding(lock, lambda: runs.append(1))
    counted = Interrupts(files=(PACKAGE, __file__))
    assert interrupted(counted, work) is None and counted.count > 2
    for at in range(counted.count):
        assert isinstance(interrupted(Interrupts(at, (PACKAGE, __file__)), work), KeyboardInterrupt)
        other = threading.Thread(target=lambda: lock.acquire(blocking=False) and (runs.append(2), lock.release()))
        other.start()
        other.join()
        assert runs.pop() == 2
    with pytest.raises(ZeroDivisionError):
        holding(lock, lambda: 1 / 0)
    assert lock.acquire(blocking=False)


def enters() -> None:
    with Lasting(LEVEL, lambda before: before + 1):
        pass


def test_what_is_not_entered_is_not_left_changed() -> None:
    """An interrupt of the set itself; between a context and its end there is nothing that Python code can do."""
    work = Interrupts(files=(PACKAGE,))
    interrupted(work, enters)
    for at in range(work.count):
        error = interrupted(Interrupts(at, (PACKAGE,)), enters)
        if "__exit__: call" not in str(error):
            assert LEVEL.get() == 0, str(error)
        LEVEL.set(0)


# ---- interrupts of public calls ----
def hit_at_places(name: str, files: tuple[str, ...], count: int, seed: int) -> int:
    """Interrupts an entry at so many places, drawn from all of them; gives how many interrupts came out."""
    entry = ENTRIES[name]
    entry()
    wanted = entry()
    counted = Interrupts(files=files)
    assert interrupted(counted, entry) is None
    places = random.Random(seed).sample(range(counted.count), min(count, counted.count))
    before, out = surroundings(), 0
    for at in sorted(places):
        error = interrupted(Interrupts(at, files), entry)
        said = repr(error)
        assert error is None or isinstance(error, KeyboardInterrupt), said
        out += error is not None
        assert_unchanged(before)
        assert same(entry(), wanted), said
    return out


@pytest.mark.parametrize("name", SHORT)
def test_an_interrupt_where_the_state_changes(name: str) -> None:
    assert hit_at_places(name, MANAGERS, 6, seed=1) > 0


@pytest.mark.parametrize("name", SHORT[:2])
def test_an_interrupt_anywhere(name: str) -> None:
    assert hit_at_places(name, (PACKAGE, "<tangentx"), 4, seed=2) > 0


@pytest.mark.thorough
@pytest.mark.parametrize("name", ENTRIES)
def test_interrupts_everywhere(name: str) -> None:
    assert hit_at_places(name, MANAGERS, 200, seed=3) > 0
    assert hit_at_places(name, (PACKAGE, "<tangentx"), 60, seed=4) > 0


def hit_by_timer(name: str, count: int) -> int:
    """Interrupts an entry so often after a part of the time that it takes; gives how many interrupts came out."""
    entry = ENTRIES[name]
    entry()
    start = time.perf_counter()
    wanted = entry()
    whole = time.perf_counter() - start
    before, out, rng = surroundings(), 0, random.Random(count)
    for _ in range(count):
        with np.errstate():  # NumPy's own managers can be interrupted, too
            try:
                with alarm(max(whole * rng.random() * 1.1, 1e-5)):
                    entry()
            except KeyboardInterrupt:
                out += 1
        assert_unchanged(before)
        assert same(entry(), wanted)
    return out


@pytest.mark.skipif(os.name != "posix", reason="there is no such timer")
@pytest.mark.parametrize("name", ["grad", "Tensors, checkpoint", "fallback forward"])
def test_an_interrupt_by_a_timer(name: str) -> None:
    hit_by_timer(name, 6)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ENTRIES)
def test_interrupts_by_a_timer(name: str) -> None:
    hit_by_timer(name, 60)


# ---- what an interrupt found ----
DRAWN: list[float] = []


def drawn() -> float:
    DRAWN.append(1.0)
    return float(len(DRAWN))


class Box:
    draw = staticmethod(eval("lambda: drawn()"))


def with_a_draw(x):
    return x * Box.draw()


def test_unknown_code_is_called_again_after_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it gave belongs to the run that was interrupted, and to no later one of the same arguments."""
    whole = pipeline.compile_functions

    def stopped(*args: Any, **kwargs: Any) -> Any:
        if observation._PENDING.get() is not None:
            raise KeyboardInterrupt
        return whole(*args, **kwargs)

    x = np.float64(2.0)
    gradient = tx.grad(with_a_draw, fallback="error")
    monkeypatch.setattr(pipeline, "compile_functions", stopped)
    with pytest.raises(KeyboardInterrupt):
        gradient(x)
    assert DRAWN == [1.0]
    monkeypatch.undo()
    assert gradient(x) == 2.0 and len(DRAWN) == 2


def test_two_threads_one_of_which_is_interrupted() -> None:
    """The lock is let go, and the other thread goes on."""
    found: list[Any] = []
    compiling = threading.Event()
    whole = pipeline.compile_functions

    def stopped(*args: Any, **kwargs: Any) -> Any:
        compiling.set()
        time.sleep(0.05)
        raise KeyboardInterrupt

    thread = threading.Thread(target=lambda: (compiling.wait(10), found.append(tx.grad(lambda x: x * x)(3.0))))
    thread.start()
    pipeline.compile_functions = stopped  # type: ignore[assignment]
    try:
        with pytest.raises(KeyboardInterrupt):
            tx.grad(lambda x: x * x * x)(2.0)
    finally:
        pipeline.compile_functions = whole
    thread.join(20)
    assert found == [6.0]
    assert same(tx.grad(written)(X), KNOWN["grad"]())
