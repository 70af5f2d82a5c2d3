"""Warns once, per function and reason, that a slower path is taken."""

from __future__ import annotations

import warnings
import weakref
from typing import Any

from tangentx.errors import JitWarning, frames_to_user

_TOLD: weakref.WeakKeyDictionary[Any, set[str]] = weakref.WeakKeyDictionary()


def warn_once(function: Any, reason: str, warning: Warning) -> None:
    """Gives the warning unless `function` and `reason` had theirs; where it is made an error it is not told yet."""
    told = _TOLD.setdefault(function, set())
    if reason not in told:
        warnings.warn(warning, stacklevel=frames_to_user())
        told.add(reason)


def not_compiled(spec: Any, target: Any, what: str) -> None:
    """Says once that `what` runs as Python, where `spec` asks for more."""
    if spec.jit not in (None, False):
        warn_of_jit(target.function, f"{what} are not compiled yet")


_AS_PYTHON = "is not compiled by jit and runs as Python, which is slower"


def warn_of_jit(function: Any, reason: str, *, itself: bool = False, way: str = _AS_PYTHON) -> None:
    """Says in which `way` a derivative of `function`, or `itself`, runs though ``jit=`` asks for more."""
    subject = f"{'' if itself else 'a derivative of '}`{getattr(function, '__name__', 'the function')}`"
    text = f"{subject} {way}: {reason}"
    warn_once(function, text, JitWarning(text))
