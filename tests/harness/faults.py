"""An exception in the middle of a derivative call: nothing of the user's may show it afterwards."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from tangentx.dispatch.plain_sweeps import LIMIT_MISSES
from tests.harness.guard import call
from tests.harness.leaves import leaves
from tests.harness.snapshot import snapshot

PROGRAMS = str(Path(__file__).resolve().parent.parent / "programs")


class Fault(Exception):
    """Raised by the harness inside the traced code; an ordinary exception, as a user's own would be."""


class Stop(BaseException):
    """The same as an interrupt would be: no program catches it."""


class _Tracer:
    """Counts the lines run in generated texts and in programs; raises `fault` at line number `at`.

    `places` are the lines by number: where they stand. Python tells of the line of a ``with`` again where its block is
    left, before the manager is told: nothing can be raised there.
    """

    def __init__(self, at: int | None = None, fault: type[BaseException] = Fault) -> None:
        self.at = at
        self.fault = fault
        self.count = 0
        self.places: list[tuple[str, int]] = []
        self.entered: set[tuple[int, int]] = set()

    def __call__(self, frame: FrameType, event: str, arg: Any) -> _Tracer | None:
        if event == "call":
            return self if _is_traced(frame.f_code.co_filename) else None
        if event == "line" and not self._leaves(frame):
            if self.count == self.at:
                raise self.fault(f"{frame.f_code.co_filename}:{frame.f_lineno}")
            self.places.append((frame.f_code.co_filename, frame.f_lineno))
            self.count += 1
        return self

    def _leaves(self, frame: FrameType) -> bool:
        """Whether a block is being left."""
        if not linecache.getline(frame.f_code.co_filename, frame.f_lineno).lstrip().startswith("with "):
            return False
        block = (id(frame), frame.f_lineno)
        self.entered ^= {block}
        return block not in self.entered


def _is_traced(filename: str) -> bool:
    return filename.startswith("<tangentx") or filename.startswith(PROGRAMS)


def _traced(tracer: _Tracer, f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    previous = sys.gettrace()
    sys.settrace(tracer)
    try:
        return f(*args)
    finally:
        sys.settrace(previous)


def call_with_fault(
    derivative: Callable[..., Any], args: tuple[Any, ...], rng: np.random.Generator, watch: tuple[object, ...] = ()
) -> None:
    """Inject an exception at a random line of the call's own code; fails if anything shows it afterwards.

    The exception comes out unchanged, the arguments and what `watch` reaches are as they were, and the next call
    gives what the call before gave.
    """
    for _ in range(LIMIT_MISSES + 1):  # compiles, with guards too where they are needed, so that only running remains
        call(derivative, *args, watch=watch)
    counter = _Tracer()
    expected = _traced(counter, derivative, args)
    assert counter.count, "the derivative ran no line of a generated text or a program"
    before = snapshot(args, getattr(derivative, "__wrapped__", None), *watch)
    fault = None
    try:
        _traced(_Tracer(int(rng.integers(counter.count))), derivative, args)
    except Fault as error:
        fault = error
    assert fault is not None, "the injected exception was swallowed"
    before.assert_unchanged()
    assert_same(call(derivative, *args, watch=watch), expected)


def each_line(work: Callable[[], Any]) -> list[int]:
    """The numbers, among the lines that `work` runs, at which each line runs for the first and for the last time."""
    counter = _Tracer()
    _traced(counter, work, ())
    first: dict[tuple[str, int], int] = {}
    last: dict[tuple[str, int], int] = {}
    for number, place in enumerate(counter.places):
        first.setdefault(place, number)
        last[place] = number
    return sorted({*first.values(), *last.values()})


def with_fault(work: Callable[[], Any], at: int, fault: type[BaseException] = Fault) -> BaseException | None:
    """Does `work` with an exception at one of its lines; gives what comes out, None where it is caught on the way."""
    try:
        _traced(_Tracer(at, fault), work, ())
    except BaseException as error:
        return error
    return None


def assert_same(a: object, b: object) -> None:
    """Raise `AssertionError` where two structures differ in a leaf, bitwise but for nan."""
    for one, other in zip(leaves(a), leaves(b), strict=True):
        assert one.path == other.path
        np.testing.assert_array_equal(one.value, other.value, err_msg=one.path, strict=True)
