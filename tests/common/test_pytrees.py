"""Structures of leaves."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest

from tangentx.common import pytrees


class Point(NamedTuple):
    x: float
    y: object


@dataclass(frozen=True)
class Refusing:
    part: object
    made: list = field(init=False)

    def __post_init__(self):
        raise AssertionError("rebuild must not run this")


def refusing(part, made):
    new = object.__new__(Refusing)
    object.__setattr__(new, "part", part)
    object.__setattr__(new, "made", made)
    return new


def test_leaves_have_paths_that_select_them():
    tree = {"a": [1.0, (2.0,)], 3: Point(4.0, refusing(None, [5]))}
    found = dict(pytrees.leaves("t", tree))
    assert list(found) == ["t['a'][0]", "t['a'][1][0]", "t[3].x", "t[3].y.part", "t[3].y.made[0]"]
    assert all(eval(path, {"t": tree}) is leaf for path, leaf in found.items())


def test_leaves_side_by_side_with_none_for_a_part():
    found = list(pytrees.leaves("t", (1, [2, 3]), (4, None), (5, [6, 7])))
    assert [row[1:] for row in found] == [(1, 4, 5), (2, None, 6), (3, None, 7)]


@pytest.mark.parametrize("other", [(1,), [1, 2], (1, 2, 3), 1.0, {0: 1, 1: 2}])
def test_another_structure_is_refused(other):
    with pytest.raises(ValueError, match="t: "):
        list(pytrees.leaves("t", (1, 2), other))


def test_rebuild_keeps_the_classes_and_runs_no_constructor():
    tree = [Point(1, refusing(2, [3])), {"k": ()}]
    new = pytrees.rebuild(tree, lambda leaf: leaf * 10)
    assert type(new[0]) is Point and new[0].x == 10
    assert type(new[0].y) is Refusing and (new[0].y.part, new[0].y.made) == (20, [30])
    assert new[1] == {"k": ()} and tree[0].x == 1


@pytest.mark.parametrize(
    "leaf, expected",
    [(1.0, True), (1j, True), (np.float32(1), True), (np.ones(2, complex), True), (1, False), (True, False)]
    + [(np.ones(2, int), False), (np.ones(2, bool), False), ("1.0", False), (None, False), (float, False)],
)
def test_what_has_a_derivative(leaf, expected):
    assert pytrees.is_differentiable(leaf) is expected
