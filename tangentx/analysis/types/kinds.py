"""Kinds: what is known of a value before the program runs, and the memory that it may refer to.

``Num`` a Python or NumPy scalar, ``Arr`` an array, ``Box`` a container, ``Obj`` one known object (None, a string, a
function, a module, a type), ``Some`` any object of a class, ``Bottom`` nothing yet, ``Top`` several things that have
no kind in common. Arrays and containers refer to a `Region`: regions that may overlap are united, so a region is a
class of memory that may alias, with the facts that hold for all of it.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from tangentx.arrays import parts_of
from tangentx.arrays.libraries import Library, library_called
from tangentx.common.free_variables import MISSING as MISSING
from tangentx.common.naming import as_python_says, with_article
from tangentx.errors import NotResolved, Span
from tangentx.ir.functions import FunctionValue, classes_of, mixed


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
    complex numbers), `dtype` is what they have in common. `library` is the module that it is an array of."""

    dtype: np.dtype[Any]
    rank: int | None
    region: Region
    loose: bool = False
    none: bool = False
    dtypes: tuple[np.dtype[Any], ...] = ()
    library: str = "numpy"

    @property
    def sure(self) -> bool:
        """Whether it is an array and nothing else."""
        return not (self.loose or self.none)

    def at(self, region: Region) -> Arr:
        """The same in other memory."""
        return Arr(self.dtype, self.rank, region, self.loose, self.none, self.dtypes, self.library)

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Arr)
            and self.dtype == other.dtype
            and self.rank == other.rank
            and self.loose == other.loose
            and self.none == other.none
            and self.dtypes == other.dtypes
            and self.library == other.library
            and self.region.root() is other.region.root()
        )

    def __hash__(self) -> int:
        return hash((self.dtype, self.rank, self.loose))


@dataclass(frozen=True, slots=True)
class Box:
    """A container: tuple, list, dict, named tuple, dataclass, or another object as the container of its attributes.

    An object of one of several classes has a class of its own (`ir.functions`). With `none` it may also be None.
    """

    cls: type
    region: Region
    none: bool = False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Box) or self.none is not other.none:
            return False
        return self.cls is other.cls and self.region.root() is other.region.root()

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
    """Some object of class `cls`; one that `tells` is a text, or made of one, of a value that varies."""

    cls: type
    tells: bool = False


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


def is_count(kind: Kind) -> bool:
    """Whether values of the kind may be whole numbers, and so a length or a place."""
    return type(kind) is Num and _has_whole(kind.exact)


@functools.cache
def _has_whole(types: tuple[type, ...]) -> bool:
    return any(issubclass(each, int | np.integer) for each in types)


def is_array(kind: object) -> bool:
    """Whether values of the kind certainly are arrays, of one domain."""
    return isinstance(kind, Arr) and kind.sure and not kind.dtypes


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
        return kind if kind.varied and kind.value is MISSING else Num(kind.type, True, MISSING, kind.none, kind.types)
    if isinstance(kind, Arr) and is_inexact(kind):
        kind.region.mark("varied")
    return kind


