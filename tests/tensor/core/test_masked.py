"""Operands of NumPy's masked arrays, which look for attributes of their own in what they meet."""

import numpy as np
import pytest

import tangentx as tx

MASKED = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])


@pytest.mark.parametrize(
    "operated", [lambda t: MASKED * t, lambda t: MASKED + t, lambda t: t * MASKED, lambda t: np.ma.exp(t), MASKED.dot]
)
def test_a_masked_operand_loses_no_derivative(operated) -> None:
    t = tx.Tensor(np.array([1.0, 2.0, 3.0]), requires_grad=True)
    with pytest.raises(tx.NotDifferentiable):
        operated(t)


def test_in_a_function_that_is_differentiated() -> None:
    with pytest.raises((tx.NotDifferentiable, tx.NotResolved)):  # which, turns on what was compiled before
        tx.grad(lambda x: np.sum(MASKED * x))(np.array([1.0, 2.0, 3.0]))
