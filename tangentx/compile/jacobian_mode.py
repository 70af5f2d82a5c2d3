"""Chooses forward or reverse mode for a Jacobian, by its numbers of rows and columns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tangentx.arrays.copies import fresh_copies
from tangentx.common.pytrees import is_differentiable, leaves
from tangentx.compile import gradients
from tangentx.dispatch.entries import Entry


def shorter(derivative: Any, values: tuple[Any, ...], spec: Any) -> Entry:
    """The compiled derivative for these arguments; of a Jacobian, if it may be either, the mode with fewer sweeps."""
    given = (derivative._target, derivative._cache, values, derivative._wrt())
    entry = gradients.entry(*given, spec)
    if not entry.notes.get("undecided") or not _is_wide(derivative, entry, values):
        return entry
    return gradients.entry(*given, replace(spec, mode="reverse"))


def _is_wide(derivative: Any, entry: Entry, values: tuple[Any, ...]) -> bool:
    """Whether the result has fewer numbers than the parameters that are differentiated by.

    The function is run once for each combination of shapes, on copies; a program that acts on anything outside is never
    asked. What comes out decides about speed alone.
    """
    places = derivative._wrt()
    known = entry.notes.setdefault("sizes", {})
    key = tuple(np.shape(leaf) for _, leaf in leaves("", values))
    if key not in known:
        known[key] = _size(_run(derivative, fresh_copies(*values)))
    return bool(known[key] < sum(_size(values[i]) for i in places))


def _run(derivative: Any, values: tuple[Any, ...]) -> Any:
    from tangentx.compile.primals import as_written

    value = as_written(derivative._target, derivative._bind().signature.parameters.values(), *values)
    return value[0] if derivative._spec.has_aux else value


def _size(tree: Any) -> int:
    return sum(np.size(leaf) for _, leaf in leaves("", tree) if is_differentiable(leaf))
