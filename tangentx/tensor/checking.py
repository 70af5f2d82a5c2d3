"""Checks of gradients on Tensors against differences, by PyTorch's names and defaults."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tangentx.tensor.autograd import grad
from tangentx.tensor.core import Tensor
from tangentx.tensor.forms import inexact
from tangentx.tensor.holding import tensors_in
from tangentx.tensor.making import made


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """True if the gradients of `func` on Tensors are those of central differences of step `eps`.

    `inputs` is a Tensor, a number or an array, or a tuple of them; those that are real and, if Tensors, require a
    gradient are checked. float32 is promoted, with a warning. Where one differs, `AssertionError` names the
    operation, the input, the index and both numbers (False with ``raise_exception=False``).
    """
    given = list(inputs) if isinstance(inputs, tuple | list) else [inputs]
    leaves = [_leaf(x) for x in given]
    active = [t for t in leaves if type(t) is Tensor and t.requires_grad]
    outs = list(tensors_in(_several(func(*leaves))))
    for o, out in enumerate(outs):
        for index in np.ndindex(np.shape(out.current)):
            found = _row(out, index, active)
            for k, t in enumerate(active):
                wanted = _differences(func, leaves, t, o, index, eps)
                got = np.asarray(found[k])
                bad = ~np.isclose(got, wanted, rtol=rtol, atol=atol)
                if bad.any():
                    at = tuple(int(i) for i in np.argwhere(bad)[0])
                    if not raise_exception:
                        return False
                    node = out.grad_fn
                    raise AssertionError(
                        f"{node.operation if node else 'leaf'}: output {o}{list(index)} by input {k}{list(at)}: "
                        f"backward gives {got[at]}, differences give {wanted[at]}"
                    )
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """As `gradcheck`, of the gradients themselves: the second derivatives."""
    given = list(inputs) if isinstance(inputs, tuple | list) else [inputs]
    active = [i for i, x in enumerate(map(_leaf, given)) if type(x) is Tensor and x.requires_grad]

    def slopes(*args: Any) -> Any:
        outs = list(tensors_in(_several(func(*args))))
        weights = grad_outputs
        if weights is None:
            weights = [np.cos(np.arange(out.size)).reshape(out.shape) for out in outs]
        elif not isinstance(weights, tuple | list):
            weights = [weights]
        return tuple(grad(outs, [args[i] for i in active], weights, create_graph=True, materialize_grads=True))

    return gradcheck(slopes, tuple(given), eps, atol, rtol, raise_exception)


def _several(value: Any) -> Any:
    return value if isinstance(value, tuple | list) else (value,)


def _leaf(x: Any) -> Any:
    data = x.current if type(x) is Tensor else x
    if not isinstance(data, np.ndarray | np.generic | float | complex) or not inexact(data):
        return x
    if type(x) is Tensor and not x.requires_grad:
        return x
    dtype = np.asarray(data).dtype
    if dtype.itemsize < (16 if dtype.kind == "c" else 8):
        warnings.warn("gradcheck promotes float32 inputs to float64", UserWarning, stacklevel=3)
        dtype = np.result_type(dtype, np.float64)
    return made(data, True, dtype)


def _row(out: Tensor, index: tuple[int, ...], active: list[Any]) -> list[Any]:
    if not out.requires_grad:
        return [np.zeros(np.shape(t.current)) for t in active]
    unit = np.zeros(np.shape(out.current))
    unit[index] = 1.0
    rows = grad(out, active, unit if unit.shape else 1.0, retain_graph=True, materialize_grads=True)
    return [row.detach().numpy() for row in rows]


def _differences(func: Any, leaves: list[Any], t: Tensor, o: int, index: tuple[int, ...], eps: float) -> Any:
    """The derivative of one element of an output by each element of an input, as our convention has it."""
    data = np.array(t.current)
    result = np.zeros(data.shape, data.dtype)
    for place in np.ndindex(data.shape):
        steps = (eps, 1j * eps) if data.dtype.kind == "c" else (eps,)
        parts = []
        for step in steps:
            ends = []
            for sign in (1.0, -1.0):
                moved = data.copy()
                moved[place] += sign * step
                args = [made(moved, True) if leaf is t else leaf for leaf in leaves]
                out = list(tensors_in(_several(func(*args))))[o]
                ends.append(np.asarray(out.current)[index])
            parts.append(np.real(ends[0] - ends[1]) / (2.0 * eps))
        result[place] = parts[0] if len(parts) == 1 else parts[0] - 1j * parts[1]
    return result
