"""Mixed precision: the precision in which each operation runs under `tx.amp`.

As in PyTorch's autocast: products that take most of the time in low precision; what needs range or adds up many terms
in float32 at least; all others as NumPy has it, by the dtypes that they are given.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from tangentx.arrays import convolved, part_means, window_sums
from tangentx.templates.registry import find

LOW = (
    *(np.matmul, operator.matmul, np.dot, np.inner, np.vdot, np.tensordot, np.einsum, np.convolve, np.correlate),
    *(getattr(np, name) for name in ("vecdot", "matvec", "vecmat") if hasattr(np, name)),
    *(np.linalg.multi_dot, convolved),
)
"""Products and convolutions."""

FULL = (
    *(np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p, np.logaddexp, np.logaddexp2, np.power),
    *(np.reciprocal, np.tan, np.sinh, np.cosh, np.arccos, np.arcsin, np.arccosh, np.arctanh, np.square, np.hypot),
    *(np.sum, np.mean, np.average, np.prod, np.var, np.std, np.cumsum, np.cumprod, np.max, np.min, np.median),
    *(np.nansum, np.nanmean, np.nanprod, np.nanvar, np.nanstd, np.trapezoid, np.trace),
    *(window_sums, part_means),
    *(np.linalg.norm, np.linalg.det, np.linalg.slogdet, np.linalg.inv, np.linalg.solve, np.linalg.cholesky),
    *(np.linalg.eigh, np.linalg.eigvalsh, np.linalg.svd, np.linalg.svdvals, np.linalg.qr, np.linalg.pinv),
    *(np.linalg.lstsq, np.linalg.matrix_norm, np.linalg.vector_norm, np.linalg.cond, np.linalg.matrix_power),
)
"""Powers, exponentials, logarithms, reductions and what NumPy's linear algebra does not do for float16."""


@functools.cache
def _policies() -> dict[Any, bool]:
    """By function whether it runs in low precision: by each name that it has, as a method of arrays too."""
    found: dict[Any, bool] = {}
    for functions, low in ((FULL, False), (LOW, True)):
        for fn in functions:
            method = getattr(np.ndarray, fn.__name__, None)
            for name in (fn, method):
                template = find(name) if name is not None else None
                found |= dict.fromkeys(template.primals if template is not None else (name,), low)
    found.pop(None, None)
    return found


def has_policy(fn: Any) -> bool:
    """Whether a function runs in a precision of its own under a policy."""
    return _policy(fn) is not None


def _policy(fn: Any) -> bool | None:
    try:
        return _policies().get(fn)
    except TypeError:  # it cannot be a key
        return None


def cast(fn: Any, dtype: np.dtype[Any], low: np.dtype[Any]) -> np.dtype[Any] | None:
    """The dtype in which a function takes an array of this one where products run in `low`; None for its own.

    >>> cast(np.matmul, np.dtype("f8"), np.dtype("f2")), cast(np.exp, np.dtype("f2"), np.dtype("f2"))
    (dtype('float16'), dtype('float32'))
    >>> cast(np.exp, np.dtype("f8"), np.dtype("f2")), cast(np.add, np.dtype("f8"), np.dtype("f2"))
    (None, None)
    """
    policy = _policy(fn)
    if policy is None or dtype.kind != "f":
        return None
    if policy:
        return low if dtype.itemsize > low.itemsize else None
    return np.dtype(np.float32) if dtype.itemsize < 4 else None
