"""Whole containers: zeros, copies, sums and public cotangents."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Sequence
from functools import partial

from tangentx.analysis.types.kinds import Arr, Box, Kind, Num, Obj
from tangentx.loops import array_operations, operators
from tangentx.loops.array_statements import ONE, ZERO, Held
from tangentx.loops.loop_ir import (
    FLOAT,
    INT,
    Array,
    Const,
    Expr,
    Fetch,
    For,
    Known,
    Length,
    List,
    Local,
    NewList,
    Owner,
    Push,
    Record,
    Scalar,
)
from tangentx.loops.operators import Refused
from tangentx.loops.types import (
    Value,
    array_type,
    known_object,
    places,
    scalar_type,
    type_of,
)
from tangentx.loops.writer import Writer


def zero_of_container(w: Writer, kind: Kind, values: Sequence[Value]) -> Value:
    """The zero cotangent of a container."""
    if len(values) > 1:
        raise Refused("a zero in which memory is shared as in a container")
    return mapped(w, "zero", values[0], kind, partial(zero_of, w))


def zero_of(w: Writer, stem: str, value: Value, kind: Kind) -> Value:
    """The zero cotangent of a number or an array."""
    if isinstance(kind, Num):
        return operators.converted(Const(0, INT), scalar_type(kind).code)
    if not isinstance(value, Held) or not isinstance(kind, Arr):
        raise Refused("the zero of something in a container")
    return Held(w.arrays.allocate(stem, array_type(kind), w.arrays.extents(value.name), kind.region))


def copied_container(w: Writer, kind: Kind, values: Sequence[Value]) -> Value:
    """A deep copy of arguments; `entry_copies` gives a tuple of those of all."""
    return mapped(w, "copy", values[0], kind, partial(copy_of, w))


def copied_arguments(w: Writer, kind: Kind, values: Sequence[Value]) -> Value:
    """Deep copies of several arguments."""
    kinds = [place.kind for place in (places(kind) or {}).values()] if isinstance(kind, Box) else []
    if len(kinds) != len(values):
        raise Refused("copies of several arguments")
    return tuple(mapped(w, "copy", value, k, partial(copy_of, w)) for value, k in zip(values, kinds, strict=True))


def copy_of(w: Writer, stem: str, value: Value, kind: Kind) -> Value:
    """A copy of a number or an array."""
    if not isinstance(value, Held):
        return value
    if not isinstance(kind, Arr):
        raise Refused("a copy of something in a container")
    name = array_operations.copied(w.arrays, value.name)
    w.arrays.memory[name].region = kind.region
    w.arrays.flush()
    return Held(name)


def finished_container(w: Writer, kind: Kind, values: Sequence[Value]) -> Value:
    """The cotangent of a container as it is given back."""
    return finished(w, values[0], kind)


def finished(w: Writer, value: Value, kind: Kind) -> Value:
    """The cotangent of a part of a container, as it is given back."""
    if isinstance(kind, Obj):
        return known_object(kind)
    if isinstance(kind, Num):
        if w.is_container(value) or isinstance(value, Known):
            raise Refused("the cotangent of a number in a container")
        given = Const(0.0, FLOAT) if value is None else array_operations.scalar(w.arrays, value)  # type: ignore[arg-type]
        type = scalar_type(kind)
        return named_number(w, "bar", operators.converted(given, type.code), type)
    if not isinstance(kind, Box):
        if not isinstance(value, Held) or w.is_container(value):
            raise Refused("the cotangent of an array in a container")
        return value
    if isinstance(value, Held) and isinstance(w.b.types[value.name], List):
        return mapped_list(w, "bars", value, kind, lambda stem, item, inside: finished(w, item, inside))
    items = places(kind)
    given_items: dict[object, Value] = dict(enumerate(value)) if isinstance(value, tuple) else {}
    if isinstance(value, Held) and not isinstance(w.b.types[value.name], Array):
        given_items = {k: w.fetched("bar", value.name, item) for k, item in w.items_of(value.name).items()}
    if items is None:
        raise Refused("the cotangent of a list")
    made = {key: finished(w, given_items.get(key), item.kind) for key, item in items.items()}
    return tuple(made.values()) if kind.cls is tuple else w.new_record("bars", kind, made)


def named_number(w: Writer, stem: str, value: Expr, type: Scalar) -> Value:
    """A number as one of this type."""
    name = w.b.fresh(stem, type)
    w.b.assign(name, value)
    return Local(name, type)


def mapped(w: Writer, stem: str, value: Value, kind: Kind, change: Callable[[str, Value, Kind], Value]) -> Value:
    """A new container like another one, with what `change` makes of each of its numbers and arrays."""
    if isinstance(kind, Obj):
        return known_object(kind)
    if not isinstance(kind, Box):
        if w.is_container(value):
            raise Refused("a container becomes something else")
        return change(stem, value, kind)
    items = places(kind)
    if isinstance(value, Held) and isinstance(w.b.types[value.name], List):
        return mapped_list(w, stem, value, kind, change)
    given: dict[object, Value] = dict(enumerate(value)) if isinstance(value, tuple) else {}
    if isinstance(value, Held):
        given = {key: w.fetched("item", value.name, item) for key, item in w.items_of(value.name).items()}
    if items is None or items.keys() != given.keys():
        raise Refused("a container becomes another one")
    made = {key: mapped(w, stem, given[key], item.kind, change) for key, item in items.items()}
    return tuple(made.values()) if kind.cls is tuple else w.new_record(stem, kind, made)


def mapped_list(w: Writer, stem: str, value: Held, kind: Box, change: Callable[[str, Value, Kind], Value]) -> Value:
    """A new list like another one."""
    type, source = type_of(kind), w.b.types[value.name]
    if not isinstance(type, List) or not isinstance(source, List):
        raise Refused("a list becomes another container")
    before = w.held_kinds[value.name]
    assert isinstance(before, Box)
    w.arrays.flush()
    made, counter = w.b.fresh(stem, type), w.b.fresh("k", INT)
    w.held_kinds[made] = kind
    w.b.emit(NewList(made))
    count = w.b.let("n", Length(value.name))
    with w.b.block() as body:
        item = w.fetch("item", value.name, Local(counter, INT), source.item, before.region.root().any())
        inside = kind.region.root().any()
        w.b.emit(Push(made, w.stored(mapped(w, stem, item, inside, change), inside)))
        w.arrays.flush()
    w.b.emit(For(counter, ZERO, count, ONE, False, tuple(body)))
    return Held(made)


def sum_of_container(w: Writer, kind: Kind, values: Sequence[Value]) -> Value:
    """Python's sum of numbers: one after the other."""
    if not isinstance(kind, Num) or (len(values) > 1 and not isinstance(values[1], Const)):
        raise Refused("a sum of this container")
    result = scalar_type(kind)
    start = operators.converted(values[1] if len(values) > 1 else Const(0, INT), result.code)  # type: ignore[arg-type]
    (value, *_) = values
    given: dict[object, Value] = dict(enumerate(value)) if isinstance(value, tuple) else {}
    if isinstance(value, Held) and isinstance(w.b.types[value.name], Record):
        given = {key: w.fetched("item", value.name, item) for key, item in w.items_of(value.name).items()}
    elif isinstance(value, Held):
        return total_of_list(w, value, result, start)
    for item in given.values():
        if not isinstance(item, Expr):
            raise Refused("a sum of what are no numbers")
        start = w.b.let("sum", operators.apply(operator.add, w.b, [start, item], result))
    return start


def total_of_list(w: Writer, value: Held, result: Scalar, start: Expr) -> Value:
    """Python's sum of a list of numbers."""
    type = w.b.types[value.name]
    if not isinstance(type, List) or not isinstance(type.item, Scalar) or result.code == "i8":
        raise Refused("a sum of what are no reals")
    if sys.version_info >= (3, 12) and type.item.owner is not Owner.NUMPY:
        raise Refused("a sum of Python's reals, which Python compensates for rounding")
    name, item, counter = (
        w.b.fresh("sum", result, steady=False),
        w.b.fresh("item", type.item),
        w.b.fresh("k", INT),
    )
    w.b.assign(name, start)
    with w.b.block() as body:
        w.b.emit(Fetch(item, value.name, Local(counter, INT)))
        more = operators.apply(operator.add, w.b, [Local(name, result), Local(item, type.item)], result)
        w.b.assign(name, more)
    w.b.emit(For(counter, ZERO, w.b.let("n", Length(value.name)), ONE, False, tuple(body)))
    return Local(name, result)
