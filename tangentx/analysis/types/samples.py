"""Samples: small values of kinds, on which a primitive can be tried, and the kinds of values at run time."""

from __future__ import annotations

import dataclasses
import enum
import itertools
import types
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tangentx.analysis.types.address_map import Memory
from tangentx.analysis.types.kinds import (
    BOTTOM,
    MISSING,
    Arr,
    Bottom,
    Box,
    Kind,
    Num,
    Obj,
    Region,
    Some,
    TooDeep,
    World,
    dtype_of,
    signature,
    vary,
)
from tangentx.analysis.types.user_code import is_foreign
from tangentx.arrays import parts_of
from tangentx.arrays.device_double import on_device
from tangentx.arrays.libraries import is_array, is_elsewhere, library_of_class
from tangentx.arrays.structures import contents, is_container, is_record, is_whole
from tangentx.common.naming import with_article
from tangentx.common.options import OBSERVING
from tangentx.errors import NotDifferentiable, NotResolved, Span
from tangentx.ir.nodes import UNBOUND

# Small sample values of kinds, on which a primitive can be tried, and which ones are worth trying.

COUNTING = -1
_UNLIKE = (1.0, -2.0, 3.0, -1.0)
"""Reals in turn: as a matrix of two rows they have complex eigenvalues."""


class NoSample(Exception):
    """No sample can be made of a kind."""


_LIMIT_SIZE = 1 << 20
"""Elements of the largest sample."""


class Sampler:
    """Makes small values of kinds: arrays have `size` elements along each axis. Those of other libraries than NumPy
    are the double's (`arrays/device_double.py`), so that nothing runs on a device.

    `hidden`: a result had no elements, so that it does not show whose memory it is.
    `turn` chooses one of the types of what may have several.
    `unlike` gives reals that differ from one another, and in sign.
    `number` is the value of unknown numbers (with `forget`, of all whole numbers; COUNTING gives 0, 1, 2 ... one after
    the other in each container), `rank` stands for an unknown rank, a negative one for a plain number.
    `length` is that of lists and tuples of whole numbers whose length is not known, such as shapes; None is as many as
    are known. `made` lists each array with its region, so that a result can be asked which of them it shares memory
    with. `library` is another one than NumPy where it has made arrays of that, `instead` where it has made numbers of
    what may also be arrays of that. `shorten` leaves of a list of reals or truths the first item alone, so that its
    length is that of the arrays beside it.
    """

    def __init__(
        self,
        number: int = 1,
        rank: int = 1,
        forget: bool = False,
        size: int = 1,
        length: int | None = None,
        unlike: bool = False,
        turn: int = 0,
        shorten: bool = False,
    ) -> None:
        self.turn = turn
        self.shorten = shorten
        self.library = self.instead = "numpy"
        self.unlike = unlike
        self.hidden = False
        self.size = size
        self.length = length
        self.number = number
        self.rank = rank
        self.forget = forget
        self.count = 0
        self.made: list[tuple[np.ndarray[Any, Any], Region]] = []

    def make(self, kind: Kind) -> Any:
        """A value of the kind. Raises NoSample where the kind does not say enough."""
        match kind:
            case Num(types=types) if types:
                return self.make(replace(kind, type=types[self.turn % len(types)], types=()))
            case Arr(dtypes=dtypes) if dtypes:
                return self.make(replace(kind, dtype=dtypes[self.turn % len(dtypes)], dtypes=()))
            case Num(type=t, value=value):
                forget = self.forget and t is int
                if self.unlike and value is MISSING and dtype_of(kind).kind in "fc":
                    return t(-2.0)
                return t(self._next()) if value is MISSING or forget else value
            case Arr(dtype=dtype, rank=known, region=region, library=library):
                rank = known if known is not None else self.rank
                if rank < 0:
                    self.instead = library if library != "numpy" else self.instead
                    return dtype.type(abs(self.number))
                if self.size**rank > _LIMIT_SIZE:  # made by NumPy of objects that it takes for nested lists
                    raise ValueError(f"an array of {rank} axes")
                array = np.full((self.size,) * rank, abs(self.number), dtype)
                if self.unlike and dtype.kind in "fc":
                    array[...] = np.resize(np.array(_UNLIKE) * (1 if dtype.kind == "f" else 1j), array.shape)
                self.made.append((array, region))
                if library == "numpy":
                    return array
                self.library = library
                return on_device(array)
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
            if self.length is not None and of_any_length(Box(cls, node)):
                values = [*values, *values[-1:] * self.length][: self.length]
            if self.shorten and cls is list and all(type(value) in (float, bool) for value in values):
                values = values[:1]
            return cls(values)
        if cls is dict:
            return items
        if hasattr(cls, "__del__"):
            raise NoSample
        if issubclass(cls, tuple):
            return cls(*items.values())
        if dataclasses.is_dataclass(cls):
            made = object.__new__(cls)
            for key, value in items.items():
                object.__setattr__(made, key, value)
            return made
        raise NoSample


