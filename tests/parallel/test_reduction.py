"""Sums over shards: the order is fixed, dtypes and structures stay."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

import tangentx as tx
from tangentx.parallel.functions import Tree, added, concatenated, divided, scaled


@dataclass
class Pair:
    a: object
    b: object


@pytest.mark.parametrize("count", range(1, 7))
def test_the_order_of_sums_does_not_depend_on_the_order_of_arrival(count):
    found = set()
    for order in itertools.permutations(range(count)):
        tree = Tree(count, lambda left, right: f"({left} {right})")
        for number in order:
            tree.put(number, str(number))
        assert len(tree._waiting) == 1
        found.add(tree.result)
    assert len(found) == 1


def test_the_tree_is_as_flat_as_can_be():
    tree = Tree(1000, lambda left, right: 1 + max(left, right))
    for number in range(1000):
        tree.put(number, 0)
    assert tree.result == 10


def test_structures_are_added_leaf_by_leaf():
    left = Pair({"w": np.ones(2, np.float32)}, [1.0, None, np.array(2.0), 1 + 2j])
    right = Pair({"w": np.full(2, 2.0, np.float32)}, [2.0, None, np.array(3.0), 1j])
    total = added(left, right)
    assert total.a["w"].tolist() == [3.0, 3.0] and total.a["w"].dtype == np.float32
    assert total.b[0] == 3.0 and total.b[1] is None and total.b[3] == 1 + 3j
    assert type(total.b[2]) is np.ndarray and total.b[2] == 5.0


def test_a_wider_dtype_wins():
    assert added(np.ones(2, np.float32), np.ones(2)).dtype == np.float64
    assert added(np.ones((), np.float32), np.ones(())).dtype == np.float64


def test_what_is_scaled_keeps_dtype_and_class():
    for change in (scaled, divided):
        for leaf in (np.ones((), np.float32), np.ones(2, np.float16), 2.0, np.float32(2.0), np.ones(2, complex)):
            found = change([leaf, None], 4)[0]
            assert type(found) is type(leaf)
            assert np.asarray(found).dtype == np.asarray(leaf).dtype


def test_rows_lie_below_each_other():
    rows = concatenated([{"w": np.ones((2, 3))}, {"w": np.zeros((1, 3))}], {"w": np.ones(3)})
    assert rows["w"].shape == (3, 3)
    with pytest.raises(tx.NotDifferentiable, match="structure of results"):
        concatenated([(np.ones((2, 3)), np.ones((2, 3)))], np.ones(3))
    with pytest.raises(tx.NotDifferentiable, match="result of shard 0 has no axis"):
        concatenated([np.ones(3)], np.ones(3))
