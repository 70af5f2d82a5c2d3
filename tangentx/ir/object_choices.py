"""`Mixed`: the class of an object that belongs to one of several classes, known to kinds only.

Where the program runs it is the object itself, and its own class says what its methods are.
"""

from __future__ import annotations

import functools
from typing import ClassVar


class Mixed:
    """Base of the classes; `classes` are those of the user's of which an object may be, derived ones first."""

    classes: ClassVar[tuple[type, ...]]


def classes_of(cls: type) -> tuple[type, ...]:
    """The classes of which an object may be."""
    return cls.classes if issubclass(cls, Mixed) else (cls,)


def mixed(classes: frozenset[type]) -> type:
    """The class of objects of one of the classes."""
    if len(classes) == 1:
        return next(iter(classes))
    return _mixed(tuple(sorted(classes, key=lambda c: (-len(c.__mro__), c.__module__, c.__qualname__, id(c)))))


@functools.cache
def _mixed(classes: tuple[type, ...]) -> type[Mixed]:
    return type(" or a ".join(sorted(c.__name__ for c in classes)), (Mixed,), {"classes": classes})
