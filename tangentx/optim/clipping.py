"""Gradient clipping, in place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tangentx.arrays.libraries import array_of
from tangentx.errors import NotDifferentiable
from tangentx.optim.optimizer import put
from tangentx.optim.parameter_trees import is_tensor


def _gradients(parameters: Any) -> list[Any]:
    given: Iterable[Any] = [parameters] if is_tensor(parameters) else parameters
    return [p.grad for p in given if p.grad is not None]


def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> float:
    """Scales all gradients by one factor, so that their joint norm is at most `max_norm`; gives the norm they had.

    The factor is ``max_norm / (norm + 1e-6)``, at most 1, as PyTorch's.

    >>> import tangentx as tx
    >>> p = tx.tensor([1.0, 1.0], requires_grad=True)
    >>> p.grad = [3.0, 4.0]
    >>> tx.optim.clip_grad_norm_([p], max_norm=1.0)
    5.0
    >>> p.grad
    tensor([0.59999988, 0.79999984])
    """
    grads = _gradients(parameters)
    norms = [np.linalg.norm(np.ravel(g.current), norm_type) for g in grads]
    total = float(np.linalg.norm(array_of(norms), norm_type)) if norms else 0.0
    if error_if_nonfinite and not np.isfinite(total):
        raise NotDifferentiable(
            f"the norm of the gradients is {total}", hint="look for where it arises: `tx.autograd.detect_anomaly()`"
        )
    factor = min(1.0, max_norm / (total + 1e-6)) if np.isfinite(total) or np.isinf(total) else total
    for g in grads:
        put(g, g.current * factor)
    return total


def clip_grad_value_(parameters: Any, clip_value: float) -> None:
    """Cuts every element of the gradients off at ``-clip_value`` and ``clip_value``.

    >>> import tangentx as tx
    >>> p = tx.tensor([1.0, 1.0], requires_grad=True)
    >>> p.grad = [3.0, -0.5]
    >>> tx.optim.clip_grad_value_([p], 1.0)
    >>> p.grad
    tensor([ 1. , -0.5])
    """
    for g in _gradients(parameters):
        put(g, np.clip(g.current, -clip_value, clip_value))
