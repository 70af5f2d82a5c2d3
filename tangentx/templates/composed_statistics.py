"""Covariances and correlations."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition


@composition(
    np.cov,
    domain=(
        "A(2,4)",
        "A(4)",
        "A(3), A(3)",
        "A(4,2), rowvar=False, bias=True",
        "A(3), A(2,3), ddof=0",
        "A(2,4), aweights=P(4), fweights=np.array([1, 2, 1, 3])",
        "A(3), A(3), aweights=[1.0, 2.0, 0.5], dtype=float",
    ),
)
def cov(
    m: Any,
    y: Any = None,
    rowvar: Any = True,
    bias: Any = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    """Covariances of rows of observations, of columns if `rowvar` is false."""
    alone = np.ndim(m) < 2 and y is None
    table = _as_rows(m, rowvar)
    if y is not None:
        table = np.concatenate([table, _as_rows(y, rowvar)])
    if dtype is not None:
        table = np.asarray(table, dtype)
    elif table.dtype == np.float32:
        table = table.astype(np.float64)
    less = (0 if bias else 1) if ddof is None else ddof
    if fweights is None and aweights is None:
        table = table - np.mean(table, axis=1, keepdims=True)
        # As in NumPy, too few observations leave nothing to divide by: nan, not a covariance of another sign.
        found = np.matmul(table, np.conj(table.T)) / max(table.shape[1] - less, 0)
    else:
        found = _weighted(table, less, fweights, aweights)
    if alone:
        return np.asarray(found[0, 0])
    if len(found) == 1:
        raise NotDifferentiable("np.cov of a table of one row has no derivative", hint="give the row itself")
    return found


def _weighted(table: Any, less: Any, fweights: Any, aweights: Any) -> Any:
    """Covariances of observations that count as often as `fweights` say, and as much as `aweights`."""
    counts = 1.0 if fweights is None else np.asarray(fweights)
    weights = 1.0 if aweights is None else np.asarray(aweights)
    parts = counts * weights
    total = np.sum(parts)
    spent = less if aweights is None else less * np.sum(parts * weights) / total
    table = table - np.expand_dims(np.matmul(table, parts), 1) / total
    return np.matmul(table * parts, np.conj(table.T)) / np.maximum(total - spent, 0.0)


def _as_rows(m: Any, rowvar: Any) -> Any:
    """Observations one below the other."""
    return np.atleast_2d(m) if rowvar or np.ndim(m) < 2 else np.transpose(m)


@composition(np.corrcoef, domain=("A(2,4)", "A(3), A(3)", "A(4,2), rowvar=False"))
def corrcoef(x: Any, y: Any = None, rowvar: Any = True, *, dtype: Any = None) -> Any:
    """Covariances over the standard deviations of both."""
    found = np.cov(x, y, rowvar, dtype=dtype)
    if np.ndim(found) == 0:
        return found / found
    spread = np.sqrt(np.real(np.diagonal(found)))
    return np.clip(found / np.expand_dims(spread, 1) / spread, -1.0, 1.0)
