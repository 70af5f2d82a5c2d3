"""Initial values of parameters, by PyTorch's names and formulas: written in place, and returned.

`generator` is a ``numpy.random.Generator``, which moves on, or a seed; None draws differently each time.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tangentx.tensor.core.modes import no_grad


def _put(tensor: Any, values: Any) -> Any:
    with no_grad():
        tensor[...] = values
    return tensor


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor that keeps the variance through a nonlinearity (He et al. 2015)."""
    gains = {"linear": 1.0, "conv1d": 1.0, "conv2d": 1.0, "sigmoid": 1.0, "tanh": 5.0 / 3.0,
             "relu": math.sqrt(2.0), "selu": 0.75}  # fmt: skip
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1.0 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in gains:
        raise ValueError(f"nonlinearity={nonlinearity!r} is none of {', '.join([*gains, 'leaky_relu'])}")
    return gains[nonlinearity]


def fans(tensor: Any) -> tuple[int, int]:
    """How many inputs an output depends on, and how many outputs on an input: those of `weight` in `functional`."""
    shape = np.shape(tensor)
    if len(shape) < 2:
        raise ValueError(f"the fans of a tensor of shape {shape} are not defined: it needs two axes")
    field = int(np.prod(shape[2:], dtype=int))
    return shape[1] * field, shape[0] * field


def _fan(tensor: Any, mode: str) -> int:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f'mode={mode!r} must be "fan_in" or "fan_out"')
    return fans(tensor)[mode == "fan_out"]


def constant_(tensor: Any, val: float) -> Any:
    """The same number everywhere."""
    return _put(tensor, val)


def zeros_(tensor: Any) -> Any:
    """Zeros."""
    return _put(tensor, 0.0)


def ones_(tensor: Any) -> Any:
    """Ones."""
    return _put(tensor, 1.0)


def eye_(tensor: Any) -> Any:
    """The identity matrix."""
    return _put(tensor, np.eye(*np.shape(tensor)))


def dirac_(tensor: Any, groups: int = 1) -> Any:
    """The weights of the convolution that gives its input back, as far as there are channels."""
    shape = np.shape(tensor)
    if len(shape) not in (3, 4, 5) or shape[0] % groups:
        raise ValueError(f"weights of shape {shape} are not those of a convolution of {groups} groups")
    values = np.zeros(shape)
    middle = tuple(n // 2 for n in shape[2:])
    for i in range(min(shape[0] // groups, shape[1])):
        values[(slice(i, None, shape[0] // groups), i, *middle)] = 1.0
    return _put(tensor, values)


def sparse_(tensor: Any, sparsity: float, std: float = 0.01, generator: Any = None) -> Any:
    """Normal, but for `sparsity` of each column, which are zeros (Martens 2010)."""
    shape = np.shape(tensor)
    if len(shape) != 2:
        raise ValueError(f"a tensor of shape {shape} has no columns: it needs two axes")
    rng = np.random.default_rng(generator)
    values = rng.normal(0.0, std, shape)
    for column in values.T:
        column[rng.permutation(shape[0])[: math.ceil(sparsity * shape[0])]] = 0.0
    return _put(tensor, values)


def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Any:
    """Even from `a` to `b`."""
    rng = np.random.default_rng(generator)
    if tensor.dtype == np.float32:  # half of the memory
        return _put(tensor, np.float32(b - a) * rng.random(np.shape(tensor), np.float32) + np.float32(a))
    return _put(tensor, rng.uniform(a, b, np.shape(tensor)))


def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Any:
    """Normal."""
    return _put(tensor, np.random.default_rng(generator).normal(mean, std, np.shape(tensor)))


def trunc_normal_(
    tensor: Any, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Any:
    """Normal, what lies outside of `a` to `b` drawn again."""
    if not a < b or b < mean - 6 * std or a > mean + 6 * std:
        raise ValueError(f"from a={a} to b={b} there is next to nothing of the distribution")
    rng = np.random.default_rng(generator)
    values = rng.normal(mean, std, np.shape(tensor))
    while np.any(outside := (values < a) | (values > b)):
        values[outside] = rng.normal(mean, std, int(np.sum(outside)))
    return _put(tensor, values)


def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Even within ``gain * sqrt(6 / (fan_in + fan_out))`` (Glorot and Bengio 2010)."""
    bound = gain * math.sqrt(6.0 / sum(fans(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Normal with deviation ``gain * sqrt(2 / (fan_in + fan_out))`` (Glorot and Bengio 2010)."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(fans(tensor))), generator)


def kaiming_uniform_(
    tensor: Any, a: float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Any:
    """Even within ``gain * sqrt(3 / fan)`` (He et al. 2015)."""
    bound = calculate_gain(nonlinearity, a) * math.sqrt(3.0 / _fan(tensor, mode))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Any, a: float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Any:
    """Normal with deviation ``gain / sqrt(fan)`` (He et al. 2015)."""
    return normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode)), generator)


def orthogonal_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """`gain` times an orthogonal matrix, drawn evenly (Saxe, McClelland and Ganguli 2014; QR of a normal one)."""
    shape = np.shape(tensor)
    if len(shape) < 2:
        raise ValueError(f"a tensor of shape {shape} cannot be orthogonal: it needs two axes")
    rows, columns = shape[0], int(np.prod(shape[1:], dtype=int))
    drawn = np.random.default_rng(generator).normal(size=(max(rows, columns), min(rows, columns)))
    q, r = np.linalg.qr(drawn)
    q = q * np.sign(np.diagonal(r))
    return _put(tensor, gain * (q if rows >= columns else q.T).reshape(shape))
