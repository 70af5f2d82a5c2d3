"""A progress line on the terminal while a compilation takes long.

A compilation says at which stage it is, work in shards how many of them are done; nothing is shown before a second has
passed, none where standard error is no terminal, none with ``TANGENTX_PROGRESS=0``. No thread and no timer: between two
stages the line stays as it is. It is wiped when the work ends, however it ends.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import TextIO, TypeVar

from tangentx.common.scoped_state import lasting

T = TypeVar("T")
PATIENCE = 1.0
"""Seconds before anything is shown."""
EVERY = 0.1
"""Seconds between two lines."""
WIDTH = 24
"""Characters of the bar."""


class Line:
    """The line, as it was last written; the share of the work that is done never goes back."""

    def __init__(self, stream: TextIO, doing: str = "compiling") -> None:
        self.stream = stream
        self.doing = doing
        self.due = time.monotonic() + PATIENCE
        self.name = ""
        self.share = 0.0
        self.shown = 0

    def show(self, stage: str) -> None:
        """Writes the line where that is due."""
        now = time.monotonic()
        if now < self.due:
            return
        self.due = now + EVERY
        full = round(WIDTH * self.share)
        bar = "#" * full + "." * (WIDTH - full)
        self._write(f"tangentx: {self.doing} {self.name or 'a derivative'} [{bar}] {100 * self.share:3.0f} %  {stage}")

    def _write(self, text: str) -> None:
        blank = " " * (self.shown - len(text))
        self.shown = len(text)
        self.stream.write(f"\r{text}{blank}")
        self.stream.flush()

    def wipe(self) -> None:
        """Leaves an empty line, with the cursor at its beginning."""
        if self.shown:
            self.stream.write(f"\r{' ' * self.shown}\r")
            self.stream.flush()


class _Silent(Line):
    """Takes the place of a line where nothing is to be shown."""

    def show(self, stage: str) -> None:
        pass


_LINE: ContextVar[Line | None] = ContextVar("tangentx_progress", default=None)
_SILENT = _Silent(sys.stderr)


def reporting(run: Callable[[], T], doing: str = "compiling") -> T:
    """What `run`, a compilation, gives; while it takes long a line says so. Those inside of it have no line of theirs.

    `doing` says what takes long, if not a compilation.

    >>> reporting(lambda: 2)
    2
    """
    if _LINE.get() is not None or not _is_wanted():
        return run()
    line = Line(sys.stderr, doing)
    try:
        return lasting(_LINE, line, run)
    finally:
        line.wipe()


def silently(run: Callable[[], T]) -> T:
    """What `run` gives, which has no line: the one who waits for it shows one."""
    return lasting(_LINE, _SILENT, run)


def _is_wanted() -> bool:
    """Whether there is a terminal, and nobody has said that it be left alone."""
    stream = sys.stderr
    return stream is not None and os.environ.get("TANGENTX_PROGRESS", "") != "0" and stream.isatty()


def at(stage: str, share: float, name: str = "") -> None:
    """Says at which stage the compilation in hand is, which share of it is behind, and of which function it is."""
    line = _LINE.get()
    if line is not None:
        line.name = line.name or name
        line.share = max(line.share, share)
        line.show(stage)
