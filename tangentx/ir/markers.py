"""Marks: operations that the analysis lowers, the sweeps of a derived function, and tapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tangentx.ir.nodes import Append, Assign, Make, Pop, Statement, Var

# Markers for `Op` that `analysis.infer.sequences` lowers.


def column(rows: Any, place: Any) -> Any:
    """Marker for `Op`: the tuple of what stands at `place` in each of `rows`."""
    raise AssertionError("a marker, never run")


def unwritten(deep: int, shallow: int, *xs: Any) -> Any:
    """Marker for `Op`: the first of `xs` were read before their time, so many with all that is in them, so many alone;
    meanwhile the others may have been written into, with all that is in them."""
    raise AssertionError("a marker, never run")


def unresized(x: Any, count: int, *xs: Any) -> Any:
    """Marker for `Op`: `x`, which had `count` items, may be one of `xs`, which may have been made longer or shorter."""
    raise AssertionError("a marker, never run")


def blind(base: Any, *xs: Any) -> Any:
    """Marker for `Op`: none of `xs` may reach the list or dict `base`."""
    raise AssertionError("a marker, never run")


def without(table: Any, *keys: Any) -> Any:
    """Marker for `Op`: a new dict of the entries of the dict `table` but for those of `keys`."""
    raise AssertionError("a marker, never run")


def bound(x: Any, name: str, free: bool = False) -> Any:
    """Marker for `Op`: `x`, which a program calls `name`, may have no value here; `free` where another function, or
    a comprehension, reads it."""
    raise AssertionError("a marker, never run")


def emptied(*nothing: Any) -> Any:
    """Marker for `Op`: binds a name of which `bound` is asked to nothing."""
    raise AssertionError("a marker, never run")


def renewed(*nothing: Any) -> Any:
    """Marker for `Op`: the name is another variable from here on; a function that holds the one before keeps that."""
    raise AssertionError("a marker, never run")


def entry_key(x: Any, method: str, *place: Any) -> Any:
    """Marker for `Op`: the key at a `place`, an index, of what ``keys(x, method)`` has found."""
    raise AssertionError("a marker, never run")


def entry_value(x: Any, method: str, *place: Any) -> Any:
    """Marker for `Op`: the value at a `place`, which ends with the key that `entry_key` gives there."""
    raise AssertionError("a marker, never run")


MARKS = (column, entry_key, entry_value, unwritten, unresized, blind, without, bound, emptied, renewed)
ASKING = (unwritten, unresized, blind, bound)
"""The questions, of which nothing is left where the answer is known."""


# Comments that mark the sweeps of a derived function, and the note that it will be split.
#
# Of a callee each sweep is a function: `PAIR` notes which two belong together (with copies of them for other
# arguments), and `STATE` the parameter by which the second gets what the first has saved.

FORWARD = "---- forward sweep ----"
REVERSE = "---- reverse sweep ----"
CUT = "cut"
PAIR = "pair"
STATE = "state"


# Recognises tapes: lists created empty, appended to in one place and popped in another.

EMPTY = Make(list, ())


def is_tape(name: str, mentions: Sequence[Statement]) -> bool:
    """Whether the statements that have to do with a name, in the order of the text, make, fill and empty a tape."""
    match mentions:
        case [
            Assign(value=Make() as empty),
            Append(base=Var(name=longer), value=Var(name=record)),
            Assign(target=popped, value=Pop()),
        ]:
            return empty == EMPTY and longer == name and name not in (record, popped)
    return False
