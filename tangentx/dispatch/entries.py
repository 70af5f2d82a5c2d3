"""Entries: from a user's call to compiled code, which is found by the exact signature of the arguments."""

from __future__ import annotations

import ast
import builtins
import difflib
import functools
import gc
import inspect
import linecache
import operator
import os
import reprlib
import sys
import threading
import types
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np

from tangentx.common import forks
from tangentx.common.axes import Taken, single_axes
from tangentx.common.options import NOBODY, OBSERVING, ON_TENSORS, Observing
from tangentx.common.progress import reporting
from tangentx.common.scoped_state import holding, lasting
from tangentx.common.user_rules import checkpointed, is_own
from tangentx.dispatch.call_stubs import Hit, Route
from tangentx.dispatch.synthetic_functions import cached_by, of_library, of_partial
from tangentx.errors import (
    ChangedMeanwhile,
    NoSource,
    NotDifferentiable,
    NotResolved,
    SharedMemory,
    Span,
    TangentxError,
)

# The signature cache: from flat arguments to compiled code, by exact signature.

T = TypeVar("T")
LIMIT_MET = 64
LIMIT_FOUND = 256
LIMIT_TAKEN = 4
_EXACT = operator.attrgetter("dtype", "shape")


class _Alike(Generic[T]):
    """What was found for arguments of the same types: by dtypes, ranks and axes of length one of the arrays.

    `met` has it by the dtypes and shapes of earlier calls, which are quicker to ask for.
    """

    __slots__ = ("arrays", "count", "found", "met", "of")

    def __init__(self, arrays: tuple[int, ...], count: int) -> None:
        self.arrays = arrays
        self.count = count
        self.of: Any = operator.itemgetter(*arrays) if len(arrays) > 1 else lambda values: [values[i] for i in arrays]
        self.found: dict[tuple[Any, ...], list[tuple[Taken, T]]] = {}
        self.met: dict[tuple[Any, ...], T] = {}

    def at(self, exact: tuple[Any, ...]) -> T | None:
        """What was kept for arrays of these dtypes and shapes, which were not met yet."""
        shapes: list[Any] = [None] * self.count
        for i, (_, shape) in zip(self.arrays, exact, strict=True):
            shapes[i] = shape
        for taken, known in self.found.get(_layout(exact), ()):
            if taken.fits(shapes):
                if len(self.met) >= LIMIT_MET:
                    self.met.clear()
                self.met[exact] = known
                return known
        return None


def _layout(exact: tuple[Any, ...]) -> tuple[Any, ...]:
    """What counts of dtypes and shapes."""
    return tuple((dtype, len(shape), single_axes(shape)) for dtype, shape in exact)


class Hits(Generic[T]):
    """A table by the exact types of flat arguments, then by dtypes, ranks and axes of length one.

    `context` is what else the answer depends on. What is not flat is never found.
    """

    def __init__(self) -> None:
        self._tables: dict[tuple[Any, ...], _Alike[T]] = {}

    def find(self, context: Any, values: Sequence[Any]) -> T | None:
        """What was kept for arguments of these kinds."""
        table = self._tables.get((context, *map(type, values)))
        if table is None:
            return None
        exact = tuple(map(_EXACT, table.of(values))) if table.arrays else ()
        return table.met.get(exact) or table.at(exact)

    def keep(self, context: Any, values: Sequence[Any], taken: Taken, found: T) -> None:
        """Enters what was found, if the arguments are flat; it is for arguments of which `taken` holds."""
        types = tuple(map(type, values))
        if not all(t in (float, int, complex, np.ndarray) or issubclass(t, np.generic) for t in types):
            return
        arrays = tuple(i for i, t in enumerate(types) if t is np.ndarray)
        if len(self._tables) >= LIMIT_FOUND:
            self._tables.clear()
        table = self._tables.setdefault((context, *types), _Alike(arrays, len(types)))
        table.met.clear()
        if len(table.found) >= LIMIT_FOUND:
            table.found.clear()
        layout = _layout(tuple(map(_EXACT, table.of(values))))
        others = [pair for pair in table.found.get(layout, ()) if pair[0] != taken]
        every = [(taken, found), *others[: LIMIT_TAKEN - 1]]
        table.found[layout] = sorted(every, key=lambda pair: -len(pair[0].lengths))  # what takes nothing fits all

    def clear(self) -> None:
        """Forgets everything."""
        self._tables.clear()


