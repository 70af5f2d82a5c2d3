"""Calls: the program's own functions, matrix products, and outside functions that are pure."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tangentx.analysis.types.kinds import BOTTOM, Box, Kind, Obj, describe, reached
from tangentx.ir import nodes as ir
from tangentx.loops import array_operations, parameters
from tangentx.loops.array_statements import ONE, Held, Memory
from tangentx.loops.loop_ir import (
    BOOL,
    Array,
    Bail,
    Bailout,
    Call,
    Const,
    Expr,
    Form,
    Known,
    Local,
    Outside,
    OutsideCall,
    Owned,
    Owner,
    Parts,
    Product,
    Scalar,
    Type,
    dtype_of,
)
from tangentx.loops.operators import Refused
from tangentx.loops.types import Maybe, Value, known_object, places, region_of, type_of
from tangentx.loops.writer import Writer

# Calls: the program's own functions, matrix products, and outside functions.


def call_of_function(w: Writer, target: str, call: ir.Call) -> Value:
    """A call of another function."""
    w.arrays.flush()
    out: list[Expr | str] = []
    forms = [parameters.handed(w, w.value(atom), out) for atom in call.args]
    callee = w.functions.called(call.link, forms, w.kind(target))
    for atom in callee.read:
        parameters.handed(w, w.outside(atom), out)
    names = [w.b.fresh(w.stem(target), type) for type in callee.results]
    w.b.emit(Call(callee.name, tuple(out), tuple(names)))

    def result(shape: object) -> Value:
        if isinstance(shape, Parts):
            return tuple(result(part) for _, part in shape.items)
        if isinstance(shape, Maybe):
            return Maybe(result(shape.value), result(shape.absent))  # type: ignore[arg-type]
        if isinstance(shape, Owned):
            w.b.owners[names[shape.place]] = Local(names[shape.owner], BOOL)
            shape = shape.place
        if isinstance(shape, int):
            kind = w.kind(target) if callee.joined else callee.kinds[shape]
            value = w.found(names[shape], callee.results[shape], BOTTOM if kind is None else kind)
            if isinstance(value, Held) and value.name in w.arrays.memory:
                w.arrays.memory[value.name].foreign = callee.foreign
            return value
        assert shape is None or isinstance(shape, Known)
        return shape

    return result(callee.shape)


def product(w: Writer, r: array_operations.Request) -> Value:
    """A product of matrices or vectors of reals of one precision; None for others."""
    names = [value.name for value in r.args]
    types = [w.b.types[name] for name in names]
    if not all(isinstance(t, Array) and t.rank in (1, 2) and t.element.is_float for t in types):
        return None
    code = types[0].code  # type: ignore[union-attr]
    type = type_of(r.kind)
    if any(t.code != code for t in (*types, type)):  # type: ignore[union-attr]
        return None
    w.arrays.flush()
    for value in r.args:
        w.kept(value)
    a, b = (w.arrays.extents(name) for name in names)
    w.arrays.demand_same(a[-1], b[0])
    name = w.b.fresh(r.stem, type)
    call = OutsideCall(operator.matmul, (0, 1), (), tuple(types), (type,))  # type: ignore[arg-type]
    w.b.emit(Product(name, names[0], names[1], len(w.functions.outside)))
    w.functions.outside.append(call)
    if isinstance(type, Scalar):
        return Local(name, type)
    w.arrays.memory[name] = Memory(name, (), r.region, trips=w.b.trips)
    w.b.extents[name] = (*a[:-1], *b[1:])
    return Held(name)


def outside_call(w: Writer, r: array_operations.Request) -> Value:
    """A function that the interpreter runs."""
    w.arrays.flush()
    out: list[Expr | str] = []
    args = tuple(outside_form(w, value, r, out) for value in r.args)
    named = tuple((name, outside_form(w, value, r, out)) for name, value in r.named.items())
    kinds: list[Kind] = [r.kind]
    if isinstance(r.kind, Box) and r.kind.cls is tuple:
        kinds = [place.kind for place in (places(r.kind) or {}).values()]
    results = [type_of(kind) for kind in kinds if not isinstance(kind, Obj)]
    if any(not isinstance(t, Array | Scalar) or (isinstance(t, Scalar) and t.owner is Owner.EITHER) for t in results):
        raise Refused(f"`{r.name}` gives {describe(r.kind)}")
    types = tuple(w.b.types[v] if isinstance(v, str) else v.type for v in out)
    many = tuple(not isinstance(kind, Obj) for kind in kinds) if kinds[0] is not r.kind else None
    call = OutsideCall(r.fn, args, named, types, tuple(results), many)  # type: ignore[arg-type]
    names = [w.b.fresh(r.stem, type) for type in results]
    w.b.emit(Outside(tuple(names), len(w.functions.outside), tuple(out)))
    w.functions.outside.append(call)
    left = iter(zip(names, results, strict=True))
    values = tuple(known_object(k) if isinstance(k, Obj) else made_outside(w, *next(left), k) for k in kinds)
    if many is None:
        keep_axis(w, r, values[0])
    return values[0] if many is None else values


def keep_axis(w: Writer, r: array_operations.Request, value: Value) -> None:
    """What ``keepdims=True`` says of a result's lengths: checked, and known from here on."""
    axis, kept = r.named.get("axis"), r.named.get("keepdims")
    source = r.args[0] if r.args else None
    if not (isinstance(kept, Const) and kept.value and isinstance(axis, Const)):
        return
    if not (isinstance(value, Held) and isinstance(source, Held) and source.name in w.arrays.memory):
        return
    wanted = list(w.arrays.extents(source.name))
    if len(wanted) != w.arrays.array(value.name).rank:
        return
    wanted[int(axis.value) % len(wanted)] = ONE
    for found, known in zip(w.arrays.extents(value.name), wanted, strict=True):
        w.arrays.demand_same(found, known)
    w.b.extents[value.name] = tuple(wanted)


