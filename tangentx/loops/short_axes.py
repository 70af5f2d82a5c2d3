"""Short last axes, such as points in space: a specialised copy of a nest in C programs.

A loop of two or three trips costs more than what it does, and the loop around it has no vectors. So such a nest stands
there once more for each of some `LENGTHS`, with the trips of its innermost loop one after the other. Whether the axis
is so long, and the rows lie without gaps, is tested when the program runs; what was written first is for all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tangentx.loops import loop_ir as loops
from tangentx.loops.simplify import expressions

LENGTHS = (2, 3)
LIMIT_STATEMENTS = 12
"""Nests of more are written once: all that they do costs more than their loops."""
_ELEMENTWISE = loops.Assign | loops.Write | loops.Keep | loops.Remark


@dataclass(frozen=True)
class Short:
    """A nest in which the innermost loop has a length that is not known, and the arrays whose rows it goes along."""

    nest: loops.For
    length: loops.Expr
    rows: tuple[str, ...]

    def unrolled(self, length: int) -> loops.For:
        """The nest where the axis has this length."""
        return _unrolled(self.nest, length)


def short(nest: loops.For, types: Mapping[str, loops.Type], reads: Mapping[str, int]) -> Short | None:
    """A nest that is worth another text for short axes; None for every other loop. `reads` counts what reads a name."""
    around, inner = None, nest
    while len(inner.body) == 1 and isinstance(inner.body[0], loops.For):
        around, inner = inner, inner.body[0]
    if (summed := _row_sum(inner, types, reads)) is not None:
        count, base = summed
        return None if isinstance(count, loops.Const) else Short(nest, count, (base,))
    if around is None or not inner.independent or isinstance(inner.stop, loops.Const):
        return None
    whole = inner.start == loops.Const(0, inner.start.type) and inner.step == loops.Const(1, inner.step.type)
    if not whole or inner.backward or not all(isinstance(s, _ELEMENTWISE) for s in inner.body):
        return None
    rows = _rows(inner, around.name, types)
    if rows is None or inner.stop == around.stop or len(inner.body) > LIMIT_STATEMENTS:  # matrices of all pairs
        return None
    return Short(nest, inner.stop, rows)


def _rows(inner: loops.For, around: str, types: Mapping[str, loops.Type]) -> tuple[str, ...] | None:
    """The arrays of which the loop goes along one row after the other; None if it reads something whole."""
    found: dict[str, None] = {}
    for array, places in _elements(inner.body):
        if array is None:
            return None
        type = types[array]
        if not isinstance(type, loops.Array) or not type.unit or len(places) < 2:
            continue
        if _is_counter(places[-1], inner.name) and _is_counter(places[-2], around):
            found[array] = None
    return tuple(found)


def _is_counter(place: loops.Expr, name: str) -> bool:
    return isinstance(place, loops.Local) and place.name == name


def _elements(block: loops.Block) -> Iterator[tuple[str | None, tuple[loops.Expr, ...]]]:
    """The elements that are read and written; None in place of an array that is read whole."""
    for s in block:
        if isinstance(s, loops.Write):
            yield s.array, s.places
        todo = list(expressions(s))
        while todo:
            value = todo.pop()
            if isinstance(value, loops.Read):
                yield value.array, value.places
                todo += value.places
            elif isinstance(value, loops.Apply):
                todo += value.args
            elif isinstance(value, loops.Reduce):
                yield None, ()


def _row_sum(
    inner: loops.For, types: Mapping[str, loops.Type], reads: Mapping[str, int]
) -> tuple[loops.Expr, str] | None:
    """How long the rows are, and of which array, where a loop writes the sum of one row after the other, and nothing
    else reads the row."""
    match inner.body:
        case (
            loops.View(name, base, (*picks, loops.Span(loops.Const(0), count, 1))),
            loops.Write(value=loops.Reduce("sum", array, type)),
        ) if name == array and picks and type.is_float and reads[name] == 1:
            last = picks[-1]
            dense = isinstance(last, loops.Pick) and _is_counter(last.place, inner.name)
            return (count, base) if dense and all(map(_is_pick, picks)) and _is_unit(types[base]) else None
    return None


def _is_unit(type: loops.Type) -> bool:
    return isinstance(type, loops.Array) and type.unit


def _is_pick(part: object) -> bool:
    return isinstance(part, loops.Pick)


def _added(inner: loops.For, length: int) -> loops.For:
    """A loop over short rows, whose sums are written out: in the order in which NumPy adds less than eight numbers."""
    view, write = inner.body
    assert isinstance(view, loops.View) and isinstance(write, loops.Write)
    type = write.value.type
    places = tuple(part.place for part in view.parts if isinstance(part, loops.Pick))
    total: loops.Expr = loops.Const(0.0, type)
    for place in range(length):
        element = loops.Read(view.base, (*places, loops.Const(place, loops.INT)), type)
        total = loops.Apply("add", (total, element), type)
    return replace(inner, body=(replace(write, value=total),))


def _unrolled(nest: loops.For, length: int) -> loops.For:
    if isinstance(nest.body[0], loops.View):
        return _added(nest, length)
    inner = nest.body[0]
    assert isinstance(inner, loops.For)
    if isinstance(inner.body[0], loops.View):
        return replace(nest, body=(_added(inner, length),))
    if len(inner.body) == 1 and isinstance(inner.body[0], loops.For):
        return replace(nest, body=(_unrolled(inner, length),))
    body: list[loops.Statement] = []
    for trip in range(length):
        for s in inner.body:
            if not (trip and isinstance(s, loops.Remark)):
                body.append(_with_constant(s, inner.name, loops.Const(trip, loops.INT)))
    return replace(nest, body=tuple(body))


def _with_constant(value: Any, name: str, constant: loops.Const) -> Any:
    """A statement or an expression with a number in place of a counter."""
    match value:
        case loops.Local(own):
            return constant if own == name else value
        case loops.Assign(value=inside):
            return replace(value, value=_with_constant(inside, name, constant))
        case loops.Write(places=places, value=inside):
            places = tuple(_with_constant(place, name, constant) for place in places)
            return replace(value, places=places, value=_with_constant(inside, name, constant))
        case loops.Read(places=places):
            return replace(value, places=tuple(_with_constant(place, name, constant) for place in places))
        case loops.Apply(args=args):
            return replace(value, args=tuple(_with_constant(arg, name, constant) for arg in args))
    return value
