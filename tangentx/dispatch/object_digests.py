"""Digests of the user's objects, and the paths by which another process can reach them."""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import struct
import sys
from collections.abc import Iterator, Sequence
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, TypeAlias

import numpy as np

from tangentx.arrays.signatures import key
from tangentx.common.free_variables import MISSING, found, static
from tangentx.common.source import lines_of
from tangentx.common.user_rules import is_own
from tangentx.dispatch.guards import Reads

# Digests of the user's objects, so that another process can tell whether it has the same ones.
#
# Functions are told by their code and the text of their file, classes by what they hold and inherit, numbers and
# strings by their value. What is not known to be told apart so has no description, and a text that depends on it is
# not kept.

_EXACT = (bool, int, str, bytes, type(None), type(Ellipsis), type(NotImplemented), type(MISSING))
_SLOTS = (GetSetDescriptorType, MemberDescriptorType, WrapperDescriptorType, MethodDescriptorType)
_FACTORY: Any = getattr(dataclasses, "_HAS_DEFAULT_FACTORY", None)
_KNOWN = sys.stdlib_module_names | {"numpy", "scipy", "tangentx"}
"""Packages whose versions are part of every key, or Python's."""


class Unkept(Exception):
    """Says why a text cannot be kept for other processes."""


class Descriptions:
    """The descriptions of one moment: no file is read twice, and no class looked through twice."""

    def __init__(self) -> None:
        self._texts: dict[Any, str] = {}
        self._classes: dict[type, Any] = {}

    def of(self, value: Any) -> Any:
        """The description of an object, of plain tuples, numbers and strings. Raises Unkept for one that has none."""
        cls = type(value)
        if cls in _EXACT:
            return (cls.__name__, format(value, "x") if cls is int else repr(value))
        if cls is float or cls is complex:
            return (cls.__name__, struct.pack("dd", value.real, value.imag).hex())
        if isinstance(value, np.generic):
            return ("number", value.dtype.str, value.tobytes().hex())
        if isinstance(value, np.dtype):
            return ("dtype", value.str, repr(value))
        if cls in (tuple, list, frozenset):
            items = tuple(map(self.of, value))
            return (cls.__name__, tuple(sorted(items, key=repr)) if cls is frozenset else items)
        if cls is dict:
            return ("dict", tuple((self.of(k), self.of(item)) for k, item in value.items()))
        if isinstance(value, np.ndarray):
            return ("data", self.of(key(value)))
        return self._object(value)

    def _object(self, value: Any) -> Any:
        if isinstance(value, enum.Enum):
            return ("member", self.cls(type(value)), value.name, self.of(value.value))
        if isinstance(value, type):
            return self.cls(value)
        if isinstance(value, ModuleType):
            return ("module", value.__name__, str(getattr(value, "__file__", "")))
        if isinstance(value, FunctionType):
            return self.function(value, value.__code__)
        if isinstance(value, MethodType):
            return ("method", self.of(value.__func__), self.of(key(value.__self__)))
        if isinstance(value, staticmethod | classmethod):
            return (type(value).__name__, self.of(value.__func__))
        if isinstance(value, property):
            return ("property", *(self.of(each) for each in (value.fget, value.fset, value.fdel)))
        if isinstance(value, functools.partial) and type(value) is functools.partial:
            return ("partial", self.of(value.func), self.of(value.args), self.of(value.keywords))
        if hasattr(type(value), "__tangentx_target__") and hasattr(value, "_spec"):
            return ("derivative", type(value).__name__, repr(value._spec), self._behind(value))
        return self._of_library(value)

    def _behind(self, derivative: Any) -> Any:
        if derivative.__tangentx_target__()[1]:
            raise Unkept(f"{derivative!r} is bound to an object")
        return self.of(derivative.__wrapped__)

    def _of_library(self, value: Any) -> Any:
        """What Python's library, NumPy and SciPy have, by its name: their versions are part of every key."""
        where = place_of(value)
        if where is not None and where[0].partition(".")[0] in _KNOWN:
            return ("at", *where)
        if isinstance(value, _SLOTS):
            return (type(value).__name__, value.__objclass__.__qualname__, value.__name__)
        if value is _FACTORY:
            return ("default made by a factory",)
        if isinstance(value, BuiltinFunctionType) and isinstance(value.__self__, np.ufunc | type):
            return ("builtin", self.of(value.__self__), value.__name__)
        raise Unkept(f"an object of class {type(value).__qualname__} cannot be told from others in another process")

    def function(self, function: FunctionType, code: CodeType) -> Any:
        """The description of a function that has this code: its text, its place, its defaults, where it can be found.
        Which objects its names stand for is not part of it."""
        if is_own(function):
            raise Unkept(f"`{function.__name__}` is a primitive of the user's")
        defaults = (self.of(function.__defaults__), self.of(function.__kwdefaults__))
        space = sys.modules.get(str(function.__module__))
        own = space is not None and vars(space) is function.__globals__
        return ("function", str(function.__module__), own, _digest(code), self._text(function), defaults)

    def _text(self, function: FunctionType) -> str:
        """A digest of the file that a function stands in, as it is now."""
        file = function.__code__.co_filename
        name = id(function.__code__) if file.startswith("<") else (file, function.__globals__.get("__file__") == file)
        if name not in self._texts:
            self._texts[name] = _hashed("".join(lines_of(function)).encode("utf-8", "surrogatepass"))
        return self._texts[name]

    def cls(self, cls: type) -> Any:
        """The description of a class: its name, whether an import finds it, and what it and those above it hold."""
        found = self._classes.get(cls)
        if found is None:
            where = (cls.__module__, cls.__qualname__, place_of(cls) is not None)
            self._classes[cls] = ("class", *where)  # while it is looked through: it may hold itself
            above = tuple(self._members(each) for each in cls.__mro__ if not _is_known(each))
            self._classes[cls] = found = ("class", *where, above, tuple(map(str, cls.__mro__)))
        return found

    def _members(self, cls: type) -> Any:
        if type(cls).__module__.partition(".")[0] not in _KNOWN and type(cls) is not type:
            raise Unkept(f"the class of the class `{cls.__qualname__}` is the user's")
        held = sorted(vars(cls).items())
        return (cls.__qualname__, tuple((name, self._member(value)) for name, value in held if name not in _SKIPPED))

    def _member(self, value: Any) -> Any:
        try:
            return self.of(value)
        except Unkept:  # read by the program it has no description, which is another matter
            return ("other", type(value).__module__, type(value).__qualname__)


