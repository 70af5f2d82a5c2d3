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


MARKS = (column, unwritten, without)
