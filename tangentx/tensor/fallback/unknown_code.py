"""Unknown code: calls of it are denied where they would receive values under differentiation.

Where nothing in their reach is differentiated, they are called as they are, with plain data. Else the call is refused
before it is made, for what it would do with a value that is being differentiated nobody can tell.
"""

from __future__ import annotations

import copy
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tangentx.arrays.memory import arrays_in
from tangentx.common.naming import public_name
from tangentx.errors import NoTemplate, place, span_of
from tangentx.templates.refusals import advice, refusal
from tangentx.tensor.calls.operation import root_of
from tangentx.tensor.core.containers import holds_tensor, raw, tensors_in
from tangentx.tensor.core.tensor import Tensor
from tangentx.tensor.fallback.formatted_values import demand_untold
from tangentx.tensor.fallback.library_code import is_users_class
from tangentx.tensor.fallback.programs import refused
from tangentx.tensor.fallback.reachable import active_in
from tangentx.tensor.writes.writing import lent


def guarded(function: Any) -> Callable[..., Any]:
    """A function, class or object of unknown code as it is called by a program that runs on Tensors."""

    def called(*args: Any, **kwargs: Any) -> Any:
        t = active_in(function, args, kwargs)
        if t is not None:
            raise denied(function, t)
        if not holds_tensor(args) and not (kwargs and holds_tensor(kwargs)):
            found = function(*args, **kwargs)
            demand_untold(function, found, (*args, *kwargs.values()))
            return found
        tensors = list(tensors_in([list(args), dict(kwargs)]))
        with lent(tensors):
            given, named = [raw(arg) for arg in args], {name: raw(value) for name, value in kwargs.items()}
            before = [copy.copy(value) for value in given]
            with _kept(tensors, (given, named), function):
                result = function(*given, **named)
            for arg, value, was in zip(args, given, before, strict=True):
                _write_back(arg, value, was)
            return result

    return called


@contextmanager
def _kept(tensors: list[Tensor], given: Any, function: Any) -> Iterator[None]:
    """Marks the memory to which there are more references afterwards: the code keeps it, or gives it back.

    What varies is not to be written there later, for nobody would know that the code then reads it.
    """
    roots = list({id(root): root for root in map(root_of, tensors)}.values())
    shown = [*arrays_in(given), *(root._primal for root in roots if isinstance(root._primal, np.ndarray))]
    before = list(map(sys.getrefcount, shown))
    yield
    now = list(map(sys.getrefcount, shown))
    held = [data for data, count, was in zip(shown, now, before, strict=True) if count > was]
    for root in roots:
        if any(np.may_share_memory(root._primal, data) for data in held):
            root._lent = name_of(function)


def _write_back(arg: Any, value: Any, was: Any) -> None:
    """What has been done to a list or dict of plain data, done to the one that it was made of."""
    if value is arg or not isinstance(arg, list | dict):
        return
    if isinstance(arg, list):
        if len(value) != len(was) or any(x is not y for x, y in zip(value, was, strict=True)):
            own = {id(x): t for x, t in zip(was, arg, strict=True)}
            arg[:] = [own.get(id(x), x) for x in value]
    elif list(value) != list(was) or any(value[key] is not was[key] for key in was):
        kept = {key: arg[key] if key in was and value[key] is was[key] else x for key, x in value.items()}
        arg.clear()
        arg.update(kept)


def denied(function: Any, t: Tensor) -> Exception:
    """The refusal of a call that is given, or can come to, a value that is being differentiated."""
    found = refusal(function)
    why = ", and is given a value that is being differentiated" if found is None else f": {found.reason}"
    hint = advice(function) if found is None else found.hint
    return refused(t, NoTemplate(f"`{name_of(function)}` has no derivative rule{why}", span_of(place()), hint))


def name_of(function: Any) -> str:
    """The name by which a program can have a function; that of its class for an object that has none."""
    own = getattr(function, "__self__", None)
    if own is not None and is_users_class(type(own)) and isinstance(function, types.MethodType):
        return public_name(function.__func__)  # a class of the user's has inherited it
    if own is not None and not isinstance(own, types.ModuleType | type) and hasattr(function, "__name__"):
        return f"{_instance_name(own)}.{function.__name__}"
    named = isinstance(function, types.FunctionType | types.BuiltinFunctionType | type) or hasattr(function, "__func__")
    return public_name(function) if named or isinstance(function, np.ufunc) else _instance_name(function)


def _instance_name(own: Any) -> str:
    """That of an object which a library has at the top of a module, as ``scipy.stats.norm``; else of its class."""
    homes = {str(getattr(x, "__module__", "")).partition(".")[0] for x in (own, type(own))} - {"builtins"}
    for path, module in sorted(sys.modules.items()):
        if path.partition(".")[0] in homes and "._" not in path and isinstance(module, types.ModuleType):
            for name, value in list(vars(module).items()):
                if value is own and not name.startswith("_"):
                    return f"{path}.{name}"
    return public_name(type(own))
