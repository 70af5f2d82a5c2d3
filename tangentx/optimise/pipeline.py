"""Shorter programs of the same meaning: one small pass a file, each of which can be switched off."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tangentx.analysis.dependence.shift_invariance import forget_shifts
from tangentx.analysis.infer.program import Instance, Program
from tangentx.common import progress
from tangentx.common.axes import Shapes
from tangentx.ir.check import check
from tangentx.ir.nodes import Block, Function, Link
from tangentx.optimise import (
    attributes,
    broadcast_elimination,
    clipped_shares,
    code_sinking,
    constant_items,
    contraction,
    copy_elision,
    copy_propagation,
    cse,
    data_guards,
    dce,
    dead_arguments,
    dead_element_stores,
    drop_shape_casts,
    extreme_bounds,
    fft_peephole,
    first_elements,
    forward_substitution,
    guard_elimination,
    guard_insertion,
    in_place_sums,
    item_forwarding,
    last_use_copies,
    library_spelling,
    loop_fusion,
    name_coalescing,
    plain_powers,
    remake_shadows,
    returned_arguments,
    settled_calls,
    shape_records,
    shared_numbers,
    sign_normalisation,
    simplify,
    split_pullback,
    store_forwarding,
    strength_reduction,
    support_op_lowering,
    tape_packing,
    tape_scalarisation,
    tuple_fields,
    unguarded_products,
    unit_axes,
    value_numbering,
    view_store_forwarding,
    zero_propagation,
)
from tangentx.optimise.comment_cleanup import tidy
from tangentx.optimise.facts import dtype_exactness, memory
from tangentx.optimise.facts.exact_fits import Fits, exact_fits
from tangentx.optimise.facts.long_items import tell_long_items
from tangentx.optimise.facts.summaries import tell_callees
from tangentx.optimise.facts.unit import Pass, Unit
from tangentx.optimise.rewriting import Rules, run_each
from tangentx.optimise.structurise_continue import straightened
from tangentx.optimise.tuple_unpacking import unpacked
from tangentx.optimise.unread_items import read_alone

PASSES: dict[str, Pass] = {
    "copies": copy_propagation.run,
    "dead": dce.run,
    "elements": dead_element_stores.run,
    "anew": remake_shadows.run,
    "sink": code_sinking.run,
    "zeros": zero_propagation.run,
    "simplify": simplify.run,
    "guards": guard_elimination.run,
    "operators": support_op_lowering.run,
    "spectra": fft_peephole.run,
    "spreads": broadcast_elimination.run,
    "common": cse.run,
    "factors": strength_reduction.run,
    "signs": sign_normalisation.run,
    "slots": tuple_fields.run,
    "signatures": dead_arguments.run,
    "fits": drop_shape_casts.run,
    "unguarded": unguarded_products.run,
    "bounds": extreme_bounds.run,
    "shares": clipped_shares.run,
    "axes": unit_axes.run,
    "products": contraction.run,
    "numbers": shared_numbers.run,
    "totals": in_place_sums.run,
    "asked": shape_records.run,
    "fusion": loop_fusion.run,
    "lone": tape_scalarisation.run,
    "attributes": attributes.run,
    "direct": view_store_forwarding.run,
    "stores": store_forwarding.run,
    "firsts": first_elements.run,
    "filled": item_forwarding.run,
    "handed": last_use_copies.run,
    "clones": copy_elision.run,
    "nest": forward_substitution.run,
    "constants": constant_items.run,
    "bundles": tape_packing.run,
    "coalesce": name_coalescing.run,
}
REWRITING: dict[str, type[Rules]] = {
    "zeros": zero_propagation.Zeros,
    "simplify": simplify.Simplify,
    "operators": support_op_lowering.Operators,
    "spectra": fft_peephole.Spectra,
    "spreads": broadcast_elimination.Spreads,
    "common": cse.Common,
    "factors": strength_reduction.Factors,
    "signs": sign_normalisation.Signs,
}
"""Peephole passes that share one walk. `signs` begins a walk of its own, for it goes by who reads what, which the
others change; and where `guards` runs between two of them, those before it and those after it have a walk each."""
LAST = (
    "bounds",
    "shares",
    "axes",
    "products",
    "numbers",
    "totals",
    "asked",
    "fusion",
    "lone",
    "attributes",
    "direct",
    "stores",
    "firsts",
    "filled",
    "handed",
    "clones",
    "nest",
    "constants",
    "bundles",
    "coalesce",
)
"""Passes that run once, behind all rounds. They make the text readable; kinds of variables may not hold afterwards."""
LATE = ("elements", "unguarded")
BEFORE = ("copies", "dead")
AFTER = {
    "lone": BEFORE,
    "bounds": BEFORE,
    "shares": BEFORE,
    "axes": BEFORE,
    "products": ("signs", *BEFORE),
    "numbers": (*BEFORE, "signs", *BEFORE),
    "totals": BEFORE,
    "asked": BEFORE,
    "fusion": BEFORE,
    "handed": BEFORE,
    "constants": ("dead",),
    "bundles": ("slots",),
}
"""Passes that run again behind one of `LAST`, where that has changed anything."""
AT_ONCE = ("copies", "dead", "sink")
"""Idempotent passes: a second run directly after the first finds nothing."""
BY_SHAPES = frozenset((*REWRITING, "fits", "guards"))
"""Passes that go by what is known of shapes, which grows while functions are told of it, too."""
LIMIT_ROUNDS = 8


def optimise(program: Program, root: Instance, off: frozenset[str], *, ties: bool = False) -> list[Function]:
    """The functions of the program, the root first, after every pass that is not switched off."""
    return [unit.function for unit in optimised(program, root, off, ties=ties)]


def optimised(
    program: Program,
    root: Instance,
    off: frozenset[str],
    *,
    ties: bool = False,
    whole: bool = False,
    take: Callable[[Program, Sequence[Unit]], Sequence[Unit]] | None = None,
    loops: bool = False,
) -> list[Unit]:
    """The optimised functions of the program, with the kinds of their variables.

    The passes run in order, round after round, until none changes anything. `ties`: the root is never run; it only
    calls the functions that are called from outside. `whole`: the result is final, and not differentiated again.
    `take` gets them before the first pass that serves the reader alone, and gives more; `loops`: they become loops.
    """
    units = _units(program, root, ties)
    if whole:
        settled_calls.run(units)
    if "lengths" not in off:
        _tell_axes(program, units, ties)
    _rounds(program, units, [name for name in PASSES if name not in off and name not in LAST])
    check(units[0].function, closed=True)
    _guard(program, units, off)
    if whole:
        plain_powers.run(units)
    unwanted = off | _of_no_use(whole, loops)
    for name in LAST:
        if name == "products" and name not in unwanted and off.isdisjoint(("contents", "lengths")):
            contraction.prepare(program, units)
        if name == "stores" and "sink" not in off:
            code_sinking.run(program, units)  # `direct` has removed views of shadows that kept others from sinking
        if name == "nest" and take is not None:
            units += _made(units, take(program, memory.reached(units)))
        if name == "coalesce":
            units = _as_shipped(program, units, whole)
        changed = name not in unwanted and PASSES[name](program, units)
        for each in AFTER.get(name, ()) if changed else ():
            if each not in off:
                PASSES[each](program, units)
    for unit in units:
        unit.body = tidy(unit.body)
    return memory.reached(units)


def _guard(program: Program, units: Sequence[Unit], off: frozenset[str]) -> None:
    """Puts in the guards that are needed, of products and of data that others may change."""
    if not program.unguarded:
        guard_insertion.run(program, units)
    if "unguarded" not in off:
        unguarded_products.finish(program, units)
    data_guards.run(program, units)


def _made(units: Sequence[Unit], more: Sequence[Unit]) -> Sequence[Unit]:
    """Functions that come to a program; all know one another."""
    if more:
        others = {unit.link: unit for unit in (*units, *more)}
        for unit in (*units, *more):
            unit.others = others
    return more


def _of_no_use(whole: bool, loops: bool) -> frozenset[str]:
    """Passes of `LAST` that are of no use where the result is differentiated again, or compiled as loops."""
    if whole and not loops:
        return frozenset()
    unwanted = "bounds", "shares", "products", "numbers", "totals"
    return frozenset(unwanted if whole else (*unwanted, "fusion", "bundles"))


def _as_shipped(program: Program, units: list[Unit], whole: bool) -> list[Unit]:
    """Final form: functions are named as the arguments' array library names them, and a pullback is cut in two."""
    if whole:
        library_spelling.run(program, units)
    units = split_pullback.run(program, units)
    tuple_fields.note_lengths(program, units)
    return units


