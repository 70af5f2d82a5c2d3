"""Derivatives that a program takes itself, where it runs on Tensors, of functions that have captured some.

What is captured is not seen among the arguments, so the derivative is recorded as the rest of the program is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tangentx.errors import NotDifferentiable, place, span_of
from tangentx.tensor.programs import refused
from tangentx.tensor.reach import active_in

_TAKING = frozenset(("jvp", "vjp", "hvp", "linearize", "gradcheck", "check_grads", "verify"))
"""Functions of this package that differentiate the function which they are given."""


def of_ours(function: Any, version: Callable[[Any], Any]) -> Any:
    """What is called in the place of an object of this package: a derivative, or a function that has some."""

    def called(*args: Any, **kwargs: Any) -> Any:
        t = active_in(*_own(function))
        if t is None:
            return function(*args, **kwargs)
        if hasattr(function, "__tangentx_recorded__"):
            found = function.__tangentx_recorded__(args, kwargs)
            if found is not NotImplemented:
                return found
        elif hasattr(function, "_plain"):
            return version(function._plain())(*args, **kwargs)
        raise _captured(function, t)

    return called if callable(function) and not isinstance(function, type) else function


def _own(function: Any) -> tuple[Any, ...]:
    """What an object has of its own: the function that is meant, and what comes first among its arguments."""
    if not type(function).__module__.startswith("tangentx."):
        return (function,)
    target = getattr(function, "_target", None)
    if target is not None:
        return (*_own(target.function), *target.owner)
    plain = getattr(function, "_plain", None)
    if plain is not None:
        return (plain(),)
    return tuple(getattr(function, "__dict__", {}).values())


def taking(function: Any) -> Any:
    """A function of this package, which may take the derivative of what it is given, or a method of an object of it."""
    own = getattr(function, "__self__", None)
    if own is None and getattr(function, "__name__", "") not in _TAKING:
        return function

    def called(*args: Any, **kwargs: Any) -> Any:
        given = _own(own) if own is not None else _own(args[0]) if args else ()
        t = active_in(*given)
        if t is not None:
            raise _captured(function, t)
        return function(*args, **kwargs)

    return called


def _captured(function: Any, t: Any) -> Exception:
    ours = type(function).__module__.startswith("tangentx.")
    name = repr(function) if ours else f"`tx.{function.__name__}`"
    message = f"{name} is taken of a function that captures a value which is being differentiated"
    hint = "take tx.grad or tx.value_and_grad there (of tx.grad for second derivatives), or hold it constant with "
    hint += "tx.stop_gradient"
    return refused(t, NotDifferentiable(message, span_of(place()), hint))
