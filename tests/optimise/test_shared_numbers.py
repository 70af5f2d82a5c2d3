"""Numbers that all products of one array are multiplied with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tests.optimise.support import differences

DRAW = np.random.default_rng(23)


def burgers(u, c, steps):
    for _ in range(steps):
        u[1:-1] -= c * u[1:-1] * (u[2:] - u[:-2])
    return np.sum(u * u)


def growing(u, c, steps):
    for _ in range(steps):
        u[1:-1] += c * u[1:-1] * (u[2:] - u[:-2])
    return np.sum(u * u)


def changing(u, c, steps):
    for _ in range(steps):
        u[1:-1] -= c * u[1:-1] * (u[2:] - u[:-2])
        c = 2.0 * c
    return np.sum(u * u)


@pytest.mark.parametrize(("f", "number"), [(burgers, "-c"), (growing, "c")])
def test_a_number_is_multiplied_once(f: Callable[..., Any], number: str) -> None:
    text = tx.grad(f).source_for(DRAW.normal(size=9), 0.1, 3)
    reverse = text[text.index("reverse sweep") :]
    assert reverse.count(f"= {number} * u_bar[1:-1]\n") == 1
    assert reverse.count("c * ") == 2  # the statement's own line is shown, too


def test_a_number_that_changes_is_multiplied_where_it_stands() -> None:
    text = tx.grad(changing).source_for(DRAW.normal(size=9), 0.1, 3)
    reverse = text[text.index("reverse sweep") :]
    assert "* u_bar[1:-1]\n" not in reverse.replace("c * u[1:-1] * u_bar[1:-1]\n", "")


def test_without_the_proof_it_is_multiplied_twice() -> None:
    with pipeline.proofs(off=("numbers",)):
        text = tx.grad(burgers).source_for(DRAW.normal(size=9), 0.1, 3)
    assert "c * u_bar" not in text


@pytest.mark.parametrize("f", [burgers, growing, changing])
def test_gradients_with_a_number_taken_out(f: Callable[..., Any]) -> None:
    u = DRAW.normal(size=9)
    got = tx.grad(f)(u, 0.1, 3)
    assert np.allclose(got, differences(lambda a: f(a.copy(), 0.1, 3), (u,)), rtol=1e-5, atol=1e-7)
