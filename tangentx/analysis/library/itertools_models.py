"""Functions of itertools and math on finite containers: bodies like those in `container_method_bodies`."""

from __future__ import annotations

from typing import Any


def product(iterable: Any, start: Any = 1) -> Any:
    """``math.prod(iterable, start=start)``"""
    total = start
    for value in iterable:
        total = total * value
    return total


def joined(rows: Any, start: Any) -> Any:
    """``sum(rows, start)`` of lists or tuples"""
    total = start
    for row in rows:
        total = total + row
    return total


def from_keys(iterable: Any, value: Any = None) -> Any:
    """``dict.fromkeys(iterable, value)``"""
    found = {}
    for key in iterable:
        found[key] = value
    return found


def shortest(rows: Any) -> Any:
    """The length of the shortest of `rows`; 0 where there are none."""
    least = 0
    for place in range(len(rows)):
        count = len(rows[place])
        if place == 0 or count < least:
            least = count
    return least


def chained(first: Any, second: Any) -> Any:
    """``list(itertools.chain(first, second))``"""
    found = []
    for value in first:
        found.append(value)
    for value in second:
        found.append(value)
    return found


def chained_all(iterables: Any) -> Any:
    """``list(itertools.chain.from_iterable(iterables))``"""
    found = []
    for items in iterables:
        for value in items:
            found.append(value)
    return found


def sliced(values: Any, stop: Any) -> Any:
    """``list(itertools.islice(values, stop))``"""
    return list(values)[:stop]


def sliced_from(values: Any, start: Any, stop: Any) -> Any:
    """``list(itertools.islice(values, start, stop))``"""
    return list(values)[start:stop]


def repeated(value: Any, times: Any) -> Any:
    """``list(itertools.repeat(value, times))``"""
    found = []
    for _ in range(times):
        found.append(value)
    return found


def mapped_apart(fn: Any, values: Any) -> Any:
    """``list(itertools.starmap(fn, values))``"""
    found = []
    for items in values:
        found.append(fn(*items))
    return found


def crossed(first: Any, second: Any) -> Any:
    """``list(itertools.product(first, second))``"""
    found = []
    for a in first:
        for b in second:
            found.append((a, b))
    return found


def crossed_by_three(first: Any, second: Any, third: Any) -> Any:
    """``list(itertools.product(first, second, third))``"""
    found = []
    for a in first:
        for b in second:
            for c in third:
                found.append((a, b, c))
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


def combined_by_three(values: Any) -> Any:
    """``list(itertools.combinations(values, 3))``"""
    found = []
    kept = list(values)
    for i in range(len(kept)):
        for j in range(i + 1, len(kept)):
            for k in range(j + 1, len(kept)):
                found.append((kept[i], kept[j], kept[k]))
    return found


def ordered(values: Any) -> Any:
    """``list(itertools.permutations(values, 2))``"""
    found = []
    kept = list(values)
    for i in range(len(kept)):
        for j in range(len(kept)):
            if i != j:
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