def describe(kind: Kind) -> str:
    """The kind in a user's words."""
    match kind:
        case Num(none=none):
            names = [with_article(each.__name__) for each in kind.exact]
            return f"{' or '.join(names)}{' or None' if none else ''}"
        case Arr(library=library) if library != "numpy":
            return f"{describe(replace(kind, library='numpy'))} in {library_called(library).shown}"
        case Arr(dtypes=dtypes) if dtypes:
            return f"an array of {' or '.join(map(str, dtypes))}"
        case Arr(dtype=dtype, rank=None, loose=loose):
            return f"a{' number or an' if loose else 'n'} array of {dtype} of unknown rank"
        case Arr(dtype=dtype, rank=rank, none=none):
            return f"an array of {dtype} of rank {rank}{' or None' if none else ''}"
        case Box(cls=cls) if issubclass(cls, FunctionValue):
            return f"the function `{as_python_says(cls.__name__)}`"
        case Some(cls=cls) if cls is object:
            return "something that is known only when it runs"
        case Box(cls=cls, none=none):
            return f"{with_article(cls.__name__)}{' or None' if none else ''}"
        case Some(cls=cls):
            return with_article(cls.__name__)
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
        return ("arr", dtype, kind.rank, kind.loose, kind.none, kind.library, kind.region.root().varied)
    if isinstance(kind, Box):
        node = kind.region.root()
        cls = (kind.cls, "or None") if kind.none else kind.cls
        if node in seen:
            return ("box", cls, seen.index(node))
        seen = (*seen, node)
        fields = tuple((key, signature(k, seen, left)) for key, k in node.fields.items())
        return ("box", cls, node.open, fields, signature(node.elt, seen, left), signature(node.key, seen, left))
    if isinstance(kind, Obj):
        plain = isinstance(kind.value, str | bytes | type(None) | np.dtype)
        return ("obj", type(kind.value), kind.value if plain else id(kind.value))
    if isinstance(kind, Either):
        return ("either", *map(id, kind.values))
    return (type(kind).__name__, getattr(kind, "cls", None), *("tells" for _ in range(getattr(kind, "tells", False))))


def without_varied(found: Any) -> Any:
    """A signature of which it does not matter what varies."""
    if isinstance(found, tuple):
        if found and found[0] == "num":
            return ("num", found[1], *found[3:])
        if found and found[0] == "arr":
            return found[:6]
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


def library_in(kind: Kind, seen: tuple[Region, ...] = ()) -> Library | None:
    """The library of the first array in a value that is not one of NumPy's; None where there is none."""
    if isinstance(kind, Arr):
        return library_called(kind.library) if kind.library != "numpy" else None
    if isinstance(kind, Box) and (node := kind.region.root()) not in seen:
        found = (library_in(each, (*seen, node)) for each in (*node.fields.values(), node.elt))
        return next((each for each in found if each is not None), None)
    return None


def is_elsewhere(kind: Kind) -> bool:
    """Whether a value holds an array of another library than NumPy."""
    return library_in(kind) is not None


def is_view(result: Kind, operand: Kind) -> bool:
    """Whether the result of an operation may be a view of, or the same object as, its operand."""
    return isinstance(result, Arr) and isinstance(operand, Arr) and result.region.root() is operand.region.root()


FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, np.ufunc, functools.partial)


