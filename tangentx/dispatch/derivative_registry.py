"""The registry of derivatives: held by each function, for as long as the function lives."""

from __future__ import annotations

from typing import Any

from tangentx.dispatch.request import Spec

_SLOT = "__tangentx_derivatives__"


class Held:
    """The derivatives of one function, kept in its own ``__dict__``, so that they live as long as it.

    Pickles and copies as nothing; `functools.wraps` copies it to another function, whose it is not.
    """

    def __init__(self, function: Any = None) -> None:
        self.function = function
        self.made: dict[tuple[Spec, int], Any] = {}
        self.batches: dict[Any, Any] = {}
        self.written: dict[Any, Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return (Held, ())


def held(function: Any) -> Held:
    """The derivatives that were made of a function."""
    found = function.__dict__.get(_SLOT)
    if not isinstance(found, Held) or found.function is not function:
        found = function.__dict__[_SLOT] = Held(function)
    return found
