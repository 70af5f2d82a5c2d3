"""Seeds: the cotangents from which a reverse sweep starts."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.errors import NotDifferentiable, place, span_of
from tangentx.tensor.calls.apply import call
from tangentx.tensor.core.tensor import Tensor


def seed_of(t: Tensor, gradient: Any) -> Any:
    """The cotangent to begin with. Raises NotDifferentiable where shape or domain do not fit."""
    data = t.current
    value = gradient.current if type(gradient) is Tensor else gradient
    if np.shape(value) == (1,) and np.shape(data) == ():
        if type(gradient) is Tensor:
            gradient = call(np.reshape, (gradient, ()), {})
        else:
            gradient = np.reshape(value, ())
        value = np.reshape(value, ())[()]
    if np.shape(value) != np.shape(data):
        raise NotDifferentiable(
            f"the gradient has shape {np.shape(value)}, but the Tensor has shape {np.shape(data)}",
            span_of(place()),
            f"give it the shape {np.shape(data)}; a batch of gradients needs is_grads_batched=True",
        )
    if np.iscomplexobj(value) and not np.iscomplexobj(data):
        raise NotDifferentiable(
            "the gradient is complex, but the Tensor is real", span_of(place()), "give it the Tensor's dtype"
        )
    return gradient
