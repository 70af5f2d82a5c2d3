"""Operations on whole lists and tuples, item by item."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from tangentx import arrays
from tangentx.analysis.types.kinds import Arr, Box, Kind, Num, Obj
from tangentx.loops import array_operations, operators
from tangentx.loops.array_statements import ONE, ZERO, ArrayWriter, Held
from tangentx.loops.builder import Builder
from tangentx.loops.loop_ir import (
    BOOL,
    FLOAT,
    INT,
    Apply,
    Array,
    Bail,
    Const,
    Expr,
    For,
    Known,
    Length,
    List,
    Local,
    NewList,
    Pick,
    Push,
    Scalar,
    Span,
    Write,
)
from tangentx.loops.operators import Refused
from tangentx.loops.types import Place, array_type, places, scalar_type, type_of

Value: TypeAlias = Any
Change: TypeAlias = Callable[[Expr, Value, Kind], Value]
"""What stands at a place of a new list: by the place, the item of the old one, and the kind of the new item."""


class Writer(Protocol):
    """The writer of a function, as these operations need it."""

    b: Builder
    arrays: ArrayWriter
    held_kinds: dict[str, Kind]

    def fetch(self, stem: str, base: str, place: Expr, type: Any, kind: Kind) -> Value:
        """An item of a list."""

    def fetched(self, stem: str, name: str, item: Place) -> Value:
        """An item of a record."""

    def items_of(self, name: str) -> dict[object, Place]:
        """The items of a record."""

    def new_record(self, stem: str, kind: Box, given: dict[object, Value]) -> Held:
        """A container whose items are known."""

    def stored(self, value: Value, kind: Kind) -> Expr | str:
        """A value as an item of a container."""

    def is_container(self, value: object) -> bool:
        """Whether a value is a list, a record or a tuple."""


def each(w: Writer, value: Value, body: Callable[[Expr, Value], None]) -> None:
    """Writes `body` for each item: its place, and the item."""
    found = _items(w, value)
    if found is not None:
        for place, item in enumerate(found):
            body(Const(place, INT), item)
        return
    type, kind = w.b.types[value.name], w.held_kinds[value.name]
    assert isinstance(type, List) and isinstance(kind, Box)
    w.arrays.flush()
    counter, count = w.b.fresh("k", INT), w.b.let("n", Length(value.name))
    w.b.loops[counter] = ZERO, count
    with w.b.block() as block:
        body(Local(counter, INT), w.fetch("item", value.name, Local(counter, INT), type.item, kind.region.root().any()))
        w.arrays.flush()
    w.b.emit(For(counter, ZERO, count, ONE, False, tuple(block)))


def _items(w: Writer, value: Value) -> list[Value] | None:
    """The items of a container whose length is known; None of a list that is not."""
    if isinstance(value, tuple):
        return list(value)
    if not isinstance(value, Held) or isinstance(w.b.types[value.name], Array):
        raise Refused("something else stands where a list is meant")
    if isinstance(w.b.types[value.name], List):
        return None
    kind = w.held_kinds[value.name]
    if not isinstance(kind, Box) or not issubclass(kind.cls, list | tuple):
        raise Refused("another container stands where a list is meant")
    return [w.fetched("item", value.name, item) for item in w.items_of(value.name).values()]


def length(w: Writer, value: Value) -> Expr:
    """How many items a list or tuple has."""
    found = _items(w, value)
    return w.b.let("n", Length(value.name)) if found is None else Const(len(found), INT)


def like(w: Writer, stem: str, kind: Kind, source: Value, change: Change) -> Value:
    """A new list or tuple with as many items as `source`."""
    if not isinstance(kind, Box) or not issubclass(kind.cls, list | tuple):
        raise Refused("what is made of a list is no list")
    known = places(kind)
    if known is not None:
        found = _items(w, source)
        if found is None or len(found) != len(known):
            raise Refused("a list of another length")
        made = [change(Const(k, INT), item, at.kind) for k, (item, at) in enumerate(zip(found, known.values()))]
        return tuple(made) if kind.cls is tuple else w.new_record(stem, kind, dict(zip(known, made)))
    name = w.b.fresh(stem, type_of(kind))
    w.held_kinds[name] = kind
    w.arrays.flush()
    w.b.emit(NewList(name))
    inside = kind.region.root().any()

    def pushed(place: Expr, item: Value) -> None:
        w.b.emit(Push(name, w.stored(change(place, item, inside), inside)))

    each(w, source, pushed)
    return Held(name)


# ---- arrays of lists ----


def array_of(w: Writer, kind: Kind, values: Sequence[Value]) -> Value:
    """``np.array`` of numbers, or of rows that are lists or arrays."""
    if not isinstance(kind, Arr) or len(values) != 1:
        raise Refused("an array of this list")
    type = array_type(kind)
    extents = _shape(w, values[0], type.rank)
    made = w.arrays.allocate("made", type, extents, kind.region, zeros=False)
    _fill(w, made, (), values[0], type)
    return Held(made)


def _shape(w: Writer, value: Value, rank: int) -> list[Expr]:
    """The lengths of nested lists, by the first of each; that others are as long is checked where they are read."""
    if isinstance(value, Held) and not w.is_container(value):
        if w.arrays.array(value.name).rank != rank:
            raise Refused("an array of lists and numbers")
        return list(w.arrays.extents(value.name))
    if not w.is_container(value):
        if rank:
            raise Refused("an array of lists and numbers")
        return []
    count = length(w, value)
    if rank == 1:
        return [count]
    found = _items(w, value)
    if found is not None:
        if not found:
            raise Refused("an array of no rows")
        return [count, *_shape(w, found[0], rank - 1)]
    w.b.check(Apply("lt", (ZERO, count), BOOL), Bail.SHAPE)
    type, kind = w.b.types[value.name], w.held_kinds[value.name]
    assert isinstance(type, List) and isinstance(kind, Box)
    first = w.fetch("first", value.name, ZERO, type.item, kind.region.root().any())
    return [count, *_shape(w, first, rank - 1)]


def _fill(w: Writer, made: str, above: tuple[Expr, ...], value: Value, type: Array) -> None:
    """Writes the items of a list, or a row, at the places that begin with `above`."""
    extents = w.arrays.extents(made)[len(above) :]
    if isinstance(value, Held) and not w.is_container(value):
        parts = [Pick(place) for place in above]
        spans = [Span(ZERO, extent) for extent in extents]
        if len(w.arrays.extents(value.name)) != len(extents):
            raise Refused("an array of lists and numbers")
        for own, other in zip(extents, w.arrays.extents(value.name), strict=True):
            w.arrays.demand_same(own, other)
        region = w.arrays.memory[made].region
        array_operations.write(w.arrays, w.arrays.view("row", made, [*parts, *spans], region), value, False)
        w.arrays.flush()
        return
    if not w.is_container(value):
        if len(above) != type.rank or not isinstance(value, Expr):
            raise Refused("an array of lists and numbers")
        if value.type.code != type.code and not (type.element.is_float and value.type.code == "i8"):
            raise Refused("an array of numbers of several types")
        operators.demand_exact(w.b, value)
        w.arrays.flush()
        w.b.emit(Write(made, above, operators.converted(value, type.code)))
        return
    w.arrays.demand_same(extents[0], length(w, value))
    each(w, value, lambda place, item: _fill(w, made, (*above, place), item, type))


def nested(w: Writer, kind: Kind, values: Sequence[Value]) -> Value:
    """The cotangent of an array made of a list, as a list like that."""
    given, source = values
    if not isinstance(given, Held) or w.is_container(given):
        raise Refused("the cotangent of a list")
    return like(w, "bars", kind, source, lambda place, item, inside: _part(w, given.name, place, item, inside))


def _part(w: Writer, given: str, place: Expr, item: Value, kind: Kind) -> Value:
    """What one item gets of the cotangent of the whole."""
    if isinstance(kind, Obj):
        return _object(kind)
    rank = w.arrays.array(given).rank
    extents = w.arrays.extents(given)
    place = w.b.place(place, extents[0])
    if isinstance(kind, Num):
        if isinstance(item, Expr) and not item.type.is_float:
            return operators.converted(Const(0.0, FLOAT), scalar_type(kind).code)
        if rank != 1:
            raise Refused("the cotangent of a number among lists")
        return element(w, given, place, scalar_type(kind))
    row = w.arrays.view("row", given, [Pick(place), *(Span(ZERO, n) for n in extents[1:])], None)
    if isinstance(kind, Arr):
        return _copy_like(w, row, item)
    return nested(w, kind, (Held(row), item))


def element(w: Writer, array: str, place: Expr, type: Scalar) -> Expr:
    """An element as a number of this type."""
    found = w.b.let("e", w.arrays.read(array, (place,))) if not w.arrays.reads_pending(array) else None
    if found is None:
        w.arrays.flush()
        found = w.b.let("e", w.arrays.read(array, (place,)))
    return named(w, operators.converted(found, type.code), type)


def named(w: Writer, value: Expr, type: Scalar) -> Expr:
    """A number as one of this type."""
    name = w.b.fresh("part", type)
    w.b.assign(name, value)
    return Local(name, type)


def _copy_like(w: Writer, name: str, item: Value) -> Value:
    """A copy of an array, which has the shape of the item that it is a cotangent of."""
    if not isinstance(item, Held) or w.is_container(item):
        raise Refused("the cotangent of something among arrays")
    mine, its = w.arrays.extents(name), w.arrays.extents(item.name)
    if len(mine) != len(its):
        raise Refused("the cotangent of an array of another rank")
    for own, other in zip(mine, its, strict=True):
        w.arrays.demand_same(own, other)
    copied = array_operations.copied(w.arrays, name)
    w.arrays.flush()
    return Held(copied)


def _object(kind: Obj) -> Value:
    return None if kind.value is None else Known(kind.value)


# ---- sums, and the largest item ----


def repeated(w: Writer, kind: Kind, values: Sequence[Value]) -> Value:
    """The cotangent of Python's sum of a list: the same for each item."""
    given, source = values
    if w.is_container(given):
        raise Refused("the cotangent of a sum of lists")

    def share(place: Expr, item: Value, inside: Kind) -> Value:
        if isinstance(inside, Obj):
            return _object(inside)
        if isinstance(inside, Num):
            if isinstance(given, Held):
                raise Refused("the cotangent of a sum of numbers and arrays")
            zero = isinstance(item, Expr) and not item.type.is_float
            type = scalar_type(inside)
            return named(w, operators.converted(Const(0.0, FLOAT) if zero else given, type.code), type)
        if not isinstance(given, Held):
            raise Refused("the cotangent of a sum of numbers and arrays")
        return _copy_like(w, given.name, item)

    return like(w, "bars", kind, source, share)


