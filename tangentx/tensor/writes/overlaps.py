"""Arguments that share memory: views of one storage, which sees every write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from tangentx.arrays import window
from tangentx.arrays.memory import address, is_writable, repeats, stretches
from tangentx.tensor.core.forms import inexact
from tangentx.tensor.core.tensor import Tensor, wrap
from tangentx.tensor.writes.storage import Step, View


def joined(arrays: Sequence[Any], active: Sequence[Any]) -> list[tuple[Any, Tensor]]:
    """The Tensors of arrays that overlap others, all of them views of memory that `fresh_copies` has made.

    Where that cannot be, because one of them is `active`, which is a Tensor of its own, or they do not have one dtype,
    they are made read-only, for their Tensors would not know of each other.
    """
    found: list[tuple[Any, Tensor]] = []
    for stretch in stretches(list(arrays)):
        inside = [a for a in arrays if a.size and a.dtype.kind != "O" and stretch.first <= address(a) < stretch.end]
        if len(inside) < 2:
            continue
        if any(a is b for a in inside for b in active) or not _alike(inside, stretch.first):
            for a in inside:
                a.flags.writeable = False
        elif inexact(inside[0]):
            found += _views(inside, stretch.first, stretch.end)
    return found


def _alike(arrays: Sequence[Any], first: int) -> bool:
    """Whether all can be windows on one row of elements."""
    dtype = arrays[0].dtype
    return all(
        a.dtype == dtype
        and is_writable(a)
        and not repeats(a)
        and not any(offset % dtype.itemsize for offset in (address(a) - first, *a.strides))
        for a in arrays
    )


def _views(arrays: Sequence[Any], first: int, end: int) -> list[tuple[Any, Tensor]]:
    size = arrays[0].dtype.itemsize
    block = np.frombuffer(arrays[0].base, np.uint8)
    offset = first - byte_bounds(block)[0]
    root = wrap(block[offset : offset + end - first].view(arrays[0].dtype))
    found = []
    for a in arrays:
        steps = tuple(stride // size for stride in a.strides)
        t = wrap(a)
        t._view = View.of(root, (Step(window, (None, a.shape, steps, (address(a) - first) // size), {}, 0, None),))
        found.append((a, t))
    return found
