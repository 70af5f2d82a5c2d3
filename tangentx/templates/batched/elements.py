"""Functions of each element, copies, and questions about shapes."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.templates.batched.batch import RULES, Batch, elementwise, of_any, of_first, plainly, volume
from tangentx.templates.registry import methods

for _fn in (
    *(getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "neg", "pos")),
    *(
        arrays.guarded,
        arrays.quiet_sum,
        arrays.quiet_difference,
        arrays.ratio,
        arrays.over_root,
        arrays.quotient,
        arrays.ratio_or_zero,
        arrays.positive,
        arrays.positive_with,
        arrays.within,
        np.where,
        np.real,
        np.imag,
        np.conj,
    ),
):
    RULES[_fn] = elementwise(_fn)
for _fn in methods("conj", "conjugate"):
    RULES[_fn] = RULES[np.conj]


@of_first(np.copy, np.asarray, np.array, arrays.clone, arrays.entry_copy)
def _same(w: Any) -> Any:
    return w


@of_first(arrays.alike)
def _alike(w: Any, like: Any) -> Any:
    return w


@of_first(arrays.brought)
def _brought(w: Any, like: Any) -> Any:
    return plainly(arrays.brought, w, like)


@of_first(arrays.one_system_each)
def _one_system_each(w: Any, a_shape: Any, b_shape: Any) -> Any:
    return plainly(arrays.one_system_each, w, a_shape, b_shape)


@of_any(np.shape)
def _shape(t: Batch) -> tuple[int, ...]:
    return t.shape


@of_any(np.ndim)
def _ndim(t: Batch) -> int:
    return t.ndim


@of_any(np.size)
def _elements(t: Batch) -> int:
    return volume(t.shape)