def shorten(program: Program, root: Instance, off: frozenset[str]) -> None:
    """As `optimise`, without the passes of `LAST`: the kinds of all variables still hold afterwards."""
    units = _units(program, root, False)
    _rounds(program, units, [name for name in PASSES if name not in off and name not in LAST])


def prepare(program: Program, root: Instance, off: frozenset[str]) -> None:
    """Shortens a program that makes functions, before it is differentiated: a closure that is only called, and whose
    captured variables are only read, becomes plain arguments, and so do their cotangents."""
    if any(i.makes_functions for i in program.reached()):
        _rounds(program, _units(program, root, False), [name for name in BEFORE if name not in off])
    if "shifts" not in off:
        forget_shifts(program)
    for instance in program.reached() if "unpacked" not in off else ():
        if instance.link.function is not None:
            instance.link.function = unpacked(instance.link.function, instance.kinds)
    for instance in program.reached() if "dead" not in off else ():
        if instance.link.function is not None:
            instance.link.function = read_alone(instance.link.function)
    if "given" not in off:
        returned_arguments.run(program, _units(program, root, False))
    if "repeats" not in off:
        value_numbering.run(program, _units(program, root, False))


def fits(program: Program, root: Instance, off: frozenset[str]) -> Fits:
    """What is known of the shapes of operands in a program that is to be differentiated; see `exact_fits`."""
    units = _units(program, root, False)
    _tell_axes(program, units, False)
    if "contents" not in off:
        tell_long_items(program, units)
    return exact_fits(program, units)


