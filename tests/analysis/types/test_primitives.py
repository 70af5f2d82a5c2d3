"""Which functions are operations."""

from __future__ import annotations

import math
import operator

import numpy as np
import pytest

import tangentx as tx
from tangentx import arrays
from tangentx.analysis.types.primitives import has_effect, is_primitive
from tangentx.compile.pipeline import proofs
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
    assert has_effect(Op(arrays.demand_own, ()))
    assert not has_effect(Op(arrays.zero, ()))
    assert not has_effect(Op([].append, ()))


@pytest.mark.parametrize("off", [(), "all"])
@pytest.mark.parametrize("fn", [np.sign, np.angle, np.imag])
def test_what_turns_complex_numbers_is_constant_for_reals(fn, off) -> None:
    def f(u):
        s = fn(u)
        s = s + 0.0
        s[1] = u[1]
        return np.sum(s * (u + 1.0))

    u = np.array([0.0, 2.0, -3.0])
    wanted = fn(u) + 0.0
    wanted[1] = 2 * u[1] + 1.0
    with proofs(off):
        assert tx.grad(f, fallback="error")(u).tolist() == wanted.tolist()
        assert tx.jvp(f, (u,), (np.ones(3),), fallback="error")[1] == pytest.approx(wanted.sum())
        twice = tx.grad(lambda u: np.sum(tx.grad(f)(u) * u), fallback="error")
        assert twice(u) == pytest.approx(wanted + np.array([0.0, 2 * u[1], 0.0]))
