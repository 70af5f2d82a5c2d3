"""The line of the user's program that is being executed."""

from __future__ import annotations

import sys
from typing import Any

from tangentx.errors import INSIDE, place

_getframe = sys._getframe
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
