"""Results as users receive them: in the promised form, sharing no memory with anything else."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tangentx.arrays import finish, instance
from tangentx.arrays.copies import fresh_copy
from tangentx.arrays.libraries import is_array, library_of_class
from tangentx.arrays.memory import is_writable
from tangentx.common.pytrees import leaves, rebuild
from tangentx.dispatch.tensor_arguments import holds_modules
from tangentx.errors import NotDifferentiable

_LAYOUT = operator.attrgetter("dtype", "shape")


def publish(bar: Any, primal: Any, taken: set[int]) -> Any:
    """A gradient as the user gets it: of the primal's type, dtype and shape, in memory of its own.

    `taken` has the identities of the objects that it must not be.
    """
    cls = type(primal)
    if cls is np.ndarray:
        own = type(bar) is np.ndarray and bar.base is None and id(bar) not in taken
        if own and _LAYOUT(bar) == _LAYOUT(primal):
            if bar.flags.forc and is_writable(bar):
                return bar
        if primal.dtype.kind == "f":
            _demand_real(bar)
        return finish(bar, primal)
    if library_of_class(cls) is not None:
        own = type(bar) is cls and bar.base is None and id(bar) not in taken
        if own and _LAYOUT(bar) == _LAYOUT(primal) and (bar.flags.c_contiguous or bar.flags.f_contiguous):
            return bar
        return finish(bar, primal)
    if cls is float:
        if type(bar) is float:
            return bar
        _demand_real(bar)
        return float(bar)
    if isinstance(primal, np.floating):
        _demand_real(bar)
    return finish(bar, primal) if isinstance(primal, complex | np.generic) else with_settings(bar, primal)


def with_settings(bar: Any, primal: Any) -> Any:
    """A gradient whose modules have what is no parameter of theirs as the modules of `primal` have it."""
    if not holds_modules(primal):
        return bar
    if not hasattr(type(primal), "__tangentx_gradient__"):
        return _each_part(with_settings, bar, primal)
    found = _with_settings(bar, primal)
    found.__tangentx_join__(primal)
    return found


def _with_settings(bar: Any, primal: Any) -> Any:
    if hasattr(type(primal), "__tangentx_gradient__"):
        found = {name: _with_settings(getattr(bar, name), item) for name, item in vars(primal).items()}
        return instance(type(primal), primal.__tangentx_gradient__(found))
    return _each_part(_with_settings, bar, primal)


def _each_part(change: Callable[[Any, Any], Any], bar: Any, primal: Any) -> Any:
    if isinstance(primal, list | tuple):
        parts = [change(b, p) for b, p in zip(bar, primal, strict=True)]
        return parts if isinstance(primal, list) else tuple.__new__(type(primal), parts)
    if isinstance(primal, dict):
        return {key: change(bar[key], item) for key, item in primal.items()}
    return bar


def _demand_real(bar: Any) -> None:
    """Refuses a complex cotangent of what is real: in a program of reals alone, a number became complex on the way."""
    if np.iscomplexobj(bar):
        raise NotDifferentiable(
            "a gradient needs a real scalar result, but a number became complex on the way, as `(-2.0) ** 0.5` does",
            hint="make the base complex where that is meant, `complex(x) ** y`, and return a real part",
        )


def public_gradients(bars: Any, values: Sequence[Any], places: Sequence[int], many: bool) -> Any:
    """One gradient, or a tuple of `many`, in the form that is promised."""
    taken = set(map(id, values))
    if not many:
        return publish(bars, values[places[0]], taken)
    found: list[Any] = []
    for bar, place in zip(bars, places, strict=True):
        result = publish(bar, values[place], taken)
        taken.add(id(result))
        found.append(result)
    return tuple(found)


def separate(tree: Any, values: Any) -> Any:
    """The structure with each array in memory of its own, none of which is one of `values`."""
    seen = {id(leaf) for _, leaf in leaves("", values)}

    def own(leaf: Any) -> Any:
        if not is_array(leaf):
            return fresh_copy(leaf)
        mine = leaf.base is None and getattr(leaf.flags, "writeable", True) and id(leaf) not in seen
        found = leaf if mine else leaf.copy()
        seen.add(id(found))
        return found

    return rebuild(tree, own)


def fresh(value: Any) -> Any:
    """A result of the user's function that shares memory with nothing."""
    return value if isinstance(value, float | np.generic) else fresh_copy(value)
