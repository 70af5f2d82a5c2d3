"""Result kinds of operations on numbers that may have several types, and of those that select one of them.

What an operation gives is learnt by running it on samples, and a sample is of one type. A number that is an int here
and a float there stands for both; and ``max(n, x)`` is `n` or `x`, whichever sample was the larger.
"""

from __future__ import annotations

import builtins
import itertools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tangentx.analysis.types.kinds import BOTTOM, MISSING, Arr, Bottom, Box, Kind, Num, Region, World, join

Fresh = Callable[[Any], Region]
_MOST = 32  # samples of numbers of several types
_WHOLE = (bool, int)


def is_mixed(kind: Kind) -> bool:
    """Whether a number of the kind may be of several types, or an array of several domains."""
    return (isinstance(kind, Num) and bool(kind.types)) or (isinstance(kind, Arr) and bool(kind.dtypes))


def each_of(kind: Kind) -> list[Kind]:
    """The kinds of one type each that a kind stands for."""
    if isinstance(kind, Num) and kind.types:
        return [replace(kind, type=t, types=()) for t in kind.types]
    if isinstance(kind, Arr) and kind.dtypes:
        return [replace(kind, dtype=dtype, dtypes=()) for dtype in kind.dtypes]
    return [kind]


def nested_types(kind: Kind, seen: tuple[Region, ...] = ()) -> int:
    """How many types the items of a container have at most, at any depth; 1 where each has one."""
    node = kind.region.root() if isinstance(kind, Box) else None
    if node is None or node in seen:
        return 1
    items = (*map(node.get, list(node.fields)), node.elt)  # as samples are made
    return max((max(len(each_of(k)), nested_types(k, (*seen, node))) for k in items), default=1)


def each_type(kinds: Sequence[Kind]) -> Iterator[list[Kind]]:
    """The kinds with one type in each place where a number may have several, in all ways, unless they are too many."""
    options = [each_of(kind) for kind in kinds]
    return map(list, itertools.islice(itertools.product(*options), _MOST))


def _best(world: World, fresh: Fresh, kinds: Sequence[Kind]) -> Kind | None:
    """The largest or smallest of several numbers may be any of them, unless all of them are known."""
    given = kinds
    if len(kinds) == 1 and isinstance(kinds[0], Box) and kinds[0].cls in (list, tuple):
        node = kinds[0].region.root()
        given = [k for k in (*node.fields.values(), node.elt) if not isinstance(k, Bottom)]
    if given and any(isinstance(k, Arr) for k in given):
        return _best_array(fresh, given)
    numbers = [k for k in given if isinstance(k, Num)]
    if not numbers or len(numbers) < len(given) or all(k.value is not MISSING for k in numbers):
        return None
    result: Kind = BOTTOM
    for kind in numbers:
        result = join(result, replace(kind, value=MISSING, varied=False, none=False))
    return result


def _best_array(fresh: Fresh, given: Sequence[Kind]) -> Kind | None:
    """The largest of arrays without axes in memory that nobody writes, which may be taken for memory of its own."""
    arrays = [k for k in given if isinstance(k, Arr)]
    if len(arrays) < len(given) or any(k.rank != 0 or not k.sure or k.region.root().written for k in arrays):
        return None
    return Arr(np.result_type(*(k.dtype for k in arrays)), 0, fresh(()).root(), library=arrays[0].library)


def _power(world: World, fresh: Fresh, kinds: Sequence[Kind]) -> Kind | None:
    """Python's power of whole numbers is a float where the exponent is negative."""
    if len(kinds) != 2 or not all(isinstance(k, Num) and set(k.exact) <= set(_WHOLE) for k in kinds):
        return None
    exponent = kinds[1]
    return join(Num(int), Num(float)) if isinstance(exponent, Num) and exponent.value is MISSING else None


RULES: dict[Any, Callable[[World, Fresh, Sequence[Kind]], Kind | None]] = {
    **dict.fromkeys((builtins.max, builtins.min), _best),
    **dict.fromkeys((builtins.pow, operator.pow), _power),
}
"""What functions give that choose as the values have it; None for a call that samples tell all of."""


def with_start(args: Sequence[Kind], kwargs: Mapping[str, Kind], result: Kind) -> Kind:
    """The kind of ``sum(...)`` of what may have no items: what it starts from."""
    start = kwargs.get("start", args[1] if len(args) > 1 else Num(int))
    if not isinstance(result, Num) or not isinstance(start, Num) or not may_be_empty(args[0]):
        return result
    return join(replace(result, value=MISSING), replace(start, value=MISSING, varied=False))


def may_be_empty(kind: Kind) -> bool:
    """Whether an iterable of the kind may have no items."""
    if isinstance(kind, Box):
        node = kind.region.root()
        return node.open or node.resized or not node.fields
    return isinstance(kind, Arr)
