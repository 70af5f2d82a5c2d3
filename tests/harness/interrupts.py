"""Interrupts at the places where Python looks for them, counted, and by a timer."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import tangentx

PACKAGE = str(Path(tangentx.__file__).resolve().parent)
MANAGERS = (
    contextlib.__file__,
    *(
        f"{PACKAGE}/{name}.py"
        for name in (
            "dispatch/entries",
            "common/options",
            "compile/pipeline",
            "common/silenced_warnings",
            "compile/nested",
            "compile/observation",
            "compile/fallback",
            "api/derivative",
            "compile/gradients",
            "arrays/observed_calls",
            "arrays/claims",
            "backend/printer",
            "tensor/core/modes",
            "tensor/graph/random_states",
            "tensor/writes/writing",
            "tensor/fallback/unknown_code",
            "tensor/fallback/equal_values",
            "tensor/graph/checkpoints",
            "tensor/graph/autograd",
            "tensor/fallback/programs",
            "tensor/graph/engine",
            "tensor/fallback/escaped_values",
        )
    ),
)
"""Files of the code that changes the state of the process or of a thread, and puts it back."""


class Interrupts:
    """As a profiler: counts the places in our code where an interrupt can come, and raises KeyboardInterrupt at one.

    Python looks for interrupts where it enters a function and where a function written in C has returned, and at the
    end of a trip of a loop, which a profiler is not told of.
    """

    def __init__(self, at: int | None = None, files: tuple[str, ...] = (PACKAGE, "<tangentx")) -> None:
        self.at = at
        self.count = 0
        self.files = files

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        if event not in ("call", "c_return"):
            return
        file = frame.f_code.co_filename
        if not file.startswith(self.files):
            return
        self.count += 1
        if self.count - 1 == self.at:
            sys.setprofile(None)
            raise KeyboardInterrupt(f"{file}:{frame.f_lineno} {frame.f_code.co_name}: {event} {arg}")


def interrupted(interrupts: Interrupts, work: Callable[[], Any]) -> BaseException | None:
    """Does `work` under it; gives the exception that came out, if any."""
    sys.setprofile(interrupts)
    try:
        work()
    except BaseException as error:
        return error
    finally:
        sys.setprofile(None)
    return None


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """A KeyboardInterrupt after so long, from outside, unless the body is done by then."""

    def ring(*_: Any) -> None:
        raise KeyboardInterrupt("the timer")

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