def straighten(program: Program, off: frozenset[str]) -> None:
    """Writes the loops of a program so that their trips reach their end, before it is differentiated in reverse."""
    for instance in program.reached() if "continues" not in off else ():
        if instance.link.function is not None:
            instance.link.function = straightened(instance.link.function)


def _rounds(program: Program, units: list[Unit], chosen: Sequence[str]) -> None:
    """Runs the passes in order, round after round, until none changes anything; then the late ones, once."""
    settled: dict[tuple[str, ...], tuple[Block, ...]] = {}
    chosen, late = [name for name in chosen if name not in LATE], [name for name in chosen if name in LATE]
    for turn in range(LIMIT_ROUNDS):
        changed = False
        for names in _walks(units, chosen):
            if turn == 0 and names == ("fits",) and len(units) > 1:
                changed = changed or any(unit.found(drop_shape_casts.concerns) for unit in units)
                continue  # functions are told shapes behind this round, and zeros go by what is known to fit
            if settled.get(names, ()) == (bodies := _bodies(units)):
                continue
            progress.at("optimising", 0.85 - 0.5 * 0.6**turn)  # most of the time is that of the first rounds
            found = _run(program, units, names)
            changed = changed or found
            if not found or names[0] in AT_ONCE:
                settled[names] = _bodies(units) if found else bodies
        if tell_callees(program, units):
            settled = {names: bodies for names, bodies in settled.items() if BY_SHAPES.isdisjoint(names)}
            continue
        if not changed:
            again = [_run(program, units, (name,)) for name in late]
            late = []
            if not any(again):
                break


def _walks(units: list[Unit], chosen: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The passes in order, those together that share a walk."""
    together: list[str] = []
    for name in chosen:
        if name in REWRITING:
            if name == "signs" and together:  # it goes by who reads what, which the others change
                yield tuple(together)
                together = []
            together.append(name)
        elif name != "guards" or guard_elimination.concerns(units):
            if together:
                yield tuple(together)
                together = []
            yield (name,)
    if together:
        yield tuple(together)


def _run(program: Program, units: list[Unit], names: tuple[str, ...]) -> bool:
    if names[0] in REWRITING:
        return run_each(program, units, *(REWRITING[name] for name in names))
    return PASSES[names[0]](program, units)


def _units(program: Program, root: Instance, ties: bool) -> list[Unit]:
    """The functions that the analysis met, the root first."""
    dtypes = dtype_exactness.dtypes(program)
    units = [Unit(i.link, i.kinds, i.result, exact=dtypes) for i in program.reached()]
    assert units[0].link is root.link
    tied = _called(units[0]) if ties else ()
    others = {unit.link: unit for unit in units}
    for unit in units:
        unit.outer, unit.others = unit is units[0] or unit.link in tied, others
    return units


def _tell_axes(program: Program, units: list[Unit], ties: bool) -> None:
    """What is known of the arguments from outside: of the root, or of the first function that it ties to others."""
    tied = _called(units[0])[:1] if ties else ()
    calls = [call for u in units for _, call in u.calls()]
    for unit in units:
        if unit is units[0] or (unit.link in tied and sum(call.link is unit.link for call in calls) == 1):
            pairs = zip(unit.function.params, program.axes.single, strict=False)
            unit.axes = {param.name: single for param, single in pairs if single is not None}
            unit.rooted = (_of_arguments(unit, program.axes.shapes),)


def _of_arguments(unit: Unit, shapes: Shapes) -> dict[tuple[str, int | None], object]:
    """The lengths of parameters that stand for arguments of these shapes, as `derived_lengths` has them."""
    given = [
        (at, p.name, shape) for at, (p, shape) in enumerate(zip(unit.function.params, shapes, strict=False)) if shape
    ]
    return {(name, axis): ("at", at, axis) for at, name, shape in given for axis in range(len(shape))}


def _called(unit: Unit) -> tuple[Link, ...]:
    return tuple(call.link for _, call in unit.calls())


def _bodies(units: list[Unit]) -> tuple[Block, ...]:
    """What the passes see; statements compare by identity."""
    return tuple(unit.body for unit in units)
