"""Recognises Tensors among arguments without importing the Tensor runtime."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from tangentx.errors import NotDifferentiable

_CONTAINERS = "tangentx.tensor.core.containers"
_HOLDING: list[Any] = []
"""That module, once it is there."""


def holds_tensors(args: Any, kwargs: Any = (), *, as_written: bool = False) -> bool:
    """Whether a call has Tensors among its arguments; none can be where nobody has loaded them.

    Raises NotDifferentiable for those that other objects than dataclasses hold, unless the call runs `as_written`.
    """
    if not _HOLDING:
        if _CONTAINERS not in sys.modules:
            return False
        _HOLDING.append(importlib.import_module(_CONTAINERS))  # another thread may be loading it: to be waited for
    holds = _HOLDING[0].holds_tensor if as_written else _HOLDING[0].holds_known_tensor
    return bool(holds((args, kwargs) if kwargs else args))


def with_arrays(values: Any) -> Any:
    """The arguments, modules among them on plain arrays: of what has a form of its own for the compiler, that.

    A module that is on plain arrays already is left as it is.
    """
    return _with_arrays(values) if holds_modules(values) else values


def holds_modules(values: Any) -> bool:
    """Whether there is a module among the arguments."""
    return "tangentx.nn" in sys.modules and _has_modules(values)


def refuse_mixed(args: Any) -> None:
    """Raises NotDifferentiable for modules beside Tensors: a gradient of modules is one of plain arrays."""
    if holds_modules(args):
        raise NotDifferentiable(
            "this derivative is given a module and a Tensor",
            hint="pass the data as a plain array (`x.numpy()`), or call the model on Tensors and use `backward`",
        )


def refuse_modules(values: Any) -> None:
    """Raises NotDifferentiable for modules by which a Jacobian is asked for."""
    if holds_modules(values):
        raise NotDifferentiable(
            "a Jacobian by a module has no form of its own",
            hint="use `tx.vjp`, `tx.jvp` or `tx.hvp`, or take it by one array: `model.with_parameters({name: w})`",
        )


def _is_module(value: Any) -> bool:
    return hasattr(type(value), "__tangentx_arrays__")


def _has_modules(value: Any) -> bool:
    """Arguments may be nested deeply, and hold themselves: there is a list of what is still to be looked at."""
    todo, seen = [value], set()
    while todo:
        value = todo.pop()
        if not isinstance(value, dict | list | tuple):
            if _is_module(value):
                return True
        elif id(value) not in seen:
            seen.add(id(value))
            todo += value.values() if isinstance(value, dict) else value
    return False


def _with_arrays(value: Any) -> Any:
    if _is_module(value):
        return value.__tangentx_arrays__()
    if isinstance(value, dict):
        return {key: _with_arrays(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple.__new__(type(value), map(_with_arrays, value))
    return list(map(_with_arrays, value)) if isinstance(value, list) else value


def refuse_tensors(args: Any, kwargs: Any = ()) -> None:
    """Raises NotDifferentiable for Tensors where only plain values have a meaning."""
    if holds_tensors(args, kwargs):
        raise NotDifferentiable(
            "this product does not take Tensors",
            hint="pass plain numbers and arrays (`x.numpy()`), or use `tx.autograd` and the gradient, which do; "
            "in a function that is compiled `tx.jvp` has a derivative",
        )
