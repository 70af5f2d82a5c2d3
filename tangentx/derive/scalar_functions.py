"""Scalar spelling: rules of scalar programs use `math` where the primal does."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from tangentx import arrays
from tangentx.analysis.types.kinds import Arr, Kind, Num
from tangentx.ir.nodes import Op

Dialect: TypeAlias = Mapping[Callable[..., Any], Callable[..., Any]]

_MATH: Dialect = {getattr(np, name): getattr(math, name) for name in ("sin", "cos", "sinh", "cosh", "sqrt")}
"""These raise for no argument for which the functions whose derivatives they are have not raised already."""
_SILENT: Dialect = {arrays.quotient: arrays.ratio}
_PYTHON = (bool, int, float, complex)


def dialect(op: Op, kinds: Iterable[Kind]) -> Dialect:
    """What the rule of `op`, applied to arguments of these kinds, uses in place of what it is written in.

    A `quotient` divides by what the primal divides by. Where that raises (Python's numbers), the primal has raised;
    but where NumPy has made its own scalar of Python's numbers it has not, and the quotient must not raise either.
    """
    found = list(kinds)
    python = [isinstance(k, Num) and k.type in _PYTHON for k in found]
    array = any(isinstance(k, Arr) and k.sure and k.rank for k in found)
    plain = array or not any(python) or (all(python) and not isinstance(op.fn, np.ufunc))
    swaps = {} if plain else dict(_SILENT)
    if getattr(math, getattr(op.fn, "__name__", ""), None) is op.fn:
        swaps.update(_MATH)
    return swaps
