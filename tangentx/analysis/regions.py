"""Memory that kinds refer to, as classes of what may alias, and the join of kinds, which unites them."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tangentx.analysis.kinds import (
    BOTTOM,
    MISSING,
    Arr,
    Bottom,
    Box,
    Either,
    Kind,
    Num,
    Obj,
    Some,
    Top,
    describe,
    dtype_of,
)
from tangentx.ir.functions import FunctionValue

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

    def put_key(self, kind: Kind) -> None:
        """A dict may have keys of this kind, which are not known."""
        node = self.root()
        new = join(node.key, kind)
        node = node.root()
        if new != node.key:
            node.key = new
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
    """What one analysis shares: whether a fact was added since `changed` was last cleared.

    `links` are read-only views with their bases, `copies` what is copied as a whole with the copies, of this round;
    `given` is what is given to unknown code: the memory, whether that code lets go of it, what it is, and where.
    """

    changed: bool = False
    links: list[tuple[Region, Region, Any]] = field(default_factory=list)
    copies: list[tuple[Region, Region]] = field(default_factory=list)
    given: list[tuple[list[Region], bool, str, Any]] = field(default_factory=list)

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


def _or_none(kind: Num | Arr) -> Num | Arr:
    """The kind of what may also be None."""
    return replace(kind, value=MISSING, none=True) if isinstance(kind, Num) else replace(kind, none=True)


def _join_arr(a: Arr, b: Arr) -> Arr:
    a.region.unite(b.region)
    dtype = a.dtype if a.dtype == b.dtype else np.result_type(a.dtype, b.dtype)
    rank = a.rank if a.rank == b.rank else None
    dtypes = _domains(a, b) if a.dtypes or b.dtypes or a.dtype != b.dtype else ()
    return Arr(dtype, rank, a.region.root(), a.loose or b.loose, a.none or b.none, dtypes)


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
    if isinstance(a, Arr) and isinstance(b, Arr):
        return _join_arr(a, b)
    if isinstance(a, Num | Arr) and b == Obj(None):
        return _or_none(a)
    if isinstance(b, Num | Arr) and a == Obj(None):
        return _or_none(b)
    if isinstance(a, Num) and isinstance(b, Arr):
        a, b = b, a
    if isinstance(a, Arr) and isinstance(b, Num):
        if b.varied:
            a.region.mark("varied")
        return Arr(np.result_type(a.dtype, dtype_of(b)), None, a.region.root(), True, a.none or b.none, a.dtypes)
    if isinstance(a, Box) and isinstance(b, Box) and a.cls is b.cls:
        a.region.unite(b.region)
        return Box(a.cls, a.region.root())
    if isinstance(a, Obj) and isinstance(b, Obj) and type(a.value) is type(b.value) is str:
        return Some(str)
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
