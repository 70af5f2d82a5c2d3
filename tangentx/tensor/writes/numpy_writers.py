"""NumPy functions that write into their arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import demand_unshared
from tangentx.tensor.calls.apply import as_array, call
from tangentx.tensor.core.containers import raw
from tangentx.tensor.core.tensor import Tensor
from tangentx.tensor.writes.writing import filled, write


def _copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    src = as_array(src)
    filled(dst, src if where is True else call(np.where, (where, src, dst), {}), casting)


def _fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    if wrap and np.ndim(a) == 2:
        places = np.arange(0, a.size, a.shape[1] + 1)
        return put(a, places, val)
    index, val = np.arange(min(a.shape)), as_array(val)
    values = call(np.ravel, (val,), {}) if type(val) is Tensor else np.ravel(val)
    write(a, (index, index), values[np.arange(index.size) % values.size])


def _put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    places = list(np.indices(np.shape(indices), sparse=True))
    places[axis] = raw(indices)
    write(arr, tuple(places), as_array(values))


def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """``np.put``: elements by their place in the row of all, values repeated as they are needed."""
    places = np.ravel(raw(ind))
    if mode != "raise":
        places = np.mod(places, a.size) if mode == "wrap" else np.clip(places, 0, a.size - 1)
    places = np.arange(a.size)[places]  # counted from the front; raises where there is none
    v = as_array(v)
    values = call(np.ravel, (v,), {}) if type(v) is Tensor else np.ravel(v)
    if a.ndim:
        write(a, np.unravel_index(places, a.shape), values[np.arange(places.size) % values.size])
    elif places.size:
        write(a, (), values[(places.size - 1) % values.size])  # of those for one element the last stays


def _place(arr: Any, mask: Any, vals: Any) -> None:
    demand_unshared(raw(arr), raw(vals))
    put(arr, np.flatnonzero(raw(mask)), vals)


def _putmask(a: Any, mask: Any, values: Any) -> None:
    chosen, values = np.asarray(raw(mask), bool), as_array(values)
    if np.ndim(values) > 0:
        values = call(np.take, (values, np.flatnonzero(chosen)), {"mode": "wrap"})
    write(a, chosen, values)


def _nan_to_num(x: Any, copy: Any = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    found = call(np.nan_to_num, (x,), {"nan": nan, "posinf": posinf, "neginf": neginf})
    return found if copy else filled(x, found)


CHANGING: dict[Any, Any] = {
    np.nan_to_num: _nan_to_num,
    np.copyto: _copyto, np.fill_diagonal: _fill_diagonal, np.put_along_axis: _put_along_axis, np.putmask: _putmask,
    np.put: put, np.place: _place,
}  # fmt: skip
