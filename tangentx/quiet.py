"""Warnings of our own work kept from the user, without changing what other threads are told."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import numpy as np


class _Depth(threading.local):
    value = 0


_DEPTH = _Depth()


class _Ours:
    """Stands in a filter for a pattern of messages: matches all, in threads that are `quiet` now, and no other."""

    def match(self, text: str, *_: object) -> bool:
        return _DEPTH.value > 0


_FILTER = ("ignore", _Ours(), Warning, None, 0)


@contextmanager
def quiet() -> Iterator[None]:
    """No warning in this thread, and no floating-point error, while it lasts.

    ``warnings.catch_warnings`` puts back the filters that it found: where two threads use it at once, the one that
    ends last puts back what the other had changed. Here one filter, which other threads do not feel, goes into the
    list and out of the same list again, whatever list is in use by then.
    """
    filters: list[object] = warnings.filters  # type: ignore[assignment]
    filters.insert(0, _FILTER)
    _DEPTH.value += 1
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        _DEPTH.value -= 1
        with suppress(ValueError):  # where the user has reset them meanwhile
            filters.remove(_FILTER)
