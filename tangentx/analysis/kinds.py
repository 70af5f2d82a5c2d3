"""Kinds: what is known of a value before the program runs, and the memory that it may refer to.

``Num`` a Python or NumPy scalar, ``Arr`` an array, ``Box`` a container, ``Obj`` one known object (None, a string, a
function, a module, a type), ``Some`` any object of a class, ``Bottom`` nothing yet, ``Top`` several things that have
no kind in common. Arrays and containers refer to a `Region`: regions that may overlap are united, so a region is a
class of memory that may alias, with the facts that hold for all of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tangentx.errors import NotResolved, Span
from tangentx.ir.functions import FunctionValue

if TYPE_CHECKING:
    from tangentx.analysis.regions import Region


class Missing:
    """The value of a `Num` that is not known."""

    def __repr__(self) -> str:
        return "?"


MISSING = Missing()


@dataclass(frozen=True, slots=True)
class Bottom:
    """No value has been seen yet."""


@dataclass(frozen=True, slots=True)
class Top:
    """Values that have no kind in common; `why` names two of them, `hint` says what to do instead."""

    why: str = field(default="", compare=False)
    hint: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Num:
    """A scalar of exactly `type`; or one of several `types`, of which `type` is the common one; `value` where known.

    With `none` it may also be None, which stands where there is no number yet and has no derivative.
    """

    type: type
    varied: bool = False
    value: Any = MISSING
    none: bool = False
    types: tuple[Any, ...] = ()

    @property
    def exact(self) -> tuple[Any, ...]:
        """The types that it may have, one or several."""
        return self.types or (self.type,)


@dataclass(frozen=True, slots=True)
class Arr:
    """An array; `rank` None is unknown; `loose` may also be a number, with `none` it may be None. Whether it varies is
    a fact of its region. `dtypes` are those that it may have where they are of several domains (whole numbers, reals,
    complex numbers), `dtype` is what they have in common."""

    dtype: np.dtype[Any]
    rank: int | None
    region: Region
    loose: bool = False
    none: bool = False
    dtypes: tuple[np.dtype[Any], ...] = ()

    @property
    def sure(self) -> bool:
        """Whether it is an array and nothing else."""
        return not (self.loose or self.none)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Arr)
            and self.dtype == other.dtype
            and self.rank == other.rank
            and self.loose == other.loose
            and self.none == other.none
            and self.dtypes == other.dtypes
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
        return (
            isinstance(self.value, plain) and type(self.value) is type(other.value) and bool(self.value == other.value)
        )

    def __hash__(self) -> int:
        return hash(self.value) if isinstance(self.value, (str, bytes)) else id(type(self.value))


@dataclass(frozen=True, slots=True)
class Some:
    """Some object of class `cls`."""

    cls: type


@dataclass(frozen=True, slots=True)
class Either:
    """One of several known functions, none of which captures anything."""

    values: tuple[Any, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Either) and set(map(id, self.values)) == set(map(id, other.values))

    def __hash__(self) -> int:
        return hash(frozenset(map(id, self.values)))


Kind: TypeAlias = Bottom | Top | Num | Arr | Box | Obj | Either | Some
BOTTOM = Bottom()


def dtype_of(kind: Num | Arr) -> np.dtype[Any]:
    """The dtype that NumPy gives the number or array."""
    return kind.dtype if isinstance(kind, Arr) else np.dtype(kind.type)


def is_inexact(kind: Kind) -> bool:
    """Whether values of the kind are real or complex numbers, so that they can have a derivative."""
    return isinstance(kind, (Num, Arr)) and dtype_of(kind).kind in "fc"


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
        case Num(none=none):
            names = [f"{'an' if each.__name__[0] in 'aeiou' else 'a'} {each.__name__}" for each in kind.exact]
            return f"{' or '.join(names)}{' or None' if none else ''}"
        case Arr(dtypes=dtypes) if dtypes:
            return f"an array of {' or '.join(map(str, dtypes))}"
        case Arr(dtype=dtype, rank=None, loose=loose):
            return f"a{' number or an' if loose else 'n'} array of {dtype} of unknown rank"
        case Arr(dtype=dtype, rank=rank, none=none):
            return f"an array of {dtype} of rank {rank}{' or None' if none else ''}"
        case Box(cls=cls) if issubclass(cls, FunctionValue):
            return f"the function `{cls.__name__}`"
        case Some(cls=cls) if cls is object:
            return "something that is known only when it runs"
        case Box(cls=cls) | Some(cls=cls):
            return f"a {cls.__name__}"
        case Obj(value=value):
            name = getattr(value, "__name__", None) or repr(value)
            return f"`{name}`"
        case Either(values=values):
            return " or ".join(describe(Obj(value)) for value in values)
        case Top(why=why):
            return why
        case _:
            return "nothing"


def located(kind: Kind, span: Span) -> NotResolved:
    """The error for a value whose kinds have nothing in common."""
    hint = kind.hint if isinstance(kind, Top) and kind.hint else "use two names, or one kind of value in every branch"
    return NotResolved(f"this value is {describe(kind)}", span, hint)


LIMIT_PARTS = 20_000


class TooDeep(Exception):
    """A kind holds more parts than anything that is written by hand."""


def signature(kind: Kind, seen: tuple[Region, ...] = (), left: list[int] | None = None) -> Any:
    """A hashable summary of the kind, free of regions: what a function is compiled for. Raises TooDeep."""
    left = left if left is not None else [LIMIT_PARTS]
    left[0] -= 1
    if left[0] < 0:
        raise TooDeep
    if isinstance(kind, Num):
        return ("num", kind.exact, kind.varied, kind.value if kind.type is bool else None, kind.none)
    if isinstance(kind, Arr):
        dtype = kind.dtype.str if not kind.dtypes else tuple(dtype.str for dtype in kind.dtypes)
        return ("arr", dtype, kind.rank, kind.loose, kind.none, kind.region.root().varied)
    if isinstance(kind, Box):
        node = kind.region.root()
        if node in seen:
            return ("box", kind.cls, seen.index(node))
        seen = (*seen, node)
        fields = tuple((key, signature(k, seen, left)) for key, k in node.fields.items())
        return ("box", kind.cls, node.open, fields, signature(node.elt, seen, left), signature(node.key, seen, left))
    if isinstance(kind, Obj):
        plain = isinstance(kind.value, str | bytes | type(None) | np.dtype)
        return ("obj", type(kind.value), kind.value if plain else id(kind.value))
    if isinstance(kind, Either):
        return ("either", *map(id, kind.values))
    return (type(kind).__name__, getattr(kind, "cls", None))


def without_varied(found: Any) -> Any:
    """A signature of which it does not matter what varies."""
    if isinstance(found, tuple):
        if found and found[0] == "num":
            return ("num", found[1], *found[3:])
        if found and found[0] == "arr":
            return found[:5]
        return tuple(without_varied(item) for item in found)
    return found


def covers(wide: Any, narrow: Any) -> bool:
    """Whether every value of the second signature is one of the first, both without what varies; False where that is
    not plain to see."""
    if wide == narrow or narrow[0] == "Bottom":
        return True
    if wide[0] != narrow[0] or len(wide) != len(narrow):
        return False
    if wide[0] == "num":
        _, types, value, none = wide
        return set(types) >= set(narrow[1]) and value in (None, narrow[2]) and (none or not narrow[3])
    if wide[0] != "box" or len(wide) < 6 or wide[1:3] != narrow[1:3]:
        return False
    fields, found = dict(wide[3]), dict(narrow[3])
    parts = [(fields[key], found[key]) for key in fields if key in found]
    return fields.keys() == found.keys() and all(covers(*pair) for pair in (*parts, *zip(wide[4:], narrow[4:])))


def is_view(result: Kind, operand: Kind) -> bool:
    """Whether the result of an operation may be a view of, or the same object as, its operand."""
    return isinstance(result, Arr) and isinstance(operand, Arr) and result.region.root() is operand.region.root()
