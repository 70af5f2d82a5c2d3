"""What the templates answer where a derivative is a matter of convention, and what they refuse."""

from __future__ import annotations

import itertools
import math
import operator
from typing import Any

import engine
import numpy as np
import pytest

import tangentx as tx
from tangentx import arrays
from tangentx.errors import NotDifferentiable, NoTemplate
from tangentx.templates import Template, bind, examples, find, templates
from tangentx.templates.examples import Example


def gradient(fn: Any, *args: Any, seed: Any = 1.0, **kwargs: Any) -> list[Any]:
    template = find(fn)
    assert template is not None
    return engine.cotangents(template, fn, args, kwargs, seed)


@pytest.mark.parametrize("fn", [np.maximum, np.minimum, np.fmax, np.fmin, max, min])
def test_two_equal_numbers_share(fn: Any) -> None:
    assert gradient(fn, 2.0, 2.0) == [0.5, 0.5]


@pytest.mark.parametrize(
    ("fn", "x", "y", "expected"),
    [
        (np.fmax, math.nan, 1.0, [0.0, 1.0]),
        (np.fmin, 1.0, math.nan, [1.0, 0.0]),
        (np.maximum, math.nan, 1.0, [1.0, 0.0]),
        (np.maximum, math.inf, 1.0, [1.0, 0.0]),
        (max, 3.0, 2.0, [1.0, 0.0]),
        (min, 3.0, 2.0, [0.0, 1.0]),
    ],
)
def test_one_of_two_wins(fn: Any, x: float, y: float, expected: list[float]) -> None:
    assert gradient(fn, x, y) == expected


def test_equal_elements_share_a_maximum() -> None:
    a = np.array([1.0, 3.0, 3.0])
    assert gradient(np.max, a)[0].tolist() == [0.0, 0.5, 0.5]
    assert gradient(np.ndarray.min, a)[0].tolist() == [1.0, 0.0, 0.0]
    assert gradient(max, [1.0, 3.0, 3.0])[0] == [0.0, 0.5, 0.5]
    assert gradient(np.max, a, seed=np.inf)[0].tolist() == [0.0, np.inf, np.inf]


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ((0.0, 1.0), [0.0, 0.5, 1.0, 0.5, 0.0]),
        ((0.0, None), [0.0, 0.5, 1.0, 1.0, 1.0]),
        ((None, 1.0), [1.0, 1.0, 1.0, 0.5, 0.0]),
    ],
)
def test_clip_shares_at_its_limits(bounds: Any, expected: list[float]) -> None:
    a = np.array([-1.0, 0.0, 0.5, 1.0, 2.0])
    assert gradient(np.clip, a, *bounds, seed=np.ones(5))[0].tolist() == expected
    assert gradient(np.ndarray.clip, a, *bounds, seed=np.ones(5))[0].tolist() == expected


def test_clip_gives_the_rest_to_its_limits() -> None:
    a, low, high = gradient(np.clip, np.array([-1.0, 0.5, 3.0, 4.0]), 0.0, 2.0, seed=np.ones(4))
    assert (a.tolist(), low, high) == ([0.0, 1.0, 0.0, 0.0], 1.0, 2.0)


@pytest.mark.parametrize("fn", [operator.pow, np.power, pow, math.pow])
@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (0.0, 0.0, (0.0, 0.0)), (0.0, 1.0, (1.0, 0.0)), (0.0, 2.0, (0.0, 0.0)), (2.0, 0.0, (0.0, math.log(2.0))),
        (0.0, 0.5, (math.inf, 0.0)), (1.0, 3.0, (3.0, 0.0)),
    ],
)  # fmt: skip
def test_power_at_hard_points(fn: Any, x: float, y: float, expected: tuple[float, float]) -> None:
    assert gradient(fn, x, y) == pytest.approx(list(expected))


@pytest.mark.parametrize(("x", "n", "expected"), [(-2.0, 3, 12.0), (-2.0, 2, -4.0), (0.0, 1, 1.0), (-2.0, -1, -0.25)])
def test_power_of_a_negative_base(x: float, n: int, expected: float) -> None:
    with np.errstate(invalid="ignore"):
        assert gradient(operator.pow, x, n)[0] == expected
        assert gradient(operator.pow, np.full(2, x), n, seed=np.ones(2))[0].tolist() == [expected] * 2


