"""Fork safety: locks and events that a forked child must not wait for.

A child has no thread but the one that forked. A lock that another one held is taken there for good, Python's own among
them: those of modules that are being imported, and, before Python 3.12, those of `functools.cached_property`.
"""

from __future__ import annotations

import importlib
import logging  # noqa: F401  (whoever imports it while a fork waits has its lock let go that was not taken)
import os
import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")
PATIENCE = 20.0
"""Seconds after which a process is forked although another thread still imports."""


class once(Generic[T]):
    """A property that is computed when it is first asked for, as `functools.cached_property`, and without a lock."""

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any = None) -> T:
        if instance is None:
            return self  # type: ignore[return-value]
        found = instance.__dict__[self.name] = self.function(instance)
        return found


def importing() -> bool:
    """Whether another thread is importing a module of ours, which loads what it needs when it is first called."""
    return not _importers() <= {None, threading.get_ident()}


def loading() -> bool:
    """Whether this thread is: a handler of signals that runs meanwhile has modules before it that are half loaded."""
    return threading.get_ident() in _importers()


def _importers() -> set[Any]:
    locks: dict[str, Any] = getattr(getattr(importlib, "_bootstrap", None), "_module_locks", {})
    held = [ref() for name, ref in list(locks.items()) if name.partition(".")[0] == "tangentx"]
    return {getattr(lock, "owner", None) for lock in held}


_LOCKS: list[Any] = []
_taken: list[Any] = []


def hold(lock: Any) -> None:
    """Keeps a lock, which nobody holds for long, from being held by another thread when a process is forked."""
    _LOCKS.append(lock)


def _before() -> None:
    end = time.monotonic() + PATIENCE
    while importing() and time.monotonic() < end:
        time.sleep(0.001)
    for lock in tuple(_LOCKS):  # another thread may import a module that has one more
        _taken.extend(filter(type(lock).acquire, (lock,)))  # as in `scoped_state.holding`


def _after() -> None:
    while _taken:
        _taken.pop().release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
