"""Axes of length one: what they are, and that a derivative is compiled anew only where they matter."""

from __future__ import annotations

import numpy as np
import pytest

import tangentx as tx
from tangentx.axes import Axes, axes_of, single_axes
from tangentx.derivative import compilations


def weighted(a, b):
    return np.sum(a * b * b)


def alone(a, s):
    return np.sum(a * a) * s


def test_axes_of_length_one() -> None:
    assert single_axes((1, 3, 1)) == (0, 2)
    assert single_axes((0, 3)) == ()
    assert axes_of((np.ones((1, 2)), 1.0, np.ones(()))) == ((0,), None, ())


def test_they_matter_where_there_are_arrays() -> None:
    numbers, arrays = Axes((None, None)), Axes((None, (0,)))
    numbers.rely()
    arrays.rely()
    assert not numbers.relied
    assert arrays.relied
    assert "only axis 0 of `b` has" in arrays.sentence(["a", "b"])
    assert "No axis" in Axes(((),)).sentence(["a"])


@pytest.mark.parametrize(
    "shapes", [((3,), (3,)), ((3,), (1,)), ((1,), (3,)), ((2, 3), (3,)), ((2, 3), (1,)), ((0,), (1,))]
)
def test_each_gradient_has_the_shape_of_its_argument(shapes) -> None:
    gradient = tx.grad(weighted, wrt=("a", "b"))
    a, b = (np.full(shape, 2.0) for shape in shapes)
    for _ in range(2):
        gradient(np.ones(3), np.ones(3))
        for found, partial, like in zip(gradient(a, b), (b * b, 2.0 * a * b), (a, b), strict=True):
            both = np.broadcast_to(partial, np.broadcast_shapes(*shapes))
            lead = tuple(range(both.ndim - like.ndim))
            kept = np.sum(both, axis=lead)
            kept = np.sum(kept, axis=tuple(i for i, n in enumerate(like.shape) if n == 1), keepdims=True)
            np.testing.assert_allclose(found, kept)
            assert found.shape == like.shape


def test_a_derivative_is_compiled_anew_where_they_matter_alone() -> None:
    before = compilations()
    gradient = tx.grad(weighted)
    for n in (5, 4, 1, 7, 1):
        gradient(np.ones(n), np.ones(4 if n == 1 else n))
    assert compilations() == before + 2
    other = tx.grad(alone)
    for n in (1, 5):
        other(np.ones(n), 2.0)
    assert compilations() == before + 3


def test_the_text_says_what_it_takes_for_granted() -> None:
    gradient = tx.grad(weighted)
    assert "No axis of these arrays has length one" in gradient.source_for(np.ones(3), np.ones(3))
    assert "only axis 0 of `b` has length one" in gradient.source_for(np.ones(3), np.ones(1))
    assert "length one" not in tx.grad(alone).source_for(np.ones(3), 1.0)
