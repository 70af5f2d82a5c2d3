"""Writes through a view go straight to the array, unless a name in the view is bound anew before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.ir.nodes import Store
from tangentx.optimise import view_store_forwarding
from tests.optimise.support import WAYS, differences, every, gradient, unit_of

U = np.array([[0.3, 0.7, 1.1], [0.4, 0.9, 0.2], [0.8, 0.5, 0.6]])


def stencil(u, c):
    for n in range(2):
        u[1:-1, 1:-1] += c * (u[2:, 1:-1] * u[:-2, 1:-1])
    return np.sum(u * u)


def first_of_two(u, c):
    v = u[0]
    w = u[1]
    v[...] = c * w
    w[...] = v * v
    return np.sum(u)


def key_bound_anew(u, c):
    k = 0
    v = u[k]
    k = 1
    v[...] = c * u[k] * k
    return np.sum(u * u)


def moving(u, c):
    k = 0
    for n in range(2):
        v = u[k]
        k = k + 1
        v[...] = c * u[k]
    return np.sum(u * u)


def base_bound_anew(u, c):
    v = u[0]
    u = c * u
    v[...] = 3.0
    return np.sum(u) + v[1]


def written_twice(u, c):
    v = u[0]
    v[...] = c * u[1]
    v[...] = v * u[2]
    return np.sum(u * u)


def from_a_list(u, c):
    rows = [1.0 * u[0], u[1]]
    v = rows[0]
    rows[0] = c * u[2]
    v[...] = rows[1] * c
    return np.sum(rows[0] * v)


ALL = (stencil, first_of_two, key_bound_anew, moving, base_bound_anew, written_twice, from_a_list)


def test_a_stencil_adds_to_slices() -> None:
    text = tx.grad(stencil).source_for(U, 0.5)
    reverse = text[text.index("reverse sweep") :]
    assert "u_bar[2:, 1:-1] += " in reverse and "u_bar[:-2, 1:-1] += " in reverse
    assert "[...]" not in reverse


@pytest.mark.parametrize("f", [moving, base_bound_anew, written_twice, from_a_list], ids=lambda f: f.__name__)
def test_a_view_of_what_changes_or_that_others_read_stays(f: Any) -> None:
    program, unit = unit_of(f, U, 0.5)
    assert not view_store_forwarding.run(program, [unit])


def test_a_view_for_one_write_goes() -> None:
    def f(u, c):
        v = u[1:, 0]
        u[0] = c * u[1]
        v[...] = c

    program, unit = unit_of(f, U, 0.5)
    assert view_store_forwarding.run(program, [unit])
    stores = [s for s in every(unit) if isinstance(s, Store)]
    assert [len(s.key.parts) for s in stores] == [1, 2] and not view_store_forwarding.run(program, [unit])


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_all_ways_agree(f: Any) -> None:
    wanted = differences(lambda u, c: f(u.copy(), c), (U, 0.5))
    for off in (*WAYS[:2], "direct", "stores", "clones"):
        np.testing.assert_allclose(gradient(f, (U.copy(), 0.5), off), wanted, rtol=1e-6, atol=1e-8)
