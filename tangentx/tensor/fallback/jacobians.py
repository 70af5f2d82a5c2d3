"""Jacobians on Tensors: one run, and one reverse sweep for each number of the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tangentx.common.pytrees import is_differentiable, leaves, rebuild
from tangentx.errors import NotDifferentiable, Span
from tangentx.tensor.core.tensor import Tensor, wrap
from tangentx.tensor.fallback.reachable import plain

Pull = Callable[[Any, Any], Sequence[Any]]
"""The cotangents of the primals, in their form, for one of a leaf of the result; zeros for None."""


def jacobian(result: Any, primals: Sequence[Any], pull: Pull, many: bool, place: Span | None) -> Any:
    """The structure of `result` with that of the differentiated `primals` in each leaf: of plain numbers and arrays, or
    of Tensors, as `pull` gives them.

    A leaf of shape ``s`` by one of shape ``t`` has the shape ``s + t`` and the dtype of the primal, made complex for a
    complex result; what has no derivative is None. Raises NotDifferentiable at `place` for a complex result of complex
    primals, and for one without real or complex numbers.
    """
    _demand_domains(plain(result), [plain(primal) for primal in primals], place)

    def blocks(leaf: Any) -> Any:
        if not is_differentiable(plain(leaf)):
            return None
        found = _blocks(leaf, pull)
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


def _blocks(output: Any, pull: Pull) -> tuple[Any, ...]:
    """The derivatives of one leaf of the result by each primal."""
    data = plain(output)
    shape, imaginary = np.shape(data), np.iscomplexobj(data)

    def row(seed: Any) -> tuple[Any, ...]:
        """Of a complex result both parts: the pullback of -1j is the derivative of the imaginary one."""
        found = tuple(pull(output, seed))
        if not imaginary:
            return found
        parts = pull(output, None if seed is None else -1j * seed)
        return tuple(_with_imaginary(real, part, data) for real, part in zip(found, parts, strict=True))

    if shape == ():
        return row(1.0)
    rows = [row(seed) for seed in np.eye(int(np.prod(shape))).reshape((-1, *shape))] if 0 not in shape else []
    return tuple(_stacked([each[i] for each in rows], zero, shape) for i, zero in enumerate(row(None)))


def _with_imaginary(real: Any, imaginary: Any, output: Any) -> Any:
    """Both in one; the derivative of a number by a number is of the class of the first."""
    kind = complex if type(output) is complex else lambda number: number
    parts = iter([leaf for _, leaf in leaves("", imaginary)])

    def joined(leaf: Any) -> Any:
        part = next(parts)
        if leaf is None:
            return None
        if type(leaf) is Tensor:
            return leaf + np.complex64(1j) * part
        found = np.asarray(leaf) + np.complex64(1j) * np.asarray(part)
        return found if isinstance(leaf, np.ndarray) else kind(found[()])

    return rebuild(real, joined)


def _stacked(rows: Sequence[Any], zeros: Any, shape: tuple[int, ...]) -> Any:
    """The rows of a Jacobian by one primal as one structure like `zeros`, its axes behind those of the result."""
    columns = iter(zip(*([leaf for _, leaf in leaves("", each)] for each in rows), strict=True))

    def stacked(zero: Any) -> Any:
        column = next(columns) if rows else ()
        if zero is None:
            return None
        whole = shape + np.shape(plain(zero))
        if type(zero) is Tensor:
            return np.stack(column).reshape(whole) if rows else wrap(np.zeros(whole, zero.dtype))
        return np.array(column, np.asarray(zero).dtype).reshape(whole)

    return rebuild(zeros, stacked)
