"""Run-time checks: conditions that cannot be decided while compiling."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays.libraries import as_array, is_array, is_elsewhere
from tangentx.arrays.shapes import unbroadcast
from tangentx.arrays.structures import fields, has_derivative
from tangentx.common.naming import with_article
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
    if is_elsewhere(ans):
        return np.full_like(ans, seed)
    return ans.dtype.type(seed) if isinstance(ans, np.ndarray | np.generic) and ans.dtype.kind == "f" else seed


def moving(given: Any, primal: Any) -> Any:
    """A tangent or cotangent of a number or array, in its dtype. Raises NotDifferentiable where it does not fit."""
    if np.shape(given) != np.shape(primal):
        raise NotDifferentiable(
            f"a tangent or cotangent has shape {np.shape(given)}, but its value has shape {np.shape(primal)}",
            hint=f"give it the shape {np.shape(primal)}",
        )
    mine, its = as_array(given).dtype, as_array(primal).dtype
    if mine.kind == "c" and its.kind != "c":
        raise NotDifferentiable(
            f"a tangent or cotangent is {mine}, but its value is {its}", hint=f"give it the dtype {its}"
        )
    if is_elsewhere(primal):
        return given.astype(its, copy=False) if is_elsewhere(given) else np.full_like(primal, given)
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
            f"{with_article(type(x).__name__)} that is iterated over went from {count} to {len(x)} items",
            hint="iterate over a copy, `list(items)`, or by index in a `while` loop",
        )


def of_rule(given: Any, like: Any, result: Any, rule: str, name: str) -> Any:
    """What a rule of the user's gives for `like`, in the form of its cotangent: lists and dicts in its structure.

    An array has the shape of `like`, or that of the `result` to which `like` was broadcast, and holds real or complex
    numbers, for no multiple of a cotangent is a whole one; 0.0 stands for no derivative. Raises NotDifferentiable for
    all else.
    """
    if isinstance(like, list | tuple):
        several = isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim > 0)
        if not several or len(given) != len(like):
            raise _unfit(rule, name, given, f"{_a(like)} of length {len(like)}", "give one for each item, 0.0 for none")
        return [_part(g, x, rule, f"{name}[{i}]") for i, (g, x) in enumerate(zip(given, like, strict=True))]
    inside = like if isinstance(like, dict) else None if _is_plain(like) else fields(like)
    if inside is not None:
        found = given if isinstance(given, dict) else fields(given)
        if found is None or set(found) != set(inside):
            raise _unfit(rule, name, given, f"{_a(like)} of {list(inside)}", "give one for each, 0.0 for none")
        return {key: _part(found[key], x, rule, f"{name}[{key!r}]") for key, x in inside.items()}
    if not has_derivative(like):
        return 0.0 if isinstance(like, int | np.integer) else None
    if isinstance(given, list | tuple) and isinstance(like, np.ndarray):
        given = np.asarray(given)
    if isinstance(given, list | tuple | dict):
        raise _unfit(rule, name, given, f"of shape {np.shape(like)}", "give it as a number or an array")
    if isinstance(given, np.ndarray) and given.dtype.kind in "biu" and given.ndim:
        raise NotDifferentiable(
            f"{name} in the rule of `{rule}` is an array of {given.dtype}, which no cotangent times a partial is",
            hint="leave out the cast, or give 0.0 for no derivative",
        )
    shape, wanted = (None if given is None else np.shape(given)), np.shape(like)
    if shape == wanted or (shape == () and np.all(np.asarray(given) == 0)):
        return unbroadcast(given, like)
    if shape is None or isinstance(result, list | tuple) or shape != np.shape(result) or not _spreads(wanted, shape):
        raise _unfit(rule, name, given, f"of shape {wanted}", "give it that shape, or 0.0 for no derivative")
    return unbroadcast(given, like)


def _part(given: Any, like: Any, rule: str, name: str) -> Any:
    """An item, in memory of its own: what a rule gives may stand in several places."""
    found = of_rule(given, like, None, rule, name)
    return found.copy() if is_array(found) else found


def _spreads(shape: tuple[int, ...], larger: tuple[int, ...]) -> bool:
    """Whether an array of the one shape may be broadcast to the other."""
    pairs = zip(reversed(shape), reversed(larger), strict=False)
    return len(shape) <= len(larger) and all(n in (1, m) for n, m in pairs)


def _is_plain(like: Any) -> bool:
    return is_array(like) or isinstance(like, np.generic | float | complex | int | str) or like is None


def _a(like: Any) -> str:
    return with_article(type(like).__name__)


def _unfit(rule: str, name: str, given: Any, wanted: str, hint: str) -> NotDifferentiable:
    if isinstance(given, list | tuple | dict):
        what = f"{_a(given)} of length {len(given)}"
    else:
        what = "None" if given is None else f"of shape {np.shape(given)}"
    return NotDifferentiable(f"{name} in the rule of `{rule}` is {what}, but what it belongs to is {wanted}", hint=hint)


def to_rule(t: Any, given: Any) -> Any:
    """Adjoint of `of_rule`, and its own: a cotangent in the form of what the rule gave."""
    if isinstance(given, list | tuple):
        return [to_rule(part, item) for part, item in zip(t, given, strict=True)]
    if isinstance(given, dict):
        return {key: to_rule(t[key], item) for key, item in given.items()}
    if given is None or t is None:
        return None
    return unbroadcast(np.asarray(t) if isinstance(t, list) else t, given)