_SKIPPED = ("__dict__", "__weakref__", "__doc__", "__module__", "__abstractmethods__", "_abc_impl")


def _is_known(cls: type) -> bool:
    return str(cls.__module__).partition(".")[0] in _KNOWN


def place_of(value: Any) -> tuple[str, str] | None:
    """The module, and the names in it, by which any process comes to an object; None where there is no such."""
    module, chain = getattr(value, "__module__", None), getattr(value, "__qualname__", getattr(value, "__name__", None))
    if isinstance(value, ModuleType):
        return (value.__name__, "") if sys.modules.get(value.__name__) is value else None
    if isinstance(value, np.ufunc):
        module = "numpy" if hasattr(np, value.__name__) else "scipy.special"
    if not (isinstance(module, str) and isinstance(chain, str)):
        return None
    try:
        return (module, chain) if at_place(module, chain) is value else None
    except (AttributeError, KeyError):
        return None


def at_place(module: str, chain: str) -> Any:
    """What `place_of` has named. Raises AttributeError or KeyError where nothing is there."""
    found: Any = sys.modules[module]
    for name in chain.split(".") if chain else ():
        found = getattr(found, name)
    return found


def _hashed(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@functools.lru_cache(maxsize=4096)
def _digest_of(code: CodeType, identity: int) -> str:
    return _hashed(repr(tuple(_code_parts(code))).encode("utf-8", "surrogatepass"))


def _digest(code: CodeType) -> str:
    """A digest of all that a code object holds, its place in the file too (by which code does not compare)."""
    return _digest_of(code, id(code))


def _code_parts(code: CodeType) -> Iterator[Any]:
    yield (code.co_name, code.co_qualname, code.co_filename, code.co_firstlineno, code.co_flags)
    yield (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
    yield (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    yield (code.co_code, code.co_linetable, code.co_exceptiontable)
    for value in code.co_consts:
        yield _constant(value)


def _constant(value: Any) -> Any:
    if isinstance(value, CodeType):
        return tuple(_code_parts(value))
    if isinstance(value, tuple):
        return ("tuple", tuple(map(_constant, value)))
    if isinstance(value, frozenset):
        return ("frozenset", tuple(sorted((_constant(item) for item in value), key=repr)))
    if isinstance(value, float | complex):
        return (type(value).__name__, struct.pack("dd", value.real, value.imag))
    return (type(value).__name__, format(value, "x") if type(value) is int else repr(value))


# Object paths: how another process reaches the objects that a program was compiled with.
#
# A way is plain data: where an import finds the object, or at which name of a function, in which class, behind which
# wrapper it is. Two functions that are written alike may be different objects, so it counts where they are found.

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
