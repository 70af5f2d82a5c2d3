"""Work on deep trees: a larger stack, and the limit of recursion as it was."""

from __future__ import annotations

import contextvars
import sys
import threading
from typing import Any

import pytest

from tangentx.common.recursion import deep

VARIABLE: contextvars.ContextVar[int] = contextvars.ContextVar("VARIABLE", default=0)


def depth(n: int) -> int:
    return 0 if n == 0 else 1 + depth(n - 1)


def test_what_is_shallow_runs_in_its_own_thread() -> None:
    assert deep(threading.current_thread) is threading.current_thread()


def test_what_is_deep_has_a_larger_stack_and_the_same_context() -> None:
    VARIABLE.set(3)
    limit, size = sys.getrecursionlimit(), threading.stack_size()
    assert deep(lambda: (depth(20_000), VARIABLE.get())) == (20_000, 3)
    assert (sys.getrecursionlimit(), threading.stack_size()) == (limit, size)


def test_an_error_comes_back_and_an_endless_recursion_ends() -> None:
    limit = sys.getrecursionlimit()

    def fails() -> Any:
        depth(5_000)
        raise KeyError("here")

    with pytest.raises(KeyError, match="here"):
        deep(fails)
    with pytest.raises(RecursionError):
        deep(lambda: depth(1_000_000))
    assert sys.getrecursionlimit() == limit


def test_threads_leave_the_limit_as_it_was() -> None:
    limit = sys.getrecursionlimit()
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(deep(lambda: depth(5_000)))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [5_000] * 6 and sys.getrecursionlimit() == limit
