"""Every template and every composition on Tensors, at orders 1 and 2, against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.common.pytrees import is_differentiable
from tangentx.templates import compositions, examples, templates
from tangentx.tensor.calls.apply import call
from tangentx.tensor.core.containers import tensors_in

CASES = [
    pytest.param(rule, example, id=f"{getattr(rule, 'name', rule.body.__name__)}-{number}")
    for rule in (*(t for t in templates() if t.kind != "constant"), *compositions())
    for number, example in enumerate(examples(rule))
]


def mapped(fn: Callable[[Any], Any], x: Any) -> Any:
    if isinstance(x, (list, tuple)) and type(x) is not tx.Tensor:
        return type(x)(mapped(fn, item) for item in x)
    return fn(x) if is_differentiable(x) else x


def weighed(result: Any) -> Any:
    """A real number of all that an operation gives."""
    total: Any = 0.0
    for i, t in enumerate(tensors_in(result)):
        weights = np.cos(1.3 * np.arange(t.size) + i).reshape(t.shape)
        total = total + (t * weights).sum().real
    return total


def slopes(example: Any, args: Any, create: bool) -> tuple[list[Any], list[Any]]:
    """Leaves, and the gradients by them."""
    leaves: list[Any] = []

    def leaf(x: Any) -> Any:
        leaves.append(tx.tensor(x, requires_grad=True))
        return leaves[-1]

    given = [mapped(leaf, a) if i in example.wrt else a for i, a in enumerate(args)]
    total = weighed(call(example.fn, given, example.kwargs))
    if not (type(total) is tx.Tensor and total.requires_grad):
        return leaves, []
    return leaves, list(tx.autograd.grad(total, leaves, create_graph=create, materialize_grads=True))


def pairing(gradients: list[Any], directions: list[Any]) -> Any:
    return sum((g * d).sum().real for g, d in zip(gradients, directions, strict=True))


def along(values: list[Any], rng: np.random.Generator) -> list[Any]:
    """A direction for each."""
    return [
        rng.normal(size=np.shape(x)) + (1j * rng.normal(size=np.shape(x)) if np.iscomplexobj(x) else 0.0)
        for x in values
    ]


@pytest.mark.share(3)
@pytest.mark.parametrize(("rule", "example"), CASES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_operation_on_tensors(rule: Any, example: Any) -> None:
    narrow = example.fn in (np.float16, np.float32, np.complex64)
    points: list[Any] = []
    for i in example.wrt:
        mapped(points.append, example.args[i])
    directions = along(points, np.random.default_rng(2))

    def moved(h: float) -> list[Any]:
        steps = iter(directions)
        return [mapped(lambda x: x + h * next(steps), a) if i in example.wrt else a for i, a in enumerate(example.args)]

    def value(h: float) -> float:
        with tx.no_grad():
            result = weighed(call(example.fn, [mapped(tx.tensor, a) for a in moved(h)], example.kwargs))
        return float(result)

    def slope(h: float) -> list[Any]:
        return [g.numpy() for g in slopes(example, moved(h), False)[1]]

    def differences(f: Callable[[float], Any], h: float) -> Any:
        rows = [
            [np.asarray(part) for part in (r if isinstance(r, list) else [r])] for r in map(f, (-2 * h, -h, h, 2 * h))
        ]
        return [(8.0 * (c - b) - (d - a)) / (12.0 * h) for a, b, c, d in zip(*rows, strict=True)]

    leaves, gradients = slopes(example, example.args, True)
    assert len(leaves) == len(points)
    if not gradients:
        return
    for g, x in zip(gradients, leaves, strict=True):
        assert (g.shape, g.dtype) == (x.shape, x.dtype)
    found = pairing(gradients, directions)
    h, tolerance = (0.25, 2e-2) if narrow else (1e-4, 1e-6)
    np.testing.assert_allclose(float(found), differences(value, h)[0], rtol=tolerance, atol=tolerance)
    if narrow or not (type(found) is tx.Tensor and found.requires_grad):
        return
    second = tx.autograd.grad(found, leaves, materialize_grads=True)
    # The second derivative is symmetric, so that of the pairing is the change of the gradient along the direction.
    for got, wanted in zip(second, differences(slope, 1e-4), strict=True):
        np.testing.assert_allclose(got.numpy(), wanted, rtol=2e-5, atol=2e-5)


class Odd(np.ndarray):
    """A class of arrays that may have rules of its own."""


OTHER_CLASSES: dict[str, Any] = {
    "a product": lambda t: np.arange(3.0).view(Odd) * t,
    "a sum with what is masked": lambda t: t + np.ma.masked_array([1.0, 2.0, 3.0], [0, 1, 0]),
    "rows of which one is masked": lambda t: np.concatenate([t, np.ma.masked_array([1.0], [1])]),
    "a matrix": lambda t: t @ np.asmatrix(np.eye(3)),
}


@pytest.mark.parametrize("run", OTHER_CLASSES.values(), ids=OTHER_CLASSES)
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_result_of_another_class_of_arrays_is_refused_where_it_is_recorded(run: Any) -> None:
    with pytest.raises(tx.NotDifferentiable, match=r"(?s)test_apply\.py:\d+: .*gives a `\w+`.*np\.asarray"):
        run(tx.tensor([1.0, 2.0, 3.0], requires_grad=True))
    with tx.no_grad():
        run(tx.tensor([1.0, 2.0, 3.0], requires_grad=True))
    assert run(tx.tensor([1.0, 2.0, 3.0])) is not None
