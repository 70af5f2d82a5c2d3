"""Blocks of Jacobians: their rows and columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.templates.batched.batch import of_first, plainly
from tangentx.templates.batched.places import placed


@of_first(arrays.columns)
def _columns(w: Any, y: Any, x: Any, before: int = 0) -> Any:
    block = np.moveaxis(w[:, before : before + np.size(x)], 1, -1)
    return np.reshape(block, (len(w), *np.shape(y), *np.shape(x)))


@of_first(arrays.rows)
def _rows_of(w: Any, y: Any, x: Any, before: int = 0) -> Any:
    return np.reshape(w[:, before : before + np.size(y)], (len(w), *np.shape(y), *np.shape(x)))


@of_first(arrays.uncolumns)
def _uncolumns(w: Any, dots: Any, y: Any, x: Any, before: int = 0) -> Any:
    block = np.moveaxis(np.reshape(w, (len(w), *np.shape(y), int(np.size(x)))), -1, 1)
    return placed(block, np.zeros(np.shape(dots)), slice(before, before + np.size(x)))


@of_first(arrays.unrows)
def _unrows(w: Any, bars: Any, y: Any, x: Any, before: int = 0) -> Any:
    block = np.reshape(w, (len(w), int(np.size(y)), *np.shape(x)))
    return placed(block, np.zeros(np.shape(bars)), slice(before, before + np.size(y)))


@of_first(arrays.each_fitted)
def _each_fitted(w: Any, lengths: Any) -> Any:
    flat = np.reshape(w, (w.shape[0] * w.shape[1], *w.shape[2:]))
    return np.reshape(plainly(arrays.each_fitted, flat, lengths), (*w.shape[:2], *lengths))
