"""Tree reduction over shards, in a fixed order.

Results are added as a tree: shard 0 to shard 1, 2 to 3, and so on, then those sums in the same way. Which shards are
added when depends on their number alone, so the rounding does too, whoever has computed them and in whichever order
they come. A sum is made as soon as its two parts are there, so few results wait.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tangentx.common.pytrees import children, is_differentiable, leaves, rebuild
from tangentx.errors import NotDifferentiable


class Tree:
    """``combine(left, right)`` over `count` parts, as they come.

    >>> tree = Tree(3, lambda left, right: f"({left} {right})")
    >>> for number in (2, 0, 1):
    ...     tree.put(number, str(number))
    >>> tree.result
    '((0 1) 2)'
    """

    def __init__(self, count: int, combine: Callable[[Any, Any], Any]) -> None:
        self._combine = combine
        self._waiting: dict[tuple[int, int], Any] = {}
        self._widths = [count]
        while self._widths[-1] > 1:
            self._widths.append((self._widths[-1] + 1) // 2)

    def put(self, number: int, part: Any) -> None:
        """Takes the part of this number, and adds up what can be."""
        level, place = 0, number
        while level < len(self._widths) - 1:
            other = place ^ 1
            if other < self._widths[level]:
                if (level, other) not in self._waiting:
                    break
                beside = self._waiting.pop((level, other))
                part = self._combine(part, beside) if place < other else self._combine(beside, part)
            level, place = level + 1, place // 2
        self._waiting[level, place] = part

    @property
    def result(self) -> Any:
        """The whole, when all parts have come."""
        return self._waiting[len(self._widths) - 1, 0]


def added(left: Any, right: Any) -> Any:
    """The sum of two structures, leaf by leaf; what has no derivative is that of the left one.

    The arrays of `left`, which belong to nobody else, are written where they can hold the sum.
    """
    others = (other for _, _, other in leaves("", left, right))

    def total(leaf: Any) -> Any:
        other = next(others)
        if not is_differentiable(leaf) or other is None:
            return leaf
        if type(leaf) is not np.ndarray:
            return leaf + other
        keeps = np.can_cast(np.asarray(other).dtype, leaf.dtype)
        return np.add(leaf, other, out=leaf) if keeps else np.asarray(leaf + other)

    return rebuild(left, total)


def scaled(structure: Any, factor: float) -> Any:
    """Each number and array of a structure times `factor`, in its own dtype."""
    return rebuild(structure, lambda leaf: _of_its_dtype(leaf, leaf * factor) if is_differentiable(leaf) else leaf)


def divided(structure: Any, number: float) -> Any:
    """Each number and array of a structure by `number`, in its own dtype."""
    return rebuild(structure, lambda leaf: _of_its_dtype(leaf, leaf / number) if is_differentiable(leaf) else leaf)


def _of_its_dtype(leaf: Any, value: Any) -> Any:
    """NumPy makes a scalar of an array without axes."""
    return np.asarray(value, leaf.dtype) if type(leaf) is np.ndarray else value


def concatenated(jacobians: Sequence[Any], parameters: Any) -> Any:
    """Jacobians of the shards' results, which are arrays, one below the other along the first axis.

    Raises NotDifferentiable where the results have no axis, or are structures.
    """
    hint = 'return one array of at least one axis, or use reduce="sum"'
    columns = []
    for number, jacobian in enumerate(jacobians):
        try:
            pairs = [(leaf, parameter) for _, parameter, leaf in leaves("", parameters, jacobian)]
        except ValueError:
            pairs = []
        if not pairs or any(children(leaf) is not None for leaf, _ in pairs):
            raise NotDifferentiable("the rows of a structure of results cannot be put below each other", hint=hint)
        if any(np.ndim(leaf) <= np.ndim(parameter) for leaf, parameter in pairs if leaf is not None):
            raise NotDifferentiable(f"the result of shard {number} has no axis along which rows could lie", hint=hint)
        columns.append([leaf for leaf, _ in pairs])
    rows = iter([None if column[0] is None else np.concatenate(column) for column in zip(*columns, strict=True)])
    return rebuild(jacobians[0], lambda _: next(rows))
