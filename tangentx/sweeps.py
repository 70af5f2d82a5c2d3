"""Compiled entries of products: forward mode, and the two sweeps of a pullback."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tangentx import pipeline
from tangentx.analysis.copied import copy_kind
from tangentx.axes import axes_of
from tangentx.compilation import (
    Pairs,
    analysed,
    found_for,
    header_of,
    kinds_of,
    kinds_of_arguments,
    noted,
)
from tangentx.demands import writes_arguments
from tangentx.derivative import Cache, Entry, Target
from tangentx.fallback import otherwise
from tangentx.guards import Guard
from tangentx.transforms import demand_cotangent


def entry_jvp(target: Target, cache: Cache, values: tuple[Any, ...], active: tuple[int, ...], spec: Any) -> Entry:
    """The compiled forward mode for these arguments, of which those at `active` have tangents."""

    def make(pairs: Pairs) -> Entry:
        return compile_jvp(target, values, active, pairs)

    instead = otherwise(target, values, active, spec, "jvp")
    return found_for(target, cache, values, active, active, make, instead)


def compile_jvp(
    target: Target, values: Sequence[Any], active: tuple[int, ...], pairs: tuple[tuple[int, int], ...]
) -> Entry:
    """Compiles forward mode."""
    from tangentx.arrays import tangent_as

    program, second = pipeline.new_program(), pipeline.new_program(axes_of(values))
    root = analysed(target, program, kinds_of_arguments(target, program, values, pairs), active)
    derived = pipeline.derive_tangent(program, root, active)
    dots = kinds_of(second.world, [tangent_as(None, values[i]) for i in active])
    again = [*kinds_of(second.world, values, pairs), *dots]
    header = header_of(target, root, active, "jvp")
    functions, text, filename = pipeline.compile_functions(derived, again, second, header)
    writes = writes_arguments(program)
    return Entry(functions, text, filename, Guard((program, second)), writes, noted(header, program, second))


def entry_vjp(target: Target, cache: Cache, values: tuple[Any, ...], wrt: tuple[int, ...], spec: Any) -> Entry:
    """The compiled forward and reverse sweep for these arguments as two functions."""

    def make(pairs: Pairs) -> Entry:
        return compile_vjp(target, values, wrt, pairs)

    return found_for(target, cache, values, wrt, wrt, make, otherwise(target, values, wrt, spec, "vjp"))


def compile_vjp(
    target: Target, values: Sequence[Any], wrt: tuple[int, ...], pairs: tuple[tuple[int, int], ...]
) -> Entry:
    """Compiles the two sweeps."""
    program, second = pipeline.new_program(), pipeline.new_program(axes_of(values))
    root = analysed(target, program, kinds_of_arguments(target, program, values, pairs), wrt)
    demand_cotangent(root)
    both = pipeline.derive_pullback(program, root, wrt)
    seed = copy_kind(root.result, second.world, {})
    again = [*kinds_of(second.world, values, pairs), seed]
    header = header_of(target, root, wrt, "vjp")
    functions, text, filename = pipeline.compile_functions(both, again, second, header, skip=1, count=2)
    writes = writes_arguments(program)
    return Entry(functions, text, filename, Guard((program, second)), writes, noted(header, program, second))
