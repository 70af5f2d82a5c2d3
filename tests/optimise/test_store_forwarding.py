"""Zeros and what is added to them are stored at once, unless something looks in between."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tests.optimise.support import WAYS, differences, gradient

U = np.array([0.3, 0.7, 1.1, 0.4])


def smooth(u, c):
    for i in range(1, len(u) - 1):
        u[i] = u[i] + c * (u[i - 1] - 2.0 * u[i] + u[i + 1])
    return np.sum(u * u)


def scaled(u, c):
    for i in range(1, len(u)):
        u[i] = c * u[i] * u[i - 1]
    return np.sum(u)


def through_itself(u, c):
    for i in range(1, len(u)):
        u[i] = c * u[i - 1]
        u[i - 1] = u[i] * u[i]
    return np.sum(u)


def repeated(u, c):
    rows = np.array([1, 1, 2])
    u[rows] = c * u[rows]
    return np.sum(u * u)


def negative_index(u, c):
    k = len(u)
    u[k - 1] = u[-1] * c + u[k - 2]
    return np.sum(u * u)


def slices(u, c):
    u[1:] = c * u[:-1] + u[1:]
    u[:2] = u[:2] * u[1:3]
    return np.sum(u)


def read_whole(u, c):
    v = u.reshape(2, 2)
    v[0] = c * v[1] + v[0]
    return np.sum(u * u)


ALL = (smooth, scaled, through_itself, repeated, negative_index, slices, read_whole)


def reverse(f: Any) -> str:
    text = tx.grad(f).source_for(U, 0.5)
    return text[text.index("reverse sweep") :]


def test_what_is_taken_and_given_back_stays() -> None:
    assert "u_bar[i] = 0.0" not in reverse(smooth)
    assert "u_bar[i] +=" not in reverse(smooth)


def test_the_first_contribution_is_stored() -> None:
    assert "u_bar[i] = 0.0" not in reverse(scaled)
    assert "u_bar[i] = " in reverse(scaled)


def test_the_first_contribution_to_a_new_shadow_is_the_shadow() -> None:
    assert "zeros_like" not in reverse(smooth)


def test_an_array_of_indices_may_repeat() -> None:
    assert "= 0.0" in reverse(repeated)


@pytest.mark.share(2)
@pytest.mark.parametrize("off", WAYS)
@pytest.mark.parametrize("f", ALL)
def test_gradients_agree_with_differences(f: Any, off: Any) -> None:
    found = gradient(f, (U.copy(), 0.5), off)
    assert np.allclose(found, differences(lambda u, c: f(u.copy(), c), (U, 0.5)), rtol=1e-6)


def flat(a):
    a[0, 1] = 0.5 * a[0, 1]
    return a.reshape(-1)


def of_a_reversed_view(A, c):
    v = flat(A[:, ::-1])
    v[0] = c * v[1]
    return np.sum(v * v) + np.sum(A * A)


@pytest.mark.parametrize("off", WAYS)
@pytest.mark.parametrize("A", [np.array([[0.3, 0.7], [1.1, 0.4]]), np.array([[0.3, 0.7], [1.1, 0.4]])[:, ::-1]])
def test_a_shadow_has_the_strides_that_views_in_callees_ask_for(A: Any, off: Any) -> None:
    found = gradient(of_a_reversed_view, (A, 0.5), off)

    def primal(values: Any, c: float) -> Any:
        moved = A.copy(order="K") if A.strides[1] > 0 else A.base.copy()[:, ::-1]
        moved[...] = values
        return of_a_reversed_view(moved, c)

    assert np.allclose(found, differences(primal, (np.array(A), 0.5)), rtol=1e-6)
