"""Programs of the loop language run as C, through a library that is loaded."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from tangentx.loops import build, print_c
from tangentx.loops.arguments import FLAGGED, Backend, Unfit, demand_fit, typed
from tangentx.loops.callbacks import Callbacks, letter, raising
from tangentx.loops.loop_ir import Array, Bail, Program, dtype_of

_SERIOUS = sum(print_c.FLAGS[name] for name in ("FE_DIVBYZERO", "FE_INVALID", "FE_OVERFLOW"))


class _InC:
    """The entry of a library: arguments as words of 64 bits."""

    def __init__(self, program: Program, library: ctypes.PyDLL) -> None:
        self.program = program
        function = program.functions[0]
        self.entry = getattr(library, print_c.ENTRY)
        self.entry.restype = ctypes.c_int64
        self.outside = Callbacks(program.outside) if program.outside else None
        self.python = _interpreter(self.outside)
        self.release = library.tangentx_release
        self.release.argtypes = [ctypes.c_int64]
        self.release.restype = None
        self.types = [type for _, type in function.params]
        words = [f"{1 + t.rank}q" if isinstance(t, Array) else letter(t) for t in self.types]
        self.given = struct.Struct("=" + "".join(words))
        words = [f"{2 + t.rank}q" if isinstance(t, Array) else letter(t) for t in function.results]
        self.found = struct.Struct("=qq" + "".join(words))
        self.bytes = 0

    def __call__(self, values: Sequence[Any]) -> Sequence[Any]:
        demand_fit(self.program, values)
        words: list[Any] = []
        held: list[Any] = []
        for type, value in zip(self.types, values, strict=True):
            if isinstance(type, Array):
                if not (value.flags.c_contiguous and value.flags.aligned):
                    value = np.require(value, requirements=("C", "A"))
                held.append(value)
                words += (value.__array_interface__["data"][0], *value.shape)
            else:
                words.append(value if letter(type) == "d" else int(value))
        found = ctypes.create_string_buffer(self.found.size)
        if self.outside is None:
            bail = self.entry(self.given.pack(*words), found, self.python)  # raises what a handler of signals raised
        else:
            with raising(), self.outside:
                bail = self.entry(self.given.pack(*words), found, self.python)
        return self._results(bail, self.found.unpack(found.raw))

    def told(self) -> list[str]:
        """What is known of the last call."""
        return [f"  held {self.bytes:,} bytes at most at the last call"]

    def _results(self, bail: int, words: Sequence[Any]) -> Sequence[Any]:
        results: list[Any] = []
        place = 2
        self.bytes = words[1]
        for type in self.program.functions[0].results:
            if isinstance(type, Array):
                address, owner, *shape = words[place : place + 2 + type.rank]
                place += 2 + type.rank
                results.append(None if bail else _copied(type, address, shape))
                self.release(owner)
            else:
                results.append(typed(words[place], type))
                place += 1
        if bail:
            raise Unfit(Bail(bail).reason)
        if words[0] & _SERIOUS or (words[0] and np.geterr()["under"] != "ignore"):
            raise Unfit(FLAGGED)
        return results


def _copied(type: Array, address: int, shape: Sequence[int]) -> Any:
    made = np.empty(shape, dtype_of(type.code))
    if made.size:
        ctypes.memmove(made.ctypes.data, address, made.nbytes)
    return made


def _interpreter(outside: Callbacks | None) -> Any:
    """What a program needs of Python while it runs: to release its lock, to take it, to run handlers of signals, and
    functions."""
    names = ("PyEval_SaveThread", "PyEval_RestoreThread", "PyErr_CheckSignals")
    found = [ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p) for name in names]
    if outside is not None:
        found.append(ctypes.cast(outside.entry, ctypes.c_void_p))
    return (ctypes.c_void_p * 5)(*found)


def in_c(program: Program) -> tuple[str, Backend]:
    """Its text, and what runs it. Raises NoCompiler."""
    text = print_c.text_of(program)
    return text, _InC(program, build.library(text))
