"""Runs programs through Numba, which is imported on first use."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import platform
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from tangentx.arrays.memory import is_writable
from tangentx.common import cache_files
from tangentx.errors import NoCompiler
from tangentx.loops import print_numba
from tangentx.loops.arguments import FLAGGED, Backend, Elements, Unfit, demand_fit, typed
from tangentx.loops.callbacks import Callbacks, raising
from tangentx.loops.loop_ir import Array, Bail, Program, Scalar, Type

_EVENTS = {
    "x86_64": {"invalid": 1, "divide": 4, "over": 8, "under": 16},
    "aarch64": {"invalid": 1, "divide": 2, "over": 4, "under": 8},
}
"""By processor, the bits of floating-point events."""
_SAME = {"AMD64": "x86_64", "arm64": "aarch64"}


class NotCompiled(Exception):
    """Numba does not take a program, for this reason."""


def demand_numba() -> Any:
    """Numba. Raises NoCompiler where there is none, or none that can be used here."""
    try:
        import numba
    except ImportError as error:
        hint = 'pip install "tangentx[jit]", or leave out jit'
        raise NoCompiler(f'jit="numba" needs Numba, which cannot be imported: {error}', hint=hint) from None
    if _bits() is None or not hasattr(ctypes.pythonapi, "PyErr_Fetch"):
        raise NoCompiler(f'jit="numba" does not know the processor {platform.machine()}', hint="leave out jit")
    return numba


def _bits() -> dict[str, int] | None:
    machine = platform.machine()
    return _EVENTS.get(_SAME.get(machine, machine))


def in_numba(program: Program, parallel: bool = False) -> tuple[str, Backend]:
    """Its text, and what runs it. Raises NoCompiler and NotCompiled."""
    numba = demand_numba()
    text = print_numba.text_of(program)
    function = program.functions[0]
    given = [_numba_type(numba.types, type) for _, type in function.params]
    signature = (*given, numba.types.Array(numba.types.int64, 1, "C"))
    return text, _InNumba(program, _compiled(numba, text, function.name, signature))


def _compiled(numba: Any, text: str, name: str, signature: tuple[Any, ...]) -> Callable[..., Any]:
    """The function of this name, which is compiled, or found among what was compiled before."""
    path = _kept(text)
    for text_ in (text, text.replace("cache=True", "cache=False")):  # what is kept may be damaged
        try:
            return _made(text_, path, name, signature)
        except (numba.core.errors.NumbaError, NotImplementedError) as error:
            reason = [line for line in str(error).splitlines() if line.strip()][:1] or [type(error).__name__]
            raise NotCompiled(f"Numba does not take it: {reason[0]}") from None
        except Exception as error:
            reason = [repr(error)]
    raise NotCompiled(f"Numba fails: {reason[0]}")


def _made(text: str, path: str, name: str, signature: tuple[Any, ...]) -> Callable[..., Any]:
    """The function, in a module of its own: by its name Numba finds again what belongs to what it has kept."""
    module = ModuleType(os.path.basename(path).removesuffix(".py"))
    sys.modules[module.__name__] = module
    exec(compile(text, path, "exec"), module.__dict__)
    function: Any = module.__dict__[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Numba warns of is not the user's text
        function.compile(signature)
    function.disable_compile()
    made: Callable[..., Any] = function
    return made


def _kept(text: str) -> str:
    """A file with the text, beside which Numba keeps what it makes."""
    name = f"tangentx_loops_{hashlib.sha256(text.encode()).hexdigest()[:32]}.py"
    for place in (cache_files.directory, cache_files.private):
        path = os.path.join(place(), name)
        try:
            if not (cache_files.is_own(path) and _content(path) == text):
                with tempfile.NamedTemporaryFile("w", dir=place(), delete=False, encoding="utf-8") as file:
                    file.write(text)
                os.replace(file.name, path)
            beside = os.path.join(place(), "__pycache__")
            os.makedirs(beside, mode=0o700, exist_ok=True)
            if cache_files.is_own(beside):
                return path
            raise PermissionError(f"others can write {beside}")
        except OSError as error:
            reason = error
    raise NoCompiler(f"what Numba compiles cannot be kept: {reason}", hint="set TANGENTX_CACHE to a directory")


def _content(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _numba_type(types: Any, type: Type) -> Any:
    """An argument of the entry: its arrays lie in memory without gaps, row after row."""
    assert isinstance(type, Array | Scalar)
    scalar = {"f8": types.float64, "f4": types.float32, "i8": types.int64, "b1": types.boolean}[type.code]
    return types.Array(scalar, type.rank, "C") if isinstance(type, Array) else scalar


@functools.cache
def _library() -> Any:
    """The functions of the C library that tell of floating-point events."""
    found = ctypes.PyDLL(None)
    return found if hasattr(found, "fetestexcept") else ctypes.PyDLL("libm.so.6")


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


class _InNumba:
    """The entry: the arguments, and the addresses of what a program needs of Python while it runs."""

    def __init__(self, program: Program, function: Callable[..., Any]) -> None:
        self.program, self.function = program, function
        self.types = [type for _, type in program.functions[0].params]
        self.results = program.functions[0].results
        self.outside = Callbacks(program.outside) if program.outside else None
        bits = _bits()
        assert bits is not None
        self.all, self.under = sum(bits.values()), bits["under"]
        self.clear, self.test = _library().feclearexcept, _library().fetestexcept
        api = ctypes.pythonapi
        needed = [api.PyGILState_Ensure, api.PyErr_CheckSignals, api.PyGILState_Release, api.PyErr_Fetch]
        needed += [_library().fetestexcept, _library().feraiseexcept]
        first = 0 if self.outside is None else _address(self.outside.entry)
        self.words = np.array([first, *map(_address, needed), self.all, 0, 0, 0], np.int64)

    def __call__(self, values: Sequence[Any]) -> Sequence[Any]:
        demand_fit(self.program, values)
        given = [_whole(v) if isinstance(t, Array) else v for t, v in zip(self.types, values, strict=True)]
        words = self.words.copy()
        try:
            if self.outside is None:
                return self._results(*self._called(given, words), words)
            with self.outside:
                found = raising(lambda: self._called(given, words))
            return self._results(*found, words)
        except MemoryError:
            raise Unfit(Bail.MEMORY.reason) from None
        except (ArithmeticError, LookupError, ValueError):
            raise Unfit(Bail.RAISED.reason) from None

    def _called(self, given: Sequence[Any], words: Any) -> tuple[Any, int]:
        self.clear(self.all)
        found = self.function(*given, words)
        return found, self.test(self.all)

    def _results(self, found: Any, events: int, words: Any) -> Sequence[Any]:
        bail, *results = found
        if bail:
            if words[8]:  # what a handler of signals raised
                ctypes.pythonapi.PyErr_Restore(*(ctypes.c_void_p(int(word)) for word in words[8:]))
            raise Unfit(Bail(bail).reason)
        if events & ~self.under or (events and np.geterr()["under"] != "ignore"):
            raise Unfit(FLAGGED)
        return [typed(value, type) for value, type in zip(results, self.results, strict=True)]


def _whole(array: Any) -> Any:
    """An array without gaps, row after row, that may be taken for one that is written."""
    if not (array.flags.c_contiguous and array.flags.aligned):
        return np.require(array, requirements=("C", "A", "W"))
    if is_writable(array):
        return array
    return np.asarray(Elements({**array.__array_interface__, "data": (array.ctypes.data, False)}, array))