# Entries: from a user's call to compiled code. Binds arguments, finds the code, returns public results.

LIMIT_KINDS = 64
LIMIT_TEXT = 4_000_000
"""How many characters of generated text one derivative keeps, each of which takes 15 to 20 bytes with its code."""
LIMIT_TRIES = 10
LOCK = threading.RLock()
_compiled = [0]


def compilations() -> int:
    """How many derivatives this process has compiled."""
    return _compiled[0]


@dataclass(frozen=True)
class States:
    """What the first part of a derivative keeps for the second, and in checked mode what that of the general rule
    keeps, in a tuple; None where that raised."""

    own: Any
    general: tuple[Any] | None
    histories: tuple[Any, Any] = (None, None)


@dataclass(frozen=True)
class StateOf:
    """What the first of some functions keeps for the second, where a call may find others than the entry has."""

    functions: tuple[Any, ...]
    own: Any


def own_state(state: Any) -> Any:
    """What the text that runs keeps, out of what the entry gives."""
    while isinstance(state, States | StateOf):
        state = state.own
    return state


@dataclass(frozen=True)
class Target:
    """The function behind what the user passed, and the objects that it is bound to, if any."""

    function: Any
    owner: tuple[Any, ...] = ()


def target_of(f: Any) -> Target:
    """Raises NoSource where there is no Python function to read."""
    if isinstance(f, functools.partial):
        below = target_of(f.func)
        given, named = (*below.owner, *f.args), f.keywords
        if not named:
            return Target(below.function, given)
        return Target(of_partial(below.function, tuple(named), len(given)), (*named.values(), *given))
    if cached_by(f) is not None:
        return target_of(cached_by(f))
    written = of_library(f)
    if written is not None:
        return Target(written)
    if isinstance(f, types.MethodType):  # asked first: it shows the attributes of what it binds
        below = target_of(f.__func__)
        return Target(below.function, (f.__self__, *below.owner))
    if hasattr(f, "__tangentx_target__"):
        return Target(*f.__tangentx_target__())
    if isinstance(f, types.FunctionType):
        again = checkpointed(f)  # of the whole there is nothing to keep by running it again
        return target_of(*again) if any(again) else Target(f)
    names = ("__tangentx_call__", "__call__")
    call = next((vars(c)[name] for name in names for c in type(f).__mro__ if name in vars(c)), None)
    if isinstance(call, types.FunctionType):
        return Target(call, (f,))
    name = getattr(f, "__name__", None)
    if callable(f) and name is None:
        what, hint = f"an object of class `{type(f).__name__}`", "write a function that calls it, and pass that"
    elif callable(f):
        what, hint = f"`{name}`", f"wrap it in one: `def f(x): return {name}(x)`"
    else:
        what, hint = f"{reprlib.repr(f)}", "pass a function"
    raise NoSource(f"{what} is not a Python function, so there is no source to differentiate", hint=hint)


def place_of(function: Any) -> Span | None:
    """Where a function is defined."""
    code = getattr(inspect.unwrap(function) if is_own(function) else function, "__code__", None)
    if code is None:
        return None
    line = linecache.getline(code.co_filename, code.co_firstlineno).rstrip()
    return Span(code.co_filename, code.co_firstlineno, len(line) - len(line.lstrip()), line)


def _signature(function: Any) -> inspect.Signature:
    """The parameters that the code of a function has, whatever it shows to others; a primitive's are what it shows."""
    if is_own(function):
        return inspect.signature(function)
    shown = any(hasattr(function, name) for name in ("__signature__", "__text_signature__"))
    if isinstance(function, types.FunctionType) and shown:
        plain = types.FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
        )
        plain.__kwdefaults__ = function.__kwdefaults__
        return inspect.signature(plain)
    return inspect.signature(function, follow_wrapped=False)


def demand_class(function: Any, owner: tuple[Any, ...]) -> None:
    """Refuses a Differentiable below ``@classmethod`` where Python does not pass it the class: from 3.13 on."""
    if sys.version_info < (3, 13) or owner or not isinstance(function, types.FunctionType):
        return
    from tangentx.common import source

    try:
        found = source.find(function)
    except TangentxError:
        return  # told where the text is needed
    for decorator in getattr(found.tree, "decorator_list", ()):
        if isinstance(decorator, ast.Name):
            outer = function.__globals__.get(decorator.id, getattr(builtins, decorator.id, None))
            if outer is classmethod:
                name = function.__qualname__
                raise NotDifferentiable(
                    f"`{name}` cannot know of which class: Python 3.13 does not tell what stands below `@classmethod`",
                    found.span(decorator),
                    f"put `@tx.differentiate` above `@classmethod`, or ask `tx.grad({name})`",
                )


