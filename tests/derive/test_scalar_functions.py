"""Rules in the words of the primal."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline


def by_math(x):
    return math.sin(x) * math.sqrt(x)


def by_numpy(x):
    return np.sin(x) * np.sqrt(x)


def test_what_is_written_with_math_has_a_derivative_in_math() -> None:
    text = tx.grad(by_math).source_for(1.0)
    assert "math.cos(x)" in text and "np." not in text
    assert "np.cos(x)" in tx.grad(by_numpy).source_for(1.0)
    assert tx.grad(by_math)(0.7) == pytest.approx(tx.grad(by_numpy)(0.7), rel=1e-14)
    assert type(tx.grad(tx.grad(by_math))(0.7)) is float


def quotient(x, y):
    return x / y


def test_a_quotient_of_numbers_is_plain() -> None:
    assert "ratio" not in (text := tx.grad(quotient, ("x", "y")).source_for(1.0, 2.0)) and "quotient(" not in text
    assert tx.grad(quotient, ("x", "y"))(1.0, 2.0) == (0.5, -0.25)
    with pytest.raises(ZeroDivisionError):
        tx.grad(quotient, ("x", "y"))(1.0, 0.0)


@pytest.mark.parametrize("off", [(), "all"])
@pytest.mark.parametrize("x, y", [(np.float64(1.0), 0.0), (1.0, np.float64(0.0)), (np.float64(1.0), np.float64(0.0))])
def test_a_scalar_of_numpy_never_raises(x, y, off) -> None:
    with warnings.catch_warnings(), pipeline.proofs(off=off):
        warnings.simplefilter("ignore")
        assert tx.grad(quotient, ("x", "y"))(x, y) == (np.inf, -np.inf)
        assert tx.jvp(quotient, (x, y), (1.0, None))[1] == np.inf


@pytest.mark.parametrize("off", [(), "all"])
def test_numpy_of_a_number_of_python_never_raises(off) -> None:
    def logarithm(x):
        return np.log(x)

    with warnings.catch_warnings(), pipeline.proofs(off=off):
        warnings.simplefilter("ignore")
        assert tx.grad(logarithm)(0.0) == np.inf


def test_the_root_of_zero_has_an_infinite_slope() -> None:
    assert tx.grad(lambda x: math.sqrt(x))(0.0) == np.inf
    assert tx.grad(lambda x: np.sum(np.sqrt(x)))(np.array([0.0, 4.0])).tolist() == [np.inf, 0.25]