def test_kinks_and_poles() -> None:
    assert gradient(abs, 0.0) == [0.0]
    assert gradient(np.abs, np.array(0.0 + 0.0j)) == [0.0]
    assert gradient(math.sqrt, 0.0) == [math.inf]
    with np.errstate(divide="ignore"):
        assert gradient(np.log, 0.0) == [math.inf]
    assert gradient(np.sqrt, np.array([0.0, 4.0]), seed=np.array([0.0, 1.0]))[0].tolist() == [0.0, 0.25]


def test_what_where_does_not_choose_gets_exactly_zero() -> None:
    _, x_bar, y_bar = gradient(np.where, np.array([True, False]), np.ones(2), np.ones(2), seed=np.array([1.0, np.inf]))
    assert x_bar.tolist() == [1.0, 0.0]
    assert y_bar.tolist() == [0.0, np.inf]


@pytest.mark.parametrize("fn", [np.std, np.linalg.norm, np.var, np.prod])
def test_a_reduction_without_cotangent_gives_exactly_zero(fn: Any) -> None:
    for a in (np.zeros(3), np.array([np.inf, 1.0, 2.0])):
        with np.errstate(invalid="ignore"):
            assert gradient(fn, a, seed=0.0)[0].tolist() == [0.0, 0.0, 0.0]


def test_complex_gradients_are_conjugate_to_the_direction_of_ascent() -> None:
    z = 3.0 + 4.0j
    assert gradient(abs, z) == [pytest.approx(z.conjugate() / 5.0)]
    assert gradient(np.real, z) == [1.0]
    assert gradient(np.imag, z) == [-1j]
    assert gradient(np.conj, z, seed=1j) == [-1j]
    assert gradient(np.imag, 3.0) == [0.0]


SCALAR = [
    pytest.param(t, e, id=f"{t.name}-{e.fn.__name__}")
    for t in templates()
    if t.kind == "elementwise" and not t.lacks  # SciPy's own series may not end, or raise, far out
    for e in examples(t)
    if all(type(a) is float for a in e.args)
]


@pytest.mark.parametrize(("template", "example"), SCALAR)
def test_no_rule_raises_where_the_primal_does_not(template: Template, example: Example) -> None:
    tried = 0
    for args in itertools.product((0.0, 1.0, -1.0, 2.0, 1e300), repeat=len(example.args)):
        with np.errstate(all="ignore"):
            try:
                ans = example.fn(*args)
            except (ValueError, ArithmeticError):
                continue
            if isinstance(ans, complex):
                continue
            tried += 1
            engine.pullback(template, example.fn, args, {}, 1.0)
    assert tried or isinstance(ans, complex)


def test_bind_fills_in_defaults_and_gathers_varargs() -> None:
    total = find(np.sum)
    assert total is not None
    assert bind(total, (1.0,), {"axis": 0}) == {"a": 1.0, "axis": 0, "dtype": None, "out": None, "keepdims": False}
    best = find(max)
    assert best is not None
    assert bind(best, (1.0, 2.0), {}) == {"args": (1.0, 2.0)}


@pytest.mark.parametrize(
    ("fn", "args", "kwargs"),
    [
        (np.sum, (np.ones(2),), {"out": np.zeros(())}),
        (np.sum, (np.ones(2),), {"where": np.array([True, False])}),
        (np.linalg.norm, (np.ones(2), 1), {}),
        (np.ravel, (np.ones((2, 2)),), {"order": "F"}),
        (np.einsum, ("i,i,i", np.ones(2), np.ones(2), np.ones(2)), {}),
        (math.hypot, (1.0, 2.0, 3.0), {}),
        (max, ([1.0],), {"key": abs}),
        (sum, (), {}),
    ],
)
def test_calls_that_no_rule_covers_are_refused(fn: Any, args: Any, kwargs: Any) -> None:
    template = find(fn)
    assert template is not None
    with pytest.raises(NoTemplate):
        bind(template, args, kwargs)


