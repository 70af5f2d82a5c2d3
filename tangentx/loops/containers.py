"""Containers: items of lists and records read, written, appended and deleted."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from tangentx.analysis.types.kinds import Arr, Box, Kind, Num, Obj
from tangentx.ir import nodes as ir
from tangentx.loops import operators
from tangentx.loops.array_statements import Held
from tangentx.loops.loop_ir import (
    BOOL,
    INT,
    Apply,
    Array,
    Assign,
    Bail,
    Bind,
    Const,
    Expr,
    Fetch,
    If,
    Known,
    Length,
    List,
    Local,
    Locate,
    NewList,
    Pull,
    Push,
    Put,
    Record,
    Scalar,
    Statement,
    Type,
)
from tangentx.loops.operators import Refused
from tangentx.loops.types import (
    Place,
    Slicing,
    Value,
    places,
    region_of,
    scalar_type,
    type_of,
)
from tangentx.loops.writer import Writer


def append_item(w: Writer, s: ir.Append) -> None:
    """An item at the end of a list."""
    name = w.held(s.base)
    kind = w.held_kinds.get(name)
    if not isinstance(w.b.types[name], List) or not isinstance(kind, Box):
        raise Refused("something is appended to what is no list")
    inside = kind.region.root().any()
    value = w.value(s.value)
    if isinstance(inside, Obj):
        raise Refused("a list of objects")
    item = w.b.types[name]
    assert isinstance(item, List)
    w.grows.setdefault(name, (item.item, w.line))
    stored = w.stored(value, inside)
    if isinstance(s.base, ir.Var) and s.base.name in w.tapes and isinstance(item.item, Array):
        assert isinstance(stored, str)
        w.shapes.hold(s.base.name, w.arrays.extents(stored))
    w.b.emit(Push(name, stored))


def item_place(w: Writer, name: str, key: object) -> Place:
    """Where a record has the item of a key."""
    kind = w.held_kinds[name]
    items = places(kind) if isinstance(kind, Box) else None
    if items is None:
        raise Refused("an item of a list by its name")
    if isinstance(key, int) and key not in items and isinstance(kind, Box) and issubclass(kind.cls, tuple | list):
        key = list(items)[key] if -len(items) <= key < len(items) else key
    if key not in items:
        raise Refused(f"an item {key!r} that is not known")
    return items[key]


def key_of(w: Writer, key: ir.Key) -> object:
    """The key of an item, which has to be a constant; a number of the program as an expression."""
    if len(key.parts) != 1 or isinstance(key.parts[0], ir.Slice):
        raise Refused("a part of a container")
    found = w.value(key.parts[0])
    if isinstance(found, Const | Known):
        return found.value
    if isinstance(found, tuple | Held | Slicing) or found is None:
        raise Refused("an item by a key that is no number")
    return found


def item_by_key(w: Writer, stem: str, name: str, key: object) -> Value:
    """An item of a list or a record."""
    type, kind = w.b.types[name], w.held_kinds[name]
    assert isinstance(kind, Box)
    if isinstance(type, List):
        return w.fetch(stem, name, list_place(w, name, key), type.item, kind.region.root().any())
    if isinstance(key, Expr):
        return item_by_number(w, stem, name, key)
    return w.fetched(stem, name, item_place(w, name, key))


def item_by_number(w: Writer, stem: str, name: str, key: Expr) -> Value:
    """An item of a record by a key that only the program knows; all items are of one type."""
    kinds = [place.kind for place in w.items_of(name).values()]
    type = w.b.types[name]
    assert isinstance(type, Record)
    types = {type.items[stored_at(w, place)] for place in w.items_of(name).values()}
    if len(types) != 1 or not isinstance(kinds[0], Num | Arr):
        raise Refused("an item of several kinds at a place that is not known")
    (inside,) = types
    w.arrays.flush()
    found = w.b.fresh(stem, inside, steady=False)
    by_number(w, name, key, lambda place: Fetch(found, name, Const(place, INT)))
    made = w.b.fresh(stem, inside)
    w.b.emit(Assign(made, Local(found, inside)) if isinstance(inside, Scalar) else Bind(made, found))
    value = w.found(made, inside, kinds[0])
    if made in w.arrays.memory and any(region_of(kind) is not region_of(kinds[0]) for kind in kinds):
        w.arrays.memory[made].region = None
    return value


def stored_at(w: Writer, place: Place) -> int:
    """Where a record keeps an item that it always has, and that is no object."""
    if place.item is None or place.there is not None:
        raise Refused("an item that may be missing, at a place that is not known")
    return place.item


def by_number(w: Writer, name: str, key: Expr, made: Callable[[int], Statement]) -> None:
    """Does something with the item of a record that a number stands for; bails out where there is none."""
    kind = w.held_kinds[name]
    assert isinstance(kind, Box)
    items = w.items_of(name)
    if key.type.code not in ("i8", "b1") or not all(type(k) is int for k in items):
        raise Refused("an item by what is no whole number")
    key = w.b.let("k", operators.converted(key, "i8"))
    if issubclass(kind.cls, list | tuple):
        place = w.b.fresh("k", INT)
        w.b.emit(Locate(place, key, Const(len(items), INT)))
        key = Local(place, INT)
    with w.b.block() as rest:
        w.b.check(Const(False, BOOL), Bail.RAISED)
    for number, item in reversed(items.items()):
        test = Apply("eq", (key, Const(number, INT)), BOOL)  # type: ignore[arg-type]
        rest = [If(test, (made(stored_at(w, item)),), tuple(rest))]
    w.b.emit(*rest)


def list_place(w: Writer, name: str, key: object) -> Expr:
    """The place of an index in a list."""
    index = Const(key, INT) if isinstance(key, int) else key
    if not isinstance(index, Expr) or index.type.code not in ("i8", "b1"):
        raise Refused("an item of a list by what is no whole number")
    place = w.b.fresh("k", INT)
    w.b.emit(Locate(place, operators.converted(index, "i8"), w.b.let("n", Length(name))))
    return Local(place, INT)


def store_item(w: Writer, name: str, key: object, value: Value, add: bool) -> None:
    """An item of a container is written, or added to."""
    w.arrays.flush()
    type, kind = w.b.types[name], w.held_kinds[name]
    assert isinstance(kind, Box)
    if isinstance(type, List):
        place, inside, there = list_place(w, name, key), kind.region.root().any(), None
    else:
        if isinstance(key, Expr):
            store_by_number(w, name, key, value, add)
            return
        item = item_place(w, name, key)
        inside, there = item.kind, item.there
        place = Const(-1 if item.item is None else item.item, INT)
    if isinstance(inside, Obj):
        if not (value is None or isinstance(value, Known)):
            raise Refused("an object among numbers, arrays and containers")
    else:
        if add:
            value = sum_of_item(w, name, place, type, inside, value)
        w.b.emit(Put(name, place, w.stored(value, inside)))
    if there is not None:
        w.b.emit(Put(name, Const(there, INT), Const(True, BOOL)))


def store_by_number(w: Writer, name: str, key: Expr, value: Value, add: bool) -> None:
    """An item of a record is written, or added to, by a key that only the program knows."""
    kinds = [place.kind for place in w.items_of(name).values()]
    if not all(isinstance(kind, Num) for kind in kinds):
        raise Refused("an item at a place that is not known is written")
    key = w.b.let("k", key)
    if add:
        old = item_by_number(w, "item", name, key)
        value = operators.apply(operator.add, w.b, [old, value], scalar_type(kinds[0]))  # type: ignore[arg-type, list-item]
    stored = w.stored(value, kinds[0])
    by_number(w, name, key, lambda place: Put(name, Const(place, INT), stored))


def sum_of_item(w: Writer, name: str, place: Expr, type: Type, kind: Kind, value: Value) -> Value:
    """An item and what is added to it."""
    inside = type.item if isinstance(type, List) else type.items[int(place.value)]  # type: ignore[union-attr]
    if not isinstance(kind, Num) or value is None or isinstance(value, Held | Known | tuple):
        raise Refused("an array in a container is added to in place")
    old = w.fetch("item", name, place, inside, kind)
    return operators.apply(operator.add, w.b, [old, value], scalar_type(kind))  # type: ignore[list-item]


def delete_item(w: Writer, s: ir.Delete) -> None:
    """An item of a record that may be missing is taken away."""
    w.arrays.flush()
    name = w.held(s.base)
    if not isinstance(w.b.types[name], Record):
        raise Refused("an item of a list is deleted")
    item = item_place(w, name, key_of(w, s.key))
    if item.there is None:
        raise Refused("an item that every such container has is deleted")
    w.fetched("item", name, item)
    w.b.emit(Put(name, Const(item.there, INT), Const(False, BOOL)))


def has_item(w: Writer, base: Value, key: Value) -> Expr:
    """Whether a record has an item."""
    if not isinstance(base, Held) or not isinstance(key, Known | Const):
        raise Refused("the question whether something has an item")
    kind = w.held_kinds.get(base.name)
    items = places(kind) if isinstance(kind, Box) else None
    if items is None:
        raise Refused("the question whether a list has an item")
    if key.value not in items or items[key.value].there is None:
        return Const(key.value in items, BOOL)
    there = w.b.fresh("there", BOOL)
    w.b.emit(Fetch(there, base.name, Const(items[key.value].there, INT)))  # type: ignore[arg-type]
    return Local(there, BOOL)


def new_container(w: Writer, target: str, made: ir.Make) -> Value:
    """A list or a record."""
    kind = w.kind(target)
    if not isinstance(kind, Box) or kind.cls is not made.cls:
        raise Refused(f"a new {made.cls.__name__}")
    keys = range(len(made.items)) if made.keys is None else made.keys
    values = [w.value(item) for item in made.items]
    if places(kind) is not None:
        return w.new_record(w.stem(target), kind, dict(zip(keys, values, strict=True)))
    name = w.b.fresh(w.stem(target), type_of(kind))
    w.held_kinds[name] = kind
    w.arrays.flush()
    w.b.emit(NewList(name))
    inside = kind.region.root().any()
    for value in values:
        w.b.emit(Push(name, w.stored(value, inside)))
    return Held(name)


def popped_item(w: Writer, target: str, base: ir.Var) -> Value:
    """The last item of a list."""
    w.arrays.flush()
    name = w.held(base)
    type, kind = w.b.types[name], w.held_kinds.get(name)
    if not isinstance(type, List) or not isinstance(kind, Box):
        raise Refused("`pop` of what is no list")
    item = w.b.fresh(w.stem(target) if w.bound[target] == 1 else "t", type.item)
    w.b.emit(Pull(name, item))
    found = w.found(item, type.item, kind.region.root().any())
    if isinstance(type.item, Array) and (shape := w.shapes.of(base.name)) is not None:
        w.b.extents[item] = shape
    return found


def length_of_container(w: Writer, kind: Kind, values: Sequence[Value]) -> Value:
    """How many items a container has."""
    (value,) = values
    if not isinstance(value, Held):
        return Const(len(value), INT)  # type: ignore[arg-type]
    if isinstance(w.b.types[value.name], List):
        return w.b.let("n", Length(value.name))
    items = w.items_of(value.name)
    count: Expr = Const(sum(item.there is None for item in items.values()), INT)
    for key, item in items.items():
        if item.there is not None:
            more = operators.converted(has_item(w, value, Known(key)), "i8")
            count = w.b.let("n", Apply("add", (count, more), INT))
    return count


def chosen(w: Writer, stem: str, items: tuple[Value, ...], place: Expr, kind: Kind) -> Value:
    """The item of a tuple of values of one kind, at a place that only the program knows."""
    type = type_of(kind, inside=True)
    values = [w.stored(item, kind) for item in items]
    if any((w.b.types[v] if isinstance(v, str) else v.type) != type for v in values if isinstance(v, str)):
        raise Refused("an item of a tuple of several kinds at a place that is not known")
    w.arrays.flush()
    name = w.b.fresh("items", List(type))
    w.b.emit(NewList(name), *(Push(name, value) for value in values))
    return w.fetch(stem, name, list_place(w, name, place), type, kind)
