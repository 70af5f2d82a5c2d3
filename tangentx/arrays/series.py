"""Series of `numpy.polynomial`: their lengths, and the constants of their recurrences."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np


def series_length(c: Any) -> int:
    """How many coefficients there are up to the last that is not 0; one at least."""
    places = np.flatnonzero(c)
    return int(places[-1]) + 1 if len(places) else 1


def series_table(basis: str, step: str, count: int, times: int) -> Any:
    """What a `step` makes of series of a basis of `numpy.polynomial`, as a matrix for their coefficients.

    The steps are "deriv", "integ" (from 0), "convert" (to plain polynomials) and "of plain" (from those).

    >>> series_table("Polynomial", "deriv", 3, 1)
    array([[0., 1., 0.],
           [0., 0., 2.]])
    """
    return _series_table(basis, step, count, times).copy()


@lru_cache(maxsize=256)
def _series_table(basis: str, step: str, count: int, times: int) -> Any:
    cls, plain = getattr(np.polynomial, basis), np.polynomial.Polynomial
    rows = []
    for unit in np.eye(count):
        series = (plain if step == "of plain" else cls)(unit, [-1, 1], [-1, 1])
        if step in ("convert", "of plain"):
            made = series.convert([-1, 1], plain if step == "convert" else cls, [-1, 1])
        else:
            made = getattr(series, step)(times)
        rows.append(made.coef)
    table = np.zeros((max(map(len, rows)), count))
    for i, row in enumerate(rows):
        table[: len(row), i] = row
    return table


_STEPS: dict[str, Callable[[Any], tuple[Any, Any, Any]]] = {
    "Polynomial": lambda n: (1.0 + 0 * n, 0 * n, 0 * n),
    "Chebyshev": lambda n: (np.where(n == 0, 1.0, 0.5), 0 * n, np.where(n == 0, 0.0, 0.5)),
    "Legendre": lambda n: ((n + 1) / (2 * n + 1), 0 * n, n / (2 * n + 1)),
    "Hermite": lambda n: (0.5 + 0 * n, 0 * n, n),
    "HermiteE": lambda n: (1.0 + 0 * n, 0 * n, n),
    "Laguerre": lambda n: (-(n + 1), 2 * n + 1, -n),
}
"""For each basis the factors ``up, stay, down`` by which ``x * P[n] = up * P[n+1] + stay * P[n] + down * P[n-1]``."""


def series_steps(basis: str, c: Any) -> Any:
    """What the variable makes of each function of a basis, for as many as `c` has coefficients: three rows of factors,
    for the next function, for the same and for the one before.

    >>> series_steps("HermiteE", np.ones(3))
    array([[1., 1., 1.],
           [0., 0., 0.],
           [0., 1., 2.]])
    """
    return np.array(_STEPS[basis](np.arange(len(c)) * 1.0)).astype(np.asarray(c).dtype)


_COMPANIONS: dict[str, Callable[[Any], Any]] = {
    "Polynomial": np.polynomial.polynomial.polycompanion,
    "Chebyshev": np.polynomial.chebyshev.chebcompanion,
    "Legendre": np.polynomial.legendre.legcompanion,
    "Hermite": np.polynomial.hermite.hermcompanion,
    "HermiteE": np.polynomial.hermite_e.hermecompanion,
    "Laguerre": np.polynomial.laguerre.lagcompanion,
}


def series_companion(basis: str, c: Any) -> Any:
    """The companion matrix of the function of a basis of the degree of `c`, and as a last column what the lower
    coefficients are multiplied with where they are taken from its last one."""
    count = len(c) - 1
    units = np.eye(count + 1)
    matrix = _COMPANIONS[basis](units[count])
    factors = [matrix[j, -1] - _COMPANIONS[basis](units[count] + units[j])[j, -1] for j in range(count)]
    return np.column_stack([matrix, factors]).astype(np.asarray(c).dtype)
