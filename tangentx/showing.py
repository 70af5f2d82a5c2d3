"""Derivatives as people read them: their text in colours, and what was compiled."""

from __future__ import annotations

import importlib
import re
import sys
from collections import Counter
from typing import Any

_TAPE = re.compile(r"^ +(\w+?)_tape(?:_\d+)? = \[\]$", re.MULTILINE)
_EXITS = re.compile(r"^ +exits(?:_\w+)? = \[\]$", re.MULTILINE)


def show(source: str) -> None:
    """Prints a text, in colours where Pygments is installed and the output is a terminal."""
    print(_coloured(source) if sys.stdout.isatty() else source, end="")


def _coloured(source: str) -> str:
    try:
        pygments: Any = importlib.import_module("pygments")
        formatters: Any = importlib.import_module("pygments.formatters")
        lexers: Any = importlib.import_module("pygments.lexers")
    except ImportError:
        return source
    return str(pygments.highlight(source, lexers.PythonLexer(), formatters.TerminalFormatter()))


def explanation(what: str, cache: Any) -> str:
    """What `cache` holds of the derivative `what`: for each entry the kinds, the file and what is recorded."""
    entries = list(cache.entries.values())
    lines = [f"{what}: {len(entries)} compiled"]
    for found in entries:
        source = found.text.source
        lines += ["", *found.notes["signature"].splitlines()]
        lines.append(f"  file {found.filename}, {source.count(chr(10))} lines")
        lines.append(f"  {_recorded(source)}")
    if cache.dropped:
        lines += ["", f"{cache.dropped} dropped: only the {cache.limit} kinds used last are kept"]
    return "\n".join(lines)


def _recorded(source: str) -> str:
    """What the forward sweep keeps on tapes, read from the text."""
    tapes = Counter(_TAPE.findall(source))
    parts = [f"`{name}`" + (f" ({count} tapes)" if count > 1 else "") for name, count in tapes.items()]
    if _EXITS.search(source):
        parts.append("the way out of loops")
    return f"records {', '.join(parts)}" if parts else "records nothing"
