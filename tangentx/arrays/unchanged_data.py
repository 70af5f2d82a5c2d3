"""Detects changes between the sweeps: compares shared data with what it was when the program began.

Code that is not followed may write into it in between: a callback, another thread that is waited for. The reverse sweep
would read what the forward sweep did not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays.structures import PLAIN, fields
from tangentx.common.float_events import under_events
from tangentx.errors import NotDifferentiable

_NUMBERS = (bool, int, float, complex, np.generic)


def as_seen(*xs: Any) -> tuple[Any, ...]:
    """What `demand_same` compares with: the contents of numbers, arrays and containers of them."""
    return tuple(map(_content, xs))


def demand_same(seen: tuple[Any, ...], where: str, names: str, *xs: Any) -> None:
    """Checks that the contents are as they were `seen`. Raises NotDifferentiable, with the name of what is not."""
    for name, before, x in zip(names.split(", "), seen, xs, strict=True):
        if _content(x, keep=False) != before:
            raise NotDifferentiable(
                f"`{name}` is changed while the function runs, by what it calls at {where} or by another thread, and "
                "the reverse sweep reads it again",
                hint=f"let the function read a copy, made before the call: `own = {name}.copy()`",
            )


def _content(x: Any, keep: bool = True) -> Any:
    """What can be compared by ``==``."""
    found: list[Any] = []
    _collect(x, {}, found, keep)
    return found


def _collect(x: Any, seen: dict[int, int], found: list[Any], keep: bool) -> None:
    if isinstance(x, _NUMBERS):
        found.append((type(x), repr(x)))
    elif isinstance(x, np.ndarray) and x.dtype.kind != "O":
        found.append(_Numbers(x.copy() if keep else x))
    elif isinstance(x, PLAIN) or (inside := _items(x)) is None:
        found.append(_Same(x))
    elif id(x) in seen:
        found.append(seen[id(x)])
    else:
        seen[id(x)] = len(seen)
        found.append((type(x), len(inside)))
        for key, item in inside.items():
            found.append(_Same(key))
            _collect(item, seen, found, keep)


def _items(x: Any) -> dict[Any, Any] | None:
    if isinstance(x, list | tuple):
        return dict(enumerate(x))
    inside = x if isinstance(x, dict) else fields(x)
    return None if inside is None else dict(inside)


class _Numbers:
    """The numbers in an array, equal to the same ones to the bit."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Numbers):
            return False
        a, b = self.array, other.array
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        return under_events(lambda: bool(((a == b) | ((a != a) & (b != b))).all()), all="ignore")

    __hash__ = None  # type: ignore[assignment]


class _Same:
    """An object, equal to itself and to an equal string or number."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Same):
            return False
        a, b = self.value, other.value
        return a is b or (type(a) is type(b) and isinstance(a, str | bytes | int | float) and a == b)

    __hash__ = None  # type: ignore[assignment]
