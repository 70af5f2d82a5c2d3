"""The short way back through an operation: right where cotangents meet, differ in form, or are not asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx


def leaf(data: Any, dtype: Any = float) -> Any:
    return tx.tensor(data, requires_grad=True, dtype=dtype)


def test_contributions_are_added_and_share_no_memory() -> None:
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    z = x * y
    (z + z + x).sum().backward()
    assert x.grad.tolist() == [7.0, 9.0] and y.grad.tolist() == [2.0, 4.0]
    u, v = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    (u + v).sum().backward()
    assert not np.shares_memory(u.grad.numpy(), v.grad.numpy())


def test_a_gradient_that_is_kept_elsewhere_is_copied() -> None:
    x, seed = leaf([1.0, 2.0]), np.array([1.0, 1.0])
    y = x + 0.0
    y.retain_grad()
    y.backward(seed)
    x.grad.add_(1.0)
    assert seed.tolist() == [1.0, 1.0] == y.grad.tolist()
    x = leaf([[1.0, 2.0]])
    np.transpose(x).backward(seed[:, None])
    x.grad.add_(1.0)
    assert seed.tolist() == [1.0, 1.0]


def test_cotangents_take_the_form_of_what_they_belong_to() -> None:
    x, y, n = leaf(np.ones((2, 3)), np.float32), leaf([1.0, 2.0, 3.0]), leaf(2.0)
    (x * y * n).sum().backward()
    assert x.grad.dtype == np.float32 and x.grad.shape == (2, 3)
    assert y.grad.tolist() == [4.0, 4.0, 4.0] and float(n.grad) == 12.0


def test_only_what_is_asked_for_is_passed() -> None:
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    z = x * y
    out = (z * x).sum()
    assert tx.autograd.grad(out, y, retain_graph=True)[0].tolist() == [1.0, 4.0]
    assert tx.autograd.grad(out, [z, x])[0].tolist() == [1.0, 2.0]
    assert x.grad is None and y.grad is None


@pytest.mark.parametrize("f", [lambda x: x + x, lambda x: x * x, np.exp], ids=("nothing kept", "operands", "result"))
def test_a_second_way_back_needs_the_values_again(f: Any) -> None:
    x = leaf([1.0, 2.0])
    y = f(x * 1.0).sum()
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(tx.NotDifferentiable, match="second time"):
        y.backward()


def test_a_zero_cotangent_is_not_made_nan_by_an_infinite_partial() -> None:
    x = leaf(np.zeros((40, 60)))
    with np.errstate(divide="ignore"):
        y = np.sqrt(x)
    np.where(x.detach().numpy() > 0, y, 0.0).sum().backward()
    assert not x.grad.numpy().any()
