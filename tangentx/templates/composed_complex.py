"""Functions of `cmath`, in terms of NumPy's: the same branches, and what Python raises where NumPy gives infinity."""

from __future__ import annotations

import cmath
from typing import Any

import numpy as np

from tangentx.templates.compositions import composition


def _in_range(z: Any, found: Any) -> Any:
    """The number as Python has it. Raises OverflowError as Python does."""
    if np.isfinite(z) and not np.isfinite(found):
        raise OverflowError("math range error")
    return complex(found)


def _in_domain(z: Any, found: Any) -> Any:
    """The number as Python has it. Raises ValueError as Python does."""
    if np.isfinite(z) and not np.isfinite(found):
        raise ValueError("math domain error")
    return complex(found)


@composition(cmath.exp, domain=("x", "1.0+2.0j"), containers=True)
def exp(z: Any) -> Any:
    """Exponential function."""
    return _in_range(z, np.exp(z + 0j))


@composition(cmath.log, domain=("x", "1.0+2.0j", "1.0+2.0j, 2.0"), containers=True)
def log(z: Any, base: Any = None) -> Any:
    """Logarithm, natural or to a base."""
    found = _in_domain(z, np.log(z + 0j))
    return found if base is None else found / _in_domain(base, np.log(base + 0j))


@composition(cmath.log10, domain=("x", "1.0+2.0j"), containers=True)
def log10(z: Any) -> Any:
    """Logarithm to the base 10."""
    return _in_domain(z, np.log10(z + 0j))


@composition(cmath.sqrt, domain=("x", "1.0+2.0j"), containers=True)
def sqrt(z: Any) -> Any:
    """Square root."""
    return _in_range(z, np.sqrt(z + 0j))


@composition(cmath.sin, domain=("x", "1.0+2.0j"), containers=True)
def sin(z: Any) -> Any:
    """Sine."""
    return _in_range(z, np.sin(z + 0j))


@composition(cmath.cos, domain=("x", "1.0+2.0j"), containers=True)
def cos(z: Any) -> Any:
    """Cosine."""
    return _in_range(z, np.cos(z + 0j))


@composition(cmath.tan, domain=("x", "1.0+2.0j"), containers=True)
def tan(z: Any) -> Any:
    """Tangent."""
    return _in_range(z, np.tan(z + 0j))


@composition(cmath.sinh, domain=("x", "1.0+2.0j"), containers=True)
def sinh(z: Any) -> Any:
    """Hyperbolic sine."""
    return _in_range(z, np.sinh(z + 0j))


@composition(cmath.cosh, domain=("x", "1.0+2.0j"), containers=True)
def cosh(z: Any) -> Any:
    """Hyperbolic cosine."""
    return _in_range(z, np.cosh(z + 0j))


@composition(cmath.tanh, domain=("x", "1.0+2.0j"), containers=True)
def tanh(z: Any) -> Any:
    """Hyperbolic tangent."""
    return _in_range(z, np.tanh(z + 0j))


@composition(cmath.asin, domain=("x", "1.0+2.0j"), containers=True)
def arcsin(z: Any) -> Any:
    """Inverse sine."""
    return _in_range(z, np.arcsin(z + 0j))


@composition(cmath.acos, domain=("x", "1.0+2.0j"), containers=True)
def arccos(z: Any) -> Any:
    """Inverse cosine."""
    return _in_range(z, np.arccos(z + 0j))


@composition(cmath.atan, domain=("x", "1.0+2.0j"), containers=True)
def arctan(z: Any) -> Any:
    """Inverse tangent."""
    return _in_domain(z, np.arctan(z + 0j))


@composition(cmath.asinh, domain=("x", "1.0+2.0j"), containers=True)
def arcsinh(z: Any) -> Any:
    """Inverse hyperbolic sine."""
    return _in_range(z, np.arcsinh(z + 0j))


@composition(cmath.acosh, domain=("x", "1.0+2.0j"), containers=True)
def arccosh(z: Any) -> Any:
    """Inverse hyperbolic cosine."""
    return _in_range(z, np.arccosh(z + 0j))


@composition(cmath.atanh, domain=("x", "1.0+2.0j"), containers=True)
def arctanh(z: Any) -> Any:
    """Inverse hyperbolic tangent."""
    return _in_domain(z, np.arctanh(z + 0j))
