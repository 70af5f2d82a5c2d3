"""What is the user's own code, and what is a library's."""

from __future__ import annotations

import os
import sys
import types
from functools import lru_cache
from typing import Any

from tangentx.errors import is_library
from tangentx.tensor.modes import STATE

OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def is_users(function: Any) -> bool:
    """Whether it is a function that the user has written, whose text is run on Tensors."""
    if type(function) is not types.FunctionType:
        return False
    file = function.__code__.co_filename
    if not (file.startswith(OURS) or is_library(file)):
        return True
    home: str = STATE.program.home if STATE.program is not None else ""
    module = str(function.__globals__.get("__name__", ""))  # whatever `functools.wraps` has said
    return bool(home) and not file.startswith(OURS) and module.partition(".")[0] == home


def _top(thing: Any) -> str:
    return str(getattr(thing, "__module__", None) or "").partition(".")[0]


@lru_cache(maxsize=10_000)
def _is_installed(top: str) -> bool:
    module = sys.modules.get(top)
    file = getattr(module, "__file__", None) or ""
    return (
        top in sys.builtin_module_names or top in sys.stdlib_module_names or file.startswith(OURS) or is_library(file)
    )


def is_users_class(cls: type) -> bool:
    """Whether a class is of the user's files."""
    top = _top(cls)
    if STATE.program is not None and STATE.program.home == top:
        return True
    return not _is_installed(top)
