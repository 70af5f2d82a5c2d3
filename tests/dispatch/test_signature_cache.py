"""The quick way to what was compiled."""

from __future__ import annotations

import numpy as np
import pytest

import tangentx as tx
from tangentx.common.axes import Taken
from tangentx.compile import pipeline
from tangentx.dispatch.entries import LIMIT_KINDS, Hits, compilations

RATE = 2.0


def kept(*values):
    hits = Hits()
    hits.keep("here", values, Taken(), "found")
    return hits


@pytest.mark.parametrize(
    "values, others",
    [
        ((1.0, 2), (3.0, 4)),
        ((np.ones(2), 1.0), (np.zeros(5), 7.0)),
        ((np.float32(1), 1j), (np.float32(2), 2j)),
        ((), ()),
    ],
)
def test_numbers_and_shapes_do_not_count(values, others) -> None:
    assert kept(*values).find("here", others) == "found"


@pytest.mark.parametrize(
    "values, others",
    [
        ((1.0,), (1,)),
        ((1,), (True,)),
        ((1.0,), (np.float64(1.0),)),
        ((np.ones(2),), (np.ones(2, "f4"),)),
        ((np.ones(2),), (np.ones((2, 2)),)),
        ((np.ones(2), 1.0), (1.0, np.ones(2))),
        ((1.0,), (1.0, 1.0)),
        ((True,), (True,)),
        (("a",), ("a",)),
        (([1.0],), ([1.0],)),
        ((None,), (None,)),
        ((np.ma.ones(2),), (np.ma.ones(2),)),
    ],
)
def test_kinds_do_and_only_flat_arguments_are_kept(values, others) -> None:
    assert kept(*values).find("here", others) is None


def test_the_context_counts_and_all_can_be_forgotten() -> None:
    hits = kept(1.0)
    assert hits.find("there", (1.0,)) is None
    hits.clear()
    assert hits.find("here", (1.0,)) is None


def scaled(x, n=2):
    return RATE * x**n


def test_a_hit_is_one_of_the_same_proofs_arguments_and_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = tx.grad(scaled)
    assert gradient(3.0, 2) == 12.0
    before = compilations()
    assert gradient(4.0, 3) == 96.0 and compilations() == before
    with pipeline.proofs(off="all"):
        assert gradient(3.0, 2) == 12.0 and compilations() == before + 1
    assert gradient(3.0) == 12.0
    assert gradient(x=3.0, n=2) == 12.0
    with pytest.raises(TypeError, match="missing a required argument"):
        gradient()
    with pytest.raises(TypeError, match="too many"):
        gradient(3.0, 2, 1)
    monkeypatch.setattr(scaled, "__code__", (lambda x, n=2: x * n).__code__)
    assert gradient(3.0, 2) == 2.0


def test_what_is_dropped_is_no_hit() -> None:
    gradient = tx.grad(lambda x, *rest: x * x)
    gradient._cache.limit = 1
    assert gradient(3.0) == 6.0
    assert gradient(np.float64(3.0)) == 6.0
    before = compilations()
    assert type(gradient(3.0)) is float and compilations() == before + 1
    assert LIMIT_KINDS > 1


def test_results_of_hits_share_no_memory() -> None:
    gradient = tx.grad(lambda a, b: np.sum(a + b), ("a", "b"))
    a, b = np.ones(3), np.zeros(3)
    for _ in range(3):
        first, second = gradient(a, b)
        assert not np.shares_memory(first, second)
        first[0] = 7.0
        assert np.array_equal(second, np.ones(3)) and np.array_equal(a, np.ones(3))
