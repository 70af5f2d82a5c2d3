"""Which functions are operations."""

from __future__ import annotations

import math
import operator

import numpy as np
import pytest

from tangentx import arrays
from tangentx.analysis.primitives import has_effect, is_primitive
from tangentx.ir.nodes import Op


@pytest.mark.parametrize(
    "fn", [np.sin, operator.add, math.exp, len, np.ndarray.sum, np.interp, np.float32, arrays.zero]
)
def test_operations(fn) -> None:
    assert is_primitive(fn)


@pytest.mark.parametrize("fn", [np.copyto, np.ndarray.sort, operator.iadd, np.random.rand, print, lambda x: x])
def test_what_writes_or_changes_its_answer_is_none(fn) -> None:
    assert not is_primitive(fn)


def test_one_operation_is_run_for_what_it_does() -> None:
    assert has_effect(Op(arrays.write_back, ()))
    assert not has_effect(Op(arrays.zero, ()))
    assert not has_effect(Op([].append, ()))
