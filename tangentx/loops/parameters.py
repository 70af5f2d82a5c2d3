"""Parameters: the entry's arguments taken apart into numbers and arrays, and those of compiled callees."""

from __future__ import annotations

from collections.abc import Iterator

from tangentx.analysis.types.kinds import BOTTOM, Arr, Box, Kind, Num, Obj, describe
from tangentx.ir import nodes as ir
from tangentx.loops.array_statements import ONE, ZERO, Held
from tangentx.loops.loop_ir import (
    INT,
    Array,
    Expr,
    Extent,
    For,
    Form,
    Items,
    Known,
    List,
    Local,
    NewList,
    Owned,
    Owner,
    Parts,
    Push,
    Read,
    Scalar,
    dtype_of,
)
from tangentx.loops.operators import Refused
from tangentx.loops.types import (
    MISSING,
    Given,
    Maybe,
    Slicing,
    Value,
    identifier,
    known_object,
    places,
    surely,
    type_of,
)
from tangentx.loops.writer import Writer


def argument_of_entry(w: Writer, name: str) -> Form:
    """A parameter of the entry; gives the form of the argument, as `entry` takes it apart."""
    value, form = part_of_argument(w, identifier(name), w.kind(name))
    w.values[name], w.forms[name] = value, form
    if w.bound[name] != 1:
        del w.values[name]
        w.bind(name, value)
    return form


def part_of_argument(w: Writer, stem: str, kind: Kind) -> tuple[Value, Form]:
    """The value of an argument, or of a part of one, and its form."""
    if isinstance(kind, Obj):
        return known_object(kind), None
    if isinstance(kind, Num | Arr):
        value = w.parameter(stem, type_of(kind), kind, foreign=True)
        owned = isinstance(value, Local) and value.name in w.b.owners
        place = len(w.b.params) - 1 - owned
        return value, Owned(place, place + 1) if owned else place
    if not isinstance(kind, Box):
        raise Refused(f"{describe(kind)} has no type in the loop language")
    items = places(kind)
    if items is None:
        return list_argument(w, stem, kind)
    if any(item.there is not None for item in items.values()):
        raise Refused(f"{describe(kind)} whose items are not all known")
    found = {key: part_of_argument(w, identifier(f"{stem}_{key}"), item.kind) for key, item in items.items()}
    form = Parts(kind.cls, tuple((key, form) for key, (_, form) in found.items()))
    values = tuple(value for value, _ in found.values())
    return (values if kind.cls is tuple else w.new_record(stem, kind, dict(zip(items, values)))), form


def list_argument(w: Writer, stem: str, kind: Box) -> tuple[Value, Form]:
    """A list of numbers, which is handed in as an array."""
    type = type_of(kind)
    assert isinstance(type, List)
    item = type.item
    if not isinstance(item, Scalar) or item.owner is Owner.EITHER:
        raise Refused(f"{describe(kind)} of what are not numbers of one type")
    array = w.parameter(f"{stem}_items", Array(item.code, 1), Arr(dtype_of(item.code), 1, kind.region), True)
    assert isinstance(array, Held)
    place = len(w.b.params) - 1
    made = w.b.fresh(stem, type)
    w.held_kinds[made] = kind
    counter = w.b.fresh("k", INT)
    w.b.emit(NewList(made))
    with w.b.block() as body:
        w.b.emit(Push(made, Read(array.name, (Local(counter, INT),), item)))
    w.b.emit(For(counter, ZERO, Extent(array.name, 0), ONE, False, tuple(body)))
    return Held(made), Items(place, item.owner)


def bind_parameter(w: Writer, param: ir.Param, form: object) -> None:
    """A parameter of a function that is called, for the form of the argument."""
    if form is MISSING:
        if param.default is None:
            raise Refused(f"a call without the argument `{param.name}`")
        value = w.value(param.default)
    else:
        value = received(w, identifier(param.name), form, w.kinds.get(param.name, BOTTOM))
    if w.bound[param.name] == 1:
        w.values[param.name] = value
    else:
        w.bind(param.name, value)


def received(w: Writer, stem: str, form: object, kind: Kind) -> Value:
    """The value of a parameter of this form."""
    if isinstance(form, Given):
        return w.parameter(stem, form.type, form.kind or kind, form.foreign, form.owned)
    if isinstance(form, tuple):
        inside = [kind.region.get(k) if isinstance(kind, Box) else BOTTOM for k in range(len(form))]
        return tuple(received(w, f"{stem}_{k}", f, inside[k]) for k, f in enumerate(form))
    if isinstance(form, Maybe):
        held = received(w, stem, form.value, surely(kind))  # in the order in which it is handed over
        return Maybe(held, received(w, f"{stem}_is_none", form.absent, BOTTOM))  # type: ignore[arg-type]
    if isinstance(form, Slicing):
        ends = (form.start, form.stop, form.step)
        return Slicing(*(received(w, f"{stem}_{k}", end, BOTTOM) for k, end in enumerate(ends)))  # type: ignore[arg-type]
    assert form is None or isinstance(form, Known)
    return form


def handed(w: Writer, value: Value, out: list[Expr | str]) -> object:
    """The form of an argument of a call; its numbers and names go to `out`."""
    if isinstance(value, tuple):
        return tuple(handed(w, item, out) for item in value)
    if value is None or isinstance(value, Known):
        return value
    if isinstance(value, Maybe):
        return Maybe(handed(w, value.value, out), handed(w, value.absent, out))  # type: ignore[arg-type]
    if isinstance(value, Slicing):
        return Slicing(*(handed(w, x, out) for x in (value.start, value.stop, value.step)))  # type: ignore[arg-type]
    if isinstance(value, Held):
        w.kept(value)
        out.append(value.name)
        type = w.b.types[value.name]
        memory = w.arrays.memory.get(value.name)
        kind = w.held_kinds.get(value.name)
        return Given(type, memory is not None and memory.foreign, None if isinstance(type, Array) else kind, False)
    out.append(value)
    owner = w.b.owner(value) if value.type.owner is Owner.EITHER else None
    if owner is not None:
        out.append(owner)
    return Given(value.type, False, None, owner is not None)


def names_of_argument(w: Writer, name: str) -> Iterator[str]:
    """The parameters that an argument is taken apart into."""
    todo = [w.forms.get(name)]
    while todo:
        match todo.pop():
            case int(place) | Items(place) | Owned(place):
                yield w.b.params[place][0]
            case Parts(_, items):
                todo += [form for _, form in items]
