"""Runs programs as C, through a shared library."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from tangentx.loops import build, print_c
from tangentx.loops.arguments import FLAGGED, OTHER, Backend, Unfit, demand_fit
from tangentx.loops.c_entry import CODES
from tangentx.loops.callbacks import Callbacks, raising
from tangentx.loops.loop_ir import Bail, Program

_OF_PYTHON = """
PyEval_SaveThread PyEval_RestoreThread PyGILState_Ensure PyGILState_Release PyErr_CheckSignals PyErr_Occurred
PyErr_Clear Py_IncRef Py_DecRef PyFloat_AsDouble PyLong_AsLongLong PyObject_IsTrue PyFloat_FromDouble
PyLong_FromLongLong PyBool_FromLong PyTuple_New PyTuple_SetItem PyObject_CallObject PyObject_GetBuffer
PyBuffer_Release PyCFunction_NewEx
""".split()
"""Functions of Python's in the order in which a library takes them."""
_KEPT = ctypes.create_string_buffer(4096)  # `struct kept_memory`, of all programs
_OF_NUMPY = (np.empty, np.zeros, np.float64, np.float32, np.int64, np.bool_)


class _InC:
    """A program that is compiled and loaded."""

    def __init__(self, program: Program, library: ctypes.PyDLL) -> None:
        self.program = program
        self.outside = Callbacks(program.outside) if program.outside else None
        self.held = library.tangentx_bytes
        self.held.restype = ctypes.c_size_t
        library.tangentx_begin(ctypes.byref(_handed_over()))
        made = library.tangentx_function
        made.argtypes, made.restype = [ctypes.py_object], ctypes.py_object
        callback = None if self.outside is None else ctypes.cast(self.outside.entry, ctypes.c_void_p).value
        self.entry = made(callback or 0)
        self.writes = bool(program.copied) or program.reshapes
        self.count = len(program.functions[0].results)

    def __call__(self, values: Sequence[Any]) -> Sequence[Any]:
        if self.writes:
            demand_fit(self.program, values)
        found = self._called(values)
        if found == CODES["SCATTERED"]:
            found = self._called([_whole(value) for value in values])
        if type(found) is not tuple:
            raise Unfit(_REASONS[found])
        if len(found) > self.count and np.geterr()["under"] != "ignore":
            raise Unfit(FLAGGED)
        return found

    def _called(self, values: Sequence[Any]) -> Any:
        """The results, or a code. Raises what a handler of signals raised."""
        try:
            if self.outside is None:
                return self.entry(*values)
            with self.outside:
                return raising(lambda: self.entry(*values))
        except MemoryError:
            raise Unfit(Bail.MEMORY.reason) from None

    def told(self) -> list[str]:
        """What is known of the last call."""
        return [f"  held {self.held():,} bytes at most at the last call"]


_REASONS = {
    **{bail.value: bail.reason for bail in Bail},
    CODES["FLAGGED"]: FLAGGED,
    CODES["OTHER"]: OTHER,
    CODES["SCATTERED"]: OTHER,
}


def _whole(value: Any) -> Any:
    """An array without gaps, row after row."""
    return np.require(value, requirements=("C", "A")) if isinstance(value, np.ndarray) else value


def _handed_over() -> Any:
    """What a library needs of Python and NumPy, as it takes it."""
    of_python = [ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p) for name in _OF_PYTHON]
    words: list[Any] = [*of_python, *map(id, _OF_NUMPY), threads(), ctypes.addressof(_KEPT)]
    return (ctypes.c_void_p * len(words))(*words)


def threads() -> int:
    """How many threads a program may use: ``TANGENTX_THREADS``, or as many as there are processors for this process."""
    given = os.environ.get("TANGENTX_THREADS", "")
    if given.isdecimal() and int(given):
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_c(program: Program, parallel: bool) -> tuple[str, Backend]:
    """Its text, and what runs it. Raises NoCompiler."""
    text = print_c.text_of(program, parallel)
    return text, _InC(program, build.library(text))
