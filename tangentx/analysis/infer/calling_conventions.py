"""Wrappers for functions that are to be called in a special way, such as checkpointed or without recording."""

from __future__ import annotations

from dataclasses import replace

from tangentx.ir.nodes import Function, Link

SETTLED, QUIET = "settled", "quiet"
"""Notes of functions: a call is its first argument, at which the function settles; it shows nothing."""


def is_quiet(source: Function) -> bool:
    """Whether a function repeats what has been run, so that it shows nothing."""
    return bool(source.notes.get(SETTLED) or source.notes.get(QUIET))


class Checkpoints:
    """The functions that are checkpointed somewhere, each as a function apart from itself, and their links."""

    def __init__(self) -> None:
        self._sources: dict[int, tuple[Function, Function]] = {}
        self.links: dict[Link, None] = {}

    def source(self, source: Function) -> Function:
        """The function that stands for `source` where it is checkpointed."""
        if id(source) not in self._sources:
            self._sources[id(source)] = (source, replace(source))
        return self._sources[id(source)][1]
