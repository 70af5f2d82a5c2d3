"""Kinds: what is known of a value before the program runs, and the memory that it may refer to.

``Num`` a Python or NumPy scalar, ``Arr`` an array, ``Box`` a container, ``Obj`` one known object (None, a string, a
function, a module, a type), ``Some`` any object of a class, ``Bottom`` nothing yet, ``Top`` several things that have
no kind in common. Arrays and containers refer to a `Region`: regions that may overlap are united, so a region is a
class of memory that may alias, with the facts that hold for all of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np


class Missing:
    """The value of a `Num` that is not known."""

    def __repr__(self) -> str:
        return "?"


MISSING = Missing()


class Region:
    """A class of memory that may alias (union-find node); for a container also the kinds of its contents."""

    __slots__ = ("elt", "external", "fields", "indexed", "open", "parent", "resized", "varied", "world", "written")

    def __init__(self, world: World) -> None:
        self.world = world
        self.parent: Region | None = None
        self.fields: dict[Any, Kind] = {}
        self.elt: Kind = BOTTOM
        self.open = False
        self.written = self.indexed = self.varied = self.external = self.resized = False

    def root(self) -> Region:
        """The representative; shortens the path on the way."""
        node = self
        while node.parent is not None:
            if node.parent.parent is not None:
                node.parent = node.parent.parent
            node = node.parent
        return node

    def mark(self, *facts: str) -> None:
        """Sets the named facts for the whole class."""
        node = self.root()
        for fact in facts:
            if not getattr(node, fact):
                setattr(node, fact, True)
                node.world.changed = True

    def unite(self, other: Region) -> None:
        """Makes one class of the two: from now on they may alias."""
        a, b = self.root(), other.root()
        if a is b:
            return
        a.world.changed = True
        b.parent = a
        for fact in ("written", "indexed", "varied", "external", "open", "resized"):
            if getattr(b, fact):
                setattr(a, fact, True)
        fields, elt = b.fields, b.elt
        b.fields, b.elt = {}, BOTTOM
        for key, kind in fields.items():
            a.put(key, kind)
        a.put_any(elt)

    def put(self, key: Any, kind: Kind) -> None:
        """Content `kind` may stand at `key`."""
        node = self.root()
        old = node.fields.get(key, BOTTOM)
        new = join(old, kind)
        node = node.root()
        if new != node.fields.get(key):
            node.fields[key] = new
            node.world.changed = True

    def put_any(self, kind: Kind) -> None:
        """Content `kind` may stand anywhere."""
        node = self.root()
        new = join(node.elt, kind)
        node = node.root()
        if new != node.elt:
            node.elt = new
            node.world.changed = True

    def get(self, key: Any) -> Kind:
        """Kind of the content at the known `key`."""
        node = self.root()
        if key in node.fields:
            return join(node.fields[key], node.elt)
        return self.any() if node.open else BOTTOM

    def any(self) -> Kind:
        """Kind of the content at an unknown key."""
        result = self.root().elt
        for kind in list(self.root().fields.values()):
            result = join(result, kind)
        return result


@dataclass(eq=False)
class World:
    """What one analysis shares: whether a fact was added since `changed` was last cleared."""

    changed: bool = False
    links: list[tuple[Region, Region, Any]] = field(default_factory=list)

    def region(self) -> Region:
        """A new region."""
        return Region(self)


@dataclass(frozen=True, slots=True)
class Bottom:
    """No value has been seen yet."""


@dataclass(frozen=True, slots=True)
class Top:
    """Values that have no kind in common; `why` names two of them."""

    why: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Num:
    """A scalar of exactly `type`, or joined numbers for which `type` is the common one; `value` where known."""

    type: type
    varied: bool = False
    value: Any = MISSING


@dataclass(frozen=True, slots=True)
class Arr:
    """An array; `rank` None is unknown; `loose` may also be a number. Whether it varies is a fact of its region."""

    dtype: np.dtype[Any]
    rank: int | None
    region: Region
    loose: bool = False

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Arr)
            and self.dtype == other.dtype
            and self.rank == other.rank
            and self.loose == other.loose
            and self.region.root() is other.region.root()
        )

    def __hash__(self) -> int:
        return hash((self.dtype, self.rank, self.loose))


@dataclass(frozen=True, slots=True)
class Box:
    """A container: tuple, list, dict, named tuple, dataclass, or another object as the container of its attributes."""

    cls: type
    region: Region

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Box) and self.cls is other.cls and self.region.root() is other.region.root()

    def __hash__(self) -> int:
        return hash(self.cls)


@dataclass(frozen=True, slots=True)
class Obj:
    """One known object."""

    value: Any

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Obj):
            return False
        if self.value is other.value:
            return True
        plain = (str, bytes, np.dtype)
        return isinstance(self.value, plain) and type(self.value) is type(other.value) and bool(self.value == other.value)

    def __hash__(self) -> int:
        return hash(self.value) if isinstance(self.value, str | bytes) else id(type(self.value))


@dataclass(frozen=True, slots=True)
class Some:
    """Some object of class `cls`."""

    cls: type


Kind: TypeAlias = Bottom | Top | Num | Arr | Box | Obj | Some
BOTTOM = Bottom()


def number_type(dtype: np.dtype[Any]) -> type:
    """The NumPy scalar type of a dtype."""
    return dtype.type


def dtype_of(kind: Num | Arr) -> np.dtype[Any]:
    """The dtype that NumPy gives the number or array."""
    return kind.dtype if isinstance(kind, Arr) else np.dtype(kind.type)


def is_inexact(kind: Kind) -> bool:
    """Whether values of the kind are real or complex numbers, so that they can have a derivative."""
    return isinstance(kind, Num | Arr) and dtype_of(kind).kind in "fc"


def _join_num(a: Num, b: Num) -> Num:
    varied = a.varied or b.varied
    if a.type is b.type:
        same = a.value is b.value or (type(a.value) is type(b.value) and a.value == b.value)
        return Num(a.type, varied, a.value if same else MISSING)
    order: tuple[type, ...] = (bool, int, float, complex)
    if a.type in order and b.type in order:
        return Num(order[max(order.index(a.type), order.index(b.type))], varied)
    return Num(np.result_type(dtype_of(a), dtype_of(b)).type, varied)


def _join_arr(a: Arr, b: Arr) -> Arr:
    a.region.unite(b.region)
    dtype = a.dtype if a.dtype == b.dtype else np.result_type(a.dtype, b.dtype)
    return Arr(dtype, a.rank if a.rank == b.rank else None, a.region.root(), a.loose or b.loose)


def join(a: Kind, b: Kind) -> Kind:
    """The least kind that holds the values of both; regions of both are united."""
    if a == b or isinstance(b, Bottom) or isinstance(a, Top):
        return a
    if isinstance(a, Bottom) or isinstance(b, Top):
        return b
    if isinstance(a, Num) and isinstance(b, Num):
        return _join_num(a, b)
    if isinstance(a, Arr) and isinstance(b, Arr):
        return _join_arr(a, b)
    if isinstance(a, Num) and isinstance(b, Arr):
        a, b = b, a
    if isinstance(a, Arr) and isinstance(b, Num):
        if b.varied:
            a.region.mark("varied")
        return Arr(np.result_type(a.dtype, dtype_of(b)), None, a.region.root(), loose=True)
    if isinstance(a, Box) and isinstance(b, Box) and a.cls is b.cls:
        a.region.unite(b.region)
        return Box(a.cls, a.region.root())
    if isinstance(a, Obj) and isinstance(b, Obj) and type(a.value) is type(b.value) is str:
        return Some(str)
    if isinstance(a, Some) and isinstance(b, Obj) and type(b.value) is a.cls:
        return a
    if isinstance(b, Some) and isinstance(a, Obj) and type(a.value) is b.cls:
        return b
    return Top(f"{describe(a)} in one place and {describe(b)} in another")


def varied(kind: Kind, seen: tuple[Region, ...] = ()) -> bool:
    """Whether a derivative may flow into values of the kind."""
    if isinstance(kind, Num):
        return kind.varied and is_inexact(kind)
    if isinstance(kind, Arr):
        return kind.region.root().varied and is_inexact(kind)
    if isinstance(kind, Box):
        node = kind.region.root()
        if node in seen:
            return False
        seen = (*seen, node)
        return any(varied(k, seen) for k in (*node.fields.values(), node.elt))
    return False


def vary(kind: Kind) -> Kind:
    """The kind with its number varied; the region of an array of reals is marked."""
    if isinstance(kind, Num) and is_inexact(kind):
        return replace(kind, varied=True, value=MISSING)
    if isinstance(kind, Arr) and is_inexact(kind):
        kind.region.mark("varied")
    return kind


def describe(kind: Kind) -> str:
    """The kind in a user's words."""
    match kind:
        case Num(type=t):
            return f"{'an' if t.__name__[0] in 'aeiou' else 'a'} {t.__name__}"
        case Arr(dtype=dtype, rank=None, loose=loose):
            return f"a{' number or an' if loose else 'n'} array of {dtype} of unknown rank"
        case Arr(dtype=dtype, rank=rank):
            return f"an array of {dtype} of rank {rank}"
        case Box(cls=cls) | Some(cls=cls):
            return f"a {cls.__name__}"
        case Obj(value=value):
            name = getattr(value, "__name__", None) or repr(value)
            return f"`{name}`"
        case Top(why=why):
            return why
        case _:
            return "nothing"


def signature(kind: Kind, seen: tuple[Region, ...] = ()) -> Any:
    """A hashable summary of the kind, free of regions: what a function is compiled for."""
    if isinstance(kind, Num):
        return ("num", kind.type, kind.varied, kind.value if kind.type is bool else None)
    if isinstance(kind, Arr):
        return ("arr", kind.dtype.str, kind.rank, kind.loose, kind.region.root().varied)
    if isinstance(kind, Box):
        node = kind.region.root()
        if node in seen:
            return ("box", kind.cls, seen.index(node))
        seen = (*seen, node)
        fields = tuple((key, signature(k, seen)) for key, k in node.fields.items())
        return ("box", kind.cls, node.open, fields, signature(node.elt, seen))
    if isinstance(kind, Obj):
        plain = isinstance(kind.value, str | bytes | type(None) | np.dtype)
        return ("obj", type(kind.value), kind.value if plain else id(kind.value))
    return (type(kind).__name__, getattr(kind, "cls", None))
