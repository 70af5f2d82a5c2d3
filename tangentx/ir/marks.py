"""More markers for `Op`, which `analysis.sequences` replaces."""

from __future__ import annotations

from typing import Any


def column(rows: Any, place: Any) -> Any:
    """Marker for `Op`: the tuple of what stands at `place` in each of `rows`."""
    raise AssertionError("a marker, never run")


def unwritten(count: int, *xs: Any) -> Any:
    """Marker for `Op`: the first `count` of `xs` were read before a loop, whose body may write into the others."""
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


MARKS = (column, unwritten, without, bound, emptied)