def extreme(op: str) -> Callable[[Writer, Kind, Sequence[Value]], Value]:
    """Python's `max` or `min` of a list of numbers of one type: the first of those that none exceeds."""

    def rule(w: Writer, kind: Kind, values: Sequence[Value]) -> Value:
        if len(values) != 1 or not isinstance(kind, Num):
            raise Refused("the largest of several lists")
        type = scalar_type(kind)
        found = _items(w, values[0])
        if found is not None:
            if not found or not all(isinstance(item, Expr) and item.type.code == type.code for item in found):
                raise Refused("the largest of no numbers")
            return operators.apply(builtins.max if op == "gt" else builtins.min, w.b, found, type)
        inside = w.b.types[values[0].name]
        assert isinstance(inside, List)
        if not isinstance(inside.item, Scalar) or inside.item.code != type.code:
            raise Refused("the largest of what are no numbers")
        count, item_kind = length(w, values[0]), w.held_kinds[values[0].name]
        assert isinstance(item_kind, Box)
        w.b.check(Apply("lt", (ZERO, count), BOOL), Bail.EMPTY)
        best = w.b.fresh("best", type, steady=False)
        first = w.fetch("first", values[0].name, ZERO, inside.item, item_kind.region.root().any())
        w.b.assign(best, first)

        def better(place: Expr, item: Value) -> None:
            test = Apply(op, (item, Local(best, type)), BOOL)
            w.b.assign(best, Apply("select", (test, item, Local(best, type)), type))

        each(w, values[0], better)
        return named(w, Local(best, type), type)

    return rule


