"""What the fallback writes around the statements of a program."""

from __future__ import annotations

import numpy as np
import pytest

import tangentx as tx


def swapped_in_a_case(x, n):
    eval("0")  # so that it runs on Tensors
    match n:
        case 0:
            pass
        case _:
            x[0], x[n] = x[n], 3.0 * x[0]
    return x[0] * x[0] + x[1]


def test_several_stores_in_a_case_of_match() -> None:
    """One statement is written as several there, too."""
    with pytest.warns(tx.FallbackWarning):
        np.testing.assert_allclose(tx.grad(swapped_in_a_case)(np.array([2.0, 5.0]), 1), [3.0, 10.0])
