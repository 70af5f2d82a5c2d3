"""Parameters with a meaning of their own: ``out``, what may be overwritten, and the options of ufuncs."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tangentx.templates.registry import find

# Positions of ``out`` parameters, and of parameters that allow a function to overwrite its arguments.
# and SciPy's spoil what they are given.

_NEVER = 1 << 30
TWO_STEPS = ("var", "std", "nanvar", "nanstd")
"""Functions that compute a mean in the type of their argument, and what follows in that of ``out``."""
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
    names = [p.name for p in parameters(fn) if p.kind is p.POSITIONAL_OR_KEYWORD or p.kind is p.POSITIONAL_ONLY]
    return (names.index("out"), tuple(names[names.index("out") :])) if "out" in names else (_NEVER, ())


def parameters(fn: Any) -> Sequence[inspect.Parameter]:
    """What a function or method of NumPy's takes, the array first; nothing for ufuncs."""
    shown: Any = None
    if hasattr(fn, "_implementation"):
        shown = fn
    elif getattr(fn, "__objclass__", None) is np.ndarray:
        shown = getattr(np, fn.__name__, None)  # methods take what the functions take that are called like them
    if isinstance(fn, np.ufunc) or isinstance(shown, np.ufunc):
        return ()
    try:
        return tuple(inspect.signature(shown).parameters.values())
    except (TypeError, ValueError):  # before NumPy 2.3 functions in C told nothing; templates mirror what they take
        template = find(fn)
        return () if template is None else tuple(template.params)


def computes_in_that_of_out(fn: Any) -> int | None:
    """At which position a function takes ``dtype``, which says what it adds up or multiplies in, and which is that of
    ``out`` where it is not given; None for other functions."""
    names = [p.name for p in parameters(fn)]
    joins = getattr(fn, "__name__", "") in ("concatenate", "concat", "stack", "vstack", "hstack")
    return None if joins or not {"dtype", "out"} <= set(names) else names.index("dtype")


def cast_to_that_of_out(fn: Any, count: int) -> range:
    """The positions of those of `count` arguments that a function takes in the type of ``out`` if that is wider, and
    nothing says another one: a ufunc's methods that put elements together, and sums of products by subscripts."""
    if isinstance(getattr(fn, "__self__", None), np.ufunc):
        place_of_dtype = {"reduce": 2, "accumulate": 2, "reduceat": 3}.get(fn.__name__, 0)
        return range(1 if count <= place_of_dtype else 0)
    return range(1, count) if fn is np.einsum else range(0)


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


# Options of NumPy's ufuncs that say in which type they calculate: ``dtype``, ``casting``, ``order``, ``subok``.
#
# A call with ``dtype`` is the call of operands of that type. The others say what may be cast, how the result lies in
# memory and of which class of arrays it is: nothing of its numbers.

OPTIONS = ("dtype", "casting", "order", "subok")


def type_of_loop(ufunc: Any, dtype: Any) -> np.dtype[Any] | None:
    """The type of all operands and results where ``dtype=`` is given; None where they are not all of one."""
    try:
        meant = np.dtype(dtype)
    except TypeError:
        return None
    loop = meant.char * ufunc.nin + "->" + meant.char * ufunc.nout
    return meant if meant.kind in "fc" and loop in ufunc.types else None
