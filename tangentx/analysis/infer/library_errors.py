"""Reports errors that occur inside library code at the user's own call."""

from __future__ import annotations

import types
from typing import Any

from tangentx.errors import NO_PROGRAM, NoTemplate, Span, TangentxError, UnsupportedSyntax, is_library, is_ours
from tangentx.templates import no_rule


def at_the_call(error: TangentxError, fn: types.FunctionType, span: Span | None, named: Any = None) -> TangentxError:
    """The error, or what it means to somebody who called a function of a library: there is no rule for that.

    `named` is what was called, where that is not the function. Why the library's own source cannot be differentiated is
    nothing that its user can change. What a function of ours refuses that stands for one of Python's is refused there
    too.
    """
    if span is not None and error.span is not None and is_ours(error.span.file) and not is_ours(span.file):
        if isinstance(error, UnsupportedSyntax) and fn.__module__ == "tangentx.nn.module":
            hint = "read parameters by their names, as in `model.first.weight`"
            return UnsupportedSyntax(f"`{fn.__name__}` of a module is not compiled", span, hint)
        return type(error)(error.message, span, error.hint)
    if span is None or is_library(span.file) or not is_library(fn.__code__.co_filename):
        return error
    if not isinstance(error, NO_PROGRAM) or (error.span is not None and not _is_of_library(error.span.file)):
        return error
    message, hint = no_rule(named or fn)
    found = NoTemplate(message, span, hint)
    found.through = error.through
    return found


def _is_of_library(file: str) -> bool:
    return is_library(file) or file.startswith("<string>")  # what a library makes by `exec`
