"""A generated text together with its compiled functions."""

from __future__ import annotations

import itertools
import linecache
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, TypeAlias

from tangentx.errors import Span

Marks: TypeAlias = tuple[tuple[int, Span], ...]
"""The places in the user's program that the parts of a function were written for: see `backend.positions`."""


@dataclass(frozen=True)
class Copied:
    """What the state of a pullback holds a copy of: its place there (None where it is the state), in words, where it
    comes from.

    `parameter` is the place of an argument that is there as it was given.
    """

    place: int | None
    what: str
    source: str
    parameter: int | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """The text `source`, its `imports` lines, the names of its `functions` in the order in which they were given,
    the `names` that the namespace must hold for it, objects that no import reaches, the user's file that each
    function comes from, and the `marks` of its parts (see `positions`). `copied` is what the first one copies of what
    others hold: see `optimise.split_pullback`. `place` is where the first is defined. `reads` are the members of
    libraries that it reads when it runs: whose, under which name, and what was there."""

    source: str
    names: dict[str, object] = field(default_factory=dict)
    imports: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    files: dict[str, str] = field(default_factory=dict)
    copied: tuple[Copied, ...] = ()
    marks: Mapping[str, Marks] = field(default_factory=dict)
    place: Span | None = None
    reads: tuple[tuple[Any, str, Any], ...] = ()


class LateMarks(Mapping[str, Marks]):
    """The marks of a text that was kept, made when an error asks for them."""

    def __init__(self, plain: Mapping[str, tuple[tuple[int, tuple[Any, ...]], ...]]) -> None:
        self._plain = plain

    def __getitem__(self, name: str) -> Marks:
        return tuple((i, Span(*parts)) for i, parts in self._plain[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._plain)

    def __len__(self) -> int:
        return len(self._plain)


_COUNT = itertools.count(1)


def filename_of(name: str) -> str:
    """The name of the file that the text of a function is, in this process: each text is a file of its own."""
    return f"<tangentx {name} {next(_COUNT)}>"


def run(code: CodeType, text: Text, filename: str, module: str = "tangentx.generated") -> dict[str, Any]:
    """The functions of a text that has been compiled, by their printed names; it is entered in `linecache`."""
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
