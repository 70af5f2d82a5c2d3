"""Tuples that are only taken apart are gone before a function is differentiated, and no others."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tangentx.testing import check_grads

Pair = namedtuple("Pair", "first second")
x = np.array([0.3, 1.2, 0.7])


def parts(u):
    pair = (np.sin(u), np.cos(u))
    one, _ = pair
    return np.sum(one)


def named(u):
    pair = Pair(np.sin(u), np.cos(u))
    again = pair
    return np.sum(again.first * pair[-1])


def rebound(u):
    a = np.sin(u)
    pair = (a, u)
    a = 2.0 * a
    return np.sum(a * pair[0])


def in_a_loop(u):
    total = 0.0
    for i in range(2):
        pair = (u * i, np.sin(u))
        if i > 0:
            total = total + np.sum(pair[0] * pair[1])
    return total


def last_trip(u):
    pair = (u, u)
    for i in range(3):
        total = np.sum(pair[0] * pair[1])
        pair = (u * i, np.sin(u))
    return total


def kept(u):
    pair = (np.sin(u), np.cos(u))
    return np.sum(pair[0]) + np.sum(np.concatenate(pair))


def by_number(u, k):
    pair = (np.sin(u), np.cos(u))
    return np.sum(pair[k])


GONE = [parts, named, in_a_loop]
STAY = [rebound, last_trip, kept]


@pytest.mark.share(5)
@pytest.mark.parametrize("f", [*GONE, *STAY], ids=lambda f: f.__name__)
@pytest.mark.parametrize("off", [(), "unpacked", "all"])
def test_derivatives_are_right(f: Any, off: Any) -> None:
    with pipeline.proofs(off):
        check_grads(f, (x,), order=2)


def test_a_number_that_is_not_known_chooses() -> None:
    for k in (0, 1):
        check_grads(by_number, (x, k), wrt=0)


@pytest.mark.parametrize("f", [*GONE, *STAY], ids=lambda f: f.__name__)
def test_no_container_of_cotangents_is_made_where_a_tuple_is_taken_apart(f: Any) -> None:
    assert ("pair_bar = [" in tx.grad(f).source_for(x)) == (f in (last_trip, kept))


def test_an_item_that_nothing_reads_has_no_cotangent() -> None:
    assert "zeros" not in tx.grad(parts).source_for(x)
    with pipeline.proofs("unpacked"):
        assert "zeros" in tx.grad(parts).source_for(x)
