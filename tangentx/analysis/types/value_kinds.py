"""The kind of a run-time value, and sample values of a kind."""

from __future__ import annotations

import enum
import types
from typing import Any

import numpy as np

from tangentx.analysis.types.address_map import Memory
from tangentx.analysis.types.kinds import (
    BOTTOM,
    MISSING,
    Arr,
    Box,
    Kind,
    Num,
    Obj,
    Region,
    Some,
    TooDeep,
    World,
    signature,
    vary,
)
from tangentx.analysis.types.user_code import is_foreign
from tangentx.arrays import parts_of
from tangentx.arrays.libraries import is_array, is_elsewhere, library_of_class
from tangentx.arrays.structures import contents, is_container, is_record, is_whole
from tangentx.common.naming import with_article
from tangentx.common.options import OBSERVING
from tangentx.errors import NotDifferentiable, NotResolved, Span
from tangentx.ir.nodes import UNBOUND

SCALARS = (bool, int, float, complex)
_WHOLE = (
    type(None),
    types.NotImplementedType,
    str,
    bytes,
    type,
    np.dtype,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.ModuleType,
    np.ufunc,
    np.vectorize,
    enum.Enum,
)


class Valuer:
    """Gives kinds to values; `known` maps the identity of arrays and containers met before to their regions.

    With `memory`, arrays that overlap those met before are of one region with them.
    """

    def __init__(
        self, world: World, span: Span | None = None, *, constants: bool = False, memory: Memory | None = None
    ) -> None:
        self.world = world
        self.span = span
        self.constants = constants
        self.memory = memory
        self.known: dict[int, Region] = {}
        self.keep: list[Any] = []

    def kind(self, value: Any) -> Kind:
        """The kind of one value.

        Raises NotResolved for a subclass of ndarray and for an array of objects.
        """
        if type(value) in SCALARS:
            literal = self.constants or type(value) is bool
            return Num(type(value), value=value if literal and type(value) in (bool, int) else MISSING)
        if isinstance(value, np.ndarray | np.generic) and not issubclass(type(value), np.ndarray | np.generic):
            message = f"{with_article(type(value).__name__)} claims to be a number or an array, but behaves differently"
            hint = "pass plain numbers and arrays; a model on Tensors is given as an argument"
            raise NotResolved(message, self.span, hint)
        if isinstance(value, np.generic) and value.dtype.kind in "biufc":
            return Num(type(value))
        if is_elsewhere(value):
            return self._array(value)
        if hasattr(type(value), "__cuda_array_interface__"):
            where = f"{type(value).__module__}.{type(value).__qualname__}"
            hint = "bring it here first: `x.get()`"
            raise NotDifferentiable(f"{where} lies on a device, and derivatives take NumPy's arrays", self.span, hint)
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, _WHOLE) or value is Ellipsis:
            return Obj(value)
        if is_whole(value):
            return Obj(value)
        if is_container(value):
            return Some(type(value)) if _is_foreign(value) else self._box(value)
        return Obj(value) if callable(value) else Some(type(value))

    def _array(self, value: Any) -> Kind:
        library = library_of_class(type(value))
        if library is None:
            raise NotResolved(
                f"{type(value).__name__} is a subclass of numpy.ndarray with its own rules",
                self.span,
                "pass a plain array: np.asarray(x)",
            )
        if value.dtype.kind not in "biufc":
            raise NotResolved(
                f"an array of dtype {value.dtype} has no derivative rules", self.span, "use an array of numbers"
            )
        return Arr(value.dtype, value.ndim, self._region(value), library=library.module)

    def _region(self, value: Any) -> Region:
        if id(value) not in self.known:
            self.known[id(value)] = self.world.region()
            self.keep.append(value)
            if self.memory is not None and is_array(value):
                self.memory.add(value, self.known[id(value)])
        return self.known[id(value)]

    def _box(self, value: Any) -> Kind:
        met = id(value) in self.known
        if not met and hasattr(type(value), "__tangentx_arrays__") and value.__tangentx_arrays__() is not value:
            what = f"the model of class {type(value).__name__} has Tensors for its parameters, and is no argument"
            hint = "give it as an argument, or use `model.arrays()`, which shares the memory of its parameters"
            raise NotResolved(what, self.span, hint)
        box = Box(type(value), self._region(value))
        if met:
            return box
        items = contents(value)
        box.region.born(key for key, _ in items)
        kinds = [(key, self.kind(item)) for key, item in items]
        if type(value) is list and self._alike([kind for _, kind in kinds]):
            box.region.mark("open")
            for _, kind in kinds:
                box.region.put_any(kind)
        else:
            for key, kind in kinds:
                box.region.put(key, kind)
        return box

    def _alike(self, kinds: list[Kind]) -> bool:
        """Whether the items of a list are of one kind."""
        try:
            return len({signature(kind) for kind in kinds}) <= 1
        except TooDeep:
            raise NotResolved(
                "a list holds more parts than a derivative can follow", self.span, "pass the part that is needed"
            ) from None


def _is_foreign(value: Any) -> bool:
    """Whether calls on constants are called as they are, and a value is an object of a class that is not the user's."""
    observing = OBSERVING.get()
    known = (
        type(value) in (list, tuple, dict) or is_record(value) or type(value).__module__ in ("builtins", "functools")
    )
    known = known or parts_of(type(value)) is not None
    return observing is not None and not known and is_foreign(type(value), observing.home)


_OF_TYPE: dict[type, Kind] = {float: Num(float), complex: Num(complex), type(None): Obj(None), type(UNBOUND): BOTTOM}


def constant_kind(valuer: Valuer, value: Any) -> Kind:
    """The kind of a literal; whole numbers and booleans are known by value."""
    known = _OF_TYPE.get(type(value))
    if known is not None:
        return known
    return Num(type(value), value=value) if type(value) in (bool, int) else valuer.kind(value)


def fill(kind: Kind) -> Kind:
    """Marks every real leaf of the kind as varied, and returns it; of a module, its parameters alone."""
    if isinstance(kind, Box):
        node = kind.region.root()
        chosen = _parameters(kind)
        for key, item in list(node.fields.items()):
            if chosen is None or key in chosen or isinstance(item, Box):
                node.fields[key] = fill(item)
        node.elt = fill(node.elt)
        return kind
    return vary(kind)


def _parameters(kind: Box) -> tuple[str, ...] | None:
    """The attributes that hold parameters of a module which are not frozen; None for anything else."""
    if not hasattr(kind.cls, "__tangentx_gradient__"):
        return None
    frozen = _names(kind, "_frozen")
    return tuple(path.partition(".")[0] for path in _names(kind, "_parameters") if path not in frozen)


def _names(kind: Box, attribute: str) -> tuple[str, ...]:
    """The texts that an attribute holds in a tuple."""
    held = kind.region.root().fields.get(attribute)
    items = held.region.root().fields.values() if isinstance(held, Box) else ()
    return tuple(item.value for item in items if isinstance(item, Obj))
