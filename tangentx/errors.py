"""Places in the user's files, and the errors that point at them."""

from __future__ import annotations

import contextlib
import linecache
import os
import sys
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

_FILES = [os.path.dirname(os.path.abspath(file)) + os.sep for file in (__file__, np.__file__)]
_LIBRARY = (*_FILES, os.path.abspath(contextlib.__file__), "<tangentx ")


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a user's file: `line` counts from 1, `column` from 0, `text` is the source line.

    `around` holds the ``with`` statements around it, the outermost first: what is derived from a statement is run in
    them too.
    """

    file: str
    line: int
    column: int = 0
    text: str = ""
    around: tuple[object, ...] = ()

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class _Inside(dict[str, bool]):
    """Whether the code of a file is ours, generated or NumPy's. By file: to hash a code object takes as long as it
    is."""

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
    first, _, column, _ = next(islice(code.co_positions(), last // 2, None), (None,) * 4)
    line = first or code.co_firstlineno
    text = linecache.getline(code.co_filename, line).rstrip()
    start = len(text) - len(text.lstrip())
    return Span(code.co_filename, line, max(start, len(text.encode()[:column].decode(errors="ignore"))), text)


class TangentxError(Exception):
    """Base of every error that tangentx raises by itself.

    The message says what is wrong; `span` says where in the user's program; `hint` says what to do instead. What is
    wrong with a call (its arguments, an option) has no place in the program that is differentiated: `called` is the
    line of the user's that made the call. `through` are the functions that were being analysed, the innermost first,
    without the one that is differentiated.
    """

    through: tuple[object, ...] = ()

    def __init__(self, message: str, span: Span | None = None, hint: str = "") -> None:
        self.message = message
        self.span = replace(span, around=()) if span is not None and span.around else span
        self.called = span_of(place(2)) if span is None else None
        self.hint = hint
        super().__init__(self._text())

    def _text(self) -> str:
        span = self.span or self.called
        lines = [self.message if span is None else f"{span}: {self.message}"]
        if span is not None and span.text.strip():
            stripped = span.text.lstrip()
            lines.append("    " + stripped.rstrip())
            caret = span.column - (len(span.text) - len(stripped))
            if 0 <= caret < len(stripped):
                # A tab stays a tab, so that the caret stands under its character however wide tabs are shown.
                lines.append("    " + "".join("\t" if c == "\t" else " " for c in stripped[:caret]) + "^")
        if self.hint:
            lines.append("Instead: " + self.hint)
        return "\n".join(lines)

    def __str__(self) -> str:
        return self._text()

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, self.span, self.hint), self.__dict__


class UnsupportedSyntax(TangentxError, SyntaxError):
    """The program uses a construct that tangentx does not differentiate."""

    def __init__(self, message: str, span: Span | None = None, hint: str = "") -> None:
        TangentxError.__init__(self, message, span, hint)
        if span is not None:
            self.filename, self.lineno, self.offset, self.text = span.file, span.line, span.column + 1, span.text
        # Python shows an uncaught SyntaxError by these attributes and never asks for its text.
        self.msg = f"{message}\nInstead: {hint}" if hint else message


class NoTemplate(TangentxError):
    """An operation meets a value that must be differentiated, and has no derivative rule."""


class NotResolved(TangentxError):
    """A name, attribute, callee or kind could not be found out, and the meaning depends on it."""


class NoSource(TangentxError):
    """The function's source cannot be found."""


class StaleSource(TangentxError):
    """The function's file was edited after the function was made."""


class NotDifferentiable(TangentxError, TypeError):
    """The arguments, `wrt`, the seed or the result do not admit the derivative that was asked for."""


class SharedMemory(TangentxError, ValueError):
    """Two arguments share memory in a way that leaves the derivative undefined."""


class FallbackWarning(UserWarning):
    """A function could not be compiled and runs on Tensors; the text says where and why."""
