"""What functions of itertools and math give for finite containers, as `analysis.standins` for methods."""

from __future__ import annotations

from typing import Any


def product(iterable: Any, start: Any = 1) -> Any:
    """``math.prod(iterable, start=start)``"""
    total = start
    for value in iterable:
        total = total * value
    return total


def chained(first: Any, second: Any) -> Any:
    """``list(itertools.chain(first, second))``"""
    found = []
    for value in first:
        found.append(value)
    for value in second:
        found.append(value)
    return found


def crossed(first: Any, second: Any) -> Any:
    """``list(itertools.product(first, second))``"""
    found = []
    for a in first:
        for b in second:
            found.append((a, b))
    return found


def paired(values: Any) -> Any:
    """``list(itertools.pairwise(values))``"""
    found = []
    kept = list(values)
    for k in range(len(kept) - 1):
        found.append((kept[k], kept[k + 1]))
    return found


def combined(values: Any) -> Any:
    """``list(itertools.combinations(values, 2))``"""
    found = []
    kept = list(values)
    for i in range(len(kept)):
        for j in range(i + 1, len(kept)):
            found.append((kept[i], kept[j]))
    return found


def accumulated(values: Any) -> Any:
    """``list(itertools.accumulate(values))``"""
    found = []
    kept = list(values)
    if len(kept) > 0:
        total = kept[0]
        found.append(total)
        for k in range(1, len(kept)):
            total = total + kept[k]
            found.append(total)
    return found


def accumulated_by(values: Any, fn: Any) -> Any:
    """``list(itertools.accumulate(values, fn))``"""
    found = []
    kept = list(values)
    if len(kept) > 0:
        total = kept[0]
        found.append(total)
        for k in range(1, len(kept)):
            total = fn(total, kept[k])
            found.append(total)
    return found
