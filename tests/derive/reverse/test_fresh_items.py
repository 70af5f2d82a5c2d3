"""Whether a key is there is not asked of a dict that a comprehension over a range makes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tangentx.testing import check_grads

X = [0.5, -1.25, 2.0]


def squares(x):
    e = {k: x[k] ** 2 for k in range(3)}
    return sum(e[k] for k in e) + max(e.values())


def backwards(x):
    e = {k: x[k] * x[0] for k in range(2, -1, -1) if x[k] > -1.0}
    return sum(e.values()) * len(e)


def in_turn(x):
    total = 0.0
    for i in range(3):
        e = {k: x[k] * x[i] for k in range(i + 1)}
        e[0] = e[0] * 2.0
        if 1 in e:
            del e[1]
        total = total + sum(e.values())
    return total


def there_before(x):
    e = {1: x[0]}
    for k in range(3):
        e[k] = x[k] * x[k]
    return e[1] * e[0]


def written_twice(x):
    e = {}
    for k in range(3):
        if k > 0:
            e[k - 1] = x[k] * 2.0
        e[k] = x[k] * x[k]
    return e[0] * e[1] + e[2]


def equal_keys(x):
    e = {k % 2: x[k] * x[k] for k in range(3)}
    return e[0] * e[1]


def twice(x):
    e = {}
    for i in range(2):
        for k in range(3):
            e[k] = x[k] * x[i]
    return e[1] * e[0]


ASKED = (there_before, written_twice, equal_keys, twice)


@pytest.mark.share(1)
@pytest.mark.parametrize("f", [squares, backwards, in_turn, *ASKED])
def test_derivatives_are_right(f: Any) -> None:
    check_grads(f, (X,))
    pull = tx.vjp(f, X)[1]
    found = tx.grad(f)(X), pull(1.0), pull(1.0)
    with pipeline.proofs(off="present"):
        expected = tx.grad(f)(X)
    for each in found:
        np.testing.assert_allclose(np.ravel(each), expected, rtol=1e-14)


@pytest.mark.parametrize("f", [squares, backwards])
def test_nothing_is_asked_or_taken_away(f: Any) -> None:
    text = tx.grad(f).source_for(X)
    assert " in e" not in text.replace("for k in e", "") and "del " not in text
    with pipeline.proofs(off="present"):
        assert "append(k in" in tx.grad(f).source_for(X)


@pytest.mark.parametrize("f", ASKED)
def test_of_other_dicts_it_is(f: Any) -> None:
    assert "del " in tx.grad(f).source_for(X)
