"""Array primitives: creation, copies, elementwise operations, reductions."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.types.kinds import Arr, Kind, Num, describe
from tangentx.loops import axis_reductions, operators
from tangentx.loops.array_statements import ONE, ZERO, ArrayWriter, Held, Item
from tangentx.loops.builder import LIMIT_EXTENT
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
    Length,
    List,
    Local,
    NewAxis,
    Owner,
    Pick,
    Reduce,
    Span,
    Write,
)
from tangentx.loops.operators import Refused
from tangentx.loops.types import array_type, scalar_type


@dataclass(frozen=True)
class Request:
    """One application of a primitive: its operands, what is known of its result, and what that is called."""

    fn: Callable[..., Any]
    args: Sequence[Any]
    named: Mapping[str, Any]
    kind: Kind
    stem: str
    readers: int

    @property
    def region(self) -> Any:
        """The memory of the result."""
        return self.kind.region if isinstance(self.kind, Arr) else None

    def type(self) -> Array:
        """The type of the result, which is an array. Raises Refused."""
        if not isinstance(self.kind, Arr):
            raise Refused(f"`{self.name}` gives {describe(self.kind)}")
        return array_type(self.kind)

    @property
    def name(self) -> str:
        """What the user calls the primitive."""
        return str(getattr(self.fn, "__name__", self.fn))

    def only(self, *names: str) -> None:
        """Refuses arguments by name, but for these."""
        for name in self.named:
            if name not in names:
                raise Refused(f"`{self.name}` with the argument `{name}`")

    def given(self, place: int, name: str, default: Any = None) -> Any:
        """An argument by position or by name."""
        return self.args[place] if len(self.args) > place else self.named.get(name, default)


def operation(writer: ArrayWriter, r: Request) -> Any:
    """The result of a primitive of which an operand or the result is an array, a tape or a tuple. Raises Refused."""
    try:
        rule = _RULES.get(r.fn)
    except TypeError:
        rule = None
    if rule is not None:
        return rule(writer, r)
    if operators.is_scalar_operation(r.fn):
        return elementwise(writer, r)
    raise Refused(f"`{r.name}` has no form in the loop language")


def elementwise(writer: ArrayWriter, r: Request) -> Any:
    """An operation that goes element by element."""
    r.only()
    operands = [_operand(x) for x in r.args]
    if isinstance(r.kind, Num):  # of arrays without axes
        given = [scalar(writer, x) for x in operands]
        return operators.apply(r.fn, writer.builder, given, scalar_type(r.kind))
    type = r.type()
    rule = operators.OF_ARRAYS.get(r.fn, operators.RULES[r.fn])
    elements = [Local("x", writer.array(x.name).element) if isinstance(x, Held) else x for x in operands]
    rule(operators.Trial(), elements, type.element)  # refused here and now, not where the loop is written

    def element(given: Sequence[Expr]) -> Expr:
        return rule(writer.builder, given, type.element)

    return made(writer, r, type, writer.broadcast(operands), operands, element)


def made(
    writer: ArrayWriter,
    r: Request,
    type: Array,
    extents: Sequence[Expr],
    operands: Sequence[Expr | Held],
    element: Callable[[Sequence[Expr]], Expr],
) -> Held:
    """A new array, element by element."""
    if len(extents) != type.rank:
        raise Refused(f"`{r.name}` gives an array of another rank")
    name = writer.new(r.stem, type, extents, r.region)
    writer.readers[name] = r.readers
    writer.add(Item(tuple(extents), tuple(operands), element, target=name))
    return Held(name)


def scalar(writer: ArrayWriter, value: Expr | Held) -> Expr:
    """A number, or what an array without axes holds."""
    if not isinstance(value, Held):
        return value
    if writer.array(value.name).rank:
        raise Refused("an array stands where a number is meant")
    if writer.reads_pending(value.name):
        writer.flush()
    return writer.builder.let("e", writer.read(value.name, ()))


def _operand(value: Any) -> Expr | Held:
    if value is None or isinstance(value, tuple) or not isinstance(value, Held | Expr):
        raise Refused("something that is no number and no array")
    return value


def write(writer: ArrayWriter, into: str, value: Expr | Held, add: bool) -> None:
    """Writes a view, or adds to it."""
    type = writer.array(into)
    extents = writer.extents(into)
    if isinstance(value, Held):
        given = list(writer.extents(value.name))
        if len(given) > len(extents):
            raise Refused("an array is written with one of more axes")
        for own, other in zip(reversed(extents), reversed(given), strict=False):
            if other != ONE:
                writer.demand_same(own, other)
        if not writer.same_places(into, value.name) and _may_overlap(writer, into, value.name):
            value = Held(copied(writer, value.name))
            writer.flush()
    code = writer.array(value.name).code if isinstance(value, Held) else value.type.code
    weak = not isinstance(value, Held) and value.type.owner is Owner.PYTHON and type.element.is_float
    if add and code != type.code and not weak:
        raise Refused("numbers of two precisions are added in place")
    if type.code in ("i8", "b1") and code != type.code or (add and type.code == "b1"):
        raise Refused("an array of whole numbers is written with others")

    def element(given: Sequence[Expr]) -> Expr:
        if not add:
            return given[0]
        old, new = given
        more = operators.converted(new, type.code)
        return operators.RULES[np.add](writer.builder, (old, more), type.element)

    operands = (Held(into), value) if add else (value,)
    writer.add(Item(extents, operands, element, into=into))


def _may_overlap(writer: ArrayWriter, into: str, name: str) -> bool:
    root = writer.memory[name].root
    if root in {item.target for item in writer.pending}:  # new memory, of which nothing knows that was there before
        return writer.memory[into].root == root
    return writer.overlap(into, name)


def copied(writer: ArrayWriter, name: str) -> str:
    """A new array with the elements of another one."""
    type = writer.array(name)
    new = writer.new(name, Array(type.code, type.rank), writer.extents(name), None)
    writer.readers[new] = LIMIT_EXTENT
    writer.add(Item(writer.extents(name), (Held(name),), lambda given: given[0], target=new))
    return new


def size(writer: ArrayWriter, name: str) -> Expr:
    """How many elements an array has."""
    count: Expr = ONE
    for extent in writer.extents(name):
        count = extent if count == ONE else writer.builder.let("n", Apply("mul", (count, extent), INT))
    return count


# ---- creation and copies ----


def _held(writer: ArrayWriter, value: Any) -> str:
    if not isinstance(value, Held) or not isinstance(writer.builder.types[value.name], Array):
        raise Refused("something that is no array stands where one is meant")
    return value.name


def _like(value: float | None) -> Callable[[ArrayWriter, Request], Any]:
    """A new array of the shape of another one."""

    def rule(writer: ArrayWriter, r: Request) -> Any:
        r.only()
        if isinstance(r.kind, Num):
            return operators.converted(Const(value or 0.0, FLOAT), scalar_type(r.kind).code)
        if not isinstance(r.args[0], Held):
            raise Refused(f"`{r.name}` of what is no array")
        return _full(writer, r, writer.extents(_held(writer, r.args[0])), Const(value or 0.0, FLOAT))

    return rule


def _full(writer: ArrayWriter, r: Request, extents: Sequence[Expr], value: Expr) -> Held:
    type = r.type()
    if isinstance(value, Const) and value.value == 0:
        return Held(writer.allocate(r.stem, type, extents, r.region))
    if type.code[0] != "f" and value.type.is_float:
        value = _whole(value)
    return made(writer, r, type, extents, (value,), lambda given: operators.converted(given[0], type.code))


def _whole(value: Expr) -> Expr:
    if isinstance(value, Const) and value.value == int(value.value):
        return Const(int(value.value), INT)
    raise Refused("an array of whole numbers is filled with another one")


def _of_shape(value: float | None) -> Callable[[ArrayWriter, Request], Any]:
    """A new array of a shape that is given; filled with `value`, or with the second argument."""

    def rule(writer: ArrayWriter, r: Request) -> Any:
        r.only("dtype", "shape", "fill_value")
        fill = r.given(1, "fill_value") if value is None else Const(value, FLOAT)
        if not isinstance(fill, Expr):
            raise Refused(f"`{r.name}` of what is no number")
        return _full(writer, r, shape(writer, r.given(0, "shape")), fill)

    return rule


def shape(writer: ArrayWriter, given: Any) -> list[Expr]:
    """The lengths of axes that a program gives; bails out where they are none."""
    b = writer.builder
    found = []
    for extent in given if isinstance(given, tuple) else (given,):
        if not isinstance(extent, Expr) or extent.type.code != "i8":
            raise Refused("a shape that is not of whole numbers")
        extent = b.let("n", extent)
        if not b.not_negative(extent):
            b.check(Apply("le", (ZERO, extent), BOOL), Bail.SHAPE)
        if (bound := b.bound(extent)) is None or bound > LIMIT_EXTENT:
            b.check(Apply("le", (extent, Const(LIMIT_EXTENT, INT)), BOOL), Bail.SHAPE)
        found.append(extent)
    return found


def _copy(writer: ArrayWriter, r: Request) -> Any:
    r.only("order")
    if len(r.args) != 1:
        raise Refused(f"`{r.name}` with these arguments")
    if isinstance(r.kind, Num):
        return operators.converted(scalar(writer, _operand(r.args[0])), scalar_type(r.kind).code)
    name = _held(writer, r.args[0])
    type = r.type()
    if type.code != writer.array(name).code:
        raise Refused("a copy of another dtype")
    return made(writer, r, type, writer.extents(name), (Held(name),), lambda given: given[0])


def _same(writer: ArrayWriter, r: Request) -> Any:
    """What gives its argument as it is, or its cotangent as that of an argument of the same form."""
    value = r.args[0]
    if isinstance(value, Held) and isinstance(r.kind, Arr) and r.type().code == writer.array(value.name).code:
        return value
    if isinstance(r.kind, Num) and not isinstance(value, tuple | None):
        return operators.converted(scalar(writer, _operand(value)), scalar_type(r.kind).code)
    raise Refused(f"`{r.name}` with these arguments")


# ---- sizes ----


def _length(writer: ArrayWriter, r: Request) -> Any:
    value = r.args[0]
    if isinstance(value, tuple):
        return Const(len(value), INT)
    if isinstance(value, Held) and isinstance(writer.builder.types[value.name], List):
        return writer.builder.let("n", Length(value.name))
    return writer.extents(_held(writer, value))[0]


def _shape(writer: ArrayWriter, r: Request) -> Any:
    return writer.extents(_held(writer, r.args[0])) if isinstance(r.args[0], Held) else ()


def _size(writer: ArrayWriter, r: Request) -> Any:
    r.only()
    return size(writer, _held(writer, r.args[0]))


def _outer(writer: ArrayWriter, r: Request) -> Any:
    """All products of the elements of two vectors."""
    r.only()
    a, b = (_held(writer, x) for x in r.args)
    if writer.array(a).rank != 1 or writer.array(b).rank != 1:
        raise Refused("`outer` of what are no vectors")
    column = writer.view(a, a, [Span(ZERO, writer.extents(a)[0]), NewAxis()], writer.memory[a].region)
    return elementwise(writer, replace(r, fn=np.multiply, args=(Held(column), Held(b))))


def _cross(writer: ArrayWriter, r: Request) -> Any:
    """Products of vectors in space, which lie along the last axes."""
    r.only()
    if len(r.args) != 2:
        raise Refused("`cross` along other axes")
    a, b = (_held(writer, x) for x in r.args)
    type = r.type()
    if not type.element.is_float or any(writer.array(name).code != type.code for name in (a, b)):
        raise Refused("`cross` of numbers of several kinds")
    for name in (a, b):
        writer.demand_same(writer.extents(name)[-1], Const(3, INT))

    def component(name: str, place: int) -> Expr | Held:
        *others, _ = writer.extents(name)
        if not others:
            if writer.reads_pending(name):
                writer.flush()
            return writer.builder.let("e", writer.read(name, (Const(place, INT),)))
        spans = [Span(ZERO, extent) for extent in others]
        return Held(writer.view(name, name, [*spans, Pick(Const(place, INT))], writer.memory[name].region))

    def element(given: Sequence[Expr]) -> Expr:
        first, second = (Apply("mul", pair, type.element) for pair in ((given[0], given[1]), (given[2], given[3])))
        return Apply("sub", (first, second), type.element)

    of_a, of_b = ([component(name, place) for place in range(3)] for name in (a, b))
    extents = writer.broadcast((of_a[0], of_b[0]))
    result = writer.allocate(r.stem, type, (*extents, Const(3, INT)), r.region, zeros=False)
    for place, (i, j) in enumerate(((1, 2), (2, 0), (0, 1))):
        operands = of_a[i], of_b[j], of_a[j], of_b[i]
        into = component(result, place) if extents else None
        if isinstance(into, Held):
            writer.add(Item(extents, operands, element, into=into.name))
        else:
            writer.builder.emit(Write(result, (Const(place, INT),), element(operands)))  # type: ignore[arg-type]
    return Held(result)


def _transpose(writer: ArrayWriter, r: Request) -> Any:
    r.only("axes")
    name = _held(writer, r.args[0])
    rank = writer.array(name).rank
    given = r.args[1:] if len(r.args) > 2 else r.given(1, "axes")
    if isinstance(given, Const):
        given = (given,)
    if given is None or given == ():
        axes = list(reversed(range(rank)))
    elif isinstance(given, tuple) and all(isinstance(axis, Const) for axis in given):
        axes = [int(axis.value) % rank for axis in given]
    else:
        raise Refused("axes that are not known")
    if sorted(axes) != list(range(rank)):
        raise Refused("axes that do not fit")
    return Held(writer.turned(name, axes, r.region))


def _swapaxes(writer: ArrayWriter, r: Request) -> Any:
    name = _held(writer, r.args[0])
    axes = list(range(writer.array(name).rank))
    a, b = (_axis(axis, len(axes)) for axis in r.args[1:])
    axes[a], axes[b] = axes[b], axes[a]
    return Held(writer.turned(name, axes, r.region))


def _moveaxis(writer: ArrayWriter, r: Request) -> Any:
    name = _held(writer, r.args[0])
    axes = list(range(writer.array(name).rank))
    source, target = (_axis(axis, len(axes)) for axis in r.args[1:])
    axes.insert(target, axes.pop(source))
    return Held(writer.turned(name, axes, r.region))


def _axis(value: Any, rank: int) -> int:
    if not isinstance(value, Const) or not -rank <= value.value < rank:
        raise Refused("an axis that is not known")
    return int(value.value) % rank


def _squeeze(writer: ArrayWriter, r: Request) -> Any:
    """One axis of length one is left out."""
    r.only("axis")
    name = _held(writer, r.args[0])
    extents = writer.extents(name)
    place = _axis(r.given(1, "axis"), len(extents))
    writer.demand_same(extents[place], ONE)
    parts = [Pick(ZERO) if k == place else Span(ZERO, n) for k, n in enumerate(extents)]
    return Held(writer.view(r.stem, name, parts, r.region))


def _reshape(writer: ArrayWriter, r: Request) -> Any:
    """The elements under other extents, of which one may be left to be found."""
    r.only()
    given = r.args[1:] if len(r.args) != 2 or isinstance(r.args[1], Const | Local) else shape_given(r.args[1])
    if not given or not all(isinstance(n, Expr) and n.type.code == "i8" for n in given):
        raise Refused("`reshape` to a shape that is not known")
    return _under(writer, r, list(given))


def _ravel(writer: ArrayWriter, r: Request) -> Any:
    r.only()
    if len(r.args) != 1:
        raise Refused("`ravel` in an order")
    return _under(writer, r, [Const(-1, INT)])


def _flatten(writer: ArrayWriter, r: Request) -> Any:
    """A copy as one row."""
    made = _ravel(writer, r)
    return Held(copied(writer, made.name)) if isinstance(made, Held) else made


def shape_given(value: Any) -> tuple[Any, ...]:
    """A shape that is given as a tuple, or as a number."""
    return value if isinstance(value, tuple) else (value,)


def _under(writer: ArrayWriter, r: Request, extents: list[Expr]) -> Any:
    name, b = _held(writer, r.args[0]), writer.builder
    total = size(writer, name)
    open_ = [k for k, n in enumerate(extents) if isinstance(n, Const) and n.value == -1]
    known: Expr = ONE
    for k, n in enumerate(extents):
        if k not in open_:
            if not b.not_negative(n):
                b.check(Apply("le", (ZERO, n), BOOL), Bail.SHAPE)
            b.check(Apply("le", (n, Const(LIMIT_EXTENT, INT)), BOOL), Bail.SHAPE)
            if known != ONE:
                b.check(Apply("mul_fits", (known, n), BOOL), Bail.SHAPE)
            known = n if known == ONE else b.let("n", Apply("mul", (known, n), INT))
    if len(open_) > 1:
        raise Refused("`reshape` with two lengths that are left to be found")
    if open_:
        found = total
        if known != ONE:
            b.check(Apply("ne", (known, ZERO), BOOL), Bail.SHAPE)
            found = b.let("n", Apply("floordiv", (total, known), INT))
            known = Apply("mul", (known, found), INT)
        else:
            known = found
        extents[open_[0]] = found
    if known != total:
        b.check(Apply("eq", (known, total), BOOL), Bail.SHAPE)
    if r.type().rank != len(extents):
        raise Refused("`reshape` to another rank")
    region = r.region
    if region is not None and not region.root().still():
        writer.reshapes = True
    return Held(writer.reshaped(r.stem, name, extents, region))


# ---- reductions ----


def _reduction(op: str) -> Callable[[ArrayWriter, Request], Any]:
    def rule(writer: ArrayWriter, r: Request) -> Any:
        r.only("axis", "keepdims")
        axis, keepdims = r.given(1, "axis"), r.named.get("keepdims")
        if isinstance(keepdims, Const) and not keepdims.value:
            keepdims = None
        name = _held(writer, r.args[0])
        if not writer.array(name).element.is_float or not (keepdims is None or isinstance(keepdims, Const)):
            raise Refused(f"`{r.name}` of these numbers")
        rank = writer.array(name).rank
        axes = tuple(range(rank)) if axis is None else axis_reductions.axes_of(axis, rank)
        if len(axes) < rank and r.type() == replace(r.type(), code=writer.array(name).code):
            return axis_reductions.along(writer, op, name, axes, keepdims is not None, r.stem, r.region)
        if keepdims is not None or len(axes) < rank:
            raise Refused(f"`{r.name}` of these numbers")
        return total(writer, op, name, r)

    return rule


def total(writer: ArrayWriter, op: str, name: str, r: Request) -> Expr:
    """All elements of an array together."""
    if not isinstance(r.kind, Num):
        raise Refused(f"`{r.name}` gives {describe(r.kind)}")
    writer.flush()
    b = writer.builder
    type = writer.array(name).element
    if op in ("max", "min"):
        b.check(Apply("lt", (ZERO, size(writer, name)), BOOL), Bail.SHAPE)
    found: Expr = b.let("e", Reduce("sum" if op == "mean" else op, name, type))
    if op == "mean":
        count = operators.converted(size(writer, name), type.code)
        found = b.let("e", Apply("div", (found, count), type))
    return operators.converted(found, scalar_type(r.kind).code)


def leading(writer: ArrayWriter, name: str, extents: Sequence[Expr], r: Request) -> Held:
    """The sum over the first axis: row after row, as NumPy does it."""
    writer.flush()
    b = writer.builder
    type = r.type()
    if type.code != writer.array(name).code or type.rank != len(extents):
        raise Refused(f"`{r.name}` gives an array of another kind")
    result = writer.allocate(r.stem, type, extents, r.region)
    counter = b.fresh("i", INT)
    with b.block() as body:
        spans = [Span(ZERO, extent) for extent in extents]
        row = writer.view("row", name, [Pick(Local(counter, INT)), *spans], None)
        write(writer, result, Held(row), add=True)
        writer.flush()
    b.emit(For(counter, ZERO, writer.extents(name)[0], ONE, False, tuple(body)))
    return Held(result)


def _unbroadcast(writer: ArrayWriter, r: Request) -> Any:
    r.only()
    t, like = r.args
    if isinstance(like, tuple) or like is None or t is None or isinstance(t, tuple):
        raise Refused("`unbroadcast` of what is no array")
    if not isinstance(t, Held):
        if isinstance(r.kind, Num):
            return operators.converted(t, scalar_type(r.kind).code)
        extents = writer.extents(_held(writer, like))
        return _full(writer, r, extents, t)
    name = _held(writer, t)
    if isinstance(r.kind, Num):
        return total(writer, "sum", name, r)
    wanted, given = writer.extents(_held(writer, like)), writer.extents(name)
    if len(given) == len(wanted) + 1 and wanted:
        for a, b in zip(given[1:], wanted, strict=True):
            writer.demand_same(a, b)
        return leading(writer, name, wanted, r)
    if len(given) != len(wanted) or r.type().code != writer.array(name).code:
        raise Refused("broadcasting is undone over several axes")
    axes = [k for k, (a, b) in enumerate(zip(given, wanted, strict=True)) if b == ONE != a]
    if axes and axes[-1] - axes[0] >= len(axes):
        raise Refused("broadcasting is undone over axes that are not neighbours")
    for k, (a, b) in enumerate(zip(given, wanted, strict=True)):
        if k not in axes:
            writer.demand_same(a, b)
    return axis_reductions.along(writer, "sum", name, axes, True, r.stem, r.region) if axes else t


def _unreduce(writer: ArrayWriter, r: Request) -> Any:
    r.only("axis", "keepdims")
    t, dims = r.args[0], r.args[1]
    axis, keepdims = r.given(2, "axis"), r.given(3, "keepdims")
    if isinstance(keepdims, Const) and not keepdims.value:
        keepdims = None
    if not isinstance(dims, tuple) or keepdims is not None:
        raise Refused("`unreduce` of a shape that is not known")
    extents = shape(writer, dims)
    type = r.type()
    if axis is None:
        value = scalar(writer, _operand(t))
        return made(writer, r, type, extents, (value,), lambda given: operators.converted(given[0], type.code))
    if not isinstance(axis, Const) or not isinstance(t, Held):
        raise Refused("`unreduce` along an axis that is not known")
    parts: list[Any] = [Span(ZERO, extent) for extent in writer.extents(t.name)]
    parts.insert(int(axis.value) % len(extents), NewAxis())
    row = Held(writer.view("row", t.name, parts, writer.memory[t.name].region))
    for own, other in zip(extents, writer.extents(row.name), strict=True):
        if other != ONE:
            writer.demand_same(own, other)
    return made(writer, r, type, extents, (row,), lambda given: operators.converted(given[0], type.code))


_RULES: dict[Any, Callable[[ArrayWriter, Request], Any]] = {
    np.zeros_like: _like(0.0),
    arrays.zeros_as: _like(0.0),
    arrays.zero: _like(0.0),
    arrays.real_zero: _like(0.0),
    np.empty_like: _like(0.0),
    np.ones_like: _like(1.0),
    np.zeros: _of_shape(0.0),
    np.empty: _of_shape(0.0),
    np.ones: _of_shape(1.0),
    np.full: _of_shape(None),
    np.copy: _copy,
    np.ndarray.copy: _copy,
    arrays.clone: _copy,
    arrays.entry_copy: _copy,
    arrays.alike: _same,
    arrays.finish: _same,
    np.asarray: _same,
    np.outer: _outer,
    np.cross: _cross,
    arrays.cross3: _cross,
    np.transpose: _transpose,
    np.ndarray.transpose: _transpose,
    np.swapaxes: _swapaxes,
    np.ndarray.swapaxes: _swapaxes,
    np.moveaxis: _moveaxis,
    np.squeeze: _squeeze,
    np.ndarray.squeeze: _squeeze,
    np.reshape: _reshape,
    np.ndarray.reshape: _reshape,
    np.ravel: _ravel,
    np.ndarray.ravel: _ravel,
    np.ndarray.flatten: _flatten,
    builtins.len: _length,
    np.shape: _shape,
    np.size: _size,
    np.sum: _reduction("sum"),
    np.ndarray.sum: _reduction("sum"),
    np.mean: _reduction("mean"),
    np.ndarray.mean: _reduction("mean"),
    np.max: _reduction("max"),
    np.min: _reduction("min"),
    arrays.unbroadcast: _unbroadcast,
    arrays.unreduce: _unreduce,
}
