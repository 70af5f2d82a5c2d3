"""Bodies of NumPy functions that write into an array, expressed as stores by index.

As in `analysis.library.container_method_bodies`, a call is analysed as the body of the function here;
each can be run, and is tested so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import along, cycled, demand_unshared, flat_key, mask_like, positions, selected


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


def update_pairs(a: Any, rows: Any, columns: Any, fn: Any, values: Any) -> None:
    """``fn.at(a, (rows, columns), values)``"""
    for k in range(len(rows)):
        a[rows[k], columns[k]] = fn(a[rows[k], columns[k]], values[k % len(values)])


def update_pairs_by(a: Any, rows: Any, columns: Any, fn: Any, value: Any) -> None:
    """As `update_pairs` with one value for all places."""
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
