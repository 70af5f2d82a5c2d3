"""Tracebacks: maps exceptions in generated text to the line of the user's program."""

from __future__ import annotations

import functools
import linecache
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from tangentx.common.generated_text import register
from tangentx.errors import INSIDE, Span, TangentxError

_GROUP = re.compile(r"\s*# line (\d+): (.*)")


def traced(entry: Any, number: int, *args: Any) -> Any:
    """What a function of a compiled entry gives; see `tell_line` for what it raises."""
    try:
        return entry.functions[number](*args)
    except Exception as error:
        tell_line(error, entry)
        raise


def tell_line(error: Exception, entry: Any) -> None:
    """Adds a note to an exception that a reverse sweep raised: the file, line and text that it belongs to.

    What the forward sweep raises is the program's own, and stays as it is; a refusal of ours gets its place in the
    user's program. The generated text is entered in linecache again, so that the traceback shows it.
    """
    if entry is None:
        return
    register(entry.text, entry.filename)
    if isinstance(error, TangentxError) and error.span is None:
        error.span = _origin(error, entry)
    found = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == entry.filename:
            found = trace
        trace = trace.tb_next
    if found is None:
        return
    file = entry.text.files.get(found.tb_frame.f_code.co_name)
    group = _group(entry.text.source.splitlines(), found.tb_lineno, found.tb_frame.f_code.co_firstlineno)
    if file is not None and group is not None:
        error.add_note(f"in the reverse sweep of {file}:{group[1]}: {group[2]}")


def _origin(error: Exception, entry: Any) -> Span | None:
    """Which line of the user's the innermost part of the text was written for; None where the user's own code raised
    the error, or made the call that is wrong."""
    from tangentx.backend.positions import origin

    frames = []
    trace = error.__traceback__
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    for frame in reversed(frames):
        file = frame.tb_frame.f_code.co_filename
        if file == entry.filename:
            found = origin(entry.text.source, entry.text.marks, frame)
            if found is not None and not INSIDE[found.file]:
                return replace(found, around=())
        elif not INSIDE[file]:
            return None
    return None


def told_where(function: Callable[..., Any], text: Any, filename: str) -> Callable[..., Any]:
    """The function of a text that is no derivative; a refusal of ours gets its place in the user's program."""

    @functools.wraps(function)
    def run(*args: Any) -> Any:
        try:
            return function(*args)
        except TangentxError as error:
            error.span = error.span or raised_at(error, (SimpleNamespace(text=text, filename=filename),))
            raise

    return run


def raised_at(error: BaseException, entries: Iterable[Any]) -> Span | None:
    """The innermost line of the user's that an exception passed, in the user's own code or in a text made of it."""
    from tangentx.backend.positions import origin

    made = {entry.filename: entry for entry in entries}
    found, trace = None, error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file in made:
            text = made[file].text
            span = origin(text.source, text.marks, trace)
            found = span if span is not None and not INSIDE[span.file] else found
        elif not INSIDE[file] and linecache.getline(file, trace.tb_lineno):
            found = Span(file, trace.tb_lineno, 0, linecache.getline(file, trace.tb_lineno).rstrip())
        trace = trace.tb_next
    return found


def _group(lines: list[str], line: int, first: int) -> re.Match[str] | None:
    """The comment above a line of the function that begins at line `first`: what it and those below are derived of."""
    for above in reversed(lines[first - 1 : line]):
        match = _GROUP.fullmatch(above)
        if match is not None:
            return match
        if above.lstrip().startswith("# ----"):
            return None
    return None
