"""Lifts functions written for arrays to Tensors: bodies of rules, and compositions.

Their text is as it was. What they call by a global name (a function of NumPy, of the support module, of Python) is
given by one that records, where an argument holds a Tensor.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from tangentx.templates import find, has_composition, is_distribution
from tangentx.templates.solver_table import Solver, solver
from tangentx.tensor.core import dispatch
from tangentx.tensor.core.containers import holds_tensor
from tangentx.tensor.core.forms import inexact
from tangentx.tensor.core.tensor import wrap

_LIBRARIES = ("numpy", "math", "operator", "scipy")
_BUILTINS = ("abs", "float", "complex", "max", "min", "pow", "sum", "sorted", "divmod", "isinstance")


class Lifting:
    """A way to make functions take more than they were written for; `calling` does so for what is an operation."""

    def __init__(self, calling: Callable[[Any], Any]) -> None:
        self.calling = calling
        self.known: dict[Any, Any] = {}

    def names(self, names: dict[str, Any]) -> dict[str, Any]:
        """The globals of a function, lifted."""
        found = {name: self.lifted(value) for name, value in names.items() if not name.startswith("__")}
        more = {name: self.lifted(getattr(builtins, name)) for name in _BUILTINS if name not in names}
        return {**names, **found, **more}

    def lifted(self, value: Any) -> Any:
        """A module, an operation or a function of the templates, lifted; anything else as it is."""
        try:
            known = self.known.get(value)
        except TypeError:
            return value
        if known is None:
            known = self._lift(value)
            self.known[value] = known
        return known

    def _lift(self, value: Any) -> Any:
        if isinstance(value, types.ModuleType) and value.__name__.split(".")[0] in (
            "numpy",
            "math",
            "operator",
            "scipy",
        ):
            return _Module(value, self)
        return self.function(value) if self.is_text(value) else self.calling(value)

    def is_text(self, value: Any) -> bool:
        """Whether what a function calls is to be lifted, not the function."""
        return is_text(value)

    def function(self, function: Any) -> Any:
        """A function with the same code whose globals are lifted, and the functions that it captures. They are filled
        after it is known: it may call itself."""
        names: dict[str, Any] = {}
        captured = [cell.cell_contents for cell in function.__closure__ or ()]
        cells = tuple(types.CellType() for _ in captured)
        made = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__, cells)
        made.__kwdefaults__ = function.__kwdefaults__
        self.known[function] = made
        names.update(self.names(function.__globals__))
        for cell, value in zip(cells, captured, strict=True):
            cell.cell_contents = value if isinstance(value, type) or not callable(value) else self.lifted(value)
        return made


_TEMPLATES = "tangentx.templates"


def is_text(value: Any) -> bool:
    """Whether a value is a function of the templates that is no operation: its calls are."""
    return isinstance(value, types.FunctionType) and str(value.__module__).startswith(_TEMPLATES) and not find(value)


class _Module:
    """A module, or a distribution, whose functions are lifted."""

    def __init__(self, module: Any, lifting: Lifting) -> None:
        self._module = module
        self._lifting = lifting

    def __getattr__(self, name: str) -> Any:
        found = self._lifting.lifted(getattr(self._module, name))
        setattr(self, name, found)
        return found


INSTEAD: dict[Callable[..., Any], Callable[..., Any]] = {}
"""What takes the place of a function that is no operation, and knows of Tensors itself."""
SOLVING: list[Callable[[Any, Solver], Any]] = []
"""What takes the place of a solver that a body calls, as the integral of an integral does."""


def _recording(function: Any) -> Any:
    """An operation that records, where an argument holds a Tensor."""
    instead = INSTEAD.get(function) if isinstance(function, types.FunctionType) else None
    if instead is not None:
        return instead
    known = solver(function) if SOLVING else None
    if known is not None:
        return SOLVING[0](function, known)
    if function is isinstance:
        return _is_of
    if is_distribution(function):
        return _Module(function, _RECORDING)
    if any(function is each for each in _EMPTY):
        return _making(function)
    if not (callable(function) and (find(function) is not None or has_composition(function))):
        return function

    def recording(*args: Any, **kwargs: Any) -> Any:
        if holds_tensor(args) or (kwargs and holds_tensor(kwargs)):
            return dispatch.call(function, args, kwargs)
        return function(*args, **kwargs)

    recording.__wrapped__ = function  # type: ignore[attr-defined]
    if isinstance(function, type) and issubclass(function, np.generic | float | complex):
        recording.dtype = np.dtype(function)  # type: ignore[attr-defined]  # it is one wherever NumPy asks for a dtype
    return recording


_EMPTY = (np.zeros, np.empty)
"""What a body makes to write into: of a Tensor, where it runs on Tensors."""


def _making(function: Any) -> Any:
    def made(*args: Any, **kwargs: Any) -> Any:
        found = function(*args, **kwargs)
        return wrap(found) if inexact(found) else found

    return made


def _is_of(value: Any, classes: Any) -> bool:
    """``isinstance``, where a lifted module has what makes objects of a class in place of the class."""
    if isinstance(classes, tuple):
        return any(_is_of(value, each) for each in classes)
    return isinstance(value, getattr(classes, "__wrapped__", classes))


_RECORDING = Lifting(_recording)
lifted_names, lifted, lifted_function = _RECORDING.names, _RECORDING.lifted, _RECORDING.function
