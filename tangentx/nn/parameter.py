"""Parameters: Tensors that a module is made of, and that optimisers update."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx.arrays.libraries import is_elsewhere
from tangentx.tensor.core.tensor import Tensor


class _Making(type):
    """Calling the class makes a Tensor; an instance is a Tensor that was made so."""

    def __call__(cls, data: Any, requires_grad: bool = True, dtype: Any = None) -> Tensor:
        data = data.current if type(data) is Tensor else data
        array = data if is_elsewhere(data) else np.asarray(data, dtype)
        dtype = float if dtype is None and array.dtype.kind in "biu" else dtype
        made = Tensor(array, dtype=dtype, requires_grad=requires_grad)
        made._parameter = True
        return made

    def __instancecheck__(cls, value: Any) -> bool:
        return type(value) is Tensor and value._parameter


class Parameter(metaclass=_Making):
    """``Parameter(data, requires_grad=True)``: a leaf Tensor that the module which holds it counts among its own.

    >>> import tangentx as tx
    >>> w = tx.nn.Parameter([1.0, 2.0])
    >>> w, isinstance(w, tx.nn.Parameter), isinstance(tx.tensor(1.0), tx.nn.Parameter)
    (tensor([1., 2.], requires_grad=True), True, False)
    """

    if TYPE_CHECKING:

        def __new__(cls, data: Any, requires_grad: bool = True, dtype: Any = None) -> Any: ...

        def __getattr__(self, name: str) -> Any: ...
