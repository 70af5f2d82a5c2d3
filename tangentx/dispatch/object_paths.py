"""Object paths: how another process reaches the objects that a program was compiled with.

A way is plain data: where an import finds the object, or at which name of a function, in which class, behind which
wrapper it is. Two functions that are written alike may be different objects, so it counts where they are found.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from types import FunctionType, MethodType
from typing import Any, TypeAlias

from tangentx.common.free_variables import found, static
from tangentx.dispatch.guards import Reads
from tangentx.dispatch.object_digests import Unkept, at_place, place_of

Way: TypeAlias = tuple[Any, ...]
_PARTS = ("__func__", "__self__", "__wrapped__", "fget", "fset", "fdel", "func")
"""What is behind a method, a decorated function, a property, a partial."""
_WRAPPERS = (FunctionType, MethodType, property, functools.partial, staticmethod, classmethod)


def same(a: Any, b: Any) -> bool:
    """Whether two are one object; a bound method is made anew each time that it is asked for."""
    return a is b or (type(a) is type(b) and isinstance(a, MethodType | type(len)) and bool(a == b))


class Ways:
    """Finds ways from a function, and from objects that it is `given`, to what was read."""

    def __init__(self, root: Any, given: Sequence[Any], reads: Reads) -> None:
        self._known: dict[int, Way] = {id(root): ("root",)}
        self._known.update((id(value), ("given", i)) for i, value in enumerate(given))
        self._steps: dict[int, list[tuple[Any, ...]]] = {}
        self._keep: list[Any] = []
        self._parts(root)
        for value in given:
            self._parts(value)
        for outside, _ in reads.names:
            if outside.path[0] != "object" and outside.home is not None:
                self._step(outside.value, ("name", outside.home, outside.path))
                self._step(type(outside.value), ("part", outside.value, "__class__"))
        for owner, label, value in reads.members:
            self._step(value, ("member", owner, label))

    def _step(self, value: Any, step: tuple[Any, ...]) -> None:
        self._steps.setdefault(id(value), []).append(step)
        self._parts(value)

    def _parts(self, value: Any) -> None:
        """What is behind an object."""
        if not (isinstance(value, _WRAPPERS) or hasattr(type(value), "__tangentx_target__")):
            return  # of another object it might run code to ask what is behind it
        for name in _PARTS:
            part = getattr(value, name, None)
            if part is not None and part is not value:
                self._keep.append(part)
                self._step(part, ("part", value, name))

    def to(self, value: Any) -> Way:
        """The way to an object. Raises Unkept where there is none."""
        way = self._to(value, ())
        if way is None:
            raise Unkept(f"another process cannot find {getattr(value, '__qualname__', type(value).__qualname__)!r}")
        return way

    def _to(self, value: Any, seen: tuple[int, ...]) -> Way | None:
        if id(value) in self._known:
            return self._known[id(value)]
        where = place_of(value)
        way: Way | None = None
        if where is not None:
            way = ("at", *where)
        else:
            for kind, before, name in self._steps.get(id(value), ()) if id(value) not in seen else ():
                first = self._to(before, (*seen, id(value)))
                if first is not None:
                    way = (kind, first, name)
                    break
        if way is not None:
            self._known[id(value)] = way
        return way


class Found:
    """Goes ways in this process, from its own function and what that is given. Raises LookupError for one that ends."""

    def __init__(self, root: Any, given: Sequence[Any]) -> None:
        self._root = root
        self._given = given
        self._met: dict[Way, Any] = {}

    def at(self, way: Way) -> Any:
        """The object at the end of a way."""
        if way not in self._met:
            self._met[way] = self._go(way)
        return self._met[way]

    def _go(self, way: Way) -> Any:
        kind, *rest = way
        if kind == "root":
            return self._root
        if kind == "given":
            return self._given[rest[0]]
        if kind == "at":
            return at_place(*rest)
        before, name = self.at(rest[0]), rest[1]
        if kind == "name":
            return found(name, before, None)
        return static(before, name) if kind == "member" else getattr(before, name)
