"""Medians and quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import guarded, merged, ties
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition


def _at_rank(rows: Any, k: Any) -> Any:
    """The element of rank `k` of each row; equal elements share the derivative.

    Where a row has a nan the result is nan, and those that are nan have a share, as in a maximum.
    """
    return np.sum(guarded(rows, ties(rows, np.sort(rows)[..., k], -1)), axis=-1)


@composition(np.median, domain=("A(5)", "A(4)", "A(3,4), 1", "A(3,2), axis=0", "A(2,3,2), axis=(0,2)", "A(1)"))
def median(a: Any, axis: Any = None) -> Any:
    """Mean of the one or two elements in the middle; of none, what NumPy's mean of nothing is."""
    rows = merged(a, axis)
    n = rows.shape[-1]
    if n == 0:
        return np.mean(rows, axis=-1)
    return (_at_rank(rows, (n - 1) // 2) + _at_rank(rows, n // 2)) / 2.0


@composition(np.quantile, domain=("A(5), 0.3", "A(4), 0.77, axis=0", "A(3,4), 0.4, axis=1", "A(3,2), [0.2, 0.9], 0"))
def quantile(a: Any, q: Any, axis: Any = None, *, method: Any = "linear") -> Any:
    """The point between two elements that a fraction `q` of them lies below."""
    if method != "linear":
        raise NotDifferentiable("np.quantile has a derivative for method='linear' alone", hint="leave `method` out")
    fractions = np.asarray(q)
    if np.ndim(fractions) > 1:
        raise NotDifferentiable("a table of fractions has no derivative", hint="give one fraction, or a row of them")
    if np.ndim(fractions) == 1:
        return np.stack([np.quantile(a, fraction, axis) for fraction in fractions])
    rows = merged(a, axis)
    last = rows.shape[-1] - 1
    i = min(int(np.floor(q * last)), last)
    low, high = _at_rank(rows, i), _at_rank(rows, min(i + 1, last))
    return low + (high - low) * (q * last - i)


@composition(np.percentile, domain=("A(5), 30.0", "A(3,4), 45.0, axis=1"))
def percentile(a: Any, q: Any, axis: Any = None, *, method: Any = "linear") -> Any:
    """A quantile by a fraction in hundredths."""
    return np.quantile(a, np.divide(q, 100.0), axis, method=method)


@composition(np.cov, domain=("A(2,4)", "A(4)", "A(3), A(3)", "A(4,2), rowvar=False, bias=True", "A(3), A(2,3), ddof=0"))
def cov(m: Any, y: Any = None, rowvar: Any = True, bias: Any = False, ddof: Any = None) -> Any:
    """Covariances of rows of observations, of columns if `rowvar` is false."""
    alone = np.ndim(m) < 2 and y is None
    table = _as_rows(m, rowvar)
    if y is not None:
        table = np.concatenate([table, _as_rows(y, rowvar)])
    less = (0 if bias else 1) if ddof is None else ddof
    table = table - np.mean(table, axis=1, keepdims=True)
    # As in NumPy, too few observations leave nothing to divide by: nan, not a covariance of another sign.
    found = np.matmul(table, np.conj(table.T)) / max(table.shape[1] - less, 0)
    if alone:
        return np.asarray(found[0, 0])
    if len(found) == 1:
        raise NotDifferentiable("np.cov of a table of one row has no derivative", hint="give the row itself")
    return found


def _as_rows(m: Any, rowvar: Any) -> Any:
    """Observations one below the other."""
    return np.atleast_2d(m) if rowvar or np.ndim(m) < 2 else np.transpose(m)


@composition(np.corrcoef, domain=("A(2,4)", "A(3), A(3)", "A(4,2), rowvar=False"))
def corrcoef(x: Any, y: Any = None, rowvar: Any = True) -> Any:
    """Covariances over the standard deviations of both."""
    found = np.cov(x, y, rowvar)
    if np.ndim(found) == 0:
        return found / found
    spread = np.sqrt(np.real(np.diagonal(found)))
    return np.clip(found / np.expand_dims(spread, 1) / spread, -1.0, 1.0)
