"""Guards: whether a compiled derivative still matches the functions and objects it was compiled from."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentx.arrays.sharing import sharing
from tangentx.arrays.signatures import key, storages
from tangentx.common import free_variables
from tangentx.common.free_variables import Outside, static
from tangentx.common.naming import is_identifier
from tangentx.errors import ChangedMeanwhile, NotResolved, SharedMemory, Span


@dataclass(frozen=True)
class Reads:
    """What programs have read of the user's world, as it was when it was read.

    `functions` with the code that they had; `names` outside of them, each with the key that its data had (None for what
    is known by its identity); `members` of classes, modules and objects: whose, under which name, and what. `data` are
    arrays and containers from outside of a program that writes some of them: how they share memory counts, too.
    """

    functions: tuple[tuple[Any, Any], ...]
    names: tuple[tuple[Outside, Any], ...]
    members: tuple[tuple[Any, str, Any], ...]
    data: tuple[tuple[Outside, ...], ...] = ()


class Guard:
    """Whether the functions and outside objects that programs have read are still the same.

    They are compared with what was read when it was read, not with what is there when the guard is made: another
    thread may have bound a name again in between. Where nothing has been touched, comparing identities, all at once,
    is enough, but for what can change in place. Raises ChangedMeanwhile for programs that are out of date already.
    """

    def __init__(self, reads: Reads) -> None:
        self.reads = reads
        self._attributes: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        self._items: dict[tuple[int, str], tuple[dict[str, Any], str, Any]] = {}
        self._inner: list[Callable[[], bool]] = []  # what can change in place
        self._slow: list[Callable[[], bool]] = []
        self._add(reads)
        self._compare: Callable[[], bool] | None = None
        if not all(check() for check in self._slow):
            raise ChangedMeanwhile

    def __call__(self) -> bool:
        """Whether everything is as it was."""
        compare = self._compare
        if compare is None:  # made by the second call of a derivative, as the first has nothing to compare
            compare = self._compare = _comparison(self._attributes.values(), self._items.values())
        try:
            same = compare()
        except (AttributeError, KeyError, ValueError):  # ValueError: an empty cell
            same = False
        checks = self._inner if same else self._slow
        return not checks or all(check() for check in checks)

    def _add(self, reads: Reads) -> None:
        for function, code in reads.functions:
            self._function(function, code)
        for ext, wanted in reads.names:
            self._ext(ext, wanted)
        for data in reads.data:
            check = _shares_as_before(data)
            self._slow.append(check)
            self._inner.append(check)
        for cls, name, found in reads.members:
            self._slow.append(functools.partial(_has_still, cls, name, found))
            if getattr(cls, name, None) is getattr(cls, name, _ABSENT):
                self._attribute(cls, name, getattr(cls, name))
            else:
                self._inner.append(self._slow[-1])

    def _attribute(self, owner: Any, name: str, was: Any) -> None:
        self._attributes[id(owner), name] = (owner, name, was)

    def _item(self, space: dict[str, Any], name: str, was: Any) -> None:
        self._items[id(space), name] = (space, name, was)

    def _function(self, function: Any, code: Any) -> None:
        self._attribute(function, "__code__", code)
        for name in ("__defaults__", "__kwdefaults__"):
            if getattr(function, name) is not None:  # what has none is given every argument
                self._attribute(function, name, getattr(function, name))
        for name, value in (function.__kwdefaults__ or {}).items():
            self._item(function.__kwdefaults__, name, value)
        self._slow.append(_unchanged(function, code))

    def _ext(self, ext: Outside, wanted: Any) -> None:
        if ext.path[0] == "object":
            return
        check = _guard(ext, wanted)
        self._slow.append(check)
        if not whole(ext.value) and type(ext.value) not in _IMMUTABLE:
            self._inner.append(check)
        kind, name, *attributes = ext.path
        first = free_variables.found((kind, name), ext.home, None) if attributes else ext.value
        for space in free_variables.spaces(ext):
            self._item(space, name, first if name in space else _ABSENT)
            if name in space:
                break
        if kind == "closure":
            self._attribute(free_variables.cell(ext.home, name), "cell_contents", first)
        owner = first
        for i, attribute in enumerate(attributes, 1):
            value = getattr(owner, attribute) if i < len(attributes) else ext.value
            self._attribute(owner, attribute, value)
            owner = value


_ABSENT = object()
_IMMUTABLE = (bool, int, float, complex, str, bytes, type(None))


def _comparison(
    attributes: Iterable[tuple[Any, str, Any]], items: Iterable[tuple[dict[str, Any], str, Any]]
) -> Callable[[], bool]:
    """Whether the attributes and items are the objects that they were, written out so that it takes little time."""
    scope: dict[str, Any] = {}
    terms: list[str] = []
    for i, (owner, name, was) in enumerate(attributes):
        scope |= {f"o{i}": owner, f"w{i}": was}
        terms.append(f"o{i}.{name} is w{i}" if is_identifier(name) else f"getattr(o{i}, {name!r}) is w{i}")
    for i, (space, name, was) in enumerate(items):
        scope |= {f"s{i}": space, f"v{i}": was}
        terms.append(f"{name!r} not in s{i}" if was is _ABSENT else f"s{i}[{name!r}] is v{i}")
    same: Callable[[], bool] = eval(f"lambda: {' and '.join(terms) or True}", scope)
    return same


def _has_still(cls: Any, name: str, found: Any) -> bool:
    return static(cls, name) is found


def whole(value: Any) -> bool:
    """Whether an outside object is known by its identity alone."""
    return isinstance(value, types.ModuleType) or (callable(value) and key(value) == ("object", value))


def refuse_outside(exts: Sequence[Outside], values: Sequence[Any], place: Span | None) -> None:
    """Refuses arguments that share memory with an object from outside, where the program writes."""
    arguments = storages(tuple(values))
    for ext in exts:
        for other in storages((free_variables.current(ext),)):
            both = [a for a in arguments if isinstance(a, np.ndarray) and isinstance(other, np.ndarray)]
            if any(a is other for a in arguments) or any(np.may_share_memory(a, other) for a in both):
                raise SharedMemory(
                    f"an argument shares memory with `{ext.name}`, an object from outside, and the program writes",
                    place,
                    "pass a copy",
                )


def _shares_as_before(exts: Sequence[Outside]) -> Callable[[], bool]:
    """Whether objects from outside, some of which the program writes, share memory where they did."""
    was = sharing([ext.value for ext in exts])

    def same() -> bool:
        try:
            return sharing([free_variables.current(ext) for ext in exts]) == was
        except NotResolved:
            return False

    return same


def _unchanged(function: Any, code: Any) -> Callable[[], bool]:
    defaults, named = function.__defaults__, dict(function.__kwdefaults__ or {})

    def same() -> bool:
        if function.__code__ is not code or function.__defaults__ is not defaults:
            return False
        now = function.__kwdefaults__ or {}
        return now.keys() == named.keys() and all(now[name] is value for name, value in named.items())

    return same


def _is_made_when_read(value: Any) -> bool:
    """Whether a class or an object gives another one, equal to it, each time that this is read."""
    return isinstance(value, types.MethodType | types.BuiltinMethodType) or hasattr(value, "__tangentx_target__")


def _guard(ext: Outside, wanted: Any) -> Callable[[], bool]:
    """Whether what the name of `ext` stands for is as it was: the same object, or data of the key `wanted`."""
    by_identity = whole(ext.value)
    if wanted is None and not by_identity:
        wanted = key(ext.value)

    def same() -> bool:
        try:
            now = free_variables.current(ext)
        except NotResolved:
            return False
        if by_identity:
            return now is ext.value or (_is_made_when_read(now) and bool(now == ext.value))
        return bool(key(now) == wanted)

    return same