class Region:
    """A class of memory that may alias (union-find node); for a container also the kinds of its contents."""

    __slots__ = (
        "always",
        "elt",
        "external",
        "fields",
        "indexed",
        "key",
        "open",
        "parent",
        "parted",
        "resized",
        "rewritten",
        "varied",
        "world",
        "written",
    )

    def __init__(self, world: World) -> None:
        self.world = world
        self.parent: Region | None = None
        self.fields: dict[Any, Kind] = {}
        self.elt: Kind = BOTTOM
        self.key: Kind = BOTTOM  # of the keys of a dict that are not among the fields
        self.always: frozenset[Any] | None = None  # keys that all such containers are made with; None before any is
        self.open = False
        self.written = self.indexed = self.varied = self.external = self.resized = False
        self.parted = False  # the imaginary part of a complex array is viewed
        self.rewritten = False  # a copy of all of it, which keeps what shares memory, is written

    def root(self) -> Region:
        """The representative; shortens the path on the way."""
        node = self
        while node.parent is not None:
            if node.parent.parent is not None:
                node.parent = node.parent.parent
            node = node.parent
        return node

    def still(self) -> bool:
        """Whether nothing writes into the memory, nor into a copy of it: what shares memory there does not matter."""
        node = self.root()
        return not (node.written or node.rewritten)

    def born(self, keys: Iterable[Any]) -> None:
        """A container of the class is made with these keys."""
        node = self.root()
        node.always = frozenset(keys) if node.always is None else node.always & frozenset(keys)

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
        for fact in ("written", "indexed", "varied", "external", "open", "parted", "resized", "rewritten"):
            if getattr(b, fact):
                setattr(a, fact, True)
        if b.always is not None:
            a.born(b.always)
        if list(a.fields) != list(b.fields):
            a.open = True  # one of the two has items that the other lacks, or another order
        fields, elt, keys = b.fields, b.elt, b.key
        b.fields, b.elt, b.key = {}, BOTTOM, BOTTOM
        for key, kind in fields.items():
            a.put(key, kind)
        a.put_any(elt)
        a.put_key(keys)

    def put(self, key: Any, kind: Kind) -> None:
        """Content `kind` may stand at `key`."""
        node, new = self._with(kind, lambda node: node.fields.get(key, BOTTOM))
        if new != node.fields.get(key):
            node.fields[key] = new
            node.world.changed = True

    def put_any(self, kind: Kind) -> None:
        """Content `kind` may stand anywhere."""
        node, new = self._with(kind, lambda node: node.elt)
        if new != node.elt:
            node.elt = new
            node.world.changed = True

    def put_key(self, kind: Kind) -> None:
        """A dict may have keys of this kind, which are not known."""
        node, new = self._with(kind, lambda node: node.key)
        if new != node.key:
            node.key = new
            node.world.changed = True

    def _with(self, kind: Kind, there: Callable[[Region], Kind]) -> tuple[Region, Kind]:
        """The representative, and what is `there` joined with `kind`: with all that is, for a join of containers that
        hold each other may unite this very class with others, and bring their content."""
        node = self.root()
        while True:
            old = there(node)
            new = join(old, kind)
            node = node.root()
            if there(node) == old:
                return node, new

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
    """What one analysis shares: whether a fact was added since `changed` was last cleared.

    `links` are read-only views with their bases, `copies` what is copied as a whole with the copies, of this round;
    `given` is what is given to unknown code: the memory, whether that code lets go of it, what it is, and where.
    `exceptions`: whether there is an exception made of what varies.
    """

    changed: bool = False
    links: list[tuple[Region, Region, Any]] = field(default_factory=list)
    copies: list[tuple[Region, Region]] = field(default_factory=list)
    given: list[tuple[list[Region], bool, str, Any]] = field(default_factory=list)
    exceptions: bool = False

    def region(self) -> Region:
        """A new region."""
        return Region(self)


def _join_num(a: Num, b: Num) -> Num:
    varied = a.varied or b.varied
    if a.exact == b.exact:
        same = a.value is b.value or (type(a.value) is type(b.value) and a.value == b.value)
        return Num(a.type, varied, a.value if same else MISSING, a.none or b.none, a.types)
    order: tuple[type, ...] = (bool, int, float, complex)
    both = order[max(order.index(a.type), order.index(b.type))] if a.type in order and b.type in order else None
    types = tuple(sorted({*a.exact, *b.exact}, key=lambda t: (t.__module__, t.__name__)))
    return Num(both or np.result_type(dtype_of(a), dtype_of(b)).type, varied, none=a.none or b.none, types=types)


def _or_none(kind: Num | Arr | Box) -> Num | Arr | Box:
    """The kind of what may also be None."""
    return replace(kind, value=MISSING, none=True) if isinstance(kind, Num) else replace(kind, none=True)


def _join_arr(a: Arr, b: Arr) -> Arr:
    a.region.unite(b.region)
    dtype = a.dtype if a.dtype == b.dtype else np.result_type(a.dtype, b.dtype)
    rank = a.rank if a.rank == b.rank else None
    dtypes = _domains(a, b) if a.dtypes or b.dtypes or a.dtype != b.dtype else ()
    return Arr(dtype, rank, a.region.root(), a.loose or b.loose, a.none or b.none, dtypes, a.library)


def _domains(a: Arr, b: Arr) -> tuple[np.dtype[Any], ...]:
    """The dtypes of two arrays where one may be of whole numbers, of reals or of complex numbers, and one of others."""
    found = sorted({*(a.dtypes or (a.dtype,)), *(b.dtypes or (b.dtype,))}, key=str)
    domains = {dtype.kind if dtype.kind in "fc" else "i" for dtype in found}
    return tuple(found) if len(domains) > 1 else ()


