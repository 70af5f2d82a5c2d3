"""Runs programs as C: builds shared libraries, cached by content, and loads them."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from typing import Any

import numpy as np

from tangentx.common.cache_files import digest, directory, private, read
from tangentx.errors import NoCompiler
from tangentx.loops import print_c
from tangentx.loops.arguments import FLAGGED, OTHER, Backend, Unfit, demand_fit
from tangentx.loops.c_entry import CODES
from tangentx.loops.callbacks import Callbacks, raising
from tangentx.loops.loop_ir import Bail, Program

# Builds and loads C libraries, cached by content.
#
# What is compiled lies in a directory that nobody else may enter, is written under another name first, and is found
# again by other processes.

FLAGS = ("-O3", "-fno-expensive-optimizations", "-fno-gcse-after-reload", "-fno-schedule-insns2",
         "-march=native", "-fno-math-errno", "-ffp-contract=off", "-fwrapv", "-fPIC", "-shared", "-pthread",
         "-std=gnu11")  # fmt: skip
"""No flag that lets the compiler change what a program computes: a division by zero, the order of sums, not a number.

What -O3 is spared takes a third of the time to compile, and loops are as fast without.
`-fwrapv`: where whole numbers may wrap, the program has checked that they do not.
"""
_CANDIDATES = ("cc", "gcc", "clang")
_LIMIT_SECONDS = 120


@functools.cache
def library(source: str) -> ctypes.PyDLL:
    """The text, compiled and loaded. Raises NoCompiler."""
    command, version = compiler()
    told = "\0".join((source, *command, version, *FLAGS, _processor()))
    name = hashlib.sha256(told.encode()).hexdigest()[:32]
    for place in (directory, private):  # the first may be full, read-only, or one from which nothing may be run
        try:
            path = os.path.join(place(), f"{name}.so")
            if read(path) is None:
                _compile(command, source, path)
            return ctypes.PyDLL(path)
        except OSError as error:
            reason = error
    raise NoCompiler(f"what the C compiler made cannot be kept or loaded: {reason}", hint=_HINT)


_HINT = "set CC to a working compiler and TANGENTX_CACHE to a directory for what it makes, or leave out jit"


def compiler() -> tuple[tuple[str, ...], str]:
    """The command of the C compiler, ``$CC`` first, and what it says of its version. Raises NoCompiler."""
    return _compiler(os.environ.get("CC", ""), os.environ.get("PATH", ""))


@functools.cache
def _compiler(given: str, path: str) -> tuple[tuple[str, ...], str]:
    try:
        words = shlex.split(given)
    except ValueError:  # a quotation mark without its fellow
        words = [given]
    candidates = [words] if words else [[name] for name in _CANDIDATES]
    for candidate in candidates:
        found = shutil.which(candidate[0], path=path)
        if found is None:
            continue
        command = (found, *candidate[1:])
        told = _run([*command, "--version"])
        if told.returncode == 0:
            return command, told.stdout
    what = f"CC={given!r} is no C compiler that runs" if words else f"there is no C compiler ({', '.join(_CANDIDATES)})"
    raise NoCompiler(f'jit="c" needs a C compiler: {what}', hint="install gcc or clang, set CC, or leave out jit")


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))


def _compile(command: Sequence[str], source: str, path: str) -> None:
    """Compiles beside the place where the library is to lie, and puts it there at once."""
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as place:
        text, made = os.path.join(place, "program.c"), os.path.join(place, "program.so")
        with open(text, "w", encoding="utf-8") as file:
            file.write(source)
        told = _run([*command, *FLAGS, "-o", made, text, "-lm"])
        if told.returncode != 0 or not os.path.exists(made):
            lines = (told.stderr.strip() or "it says nothing").splitlines()
            raise NoCompiler(f"the C compiler `{command[0]}` made nothing: {lines[-1]}", hint=_HINT)
        with open(made, "r+b") as library:
            library.write(digest(library.read()))
        os.chmod(made, 0o700)
        os.replace(made, path)


@functools.cache
def _processor() -> str:
    """What code for this very processor may use."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            lines = {line for line in file if line.startswith(("flags", "Features", "model name"))}
    except OSError:
        lines = {platform.processor()}
    return platform.machine() + "".join(sorted(lines))


# Runs programs as C, through a shared library.

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
    return text, _InC(program, library(text))
