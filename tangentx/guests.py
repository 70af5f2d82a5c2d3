"""Tensors among the arguments of a call, asked without loading them."""

from __future__ import annotations

import sys
from typing import Any

from tangentx.errors import NotDifferentiable


def holds_tensors(args: Any, kwargs: Any = ()) -> bool:
    """Whether a call has Tensors among its arguments; none can be where nobody has loaded them."""
    apply = sys.modules.get("tangentx.tensor.apply")
    return apply is not None and (apply.holds_tensor(args) or bool(kwargs) and apply.holds_tensor(kwargs))


def refuse_tensors(args: Any, kwargs: Any = ()) -> None:
    """Raises NotDifferentiable for Tensors where only plain values have a meaning."""
    if holds_tensors(args, kwargs):
        raise NotDifferentiable(
            "this product does not take Tensors",
            hint="pass plain numbers and arrays (`x.numpy()`), or use `tx.autograd` and the gradient, which do",
        )