def join(a: Kind, b: Kind) -> Kind:
    """The least kind that holds the values of both; regions of both are united."""
    if a is b or isinstance(b, Bottom) or isinstance(a, Top) or a == b:
        return a
    if isinstance(a, Bottom) or isinstance(b, Top):
        return b
    if isinstance(a, Num) and isinstance(b, Num):
        return _join_num(a, b)
    if isinstance(a, Arr) and isinstance(b, Arr) and a.library == b.library:
        return _join_arr(a, b)
    if _may_lack(a) and b == Obj(None):
        return _or_none(a)
    if _may_lack(b) and a == Obj(None):
        return _or_none(b)
    if isinstance(a, Num) and isinstance(b, Arr):
        a, b = b, a
    if isinstance(a, Arr) and isinstance(b, Num):
        if b.varied:
            a.region.mark("varied")
        dtype = np.result_type(a.dtype, dtype_of(b))
        return Arr(dtype, None, a.region.root(), True, a.none or b.none, a.dtypes, a.library)
    if isinstance(a, Box) and isinstance(b, Box) and (a.cls is b.cls or (_is_plain(a.cls) and _is_plain(b.cls))):
        a.region.unite(b.region)
        cls = a.cls if a.cls is b.cls else mixed(frozenset((*classes_of(a.cls), *classes_of(b.cls))))
        return Box(cls, a.region.root(), a.none or b.none)
    if isinstance(a, Obj) and isinstance(b, Obj) and type(a.value) is type(b.value) is str:
        return Some(str)
    if isinstance(a, Some) and isinstance(b, Some) and a.cls is b.cls:
        return a if a.tells else b
    if isinstance(a, Some) and isinstance(b, Obj) and type(b.value) is a.cls:
        return a
    if isinstance(b, Some) and isinstance(a, Obj) and type(a.value) is b.cls:
        return b
    functions = (*_functions(a), *_functions(b))
    if _functions(a) and _functions(b):
        return Either(tuple(value for i, value in enumerate(functions) if value not in functions[:i]))
    why = f"{describe(a)} in one place and {describe(b)} in another"
    callables = all(_functions(k) or (isinstance(k, Box) and issubclass(k.cls, FunctionValue)) for k in (a, b))
    if isinstance(a, Box) and isinstance(b, Box) and not callables:
        return Top(why, "use two names; or one class, or a list of known length that a `for` without break goes over")
    return Top(why, "put an `if` around the calls, so that each branch calls one of them" if callables else "")


def _may_lack(kind: Kind) -> TypeGuard[Num | Arr | Box]:
    """Whether the kind can say that there may be None in the place of a value."""
    return isinstance(kind, Num | Arr) or (isinstance(kind, Box) and not issubclass(kind.cls, FunctionValue))


def _is_plain(cls: type) -> bool:
    """Whether it is a class of the user's, whose objects are known by their attributes alone."""
    return not issubclass(cls, tuple | list | dict) and parts_of(cls) is None and cls.__module__ != "tangentx.arrays"


def _functions(kind: Kind) -> tuple[Any, ...]:
    """The functions that a known object, or one of several, may be; empty for what is no function."""
    if isinstance(kind, Either):
        return kind.values
    return (kind.value,) if isinstance(kind, Obj) and isinstance(kind.value, FUNCTIONS) else ()


def reached(kinds: Iterable[Kind]) -> Iterator[Region]:
    """Every class of memory that values of the kinds reach, each once."""
    found: set[Region] = set()
    todo = list(kinds)
    while todo:
        kind = todo.pop()
        if isinstance(kind, Arr | Box) and (node := kind.region.root()) not in found:
            found.add(node)
            todo += (*node.fields.values(), node.elt) if isinstance(kind, Box) else ()
            yield node


def holds_itself(kind: Kind, above: tuple[Region, ...] = (), done: set[int] | None = None) -> bool:
    """Whether a container may be among its own contents, at any depth."""
    done = done if done is not None else set()
    node = kind.region.root() if isinstance(kind, Box) else None
    if node is None or id(node) in done:
        return False
    if node in above:
        return True
    found = any(holds_itself(k, (*above, node), done) for k in (*node.fields.values(), node.elt))
    done.add(id(node))
    return found
