"""What an `itemgetter`, `attrgetter` or `methodcaller` was constructed with."""

from __future__ import annotations

import functools
import operator
from typing import Any

GETTERS = (operator.itemgetter, operator.attrgetter, operator.methodcaller)


def arguments_of(getter: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments by position and by name with which the object was made.

    >>> arguments_of(operator.itemgetter(1, "x"))
    ((1, 'x'), {})
    >>> arguments_of(operator.methodcaller("sum", axis=0))
    (('sum',), {'axis': 0})
    """
    made, given, *_ = getter.__reduce__()
    if isinstance(made, functools.partial):  # one with names for arguments pickles as a partial of its class
        return (*made.args, *given), dict(made.keywords)
    return tuple(given), {}
