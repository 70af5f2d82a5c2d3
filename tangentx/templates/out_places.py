"""At which position functions of NumPy's take ``out``, the array for their result, and what lets functions of NumPy's
and SciPy's spoil what they are given."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tangentx.templates.registry import find

_NEVER = 1 << 30
_FOUND: dict[Any, tuple[int, tuple[str, ...]]] = {}
_OVERWRITING: dict[Any, Mapping[str, int]] = {}


def from_out(fn: Any) -> tuple[int, tuple[str, ...]]:
    """At which position a function takes ``out``, and the names of what it takes from there on.

    Far behind all for functions that do not, or by its name alone: ufuncs are among them, for they say it by name.
    """
    try:
        found = _FOUND.get(fn)
    except TypeError:  # what cannot be a key is none of NumPy's
        return _NEVER, ()
    if found is None:
        found = _FOUND[fn] = _from_out(fn)
    return found


def _from_out(fn: Any) -> tuple[int, tuple[str, ...]]:
    shown: Any = None
    if hasattr(fn, "_implementation"):
        shown = fn
    elif getattr(fn, "__objclass__", None) is np.ndarray:
        shown = getattr(np, fn.__name__, None)  # methods take what the functions take that are called like them
    if isinstance(fn, np.ufunc) or isinstance(shown, np.ufunc):
        return _NEVER, ()
    try:
        parameters: Iterable[inspect.Parameter] = inspect.signature(shown).parameters.values()
    except (TypeError, ValueError):  # before NumPy 2.3 functions in C told nothing; templates mirror what they take
        template = find(fn)
        parameters = () if template is None else template.params
    names = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD or p.kind is p.POSITIONAL_ONLY]
    return (names.index("out"), tuple(names[names.index("out") :])) if "out" in names else (_NEVER, ())


def overwriting(fn: Any) -> Mapping[str, int]:
    """The parameters of a library's function that allow it to use an argument's memory (`overwrite_a`), with their
    positions. What it leaves there is not defined, so a derivative, which may need the argument, does not allow it."""
    try:
        found = _OVERWRITING.get(fn)
    except TypeError:  # what cannot be a key is no function of a library
        return {}
    if found is None:
        found = _OVERWRITING[fn] = _overwriting(fn)
    return found


def _overwriting(fn: Any) -> Mapping[str, int]:
    if not str(getattr(fn, "__module__", None)).startswith(("numpy", "scipy")):
        return {}
    try:
        names = list(inspect.signature(fn).parameters)
    except (TypeError, ValueError):
        return {}
    return {name: i for i, name in enumerate(names) if name.startswith("overwrite_")}


def spoken_of(fn: Any, option: str) -> tuple[str, int]:
    """The parameter of which such an option speaks, and its position: the first, if none is called as the option is."""
    names = list(inspect.signature(fn).parameters)
    name = option.removeprefix("overwrite_")
    return (name, names.index(name)) if name in names else (names[0], 0)
