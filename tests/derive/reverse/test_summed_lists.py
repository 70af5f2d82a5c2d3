"""Lists that are filled and added up have no cotangents of their own, unless something else reads them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tangentx.derive.reverse import lists
from tangentx.testing import check_grads
from tests.test_scale import defined

X = [0.5, -1.25, 2.0]
ROWS = [np.array([1.0, 2.0]), np.array([0.5, -1.0])]


def squares(x):
    return sum(v * v for v in x) * x[0]


def named(x):
    e = [np.exp(v) for v in x]
    return sum(e) / len(e)


def several(x):
    e = []
    for v in x:
        e.append(v * x[0])
        if v > 0.0:
            e.append(v * v)
    return sum(e, 1.5)


def in_turn(x):
    total = 0.0
    for i in range(3):
        total = total * 0.5 + sum(x[j] * x[i] for j in range(i)) * x[i]
    return total


def of_rows(rows):
    return np.sum(sum([a * a for a in rows]) * rows[0])


def exact(x):
    return math.fsum(v * x[1] for v in x)


def read_elsewhere(x):
    e = [v * v for v in x]
    return sum(e) * e[0]


def filled_on(x):
    e = [v * v for v in x]
    total = sum(e)
    e.append(total)
    return total * e[-1]


def left_early(x):
    e = []
    for v in x:
        if v < -1.0:
            return v * x[0]
        e.append(v * v)
    return sum(e)


def written_later(rows):
    e = []
    for a in rows:
        b = a * 2.0
        e.append(b)
        b[0] = b[1] * 3.0
    return np.sum(sum(e) * rows[0])


def two_names(x):
    e = [v * v for v in x]
    f = e
    f.append(x[0] * 3.0)
    return sum(e)


SHORT = (squares, named, several, in_turn, of_rows, exact)
LONG = (read_elsewhere, filled_on, left_early, written_later, two_names)


@pytest.mark.share(1)
@pytest.mark.parametrize("f", [*SHORT, *LONG])
def test_derivatives_are_right(f: Any) -> None:
    arg = ROWS if f in (of_rows, written_later) else X
    check_grads(f, (arg,))
    pull = tx.vjp(f, arg)[1]
    found = tx.grad(f)(arg), pull(1.0), pull(1.0)
    np.testing.assert_equal(found[1], found[2])
    with pipeline.proofs(off="operands"):
        expected = tx.grad(f)(arg), tx.vjp(f, arg)[1](1.0)
    for mine, theirs in zip(found, expected, strict=False):
        np.testing.assert_allclose(np.array(mine), np.array(theirs), rtol=1e-14)


@pytest.mark.parametrize("f", SHORT)
def test_no_list_of_cotangents_is_made(f: Any) -> None:
    arg = ROWS if f is of_rows else X
    assert "repeated" not in tx.grad(f).source_for(arg)
    with pipeline.proofs(off="operands"):
        assert "repeated" in tx.grad(f).source_for(arg)


@pytest.mark.parametrize("f", [read_elsewhere, filled_on, left_early, written_later])
def test_others_keep_their_lists(f: Any) -> None:
    assert "repeated" in tx.grad(f).source_for(ROWS if f is written_later else X)


def test_nothing_is_left_of_an_empty_list() -> None:
    assert tx.grad(several)([]) == [] and tx.value_and_grad(several)([1.0]) == (3.5, [4.0])


def test_lists_with_another_use_are_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each was followed to the end of its block, from the first statement on for every further one: cubic time."""
    looked: list[int] = []
    follow = lists._is_rerun
    monkeypatch.setattr(lists, "_is_rerun", lambda s: looked.append(1) or follow(s))

    def looks(count: int) -> int:
        lines = [f"    r = [v * 0.5 + {i}.0 * x for v in r]" for i in range(count)]
        text = "\n".join(["def f(x):", "    r = [x, x * x]", *lines, "    return sum(r)"])
        looked.clear()
        assert tx.grad(defined(f"{count} lists", text + "\n"), fallback="error")(0.3) > 0.0
        return len(looked)

    assert looks(4) == looks(16) > 0
