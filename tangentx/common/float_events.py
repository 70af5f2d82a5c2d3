"""Floating-point error handling for the duration of a block, safe against interrupts.

``with np.errstate(...)`` is written in Python: an interrupt between its lines leaves events as they are inside of it,
for good. NumPy keeps them in a context variable, which is set and set back here as all our state is.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context, ContextVar, copy_context
from typing import Any, Literal, TypeVar

import numpy as np

from tangentx.common.bounded_cache import Bounded
from tangentx.common.scoped_state import lasting

T = TypeVar("T")
Way = Literal["ignore", "raise"]


def _variable() -> ContextVar[Any]:
    """The variable that `np.seterr` sets: the only one in a context where nothing else has been done."""
    context = Context()
    context.run(np.seterr, all="ignore")
    (variable,) = context
    return variable


_EVENTS = _variable()
_made: Bounded[tuple[Any, ...], Any] = Bounded(64)
"""What is set, by what was set before and what is changed."""


def under_events(run: Callable[[], T], **events: Way) -> T:
    """What `run` gives while floating-point events are taken so; the arguments are those of `np.errstate`.

    >>> under_events(lambda: np.geterr()["over"], over="raise"), np.geterr()["over"]
    ('raise', 'warn')
    """
    before = _EVENTS.get()
    key = before, *events.items()
    value = _made.get(key)
    if value is None:
        context = copy_context()
        context.run(np.seterr, **events)
        value = context[_EVENTS]
        _made.put(key, value, size=1)
    return lasting(_EVENTS, value, run)
