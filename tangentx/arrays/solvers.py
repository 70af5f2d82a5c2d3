"""Answers of solvers: what a library finds by calling the user's function, and how that depends on what it captured.

A solver runs once, as the user wrote the call. What it finds is a constant of the run, the *settled* point of a step:
a function ``step(x, residual)`` that gives `x` back where the residual is zero, and whose derivative, with `x` held, is
that of the answer by the implicit function theorem. The derivative runs that step again, at the answer itself, so there
are derivatives of every order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tangentx.arrays.copies import clone


def as_written(function: Callable[..., Any], form: str, *args: Any, **kwargs: Any) -> Any:
    """``function(*args, **kwargs)`` of a library, of which nothing is differentiated; it gives the kind `form`."""
    return function(*args, **kwargs)


def settle(step: Callable[..., Any], x: Any, *functions: Any) -> Any:
    """`x`, at which ``step(x, *functions)`` is settled: it gives `x`, and its derivative with `x` held is that of `x`.

    The step is not run where no derivative is asked for.
    """
    return x


def settled(x: Any, residual: Any, slope: Any) -> Any:
    """`x`, a number, as the root of a residual: its derivative is that of the residual over ``-slope``."""
    return x


def settled_row(x: Any, residual: Any, slope: Any) -> Any:
    """As `settled`, for an array of one axis, and the Jacobian matrix of as many residuals; in memory of its own."""
    return clone(x)


def slope_of(function: Callable[..., Any], x: Any, *args: Any) -> Any:
    """The derivative of a function by its first argument: that of a number, or the Jacobian matrix of a row."""
    raise AssertionError("a marker, never run")


def gradient_of(function: Callable[..., Any]) -> Any:
    """The function that gives the gradient of a real function by its first argument."""
    raise AssertionError("a marker, never run")


def valued(value: Any, model: Any) -> Any:
    """`value`, with the derivative of `model`, which gives the same; in memory of its own."""
    return clone(value)


def found_part(found: Any, name: str, form: str) -> Any:
    """The attribute `name` of what a library found, of the kind `form` (see `arrays.form_of`)."""
    return getattr(found, name)


def constant_option(value: Any, name: str) -> Any:
    """`value`, which may not be differentiated by; `name` says what it is, for the message."""
    return value
