"""Whether a compiled derivative still belongs to the program: its functions, and the objects that they read."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tangentx.analysis.keys import key, storages
from tangentx.analysis.kinds import Arr, Box
from tangentx.analysis.program import Program
from tangentx.errors import NotResolved, SharedMemory, Span
from tangentx.frontend import resolve
from tangentx.ir.nodes import Ext
from tangentx.ir.walk import exts


def guards(program: Program) -> tuple[Callable[[], bool], ...]:
    """Whether the functions and outside objects that were read are still the same."""
    found: list[Callable[[], bool]] = []
    for function, code, lifted in program.lifted.values():
        found.append(_unchanged(function, code))
        if not str(function.__module__).startswith("tangentx."):
            found.extend(_guard(ext) for ext in exts(lifted))
    for _, inner in program.nested.values():
        found.extend(guards(inner))
    return tuple(found)


def outside_data(program: Program) -> tuple[Ext, ...]:
    """The arrays and containers from outside that the program reads or writes, those of inner derivatives too."""
    found = [ext for ext, kind in program.externals.values() if isinstance(kind, Arr | Box)]
    for _, inner in program.nested.values():
        found.extend(outside_data(inner))
    return tuple(found)


def refuse_outside(outside: Sequence[Ext], values: Sequence[Any], place: Span | None) -> None:
    """Refuses arguments that share memory with an object from outside, where the program writes."""
    arguments = storages(tuple(values))
    for ext in outside:
        for other in storages((resolve.current(ext),)):
            both = [a for a in arguments if isinstance(a, np.ndarray) and isinstance(other, np.ndarray)]
            if any(a is other for a in arguments) or any(np.may_share_memory(a, other) for a in both):
                raise SharedMemory(
                    f"an argument shares memory with `{ext.name}`, an object from outside, and the program writes",
                    place,
                    "pass a copy",
                )


def _unchanged(function: Any, code: Any) -> Callable[[], bool]:
    defaults, named = function.__defaults__, dict(function.__kwdefaults__ or {})

    def same() -> bool:
        if function.__code__ is not code or function.__defaults__ is not defaults:
            return False
        now = function.__kwdefaults__ or {}
        return now.keys() == named.keys() and all(now[name] is value for name, value in named.items())

    return same


def _guard(ext: Ext) -> Callable[[], bool]:
    whole = callable(ext.value) or isinstance(ext.value, types.ModuleType)
    wanted = None if whole else key(ext.value)

    def same() -> bool:
        try:
            now = resolve.current(ext)
        except NotResolved:
            return False
        return now is ext.value or (not whole and key(now) == wanted)

    return same