def test_what_a_rule_finds_too_hard_is_refused() -> None:
    with pytest.raises(NotDifferentiable):
        gradient(np.einsum, "...i->...", np.ones((2, 3)), seed=np.ones(2))
    with pytest.raises(NotDifferentiable):
        gradient(np.linalg.solve, np.stack([np.eye(2)] * 2), np.ones(2), seed=np.ones((2, 2)))
    with pytest.raises(NotDifferentiable, match="same axis twice"):
        gradient(np.fft.fftn, np.ones((2, 3)), (4, 5), (1, -1), seed=np.ones((2, 4)))


def test_find() -> None:
    assert find([]) is None
    assert find(test_find) is None
    for fn in (np.zeros, operator.lt, len, np.argmax, np.ndarray.argmax, np.shape, math.floor, arrays.zero):
        template = find(fn)
        assert template is not None
        assert template.kind == "constant"
        assert examples(template) == []
    assert find(np.ndarray.sum) is find(np.sum) is find(np.float64.sum)


def half_stopped(x):
    held = tx.stop_gradient(x)
    held[0] = x[0]
    return np.sum(held * x**2)


def test_a_stopped_gradient() -> None:
    x = np.array([2.0, 3.0])
    slope, curvature = [12.0, 18.0], [12.0, 6.0]  # of x**3, and of c * x**2 where c is x, held constant
    gradient = tx.grad(half_stopped, fallback="error")
    np.testing.assert_array_equal(gradient(x), slope)
    np.testing.assert_array_equal(x, [2.0, 3.0])
    assert tx.jvp(half_stopped, (x,), (np.ones(2),), fallback="error") == (35.0, 30.0)
    np.testing.assert_array_equal(tx.hessian(half_stopped, fallback="error")(x), np.diag(curvature))
    for f in (gradient, tx.jacrev(lambda v: half_stopped(v)), tx.jacfwd(half_stopped)):
        np.testing.assert_array_equal(tx.vmap(f)(np.stack([x, x])), [slope, slope])


def test_a_stopped_gradient_of_tensors() -> None:
    x = tx.tensor([2.0, 3.0], requires_grad=True)
    held = tx.stop_gradient(x)
    assert not held.requires_grad
    (first,) = tx.autograd.grad((held * x**2).sum(), x, create_graph=True)
    np.testing.assert_array_equal(first.data, [8.0, 18.0])
    (second,) = tx.autograd.grad(first.sum(), x)
    np.testing.assert_array_equal(second.data, [4.0, 6.0])
    held[0] = 7.0
    assert x.tolist() == [2.0, 3.0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("fn", [np.mean, np.average, np.var, np.std, np.nanmean, np.nanvar, np.median, np.nanmedian])
@pytest.mark.parametrize(("shape", "axis"), [((0,), None), ((0,), 0), ((2, 0), None), ((2, 0), 1), ((0, 2), 0)])
def test_what_is_taken_of_no_elements_has_an_empty_gradient(fn: Any, shape: Any, axis: Any) -> None:
    """NumPy gives nan, and warns."""

    def of(a: Any) -> Any:
        return fn(a, axis=axis) * 2.0

    a = np.empty(shape)
    value, pullback = tx.vjp(of, a)
    bar = pullback(np.ones(value.shape) if value.shape else 1.0)
    assert np.isnan(value).all()
    assert np.shape(bar[0] if isinstance(bar, tuple) else bar) == shape
    assert np.shape(tx.jvp(of, (a,), (a,))[1]) == value.shape


@pytest.mark.filterwarnings("error")
def test_the_gradient_of_the_mean_of_nothing_does_not_divide_by_zero() -> None:
    assert tx.grad(np.mean)(np.empty(0)).shape == (0,)
    assert tx.grad(lambda a: np.mean(a * a))(np.empty((0, 3))).shape == (0, 3)
    assert tx.grad(lambda a: np.sum(np.ones(2) * np.mean(a * 2.0, axis=1)))(np.empty((2, 0))).shape == (2, 0)
