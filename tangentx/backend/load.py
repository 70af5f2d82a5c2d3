"""Loads printed text as functions, with their source lines known to tracebacks and debuggers."""

from __future__ import annotations

from typing import Any

from tangentx.backend.module_text import too_deep
from tangentx.common.compiling import compiled
from tangentx.common.generated_text import Text, run
from tangentx.common.recursion import deep
from tangentx.common.silenced_warnings import quietly


def load(text: Text, filename: str, module: str = "tangentx.generated") -> dict[str, Any]:
    """The functions of `text` by their printed names.

    `filename` ("<tangentx glide_grad 1>") is entered in `linecache`; `module` becomes their `__module__`. It is
    the text that is compiled, never the tree. Raises UnsupportedSyntax where it is nested too deeply for Python.
    """
    try:
        # What Python warns of in a text that we wrote is nothing that its user could change.
        code = quietly(lambda: deep(lambda: compiled(text.source, filename)))
    except (SyntaxError, RecursionError):  # it was parsed before: there are more than 20 loops
        raise too_deep(text.place) from None
    return run(code, text, filename, module)
