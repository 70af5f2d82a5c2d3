"""Runs on Tensors inside compiled code: what a run keeps for its derivatives, of any order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np


class Run(ABC):
    """A run of a function on Tensors: what it gave, and how that depends on what it was given."""

    def __new__(cls, *args: Any) -> Run:
        # A class with a way of its own to make instances is opaque to copies.
        return object.__new__(cls)

    @abstractmethod
    def part(self, number: int) -> Run:
        """The run, of whose results only one is meant."""

    @abstractmethod
    def data(self) -> Any:
        """What it gave: fresh numbers and arrays, in lists where it is a cotangent or a tangent of several."""

    @abstractmethod
    def pulled(self, bars: Any) -> Run:
        """The cotangents of what it was given, for those of what it gave."""

    @abstractmethod
    def pushed(self, dots: Any) -> Run:
        """The tangent of what it gave, for those of what it was given."""

    @abstractmethod
    def demand(self, form: str) -> None:
        """Raises NotResolved where what it gave is of another kind than the compiled code was written for."""


Runtime: TypeAlias = Callable[[Callable[..., Any], tuple[str, ...], tuple[Any, ...]], Run]
_loading: list[Callable[[], Runtime]] = []


def provide(load: Callable[[], Runtime]) -> None:
    """`load` gives what runs functions on Tensors, when that is first asked for; it lies above, and is handed down."""
    _loading[:] = [load]


def on_tensors(function: Callable[..., Any], names: str, *arguments: Any) -> Run:
    """Runs `function`, which cannot be compiled, on Tensors; needs the runtime.

    `arguments` are all that its parameters are given, in order; `names` those that are differentiated by. Nothing of
    the caller's is written.
    """
    (load,) = _loading
    return load()(function, tuple(names.split(", ")) if names else (), arguments)


def part(run: Run, number: int) -> Run:
    """One of the results of a run."""
    return run.part(number)


def outcome(run: Run, form: str, *given: Any) -> Any:
    """What a run gave, of the kind `form` (see `form_of`); it depends on `given`."""
    run.demand(form)
    return run.data()


def pull(run: Run, bars: Any, *given: Any) -> Any:
    """The cotangents of each of `given`, for those of what a run gave, in a list."""
    return run.pulled(bars).data()


def pulled(run: Run, bars: Any) -> Run:
    """The run of `pull`, which was given `bars` too."""
    return run.pulled(bars)


def push(run: Run, ans: Any, dots: Any, *given: Any) -> Any:
    """The tangent of `ans`, which a run gave, for those of `given`."""
    return run.pushed(dots).data()


def pushed(run: Run, dots: Any) -> Run:
    """The run of `push`, which was given `dots` too."""
    return run.pushed(dots)


def form_of(value: Any) -> str:
    """The kind of a number, an array or None as compiled code names it: "float", "np.float64", "float64[2]"."""
    if hasattr(value, "dtype"):
        return f"{value.dtype}[{value.ndim}]" if isinstance(value, np.ndarray) else f"np.{value.dtype}"
    return "None" if value is None else type(value).__name__
