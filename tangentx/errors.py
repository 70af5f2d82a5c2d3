"""Locations in the user's files, and the errors that point to them."""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

NO_RULE = (
    "write it with operations that have one, give it one with `tx.rule`, call it in a function of your own that is "
    "marked `@tx.primitive`, or hold its arguments constant with `tx.stop_gradient`"
)
"""What to do about an operation without a rule."""

_PYTHONS = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_LIMIT_FILES = 10_000
_SITES = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))
_FILES = (*(os.path.dirname(os.path.abspath(file)) + os.sep for file in (__file__, np.__file__)), "<tangentx ")


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


def is_library(file: str) -> bool:
    """Whether a file is Python's own or installed beside it: what the user imports, and did not write."""
    return file.startswith((_PYTHONS, "<frozen ")) or any(site in file for site in _SITES)


def is_ours(file: str) -> bool:
    """Whether a file is one of tangentx's own."""
    return file.startswith(_FILES[0])


class _Inside(dict[str, bool]):
    """Whether the code of a file is none of the user's. By file: to hash a code object takes as long as it is.

    Each text that is generated is a file of its own, so they are forgotten where there are too many.
    """

    def __init__(self, found: Callable[[str], bool]) -> None:
        self.found = found

    def __missing__(self, file: str) -> bool:
        if len(self) >= _LIMIT_FILES:
            self.clear()
        self[file] = found = self.found(file)
        return found


_OURS = _Inside(lambda file: file.startswith(_FILES))
INSIDE = _Inside(lambda file: _OURS[file] or is_library(file))
_getframe = sys._getframe


def place(skip: int = 1) -> Any:
    """The code and the position in it of the innermost frame that is the user's; cheap to keep.

    Where a library is all that runs, its innermost frame that is neither ours nor NumPy's. `skip` frames are known to
    be ours.
    """
    start: Any = _getframe(skip)
    for inside in (INSIDE, _OURS):
        frame = start
        while frame is not None and inside[frame.f_code.co_filename]:
            frame = frame.f_back
        if frame is not None:
            return frame.f_code, frame.f_lasti
    return None


def frames_to_user() -> int:
    """How many frames out the user's code is from the caller: the ``stacklevel`` of a warning that the caller gives."""
    frame: Any = _getframe(1)
    level = 1
    while frame is not None and INSIDE[frame.f_code.co_filename]:
        frame, level = frame.f_back, level + 1
    return level


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

    >>> import tangentx as tx
    >>> try:
    ...     tx.grad(lambda x: x.imagine(), fallback="error")(1.0)
    ... except tx.TangentxError as error:
    ...     type(error).__name__, error.hint != ""
    ('NotResolved', True)
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
    """The program uses a construct that tangentx does not differentiate.

    It is a SyntaxError, too: file, line and caret are those of
    the user's program.

    >>> import tangentx as tx
    >>> def f(x):
    ...     yield x
    >>> tx.grad(f, fallback="error")(1.0)
    Traceback (most recent call last):
    tangentx.errors.UnsupportedSyntax: ...
    """

    def __init__(self, message: str, span: Span | None = None, hint: str = "") -> None:
        TangentxError.__init__(self, message, span, hint)
        if span is not None:
            self.filename, self.lineno, self.offset, self.text = span.file, span.line, span.column + 1, span.text
        # Python shows an uncaught SyntaxError by these attributes and never asks for its text.
        self.msg = f"{message}\nInstead: {hint}" if hint else message


class NoTemplate(TangentxError):
    """An operation meets a value that must be differentiated, and has no derivative rule.

    What to do is to write the operation in others, or to give it a rule (`tx.rule`, `tx.primitive`).

    >>> import numpy as np
    >>> import tangentx as tx
    >>> tx.grad(lambda x: np.sum(np.require(x)), fallback="error")(np.ones(2))
    Traceback (most recent call last):
    tangentx.errors.NoTemplate: ...
    """


class NotResolved(TangentxError):
    """A name, attribute, callee or kind could not be found out, and the meaning depends on it.

    >>> import tangentx as tx
    >>> tx.grad(lambda x: missing(x), fallback="error")(1.0)
    Traceback (most recent call last):
    tangentx.errors.NotResolved: ...
    """


class NoSource(TangentxError):
    """The function's source cannot be found.

    It came from ``exec`` or a shell that keeps no text, or is not written in Python.

    >>> import tangentx as tx
    >>> tx.grad(len)(1.0)
    Traceback (most recent call last):
    tangentx.errors.NoSource: ...
    """


class StaleSource(TangentxError):
    """The function's file was edited after the function was made.

    Reload its module.

    >>> import linecache
    >>> import tangentx as tx
    >>> exec(compile("f = lambda x: x * x", "<edited>", "exec"))
    >>> linecache.cache["<edited>"] = 0, None, ["f = lambda x: x"], "<edited>"
    >>> tx.grad(f)(1.0)
    Traceback (most recent call last):
    tangentx.errors.StaleSource: ...
    """


class NotDifferentiable(TangentxError, TypeError):
    """The arguments, `wrt`, the seed or the result do not admit the derivative that was asked for.

    It is a TypeError, too.

    >>> import tangentx as tx
    >>> tx.grad(lambda n: n * 2)(1)
    Traceback (most recent call last):
    tangentx.errors.NotDifferentiable: ...
    """


class SharedMemory(TangentxError, ValueError):
    """Two arguments share memory in a way that leaves the derivative undefined.

    It is a ValueError, too. Pass a copy.

    >>> import numpy as np
    >>> import tangentx as tx
    >>> def f(x, y):
    ...     x[0] = y[1]
    ...     return np.sum(x * y)
    >>> x = np.ones(2)
    >>> tx.grad(f)(x, x)
    Traceback (most recent call last):
    tangentx.errors.SharedMemory: ...
    """


class NoCompiler(TangentxError):
    """Compiled derivatives need what this machine does not have, or what does not work on it.

    With ``jit=True`` it is a `JitWarning`, and Python runs.

    >>> import tangentx as tx
    >>> issubclass(tx.NoCompiler, tx.TangentxError)
    True
    """


class InternalError(TangentxError):
    """Checked mode found that something is not as the compiler took it to be: a fault of tangentx itself.

    Nothing of the result may be used.

    >>> import tangentx as tx
    >>> with tx.checked():
    ...     tx.grad(lambda x: x * x)(3.0)
    6.0
    """


class ChangedMeanwhile(Exception):
    """What a compilation has read was bound anew before it ended: it is to be done again. Never seen by the user."""


NO_PROGRAM = (UnsupportedSyntax, NoTemplate, NotResolved, NoSource, StaleSource)
"""The errors that say that a program cannot be compiled, not that what was asked for has no meaning."""
OF_TEXTS = "calculate with the value itself; to cut digits off, use `np.round`, and `tx.stop_gradient` for a constant"
"""What to do in place of reading a number from the text of a value that is differentiated."""


class JitWarning(UserWarning):
    """A derivative that was to be compiled further runs as Python.

    >>> import warnings
    >>> import tangentx as tx
    >>> warnings.simplefilter("error", tx.JitWarning)  # where it must not
    """


class FallbackWarning(UserWarning):
    """A function could not be compiled and runs on Tensors; the text says where and why.

    It is given once for each function. With ``fallback="error"`` the reason is raised instead.

    >>> import warnings
    >>> import tangentx as tx
    >>> warnings.simplefilter("error", tx.FallbackWarning)  # for all functions
    """
