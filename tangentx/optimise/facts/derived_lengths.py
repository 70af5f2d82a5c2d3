"""Lengths derived from those of arguments, assumed not to be one because the entry checks it.

    gate = h * w[n : 2 * n]                 # `h` of shape (n,)

Where no axis of `h` has length one the slice is as long as `h`, or one: that it is as long is seen if it is not one.
No proof tells that of every `w`. So it is asked of the shapes that the derivative is compiled for, and the text is for
arguments of which it is true, as the dispatcher finds out; for others there is another one.

In a function that is called the length is made of those of parameters, so it is asked at each of its calls, as far as
these lead back to arguments: `Unit.rooted` has, for each way to call it, the lengths of its parameters in those of
arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tangentx.analysis.infer.program import Program
from tangentx.common.axes import evaluated
from tangentx.optimise.facts.shape_arithmetic import (
    Length,
    Lengths,
    long_one,
    of_parameter,
    parts_of,
    plain,
    substituted,
)
from tangentx.optimise.facts.unit import Unit

_DERIVED = ("slice", "less", "linear")


def with_taken(program: Program, unit: Unit, shape: Lengths) -> Lengths:
    """The shape, in which lengths that may be taken not to be one are said to be so."""
    if not program.axes.shapes or not unit.rooted or not any(map(_is_derived, shape)):
        return shape
    return Lengths(long_one(n) if _is_derived(n) and _is_long(program, unit, n) else n for n in shape)


def _is_derived(length: Length) -> bool:
    return isinstance(length, tuple) and bool(length) and length[0] in _DERIVED


def _is_long(program: Program, unit: Unit, length: Length) -> bool:
    known = unit.long.get(length)
    if known is None:
        made = list(_at_arguments(unit, length))
        found = [evaluated(each, program.axes.shapes) for each in made]
        known = unit.long[length] = bool(found) and all(n is not None and n != 1 for n in found)
        if not known and None not in found:
            program.axes.missed.update(dict.fromkeys(each for each, n in zip(made, found, strict=True) if n == 1))
    return known


def _at_arguments(unit: Unit, length: Length) -> Iterator[Length]:
    """The length in those of arguments, for each way to call the function; None where that is not known."""
    for lengths in unit.rooted or ():
        yield substituted(length, lambda tag, lengths=lengths: lengths.get(of_parameter(tag)))  # type: ignore[misc]


def rely(program: Program, unit: Unit, lengths: Iterable[Length]) -> None:
    """Notes that it matters which axes, and which of these lengths, are one."""
    program.axes.rely()
    note_taken(program, unit, lengths)


def note_taken(program: Program, unit: Unit, lengths: Iterable[Length]) -> None:
    """Notes that those of these lengths that were taken not to be one must not be."""
    for length in lengths:
        if length in unit.relied or isinstance(length, int):
            continue
        unit.relied.add(length)
        for inner in _taken_in(length):
            program.axes.taken.update(dict.fromkeys(_at_arguments(unit, inner)))


def _taken_in(length: Length) -> Iterator[Length]:
    """The lengths that were taken not to be one in it."""
    if isinstance(length, tuple):
        if plain(length) is not length:
            yield plain(length)
        for part in parts_of(length):
            yield from _taken_in(part)


def at_call(
    names: Iterable[str], shapes: Iterable[object], caller: Mapping[tuple[str, int | None], Length]
) -> dict[tuple[str, int | None], Length]:
    """The lengths of a function's parameters in those of arguments, where it is called with arguments of these shapes
    by a function whose own are in `caller`."""
    found: dict[tuple[str, int | None], Length] = {}
    for name, shape in zip(names, shapes, strict=True):
        for axis, length in enumerate(shape) if isinstance(shape, Lengths) else ():
            found[name, axis] = substituted(length, lambda tag: caller.get(of_parameter(tag)))
    return found
