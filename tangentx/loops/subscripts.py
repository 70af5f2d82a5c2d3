"""Subscripts: elements, views, slices, index arrays and masks, read and written."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tangentx.analysis.types.kinds import BOTTOM, Arr
from tangentx.ir import nodes as ir
from tangentx.loops import array_operations, calls, containers, list_operations, operators
from tangentx.loops.array_statements import ONE, ZERO, Held
from tangentx.loops.builder import LIMIT_EXTENT
from tangentx.loops.loop_ir import (
    BOOL,
    INT,
    Apply,
    Array,
    Bail,
    Const,
    Expr,
    Known,
    NewAxis,
    Outside,
    OutsideCall,
    Pick,
    Read,
    Record,
    Span,
    Write,
)
from tangentx.loops.operators import Refused
from tangentx.loops.types import (
    Maybe,
    Slicing,
    Value,
    is_value,
    item_at,
    items_of_slice,
    region_of,
    whole_number,
    written_value,
)
from tangentx.loops.writer import Writer


def attribute_of(w: Writer, target: str, base: ir.Atom, name: str) -> Value:
    """What is known of an array."""
    held = w.held(base)
    type = w.b.types[held]
    if isinstance(type, Record):
        return containers.item_by_key(w, w.stem(target), held, name)
    if isinstance(type, Array) and name == "shape":
        return w.arrays.extents(held)
    if isinstance(type, Array) and name == "T":
        kind = w.kind(target)
        return Held(w.arrays.turned(held, tuple(reversed(range(type.rank))), region_of(kind)))
    if isinstance(type, Array) and name == "ndim":
        return Const(type.rank, INT)
    if isinstance(type, Array) and name == "size":
        return array_operations.size(w.arrays, held)
    raise Refused(f"the attribute `{name}`")


def element_or_view(w: Writer, target: str, base: ir.Atom, key: ir.Key) -> Value:
    """An element, a view, or an item of a tuple."""
    found = w.present(w.value(base))
    if isinstance(found, tuple):
        if len(key.parts) == 1 and isinstance(part := resolved(w, key)[0], Slicing):
            return items_of_slice(found, part)
        place = w.value(key.parts[0]) if len(key.parts) == 1 and is_value(key.parts[0]) else None
        if isinstance(place, Expr) and not isinstance(place, Const):
            return containers.chosen(w, w.stem(target), found, place, w.kind(target))
        if not isinstance(place, Const):
            raise Refused("an item of a tuple at a place that is not known")
        return item_at(found, int(place.value))
    name = w.held(base)
    if not isinstance(w.b.types[name], Array):
        return containers.item_by_key(w, w.stem(target), name, containers.key_of(w, key))
    if is_fancy(w, key):
        given = [Held(name), fancy_key(w, key)]
        request = array_operations.Request(operator.getitem, given, {}, w.kind(target), w.stem(target), 1)
        return calls.outside_call(w, request)
    parts = parts_of_key(w, name, key)
    if all(isinstance(p, Pick) for p in parts):
        return w.element(name, tuple(p.place for p in parts if isinstance(p, Pick)))
    kind = w.kind(target)
    return Held(w.arrays.view(w.stem(target), name, parts, kind.region if isinstance(kind, Arr) else None))


def is_fancy(w: Writer, key: ir.Key) -> bool:
    """Whether a key has arrays of places, or masks."""
    found = [w.value(part) for part in key.parts if isinstance(part, ir.Var)]
    if len(key.parts) == 1 and found and isinstance(found[0], tuple):
        found = list(found[0])
    return any(w.is_container(x) or (isinstance(x, Held) and w.arrays.array(x.name).rank) for x in found)


def fancy_key(w: Writer, key: ir.Key) -> Value:
    """Such a key, as a function of Python takes it."""
    parts: list[Value] = []
    for part in key.parts:
        if isinstance(part, ir.Slice):
            ends = (part.start, part.stop, part.step)
            if not all(isinstance(end, ir.Lit) for end in ends):
                raise Refused("arrays of places beside a slice")
            parts.append(Known(slice(*(end.value for end in ends))))  # type: ignore[arg-type, union-attr]
        else:
            parts.append(Known(Ellipsis) if part == ir.Lit(Ellipsis) else w.value(part))
    return tuple(parts) if key.many or len(parts) > 1 else parts[0]


def store_fancy(w: Writer, name: str, key: ir.Key, value: Value, add: bool) -> None:
    """Writes elements at arrays of places, or adds to each of them."""
    fn: Callable[..., Any] = np.add.at if add else operator.setitem
    given: list[Any] = [Held(name), fancy_key(w, key), value]
    w.arrays.flush()
    request = array_operations.Request(fn, given, {}, BOTTOM, "", 1)
    out: list[Expr | str] = []
    args = tuple(calls.outside_form(w, v, request, out) for v in given)
    types = tuple(w.b.types[v] if isinstance(v, str) else v.type for v in out)
    w.b.emit(Outside((), len(w.functions.outside), tuple(out)))
    w.functions.outside.append(OutsideCall(fn, args, (), types, (), ()))  # type: ignore[arg-type]


def parts_of_key(w: Writer, name: str, key: ir.Key) -> list[Pick | Span | NewAxis]:
    """The places that a key stands for."""
    extents = list(w.arrays.extents(name))
    given = resolved(w, key)
    rest = [Slicing()] * (len(extents) - sum(p is not None and p is not Ellipsis for p in given))
    place = next((k for k, p in enumerate(given) if p is Ellipsis), None)
    given[len(given) if place is None else place : len(given) if place is None else place + 1] = rest
    found: list[Pick | Span | NewAxis] = []
    for part in given:
        if part is None:
            found.append(NewAxis())
        elif isinstance(part, Slicing):
            found.append(span_of_slice(w, part, extents.pop(0)))
        else:
            found.append(Pick(w.b.place(whole_number(part), extents.pop(0))))
    return found


def resolved(w: Writer, key: ir.Key) -> list[object]:
    """The parts of a key: numbers, slices, None for a new axis, and the ellipsis."""
    found: list[object] = []
    for part in key.parts:
        if isinstance(part, ir.Slice):
            ends = (part.start, part.stop, part.step)
            found.append(Slicing(*(None if x == ir.Lit(None) else w.scalar(x) for x in ends)))
        elif part == ir.Lit(Ellipsis):
            found.append(Ellipsis)
        elif isinstance(value := w.value(part), tuple) and len(key.parts) == 1:
            found += [Ellipsis if isinstance(x, Known) else x for x in value]
        else:
            found.append(value if value is None or isinstance(value, Slicing) else w.scalar(part))
    return found


def span_of_slice(w: Writer, part: Slicing, extent: Expr) -> Span:
    """The places of a slice."""
    start, stop, step = part.start, part.stop, part.step
    if any(x is not None and x.type.code != "i8" for x in (start, stop, step)):
        raise Refused("bounds of a slice that are no whole numbers")
    if step is not None and not (isinstance(step, Const) and step.value):
        raise Refused("a slice whose step is not known")
    return w.arrays.span(start, stop, int(step.value) if isinstance(step, Const) else 1, extent)


def indices(w: Writer, values: Sequence[Value]) -> Value:
    """The bounds of a slice in a sequence of some length, as Python has them."""
    part, count = values
    if not isinstance(part, Slicing) or not isinstance(count, Expr):
        raise Refused("the bounds of this slice")
    step = ONE if part.step is None else part.step
    if not isinstance(step, Const) or step.value <= 0:
        raise Refused("the bounds of a slice that goes backwards")
    ends = (part.start or ZERO, count if part.stop is None else part.stop)
    return (*(clamped(w, end, count) for end in ends), step)


def clamped(w: Writer, end: Expr, count: Expr) -> Expr:
    """A bound of a slice between 0 and the length."""
    if end in (ZERO, count):
        return end
    end = w.b.let("k", operators.converted(end, "i8"))
    w.b.check(Apply("lt", (Apply("abs", (end,), INT), Const(LIMIT_EXTENT, INT)), BOOL), Bail.INTEGER)
    more = Apply("select", (Apply("lt", (end, ZERO), BOOL), Apply("add", (end, count), INT), end), INT)
    end = w.b.let("k", more)
    low = Apply("select", (Apply("lt", (end, ZERO), BOOL), ZERO, end), INT)
    return w.b.let("k", Apply("select", (Apply("lt", (count, end), BOOL), count, low), INT))


def fitting(w: Writer, values: Sequence[Value]) -> Value:
    """What is taken apart into so many arguments; bails out where it has another length."""
    value, count = values
    assert isinstance(count, Const)
    held = isinstance(value, Held) and not w.is_container(value)
    length = w.arrays.extents(value.name)[0] if held else list_operations.length(w, value)  # type: ignore[union-attr]
    w.arrays.demand_same(length, count)
    return value


def shares_memory(w: Writer, values: Sequence[Value]) -> Value:
    """Whether an array is a view of another one: what is reshaped here is, or the program bails out."""
    if not all(isinstance(v, Held) and v.name in w.arrays.memory for v in values):
        return Const(False, BOOL)
    x, y = (w.arrays.memory[v.name] for v in values)  # type: ignore[union-attr]
    if x.root is None or y.root is None:
        raise Refused("whether arrays share memory of which little is known")
    if x.root != y.root and x.foreign and y.foreign:
        raise Refused("whether two arguments share memory")
    if x.root != y.root:
        return Const(False, BOOL)
    if x.parts[: len(y.parts)] != y.parts and y.parts[: len(x.parts)] != x.parts:
        raise Refused("whether two parts of an array share memory")
    return Const(True, BOOL)


def equal_lengths(w: Writer, values: Sequence[Value]) -> Value:
    """The length that all of several have; bails out where they differ."""
    for other in values[1:]:
        w.arrays.demand_same(values[0], other)  # type: ignore[arg-type]
    return values[0]


def slicing(w: Writer, args: Sequence[object]) -> Slicing:
    """A slice that is made as an object."""
    if not all(x is None or isinstance(x, Expr) for x in args):
        raise Refused("a slice between what are no numbers")
    return Slicing(*(args if len(args) > 1 else (None, *args)))  # type: ignore[arg-type]


def store_elements(w: Writer, base: ir.Atom, key: ir.Key, given: ir.Atom, *, add: bool, repeats: bool = False) -> None:
    """Writes elements, or adds to them."""
    name = w.held(base)
    type = w.b.types[name]
    if not isinstance(type, Array):
        containers.store_item(w, name, containers.key_of(w, key), w.value(given), add)
        return
    if w.arrays.memory[name].foreign:
        raise Refused("memory of others is written")
    value = w.present(w.value(given))
    if value is None or isinstance(value, tuple | Known | Slicing | Maybe):
        raise Refused("an array is written with what is no number")
    if repeats or is_fancy(w, key):
        store_fancy(w, name, key, value, add)
        return
    parts = parts_of_key(w, name, key)
    if not isinstance(value, Held) and all(isinstance(p, Pick) for p in parts):
        w.arrays.flush()
        places = tuple(p.place for p in parts if isinstance(p, Pick))
        old = Read(name, places, type.element)
        w.b.emit(Write(name, places, written_value(old, value, add)))
        return
    into = w.arrays.view(f"{name}_part", name, parts, w.arrays.memory[name].region)
    array_operations.write(w.arrays, into, value, add)
