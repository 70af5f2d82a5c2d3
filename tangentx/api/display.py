"""How derivatives are shown to people: coloured source, and a report of what was compiled."""

from __future__ import annotations

import html
import importlib
import re
import sys
import textwrap
from typing import Any

from tangentx.api.tape_report import Sizes, held, kept, sizes_of
from tangentx.common.source import find as source_of
from tangentx.dispatch.entries import LIMIT_TEXT
from tangentx.errors import TangentxError

_SOURCES = {
    "argument": "an argument",
    "captured": "captured by the function",
    "global": "a global",
    "outside": "from outside",
}
_EXITS = re.compile(r"^ +exits(?:_\w+)? = \[\]$", re.MULTILINE)


class Explanation(str):
    """A text that shells and notebooks show as it stands."""

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self)}</pre>"


def show(source: str) -> None:
    """Prints a text, in colours where Pygments is installed and the output is a terminal."""
    print(_coloured(source) if sys.stdout.isatty() else source, end="")


def _coloured(source: str) -> str:
    return _highlighted(source, "TerminalFormatter") or source


def _highlighted(source: str, formatter: str, **options: Any) -> str:
    """The text in colours, or "" where Pygments is not installed."""
    try:
        pygments: Any = importlib.import_module("pygments")
        formatters: Any = importlib.import_module("pygments.formatters")
        lexers: Any = importlib.import_module("pygments.lexers")
    except ImportError:
        return ""
    return str(pygments.highlight(source, lexers.PythonLexer(), getattr(formatters, formatter)(**options)))


def side_by_side(derivative: Any) -> str:
    """A table for notebooks: the function on the left, its derivative on the right, or why there is none."""
    cells = []
    for text in (_primal, _derived):
        try:
            source = text(derivative)
            cell = _highlighted(source, "HtmlFormatter", noclasses=True) or f"<pre>{html.escape(source)}</pre>"
        except TangentxError as error:
            cell = f"<pre>{html.escape(f'{type(error).__name__}: {error}')}</pre>"
        cells.append(f'<td style="text-align: left; vertical-align: top">{cell}</td>')
    return f"<table><tr>{''.join(cells)}</tr></table>"


def _derived(derivative: Any) -> str:
    text: str = derivative.source
    return text


def _primal(derivative: Any) -> str:
    """The text of the function that was differentiated, itself perhaps a derivative."""
    function = derivative.__wrapped__
    if hasattr(function, "__tangentx_target__"):
        return _derived(function)
    found = source_of(function)
    return textwrap.dedent("\n".join(found.lines[found.tree.lineno - 1 : found.tree.end_lineno])) + "\n"


def explanation(what: str, cache: Any, measured: Any = None, values: tuple[Any, ...] = ()) -> Explanation:
    """What `cache` holds of the derivative `what`: for each entry the kinds, the file and what is recorded; of the
    entry `measured`, if any, in bytes too, in a call with these values."""
    entries = list(cache.entries.values())
    lines = [f"{what}: {len(entries)} compiled"]
    for found in entries:
        source = found.text.source
        if found.notes.get("fallback"):
            lines += ["", *found.notes["signature"].splitlines()]
            continue
        sizes = sizes_of(found.functions[0], source, values) if found is measured else None
        lines += ["", *found.notes["signature"].splitlines()]
        lines.append(f"  file {found.filename}, {source.count(chr(10))} lines")
        lines += [f"  {line}" for line in (*_kept(found), *_recorded(found, sizes), *_copied(found), *_compiled(found))]
    if cache.dropped:
        limits = f"only the {cache.limit} kinds used last are kept, and {LIMIT_TEXT} characters of text"
        lines += ["", f"{cache.dropped} dropped: {limits}"]
    return Explanation("\n".join(lines))


def _kept(entry: Any) -> list[str]:
    """Whether the text was kept by another process, or is for others; nothing where that is not asked for."""
    return [entry.notes["kept"]] if "kept" in entry.notes else []


def _copied(entry: Any) -> list[str]:
    """What a pullback has copies of, for others may write there before it is called, and how large they were last."""
    if "given" not in entry.notes:
        return []
    copied = entry.text.copied
    sizes, rest = entry.notes.get("sizes") or ((None,) * len(copied), 0)
    told = [f"  `{one.what}`, {_SOURCES[one.source]}{_size(size)}" for one, size in zip(copied, sizes, strict=True)]
    if rest:
        told.append(f"  the other arguments, for batches of cotangents{_size(rest)}")
    return ["copies, for the pullback reads it later", *told] if told else ["copies nothing that others hold"]


def _compiled(entry: Any) -> list[str]:
    """What has become of ``jit=``."""
    jit = entry.notes.get("jit")
    return [] if jit is None else jit.told()


def _size(size: int | None) -> str:
    if size is None:
        return ""
    return f": {size:,} bytes at the last call" if size else ": nothing at the last call, for nobody can write there"


def _recorded(entry: Any, sizes: Sizes | None) -> list[str]:
    """What the forward sweep keeps, read from the text; with its bytes where it was measured."""
    source = entry.text.source
    parts = kept(source, sizes)
    if _EXITS.search(source):
        parts.append("the way out of loops")
    told = ["records, for the reverse of", *(f"  {part}" for part in parts)] if parts else ["records nothing"]
    if sizes is not None and (arrays := held(sizes)):
        told += ["holds, from the forward to the reverse sweep", *(f"  {array}" for array in arrays)]
    return told
