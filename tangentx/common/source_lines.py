"""The lines of the file in which a function is defined."""

from __future__ import annotations

import linecache
from types import FunctionType


def lines_of(function: FunctionType) -> list[str]:
    """Lines of the file that the function's code names, as they are now."""
    name = function.__code__.co_filename
    if not name.startswith("<"):
        linecache.checkcache(name)
    # A module's loader (a zip file's, say) is asked only for the module's own file: linecache would take its word
    # for any other name.
    own = function.__globals__.get("__file__") == name
    lines = linecache.getlines(name, function.__globals__ if own else None)
    shell = getattr(linecache, "_getlines_from_code", None)  # the interactive shell of Python 3.13
    return lines or (list(shell(function.__code__)) if shell is not None else [])
