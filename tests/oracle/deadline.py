"""A limit on how long a block may take."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raise `TimeoutError` in the main thread when the block takes too long."""

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"not done after {seconds} seconds")

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)
