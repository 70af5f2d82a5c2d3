"""What a derivative call must leave as it was: values bitwise, layout, identity, structure, globals and cells."""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

Fact = tuple[str, object]
LIBRARIES = ("numpy", "tangentx")


class Snapshot:
    """The state of some objects, and of everything reached through them, at one moment."""

    def __init__(self, objects: tuple[object, ...]) -> None:
        self._objects = objects
        self._keep: list[object] = []  # so that no identity is given to a new object meanwhile
        self._facts = self._now(self._keep)

    def changes(self) -> list[str]:
        """One line for each fact that differs now."""
        now = self._now([])
        if [place for place, _ in now] == [place for place, _ in self._facts]:
            pairs = zip(self._facts, now, strict=True)
            return [f"{place}: {_short(was)} -> {_short(is_)}" for (place, was), (_, is_) in pairs if was != is_]
        old, new = dict(self._facts), dict(now)
        gone = [f"{place}: gone" for place in old if place not in new]
        come = [f"{place}: new" for place in new if place not in old]
        return gone + come or ["the order of the parts has changed"]

    def assert_unchanged(self) -> None:
        """Raise `AssertionError` naming what has changed since the snapshot was taken."""
        changes = self.changes()
        assert not changes, "changed by the call:\n  " + "\n  ".join(changes[:20])

    def _now(self, keep: list[object]) -> list[Fact]:
        seen: set[int] = set()
        return [fact for k, item in enumerate(self._objects) for fact in _facts(item, f"object {k}", seen, keep)]


def snapshot(*objects: object) -> Snapshot:
    """Take a snapshot of `objects`; a function brings its cells, and the globals that its code names."""
    return Snapshot(objects)


def _short(fact: object) -> str:
    text = repr(fact)
    return text if len(text) < 120 else text[:117] + "..."


def _facts(x: Any, place: str, seen: set[int], keep: list[object]) -> Iterator[Fact]:
    if isinstance(x, (np.generic, int, float, complex, str, bytes, bool, type(None))):
        yield place, (type(x), x.tobytes() if isinstance(x, np.generic) else repr(x))
        return
    if isinstance(x, (ModuleType, type)):
        return
    yield place, (type(x), id(x))
    if id(x) in seen:
        return
    seen.add(id(x))
    keep.append(x)
    if isinstance(x, np.ndarray):
        yield from _array(x, place, seen, keep)
    else:
        yield from _parts(x, place, seen, keep)


def _array(x: np.ndarray[Any, Any], place: str, seen: set[int], keep: list[object]) -> Iterator[Fact]:
    flags = tuple(x.flags[name] for name in ("C_CONTIGUOUS", "F_CONTIGUOUS", "WRITEABLE", "ALIGNED", "OWNDATA"))
    yield f"{place} layout", (x.dtype, x.shape, x.strides, flags, x.__array_interface__["data"])
    yield f"{place} bytes", x.tobytes()
    if isinstance(x.base, np.ndarray):
        yield from _facts(x.base, f"{place} base", seen, keep)


def _parts(x: Any, place: str, seen: set[int], keep: list[object]) -> Iterator[Fact]:
    if isinstance(x, dict):
        yield f"{place} keys", tuple(map(repr, x))
        steps = [(f"{place}[{key!r}]", part) for key, part in x.items()]
    elif isinstance(x, (list, tuple)):
        yield f"{place} length", len(x)
        steps = [(f"{place}[{k}]", part) for k, part in enumerate(x)]
    elif isinstance(x, FunctionType):
        steps = [] if x.__module__.partition(".")[0] in LIBRARIES else list(_function(x, place))
    elif isinstance(x, MethodType):
        steps = [(f"{place}.__self__", x.__self__), (f"{place}.__func__", x.__func__)]
    elif isinstance(x, (set, frozenset)):
        yield f"{place} items", tuple(sorted(map(repr, x)))
        steps = []
    elif type(x).__module__.partition(".")[0] in LIBRARIES:
        steps = []  # its own state (a cache, a count) may change
    else:
        steps = [(f"{place}.{name}", part) for name, part in getattr(x, "__dict__", {}).items()]
        yield f"{place} attributes", tuple(name for name, _ in steps)
    for step, part in steps:
        yield from _facts(part, step, seen, keep)


def _function(f: FunctionType, place: str) -> Iterator[tuple[str, Any]]:
    yield f"{place} code", f.__code__
    yield f"{place} defaults", f.__defaults__
    yield f"{place} keyword defaults", f.__kwdefaults__
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
        yield f"{place} cell {name}", _content(cell)
    for name in _names(f.__code__):
        if name in f.__globals__:
            yield f"{place} global {name}", f.__globals__[name]


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _names(code: CodeType) -> list[str]:
    inner = [name for part in code.co_consts if isinstance(part, CodeType) for name in _names(part)]
    return list(dict.fromkeys([*code.co_names, *inner]))
