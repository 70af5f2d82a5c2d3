"""What lies between a user's call and compiled code: arguments bound, code looked up or made, the result made public."""

from __future__ import annotations

import inspect
import threading
import types
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tangentx.errors import NoSource, NotDifferentiable, SharedMemory

LIMIT_KINDS = 64
LOCK = threading.RLock()
_compiled = [0]


def compilations() -> int:
    """How many derivatives this process has compiled."""
    return _compiled[0]


@dataclass(frozen=True)
class Target:
    """The function behind what the user passed, and the objects that it is bound to, if any."""

    function: Any
    owner: tuple[Any, ...] = ()


def target_of(f: Any) -> Target:
    """Raises NoSource where there is no Python function to read."""
    if hasattr(f, "__tangentx_target__"):
        return Target(*f.__tangentx_target__())
    if isinstance(f, types.MethodType):
        below = target_of(f.__func__)
        return Target(below.function, (f.__self__, *below.owner))
    if isinstance(f, types.FunctionType):
        return Target(f)
    call = getattr(type(f), "__call__", None)
    if isinstance(call, types.FunctionType):
        return Target(call, (f,))
    name = getattr(f, "__name__", type(f).__name__)
    raise NoSource(
        f"`{name}` is not a Python function, so there is no source to differentiate",
        hint=f"wrap it in one: `def f(x): return {name}(x)`",
    )


class Binder:
    """Puts arguments in the order of a function's parameters, defaults filled in."""

    def __init__(self, function: Any) -> None:
        while hasattr(function, "__tangentx_target__"):
            function = function.__tangentx_primal__()
        self.signature = inspect.signature(function, follow_wrapped=False)
        self.names = tuple(self.signature.parameters)
        kinds = {p.kind for p in self.signature.parameters.values()}
        self.plain = kinds <= {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY}

    def __call__(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """All arguments by position. Raises TypeError as a call of the function would."""
        if self.plain and not kwargs and len(args) == len(self.names):
            return tuple(args)
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return tuple(bound.arguments[name] for name in self.names)


def positions(wrt: Any, names: tuple[str, ...], owned: int, what: str) -> tuple[int, ...]:
    """Positions of the parameters that `wrt` names, the owner counted. Raises NotDifferentiable."""
    found: list[int] = []
    for each in wrt if isinstance(wrt, tuple) else (wrt,):
        if isinstance(each, str) and each in names:
            found.append(names.index(each))
        elif isinstance(each, str):
            raise NotDifferentiable(f"`{what}` has no parameter `{each}`", hint=f"use one of {', '.join(names)}")
        elif not isinstance(each, int) or isinstance(each, bool):
            raise NotDifferentiable(f"wrt={each!r} is neither a position nor a name", hint="use 0, or the name")
        elif each < 0:
            raise NotDifferentiable(f"wrt={each} counts from the end", hint="count from 0, or name the parameter")
        elif each + owned >= len(names):
            rest = ", ".join(names[owned:])
            raise NotDifferentiable(
                f"wrt={each} is out of range: `{what}` takes {len(names) - owned} arguments",
                hint=f"use a position below {len(names) - owned}, or one of {rest}" if rest else "give it a parameter",
            )
        else:
            found.append(each + owned)
    if len(set(found)) != len(found) or not found:
        raise NotDifferentiable(f"wrt={wrt!r} names a parameter twice, or none", hint="name each parameter once")
    return tuple(found)


@dataclass(frozen=True)
class Entry:
    """One compiled derivative; `guards` say whether the program that it was made from is still the same."""

    functions: tuple[Any, ...]
    text: Any
    filename: str
    guards: tuple[Callable[[], bool], ...]
    writes: bool
    notes: dict[str, Any] = field(default_factory=dict)

    def holds(self) -> bool:
        """Whether no function or outside object that was read has been replaced since."""
        return all(guard() for guard in self.guards)


class Cache:
    """Compiled derivatives by key, the least recently used dropped. Hits take no lock."""

    def __init__(self) -> None:
        self.entries: OrderedDict[Any, Entry] = OrderedDict()
        self.dropped = 0
        self.last: Entry | None = None

    def find(self, key: Any, make: Callable[[], Entry]) -> Entry:
        """The entry for `key`, made under the lock where it is missing or no longer true."""
        entry = self.entries.get(key)
        if entry is not None and entry.holds():
            return entry
        with LOCK:
            entry = self.entries.get(key)
            if entry is None or not entry.holds():
                entry = make()
                _compiled[0] += 1
                self.entries[key] = entry
            self.entries.move_to_end(key)
            while len(self.entries) > LIMIT_KINDS:
                self.entries.popitem(last=False)
                self.dropped += 1
            self.last = entry
        return entry


def publish(bar: Any, primal: Any, taken: list[Any]) -> Any:
    """A gradient as the user gets it: of the primal's type, dtype and shape, sharing memory with nothing in `taken`."""
    from tangentx.arrays import finish

    if type(primal) is float:
        return float(np.real(bar))
    if isinstance(primal, np.ndarray):
        own = type(bar) is np.ndarray and bar.dtype == primal.dtype and bar.shape == primal.shape
        if not (own and bar.base is None and bar.flags.forc and bar.flags.writeable) or any(bar is t for t in taken):
            bar = finish(bar, primal)
        taken.append(bar)
        return bar
    if isinstance(primal, complex | np.generic):
        return finish(bar, primal)
    return bar


def refuse_overlap(pairs: Sequence[tuple[int, int]], found: Sequence[Any], wrt: Sequence[Any]) -> None:
    """Refuses arguments to differentiate that share memory, where the program writes."""
    wanted = {id(x) for x in wrt}
    for i, j in pairs:
        if id(found[i]) in wanted or id(found[j]) in wanted:
            raise SharedMemory(
                "two arguments share memory, the program writes into it, and the gradient with respect to it was asked for",
                hint="pass a copy of one of them",
            )
