"""Facts about names on the two sides of a branch, stored as differences from the branch point.

Where the sides meet, only names that one of them has changed need a look, so that a branch costs as much as is written
in it and not as much as is known before it. The trips of a loop are sides of its head.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn, TypeVar

Fact = TypeVar("Fact")


class Side(dict[str, Fact]):
    """What is known on one side of a branch; `changed` has the names of which that may be another than `before` it.

    >>> before = {"a": 1, "b": 2}
    >>> side = Side(before)
    >>> side["b"] = 3
    >>> del side["a"]
    >>> side, list(side.changed), before
    ({'b': 3}, ['b', 'a'], {'a': 1, 'b': 2})
    """

    __slots__ = ("before", "changed")

    def __init__(self, before: dict[str, Fact]) -> None:
        super().__init__(before)
        self.before = before
        self.changed: dict[str, None] = {}

    def __setitem__(self, name: str, fact: Fact) -> None:
        self.changed[name] = None
        super().__setitem__(name, fact)

    def __delitem__(self, name: str) -> None:
        self.changed[name] = None
        super().__delitem__(name)

    def pop(self, name: str, *default: Any) -> Any:
        """As that of a dict."""
        self.changed[name] = None
        return super().pop(name, *default)

    def _unnoted(self, *given: object, **named: object) -> NoReturn:
        raise NotImplementedError("one name at a time, so that each change is noted")

    update = setdefault = popitem = clear = __ior__ = _unnoted


def changed_names(before: Mapping[str, Any], *sides: dict[str, Any] | None) -> list[str]:
    """The names that sides, or sides in them that were left early, may have changed of what was known before them.

    A side that is None is one that control never leaves.
    """
    names: dict[str, None] = {}
    for side in sides:
        while side is not None and side is not before:
            assert type(side) is Side, "what is known has been replaced, not changed"
            names |= side.changed
            side = side.before
    return list(names)


def enter(facts: dict[str, Fact], names: Iterable[str], known: Mapping[str, Fact]) -> None:
    """Writes into `facts` what is known of these names, and takes those out of which nothing is."""
    for name in names:
        if name in known:
            if name not in facts or facts[name] is not known[name]:
                facts[name] = known[name]
        elif name in facts:  # of one that is not known, and was not, nothing has changed
            del facts[name]
