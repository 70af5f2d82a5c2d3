"""What is known by name on the two sides of a branch, as what is known where it begins and what each side changes.

Where the sides meet, only names that one of them has changed need a look, so that a branch costs as much as is written
in it and not as much as is known before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import compress
from operator import is_not
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


def changed_names(before: Mapping[str, Any], *sides: Mapping[str, Any] | None) -> list[str] | None:
    """The names that sides of a branch have changed; None where that is not known of one, which has been replaced.

    A side that is None is one that control never leaves.
    """
    names: dict[str, None] = {}
    for side in sides:
        if side is None:
            continue
        if type(side) is not Side or side.before is not before:
            return None
        names |= side.changed
    return list(names)


def enter(facts: dict[str, Fact], names: Iterable[str], known: Mapping[str, Fact]) -> None:
    """Writes into `facts` what is known of these names, and takes those out of which nothing is."""
    for name in names:
        if name in known:
            if name not in facts or facts[name] is not known[name]:
                facts[name] = known[name]
        elif name in facts:  # of one that is not known, and was not, nothing has changed
            del facts[name]


def differing(a: Mapping[str, object], b: Mapping[str, object]) -> list[str]:
    """The names of which the two hold other objects, or one holds nothing."""
    found = list(compress(a, map(is_not, a.values(), map(b.get, a))))
    return found if len(b) == len(a) and not found else [*found, *(name for name in b if name not in a)]


def noted(outer: dict[str, Fact] | None, facts: dict[str, Fact] | None) -> dict[str, Fact] | None:
    """What is known behind a loop: where it stands on a side of a branch, as changes of what that had before it."""
    if outer is None or facts is None or facts is outer or type(outer) is not Side:
        return facts
    enter(outer, differing(outer, facts), facts)
    return outer
