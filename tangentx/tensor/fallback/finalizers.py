"""Objects that do something when they die: they have ``__del__``, or a weak reference to them calls something.

What has been noted of a run holds lists, dicts and cells, to which nothing can refer weakly (`modes.Touched`). So what
lies in them dies later than in the program itself: a run in which that can be told is refused.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable
from typing import Any

from tangentx.errors import NotDifferentiable, place, span_of
from tangentx.tensor.core.modes import WEAK_TABLES, Program
from tangentx.tensor.core.tensor import Tensor
from tangentx.tensor.fallback.reachable import reached

_HINT = "call what it does where it is to be done, or make the object outside of the function that is differentiated"


def demand_seen(x: Any, program: Program) -> None:
    """Refuses to hold an object that does something when it dies, until the end of a run."""
    cls = type(x)
    if hasattr(cls, "__del__"):
        raise _refused(
            program, f"an object of class `{cls.__name__}`, which has `__del__`, would live until the end of the run"
        )


def let_go(program: Program) -> None:
    """Drops what only the notes of a run hold. Refuses the run where something dies of that which does something
    then: the program would have seen it before."""
    ending: list[Any] = []
    for round, gone in enumerate(program.touched.let_go()):
        ending += _ending(gone, program)
        del gone
        if round == _ROUNDS and not ending:  # a long chain of containers goes with the program
            break
    late = [type(x).__name__ for x in ending if sys.getrefcount(x) <= _ALONE]
    if late:
        message = f"an object of class `{late[0]}` does something when it dies, and lies in a list, dict or variable of"
        raise _refused(program, f"{message} a closure that the program lets go of: here it dies later")


def tells_of_deaths(function: Any) -> bool:
    """Whether a function is one of Python's that asks what of its objects lives."""
    return type(function) is types.FunctionType and function.__module__ in WEAK_TABLES


def _refused(program: Program, message: str) -> NotDifferentiable:
    error = NotDifferentiable(message, span_of(place()), _HINT)
    program.refused = error
    return error


def _ending(containers: list[Any], program: Program) -> list[Any]:
    """What in some containers does something when it dies."""
    found: list[Any] = []
    stack = [*containers]
    met = set(map(id, stack))
    while stack:
        value = stack.pop()
        for item in _contents(value):
            if type(item) is not Tensor and id(item) not in met:
                met.add(id(item))
                stack.append(item)
                if _ends(item, program):
                    found.append(item)
    return found


def _ends(x: Any, program: Program) -> bool:
    """Whether an object does something when it dies. A generator does where it waits."""
    cls = type(x)
    if cls is types.GeneratorType:
        return bool(x.gi_suspended)
    return hasattr(cls, "__del__") or (cls.__weakrefoffset__ != 0 and program.touched.calls(x))


def _contents(value: Any) -> Iterable[Any]:
    """What goes with a value, if nobody else holds it."""
    if isinstance(value, types.FunctionType):
        return value.__closure__, value.__defaults__, value.__kwdefaults__, vars(value)
    if not isinstance(value, types.CellType):
        return reached(value)
    try:
        return (value.cell_contents,)
    except ValueError:  # nothing is bound
        return ()


def _alone() -> int:
    """How many references there are to what only a list holds, asked as `let_go` does it."""
    held = [object()]
    (count,) = [sys.getrefcount(x) for x in held]
    return count


_ROUNDS = 4
_ALONE = _alone()
