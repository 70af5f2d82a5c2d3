"""Kernels of CUDA in generated texts: a function of the text, and the source that does as it does in one launch.

The function is the program as it is without kernels. It runs where the kernel was not made for what it is given: where
shapes are such that a result has fewer elements than the whole, or do not fit; where rows are not what lies together;
where the library has no `RawKernel`, or cannot compile one. So a kernel is never another answer.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentx.arrays.libraries import NUMPY, Library, library_of

DTYPES: dict[str, np.dtype[Any]] = {
    "f8": np.dtype(np.float64),
    "f4": np.dtype(np.float32),
    "i8": np.dtype(np.int64),
    "b1": np.dtype(np.bool_),
}
OPTIONS = ("--fmad=false",)
"""A product and a sum are rounded each by itself, as in statements of their own."""
THREADS = 256
MOST_BLOCKS = 65535


class Left(Exception):
    """Arguments that are left to the function as it stands in the text."""


@dataclass(frozen=True)
class Operand:
    """A parameter: the code of its numbers, and how many axes it has; None for a number."""

    code: str
    rank: int | None

    @classmethod
    def of(cls, told: str) -> Operand:
        """From ``f8[2]``, an array, or ``f8``, a number."""
        code, _, rank = told.partition("[")
        return cls(code, int(rank.rstrip("]")) if rank else None)


class Kernel:
    """What `kernel` makes of a function; `left` counts why the function itself ran, and `runs` how often the kernel."""

    def __init__(self, plain: Callable[..., Any], source: str, takes: str, gives: str) -> None:
        functools.update_wrapper(self, plain)
        self.name = plain.__name__
        self.plain, self.source = plain, source
        self.takes = tuple(map(Operand.of, takes.split()))
        self.gives = tuple(_given(each) for each in gives.split())
        self.left: Counter[str] = Counter()
        self.runs = 0
        self.run: Any = None  # the kernel, or why there is none

    def __call__(self, *args: Any) -> Any:
        try:
            found = self._launched(args)
        except Left as left:
            self.left[str(left)] += 1
            return self.plain(*args)
        self.runs += 1
        return found[0] if len(found) == 1 else tuple(found)

    def _launched(self, args: Sequence[Any]) -> list[Any]:
        arrays = [x for x, operand in zip(args, self.takes, strict=True) if operand.rank is not None]
        library = library_of(*arrays)
        if library is NUMPY or not hasattr(library.namespace, "RawKernel"):
            raise Left(f"{library.shown} has no kernels")
        if any(type(x) is not library.array for x in arrays):
            raise Left("a number in place of an array")
        shape = self._shape(args)
        _demand_rows(arrays)
        _demand_device(arrays, library)
        extents, strides = _laid_out(arrays, shape)
        given = [np.int64(extent) for extent in extents]
        rows = iter(strides)
        for x, operand in zip(args, self.takes, strict=True):
            if operand.rank is None:
                given.append(_number(x, operand))
            else:
                given += [x, *map(np.int64, next(rows)[len(extents) - x.ndim :])]
        run = self._compiled(library)
        results = [library.namespace.empty(shape, DTYPES[code]) for code, _ in self.gives]
        run(*_grid(extents), (*given, *results))
        return results

    def _compiled(self, library: Library) -> Any:
        """The kernel of the library, which keeps what it compiles by content. Raises Left where it cannot."""
        if self.run is None:
            try:
                self.run = library.namespace.RawKernel(self.source, self.name, options=OPTIONS)
                self.run.compile()
            except Exception as error:  # of the compiler, of which there are several classes
                self.run = str(error).strip().partition("\n")[0] or type(error).__name__
        if isinstance(self.run, str):
            raise Left(f"the kernel is not compiled: {self.run}")
        return self.run

    def _shape(self, args: Sequence[Any]) -> tuple[int, ...]:
        """The shape of all results."""
        shapes: list[tuple[int, ...]] = []
        for x, operand in zip(args, self.takes, strict=True):
            if operand.rank is not None and (x.ndim != operand.rank or x.dtype != DTYPES[operand.code]):
                raise Left("arrays of another dtype or rank")
            shapes.append(x.shape if operand.rank is not None else ())
        try:
            whole = np.broadcast_shapes(*shapes)
        except ValueError:
            raise Left("shapes that do not fit") from None
        if any(np.broadcast_shapes(*(shapes[place] for place in places)) != whole for _, places in self.gives):
            raise Left("results of several shapes")
        if 0 in whole:
            raise Left("no elements")
        return whole


def kernel(source: str, takes: str, gives: str) -> Callable[[Callable[..., Any]], Kernel]:
    """Decorates a function that goes element by element with the source of CUDA that does the same.

    `takes` has a word for each parameter, `gives` one for each result: the code of its numbers, and the places of the
    parameters that it depends on, ``f8(0,2)``.
    """
    return lambda plain: Kernel(plain, source, takes, gives)


def _given(told: str) -> tuple[str, tuple[int, ...]]:
    code, _, places = told.rstrip(")").partition("(")
    return code, tuple(map(int, places.split(",")))


def _demand_rows(arrays: Sequence[Any]) -> None:
    """A new array has its rows one after the other only where those that it is made of have."""
    for x in arrays:
        steps = [abs(step) for step, extent in zip(x.strides, x.shape, strict=True) if extent > 1]
        if steps != sorted(steps, reverse=True):
            raise Left("axes in another order")


def _demand_device(arrays: Sequence[Any], library: Library) -> None:
    """A kernel runs on the device at hand."""
    devices = {x.device.id for x in arrays}
    cuda = getattr(library.namespace, "cuda", None)
    if len(devices) > 1 or (cuda is not None and devices != {cuda.Device().id}):
        raise Left("another device")


def _laid_out(arrays: Sequence[Any], shape: tuple[int, ...]) -> tuple[list[int], list[list[int]]]:
    """The lengths of the loops, and from element to element of each array; one loop is enough where all lie alike."""
    rank = len(shape)
    if rank > 1 and all(x.flags.c_contiguous and (x.shape == shape or x.size == 1) for x in arrays):
        none = [0] * (rank - 1)
        count = int(np.prod(shape, dtype=object))
        return [*[1] * (rank - 1), count], [[*none, int(x.size > 1)] for x in arrays]
    strides: list[list[int]] = []
    for x in arrays:
        if any(step % x.itemsize for step in x.strides):
            raise Left("elements that lie between others")
        own = [0 if extent == 1 else step // x.itemsize for step, extent in zip(x.strides, x.shape, strict=True)]
        strides.append([0] * (rank - len(own)) + own)
    return list(shape), strides


def _number(x: Any, operand: Operand) -> Any:
    try:
        return DTYPES[operand.code].type(x)
    except OverflowError:
        raise Left("a whole number of more than 64 bits") from None


def _grid(extents: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Blocks and threads for the innermost three loops; loops further out are run by each thread."""
    inner = [*reversed(extents)][:3] or [1]
    threads, left = [], THREADS
    for extent in inner:
        wanted = min(1 << (extent - 1).bit_length(), left)
        threads.append(wanted)
        left //= wanted
    blocks = [min(-(-extent // size), MOST_BLOCKS) for extent, size in zip(inner, threads, strict=True)]
    return tuple(blocks), tuple(threads)
