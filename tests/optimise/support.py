"""One function as a unit that a pass can be tried on, and gradients with passes switched off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import tangentx as tx
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.samples import Valuer
from tangentx.compile import pipeline
from tangentx.ir.nodes import Assign, Op, Statement
from tangentx.ir.walk import statements
from tangentx.optimise.facts.unit import Unit
from tangentx.optimise.pipeline import PASSES

WAYS: tuple[Any, ...] = ((), "all", *PASSES)


def unit_of(fn: Callable[..., Any], *values: Any, reverse: bool = False) -> tuple[Program, Unit]:
    """The function analysed for these arguments; as if it were all reverse sweep, where that is asked for."""
    program = pipeline.new_program()
    instance = pipeline.analyse(program.lift(fn), [Valuer(program.world).kind(v) for v in values], program)
    unit = Unit(instance.link, instance.kinds, instance.result, outer=True)
    if reverse:
        unit.link.function = replace(unit.function, origin=None, name="f_backward")
    return program, unit


def every(unit: Unit) -> list[Statement]:
    return list(statements(unit.body))


def operations(unit: Unit) -> list[Any]:
    """The primitives that the unit applies, in the order of the text."""
    return [s.value.fn for s in every(unit) if isinstance(s, Assign) and isinstance(s.value, Op)]


def gradient(fn: Callable[..., Any], args: tuple[Any, ...], off: Any = (), **options: Any) -> Any:
    with pipeline.proofs(off=off):
        return tx.grad(fn, fallback="error", **options)(*args)


def differences(fn: Callable[..., Any], args: tuple[Any, ...], step: float = 1e-6) -> Any:
    """The gradient by the first argument, by central differences."""
    x = np.asarray(args[0], dtype=float)
    result = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        ends = []
        for sign in (1.0, -1.0):
            moved = x.copy()
            moved[place] += sign * step
            ends.append(fn(moved if x.ndim else float(moved), *args[1:]))
        result[place] = (ends[0] - ends[1]) / (2.0 * step)
    return result if x.ndim else float(result)