def best_shares(w: Writer, kind: Kind, values: Sequence[Value]) -> Value:
    """What each of several reals gets of the cotangent of their maximum or minimum."""
    given, best, candidates = values
    if not isinstance(candidates, tuple):
        raise Refused("the shares of these arguments")
    alone = len(candidates) == 1
    source = candidates[0] if alone else candidates
    if not (w.is_container(source) and isinstance(given, Expr) and isinstance(best, Expr)):
        raise Refused("the shares of these arguments")
    count = w.b.fresh("count", FLOAT, steady=False)
    w.b.assign(count, Const(0.0, FLOAT))

    def counted(place: Expr, item: Value) -> None:
        if not isinstance(item, Expr) or item.type.code != "f8" or best.type.code != "f8":
            raise Refused("the shares of what are no reals")
        more = Apply("convert", (Apply("eq", (item, best), BOOL),), FLOAT)
        w.b.assign(count, Apply("add", (Local(count, FLOAT), more), FLOAT))

    each(w, source, counted)
    w.b.check(Apply("lt", (Const(0.0, FLOAT), Local(count, FLOAT)), BOOL), Bail.ZERO_DIVISION)
    part = named(w, Apply("div", (given, Local(count, FLOAT)), given.type), given.type)

    def share(place: Expr, item: Value, inside: Kind) -> Value:
        if not isinstance(inside, Num):
            raise Refused("the shares of what are no reals")
        type = scalar_type(inside)
        test = Apply("eq", (item, best), BOOL)
        return named(w, Apply("select", (test, part, operators.converted(Const(0.0, FLOAT), type.code)), type), type)

    if not isinstance(kind, Box):
        raise Refused("the shares of these arguments")
    if not alone:
        return like(w, "shares", kind, source, share)
    (inside,) = (place.kind for place in (places(kind) or {}).values())
    return (like(w, "shares", inside, source, share),)


RULES: dict[Any, Callable[[Writer, Kind, Sequence[Value]], Value]] = {
    np.array: array_of,
    np.asarray: array_of,
    arrays.nested: nested,
    arrays.repeated: repeated,
    builtins.max: extreme("gt"),
    builtins.min: extreme("lt"),
}
"""What becomes of functions whose argument is a list, or for which one is made."""
