"""The runtime Tensor: arrays that record what is done with them. Holds no derivative formula: the templates are called.

The package itself is the function ``tx.tensor``: a name cannot be both, so the module is callable.
"""

from __future__ import annotations

import sys
import types
from typing import Any

from tangentx.common.whole_numpy import demand_whole

demand_whole()


class _Package(types.ModuleType):
    """``tx.tensor(data)`` makes a Tensor of a copy of `data`: a number, an array, a list of numbers, or a Tensor.

    With `requires_grad` it collects a gradient in ``.grad``: raises NotDifferentiable where the dtype is not real or
    complex. The dtype is what NumPy gives: float64 for Python floats, arrays keep theirs.

    >>> import tangentx as tx
    >>> x = tx.tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad.numpy()
    array([2., 4.])
    """

    def __call__(self, data: Any, requires_grad: bool = False, dtype: Any = None, device: Any = None) -> Any:
        from tangentx.tensor.core.making import made

        return made(data, requires_grad, dtype, device)


sys.modules[__name__].__class__ = _Package
sys.modules[__name__].__doc__ = _Package.__doc__

from tangentx.tensor.calls import library_objects as library_objects  # noqa: E402  (registers how they are made)
from tangentx.tensor.core import methods as methods  # noqa: E402  (completes the class Tensor)
