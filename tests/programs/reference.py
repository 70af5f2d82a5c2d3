"""A program at its arguments: what differences say of it, and the structures that a derivative call needs."""

from __future__ import annotations

import inspect
import zlib
from functools import lru_cache
from typing import Any

import numpy as np

from tests.harness import curvature, derivative, gradient, leaves, perturbed, replaced
from tests.programs.case import Program


def names(program: Program) -> tuple[str, ...]:
    """`wrt` as a tuple."""
    return (program.wrt,) if isinstance(program.wrt, str) else program.wrt


def positions(program: Program) -> list[int]:
    """Where the parameters of `wrt` stand."""
    order = list(inspect.signature(program.fn).parameters)
    return [order.index(name) for name in names(program)]


def chosen(program: Program, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of `wrt`, out of all."""
    return tuple(args[k] for k in positions(program))


def filled_in(program: Program, parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """Fresh arguments with `parts` in the places of `wrt`."""
    args = list(program.args())
    for k, part in zip(positions(program), parts, strict=True):
        args[k] = part
    return tuple(args)


def moved(program: Program, direction: list[Any], step: float) -> tuple[Any, ...]:
    """Fresh arguments, those of `wrt` moved along `direction`."""
    return filled_in(program, perturbed(chosen(program, program.args()), direction, step))


def direction(program: Program) -> list[Any]:
    """A random array for each leaf of `wrt`, the same at each call; it is exact in float32."""
    rng = np.random.default_rng(zlib.crc32(program.name.encode()))
    parts = leaves(chosen(program, program.args()))
    return [rng.uniform(-1.0, 1.0, np.shape(leaf.value)).astype(np.float32).astype(float) for leaf in parts]


def tangents(program: Program) -> tuple[Any, ...]:
    """`direction` as tangents for all parameters: None for those that are not of `wrt`."""
    args = program.args()
    result: list[Any] = [None] * len(args)
    parts = iter(direction(program))
    for k in positions(program):
        result[k] = replaced(args[k], lambda leaf: like(next(parts), leaf), lambda item: None)
    return tuple(result)


def like(part: Any, leaf: Any) -> Any:
    """The array `part` with the kind and dtype of `leaf`."""
    return part.astype(leaf.dtype) if isinstance(leaf, np.ndarray) else type(leaf)(part)


@lru_cache(maxsize=None)
def slopes(program: Program) -> tuple[tuple[Any, ...], float]:
    """The gradient by differences, an array for each leaf of `wrt`, and the estimate of its error."""
    result, error = gradient(
        lambda parts: float(program.fn(*filled_in(program, parts))), chosen(program, program.args())
    )
    return tuple(result), error


@lru_cache(maxsize=None)
def slope(program: Program) -> tuple[float, float]:
    """The derivative along `direction` by differences, and the estimate of its error."""
    along = direction(program)
    result, error = derivative(lambda h: float(program.fn(*moved(program, along, h))))
    return float(result), error


@lru_cache(maxsize=None)
def bend(program: Program) -> tuple[float, float]:
    """The second derivative along `direction` by differences of the program, and the estimate of its error."""
    along = direction(program)
    return curvature(lambda h: float(program.fn(*moved(program, along, h))))


def exactness(program: Program) -> float:
    """The relative error that a derivative may have: some programs run in single precision."""
    single = any(np.asarray(leaf.value).dtype == np.float32 for leaf in leaves(program.args()))
    return 1e-4 if single else 1e-6
