"""Medians and quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import guarded, merged, ties
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition


def _at_rank(rows: Any, k: Any) -> Any:
    """The element of rank `k` of each row; equal elements share. It is nan where a row has one."""
    return np.sum(guarded(rows, ties(rows, np.sort(rows)[..., k], -1)), axis=-1)


@composition(np.median, domain=("A(5)", "A(4)", "A(3,4), 1", "A(3,2), axis=0", "A(2,3,2), axis=(0,2)", "A(1)"))
def median(a: Any, axis: Any = None) -> Any:
    """Mean of the one or two elements in the middle."""
    rows = merged(a, axis)
    n = rows.shape[-1]
    return (_at_rank(rows, (n - 1) // 2) + _at_rank(rows, n // 2)) / 2.0


@composition(np.quantile, domain=("A(5), 0.3", "A(4), 0.77, axis=0", "A(3,4), 0.4, axis=1", "A(2,3), 0.9"))
def quantile(a: Any, q: Any, axis: Any = None, *, method: Any = "linear") -> Any:
    """The point between two elements that a fraction `q` of them lies below."""
    if np.ndim(q) > 0 or method != "linear":
        raise NotDifferentiable(
            "np.quantile has a derivative for one fraction and method='linear'", hint="call it once for each fraction"
        )
    rows = merged(a, axis)
    last = rows.shape[-1] - 1
    i = min(int(np.floor(q * last)), last)
    low, high = _at_rank(rows, i), _at_rank(rows, min(i + 1, last))
    return low + (high - low) * (q * last - i)


@composition(np.percentile, domain=("A(5), 30.0", "A(3,4), 45.0, axis=1"))
def percentile(a: Any, q: Any, axis: Any = None, *, method: Any = "linear") -> Any:
    """A quantile by a fraction in hundredths."""
    return np.quantile(a, q / 100.0, axis, method=method)
