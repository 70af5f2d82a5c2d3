"""The operation that runs unknown code, whose result has the form that was observed.

It stands as the function of an `Op`: ``fn(*atoms)``, or ``getattr`` of an atom and `name`. The text that is printed
checks the result (see `arrays.observed`). `form` is `arrays.observed.UNSEEN` where nothing was observed so far: control
does not come further.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class Observed:
    """What is run, the form of its result, and the site in the user's program; `own`: the program writes into it."""

    fn: Callable[..., Any]
    name: str
    form: str
    site: str
    own: bool = False

    __name__ = "observed"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("code that is not tried")


_MADE: weakref.WeakValueDictionary[tuple[Any, ...], Observed] = weakref.WeakValueDictionary()


def observed(fn: Callable[..., Any], name: str, form: str, site: str, own: bool = False) -> Observed:
    """The one such operation, as long as a program has it."""
    return _MADE.setdefault((fn, name, form, site, own), Observed(fn, name, form, site, own))
