"""Tensors from plain data, and plain data from Tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays.libraries import ARRAYS
from tangentx.tensor.core.containers import holds_tensor
from tangentx.tensor.core.modes import STATE
from tangentx.tensor.core.tensor import Tensor
from tangentx.tensor.fallback.programs import lost, stands_in


def made(data: Any, requires_grad: bool = False, dtype: Any = None, device: Any = None) -> Tensor:
    """What ``tx.tensor`` gives."""
    if isinstance(data, list | tuple):
        data = _plain(data)
    return Tensor(data, device, dtype, requires_grad)


def rand(*shape: Any, generator: Any = None, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A Tensor of numbers drawn evenly from 0 to 1, of a shape that is given as numbers or as one list or tuple.

    `generator` is a ``numpy.random.Generator``, which moves on, or a seed: the same one gives the same numbers; None
    gives others at each call. `dtype` is float64 or float32. Raises TypeError for others.

    >>> import tangentx as tx
    >>> x = tx.rand(2, 3, generator=0)
    >>> x.shape, bool((x < 1.0).all())
    ((2, 3), True)
    """
    sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], list | tuple) else shape
    drawn = np.random.default_rng(generator).random(tuple(sizes), np.dtype(dtype or float).type)
    return Tensor(drawn, requires_grad=requires_grad)


def _plain(data: Any) -> Any:
    if isinstance(data, list | tuple):
        return [_plain(item) for item in data] if holds_tensor(data) else data
    return data.current if type(data) is Tensor else data


def demand_no_solver(t: Tensor, frame: Any) -> None:
    """Refuses a Tensor that the user's function has given to one of SciPy's solvers, whose `frame` looks at it first:
    what is raised by then in C, where a number is to be made of it, does not come out as what it is."""
    if STATE.grad and t._needs and str(frame.f_globals.get("__name__")).startswith("scipy.optimize."):
        raise lost(t, "a solver, which knows plain numbers alone,")


def escaped(t: Tensor, how: str, always: bool = False) -> Any:
    """The plain data of a Tensor that leaves the record. Raises NotDifferentiable where that would lose a derivative.

    It is lost where the Tensor requires a gradient, and, unless `always`, code is run that is to be differentiated.
    """
    if t._view is not None:
        t._view.refresh(t)
    data = t._primal
    if t._needs and (always or stands_in(t)):
        raise lost(t, how)
    if type(data) in ARRAYS:
        root = t if t._view is None else t._view.root
        root._exported = True
    return data
