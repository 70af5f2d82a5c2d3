"""How floating-point events are taken is as before, wherever an interrupt comes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy._core import _ufunc_config

import tangentx as tx
from tangentx.common.float_events import under_events
from tests.harness.interrupts import PACKAGE, Interrupts, interrupted

EVENTS = "divide", "over", "under", "invalid"
X = np.array([0.3, 0.0, -0.2])


@pytest.fixture
def warned() -> Iterator[None]:
    """What one test leaves changed is not the next one's beginning."""
    with np.errstate(all="warn"):
        yield


def asked() -> list[Any]:
    return [np.geterr()[event] for event in EVENTS]


def test_events_are_taken_so_while_it_runs() -> None:
    before = asked()
    assert under_events(asked, all="ignore") == ["ignore"] * 4
    assert under_events(asked, over="raise", under="ignore") == [before[0], "raise", "ignore", before[3]]
    assert under_events(lambda: under_events(asked, invalid="raise"), all="ignore") == [*["ignore"] * 3, "raise"]
    with pytest.raises(FloatingPointError):
        under_events(lambda: np.float64(1.0) / np.float64(0.0), divide="raise")
    assert asked() == before


def test_what_the_user_has_set_counts() -> None:
    """Afterwards too, and what is not named is as the user has it."""
    for way in ("raise", "ignore", "call"):
        with np.errstate(over=way, call=lambda *_: None):
            assert under_events(asked, invalid="ignore")[1] == way
            assert np.geterr()["over"] == way and np.geterrcall() is not None
            assert under_events(np.geterrcall, invalid="ignore") is np.geterrcall()


def test_what_runs_may_set_them_itself() -> None:
    before = asked()
    assert under_events(lambda: (np.seterr(all="raise"), asked())[1], invalid="ignore") == ["raise"] * 4
    assert asked() == before


def test_threads_have_their_own() -> None:
    found: list[Any] = []

    def work() -> None:
        thread = threading.Thread(target=lambda: found.append(asked()))
        thread.start()
        thread.join()

    before = asked()
    under_events(work, all="ignore")
    assert found == [before]


def over_a_root(x):
    return np.sum(np.sqrt(x * x) * np.abs(x) ** 1.5)


def backward() -> None:
    t = tx.tensor(X, requires_grad=True)
    over_a_root(t).backward()


def selected() -> None:
    t = tx.tensor(X, requires_grad=True)
    np.add(t, 1.0, out=tx.tensor(np.zeros(3)), where=X > 0.0).sum().backward()


RUNS = [
    lambda: under_events(asked, all="ignore"),
    lambda: tx.grad(over_a_root)(X),
    lambda: tx.jvp(over_a_root, (X,), (X,)),
    lambda: tx.grad(over_a_root, jit="python")(X),
    backward,
    selected,
]


@pytest.mark.usefixtures("warned")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a generator that was being closed
@pytest.mark.filterwarnings("ignore::tangentx.errors.FallbackWarning")
@pytest.mark.parametrize("run", RUNS, ids=["under", "grad", "jvp", "jit", "backward", "where"])
def test_wherever_an_interrupt_comes_events_are_as_before(run: Callable[[], Any]) -> None:
    """In our code and in NumPy's, whose own manager does not hold there."""
    run(), run()
    files = PACKAGE, "<tangentx", _ufunc_config.__file__
    counted = Interrupts(files=files)
    assert interrupted(counted, run) is None and counted.count > 3
    before = asked()
    for at in range(counted.count):
        error = interrupted(Interrupts(at, files), run)
        assert error is None or isinstance(error, KeyboardInterrupt)
        assert asked() == before, str(error)
