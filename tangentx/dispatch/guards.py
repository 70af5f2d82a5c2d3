"""Whether a compiled derivative still belongs to the program: its functions, and the objects that they read."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tangentx.analysis.infer.program import Program, static
from tangentx.analysis.memory import global_writes
from tangentx.analysis.memory.outside_overlap import sharing
from tangentx.analysis.types.kinds import Arr, Box
from tangentx.analysis.types.signatures import key, storages
from tangentx.common.naming import is_identifier
from tangentx.errors import ChangedMeanwhile, NotResolved, SharedMemory, Span
from tangentx.frontend import resolve
from tangentx.ir.nodes import Ext
from tangentx.ir.walk import exts


class Guard:
    """Whether the functions and outside objects that programs have read are still the same.

    They are compared with what was read when it was read, not with what is there when the guard is made: another
    thread may have bound a name again in between. Where nothing has been touched, comparing identities, all at once,
    is enough, but for what can change in place. Raises ChangedMeanwhile for programs that are out of date already.
    """

    def __init__(self, programs: Sequence[Program]) -> None:
        self._attributes: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        self._items: dict[tuple[int, str], tuple[dict[str, Any], str, Any]] = {}
        self._inner: list[Callable[[], bool]] = []  # what can change in place
        self._slow: list[Callable[[], bool]] = []
        for program in programs:
            for each in (program, *program.inside()):
                self._add(each)
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

    def _add(self, program: Program) -> None:
        for function, code, lifted in program.lifted.values():
            if str(function.__module__).startswith("tangentx."):
                continue  # the rules themselves
            self._function(function, code)
            for ext in exts(lifted):
                self._ext(ext, program.keys.get(id(ext)))
        data = [ext for ext, kind in program.externals.values() if isinstance(kind, Arr | Box)]
        if global_writes.written(program):
            check = _shares_as_before(data)
            self._slow.append(check)
            self._inner.append(check)
        for cls, name, found in program.members.values():
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

    def _ext(self, ext: Ext, wanted: Any) -> None:
        if ext.path[0] == "object":
            return
        check = _guard(ext, wanted)
        self._slow.append(check)
        if not whole(ext.value) and type(ext.value) not in _IMMUTABLE:
            self._inner.append(check)
        kind, name, *attributes = ext.path
        first = resolve.current(replace(ext, path=(kind, name))) if attributes else ext.value
        for space in resolve.spaces(ext):
            self._item(space, name, first if name in space else _ABSENT)
            if name in space:
                break
        if kind == "closure":
            self._attribute(resolve.cell(ext.home, name), "cell_contents", first)
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


def outside_data(program: Program) -> tuple[Ext, ...]:
    """The arrays and containers from outside that the program reads or writes, those of inner derivatives too."""
    programs = (program, *program.inside())
    return tuple(ext for p in programs for ext, kind in p.externals.values() if isinstance(kind, Arr | Box))


def refuse_outside(exts: Sequence[Ext], values: Sequence[Any], place: Span | None) -> None:
    """Refuses arguments that share memory with an object from outside, where the program writes."""
    arguments = storages(tuple(values))
    for ext in exts:
        for other in storages((resolve.current(ext),)):
            both = [a for a in arguments if isinstance(a, np.ndarray) and isinstance(other, np.ndarray)]
            if any(a is other for a in arguments) or any(np.may_share_memory(a, other) for a in both):
                raise SharedMemory(
                    f"an argument shares memory with `{ext.name}`, an object from outside, and the program writes",
                    place,
                    "pass a copy",
                )


def _shares_as_before(exts: Sequence[Ext]) -> Callable[[], bool]:
    """Whether objects from outside, some of which the program writes, share memory where they did."""
    was = sharing([ext.value for ext in exts])

    def same() -> bool:
        try:
            return sharing([resolve.current(ext) for ext in exts]) == was
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


def _guard(ext: Ext, wanted: Any) -> Callable[[], bool]:
    """Whether what the name of `ext` stands for is as it was: the same object, or data of the key `wanted`."""
    by_identity = whole(ext.value)
    if wanted is None and not by_identity:
        wanted = key(ext.value)

    def same() -> bool:
        try:
            now = resolve.current(ext)
        except NotResolved:
            return False
        if by_identity:
            return now is ext.value or (
                isinstance(now, types.MethodType | types.BuiltinMethodType) and bool(now == ext.value)
            )
        return bool(key(now) == wanted)

    return same
