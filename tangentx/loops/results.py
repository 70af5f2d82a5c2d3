"""Results: flattened to numbers and arrays, and the structure that Python gets back."""

from __future__ import annotations

from tangentx.analysis.types.kinds import Arr, Box, Kind, describe
from tangentx.ir import nodes as ir
from tangentx.loops import array_operations
from tangentx.loops.array_statements import ONE, ZERO, Held
from tangentx.loops.loop_ir import (
    INT,
    Apply,
    Array,
    Expr,
    Fetch,
    For,
    Form,
    Items,
    Known,
    Length,
    List,
    Local,
    Owned,
    Owner,
    Parts,
    Return,
    Scalar,
    Write,
    dtype_of,
)
from tangentx.loops.operators import Refused
from tangentx.loops.types import (
    Maybe,
    Slicing,
    Value,
    places,
)
from tangentx.loops.writer import Writer


def returned(w: Writer, s: ir.Return) -> None:
    """The results, one after the other."""
    found: list[Expr | str] = []
    kinds: list[Kind | None] = []
    shape: Form = 0
    if w.joined is None:
        w.arrays.flush()
        shape = shaped(w, w.value(s.value), found, kinds)
    else:
        found.append(w.stored(w.value(s.value), w.joined))
        kinds.append(w.joined)
        w.arrays.flush()
    types = tuple(w.b.types[v] if isinstance(v, str) else v.type for v in found)
    if w.results is not None and (shape, types) != (w.result, w.results):
        w.several = True
        raise Refused("results of several kinds")
    w.result, w.results, w.result_kinds = shape, types, tuple(kinds)
    w.b.emit(Return(tuple(found)))


def shaped(w: Writer, value: Value, found: list[Expr | str], kinds: list[Kind | None]) -> Form:
    """How a result stands in what is returned; its numbers and names go to `found`, with their kinds."""
    if isinstance(value, tuple):
        return Parts(tuple, tuple((k, shaped(w, v, found, kinds)) for k, v in enumerate(value)))
    if value is None or isinstance(value, Known):
        return value
    if isinstance(value, Maybe) and w.given is not None:
        given = (shaped(w, part, found, kinds) for part in (value.value, value.absent))
        return Maybe(*given)  # type: ignore[arg-type, return-value]
    if isinstance(value, Maybe):  # a result that is None is left to Python
        return shaped(w, w.present(value), found, kinds)
    if isinstance(value, Slicing):
        raise Refused("a slice is returned")
    if isinstance(value, Held):
        return shaped_by_name(w, value, found, kinds)
    if w.known_several and value.type.is_float:
        return shaped_with_owner(w, value, found, kinds)
    found.append(value)
    kinds.append(None)
    if value.type.owner is not Owner.EITHER:
        return len(found) - 1
    owner = w.b.owner(value)
    if owner is None:
        if w.given is None:
            raise Refused("a result of which it is not known whether it is Python's number or NumPy's")
        return len(found) - 1
    found.append(owner)
    kinds.append(None)
    return Owned(len(found) - 2, len(found) - 1)


def shaped_with_owner(w: Writer, value: Expr, found: list[Expr | str], kinds: list[Kind | None]) -> Form:
    """How a real number stands in what is returned where another way out gives Python's in place of NumPy's."""
    owner = w.b.owner(value)
    if owner is None:
        raise Refused("a result of which it is not known whether it is Python's number or NumPy's")
    found += [Apply("convert", (value,), Scalar(value.type.code, Owner.EITHER)), owner]
    kinds += [None, None]
    return Owned(len(found) - 2, len(found) - 1)


def shaped_by_name(w: Writer, value: Held, found: list[Expr | str], kinds: list[Kind | None]) -> Form:
    """How an array or a container stands in what is returned."""
    type, kind = w.b.types[value.name], w.held_kinds.get(value.name)
    if w.given is None and isinstance(type, Array):
        memory = w.arrays.memory[value.name]
        if memory.root != value.name or memory.foreign:
            value = Held(array_operations.copied(w.arrays, value.name))
            w.arrays.flush()
    elif w.given is None:
        return taken_apart(w, value, found, kinds)
    w.kept(value)
    found.append(value.name)
    if isinstance(type, Array):
        kind = Arr(dtype_of(type.code), type.rank, w.arrays.memory[value.name].region)
    kinds.append(kind)
    return len(found) - 1


def taken_apart(w: Writer, value: Held, found: list[Expr | str], kinds: list[Kind | None]) -> Form:
    """A container that is a result."""
    kind = w.held_kinds[value.name]
    assert isinstance(kind, Box)
    items = places(kind)
    if items is None:
        return list_result(w, value.name, kind, found, kinds)
    if any(item.there is not None for item in items.values()):
        raise Refused(f"a result that is {describe(kind)} whose items are not all known")
    inside = [(key, shaped(w, w.fetched("item", value.name, item), found, kinds)) for key, item in items.items()]
    return Parts(kind.cls, tuple(inside))


def list_result(w: Writer, name: str, kind: Box, found: list[Expr | str], kinds: list[Kind | None]) -> Form:
    """A list of numbers, which is handed over as an array."""
    type = w.b.types[name]
    assert isinstance(type, List)
    item = type.item
    if not isinstance(item, Scalar) or item.owner is Owner.EITHER:
        raise Refused("a list of what are not numbers of one type is returned")
    count = w.b.let("n", Length(name))
    array = w.arrays.allocate("items", Array(item.code, 1), [count], None, zeros=False)
    counter, value = w.b.fresh("k", INT), w.b.fresh("item", item)
    with w.b.block() as body:
        w.b.emit(Fetch(value, name, Local(counter, INT)))
        w.b.emit(Write(array, (Local(counter, INT),), Local(value, item)))
    w.b.emit(For(counter, ZERO, count, ONE, False, tuple(body)))
    found.append(array)
    kinds.append(None)
    return Items(len(found) - 1, item.owner)
