"""Printed text as functions that run, with their lines known to tracebacks and debuggers."""

from __future__ import annotations

import linecache
import weakref
from typing import Any

from tangentx.backend.module_text import Text, too_deep
from tangentx.common.recursion import deep


def load(text: Text, filename: str, module: str = "tangentx.generated") -> dict[str, Any]:
    """The functions of `text` by their printed names.

    `filename` ("<tangentx glide_grad 1>") is entered in `linecache`; `module` becomes their `__module__`. It is
    the text that is compiled, never the tree. Raises UnsupportedSyntax where it is nested too deeply for Python.
    """
    try:
        code = deep(lambda: compile(text.source, filename, "exec", dont_inherit=True))
    except (SyntaxError, RecursionError, MemoryError):  # it was parsed before: there are more than 20 loops
        raise too_deep(text.place) from None
    register(text, filename)
    namespace: dict[str, Any] = {"__name__": module, "__builtins__": __builtins__, **text.names}
    exec(code, namespace)
    found = {name: namespace[name] for name in text.functions}
    # They hold one another by their names: the last reader of the text goes with the first of them.
    weakref.finalize(next(iter(found.values())), forget, filename).atexit = False
    return found


def register(text: Text, filename: str) -> None:
    """Enters `text` in `linecache`; to be repeated where somebody may have cleared it.

    The entry has no time of modification, as of a file that a loader holds: `checkcache` leaves it alone.
    """
    source = text.source
    linecache.cache[filename] = len(source), None, source.splitlines(keepends=True), filename


def forget(filename: str) -> None:
    """Takes a text out of `linecache`."""
    linecache.cache.pop(filename, None)
