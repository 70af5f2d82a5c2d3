"""Gradients within limits."""

import numpy as np
import pytest

import tangentx as tx
from tangentx.errors import NotDifferentiable
from tangentx.optim import clip_grad_norm_, clip_grad_value_


def two(a, b):
    tensors = [tx.tensor(np.zeros(np.shape(g)), requires_grad=True) for g in (a, b)]
    for t, g in zip(tensors, (a, b)):
        t.grad = g
    return tensors


def test_the_joint_norm():
    tensors = two([3.0], [[4.0]])
    assert clip_grad_norm_([*tensors, tx.tensor(1.0, requires_grad=True)], max_norm=1.0) == 5.0
    np.testing.assert_allclose([tensors[0].grad.current[0], tensors[1].grad.current[0, 0]], [0.6, 0.8], rtol=1e-6)
    assert clip_grad_norm_(tensors, 10.0) == pytest.approx(1.0, rel=1e-6)
    np.testing.assert_allclose(tensors[0].grad.current, 0.6, rtol=1e-6)  # what is small enough is left as it is


def test_another_norm():
    tensors = two([3.0, -8.0], [4.0])
    assert clip_grad_norm_(tensors, 2.0, norm_type=float("inf")) == 8.0
    np.testing.assert_allclose(tensors[0].grad.current, [0.75, -2.0], rtol=1e-6)
    assert clip_grad_norm_(two([3.0, -8.0], [4.0]), 1.0, norm_type=1) == 15.0


def test_what_is_not_finite():
    with pytest.raises(NotDifferentiable, match="nan"):
        clip_grad_norm_(two([np.nan], [1.0]), 1.0, error_if_nonfinite=True)
    tensors = two([np.nan], [1.0])
    clip_grad_norm_(tensors, 1.0)
    assert np.isnan(tensors[1].grad.current[0])


def test_values():
    tensors = two([3.0, -0.2], [-4.0])
    clip_grad_value_(tensors, 0.5)
    assert tensors[0].grad.tolist() == [0.5, -0.2] and tensors[1].grad.tolist() == [-0.5]
    clip_grad_value_(tensors[0], 0.1)
    assert tensors[0].grad.tolist() == [0.1, -0.1]