def made_outside(w: Writer, name: str, type: Type, kind: Kind) -> Value:
    """A number, or a new array, that such a function gave."""
    value = w.found(name, type, kind)
    if isinstance(value, Held):
        w.arrays.memory[name] = Memory(name, (), region_of(kind), trips=w.b.trips)
        w.arrays.turns = True
    return value


def outside_form(w: Writer, value: object, r: array_operations.Request, out: list[Expr | str]) -> Form:
    """How an argument of such a function is made."""
    if isinstance(value, tuple):
        return Parts(tuple, tuple((k, outside_form(w, v, r, out)) for k, v in enumerate(value)))
    if isinstance(value, ir.Lit | ir.Ext):
        return Known(value.value)
    if value is None or isinstance(value, Known):
        return value
    if isinstance(value, Held):
        kind = w.held_kinds.get(value.name)
        items = places(kind) if isinstance(kind, Box) and kind.cls in (tuple, list) else None
        if kind is not None and items is not None:
            inside = [(key, w.fetched("item", value.name, item)) for key, item in items.items()]
            return Parts(kind.cls, tuple((key, outside_form(w, v, r, out)) for key, v in inside))  # type: ignore[union-attr]
        if not isinstance(w.b.types[value.name], Array):
            raise Refused(f"`{r.name}` of a container")
        w.kept(value)
        region = w.arrays.memory[value.name].region
        for given in reached([r.kind]):
            if (region is None or region.root() is given.root()) and not given.still():
                raise Refused(f"`{r.name}` may give a view of what is written")
        out.append(value.name)
    elif isinstance(value, Expr):
        out.append(value)
    else:
        raise Refused(f"`{r.name}` of this")
    return len(out) - 1


# Outside calls: Python functions that a compiled program may call because they are pure.

_MODULES = frozenset(
    f"tangentx.arrays.{name}"
    for name in """adjoints bands convolutions edges einsums error_function factorisations places pooling products
    quantiles safe shapes special spectra splines triangles zeros""".split()
)
_NOT_OF_NUMPY = frozenset(
    """apply_along_axis apply_over_axes copyto empty empty_like fill_diagonal frombuffer fromfile fromfunction
    frompyfunc fromiter geterr load loadtxt may_share_memory memmap nditer ndenumerate ndindex piecewise place put
    put_along_axis putmask save savetxt savez seterr shares_memory vectorize""".split()
)
_METHODS = frozenset(
    """all any argmax argmin argsort astype clip conj conjugate copy cumprod cumsum diagonal dot flatten max mean min
    nonzero prod ravel repeat reshape round searchsorted squeeze std sum swapaxes take trace transpose var""".split()
)


def is_allowed(fn: Callable[..., Any]) -> bool:
    """Whether `fn` is such a function."""
    name = getattr(fn, "__name__", "")
    if getattr(fn, "__module__", None) in _MODULES:
        return True
    if getattr(fn, "__objclass__", None) is np.ndarray:
        return name in _METHODS
    if isinstance(fn, type) or name in _NOT_OF_NUMPY:
        return False
    return fn in (builtins.round, operator.matmul) or any(
        getattr(home, name, None) is fn for home in (np, np.linalg, np.fft)
    )


class Unlike(Exception):
    """A function gave something else than a program was compiled for."""


def checked(result: Any, call: OutsideCall) -> tuple[Any, ...]:
    """The results of a call, one after the other, in memory of their own. Raises Unlike where one is none of the type
    that the program has."""
    if call.many is None:
        return (_checked(result, call.results[0]),)
    if call.many == ():
        return ()
    if type(result) is not tuple or len(result) != len(call.many):
        raise Unlike
    found = [value for value, stored in zip(result, call.many, strict=True) if stored]
    return tuple(map(_checked, found, call.results))


def _checked(result: Any, type_: Scalar | Array) -> Any:
    if isinstance(type_, Array):
        if type(result) is not np.ndarray or result.dtype != dtype_of(type_.code) or result.ndim != type_.rank:
            raise Unlike
        return result if result.flags.owndata else result.copy(order="K")
    if type(result) is not class_of(type_):
        raise Unlike
    return result


def class_of(type_: Scalar) -> type:
    """The class of a number of a type, Python's where it may be either."""
    if type_.owner is Owner.NUMPY:
        return dtype_of(type_.code).type
    return {"f": float, "i": int, "b": bool}[type_.code[0]]


def stopped(error: Exception) -> Bailout:
    """What is raised where a function raised an error: the generated Python will raise it, too."""
    return Bailout((Bail.MEMORY if isinstance(error, MemoryError) else Bail.RAISED).value)
