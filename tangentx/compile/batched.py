"""Batched programs, or a loop over the members where a program cannot be batched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tangentx.analysis.batch.varying import Unbatchable
from tangentx.analysis.infer.program import Instance, Program
from tangentx.analysis.types.kind_copies import copy_kind
from tangentx.analysis.types.kinds import Bottom, Kind, Region
from tangentx.analysis.types.structure_results import Layout
from tangentx.compile import pipeline
from tangentx.derive.batch.walker import Batch
from tangentx.derive.jacobians import Builder, Wanted, moving_of
from tangentx.derive.products import primal
from tangentx.derive.prologue import has_effects
from tangentx.errors import TangentxError
from tangentx.ir.nodes import Function


def jacobian(program: Program, instance: Instance, wanted: Wanted, *, reverse: bool, inside: bool = False) -> Function:
    """A Jacobian, column by column in forward mode, or row by row; `inside` a program that is differentiated again.

    All directions move at once where the derived program can be batched; else its notes say why not.
    """
    made = pipeline.derive_seeded if reverse else pipeline.derive_tangent
    moving = made(program, instance, wanted.wrt)
    try:
        return _at_once(instance, wanted, moving, reverse)
    except Unbatchable as error:
        place = f"{error.span.file.rpartition('/')[2]}:{error.span.line}"
        reason = {"alone": f"One direction after the other: {error.reason} ({place})."} if error.reason else {}
    build = Builder(instance, wanted)
    if not reverse:
        function = build.forward(moving)
    elif inside:
        function = build.inside(primal(instance), moving)
    else:
        forward, back, _ = pipeline.derive_sweeps(program, instance, wanted.wrt)
        function = build.reverse(forward, back)
    return replace(function, notes={**function.notes, **reason})


def members(program: Program, instance: Instance, batched: Sequence[int]) -> Function:
    """The function of the number of members and of all of them at once. Raises Unbatchable."""
    if isinstance(instance.result, Bottom):
        raise Unbatchable("it never returns", instance.source.span)
    try:
        function = Batch(program, instance, batched).function()
    except TangentxError as error:
        raise Unbatchable(error.message, error.span or instance.source.span) from None
    return function


def repeated(both: Function, kinds: Sequence[Kind], moving: int, item: int | None) -> Function:
    """The two functions that `both` ties together, the second one for a batch of its last `moving` parameters.

    What it gives is `item` of the result of `both`, or all of it. The number of members comes first. Raises
    Unbatchable.
    """
    program = pipeline.new_program()
    memo: dict[Region, Region] = {}
    given = [copy_kind(kind, program.world, memo) for kind in kinds]
    try:
        root = pipeline.again(both, given, program)
        return Batch(program, root, range(len(given) - moving, len(given)), item).function()
    except TangentxError as error:
        raise Unbatchable(error.message, error.span or both.span) from None


def _at_once(instance: Instance, wanted: Wanted, moving: Function, reverse: bool) -> Function:
    """A Jacobian from one sweep for all directions. Raises Unbatchable."""
    build = Builder(instance, wanted)
    if build.is_single() or (reverse and (wanted.aux or has_effects(instance))):
        raise Unbatchable("", instance.source.span)
    second = pipeline.new_program()
    memo: dict[Region, Region] = {}
    given = [copy_kind(kind, second.world, memo) for kind in instance.given]
    by = [instance.result] if reverse else [instance.given[i] for i in moving_of(instance, wanted.wrt)]
    shadows = [Layout(second.world, lambda path: second.world.region(), True).kind(kind) for kind in by]
    try:
        root = pipeline.shortened(moving, [*given, *shadows], second)
        batch = Batch(second, root, range(len(given), len(given) + len(by)), None if reverse else 1)
        function = batch.function()
        if not reverse:
            batch.demand_single(0)
        build.least = batch.loops
        made = build.rows_at_once(primal(instance), function) if reverse else build.at_once(function)
        _try(made, instance)
    except TangentxError as error:
        raise Unbatchable(error.message, error.span or instance.source.span) from None
    return made


def _try(function: Function, instance: Instance) -> None:
    """Raises TangentxError where the kinds of a program with a batch axis are not known."""
    program = pipeline.new_program()
    memo: dict[Region, Region] = {}
    pipeline.analyse(function, [copy_kind(kind, program.world, memo) for kind in instance.given], program)
