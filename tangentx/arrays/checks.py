"""Checks that can be made only while the program runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.errors import NotDifferentiable, UnsupportedSyntax


def counted(x: Any, count: int, more: bool = False) -> None:
    """Checks that `x`, an array, list or tuple, has exactly `count` items; with `more` at least so many.

    Raises ValueError as an unpacking does.
    """
    if len(x) > count and not more:
        raise ValueError(f"too many values to unpack (expected {count})")
    if len(x) < count:
        least = "at least " if more else ""
        raise ValueError(f"not enough values to unpack (expected {least}{count}, got {len(x)})")


def fitting(x: Any, count: int) -> Any:
    """`x` itself, an array or list that is taken apart for `count` arguments. Raises TypeError for another length."""
    if len(x) != count:
        raise TypeError(f"the function takes {count} positional arguments from * but {len(x)} were given")
    return x


def seed_of_scalar(ans: Any, seed: Any) -> Any:
    """The seed for a result that must be a real number or a 0-d array. Raises NotDifferentiable for any other."""
    if ans is None:
        raise NotDifferentiable(
            "a gradient needs a real scalar result, but the result is None", hint="return a number on every path"
        )
    if np.ndim(ans) != 0:
        raise NotDifferentiable(
            f"a gradient needs a real scalar result, but the result has shape {np.shape(ans)}",
            hint="return a sum, or `result[0]` for a result of one element",
        )
    return ans.dtype.type(seed) if isinstance(ans, np.ndarray | np.generic) and ans.dtype.kind == "f" else seed


def moving(given: Any, primal: Any) -> Any:
    """A tangent or cotangent of a number or array, in its dtype. Raises NotDifferentiable where it does not fit."""
    if np.shape(given) != np.shape(primal):
        raise NotDifferentiable(
            f"a tangent or cotangent has shape {np.shape(given)}, but its value has shape {np.shape(primal)}",
            hint=f"give it the shape {np.shape(primal)}",
        )
    mine, its = np.asarray(given).dtype, np.asarray(primal).dtype
    if mine.kind == "c" and its.kind != "c":
        raise NotDifferentiable(
            f"a tangent or cotangent is {mine}, but its value is {its}", hint=f"give it the dtype {its}"
        )
    return np.asarray(given, its) if isinstance(primal, np.ndarray) else type(primal)(given)


def equal_lengths(first: int, *others: int) -> int:
    """The one length of what ``zip(..., strict=True)`` is given. Raises ValueError as zip does, though at once."""
    for place, other in enumerate(others, start=2):
        if other != first:
            before = "argument 1" if place == 2 else f"arguments 1-{place - 1}"
            raise ValueError(f"zip() argument {place} is {'shorter' if other < first else 'longer'} than {before}")
    return first


def demand_bound(x: Any, name: str, free: bool = False) -> None:
    """Checks that variable `name` has a value. Raises UnboundLocalError as Python does, or NameError where `free`."""
    if x is None:
        raise (NameError if free else UnboundLocalError)(unbound_message(name, free))


def unbound_message(name: str, free: bool) -> str:
    """What Python says of a variable without a value; `free` where it belongs to a function around."""
    which = "free" if free else "local"
    where = " in enclosing scope" if free else ""
    return f"cannot access {which} variable '{name}' where it is not associated with a value{where}"


def same_length(x: Any, count: int) -> None:
    """Checks that a list still has the length with which a loop over it began. Raises UnsupportedSyntax if not."""
    if len(x) != count:
        raise UnsupportedSyntax(
            f"a list that is iterated over went from {count} to {len(x)} items",
            hint="iterate over a copy, `list(items)`, or by index in a `while` loop",
        )
