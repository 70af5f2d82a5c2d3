"""A compiled program as a function of Python: arguments in, results out, and the generated Python where it gives up."""

from __future__ import annotations

import ctypes
import functools
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from tangentx import arrays
from tangentx.errors import NotResolved
from tangentx.jit import build, print_c, print_python
from tangentx.jit.builder import LIMIT_EXTENT
from tangentx.jit.loop_ir import (
    Array,
    Bail,
    Bailout,
    Form,
    Items,
    Known,
    OutsideCall,
    Owned,
    Owner,
    Parts,
    Program,
    Scalar,
    Type,
    dtype_of,
)
from tangentx.jit.outside_calls import checked, class_of, stopped

FLAGGED = "a floating-point event"
OTHER = "arguments that are left to Python"
_SERIOUS = sum(print_c.FLAGS[name] for name in ("FE_DIVBYZERO", "FE_INVALID", "FE_OVERFLOW"))


class Unfit(Exception):
    """Arguments, or what happened, that only the generated Python has an answer for."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Backend(Protocol):
    """Runs a program on arguments; its results one after the other. Raises Unfit."""

    def __call__(self, values: Sequence[Any]) -> Sequence[Any]: ...


class Compiled:
    """A derivative that is compiled. What it has no answer for, `plain` has, from the beginning.

    `gave_up` counts why it was asked. `current` gives what an object from outside is now.
    """

    def __init__(
        self,
        program: Program,
        how: str,
        plain: Callable[..., Any],
        defaults: Sequence[Any],
        current: Callable[[Any], Any],
    ) -> None:
        self.program, self.how, self.plain, self.current = program, how, plain, current
        self.text, self.run = BACKENDS[how](program)
        self.gave_up: Counter[str] = Counter()
        self._missing = tuple(defaults)

    def told(self) -> list[str]:
        """What was compiled, and how often the generated Python was run instead."""
        lines = [f"compiled as {_TITLES[self.how]}, {self.text.count(chr(10))} lines", *self.program.report]
        for reason, count in self.gave_up.most_common():
            lines.append(f"  ran as Python {count} time{'' if count == 1 else 's'}: {reason}")
        return lines

    def __call__(self, *values: Any) -> Any:
        given = (*values, *self._missing[len(self._missing) + len(values) - len(self.program.arguments) :])
        try:
            found = self.run(taken_apart(self.program, given, self._read()))
        except Unfit as unfit:
            self.gave_up[unfit.reason] += 1
        else:
            return _put_together(self.program.shape, found)
        return self.plain(*values)

    def _read(self) -> list[Any]:
        """What the program reads from outside. Raises Unfit."""
        try:
            return [self.current(atom) for atom in self.program.read]
        except NotResolved:
            raise Unfit(OTHER) from None


def _put_together(form: Form, found: Sequence[Any]) -> Any:
    """Results in the form in which Python returns them."""
    match form:
        case int():
            return found[form]
        case Parts(cls, items):
            values = [_put_together(part, found) for _, part in items]
            if cls is dict:
                return dict(zip((key for key, _ in items), values, strict=True))
            if cls in (tuple, list):
                return cls(values)
            return (
                cls(*values)
                if issubclass(cls, tuple)
                else arrays.instance(cls, dict(zip((key for key, _ in items), values, strict=True)))
            )
        case Owned(place, owner):
            return np.asarray(found[place])[()] if found[owner] else found[place]
        case Items(place, owner):
            return list(found[place]) if owner is Owner.NUMPY else found[place].tolist()
        case Known(value):
            return value
    return None


def taken_apart(program: Program, values: Sequence[Any], read: Sequence[Any]) -> list[Any]:
    """Arguments, and what was read from outside, as the first function takes them, one after the other.

    Raises Unfit.
    """
    params = program.functions[0].params
    found: list[Any] = [None] * len(params)
    for place, value in enumerate(read, len(params) - len(read)):
        type_ = params[place][1]
        if isinstance(type_, Array):
            if type(value) is not np.ndarray or value.dtype != dtype_of(type_.code) or value.ndim != type_.rank:
                raise Unfit(OTHER)
        elif not isinstance(type_, Scalar) or type(value) is not class_of(type_):
            raise Unfit(OTHER)
        found[place] = value
    met: set[int] = set()
    for form, value in zip(program.arguments, values, strict=True):
        _take_apart(form, value, found, met)
    return found


def _take_apart(form: Form, value: Any, found: list[Any], met: set[int]) -> None:
    if isinstance(form, Parts | Items) and not isinstance(value, tuple):
        if id(value) in met:  # one container in two places is two in the program
            raise Unfit(OTHER)
        met.add(id(value))
    match form:
        case int():
            found[form] = value
        case Owned(place, owner):
            found[place], found[owner] = value, isinstance(value, np.generic)
        case Items(place):
            found[place] = np.array(value)
            if found[place].ndim != 1:
                raise Unfit(OTHER)
        case Parts(cls, items):
            for key, inside in items:
                if issubclass(cls, dict | tuple | list):
                    part = value[key]
                else:
                    part = getattr(value, key)
                _take_apart(inside, part, found, met)


def demand_fit(program: Program, values: Sequence[Any]) -> None:
    """Refuses arguments that a compiled program has no meaning for: numbers and axes beyond its limits, and arrays
    that the program would fail to write."""
    written = [v for (name, _), v in zip(program.functions[0].params, values, strict=True) if name in program.copied]
    for place, a in enumerate(written):  # copies keep what overlaps; those of a compiled program are apart
        if any(np.may_share_memory(a, b) for b in written[:place]):
            raise Unfit(OTHER)
    for (name, type), value in zip(program.functions[0].params, values, strict=True):
        if isinstance(type, Array):
            if value.size == 0 and max(value.shape, default=0) > LIMIT_EXTENT:
                raise Unfit(OTHER)
            if name in program.copied and not (value.flags.forc and value.flags.writeable):
                raise Unfit(OTHER)
        elif isinstance(type, Scalar) and type.code == "i8" and not -LIMIT_EXTENT <= value <= LIMIT_EXTENT:
            raise Unfit(OTHER)


# ---- Python ----


def _python(program: Program) -> tuple[str, Backend]:
    text = print_python.text_of(program)
    namespace: dict[str, Any] = {"outside": [functools.partial(_called, call) for call in program.outside]}
    exec(compile(text, f"<tangentx loops {program.functions[0].name}>", "exec"), namespace)
    function = namespace[program.functions[0].name]

    def run(values: Sequence[Any]) -> Sequence[Any]:
        demand_fit(program, values)
        try:
            with raising():
                found: Sequence[Any] = function(*values)
        except Bailout as bail:
            raise Unfit(Bail(bail.args[0]).reason) from None
        except FloatingPointError:
            raise Unfit(FLAGGED) from None
        except (ArithmeticError, ValueError, MemoryError):
            raise Unfit(Bail.DOMAIN.reason) from None
        return [_typed(value, type) for value, type in zip(found, program.functions[0].results, strict=True)]

    return text, run


def raising() -> Any:
    """Floating-point events as errors, where somebody would be told of them."""
    under: Any = "ignore" if np.geterr()["under"] == "ignore" else "raise"
    return np.errstate(divide="raise", over="raise", invalid="raise", under=under)


def _called(call: OutsideCall, *given: Any) -> Any:
    """The result of a function of Python. Raises Bailout."""
    values = [
        class_of(type)(value) if isinstance(type, Scalar) else value
        for value, type in zip(given, call.given, strict=True)
    ]
    try:
        args = [_put_together(form, values) for form in call.args]
        named = {name: _put_together(form, values) for name, form in call.named}
        return checked(call.fn(*args, **named), call)
    except Exception as error:
        raise stopped(error) from None


def _typed(value: Any, type: Type) -> Any:
    """A result as a number of the type that the plain path gives."""
    if not isinstance(type, Scalar):
        return value
    if type.owner is Owner.NUMPY:
        return dtype_of(type.code).type(value)
    return {"f": float, "i": int, "b": bool}[type.code[0]](value)


# ---- C ----


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
        words = [f"{1 + t.rank}q" if isinstance(t, Array) else _letter(t) for t in self.types]
        self.given = struct.Struct("=" + "".join(words))
        words = [f"{2 + t.rank}q" if isinstance(t, Array) else _letter(t) for t in function.results]
        self.found = struct.Struct("=q" + "".join(words))

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
                words.append(value if _letter(type) == "d" else int(value))
        found = ctypes.create_string_buffer(self.found.size)
        if self.outside is None:
            bail = self.entry(self.given.pack(*words), found, self.python)  # raises what a handler of signals raised
        else:
            with raising(), self.outside:
                bail = self.entry(self.given.pack(*words), found, self.python)
        return self._results(bail, self.found.unpack(found.raw))

    def _results(self, bail: int, words: Sequence[Any]) -> Sequence[Any]:
        results: list[Any] = []
        place = 1
        for type in self.program.functions[0].results:
            if isinstance(type, Array):
                address, owner, *shape = words[place : place + 2 + type.rank]
                place += 2 + type.rank
                results.append(None if bail else _copied(type, address, shape))
                self.release(owner)
            else:
                results.append(_typed(words[place], type))
                place += 1
        if bail:
            raise Unfit(Bail(bail).reason)
        if words[0] & _SERIOUS or (words[0] and np.geterr()["under"] != "ignore"):
            raise Unfit(FLAGGED)
        return results


def _letter(type: Any) -> str:
    return "d" if type.code[0] == "f" else "q"


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


_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)


class _Elements:
    """Elements that lie somewhere, as NumPy takes them for an array."""

    def __init__(self, interface: dict[str, Any]) -> None:
        self.__array_interface__ = interface


class Callbacks:
    """The functions of Python that a program calls, by words of 64 bits. While it runs, this is entered."""

    def __init__(self, calls: Sequence[OutsideCall]) -> None:
        self.calls = calls
        self.given = [
            struct.Struct(
                "=" + "".join(f"{1 + 2 * t.rank}q" if isinstance(t, Array) else _letter(t) for t in call.given)
            )
            for call in calls
        ]
        self.found = [
            struct.Struct("=" + "".join(f"{1 + t.rank}q" if isinstance(t, Array) else _letter(t) for t in call.results))
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
            results = _called(call, *_arguments(call, words))
            kept = self._kept[threading.get_ident()] = [
                np.require(x, requirements=("C", "A")) if isinstance(x, np.ndarray) else x for x in results
            ]
            back: list[Any] = []
            for x in kept:
                back += (x.__array_interface__["data"][0], *x.shape) if isinstance(x, np.ndarray) else (x,)
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
        yield np.asarray(_Elements(interface))
        place += 1 + 2 * rank


def _in_c(program: Program) -> tuple[str, Backend]:
    text = print_c.text_of(program)
    return text, _InC(program, build.library(text))


_TITLES = {"python": "loops in Python", "c": "C"}
BACKENDS: dict[str, Callable[[Program], tuple[str, Backend]]] = {"python": _python, "c": _in_c}