_SINGLE = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
"""Parameters that take one argument by its place."""


class Binder:
    """Puts arguments in the order of a function's parameters, defaults filled in."""

    def __init__(self, function: Any) -> None:
        while hasattr(function, "__tangentx_target__") and function.__tangentx_primal__() is not function:
            function = function.__tangentx_primal__()
        self.function = function
        self.made_for = self._state()
        self.signature = _signature(function)
        self.names = tuple(self.signature.parameters)
        kinds = {p.kind for p in self.signature.parameters.values()}
        self.plain = kinds <= set(_SINGLE)
        self.single = sum(p.kind in _SINGLE for p in self.signature.parameters.values())

    def _state(self) -> tuple[Any, ...]:
        function = self.function
        named = getattr(function, "__kwdefaults__", None) or {}
        return (getattr(function, "__code__", None), getattr(function, "__defaults__", None), *named, *named.values())

    def holds(self) -> bool:
        """Whether the function still has the code and the defaults that it had."""
        now = self._state()
        return len(now) == len(self.made_for) and all(a is b for a, b in zip(now, self.made_for, strict=True))

    def __call__(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """All arguments by position. Raises TypeError as a call of the function would."""
        if self.plain and not kwargs and len(args) == len(self.names):
            return tuple(args)
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            name = getattr(self.function, "__qualname__", "the function")
            raise TypeError(f"{name}(): {error}") from None
        bound.apply_defaults()
        return tuple(bound.arguments[name] for name in self.names)


def counted(number: int) -> str:
    """ "1 parameter", "2 parameters"."""
    return f"{number} parameter{'' if number == 1 else 's'}"


def positions(wrt: Any, names: tuple[str, ...], owned: int, what: str) -> tuple[int, ...]:
    """Positions of the parameters that `wrt` names, the owner counted. Raises NotDifferentiable."""
    found: list[int] = []
    for each in wrt if isinstance(wrt, tuple) else (wrt,):
        if isinstance(each, str) and each in names:
            found.append(names.index(each))
        elif isinstance(each, str):
            close = difflib.get_close_matches(each, names, 1)
            hint = f"did you mean `{close[0]}`? " if close else ""
            rest = f"use one of {', '.join(names)}" if names else "give it a parameter"
            raise NotDifferentiable(f"`{what}` has no parameter `{each}`", hint=hint + rest)
        elif not isinstance(each, int) or isinstance(each, bool):
            raise NotDifferentiable(f"wrt={each!r} is neither a position nor a name", hint="use 0, or the name")
        elif each < 0:
            named = f" (`{names[each]}`)" if -each <= len(names) - owned else ""
            raise NotDifferentiable(
                f"wrt={each} counts from the end, but positions count from 0",
                hint=f"use {len(names) - owned + each}, or the name{named}" if named else "use 0, or a name",
            )
        elif each + owned >= len(names):
            rest = ", ".join(names[owned:])
            raise NotDifferentiable(
                f"wrt={each} is out of range: `{what}` has {counted(len(names) - owned)}",
                hint=f"use a position below {len(names) - owned}, or one of {rest}" if rest else "give it a parameter",
            )
        else:
            found.append(each + owned)
    if not found:
        raise NotDifferentiable("wrt=() names no parameter", hint=f"use one of {', '.join(names[owned:])}")
    twice = [names[i] for k, i in enumerate(found) if i in found[:k]]
    if twice:
        raise NotDifferentiable(f"wrt={wrt!r} names `{twice[0]}` twice", hint="name each parameter once")
    return tuple(found)


@dataclass(frozen=True)
class Entry:
    """One compiled derivative; `holds` says whether the program that it was made from is still the same.

    It is not where a function or an outside object that was read has been replaced since.
    """

    functions: tuple[Any, ...]
    text: Any
    filename: str
    holds: Callable[[], bool]
    writes: bool
    notes: dict[str, Any] = field(default_factory=dict)


_stopped: list[int] = []  # one item while a compilation keeps the collector of garbage from running


def _uncollected(make: Callable[[], Entry]) -> Entry:
    """What a compilation makes lives as long as it: to look for garbage there costs it a quarter of its time.

    As in `lasting`, an interrupt leaves the collector on: it is switched off inside of the ``try`` alone.
    """
    if not gc.isenabled():
        return make()
    try:
        _stopped[:] = [1]
        gc.disable()
        return make()
    finally:
        _stopped[:] = []
        gc.enable()


def _in_a_child() -> None:
    """A process that is forked while another thread compiles has the lock of a thread that it does not have."""
    global LOCK
    LOCK = threading.RLock()
    if _stopped:
        _stopped.clear()
        gc.enable()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_a_child)


