"""Callbacks: Python functions that a compiled program calls."""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from tangentx.common.float_events import Way, under_events
from tangentx.loops.arguments import Elements, put_together
from tangentx.loops.calls import checked, class_of, stopped
from tangentx.loops.loop_ir import Array, Bail, Bailout, OutsideCall, Scalar, dtype_of

T = TypeVar("T")


def raising(run: Callable[[], T]) -> T:
    """What `run` gives, with floating-point events as errors, where somebody would be told of them."""
    under: Way = "ignore" if np.geterr()["under"] == "ignore" else "raise"
    return under_events(run, divide="raise", over="raise", invalid="raise", under=under)


def called(call: OutsideCall, *given: Any) -> Any:
    """The result of a function of Python. Raises Bailout."""
    values = [
        class_of(type)(value) if isinstance(type, Scalar) else value
        for value, type in zip(given, call.given, strict=True)
    ]
    try:
        args = [put_together(form, values) for form in call.args]
        named = {name: put_together(form, values) for name, form in call.named}
        return checked(call.fn(*args, **named), call)
    except Exception as error:
        raise stopped(error) from None


def letter(type: Any) -> str:
    """How a number stands in a word of 64 bits, as `struct` has it."""
    return "d" if type.code[0] == "f" else "q"


_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)


class Callbacks:
    """The functions of Python that a program calls, by words of 64 bits. While it runs, this is entered."""

    def __init__(self, calls: Sequence[OutsideCall]) -> None:
        self.calls = calls
        self.given = [
            struct.Struct(
                "=" + "".join(f"{1 + 2 * t.rank}q" if isinstance(t, Array) else letter(t) for t in call.given)
            )
            for call in calls
        ]
        self.found = [
            struct.Struct("=" + "".join(f"{1 + t.rank}q" if isinstance(t, Array) else letter(t) for t in call.results))
            for call in calls
        ]
        self.entry = _CALLBACK(self._call)
        self._kept: dict[int, Any] = {}  # by thread, what the program copies next; and what has stopped it

    def __enter__(self) -> None:
        self._kept.pop(threading.get_ident(), None)

    def __exit__(self, *_: object) -> None:
        kept = self._kept.pop(threading.get_ident(), None)
        if isinstance(kept, BaseException):
            raise kept

    def _call(self, place: int, given: int, found: int) -> int:
        try:
            call = self.calls[place]
            words = self.given[place].unpack(ctypes.string_at(given, self.given[place].size))
            results = called(call, *_arguments(call, words))
            kept = self._kept[threading.get_ident()] = [
                np.require(x, requirements=("C", "A")) if isinstance(x, np.ndarray) else x for x in results
            ]
            back: list[Any] = []
            for x in kept:
                if isinstance(x, np.ndarray):
                    back += x.__array_interface__["data"][0], *x.shape
                else:  # a boolean of NumPy's is no whole number for `struct`
                    back.append(x.item() if isinstance(x, np.generic) else x)
            ctypes.memmove(found, self.found[place].pack(*back), self.found[place].size)
        except Bailout as bail:
            return int(bail.args[0])
        except BaseException as error:  # an interrupt: raised where the program was entered
            self._kept[threading.get_ident()] = error
            return Bail.INTERRUPT.value
        return 0


def _arguments(call: OutsideCall, words: Sequence[Any]) -> Iterator[Any]:
    """Numbers and arrays of words."""
    place = 0
    for type in call.given:
        if not isinstance(type, Array):
            yield words[place]
            place += 1
            continue
        dtype, rank = dtype_of(type.code), type.rank
        shape, steps = words[place + 1 : place + 1 + rank], words[place + 1 + rank : place + 1 + 2 * rank]
        interface = {
            "data": (words[place], False), "shape": shape, "strides": tuple(s * dtype.itemsize for s in steps),
            "typestr": dtype.str, "version": 3,
        }  # fmt: skip
        yield np.asarray(Elements(interface))
        place += 1 + 2 * rank
