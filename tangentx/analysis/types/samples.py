"""Small sample values of kinds, on which a primitive can be tried, and which ones are worth trying."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tangentx.analysis.types.kinds import MISSING, Arr, Bottom, Box, Kind, Num, Obj, Region, Some, dtype_of
from tangentx.arrays.device_double import on_device

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
