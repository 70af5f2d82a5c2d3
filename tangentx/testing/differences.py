"""Numerical differentiation: extrapolated central differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tangentx.common.silenced_warnings import quietly

SHRINK = 4.0


@dataclass(frozen=True)
class Precision:
    """What differences can do in a dtype: machine epsilon, tolerances, the largest and smallest useful steps."""

    machine: float
    rtol: float
    atol: float
    largest: float
    smallest: float
    complex_step: bool = False


# Steps are powers of two, so that adding one to a small number is exact.
DOUBLE = Precision(2.0**-52, 1e-6, 1e-8, 2.0**-7, 2.0**-17, complex_step=True)
SINGLE = Precision(2.0**-23, 5e-3, 1e-3, 2.0**-4, 2.0**-8)
HALF = Precision(2.0**-10, 5e-2, 2e-2, 2.0**-3, 2.0**-5)


def precision(*leaves: Any) -> Precision:
    """The precision of the coarsest of some real or complex numbers and arrays; float64's if there are none."""
    widths = [np.finfo(np.asarray(leaf).dtype).bits for leaf in leaves]
    narrowest = min(widths, default=64)
    return HALF if narrowest <= 16 else SINGLE if narrowest <= 32 else DOUBLE


def shown_precision(phi: Callable[[float], Any]) -> Precision:
    """The precision that a function of one number shows around 0, by how far nine values beside one another are from
    lying on a curve (fourth differences, over the root of the sum of their squared weights: Hamming's estimate).

    Steps are so short that a curve cannot bend as much, and for each precision so long that its steps are met.
    """
    for limits, step, noise in ((HALF, 2.0**-12, 1e-5), (SINGLE, 2.0**-20, 1e-10), (SINGLE, 2.0**-26, 1e-10)):
        try:
            values = np.array([phi(k * step) for k in range(-4, 5)])
        except (ArithmeticError, ValueError):
            continue
        with np.errstate(all="ignore"):
            far = np.sqrt(np.mean(np.abs(np.diff(values, 4, axis=0)) ** 2, axis=0) / 70.0)
            if np.any(far > noise * np.max(np.abs(values), axis=0)):
                return limits
    return DOUBLE


def extrapolated(phi: Callable[[float], Any], limits: Precision, largest: float | None = None) -> NDArray[Any]:
    """The derivative of `phi` at 0 by central differences of shrinking steps, extrapolated (Ridders).

    `phi` returns a number or an array; of the estimates in the table, the one that its neighbours confirm best is
    taken, element by element. Where `phi` raises an arithmetic or value error, as beyond a domain's edge, that step
    is left out; the result is nan where no two steps are left.
    """
    h = limits.largest if largest is None else largest
    levels = 2
    while h / SHRINK**levels >= limits.smallest:
        levels += 1
    best: Any = np.nan
    error: Any = np.inf
    older: list[Any] = []
    with np.errstate(all="ignore"):
        for _ in range(levels):
            row = [_central(phi, h)]
            factor = SHRINK**2
            for j, previous in enumerate(older):
                row.append((factor * row[j] - previous) / (factor - 1.0))
                factor *= SHRINK**2
                doubt = np.maximum(np.abs(row[j + 1] - row[j]), np.abs(row[j + 1] - previous))
                better = doubt < error
                best, error = np.where(better, row[j + 1], best), np.where(better, doubt, error)
            older = row
            h /= SHRINK
    return np.asarray(best)


def _central(phi: Callable[[float], Any], h: float) -> Any:
    try:
        ahead, behind = phi(h), phi(-h)
    except (ArithmeticError, ValueError):
        return np.nan
    wide = np.result_type(np.asarray(ahead).dtype, np.float64)
    return (np.asarray(ahead, wide) - np.asarray(behind, wide)) / (2.0 * h)


def complex_step(phi: Callable[[complex], Any], h: float = 1e-30) -> float | None:
    """The derivative of `phi` at 0 from its value at ``h * 1j``; None where it does not go through as complex."""
    try:
        value = quietly(lambda: phi(complex(0.0, h)))
    except Exception:  # whatever a program of real numbers may do with complex ones
        return None
    if not np.iscomplexobj(value) or np.shape(value) != ():
        return None
    found = float(np.imag(value)) / h
    return found if np.isfinite(found) else None
