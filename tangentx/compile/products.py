"""Compiled entries of products: forward mode, and the two sweeps of a pullback."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tangentx.analysis.batch.varying import Unbatchable
from tangentx.analysis.memory import global_writes
from tangentx.analysis.types.kind_copies import copy_kind
from tangentx.analysis.types.kinds import Arr, Kind, Num, Region, World, dtype_of
from tangentx.arrays import tangent_as
from tangentx.compile import batched, pipeline
from tangentx.compile.dependencies import guard_of
from tangentx.compile.fallback import not_compiled, otherwise
from tangentx.compile.gradients import (
    Pairs,
    always_raises,
    analysed,
    found_for,
    header_of,
    jit_of,
    kinds_of,
    kinds_of_arguments,
    never_returns,
    noted,
)
from tangentx.compile.transforms import demand_cotangent
from tangentx.derive.products import tangent_alone
from tangentx.derive.prologue import has_effects
from tangentx.dispatch.entries import Cache, Entry, Target
from tangentx.dispatch.validation import gives_given, gives_own, writes_arguments
from tangentx.errors import NotDifferentiable, TangentxError
from tangentx.ir.nodes import Function

if TYPE_CHECKING:
    from tangentx.compile.device_kernels import Kernels
    from tangentx.compile.jitted import Jit


def entry_jvp(target: Target, cache: Cache, values: tuple[Any, ...], active: tuple[int, ...], spec: Any) -> Entry:
    """The compiled forward mode for these arguments, of which those at `active` have tangents."""

    def make(pairs: Pairs) -> Entry:
        return compile_jvp(target, values, active, pairs, alone=spec.mode == "tangent", jit=jit_of(spec, target))

    instead = otherwise(target, values, active, spec, "jvp")
    return found_for(
        *(target, cache, values, active, active, make, instead),
        lambda values: entry_jvp(target, cache, values, active, spec),
    )


def compile_jvp(
    target: Target,
    values: Sequence[Any],
    active: tuple[int, ...],
    pairs: tuple[tuple[int, int], ...],
    remark: str = "",
    *,
    alone: bool = False,
    jit: Jit | Kernels | None = None,
) -> Entry:
    """Compiles forward mode; the text begins with `remark`, too. `alone`: it gives the tangent without the value.

    With `jit` it is compiled further.
    """
    program, second = pipeline.new_pair(values)
    root = analysed(target, program, kinds_of_arguments(target, program, values, pairs), active)
    derived = pipeline.derive_tangent(program, root, active)
    derived = tangent_alone(derived) if alone else derived
    dots = kinds_of(second.world, [tangent_as(None, values[i]) for i in active])
    again = [*kinds_of(second.world, values, pairs), *dots]
    header = "\n".join(filter(None, (header_of(target, root, active, "jvp"), remark)))
    functions, text, filename = pipeline.compile_functions(derived, again, second, header, jit=jit)
    writes = writes_arguments(program)
    notes = noted(header, program, second) | {"own": gives_own(root), "value": None if alone else 0, "jit": jit}
    return Entry(functions, text, filename, guard_of((program, second), text), writes, notes)


def entry_vjp(target: Target, cache: Cache, values: tuple[Any, ...], wrt: tuple[int, ...], spec: Any) -> Entry:
    """The compiled forward and reverse sweep for these arguments as two functions."""

    def make(pairs: Pairs) -> Entry:
        not_compiled(spec, target, "pullbacks")
        return compile_vjp(target, values, wrt, pairs)

    instead = otherwise(target, values, wrt, spec, "vjp")
    return found_for(
        target, cache, values, wrt, wrt, make, instead, lambda values: entry_vjp(target, cache, values, wrt, spec)
    )


def compile_vjp(
    target: Target, values: Sequence[Any], wrt: tuple[int, ...], pairs: tuple[tuple[int, int], ...]
) -> Entry:
    """Compiles the two sweeps."""
    program, second = pipeline.new_pair(values)
    root = analysed(target, program, kinds_of_arguments(target, program, values, pairs), wrt, keeps=True)
    if never_returns(target, root):
        return always_raises(target, root)
    demand_cotangent(root)
    derived = pipeline.derive_cut(program, root, wrt)
    seed = copy_kind(root.result, second.world, {})
    again = [*kinds_of(second.world, values, pairs), seed]
    header = header_of(target, root, wrt, "vjp")
    functions, text, filename = pipeline.compile_functions(derived, again, second, header, count=2)
    writes = writes_arguments(program)
    notes = noted(header, program, second) | {"given": gives_given(root), "value": 0}
    if not (has_effects(root) or pairs or global_writes.read(program)):  # a batch reads what is outside when it is run
        world = World()
        kinds = [*kinds_of(world, values), copy_kind(root.result, world, {})]
        notes["several"] = _several(lambda: pipeline.derive_pullback(program, root, wrt), kinds, 1, None, header)
    return Entry(functions, text, filename, guard_of((program, second), text), writes, notes)


def entry_linear(target: Target, cache: Cache, values: tuple[Any, ...], active: tuple[int, ...], spec: Any) -> Entry:
    """The primal and its linear function as two functions; forward mode as one where there are no such two."""

    def make(pairs: Pairs) -> Entry:
        not_compiled(spec, target, "linear functions")
        try:
            return compile_linear(target, values, active, pairs)
        except Unbatchable as error:
            place = f"{error.span.file.rpartition('/')[2]}:{error.span.line}"
            reason = f"It is run anew for each tangent: {error.reason} ({place})."
            return compile_jvp(target, values, active, pairs, reason)

    instead = otherwise(target, values, active, spec, "jvp")
    return found_for(
        *(target, cache, values, active, ("linear", active), make, instead),
        lambda values: entry_linear(target, cache, values, active, spec),
    )


def compile_linear(
    target: Target, values: Sequence[Any], active: tuple[int, ...], pairs: tuple[tuple[int, int], ...]
) -> Entry:
    """Compiles the primal and its linear function. Raises Unbatchable where forward mode cannot be split.

    Raises NotDifferentiable where it cannot, and the program acts on something outside.
    """
    (program, second), middle = pipeline.new_pair(values), pipeline.new_program()
    root = analysed(target, program, kinds_of_arguments(target, program, values, pairs), active)
    if never_returns(target, root):
        return always_raises(target, root)
    tangent = pipeline.derive_tangent(program, root, active)
    dots = [tangent_as(None, values[i]) for i in active]
    count, name = len(values), root.source.name
    given = [*kinds_of(middle.world, values, pairs), *kinds_of(middle.world, dots)]
    try:
        both = pipeline.split_tangent(
            tangent, given, middle, range(count, count + len(dots)), (f"{name}_linearize", f"{name}_linear")
        )
    except Unbatchable as error:
        if has_effects(root):
            message = (
                f"the linear function of `{name}` would run it anew for each tangent, and it acts on something outside"
            )
            hint = "take tx.jvp for each tangent, or what acts out of it"
            raise NotDifferentiable(f"{message}: {error.reason}", error.span, hint) from None
        raise
    again = [*kinds_of(second.world, values, pairs), *kinds_of(second.world, dots)]
    header = header_of(target, root, active, "linear")
    functions, text, filename = pipeline.compile_functions(both, again, second, header, skip=1, count=2)
    notes = noted(header, program, second) | {"repeats": not (has_effects(root) or pairs)}
    if notes["repeats"] and not global_writes.read(program):
        world = World()
        notes["several"] = _several(
            lambda: both, [*kinds_of(world, values), *kinds_of(world, dots)], len(dots), 1, header
        )
    return Entry(functions, text, filename, guard_of((program, second), text), writes_arguments(program), notes)


def _several(
    both: Callable[[], Function], kinds: Sequence[Kind], moving: int, item: int | None, header: str
) -> Callable[[Sequence[Any]], Any]:
    """Compiles, when it is first asked for, both functions with a batch of tangents or cotangents; None where it
    cannot. Who asks gives arguments, of which a text that was kept is compiled (see `dispatch.disk_cache`)."""

    @functools.cache
    def made() -> Any:
        program = pipeline.new_program()
        memo: dict[Region, Region] = {}
        still = [copy_kind(kind, program.world, memo) for kind in kinds[: len(kinds) - moving]]
        again = [Num(int), *still, *(_batch_of(kind, program.world) for kind in kinds[len(kinds) - moving :])]
        try:
            function = batched.repeated(both(), kinds, moving, item)
            return pipeline.compile_functions(function, again, program, header, skip=1, count=2)[0]
        except (TangentxError, Unbatchable):
            return None

    return lambda _: made()


def _batch_of(kind: Kind, world: World) -> Kind:
    """The kind of a batch of numbers or arrays."""
    rank = kind.rank if isinstance(kind, Arr) else 0
    rank = None if rank is None else rank + 1
    if not isinstance(kind, Num | Arr):
        return copy_kind(kind, world, {})
    return Arr(dtype_of(kind), rank, world.region(), library=kind.library if isinstance(kind, Arr) else "numpy")
