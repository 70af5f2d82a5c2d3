"""From values to kinds, and from kinds to small sample values on which a primitive can be tried."""

from __future__ import annotations

import dataclasses
import enum
import types
from typing import Any

import numpy as np

from tangentx.analysis.kinds import BOTTOM, MISSING, Arr, Bottom, Box, Kind, Num, Obj, Some, TooDeep, signature, vary
from tangentx.analysis.regions import Region, World
from tangentx.arrays import fields
from tangentx.errors import NotResolved, Span
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
    enum.Enum,
)


class Valuer:
    """Gives kinds to values; `known` maps the identity of arrays and containers met before to their regions."""

    def __init__(self, world: World, span: Span | None = None, *, constants: bool = False) -> None:
        self.world = world
        self.span = span
        self.constants = constants
        self.known: dict[int, Region] = {}
        self.keep: list[Any] = []

    def kind(self, value: Any) -> Kind:
        """The kind of one value.

        Raises NotResolved for a subclass of ndarray and for an array of objects.
        """
        if type(value) in SCALARS:
            literal = self.constants or type(value) is bool
            return Num(type(value), value=value if literal and type(value) in (bool, int) else MISSING)
        if isinstance(value, np.generic) and value.dtype.kind in "biufc":
            return Num(type(value))
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, _WHOLE) or value is Ellipsis:
            return Obj(value)
        if is_container(value):
            return self._box(value)
        return Obj(value) if callable(value) else Some(type(value))

    def _array(self, value: np.ndarray[Any, Any]) -> Kind:
        if type(value) is not np.ndarray:
            raise NotResolved(
                f"{type(value).__name__} is a subclass of numpy.ndarray with rules of its own",
                self.span,
                "pass a plain array: np.asarray(x)",
            )
        if value.dtype.kind not in "biufc":
            raise NotResolved(
                f"an array of dtype {value.dtype} has no derivative rules", self.span, "use an array of numbers"
            )
        return Arr(value.dtype, value.ndim, self._region(value))

    def _region(self, value: Any) -> Region:
        if id(value) not in self.known:
            self.known[id(value)] = self.world.region()
            self.keep.append(value)
        return self.known[id(value)]

    def _box(self, value: Any) -> Kind:
        met = id(value) in self.known
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


def constant_kind(valuer: Valuer, value: Any) -> Kind:
    """The kind of a literal; whole numbers and booleans are known by value."""
    if value is UNBOUND:
        return BOTTOM
    return Num(type(value), value=value) if type(value) in (bool, int) else valuer.kind(value)


def is_record(value: Any) -> bool:
    """Whether the value is a named tuple or an instance of a dataclass."""
    named = isinstance(value, tuple) and hasattr(type(value), "_fields")
    return named or (dataclasses.is_dataclass(value) and not isinstance(value, type))


def is_container(value: Any) -> bool:
    """Whether the value is a list, tuple, dict or record, or an object that is known by its attributes."""
    if type(value) in (list, tuple, dict) or is_record(value):
        return True
    calls = [vars(cls)["__call__"] for cls in type(value).__mro__ if "__call__" in vars(cls)]
    return isinstance(calls[0] if calls else _plain, types.FunctionType) and fields(value) is not None


def _plain() -> None:
    """Stands for what is not called."""


def contents(value: Any) -> list[tuple[Any, Any]]:
    """Keys and items of a container: positions, keys, or attribute names."""
    if isinstance(value, list | tuple):
        return list(enumerate(value))
    if isinstance(value, dict):
        return list(value.items())
    return list((fields(value) or vars(value)).items())


COUNTING = -1


class NoSample(Exception):
    """No sample can be made of a kind."""


class Sampler:
    """Makes small values of kinds: arrays have `size` elements along each axis.

    `number` is the value of unknown numbers (with `forget`, of all whole numbers; COUNTING gives 0, 1, 2 ... one after
    the other in each container), `rank` stands for an unknown rank, a negative one for a plain number.
    `made` lists each array with its region, so that a result can be asked which of them it shares memory with.
    """

    def __init__(self, number: int = 1, rank: int = 1, forget: bool = False, size: int = 1) -> None:
        self.size = size
        self.number = number
        self.rank = rank
        self.forget = forget
        self.count = 0
        self.made: list[tuple[np.ndarray[Any, Any], Region]] = []

    def make(self, kind: Kind) -> Any:
        """A value of the kind. Raises NoSample where the kind does not say enough."""
        match kind:
            case Num(type=t, value=value):
                forget = self.forget and t is int
                return t(self._next()) if value is MISSING or forget else value
            case Arr(dtype=dtype, rank=known, region=region):
                rank = known if known is not None else self.rank
                if rank < 0:
                    return dtype.type(abs(self.number))
                array = np.full((self.size,) * rank, abs(self.number), dtype)
                self.made.append((array, region))
                return array
            case Obj(value=value):
                return value
            case Some(cls=cls) if cls in _SOME:
                return _SOME[cls]
            case Box(cls=cls, region=region):
                return self._box(cls, region.root())
            case _:
                raise NoSample

    def _next(self) -> int:
        if self.number != COUNTING:
            return self.number
        self.count += 1
        return self.count - 1

    def _box(self, cls: type, node: Region) -> Any:
        self.count = 0
        kinds = {key: node.get(key) for key in list(node.fields)}
        items = {key: self.make(k) for key, k in kinds.items() if not isinstance(k, Bottom)}
        if cls in (list, tuple):
            values = list(items.values())
            if not isinstance(node.elt, Bottom) and not values:
                values = [self.make(node.elt)]
            return cls(values)
        if cls is dict:
            return items
        if issubclass(cls, tuple):
            return cls(*items.values())
        if dataclasses.is_dataclass(cls):
            made = object.__new__(cls)
            for key, value in items.items():
                object.__setattr__(made, key, value)
            return made
        raise NoSample


_SOME: dict[type, Any] = {slice: slice(None), str: "1", bytes: b"a", range: range(1)}


def fill(kind: Kind) -> Kind:
    """Marks every real leaf of the kind as varied, and returns it."""
    if isinstance(kind, Box):
        node = kind.region.root()
        for key, item in list(node.fields.items()):
            node.fields[key] = fill(item)
        node.elt = fill(node.elt)
        return kind
    return vary(kind)


def has_counts(kind: Kind) -> bool:
    """Whether the kind is of a tuple with several whole numbers that are not known, such as axes."""
    if not isinstance(kind, Box):
        return False
    items = kind.region.root().fields.values()
    unknown = [k for k in items if isinstance(k, Num) and k.type is int and k.value is MISSING]
    return len(unknown) > 1 or any(has_counts(k) for k in items if isinstance(k, Box))


def still_empty(kind: Kind) -> bool:
    """Whether the kind is of a list into which nothing has been put so far."""
    node = kind.region.root() if isinstance(kind, Box) else None
    return node is not None and node.open and not node.fields and isinstance(node.elt, Bottom)
