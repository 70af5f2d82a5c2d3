"""Calls of solvers in programs on Tensors.

The solver runs once, on plain data, with functions that give plain data. What it has found is then settled as in
compiled code: the body that stands for its calls (`templates.solver_table`) runs on Tensors, and each answer is a
node of the graph (`tensor.graph.solver_nodes`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.arrays.memory import is_writable
from tangentx.common.naming import public_name
from tangentx.errors import NotDifferentiable, NoTemplate, TangentxError, place, span_of
from tangentx.templates.solver_table import RECORDS, Solver
from tangentx.tensor.calls.lifting import INSTEAD, SOLVING, lifted_function
from tangentx.tensor.core.containers import WITHOUT, raw
from tangentx.tensor.core.forms import inexact
from tangentx.tensor.core.modes import STATE, during, setting
from tangentx.tensor.core.tensor import Tensor
from tangentx.tensor.fallback.inner_derivatives import own_of
from tangentx.tensor.fallback.library_code import is_of_models
from tangentx.tensor.fallback.programs import refused
from tangentx.tensor.fallback.reachable import active_in, reached
from tangentx.tensor.fallback.unknown_code import guarded
from tangentx.tensor.graph.solver_nodes import gradient, newton_of_number, newton_of_row, settled, slope

Version = Callable[[Any], Any]


def solving(function: Any, known: Solver, version: Version) -> Callable[..., Any]:
    """What is called in the place of a solver; `version` is that of a function of the program's."""

    def called(*args: Any, **kwargs: Any) -> Any:
        t = active_in(args, kwargs)
        if t is None:
            return guarded(function)(*args, **kwargs)
        if not known.takes(len(args), list(kwargs)):
            message = f"`{public_name(function)}` has no derivative for this call"
            raise refused(t, NoTemplate(message, span_of(place()), f"give it {known.parameters()}"))
        before = _held(args, kwargs)
        more = known.also if STATE.grad else {}
        found = _plainly(function, args, {**kwargs, **more}, version)
        if _held(args, kwargs) != before:
            message = f"a function that is given to `{public_name(function)}` writes into what it has not made itself"
            hint = "let it give what it finds, and call it once more at the answer"
            raise refused(t, NotDifferentiable(message, span_of(place()), hint))
        if not STATE.grad:
            return found
        try:
            return _meant(known, found, args, kwargs, version)
        except TangentxError as error:
            raise (
                error if error.span else refused(t, type(error)(error.message, span_of(place()), error.hint))
            ) from None

    return called


def _is_function(value: Any) -> bool:
    return callable(value) and not isinstance(value, type)


def _plainly(function: Any, args: Any, kwargs: Any, version: Version) -> Any:
    """What the solver finds: it, and the functions that it calls, know plain data alone."""

    def given(value: Any) -> Any:
        return _plain(value, version(value)) if _is_function(value) else raw(value)

    plain, named = [given(a) for a in args], {name: given(a) for name, a in kwargs.items()}
    return during(lambda: function(*plain, **named), grad=False)


def _plain(function: Any, run: Any) -> Any:
    """A function that is run by another, and gives plain data."""

    def plain(*args: Any, **kwargs: Any) -> Any:
        return raw(run(*args, **kwargs))

    return functools.update_wrapper(plain, function)  # SciPy counts the parameters


def _as_written(function: Any, form: str, *args: Any) -> Any:
    """What a library finds in a body, with functions that give plain data."""
    return _plainly(function, args, {}, lambda f: f)


def _meant(known: Solver, found: Any, args: Any, kwargs: Any, version: Version) -> Any:
    """What was found, as the body has it; the functions are called again, and print nothing."""

    def given(value: Any) -> Any:
        return version(value) if _is_function(value) else value

    named = {name: given(value) for name, value in kwargs.items()}
    with setting(quiet=True):
        meant = lifted_function(known.body)(found, *map(given, args), **named)
    return Answer(found, meant) if type(meant) in RECORDS else meant


class Answer:
    """What a solver has found, as an object or a dict: what the body gives, and of the rest what has no derivative."""

    def __init__(self, found: Any, meant: Any) -> None:
        self._found, self._meant = found, meant

    def __getattr__(self, name: str) -> Any:
        if name in self._meant._fields:
            return getattr(self._meant, name)
        value = getattr(self._found, name)
        if not callable(value) and not _varies(value):
            return value
        message = f"`{name}` of what a solver has found has no derivative rule"
        hint = f"those that have one are {', '.join(self._meant._fields)}; compute it from the answer"
        raise refused(next(_tensors(self._meant)), NotDifferentiable(message, span_of(place()), hint))

    def __getitem__(self, name: str) -> Any:
        if name not in self._found:
            raise KeyError(name)
        return getattr(self, name)

    def __contains__(self, name: str) -> bool:
        return name in self._found

    def __repr__(self) -> str:
        return repr(self._found)


def _varies(value: Any) -> bool:
    return inexact(value) or (isinstance(value, list | tuple | dict) and len(value) > 0)


def _tensors(meant: Any) -> Any:
    return (value for value in meant if type(value) is Tensor)


def _held(*values: Any) -> list[Any]:
    """All that can be come to, with what each holds: the same again where nothing was written meanwhile."""
    todo: list[Any] = list(values)
    met: set[int] = set()
    found: list[Any] = []
    while todo:
        value = todo.pop()
        data = value.current if type(value) is Tensor else value
        if id(value) in met or (type(value) in WITHOUT and type(value) is not np.ndarray):
            continue
        met.add(id(value))
        if type(data) is np.ndarray:
            found.append((_Same(value), data.tobytes() if is_writable(data) else b""))
            continue
        if type(value) is Tensor:
            continue
        if type(value).__module__.startswith("tangentx.") and not is_of_models(type(value).__module__):
            todo += own_of(value)  # its caches change as it runs
            continue
        inside = list(reached(value))
        found.append((_Same(value), tuple(map(_Same, inside))))
        todo += inside
    return found


class _Same:
    """A value that is equal to itself alone; numbers to those of their size."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: Any) -> bool:
        x, y = self.value, other.value
        return x is y or (type(x) is type(y) and isinstance(x, int | float | str) and x == y)

    __hash__ = None  # type: ignore[assignment]


def _constant(value: Any, name: str) -> Any:
    t = active_in(value)
    if t is not None:
        message = f"{name} varies here, by which the answer has no derivative"
        raise refused(t, NotDifferentiable(message, span_of(place()), "hold it constant with tx.stop_gradient"))
    return raw(value)


def _solving_in_a_body(function: Any, known: Solver) -> Callable[..., Any]:
    """What a body calls in the place of a solver: its functions run on Tensors, and the call as the user wrote it has
    been looked at."""

    def called(*args: Any, **kwargs: Any) -> Any:
        more = known.also if STATE.grad else {}
        found = _plainly(function, args, {**kwargs, **more}, _as_it_is)
        return _meant(known, found, args, kwargs, _as_it_is) if STATE.grad else found

    return called


def _as_it_is(function: Any) -> Any:
    return function


INSTEAD |= {
    arrays.settle: settled,
    arrays.settled: newton_of_number,
    arrays.settled_row: newton_of_row,
    arrays.slope_of: slope,
    arrays.gradient_of: gradient,
    arrays.constant_option: _constant,
    arrays.as_written: _as_written,
    arrays.found_part: lambda found, name, form: getattr(found, name, None),
}
SOLVING.append(_solving_in_a_body)
