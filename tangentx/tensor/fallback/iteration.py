"""Iteration on Tensors: the items of the program's own objects, whoever reads them.

Python's functions written in C call ``__iter__``, ``__next__``, ``__getitem__``, ``keys`` and ``__reversed__`` by
themselves, and a condition ``__bool__`` or ``__len__``. What the program has written there would run as it is, and be
answered for a Tensor instead of a number:

    def __iter__(self):
        yield self.rate if type(self.rate) is float else 0.0

So ``list(row)``, ``zip(row, row)``, ``f(*row)`` and their like are given an iterator that calls the versions on
Tensors.
"""

from __future__ import annotations

import functools
import heapq
import itertools
import math
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from tangentx.tensor.core.tensor import Tensor
from tangentx.tensor.fallback.escaped_values import tells_of_deaths
from tangentx.tensor.fallback.library_code import is_users

Version = Callable[[Any], Any]
_PLAIN = frozenset((Tensor, np.ndarray, list, tuple, dict, set, str, range, float, int, map, zip, enumerate))


class Reader:
    """Reads objects; `version` gives that of a function on Tensors."""

    def __init__(self, version: Version) -> None:
        self.version = version

    def method(self, x: Any, name: str) -> Any:
        """A special method that the user has written."""
        found = getattr(type(x), name, None)
        return self.version(found) if is_users(found) else None

    def items(self, x: Any) -> Any:
        """What gives the items of an object one by one: itself, where nothing of the user's does."""
        kind = type(x)
        if kind in _PLAIN:
            return x
        ask = getattr(kind, "__iter__", None)
        if ask is None and not hasattr(kind, "__iter__"):
            item = self.method(x, "__getitem__")
            return x if item is None else _counted(x, item)
        it = self.version(ask)(x) if is_users(ask) or tells_of_deaths(ask) else x
        following = None if type(it) in _PLAIN else self.method(it, "__next__")
        return it if following is None else _following(it, following)

    def rows(self, x: Any) -> Any:
        """As `items`, where each item is read too."""
        return map(self.items, self.items(x))

    def pairs(self, x: Any) -> Any:
        """What a dict is made of: an object that has ``keys``, or pairs."""
        if type(x) in _PLAIN or not hasattr(type(x), "keys"):
            return self.items(x)
        if isinstance(x, dict) and type(x).__iter__ is dict.__iter__:
            return x  # its own methods are not asked
        keys, item = self.method(x, "keys"), self.method(x, "__getitem__")
        if keys is None and item is None:
            return x
        found = x.keys() if keys is None else self.items(keys(x))
        return {key: x[key] if item is None else item(x, key) for key in found}

    def truth(self, x: Any) -> Any:
        """What is true where an object is: what it answers, or itself, where nothing of the user's does."""
        kind = type(x)
        if kind is bool or kind in _PLAIN:
            return x
        own = self.method(x, "__bool__")
        if own is None and not hasattr(kind, "__bool__"):
            own = self.method(x, "__len__")
        return x if own is None else own(x)

    def truths(self, x: Any) -> Any:
        """As `items`, where each item is asked whether it is true."""
        return map(self.truth, self.items(x))

    def backward(self, x: Any) -> Any:
        """``reversed``"""
        own = self.method(x, "__reversed__")
        if own is not None:
            return own(x)
        item, count = self.method(x, "__getitem__"), self.method(x, "__len__")
        if hasattr(type(x), "__reversed__") or item is None or not hasattr(type(x), "__len__"):
            return reversed(x)
        return (item(x, k) for k in range((len if count is None else count)(x) - 1, -1, -1))

    def called(self, function: Callable[..., Any], meant: Callable[..., Any]) -> Callable[..., Any]:
        """`meant`, which stands for a function of Python's, given the items of what that reads."""
        part, how = _READ[id(function)]
        read, alone = getattr(self, how), function is max or function is min

        def call(*args: Any, **kwargs: Any) -> Any:
            if not alone or len(args) == 1:
                args = (*args[: part.start or 0], *map(read, args[part]), *args[_end(part, args) :])
            for name in _NAMES & kwargs.keys():
                kwargs[name] = read(kwargs[name])
            return meant(*args, **kwargs)

        return call

    def of_method(self, name: str, args: tuple[Any, ...]) -> Iterable[Any]:
        """The arguments of a method of a container, which is given the items of what it reads."""
        read = _READING.get(name)
        return args if read is None else map(getattr(self, read), args)


def _following(it: Any, following: Callable[[Any], Any]) -> Iterator[Any]:
    while True:
        try:
            item = following(it)
        except StopIteration:
            return
        yield item


def _counted(x: Any, item: Callable[[Any, int], Any]) -> Iterator[Any]:
    """The items of an object that has no more than ``__getitem__``."""
    for k in itertools.count():
        try:
            found = item(x, k)
        except (IndexError, StopIteration):
            return
        yield found


def _end(part: slice, args: tuple[Any, ...]) -> int:
    return len(args) if part.stop is None else part.stop


_ALL, _FIRST, _SECOND, _REST = slice(None), slice(1), slice(1, 2), slice(1, None)
_BY_PART: tuple[tuple[slice, str, tuple[Any, ...]], ...] = (
    (_ALL, "items", (zip, itertools.chain, itertools.product, itertools.zip_longest, itertools.compress)),
    (_FIRST, "items", (list, tuple, set, frozenset, deque, enumerate, sorted, max, min, math.prod)),
    (_FIRST, "truths", (any, all)),
    (_FIRST, "items", (itertools.islice, itertools.pairwise, itertools.accumulate, itertools.tee, itertools.groupby)),
    (_FIRST, "items", (itertools.permutations, itertools.combinations, itertools.combinations_with_replacement)),
    (_FIRST, "items", (itertools.cycle,)),
    (_FIRST, "pairs", (dict, OrderedDict, Counter)),
    (_REST, "items", (map,)),
    (_SECOND, "items", (filter, functools.reduce, heapq.nsmallest, heapq.nlargest)),
    (_SECOND, "items", (itertools.takewhile, itertools.dropwhile, itertools.filterfalse)),
    (_SECOND, "rows", (itertools.starmap,)),
)
_READ = {id(f): (part, how) for part, how, functions in _BY_PART for f in functions}
READING = tuple(f for _, _, functions in _BY_PART for f in functions)
"""Functions of Python's that read the items of what they are given."""
_NAMES = frozenset(("iterable", "iter"))
_READING = {
    **dict.fromkeys(("extend", "extendleft", "fromkeys", "join", "__iadd__", "union", "intersection"), "items"),
    **dict.fromkeys(("difference", "symmetric_difference", "issubset", "issuperset", "isdisjoint"), "items"),
    **dict.fromkeys(("intersection_update", "difference_update", "symmetric_difference_update"), "items"),
    "update": "pairs",
    "from_iterable": "rows",
}
