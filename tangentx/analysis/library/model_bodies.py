"""Bodies of methods of lists and dicts, and of NumPy's functions that write, in the compiler's own writes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import along, cycled, demand_unshared, flat_key, mask_like, positions, selected

# Bodies of list and dict methods, written with the primitive writes: append, pop, store, delete.
#
# A call of such a method is analysed as the body of the function here, with the call's arguments for its parameters
# (`analysis.library.container_methods`). So each is an ordinary program, differentiated as one, and its text can be
# run and tested.


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


# Bodies of NumPy functions that write into an array, expressed as stores by index.
#
# As in `analysis.library.model_bodies`, a call is analysed as the body of the function here;
# each can be run, and is tested so.


def fill(a: Any, value: Any) -> None:
    """``a.fill(value)``, and ``np.copyto(a, value)``"""
    a[...] = value


def copy_some(dst: Any, src: Any, where: Any) -> None:
    """``np.copyto(dst, src, where=where)``"""
    chosen = mask_like(where, dst)
    if np.ndim(src) == 0:
        dst[chosen] = src
    else:
        dst[chosen] = selected(src, chosen)


def put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> None:
    """``np.put(a, ind, v, mode)``"""
    if mode == "clip":
        ind = np.clip(ind, 0, np.size(a) - 1)
    if mode == "wrap":
        ind = np.mod(ind, np.size(a))
    at = flat_key(ind, np.shape(a))
    if np.ndim(v) == 0:
        a[at] = v
    else:
        a[at] = cycled(v, np.size(ind))


def put_flat(a: Any, key: Any, values: Any) -> None:
    """``a.flat[key] = values``"""
    at = flat_key(key, np.shape(a))
    if np.ndim(values) == 0:
        a[at] = values
    else:
        demand_unshared(a, values)
        a[at] = cycled(values, np.size(at[0]))


def putmask(a: Any, mask: Any, values: Any) -> None:
    """``np.putmask(a, mask, values)``: each element has its own value, by its place."""
    if np.ndim(values) == 0:
        a[mask_like(mask, a)] = values
    else:
        a[mask_like(mask, a)] = np.take(values, np.flatnonzero(mask), mode="wrap")


def place(arr: Any, mask: Any, vals: Any) -> None:
    """``np.place(arr, mask, vals)``: the values go to the chosen elements one after the other."""
    if np.ndim(vals) == 0:
        arr[mask_like(mask, arr)] = vals
    else:
        demand_unshared(arr, vals)
        arr[mask_like(mask, arr)] = cycled(vals, np.count_nonzero(mask))


def fill_diagonal(a: Any, val: Any) -> None:
    """``np.fill_diagonal(a, val)`` of a matrix"""
    k = np.arange(min(a.shape[0], a.shape[1]))
    if np.ndim(val) == 0:
        a[k, k] = val
    else:
        a[k, k] = cycled(val, len(k))


def fill_diagonals(a: Any, val: Any) -> None:
    """``np.fill_diagonal(a, val, wrap=True)``: again after each block of a tall matrix"""
    put_flat(a, slice(None, None, a.shape[1] + 1), val)


def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """``np.put_along_axis(arr, indices, values, axis)``"""
    arr[along(indices, axis, np.shape(arr))] = values


def replace_nan(x: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    """``np.nan_to_num(x, copy=False, nan=nan, posinf=posinf, neginf=neginf)``"""
    x[...] = np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)
    return x


def sort(a: Any, axis: Any = -1, kind: Any = None) -> None:
    """``a.sort(axis)``"""
    a[...] = np.sort(a, axis)


def partition(a: Any, kth: Any, axis: Any = -1, kind: Any = None) -> None:
    """``a.partition(kth, axis)``"""
    a[...] = np.partition(a, kth, axis)


def update_each(a: Any, places: Any, fn: Any, values: Any) -> None:
    """``fn.at(a, places, values)`` for a list or vector of places, which may repeat: one after the other"""
    for k in range(len(places)):
        a[places[k]] = fn(a[places[k]], values[k % len(values)])


def update_each_by(a: Any, places: Any, fn: Any, value: Any) -> None:
    """As `update_each` with one value for all places."""
    for k in range(len(places)):
        a[places[k]] = fn(a[places[k]], value)


def update_at_pairs(a: Any, rows: Any, columns: Any, fn: Any, values: Any) -> None:
    """``fn.at(a, (rows, columns), values)``"""
    for k in range(len(rows)):
        a[rows[k], columns[k]] = fn(a[rows[k], columns[k]], values[k % len(values)])


def update_pairs_by(a: Any, rows: Any, columns: Any, fn: Any, value: Any) -> None:
    """As `update_at_pairs` with one value for all places."""
    for k in range(len(rows)):
        a[rows[k], columns[k]] = fn(a[rows[k], columns[k]], value)


def change_each(a: Any, places: Any, fn: Any) -> None:
    """``fn.at(a, places)``"""
    for k in range(len(places)):
        a[places[k]] = fn(a[places[k]])


def change_pairs(a: Any, rows: Any, columns: Any, fn: Any) -> None:
    """``fn.at(a, (rows, columns))``"""
    for k in range(len(rows)):
        a[rows[k], columns[k]] = fn(a[rows[k], columns[k]])


def numbered(a: Any) -> Any:
    """``list(np.ndenumerate(a))``"""
    found = []
    for at in positions(np.shape(a)):
        found.append((at, a[at]))
    return found
