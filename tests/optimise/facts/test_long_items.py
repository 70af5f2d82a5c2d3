"""Containers of arrays that are written: of which it is known that no array has an axis of length one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline


@dataclass
class Body:
    """A place and a speed."""

    q: Any
    v: Any


def moved(bodies, h):
    for b in bodies:
        b.q = b.q + h * b.v
    return np.sum(bodies[0].q * bodies[1].q)


def gathered(bodies, h):
    places = []
    for b in bodies:
        places.append(b.q * h)
    for k in range(len(places)):
        places[k] = places[k] + bodies[0].v * places[0]
    return np.sum(places[0] * places[1])


def shortened(bodies, h):
    for b in bodies:
        b.q = b.q[:1] * h
    return np.sum(bodies[0].q * bodies[1].v)


def summed(bodies, h):
    bodies[0].q = np.sum(bodies[0].q, keepdims=True) * h
    return np.sum(bodies[0].q * bodies[1].q)


def appended(bodies, h):
    places = [b.q for b in bodies]
    places.append(np.array([h]))
    return np.sum(places[-1] * places[0])


def in_a_slice(bodies, h):
    places = [b.q for b in bodies]
    places[:1] = [places[1][:1] * h]
    return np.sum(places[0] * places[1])


def put_by_a_helper(bodies, h):
    def put(body, x):
        body.q = body.q * x

    put(bodies[0], bodies[1].q)
    bodies[1].q = np.full(1, h)
    put(bodies[1], h)
    return np.sum(bodies[0].q * bodies[1].q)


FITTING: tuple[Callable[..., Any], ...] = (moved, gathered)
OTHERS: tuple[Callable[..., Any], ...] = (shortened, summed, appended, in_a_slice, put_by_a_helper)


def bodies(*lengths: int) -> list[Body]:
    """One body for each length, of its place; the speeds are as long."""
    rng = np.random.default_rng(0)
    return [Body(rng.normal(size=n), rng.normal(size=n)) for n in lengths]


@pytest.mark.parametrize("program", FITTING)
def test_nothing_is_summed_to_the_shape_that_it_has(program: Any) -> None:
    with pipeline.proofs(off="contents"):
        assert "unbroadcast(" in tx.grad(program).source_for(bodies(3, 3), 0.5)
    text = tx.grad(program).source_for(bodies(3, 3), 0.5)
    assert "unbroadcast(" not in text and "No axis of these arrays has length one" in text


@pytest.mark.parametrize("program", OTHERS)
def test_what_may_be_shorter_is_summed(program: Any) -> None:
    assert "unbroadcast(" in tx.grad(program).source_for(bodies(3, 3), 0.5)


@pytest.mark.parametrize("program", [*FITTING, *OTHERS])
def test_gradients_are_right_for_all_lengths(program: Any) -> None:
    gradient = tx.grad(program, wrt=(0, 1))
    for lengths in ((3, 3), (1, 1), (3, 3), (1, 3), (3, 1)):
        found, slope = gradient(bodies(*lengths), 0.5)
        with pipeline.proofs(off="all"):
            wanted, expected = tx.grad(program, wrt=(0, 1))(bodies(*lengths), 0.5)
        assert np.isclose(slope, expected)
        for one, other in zip(found, wanted, strict=True):
            assert one.q.shape == other.q.shape and np.allclose(one.q, other.q) and np.allclose(one.v, other.v)


def test_a_sum_of_what_a_callee_has_recorded_is_a_product() -> None:
    def forces(given):
        found = []
        for a in given:
            f = np.zeros(3)
            for b in given:
                d = b.q - a.q
                f += d / (1.0 + d @ d)
            found.append(f)
        return found

    def moved_by_forces(given, h):
        for b, f in zip(given, forces(given), strict=True):
            b.q = b.q + h * f
        return np.sum(given[0].q * given[1].q)

    text = tx.grad(moved_by_forces).source_for(bodies(3, 3), 0.5)
    backward = text[text.index("def forces_backward") :]
    assert " @ " in backward and "np.sum(" not in backward
