"""Results of a run on Tensors, as plain values, with cotangents or tangents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tangentx.arrays import tangent_as
from tangentx.tensor.calls.apply import call
from tangentx.tensor.core.forms import like_of, ones
from tangentx.tensor.core.modes import during
from tangentx.tensor.core.tensor import Tensor, wrap
from tangentx.tensor.fallback.structures import inside_of, outputs_in, plain
from tangentx.tensor.fallback.tracing import Trace
from tangentx.tensor.graph.engine import Sweep


def tangent(trace: Trace, dots: Sequence[Any]) -> Any:
    """The tangent of a trace's result for tangents of its places: the pullback is linear in its seed, and that map
    is pulled back by the tangents."""
    found: list[tuple[Tensor, Any]] = []
    outputs_in(trace.result, tangent_as(None, plain(trace.result)), found)
    active = [t for t, _ in found if t.requires_grad]
    seeds = [wrap(ones(like_of(t.current))) for t in active]
    for seed in seeds:
        seed._needs = True

    def moved() -> dict[int, Any]:
        bars = trace.gradients(active, seeds, True, True) if active else []
        total: Any = None
        for bar, dot in zip(bars, dots if active else [], strict=True):
            total = paired(bar, dot, total)
        if not (type(total) is Tensor and total.requires_grad):
            return {}
        edges = [seed.edge for seed in seeds]
        sweep = Sweep(False, False, edges).run([(*total.edge, ones(like_of(total.current)))])
        return {id(t): sweep.get(edge) for t, edge in zip(active, edges, strict=True)}

    return _dots(trace.result, during(moved, grad=True))


def paired(bar: Any, dot: Any, total: Any) -> Any:
    """`total` and the real part of the sum of all products of cotangents and tangents, recorded."""
    if isinstance(bar, list | dict):
        for key, item in enumerate(bar) if isinstance(bar, list) else bar.items():
            total = paired(item, None if dot is None else dot[key], total)
        return total
    if bar is None or dot is None:
        return total
    product = call(np.real, (call(np.sum, (call(np.multiply, (bar, dot), {}),), {}),), {})
    return product if total is None else call(np.add, (total, product), {})


def _dots(value: Any, found: dict[int, Any]) -> Any:
    if type(value) is Tensor:
        return found.get(id(value))
    inside = None if type(value) is np.ndarray else inside_of(value)
    if inside is None:
        return None
    parts = {key: _dots(item, found) for key, item in inside.items()}
    return list(parts.values()) if isinstance(value, list | tuple) else parts
