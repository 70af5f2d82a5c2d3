"""Subscript reads: an element, a view, a copy, a container item or a container slice."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx.analysis.infer import constant_calls
from tangentx.analysis.infer.containers import copied, copied_list, expanded
from tangentx.analysis.infer.formatted_values import tells
from tangentx.analysis.infer.special_methods import defines, item_method
from tangentx.analysis.library import flat_iterator
from tangentx.analysis.library.numpy_models import grid, is_grid
from tangentx.analysis.types.kinds import (
    BOTTOM,
    MISSING,
    Arr,
    Bottom,
    Box,
    Kind,
    Num,
    Obj,
    Some,
    describe,
    is_inexact,
    join,
)
from tangentx.analysis.types.number_joins import each_of
from tangentx.analysis.types.operations import Operation
from tangentx.analysis.types.samples import NoSample, Sampler
from tangentx.analysis.types.selection import fitted, is_basic, is_boolean, item_kind
from tangentx.arrays.device_double import DeviceArray, transfers
from tangentx.common.naming import with_article
from tangentx.errors import NotResolved, UnsupportedSyntax
from tangentx.ir.nodes import Assign, Atom, Attr, Block, Expr, Ext, Index, Key, Lit, Op, Slice, Var, attribute_of
from tangentx.templates.solver_table import RECORDS

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


def _taken_as_array(kind: Num) -> bool:
    """Whether it is a NumPy scalar, of which ``x[()]`` is `x`."""
    return not kind.none and all(issubclass(each, np.generic) for each in kind.exact)


def index(w: Walker, base: Atom, key: Key) -> tuple[Expr, Kind]:
    """``base[key]``: an element, a view, a copy, or an item of a container."""
    if key.attribute:
        return w.walk(Attr(base, attribute_of(key)))
    if isinstance(base, Ext) and is_grid(base):
        return grid(w, base, key)
    atom, kind = w.read(base)
    closed, parts = w.key(key)
    if isinstance(kind, Bottom) or any(isinstance(p, Bottom) for p in parts):
        return Index(atom, closed), BOTTOM
    if defines(w, kind, "__getitem__"):
        return item_method(w, "__getitem__", base, key)
    if flat_iterator.is_flat(kind) and key != flat_iterator.HELD:
        return flat_iterator.item(w, base, key)
    other = fitted(w, kind, key, parts)
    if other is not None:
        return expanded(w, other[0], lambda: _by(w, base, *other[1]()))
    if isinstance(kind, Box):
        name = parts[0].value if len(parts) == 1 and isinstance(parts[0], Obj) else None
        if kind.cls in RECORDS and name in (fields := getattr(kind.cls, "_fields", ())):
            return index(w, base, Key((Lit(fields.index(name)),)))
        if len(parts) == 1 and isinstance(parts[0], tuple):
            return _slice_of(w, base, kind, key.parts[0], parts[0])
        if kind.cls in (list, tuple) and parts == (Some(slice),):
            return _slice_of(w, base, kind, key.parts[0], (BOTTOM,))
        return Index(atom, closed), item_kind(w, kind, parts)
    if isinstance(kind, Num) and _taken_as_array(kind) and key.many and not key.parts:
        return atom, kind
    if isinstance(kind, Arr):
        return Index(atom, closed), _array_item(w, kind, closed, parts)
    if constant_calls.is_opaque(kind) and constant_calls.active(w) and not key.many and len(key.parts) == 1:
        return expanded(w, ("part of an object", base), lambda: _part_of_range(w, base, key.parts[0]))
    if kind == Some(range) and len(key.parts) == 1 and isinstance(key.parts[0], Slice):
        return expanded(w, ("part of a range", base), lambda: _part_of_range(w, base, key.parts[0]))
    if isinstance(kind, Some | Obj) and len(parts) == 1 and not isinstance(parts[0], tuple):
        item, found = operation_plain(w, operator.getitem, (atom, kind), (closed.parts[0], parts[0]))
        return item, replace(found, tells=True) if isinstance(found, Some) and tells(kind) else found
    raise UnsupportedSyntax(f"{describe(kind)} cannot be indexed", w.span, "index an array, a list, a tuple or a dict")


def _by(w: Walker, base: Atom, making: Block, key: Key) -> Block:
    return (*making, Assign(w.temporary(), Index(base, key), w.span))


def _part_of_range(w: Walker, base: Atom, part: Any) -> Block:
    if not isinstance(part, Slice):
        return (Assign(w.temporary(), Op(operator.getitem, (base, part)), w.span),)
    made = Assign(w.temporary(), Op(slice, (part.start, part.stop, part.step)), w.span)
    return made, Assign(w.temporary(), Op(operator.getitem, (base, Var(made.target))), w.span)


def operation_plain(w: Walker, fn: Callable[..., Any], *pairs: tuple[Any, Kind]) -> tuple[Expr, Kind]:
    """A primitive applied to atoms that were read already."""
    op = Operation(w.program.world, w.fresh("plain"), w.span)
    return Op(fn, tuple(a for a, _ in pairs)), op.kind(fn, [k for _, k in pairs], {})


def _array_item(w: Walker, kind: Arr, key: Key, parts: tuple[Any, ...]) -> Kind:
    kind.region.mark("indexed")
    if kind.rank is None:
        whole = len(key.parts) == 1 and isinstance(key.parts[0], Lit) and key.parts[0].value is Ellipsis
        if whole:
            return kind
        raise NotResolved(
            f"cannot tell what indexing {describe(kind)} gives",
            w.span,
            "give the array one rank in every branch, and `squeeze` the axes that it takes away",
        )
    if kind.dtypes:
        result: Kind = BOTTOM
        for each in each_of(kind):
            result = join(result, _array_item(w, each, key, parts))  # type: ignore[arg-type]
        return result
    sampler = Sampler()
    array = sampler.make(kind)
    _demand_one_library(w, kind, parts)
    try:
        selector = tuple(_sample_part(part) for part in parts)
        if isinstance(array, DeviceArray):
            selector = tuple(part.tolist() if isinstance(part, np.ndarray) else part for part in selector)
    except NoSample:
        message = f"cannot tell what {describe(kind)} gives for this index"
        raise NotResolved(message, w.span, "index it with whole numbers, slices and arrays of them") from None
    try:
        with transfers.uncounted():
            item = array[selector if key.many else selector[0]]
    except IndexError as error:
        raise NotResolved(f"this index does not fit {describe(kind)}: {error}", w.span, "check the index") from None
    if isinstance(item, DeviceArray):
        item, array = item._data, array._data
    flows = kind.region.root().varied and is_inexact(kind)
    if not isinstance(item, np.ndarray):
        return Num(type(item), flows)
    region = kind.region if np.may_share_memory(item, array) and is_basic(parts) else w.fresh("item")(())
    if region is not kind.region and flows:
        region.mark("varied")
    return Arr(item.dtype, item.ndim, region.root(), library=kind.library)


def _demand_one_library(w: Walker, kind: Arr, parts: tuple[Any, ...]) -> None:
    """Raises NotResolved where an array is indexed by one of another library."""
    other = next((p for p in parts if isinstance(p, Arr) and p.library != kind.library), None)
    if other is not None:
        hint = "bring the index to the memory of the array first: `cp.asarray(i)`, or `i.get()`"
        raise NotResolved(f"{describe(kind)} is indexed by {describe(other)}", w.span, hint)


def _sample_part(part: Any) -> Any:
    if isinstance(part, tuple):
        return slice(None)
    if isinstance(part, Arr) and part.dtype.kind == "b":
        return Sampler(1).make(part)
    if isinstance(part, Num) and not is_boolean(part):
        return 0
    if isinstance(part, Box):
        return np.zeros(1, int) if not isinstance(part.region.any(), Box) else np.zeros((1, 1), int)
    return Sampler(0).make(part)


def _slice_of(w: Walker, base: Atom, kind: Box, part: Any, bounds: tuple[Kind, ...]) -> tuple[Expr, Kind]:
    """A slice of a list or tuple: a new container of the same items."""
    node = kind.region.root()
    known = all(isinstance(b, Obj) or (isinstance(b, Num) and b.value is not MISSING) for b in bounds)
    if kind.cls in (list, tuple) and not node.open and known:
        chosen = range(len(node.fields))[slice(*(getattr(b, "value", None) for b in bounds))]
        return copied(w, base, kind.cls, list(chosen))
    if kind.cls is list:
        return copied_list(w, base, part)
    raise UnsupportedSyntax(
        f"a slice of {with_article(kind.cls.__name__)} is not differentiated", w.span, "take the items one by one"
    )
