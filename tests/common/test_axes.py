"""Axes of length one: what they are, and that a derivative is compiled anew only where they matter."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import NamedTuple

import numpy as np
import pytest

import tangentx as tx
from tangentx.common.axes import Axes, axes_of, single_axes
from tangentx.dispatch.entries import compilations


class Layer(NamedTuple):
    W: np.ndarray
    b: np.ndarray


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


def test_a_container_has_none_where_no_array_in_it_has() -> None:
    one, two = np.ones((1, 2)), np.ones(2)
    assert axes_of(([two, (two, 1.0)], {"a": two}, [one], {"a": [two, one]}, [], [1.0], (two,))) == (
        *((), ()),
        *(None, None, None, None),
        (),
    )


def test_what_cannot_be_looked_into_is_not_taken_to_have_none() -> None:
    one, two = np.ones((1, 2)), np.ones(2)
    assert axes_of(({"a": Layer(two, two), "b": two}, {"a": Layer(two, one), "b": two})) == (None, None)
    assert axes_of(([two, OrderedDict(a=two)], [two, deque([two])], [two, two.view(np.ma.MaskedArray)])) == (None,) * 3


def layer(params, x):
    W, b = params["W"], params["b"]
    return np.sum(np.tanh(x @ W + b) ** 2)


def layers(params, x):
    for W, b in params:
        x = np.tanh(x @ W + b)
    return np.sum(x**2)


def cut(params, x):
    params["b"] = params["b"][:1]
    return np.sum((x @ params["W"] + params["b"]) ** 2)


def grown(params, x):
    params.append((params[0][0], x[0, :1]))
    return np.sum((x @ params[-1][0] + params[-1][1]) ** 2)


def moved(params, like, value):
    """The container with one number of the array at a place of it moved."""
    if isinstance(params, np.ndarray):
        return params + value * like
    if isinstance(params, dict):
        return {key: moved(item, like[key], value) for key, item in params.items()}
    items = [moved(item, t, value) for item, t in zip(params, like, strict=True)]
    return Layer(*items) if isinstance(params, Layer) else type(params)(items)


def leaves(x):
    return (
        [x]
        if isinstance(x, np.ndarray)
        else [leaf for v in (x.values() if isinstance(x, dict) else x) for leaf in leaves(v)]
    )


def slope(f, params, direction, x, h=1e-6):
    return (f(moved(params, direction, h), x) - f(moved(params, direction, -h), x)) / (2.0 * h)


def within(params, x):
    W, b = params["layer"]
    return np.sum(np.tanh(x @ W + b) * params["scale"])


@pytest.mark.parametrize("form", [Layer, lambda W, b: [W, b], lambda W, b: (W, b)], ids=["named", "list", "tuple"])
def test_arrays_in_a_container_in_a_dict_are_broadcast_as_they_are(form) -> None:
    gradient = tx.grad(within, fallback="error")
    rng = np.random.default_rng(2)
    x = rng.standard_normal((5, 3))
    for w, b in SHAPES[:4]:
        made = [{"layer": form(*map(rng.standard_normal, (w, b))), "scale": rng.standard_normal(4)} for _ in range(2)]
        found = gradient(made[0], x)
        assert [np.shape(leaf) for leaf in leaves(found)] == [w, b, (4,)]
        along = sum(np.sum(p * q) for p, q in zip(leaves(found), leaves(made[1]), strict=True))
        assert along == pytest.approx(slope(within, *made, x), rel=1e-6)


SHAPES = [
    ((3, 4), (4,)),
    ((3, 4), (1,)),
    ((3, 1), (4,)),
    ((3, 1), (1,)),
    ((3, 4), (1, 4)),
    ((3, 4), (5, 4)),
    ((3, 4), (4,)),
]


@pytest.mark.parametrize(
    ("f", "form"),
    [(layer, dict), (layers, list), (layers, tuple), (cut, dict), (grown, list)],
    ids=lambda x: x.__name__,
)
def test_arrays_in_containers_are_broadcast_as_they_are(f, form) -> None:
    gradient = tx.grad(f, fallback="error")
    rng = np.random.default_rng(1)
    x = rng.standard_normal((5, 3))
    for shapes in SHAPES:
        W, b, s, t = (rng.standard_normal(shape) for shape in (*shapes, *shapes))
        params, direction = ({"W": w, "b": v} if form is dict else form([(w, v)]) for w, v in ((W, b), (s, t)))
        found = gradient(params, x)
        assert [leaf.shape for leaf in leaves(found)] == [leaf.shape for leaf in leaves(params)]
        along = sum(np.sum(p * q) for p, q in zip(leaves(found), leaves(direction), strict=True))
        assert along == pytest.approx(slope(f, params, direction, x), rel=1e-6)


def test_the_text_of_a_layer_sums_and_multiplies_alone() -> None:
    text = tx.grad(layer).source_for({"W": np.ones((3, 4)), "b": np.ones(4)}, np.ones((5, 3)))
    assert "No axis of these arrays has length one" in text and "unbroadcast" not in text
