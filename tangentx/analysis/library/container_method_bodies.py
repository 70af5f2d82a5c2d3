"""Bodies of list and dict methods, written with the primitive writes: append, pop, store, delete.

A call of such a method is analysed as the body of the function here, with the call's arguments for its parameters
(`analysis.library.container_methods`). So each is an ordinary program, differentiated as one, and its text can be
run and tested.
"""

from __future__ import annotations

from typing import Any


def insert(items: Any, index: Any, value: Any) -> None:
    """``items.insert(index, value)``"""
    count = len(items)
    start = max(index + count, 0) if index < 0 else index
    tail = []
    for _ in range(count - start):
        tail.append(items.pop())
    items.append(value)
    for _ in range(len(tail)):
        items.append(tail.pop())


def take(items: Any, index: Any) -> Any:
    """``items.pop(index)``"""
    count = len(items)
    start = index + count if index < 0 else index
    if start < 0 or start >= count:
        raise IndexError("pop index out of range")
    tail = []
    for _ in range(count - start - 1):
        tail.append(items.pop())
    taken = items.pop()
    for _ in range(len(tail)):
        items.append(tail.pop())
    return taken


def remove(items: Any, value: Any) -> None:
    """``items.remove(value)``"""
    take(items, list.index(items, value))


def extend(items: Any, values: Any) -> None:
    """``items.extend(values)`` for values that are not `items`."""
    for value in values:
        items.append(value)


def double(items: Any) -> None:
    """``items.extend(items)``"""
    for k in range(len(items)):
        items.append(items[k])


def multiply(items: Any, times: Any) -> None:
    """``items *= times``"""
    count = len(items)
    for _ in range(times - 1):
        for k in range(count):
            items.append(items[k])
    if times <= 0:
        clear(items)


def reverse(items: Any) -> None:
    """``items.reverse()``"""
    turned = []
    for _ in range(len(items)):
        turned.append(items.pop())
    for value in turned:
        items.append(value)


def clear(items: Any) -> None:
    """``items.clear()``"""
    for _ in range(len(items)):
        items.pop()


def replace(items: Any, start: Any, stop: Any, values: Any) -> None:
    """``items[start:stop] = values``"""
    fresh = list(values)
    bounds = slice.indices(slice(start, stop, None), len(items))
    first = bounds[0]
    last = max(first, bounds[1])
    tail = []
    for _ in range(len(items) - last):
        tail.append(items.pop())
    for _ in range(last - first):
        items.pop()
    for value in fresh:
        items.append(value)
    for _ in range(len(tail)):
        items.append(tail.pop())


def scatter(items: Any, start: Any, stop: Any, step: Any, values: Any) -> None:
    """``items[start:stop:step] = values``, as many as there are places."""
    fresh = list(values)
    bounds = slice.indices(slice(start, stop, step), len(items))
    if len(fresh) != len(range(bounds[0], bounds[1], bounds[2])):
        raise ValueError("as many values are needed as the extended slice has places")
    for k in range(len(fresh)):
        items[bounds[0] + k * bounds[2]] = fresh[k]


def erase(items: Any, start: Any, stop: Any, step: Any) -> None:
    """``del items[start:stop:step]``"""
    bounds = slice.indices(slice(start, stop, step), len(items))
    gone = range(bounds[0], bounds[1], bounds[2])
    kept = []
    for k in reversed(range(len(items))):
        item = items.pop()
        if k not in gone:
            kept.append(item)
    for _ in range(len(kept)):
        items.append(kept.pop())


def get(table: Any, key: Any, default: Any) -> Any:
    """``table.get(key, default)``"""
    if key in table:
        found = table[key]
    else:
        found = default
    return found


def setdefault(table: Any, key: Any, default: Any) -> Any:
    """``table.setdefault(key, default)``"""
    if key not in table:
        table[key] = default
    return table[key]


def take_key(table: Any, key: Any) -> Any:
    """``table.pop(key)``"""
    taken = table[key]
    del table[key]
    return taken


def take_key_or(table: Any, key: Any, default: Any) -> Any:
    """``table.pop(key, default)``"""
    if key in table:
        taken = table[key]
        del table[key]
    else:
        taken = default
    return taken


def popitem(table: Any) -> Any:
    """``table.popitem()``"""
    if not table:
        raise KeyError("popitem(): dictionary is empty")
    key = list(table)[-1]
    value = table[key]
    del table[key]
    return key, value


def update_pairs(table: Any, pairs: Any) -> None:
    """``table.update(pairs)`` for pairs of keys and values."""
    for key, value in pairs:
        table[key] = value


def clear_table(table: Any) -> None:
    """``table.clear()``"""
    for key in list(table):
        del table[key]


def from_keys(keys: Any, value: Any) -> Any:
    """``dict.fromkeys(keys, value)``"""
    made = {}
    for key in keys:
        made[key] = value
    return made


def values(table: Any) -> Any:
    """``list(table.values())``"""
    found = []
    for key in table:
        found.append(table[key])
    return found


def items(table: Any) -> Any:
    """``list(table.items())``"""
    found = []
    for key in table:
        found.append((key, table[key]))
    return found
