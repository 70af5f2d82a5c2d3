"""The rule attached to a user's primitive."""

from __future__ import annotations

from types import FunctionType
from typing import Any

OWN = "__tangentx_rule__"
"""The attribute of a user's primitive that holds its `OwnRule`."""


class OwnRule:
    """The template of a primitive of the user's, once it has a rule, and what was found for it: its `outcomes`
    by kinds of arguments, its `rule` on Tensors. It goes with the function."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.template: Any = None
        self.outcomes: dict[Any, Any] = {}
        self.rule: Any = None


def is_own(fn: object) -> bool:
    """Whether a function was made a primitive by the user, with or without a rule."""
    return own_rule(fn) is not None


def own_rule(fn: object) -> OwnRule | None:
    """What a user's primitive keeps; None for all else, to which `functools.wraps` may have copied it too."""
    own = fn.__dict__.get(OWN) if type(fn) is FunctionType else None
    return own if isinstance(own, OwnRule) and own.function is fn else None


AGAIN = "__tangentx_again__"


def mark_checkpointed(fn: object, inner: object) -> None:
    """Enters what a function that `tx.checkpoint` made runs a second time; None for `checkpoint` itself."""
    setattr(fn, AGAIN, (fn, inner))


def checkpointed(fn: object) -> tuple[Any, ...]:
    """What was entered, alone in a tuple; () for all else, to which `functools.wraps` may have copied it too."""
    own = fn.__dict__.get(AGAIN) if type(fn) is FunctionType else None
    return (own[1],) if own is not None and own[0] is fn else ()
