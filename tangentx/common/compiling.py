"""Python's compiler where memory runs out, told from a text that is nested too deeply for it."""

from __future__ import annotations

import ast
from typing import Any

_LEAST, _EACH = 1 << 24, 400
"""Bytes that can be had where memory has not run out: in all, and for each character (a tree takes about 150)."""


def compiled(source: str | ast.Module | ast.Expression, file: str, mode: str = "exec", flags: int = 0) -> Any:
    """What ``compile`` makes of a text or a tree, without the settings of this module.

    Python says MemoryError of a text with too many levels, too; that is a RecursionError here. Where there is no memory
    it is a MemoryError in Python 3.11, too, which raises a SystemError there.
    """
    try:
        return compile(source, file, mode, flags, dont_inherit=True)
    except (MemoryError, SystemError) as error:
        if _is_short(len(source) if isinstance(source, str) else 0):
            raise MemoryError from None
        if isinstance(error, SystemError):
            raise
        raise RecursionError("the text is nested too deeply for Python to read it") from None


def parsed(source: str, file: str = "<unknown>", flags: int = 0) -> ast.Module:
    """The tree of a text."""
    tree: ast.Module = compiled(source, file, "exec", flags | ast.PyCF_ONLY_AST)
    return tree


def _is_short(length: int) -> bool:
    """Whether memory has run out for the compiler of a text of that length."""
    try:
        bytearray(_LEAST + _EACH * length)
    except MemoryError:
        return True
    return False
