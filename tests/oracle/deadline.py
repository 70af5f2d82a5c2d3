"""A limit on how much of the processor's time a block may take."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raise `TimeoutError` in the main thread when the block computes too long, however busy the machine is."""

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"not done after {seconds} seconds of computing")

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, old)
