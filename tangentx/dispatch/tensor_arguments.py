"""Tensors among the arguments of a call, asked without loading them."""

from __future__ import annotations

import sys
from typing import Any

from tangentx.errors import NotDifferentiable


def holds_tensors(args: Any, kwargs: Any = (), *, as_written: bool = False) -> bool:
    """Whether a call has Tensors among its arguments; none can be where nobody has loaded them.

    Raises NotDifferentiable for those that other objects than dataclasses hold, unless the call runs `as_written`.
    """
    holding = sys.modules.get("tangentx.tensor.core.containers")
    if holding is None:
        return False
    holds = holding.holds_tensor if as_written else holding.holds_known_tensor
    return bool(holds((args, kwargs) if kwargs else args))


def refuse_tensors(args: Any, kwargs: Any = ()) -> None:
    """Raises NotDifferentiable for Tensors where only plain values have a meaning."""
    if holds_tensors(args, kwargs):
        raise NotDifferentiable(
            "this product does not take Tensors",
            hint="pass plain numbers and arrays (`x.numpy()`), or use `tx.autograd` and the gradient, which do",
        )
