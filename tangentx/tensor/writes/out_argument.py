"""Where the results of NumPy's functions go: ``out``, by name or by its place among the arguments."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tangentx.templates import find
from tangentx.tensor.core.containers import raw

_NEVER = 1 << 30
_FOUND: dict[Any, tuple[int, tuple[str, ...]]] = {}


def from_out(fn: Any) -> tuple[int, tuple[str, ...]]:
    """At which place a function of NumPy's takes ``out``, and the names of what it takes from there on.

    Far behind all for functions that do not, or by its name alone: ufuncs are among them, for they say it by name.
    """
    found = _FOUND.get(fn)
    if found is None:
        found = _FOUND[fn] = _from_out(fn)
    return found


def has_out(fn: Any) -> bool:
    """Whether ``out`` means that: in functions of NumPy's."""
    return isinstance(fn, np.ufunc) or hasattr(fn, "_implementation") or hasattr(fn, "__objclass__")


def _from_out(fn: Any) -> tuple[int, tuple[str, ...]]:
    shown: Any = None
    if hasattr(fn, "_implementation"):
        shown = fn
    elif getattr(fn, "__objclass__", None) is np.ndarray:
        shown = getattr(np, fn.__name__, None)  # methods take what the functions take that are called like them
    if isinstance(shown, np.ufunc):
        return _NEVER, ()
    try:
        parameters: Iterable[inspect.Parameter] = inspect.signature(shown).parameters.values()
    except (TypeError, ValueError):  # before NumPy 2.3 functions in C told nothing; templates mirror what they take
        template = find(shown)
        parameters = () if template is None else template.params
    names = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD or p.kind is p.POSITIONAL_ONLY]
    return (names.index("out"), tuple(names[names.index("out") :])) if "out" in names else (_NEVER, ())


def into(fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A call that says where its result is to go. Raises TypeError, as NumPy does, where it says so twice."""
    from tangentx.tensor.calls.apply import call
    from tangentx.tensor.writes.numpy_writers import filled

    at, names = from_out(fn)
    named = dict(zip(names, args[at:], strict=False))
    if named.keys() & kwargs.keys() or len(args) > at + len(names):
        fn(*map(raw, args), **{name: raw(value) for name, value in kwargs.items()})
    named.update(kwargs)
    out = named.pop("out", None)
    result = call(fn, args[:at], named)
    return result if out is None else filled(out, result)
