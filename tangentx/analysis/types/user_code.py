"""Tells the user's own code from library code.

The user's own is what has the top-level package or module of the function that is differentiated, and all that lies
neither in Python's library nor in a directory of installed packages.
"""

from __future__ import annotations

import inspect
import os
import sys
import types
from collections.abc import Iterator
from typing import Any

from tangentx.errors import is_library


def is_foreign(fn: Any, home: str) -> bool:
    """Whether a function or class lies in Python's library or in an installed package that is not `home`."""
    fn = getattr(fn, "__func__", fn)
    name = str(getattr(fn, "__module__", None) or "")
    top = name.partition(".")[0]
    if top in (home, "tangentx", "__main__"):
        return False
    code = getattr(fn, "__code__", None)
    if isinstance(fn, types.FunctionType) and code is not None and os.path.isabs(code.co_filename):
        return is_library(code.co_filename)
    if top in sys.stdlib_module_names:
        return True
    file = getattr(sys.modules.get(top), "__file__", None)
    return file is not None and is_library(file)


_FRAMES = frozenset(("_getframe", "currentframe", "_getframemodulename"))
"""By these names Python's library gives the frame that calls."""


def asks_frames(fn: Any) -> bool:
    """Whether a function, or one of the user's that its code names, looks at the frames that it is called from.

    They are not those of the program where it is called from a text that was made of it.
    """
    waiting, met = [fn], set()
    while waiting:
        function = waiting.pop()
        function = inspect.unwrap(getattr(function, "__func__", function)) if callable(function) else function
        if id(function) in met or not isinstance(function, types.FunctionType):
            continue
        met.add(id(function))
        if is_library(function.__code__.co_filename):
            continue
        names = set(_names(function.__code__))
        values = [function.__globals__[name] for name in names & function.__globals__.keys()]
        if names & _FRAMES or any(value is inspect for value in values) and "stack" in names:
            return True
        if any(value is asked for value in values for asked in (sys._getframe, inspect.currentframe, inspect.stack)):
            return True
        waiting += [*values, *inspect.getclosurevars(function).nonlocals.values()]
    return False


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)
