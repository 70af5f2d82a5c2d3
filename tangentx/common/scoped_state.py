"""Dynamically scoped state that is restored whatever interrupts the scope.

Python looks for an interrupt where it enters a function and where a call has returned. So state is changed inside of
the ``try`` alone, and set back by the first call of the ``finally``: a context manager written in Python has places
between the two where an interrupt (Ctrl-C) would leave it changed for good.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ContextDecorator
from contextvars import ContextVar
from typing import Any, TypeVar

S = TypeVar("S")
T = TypeVar("T")


def lasting(variable: ContextVar[S], value: S, run: Callable[[], T]) -> T:
    """What `run` gives while the variable has the value.

    >>> level = ContextVar("level", default=0)
    >>> lasting(level, 1, level.get), level.get()
    (1, 0)
    """
    before = variable.get()
    try:
        variable.set(value)
        return run()
    finally:
        variable.set(before)


def holding(lock: Any, run: Callable[[], T]) -> T:
    """What `run` gives while this thread has the lock.

    ``with lock:`` does not do: from Python 3.14 on an interrupt may come when the lock has been taken, and the ``with``
    has not begun.

    >>> import threading
    >>> holding(threading.Lock(), lambda: 1)
    1
    """
    taken: list[Any] = []
    try:
        taken.extend(filter(type(lock).acquire, (lock,)))  # one call, all of it in C: taken and known to be
        return run()
    finally:
        if taken:
            lock.release()


class Lasting(ContextDecorator):
    """The same as a context, for users: a variable has what `change` makes of its value."""

    def __init__(self, variable: ContextVar[Any], change: Callable[[Any], Any]) -> None:
        self._variable = variable
        self._change = change
        self._before: list[Any] = []

    def __enter__(self) -> None:
        before = self._variable.get()
        value = self._change(before)
        self._before.append(before)
        try:
            self._variable.set(value)
        except BaseException:  # an interrupt, after which nobody leaves what was not entered
            self._variable.set(before)
            raise

    def __exit__(self, *exception: object) -> None:
        self._variable.set(self._before[-1])
        self._before.pop()
