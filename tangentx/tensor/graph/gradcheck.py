"""`gradcheck`: compares gradients of Tensors with differences, by PyTorch's names and defaults."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tangentx.arrays.libraries import is_array, to_host
from tangentx.tensor.core.containers import tensors_in
from tangentx.tensor.core.forms import array_like, dtype_of, inexact
from tangentx.tensor.core.making import made
from tangentx.tensor.core.tensor import Tensor
from tangentx.tensor.graph.autograd import grad
from tangentx.tensor.graph.rule_blame import wrong_node


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
) -> bool:
    """True if the gradients of `func` on Tensors are those of central differences of step `eps`.

    `inputs` is a Tensor, a number or an array, or a tuple of them; those that are real or complex and, if Tensors,
    require a gradient are checked, of complex results both parts. float32 is promoted, with a warning. Where one
    differs, or comes out otherwise by more than `nondet_tol` when it is computed again, `AssertionError` names the
    operation whose rule is wrong (the last where each by itself is right), the input, the index and both numbers (False
    with ``raise_exception=False``). Raises ValueError where there is nothing to check.

    >>> import numpy as np
    >>> import tangentx as tx
    >>> tx.gradcheck(lambda x: np.sin(x) * x, np.array([0.3, 0.7]))
    True
    """
    given = list(inputs) if isinstance(inputs, tuple | list) else [inputs]
    leaves = [_leaf(x) for x in given]
    active = [t for t in leaves if type(t) is Tensor and t.requires_grad]
    if not active:
        raise ValueError("gradcheck is given no number or array of reals and no Tensor that requires a gradient")
    for message in _differing(func, leaves, active, eps, atol, rtol, nondet_tol):
        if raise_exception:
            raise AssertionError(message)
        return False
    return True


def _differing(
    func: Any, leaves: list[Any], active: list[Any], eps: float, atol: float, rtol: float, nondet_tol: float
) -> Iterator[str]:
    """What is wrong, where something is."""
    for o, out in enumerate(list(tensors_in(_several(func(*leaves))))):
        named = functools.partial(_named, func, leaves, active, out.grad_fn)
        for index in np.ndindex(np.shape(out.current)):
            for unit in (1.0, 1j) if np.iscomplexobj(out.current) else (1.0,):
                found, again = _row(out, index, unit, active), _row(out, index, unit, active)
                for k, t in enumerate(active):
                    where = f"{'' if unit == 1.0 else 'i times '}output {o}{list(index)} by input {k}"
                    at = _first(~(np.abs(found[k] - again[k]) <= nondet_tol) & ~np.isnan(found[k]))
                    if at is not None:
                        yield named(f"{where}{list(at)}: backward gives {found[k][at]}, and then {again[k][at]}")
                    wanted = _differences(func, leaves, t, o, index, unit, eps)
                    at = _first(~np.isclose(found[k], wanted, rtol=rtol, atol=atol))
                    if at is not None:
                        both = f"backward gives {found[k][at]}, differences give {wanted[at]}"
                        yield named(f"{where}{list(at)}: {both}")


def _named(func: Any, leaves: list[Any], active: list[Any], last: Any, message: str) -> str:
    """A message that begins with the operation whose rule is wrong, or with the last where none is, and ends with its
    line."""
    node = wrong_node(func, leaves, active) or last
    return f"leaf: {message}" if node is None else f"{node.operation}: {message} ({node.source_line})"


def _first(bad: Any) -> tuple[int, ...] | None:
    return tuple(int(i) for i in np.argwhere(bad)[0]) if np.any(bad) else None


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
) -> bool:
    """As `gradcheck`, of the gradients themselves: the second derivatives.

    `grad_outputs` are the weights of the results, for each a number or an array of its shape; where they are left out
    they are cosines. Raises AssertionError and ValueError as `gradcheck` does.

    >>> import numpy as np
    >>> import tangentx as tx
    >>> tx.gradgradcheck(lambda x: np.sin(x) * x, np.array([0.3, 0.7]))
    True
    """
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

    return gradcheck(slopes, tuple(given), eps, atol, rtol, raise_exception, nondet_tol)


def _several(value: Any) -> Any:
    return value if isinstance(value, tuple | list) else (value,)


def _leaf(x: Any) -> Any:
    data = x.current if type(x) is Tensor else x
    if not (isinstance(data, np.generic | float | complex) or is_array(data)) or not inexact(data):
        return x
    if type(x) is Tensor and not x.requires_grad:
        return x
    dtype = dtype_of(data)
    if dtype.itemsize < (16 if dtype.kind == "c" else 8):
        warnings.warn("gradcheck promotes float32 inputs to float64", UserWarning, stacklevel=3)
        dtype = np.result_type(dtype, np.float64)
    return made(data, True, dtype)


def _row(out: Tensor, index: tuple[int, ...], unit: complex, active: list[Any]) -> list[Any]:
    if not out.requires_grad:
        return [np.zeros(np.shape(t.current)) for t in active]
    seed = array_like(np.zeros(np.shape(out.current), type(unit)), out.current)
    seed[index] = unit
    rows = grad(out, active, seed if seed.shape else unit, retain_graph=True, materialize_grads=True)
    return [np.asarray(row.detach().numpy()) for row in rows]


def _differences(
    func: Any, leaves: list[Any], t: Tensor, o: int, index: tuple[int, ...], unit: complex, eps: float
) -> Any:
    """The derivative of one element of an output, times `unit`, by each element of an input: by our convention."""
    data = np.array(to_host(t.current))
    result = np.zeros(data.shape, data.dtype)
    for place in np.ndindex(data.shape):
        steps = (eps, 1j * eps) if data.dtype.kind == "c" else (eps,)
        parts = []
        for step in steps:
            ends = []
            for sign in (1.0, -1.0):
                moved = data.copy()
                moved[place] += sign * step
                args = [made(array_like(moved, t.current), True) if leaf is t else leaf for leaf in leaves]
                out = list(tensors_in(_several(func(*args))))[o]
                ends.append(to_host(out.current)[index])
            parts.append(np.real(unit * (ends[0] - ends[1])) / (2.0 * eps))
        result[place] = parts[0] if len(parts) == 1 else parts[0] - 1j * parts[1]
    return result