def half_loaded() -> NotResolved:
    """The refusal of what a handler of signals asks for while what it interrupts loads what compiles."""
    message = "a derivative is asked for by a handler of signals while what it has interrupted loads the compiler"
    return NotResolved(message, hint="take a derivative before the handler is set, so that all is loaded")


def _made(make: Callable[[], Entry]) -> Entry:
    """What `make` compiles, again where other threads have bound names anew meanwhile."""

    def alone() -> Entry:
        # A primitive of the user's that is tried on samples may take a derivative itself, while another is compiled.
        return lasting(OBSERVING, None, lambda: lasting(ON_TENSORS, NOBODY, lambda: _uncollected(make)))

    if forks.loading():
        raise half_loaded()
    for _ in range(LIMIT_TRIES):
        with suppress(ChangedMeanwhile):
            return reporting(alone)
    message = "the functions and objects that this function reads are bound anew again and again while it is compiled"
    raise NotResolved(message, hint="compile it, by a first call, before other threads change them")


def size_of(key: Any) -> int:
    """About how many characters a key of kinds has."""
    if isinstance(key, str | bytes):
        return len(key)
    return sum(map(size_of, key)) + len(key) if isinstance(key, tuple | frozenset) else 1


class Cache:
    """Compiled derivatives by key, the least recently used dropped. Hits take no lock."""

    def __init__(self) -> None:
        self.entries: OrderedDict[Any, Entry] = OrderedDict()
        self.dropped = 0
        self.limit = LIMIT_KINDS
        self.last: Entry | None = None
        self.hits: Hits[Hit] = Hits()
        self.route: Route | None = None
        self.observing: Observing | None = None
        self.asked: set[Any] = set()
        """Keys of which it has been asked whether an earlier process has kept a text for them."""

    def find(self, key: Any, make: Callable[[], Entry]) -> Entry:
        """The entry for `key`, made under the lock where it is missing or no longer true."""
        entry = self.entries.get(key)
        if entry is not None and entry.holds():
            self.last = entry
            return entry

        def found() -> Entry:
            entry = self.entries.get(key)
            if entry is None or not entry.holds():
                entry = _made(make)
                _compiled[0] += 1
                entry.notes["number"] = _compiled[0]
            self._enter(key, entry)
            return entry

        return holding(LOCK, found)

    def put(self, key: Any, entry: Entry) -> None:
        """Enters an entry that was found elsewhere."""
        holding(LOCK, lambda: self._enter(key, entry))

    def _enter(self, key: Any, entry: Entry) -> None:
        self.entries[key] = entry
        self.entries.move_to_end(key)
        while len(self.entries) > self.limit or (len(self.entries) > 1 and self.size() > LIMIT_TEXT):
            self.entries.popitem(last=False)
            self.hits.clear()
            self.route = None
            self.dropped += 1
        self.last = entry

    def size(self) -> int:
        """How many characters the texts and the keys have."""
        texts = {id(entry): len(entry.text.source) for entry in self.entries.values()}
        return sum(texts.values()) + sum(map(size_of, self.entries))


def refuse_overlap(target: Target, names: Sequence[str], pairs: Sequence[tuple[int, int]], wrt: Sequence[int]) -> None:
    """Refuses to differentiate by arguments that share memory, where the program writes.

    `pairs` are positions of the arguments that do.
    """
    for i, j in pairs:
        if i in wrt or j in wrt:
            both = f"the arguments `{names[i]}` and `{names[j]}`"
            two = both if i != j else f"two parts of the argument `{names[i]}`"
            raise SharedMemory(
                f"{two} share memory that the program writes into, so the derivative is not defined",
                place_of(target.function),
                f"pass a copy: `{names[j]}.copy()`" if i != j else "copy one of them",
            )
