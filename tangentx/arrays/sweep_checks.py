"""Checked mode: facts noted in the forward sweep for the reverse sweep to agree with.

The outcome of a test or the bounds of a loop that are evaluated again, the content of what was recorded, and that of
memory which is written and restored: noted on the way there, and asserted on the way back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

import numpy as np

from tangentx.arrays.structures import fields
from tangentx.common.scoped_state import lasting

MOST = 100_000  # notes of one run; what comes after them is not looked at
BYTES = 1 << 26  # of arrays that are looked at in one run
ITEMS = 64  # of a container that are looked at
DEPTH = 4
SMALL = 8  # elements of an array that is shown whole


T = TypeVar("T")
Place: TypeAlias = tuple[str, int, str]
"""A file, a line in it, and the name of the user's that the statement there binds or writes to."""
ANYTHING = object()


@dataclass
class History:
    """The notes of one run: outcomes by the number of the test, contents by tape, and how much was looked at."""

    outcomes: dict[int, list[Any]] = field(default_factory=dict)
    contents: dict[tuple[int, str], tuple[Any, dict[int, Any]]] = field(default_factory=dict)
    values: list[tuple[Place, Any]] = field(default_factory=list)
    notes: int = 0
    bytes: int = 0

    def copied(self) -> History:
        """The same notes, for a reverse sweep that may not be the last."""
        outcomes = {number: list(stack) for number, stack in self.outcomes.items()}
        contents = {key: (tape, dict(marks)) for key, (tape, marks) in self.contents.items()}
        return History(outcomes, contents, [], self.notes, self.bytes)

    def told(self, place: Place, value: Any) -> None:
        """Notes the value that a statement gave a name."""
        if not self.full():
            self.values.append((place, self._copy(value, 0)))

    def _copy(self, value: Any, depth: int) -> Any:
        if type(value) is np.ndarray and value.dtype.kind != "O":
            self.bytes += value.nbytes
            return value.copy()
        if type(value) in (list, tuple) and depth < DEPTH:
            return type(value)(self._copy(item, depth + 1) for item in value[:ITEMS])
        if type(value) is dict and depth < DEPTH:
            return {key: self._copy(item, depth + 1) for key, item in list(value.items())[:ITEMS]}
        plain = isinstance(value, bool | int | float | complex | np.generic | str) or value is None
        return value if plain else ANYTHING

    def full(self) -> bool:
        """Whether enough was noted."""
        self.notes += 1
        return self.notes > MOST or self.bytes > BYTES

    def mark(self, value: Any) -> Any:
        """The content of a value, to be compared; None where it is not looked at."""
        return None if self.full() else self._content(value, 0)

    def _content(self, value: Any, depth: int) -> Any:
        if isinstance(value, bool | int | float | complex | np.generic | str):
            return repr(value)
        if type(value) is np.ndarray and value.dtype.kind != "O":
            self.bytes += value.nbytes
            small = value.size <= SMALL
            told = value.tolist() if small else hashlib.blake2b(value.tobytes(), digest_size=8).hexdigest()
            return f"{value.dtype}{list(value.shape)} {told}"
        inside = _items(value) if depth < DEPTH else None
        if inside is None:
            return type(value).__name__
        found = [(repr(key), self._content(item, depth + 1)) for key, item in list(inside.items())[:ITEMS]]
        return type(value).__name__, len(inside), tuple(found)


def _items(value: Any) -> dict[Any, Any] | None:
    if isinstance(value, list | tuple):
        return dict(enumerate(value))
    return value if isinstance(value, dict) else fields(value)


_NOW: ContextVar[History | None] = ContextVar("tangentx_history", default=None)
_GIVEN: ContextVar[History | None] = ContextVar("tangentx_given_history", default=None)
_MET: ContextVar[list[History] | None] = ContextVar("tangentx_met_histories", default=None)


def noting(run: Callable[[], T]) -> T:
    """What `run` gives; it notes what happens in a history of its own, or goes on with a given one."""
    given, met = _GIVEN.get(), _MET.get()
    history = given.copied() if given is not None else History()
    if met is not None:
        met.append(history)
    return lasting(_NOW, history, lambda: lasting(_GIVEN, None, lambda: lasting(_MET, None, run)))


def remembering(met: list[History], run: Callable[[], T]) -> T:
    """What `run` gives; the histories of what it runs are added to a list."""
    return lasting(_MET, met, run)


def going_on(history: History | None, run: Callable[[], T]) -> T:
    """What `run` gives, which goes on with the history of another: the second part of a derivative with that of the
    first."""
    return lasting(_GIVEN, history, run)


def outcome(number: int, back: bool, value: Any) -> tuple[Any, Any] | None:
    """Notes the outcome of a test; on the way `back` gives what it was and what it is where these differ."""
    history = _NOW.get()
    if history is None:
        return None
    stack = history.outcomes.setdefault(number, [])
    if not back:
        stack.append(None if history.full() else _decided(value))
        return None
    was, now = stack.pop() if stack else None, _decided(value)
    return (was, now) if was is not None and now is not None and was != now else None


def _decided(value: Any) -> Any:
    """What a test decides; None for what is not asked."""
    if isinstance(value, range):
        return value
    plain = isinstance(value, bool | int | float | complex | np.generic | str) or value is None
    return bool(value) if plain or (type(value) is np.ndarray and value.size == 1) else None


def recorded(tape: list[Any], what: str, value: Any) -> None:
    """Notes the content of a value that belongs to the record that was made last."""
    history = _NOW.get()
    if history is None or not isinstance(tape, list):
        return
    marks = history.contents.setdefault((id(tape), what), (tape, {}))[1]
    marks[len(tape)] = history.mark(value)


def restored(tape: list[Any], what: str, value: Any) -> tuple[Any, Any] | None:
    """What the content was when the record was made that has just been taken back, and what it is, if these differ."""
    history = _NOW.get()
    found = history.contents.get((id(tape), what)) if history is not None else None
    if history is None or found is None or found[0] is not tape:
        return None
    was = found[1].pop(len(tape) + 1, None)
    now = history.mark(value) if was is not None else None
    return (was, now) if was is not None and now is not None and was != now else None


def marked(value: Any) -> Any:
    """The content of an array now, to be compared later; None where enough is noted."""
    history = _NOW.get()
    return history.mark(value) if history is not None else None


def content_of(value: Any) -> Any:
    """The content of an array as `marked` gives it, whatever has been noted."""
    return History().mark(value)


def told(place: Place, value: Any) -> None:
    """Notes the value that a statement of the user's gave a name."""
    history = _NOW.get()
    if history is not None:
        history.told(place, value)
