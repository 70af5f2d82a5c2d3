"""Thread-local modes: recording, strictness about values that leave, anomaly detection, precision."""

from __future__ import annotations

import functools
import inspect
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")
_GRAD: ContextVar[bool] = ContextVar("grad", default=True)

recording: Callable[[], bool] = _GRAD.get
"""Whether operations are recorded in this thread, and in this task of it. Nothing else is asked as soon."""


class Touched:
    """Objects by identity, which live no longer than without it: what can be referred to weakly is.

    Lists, dicts and cells cannot: `let_go` drops those of which nobody else knows.

    >>> class Node:
    ...     pass
    >>> found, node, row = Touched(), Node(), []
    >>> found.add(node), found.add(row), id(node) in found, len(found.values())
    (False, True, True, 2)
    >>> del node, row
    >>> [len(gone) for gone in found.let_go()]
    [1]
    >>> found.values()
    []
    """

    def __init__(self) -> None:
        self._weakly: dict[int, Any] = {}
        self._held: dict[int, Any] = {}

    def __contains__(self, key: int) -> bool:
        return key in self._weakly or key in self._held

    def add(self, x: Any) -> bool:
        """Notes an object; tells whether it is held from now on."""
        key = id(x)
        if key in self:
            return False
        weakly = self._weakly
        try:
            weakly[key] = weakref.ref(x, lambda _: weakly.pop(key, None))
        except TypeError:
            self._held[key] = x
            return True
        return False

    def values(self) -> list[Any]:
        """All that live still."""
        return [*self._held.values(), *(x for found in list(self._weakly.values()) if (x := found()) is not None)]

    def let_go(self) -> Iterator[list[Any]]:
        """Drops what nobody else holds, and what that held after it; shows each time first what goes."""
        while held := [key for key, x in self._held.items() if sys.getrefcount(x) <= _ALONE]:
            yield [self._held[key] for key in held]
            for key in reversed(held):
                del self._held[key]

    def calls(self, x: Any) -> bool:
        """Whether a weak reference to an object calls something when it dies, beside the one that is kept here."""
        own = self._weakly.get(id(x))
        found = (found.__callback__ for found in weakref.getweakrefs(x) if found is not own)
        return any(
            call is not None and (isinstance(call, weakref.finalize) or call.__module__ not in WEAK_TABLES)
            for call in found
        )


def _alone() -> int:
    """How many references there are to what only a dict holds, asked as `let_go` does it."""
    held = {0: [object()]}
    (count,) = [sys.getrefcount(x) for _, x in held.items()]
    return count


WEAK_TABLES = ("weakref", "_weakrefset")
"""Modules whose own weak references forget an item of a table, and call nothing else."""
_ALONE = _alone()


class Program:
    """A run of a user's program on Tensors.

    `refused` is the last error that its code may have caught. `touched` are the objects into which it has put what may
    hold a Tensor, by identity; `names` the globals that it has bound, as a dict and a name; `places` where iterators
    were put, by their identity. It has `leaves` where it is differentiated by what it was given, and is not only run on
    Tensors of the user's. `hidden` are objects in its result that held something differentiated where nobody looks.
    `texts` tell what one of its values is.
    """

    leaves = False
    home = ""  # the package of the function that is differentiated: its code is the user's, wherever it lies

    def __init__(self) -> None:
        self.refused: Exception | None = None
        self.touched = Touched()
        self.names: dict[tuple[int, str], dict[str, Any]] = {}
        self.places: dict[int, Any] = {}
        self.hidden: list[Any] = []
        self.texts: set[str] = set()


RUNNING: dict[int, Program] = {}
"""The programs that run, in any thread, without those within others, by identity."""


class _State(threading.local):
    """`grad`: operations are recorded. `honest`: turning an active Tensor into a plain number is an error; `program` is
    the one for whose sake that is. `anomaly`: backward stops at the first cotangent that is not finite. `listeners`
    are told of each node that backward has passed. `quiet`: what runs has run before, and prints nothing.
    """

    honest = False
    anomaly = False
    quiet = False
    program: Program | None = None
    listeners: tuple[Callable[..., None], ...] = ()

    @property
    def grad(self) -> bool:
        return recording()

    @grad.setter
    def grad(self, value: bool) -> None:
        _GRAD.set(value)


STATE = _State()


