"""Whose code a function is: the user's own, or that of a library.

The user's own is what has the top-level package or module of the function that is differentiated, and all that lies
neither in Python's library nor in a directory of installed packages.
"""

from __future__ import annotations

import os
import sys
import types
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
