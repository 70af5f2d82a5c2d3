"""What is switched on and off for a thread: recording, honesty about values that leave, listeners of backward."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_GRAD: ContextVar[bool] = ContextVar("grad", default=True)

recording: Callable[[], bool] = _GRAD.get
"""Whether operations are recorded in this thread, and in this task of it. Nothing else is asked as soon."""


class _State(threading.local):
    """`grad`: operations are recorded. `honest`: turning an active Tensor into a plain number is an error.

    `refused` is the last error that code under `honest` may have caught. `anomaly`: backward stops at the first
    cotangent that is not finite. `listeners` are told of each node that backward has passed.
    """

    honest = False
    anomaly = False
    refused: Exception | None = None
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
    if STATE.honest:
        STATE.refused = error
    return error


def honestly(run: Callable[[], Any]) -> Any:
    """What `run` gives, where no value may leave the record. Raises the refusal also where the program caught it."""
    if STATE.honest:
        return run()  # who has asked for it first looks after it
    with setting(honest=True, refused=None):
        try:
            result = run()
        except Exception as error:
            if STATE.refused is None or error is STATE.refused:
                raise
        if STATE.refused is not None:
            raise STATE.refused from None  # somebody has caught it, and went on without the derivative
    return result


class _Switch:
    """Sets recording while it lasts: a context, or a decorator of functions."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode
        self.before: list[bool] = []

    def __enter__(self) -> None:
        self.before.append(STATE.grad)
        STATE.grad = self.mode

    def __exit__(self, *exception: object) -> None:
        STATE.grad = self.before.pop()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        mode = self.mode
        if inspect.isgeneratorfunction(function):
            return _switched_generator(function, mode)

        @functools.wraps(function)
        def switched(*args: Any, **kwargs: Any) -> Any:
            with _Switch(mode):
                return function(*args, **kwargs)

        return switched


def _switched_generator(function: Callable[..., Any], mode: bool) -> Callable[..., Any]:
    """A generator function whose body runs in the mode; what asks it for its values stays in its own."""

    @functools.wraps(function)
    def switched(*args: Any, **kwargs: Any) -> Any:
        steps = function(*args, **kwargs)
        go_on, given = steps.send, None
        while True:
            try:
                with _Switch(mode):
                    value = go_on(given)
            except StopIteration as end:
                return end.value
            try:
                go_on, given = steps.send, (yield value)
            except GeneratorExit:
                with _Switch(mode):
                    steps.close()
                raise
            except BaseException as error:
                go_on, given = steps.throw, error

    return switched


def no_grad(function: Any = None) -> Any:
    """Nothing is recorded in ``with tx.no_grad():``, or in a function under ``@tx.no_grad``; for this thread."""
    return _Switch(False) if function is None else _Switch(False)(function)


def enable_grad(function: Any = None) -> Any:
    """Recording again, inside of `no_grad`; a context or a decorator."""
    return _Switch(True) if function is None else _Switch(True)(function)


class set_grad_enabled(_Switch):
    """Switches recording for this thread as a plain call; as a context or decorator only while that lasts."""

    def __init__(self, mode: bool) -> None:
        super().__init__(bool(mode))
        self.outer = STATE.grad
        STATE.grad = self.mode

    def __enter__(self) -> None:
        self.before.append(self.outer)
        STATE.grad = self.mode

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        STATE.grad = self.outer
        return super().__call__(function)


def is_grad_enabled() -> bool:
    """Whether operations are recorded in this thread."""
    return recording()


@contextmanager
def setting(**values: Any) -> Iterator[None]:
    """Attributes of the thread's state while it lasts."""
    before = {name: getattr(STATE, name) for name in values}
    for name, value in values.items():
        setattr(STATE, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(STATE, name, value)
