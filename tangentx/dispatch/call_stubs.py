"""Call stubs: the fast path of a call, generated for the exact types, dtypes and shapes of its arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentx.common.recursion import compiled

MISSED: Any = object()
_OWN = frozenset(np.empty((2, 2), order=order).flags.num for order in ("C", "F")) | {np.empty(2).flags.num}
"""The flags of arrays that own their memory, may be written, and lie in it without gaps."""


@dataclass(frozen=True, slots=True)
class Route:
    """`run` gives the result for arguments such as it was made for, `count` of them, and MISSED for others.

    It holds for one `context`; `entry` is what it runs.
    """

    context: Any
    count: int
    run: Callable[..., Any]
    entry: Any


@dataclass(frozen=True)
class Form:
    """What decides the text of `run`: which arguments are arrays, the `places` of those that the gradient is taken by.

    `many`: it is a tuple; `value`: it comes with the function's value. Without `places` every result is published.
    """

    arrays: tuple[bool, ...]
    places: tuple[int, ...]
    many: bool
    value: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry for arguments that need nothing put in order, and how its results are made public, where they must be.

    `make` makes the `run` of a route.
    """

    entry: Any
    arrays: tuple[bool, ...]
    publish: Callable[..., Any]
    make: Callable[..., Callable[..., Any]]

    def route(self, context: Any, args: Sequence[Any]) -> Route:
        """The route of these arguments."""
        known: list[Any] = []
        for x, array in zip(args, self.arrays, strict=True):
            known += (x.dtype, x.shape) if array else (type(x),)
        entry = self.entry
        return Route(context, len(args), self.make(entry.functions[0], entry.holds, self.publish, *known), entry)


def hit(
    entry: Any, args: Sequence[Any], places: tuple[int, ...], many: bool, value: bool, publish: Callable[..., Any]
) -> Hit:
    """The hit of a gradient by the arguments at `places`; a result is left as it is for floats and arrays alone."""
    arrays = tuple(type(x) is np.ndarray for x in args)
    plain = all(arrays[i] or type(args[i]) is float for i in places)
    return Hit(entry, arrays, publish, _maker(Form(arrays, places if plain else (), many, value)))


@functools.lru_cache(maxsize=256)
def _maker(form: Form) -> Callable[..., Callable[..., Any]]:
    scope: dict[str, Any] = {"ndarray": np.ndarray, "generic": np.generic, "MISSED": MISSED, "OWN": _OWN}
    exec(compiled(_text(form), "<tangentx route of a call>"), scope)
    made: Callable[..., Callable[..., Any]] = scope["make"]
    return made


def _text(form: Form) -> str:
    """The source of a function that makes `run`: what it compares are variables of its own."""
    given = ", ".join(f"a{i}" for i in range(len(form.arrays)))
    known = ["function", "holds", "publish"]
    same: list[str] = []
    for i, array in enumerate(form.arrays):
        known += [f"d{i}", f"s{i}"] if array else [f"t{i}"]
        is_array = f"type(a{i}) is ndarray and a{i}.dtype is d{i} and a{i}.shape == s{i}"
        same.append(is_array if array else f"type(a{i}) is t{i}")
    lines = [f"def make({', '.join(known)}):", f"    def run({given}):"]
    lines += [f"        if not ({' and '.join([*same, 'holds()'])}):", "            return MISSED"]
    lines += [f"        out = function({given})", *(f"        {line}" for line in _as_it_is(form))]
    lines += [f"        return publish(out, ({given},))" if given else "        return publish(out, ())"]
    return "\n".join([*lines, "    return run"])


def _as_it_is(form: Form) -> list[str]:
    """Returns the result where it is what the user is promised: of the arguments' types, in memory of its own."""
    if not form.places:
        return []
    parts = [f"b{k}" for k in range(len(form.places))]
    grads = f"{', '.join(parts)}," if form.many else parts[0]
    lines = [f"value, ({grads}) = out" if form.value and form.many else f"{'value, ' * form.value}{grads} = out"]
    tests = ["(type(value) is float or isinstance(value, generic))"] if form.value else []
    for b, i in zip(parts, form.places, strict=True):
        owned = f"type({b}) is ndarray and {b}.flags.num in OWN and {b}.dtype is d{i} and {b}.shape == s{i}"
        tests.append(owned if form.arrays[i] else f"type({b}) is float")
    objects = [f"id(a{i})" for i, array in enumerate(form.arrays) if array]
    objects += [f"id({b})" for b, i in zip(parts, form.places, strict=True) if form.arrays[i]]
    if any(form.arrays[i] for i in form.places):
        tests.append(f"len({{{', '.join(objects)}}}) == {len(objects)}")
    return [*lines, f"if {' and '.join(tests)}:", "    return out"]
