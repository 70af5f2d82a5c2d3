"""Jacobians of what runs on Tensors: one run, and one reverse sweep for each number of the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tangentx.arrays import finish
from tangentx.common.trees import is_differentiable, leaves, rebuild
from tangentx.errors import NotDifferentiable, Span
from tangentx.tensor.core.tensor import Tensor
from tangentx.tensor.fallback.structures import plain
from tangentx.tensor.fallback.tracing import Trace


def jacobian(trace: Trace, result: Any, primals: Sequence[Any], many: bool, place: Span | None) -> Any:
    """The structure of `result`, part of what `trace` gave, with that of the differentiated `primals` in each leaf.

    A leaf of shape ``s`` by one of shape ``t`` has the shape ``s + t`` and the dtype of the primal, made complex for a
    complex result; what has no derivative is None. Raises NotDifferentiable at `place` for a complex result of complex
    primals, and for one without real or complex numbers.
    """
    _demand_domains(plain(result), primals, place)

    def blocks(leaf: Any) -> Any:
        data = plain(leaf)
        if not is_differentiable(data):
            return None
        found = tuple(_block(trace, leaf, i, primal) for i, primal in enumerate(primals))
        return found if many else found[0]

    return rebuild(result, blocks)


def _demand_domains(result: Any, primals: Sequence[Any], place: Span | None) -> None:
    if _is_complex(result) and any(map(_is_complex, primals)):
        hint = "split it into real and imaginary parts, or use tx.jvp and tx.vjp"
        message = "a complex result of a complex parameter has no Jacobian with one number for each pair"
        raise NotDifferentiable(message, place, hint)
    if not any(is_differentiable(leaf) for _, leaf in leaves("", result)):
        hint = "return a real or complex number, an array of them, or a structure of both"
        raise NotDifferentiable("the result holds no real number: it has no Jacobian", place, hint)


def _is_complex(tree: Any) -> bool:
    return any(is_differentiable(leaf) and np.iscomplexobj(leaf) for _, leaf in leaves("", tree))


def _block(trace: Trace, output: Any, place: int, primal: Any) -> Any:
    """The derivatives of one leaf of the result by the primal at one place."""
    data = plain(output)
    shape, imaginary = np.shape(data), np.iscomplexobj(data)

    def pulled(seed: Any) -> Any:
        active = type(output) is Tensor and output.requires_grad
        bars = trace.gradients([output], [seed], True) if active else [None] * (place + 1)
        return finish(bars[place], primal)

    def row(seed: Any) -> Any:
        """Of a complex result both parts: the pullback of -1j is the derivative of the imaginary one."""
        return _with_imaginary(pulled(seed), pulled(-1j * seed), data) if imaginary else pulled(seed)

    if shape == ():
        return row(1.0)
    rows = [row(seed) for seed in np.eye(int(np.prod(shape))).reshape((-1, *shape))] if 0 not in shape else []
    columns = iter(zip(*([leaf for _, leaf in leaves("", each)] for each in rows), strict=True))
    zeros = finish(None, primal)
    return rebuild(_with_imaginary(zeros, zeros, data) if imaginary else zeros, _stacked(columns, shape, bool(rows)))


def _with_imaginary(real: Any, imaginary: Any, output: Any) -> Any:
    """Both in one; the derivative of a number by a number is of the class of the first."""
    kind = complex if type(output) is complex else lambda number: number
    parts = iter([leaf for _, leaf in leaves("", imaginary)])

    def joined(leaf: Any) -> Any:
        part = next(parts)
        if leaf is None:
            return None
        found = np.asarray(leaf) + np.complex64(1j) * np.asarray(part)
        return found if isinstance(leaf, np.ndarray) else kind(found[()])

    return rebuild(real, joined)


def _stacked(columns: Any, shape: tuple[int, ...], some: bool) -> Callable[[Any], Any]:
    def stacked(zero: Any) -> Any:
        column = next(columns) if some else ()
        if zero is None:
            return None
        dtype = np.asarray(zero).dtype
        return np.array(column, dtype).reshape(shape + np.shape(zero))

    return stacked