def refusal(error: Exception) -> Exception:
    """An error to be raised, remembered where the program that is differentiated might catch it."""
    if STATE.honest and STATE.program is not None:
        STATE.program.refused = error
    return error


class _Switch:
    """Sets recording while it lasts: a context, or a decorator of functions."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode
        self.before: list[bool] = []

    def __enter__(self) -> None:
        self._enter(recording())

    def _enter(self, before: bool) -> None:
        self.before.append(before)
        try:
            _GRAD.set(self.mode)
        except BaseException:  # an interrupt, after which nobody leaves what was not entered
            _GRAD.set(before)
            raise

    def __exit__(self, *exception: object) -> None:
        _GRAD.set(self.before[-1])
        self.before.pop()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        mode = self.mode
        if inspect.isgeneratorfunction(function):
            return _switched_generator(function, mode)

        @functools.wraps(function)
        def switched(*args: Any, **kwargs: Any) -> Any:
            return during(lambda: function(*args, **kwargs), grad=mode)

        return switched


def _switched_generator(function: Callable[..., Any], mode: bool) -> Callable[..., Any]:
    """A generator function whose body runs in the mode; what asks it for its values stays in its own."""

    @functools.wraps(function)
    def switched(*args: Any, **kwargs: Any) -> Any:
        steps = function(*args, **kwargs)
        go_on, given = steps.send, None
        while True:
            try:
                value = during(functools.partial(go_on, given), grad=mode)
            except StopIteration as end:
                return end.value
            try:
                go_on, given = steps.send, (yield value)
            except GeneratorExit:
                during(steps.close, grad=mode)
                raise
            except BaseException as error:
                go_on, given = steps.throw, error

    return switched


def no_grad(function: Any = None) -> Any:
    """Nothing is recorded in ``with tx.no_grad():``, or in a function under ``@tx.no_grad``; for this thread.

    >>> import tangentx as tx
    >>> x = tx.tensor(2.0, requires_grad=True)
    >>> with tx.no_grad():
    ...     (x * x).requires_grad
    False
    """
    return _Switch(False) if function is None else _Switch(False)(function)


def enable_grad(function: Any = None) -> Any:
    """Recording again, inside of `no_grad`; a context or a decorator.

    >>> import tangentx as tx
    >>> x = tx.tensor(2.0, requires_grad=True)
    >>> with tx.no_grad(), tx.enable_grad():
    ...     (x * x).requires_grad
    True
    """
    return _Switch(True) if function is None else _Switch(True)(function)


class set_grad_enabled(_Switch):
    """Switches recording for this thread as a plain call; as a context or decorator only while that lasts.

    >>> import tangentx as tx
    >>> x = tx.tensor(2.0, requires_grad=True)
    >>> with tx.set_grad_enabled(False):
    ...     (x * x).requires_grad
    False
    >>> (x * x).requires_grad
    True
    """

    def __init__(self, mode: bool) -> None:
        super().__init__(bool(mode))
        self.outer = STATE.grad
        STATE.grad = self.mode

    def __enter__(self) -> None:
        self._enter(self.outer)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        STATE.grad = self.outer
        return super().__call__(function)


def is_grad_enabled() -> bool:
    """Whether operations are recorded in this thread."""
    return recording()


def during(
    run: Callable[[], T], *, grad: bool | None = None, honest: bool | None = None, program: Program | None = None
) -> T:
    """What `run` gives while recording, or honesty, are as told, and a `program` runs; they are as before afterwards,
    whatever happens.

    Python looks for an interrupt where it enters a function and where a call has returned. So the state is changed
    inside of the ``try`` alone, and set back by the first call of the ``finally``: a context manager written in Python
    has places between the two where an interrupt would leave recording off for good.
    """
    before, was_honest, was_run, key = recording(), STATE.honest, STATE.program, id(program)
    try:
        if honest is not None:
            STATE.honest = honest
        if program is not None:
            STATE.program = program
            RUNNING[key] = program
        if grad is not None:
            _GRAD.set(grad)
        return run()
    finally:
        if honest is not None:
            STATE.honest, STATE.program = was_honest, was_run
        if key in RUNNING:
            del RUNNING[key]
        if grad is not None:
            _GRAD.set(before)


@contextmanager
def setting(**values: Any) -> Iterator[None]:
    """Listeners, and what else is told of backward, while it lasts."""
    before = {name: getattr(STATE, name) for name in values}
    try:
        for name, value in values.items():
            setattr(STATE, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(STATE, name, value)
