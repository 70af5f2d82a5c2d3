"""The line of the user's program that is at work."""

from __future__ import annotations

import linecache
import os
import sys
import threading
from typing import Any

import numpy as np

from tangentx.errors import Span

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_NUMPYS = os.path.dirname(os.path.abspath(np.__file__)) + os.sep
_LIBRARY = (_OURS, _NUMPYS, os.path.dirname(os.path.abspath(threading.__file__)) + os.sep + "contextlib")


class _Inside(dict[str, bool]):
    """Whether the code of a file is ours or NumPy's. By file: to hash a code object takes as long as it is."""

    def __missing__(self, file: str) -> bool:
        self[file] = found = file.startswith(_LIBRARY)
        return found


INSIDE = _Inside()
_getframe = sys._getframe


def place(skip: int = 1) -> Any:
    """The code and the position in it of the innermost frame that is neither ours nor NumPy's; cheap to keep.

    `skip` frames are known to be ours.
    """
    frame: Any = _getframe(skip)
    code = frame.f_code
    while INSIDE[code.co_filename]:
        frame = frame.f_back
        if frame is None:
            return None
        code = frame.f_code
    return code, frame.f_lasti


def span_of(where: Any) -> Span | None:
    """A place as errors show it."""
    if where is None:
        return None
    code, last = where
    line = code.co_firstlineno
    for start, end, number in code.co_lines():
        if start <= last < end and number is not None:
            line = number
    text = linecache.getline(code.co_filename, line).rstrip()
    return Span(code.co_filename, line, len(text) - len(text.lstrip()), text)


_USERS: list[Any] = [None]
"""The code that was last found to be the user's: most operations are of the same function as the one before."""


def _place_of(frame: Any) -> Any:
    """The `place` of a frame, looked for outwards where that is not the user's."""
    code = frame.f_code
    if INSIDE[code.co_filename]:
        return place()
    _USERS[0] = code
    return code, frame.f_lasti


PLACE_NAMES = {"place_of_": _place_of, "users_": _USERS, "getframe_": _getframe}
"""What a text with `placed` in it refers to."""


def placed(indent: str, name: str, frames: int) -> list[str]:
    """The lines that give a name the `place` of the frame so many out, looked for where that is not the user's."""
    return [
        f"{indent}frame_ = getframe_({frames})",
        f"{indent}code_ = frame_.f_code",
        f"{indent}{name} = (code_, frame_.f_lasti) if code_ is users_[0] else place_of_(frame_)",
    ]