_SOME: dict[type, Any] = {slice: slice(None), str: "1", bytes: b"a", range: range(1), type: float}


def has_counts(kind: Kind) -> bool:
    """Whether the kind is of a tuple with several whole numbers that are not known, such as axes."""
    if not isinstance(kind, Box):
        return False
    items = kind.region.root().fields.values()
    unknown = [k for k in items if isinstance(k, Num) and k.type is int and k.value is MISSING]
    return len(unknown) > 1 or any(has_counts(k) for k in items if isinstance(k, Box))


def of_any_length(kind: Kind) -> bool:
    """Whether the kind is of a list or tuple of whole numbers whose length is not known."""
    node = kind.region.root() if isinstance(kind, Box) and kind.cls in (list, tuple) else None
    if node is None or not node.open:
        return False
    items = [k for k in (*node.fields.values(), node.elt) if not isinstance(k, Bottom)]
    return bool(items) and all(isinstance(k, Num) and k.type is int for k in items)


def still_empty(kind: Kind) -> bool:
    """Whether the kind is of a list into which nothing has been put so far, or of a tuple with an item that has not
    been seen."""
    node = kind.region.root() if isinstance(kind, Box) else None
    if node is None or not isinstance(node.elt, Bottom):
        return False
    return node.open and not node.fields or any(isinstance(item, Bottom) for item in node.fields.values())


def _of_any_rank(kind: Kind, around: frozenset[Region] = frozenset()) -> Iterator[Arr]:
    """The kinds of arrays of unknown rank, in containers too."""
    if isinstance(kind, Arr) and kind.rank is None:
        yield kind
    elif isinstance(kind, Box) and (node := kind.region.root()) not in around:
        for item in (*node.fields.values(), node.elt):
            yield from _of_any_rank(item, around | {node})


ENOUGH = 2


def settings(kinds: Sequence[Kind]) -> Iterator[tuple[int, int | None]]:
    """Ranks for arrays of unknown rank, with lengths for lists and tuples of unknown length: see `Sampler`.

    What such a length may tell is a rank, so several are tried; those above `ENOUGH` where the others gave nothing.
    """
    loose = [k for kind in kinds for k in _of_any_rank(kind)]
    ranks: tuple[int, ...] = (1,)
    if loose:
        ranks = (1, 2, -1) if any(k.loose for k in loose) else (1, 2)
    lengths: tuple[int | None, ...] = (None,)
    if any(map(of_any_length, kinds)):
        tuples = any(of_any_length(k) and isinstance(k, Box) and k.cls is tuple for k in kinds)
        lengths = (None, 1, ENOUGH, *((0,) if tuples else ()), ENOUGH + 1, ENOUGH + 2)
    return ((rank, length) for length, rank in itertools.product(lengths, ranks))


# The kind of a run-time value, and sample values of a kind.

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
