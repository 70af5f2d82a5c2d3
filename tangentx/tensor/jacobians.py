"""Jacobians of what runs on Tensors: one run, and one reverse sweep for each number of the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tangentx.arrays import finish
from tangentx.errors import NotDifferentiable, Span
from tangentx.tensor.core import Tensor
from tangentx.tensor.outcome import plain
from tangentx.tensor.tracing import Trace
from tangentx.trees import is_differentiable, leaves, rebuild


def jacobian(trace: Trace, result: Any, primals: Sequence[Any], many: bool, place: Span | None) -> Any:
    """The structure of `result`, part of what `trace` gave, with that of the differentiated `primals` in each leaf.

    A leaf of shape ``s`` by one of shape ``t`` has the shape ``s + t`` and the dtype of the primal; what has no
    derivative is None. Raises NotDifferentiable at `place` for complex numbers, and for a result without a real one.
    """
    _demand_real(plain(result), primals, place)

    def blocks(leaf: Any) -> Any:
        data = plain(leaf)
        if not is_differentiable(data):
            return None
        found = tuple(_block(trace, leaf, i, primal) for i, primal in enumerate(primals))
        return found if many else found[0]

    return rebuild(result, blocks)


def _demand_real(result: Any, primals: Sequence[Any], place: Span | None) -> None:
    every = [leaf for tree in (result, *primals) for _, leaf in leaves("", tree)]
    if any(is_differentiable(leaf) and np.iscomplexobj(leaf) for leaf in every):
        hint = "write it in real and imaginary parts, or take tx.jvp and tx.vjp"
        raise NotDifferentiable("on Tensors, the Jacobian of complex numbers is not taken", place, hint)
    if not any(is_differentiable(leaf) for _, leaf in leaves("", result)):
        hint = "return a real or complex number, an array of them, or a structure of both"
        raise NotDifferentiable("the result holds no real number: it has no Jacobian", place, hint)


def _block(trace: Trace, output: Any, place: int, primal: Any) -> Any:
    """The derivatives of one leaf of the result by the primal at one place."""
    shape = np.shape(plain(output))

    def row(seed: Any) -> Any:
        active = type(output) is Tensor and output.requires_grad
        bars = trace.gradients([output], [seed], True) if active else [None] * (place + 1)
        return finish(bars[place], primal)

    if shape == ():
        return row(1.0)
    rows = [row(seed) for seed in np.eye(int(np.prod(shape))).reshape((-1, *shape))] if 0 not in shape else []
    columns = iter(zip(*([leaf for _, leaf in leaves("", each)] for each in rows), strict=True))
    return rebuild(finish(None, primal), _stacked(columns, shape, bool(rows)))


def _stacked(columns: Any, shape: tuple[int, ...], some: bool) -> Callable[[Any], Any]:
    def stacked(zero: Any) -> Any:
        column = next(columns) if some else ()
        if zero is None:
            return None
        dtype = np.asarray(zero).dtype
        return np.array(column, dtype).reshape(shape + np.shape(zero))

    return stacked
