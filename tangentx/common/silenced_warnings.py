"""Silences warnings of our own work, without touching the filters of other threads."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from contextvars import copy_context
from typing import TypeVar

import numpy as np

T = TypeVar("T")


class _Depth(threading.local):
    value = 0


_DEPTH = _Depth()


class _Ours:
    """Stands in a filter for a pattern of messages: matches all, in threads that are `quiet` now, and no other."""

    def match(self, text: str, *_: object) -> bool:
        return _DEPTH.value > 0


_FILTER = ("ignore", _Ours(), Warning, None, 0)


def quietly(run: Callable[[], T]) -> T:
    """What `run` gives, without a warning in this thread, and without a floating-point error.

    ``warnings.catch_warnings`` puts back the filters that it found: where two threads use it at once, the one that
    ends last puts back what the other had changed. Here one filter, which other threads do not feel, goes into the
    list and out of the same list again, whatever list is in use by then. How floating-point errors are treated is
    set in a context of its own, which is left whatever interrupts it; see `lasting` for the rest.
    """
    filters: list[object] = warnings.filters  # type: ignore[assignment]
    before = _DEPTH.value
    try:
        _DEPTH.value = before + 1
        filters.insert(0, _FILTER)
        return copy_context().run(_without_errors, run)
    finally:
        _DEPTH.value = before
        if _FILTER in filters:  # unless the user has reset them meanwhile
            filters.remove(_FILTER)


def _without_errors(run: Callable[[], T]) -> T:
    np.seterr(all="ignore")
    return run()
