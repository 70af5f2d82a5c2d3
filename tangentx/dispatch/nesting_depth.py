"""Arguments and other structures that are nested too deeply for recursive walks."""

from __future__ import annotations

import functools
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ParamSpec, TypeVar

import numpy as np

from tangentx.common import forks
from tangentx.common.naming import with_article
from tangentx.dispatch.entries import half_loaded
from tangentx.errors import INSIDE, NotDifferentiable, TangentxError

P = ParamSpec("P")
Result = TypeVar("Result")
LIMIT = 100
"""Levels that are followed for certain; how many more depends on how deep in calls the user is."""
_SIMPLE = (str, bytes, int, float, complex, np.ndarray, np.generic, type, types.ModuleType, type(None))
_AGAIN = 3  # calls that have a value at hand which is walked in a circle, at least
_OWN = 3  # functions of a generated text that may be called before its own walks of the arguments


def shallow(call: Callable[P, Result]) -> Callable[P, Result]:
    """`call`, which refuses what makes our own walks exhaust the stack; a recursion of the program's own is its own
    error. So it does what meets modules of ours that are half loaded."""

    @functools.wraps(call)
    def refusing(*args: P.args, **kwargs: P.kwargs) -> Result:
        try:
            return call(*args, **kwargs)
        except RecursionError as error:
            if not _is_ours(error):
                raise
            refused: TangentxError = _why((args, kwargs), error)
        except (AttributeError, ImportError):
            if not forks.loading():
                raise
            refused = half_loaded()
        raise refused

    return refusing


def _why(given: Any, error: RecursionError) -> NotDifferentiable:
    again = _met_again(given)
    if again is not None:
        return _of_itself("an argument", again, "pass")
    if _is_deep(given):
        return _of_arguments()
    again = _met_again(_walked(error))
    return _of_something() if again is None else _of_itself("a result, or what the function reads,", again, "return")


def _walked(error: RecursionError) -> list[Any]:
    """What the functions that exhausted the stack came to again and again."""
    times: Counter[int] = Counter()
    met: dict[int, Any] = {}
    trace = error.__traceback__
    while trace is not None:
        here = {id(value): value for value in trace.tb_frame.f_locals.values() if not isinstance(value, _SIMPLE)}
        times.update(here.keys())
        met.update(here)
        trace = trace.tb_next
    return [value for key, value in met.items() if times[key] >= _AGAIN]


def _of_itself(what: str, again: Any, verb: str) -> NotDifferentiable:
    return NotDifferentiable(
        f"{what} holds itself: {with_article(type(again).__name__)} in it is reached again from what it holds",
        hint=f"{verb} the parts that are needed, or keep what refers back in another object",
    )


def _met_again(given: Any) -> Any:
    """A container that is reached from itself; None where there is none."""
    done: set[int] = set()
    path: dict[int, Iterator[Any]] = {}
    values = [given]
    while values:
        value = values[-1]
        if id(value) not in path:
            path[id(value)] = iter(_parts(value))
        part = next((part for part in path[id(value)] if id(part) not in done and not isinstance(part, _SIMPLE)), None)
        if part is None:
            done.add(id(values.pop()))
            del path[id(value)]
        elif id(part) in path:
            return part
        else:
            values.append(part)
    return None


def _of_something() -> NotDifferentiable:
    return NotDifferentiable(
        "the function, or what it reads, is nested too deeply for its derivative to be made here",
        hint="raise the limit, sys.setrecursionlimit(10_000), or make the first call outside of a recursion",
    )


def _of_arguments() -> NotDifferentiable:
    return NotDifferentiable(
        f"an argument is nested more than {LIMIT} levels deep, one list, dict or object in another",
        hint="pass the part that is needed, or keep the parts in one list and name them by their place in it",
    )


def _is_ours(error: RecursionError) -> bool:
    """Whether no code of the user's was being run, as it is or derived."""
    trace, own = error.__traceback__, 0
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        own += file.startswith("<tangentx ")
        made = file == "<string>" and str(trace.tb_frame.f_globals.get("__name__")).startswith("tangentx.")
        if not (made or INSIDE[file]) or own > _OWN:  # `dataclass` makes methods of our classes, too
            return False
        trace = trace.tb_next
    return True


def _is_deep(value: Any) -> bool:
    met: set[int] = set()
    level: list[Any] = [value]
    for _ in range(LIMIT):
        level = [part for each in level for part in _parts(each) if id(part) not in met]
        met.update(map(id, level))
        if not level:
            return False
    return True


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, list | tuple):
        return value
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, types.FunctionType) or type(value).__module__.startswith("tangentx."):
        return ()
    slots = [name for cls in type(value).__mro__ for name in vars(cls).get("__slots__", ()) if isinstance(name, str)]
    return [*getattr(value, "__dict__", {}).values(), *(getattr(value, name, None) for name in slots)]
