"""Functions with rules of the user's own: `tx.primitive`, and cotangents sent through a rule."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tangentx.testing import check_grads


@tx.primitive
def cube(x):
    return x**3


@cube.adjoint
def cube_adjoint(x, *, ans_bar):
    x_bar = 3.0 * x * x * ans_bar
    return x_bar


@cube.tangent
def cube_tangent(x, *, x_dot):
    return 3.0 * x * x * x_dot


@tx.primitive
def joined(x, y=2.0, *rest):
    total = x * y
    for r in rest:
        total = total + r
    return total


@joined.adjoint
def joined_adjoint(x, y, *rest, ans_bar):
    x_bar = y * ans_bar
    return x_bar


CALLS: list[float] = []


@tx.primitive
def looked_up(x):
    """No rule: called as it is."""
    with np.errstate(all="ignore"):
        CALLS.append(x)
    return 2.0


@tx.primitive
def unruled(x):
    return x * x


@tx.primitive
def first_half(x):
    return x[: len(x) // 2]


@first_half.adjoint
def first_half_adjoint(x, *, ans_bar, x_shape):
    x_bar = np.concatenate([ans_bar, np.zeros(x_shape[0] - len(ans_bar))])
    return x_bar


@first_half.tangent
def first_half_tangent(x, *, x_dot):
    ans_dot = x_dot[: len(x) // 2] * 1.0
    return ans_dot


def of_cube(x):
    return cube(x) + x


def of_joined(x):
    return np.sum(joined(x) * joined(x, 3.0, 1.0, 2.0))


def of_half(x):
    half = first_half(x)
    half[0] = half[0] * x[1]
    return np.sum(half * x[0])


def clipped(t):
    return np.clip(t, -1.0, 1.0)


def damped(x):
    y = tx.cotangent(x * x, clipped)
    return np.sum(10.0 * x * y)


def damped_in_place(x):
    u = x * 1.0
    u[0] = 2.0 * u[1]
    u = tx.cotangent(u, clipped)
    u[1] = 3.0 * u[0]
    return np.sum(10.0 * u * u)


def damped_by(x, limit):
    return tx.cotangent(x * x, lambda t: np.clip(t, -limit, limit)) * 10.0


def test_one_rule_serves_all_modes() -> None:
    assert tx.grad(of_cube)(2.0) == 13.0
    assert tx.jvp(of_cube, (2.0,), (1.0,)) == (10.0, 13.0)
    assert tx.grad(tx.grad(of_cube))(2.0) == 12.0
    assert "x_bar = ans_bar + 3.0 * x * x * ans_bar" in tx.grad(of_cube).source_for(2.0)
    check_grads(of_cube, (0.7,))
    x = tx.tensor(2.0, requires_grad=True)
    (slope,) = tx.autograd.grad(of_cube(x), x, create_graph=True)
    assert float(slope) == 13.0 and float(tx.autograd.grad(slope, x)[0]) == 12.0
    assert cube(x).grad_fn.name == "CubeBackward" and cube(2.0) == 8.0
    np.testing.assert_allclose(tx.vmap(tx.grad(of_cube))(np.array([1.0, 2.0])), [4.0, 13.0])


def test_defaults_and_further_arguments() -> None:
    x = np.array([0.5, -1.5])
    np.testing.assert_allclose(tx.grad(of_joined, fallback="error")(x), 2.0 * (3.0 * x + 3.0) + 6.0 * x)
    t = tx.tensor(x, requires_grad=True)
    of_joined(t).backward()
    np.testing.assert_allclose(t.grad.numpy(), 12.0 * x + 6.0)


@pytest.mark.parametrize("off", [(), "all"], ids=["proofs_on", "proofs_off"])
def test_a_result_is_memory_of_its_own(off: Any) -> None:
    x = np.array([1.0, 2.0, 3.0, 4.0])
    with pipeline.proofs(off=off):
        check_grads(of_half, (x,))
    assert not np.shares_memory(first_half(x), x)


@functools.wraps(cube)
def twice_cube(*args):
    return 2.0 * cube(*args)


def test_a_wrapper_has_not_the_rule_of_what_it_wraps() -> None:
    assert tx.grad(lambda x: twice_cube(x))(2.0) == 24.0
    x = tx.tensor(2.0, requires_grad=True)
    twice_cube(x).backward()
    assert float(x.grad) == 24.0


def test_it_is_differentiated_itself_too() -> None:
    assert tx.grad(cube)(2.0) == 12.0 == tx.differentiate(cube).grad(2.0)
    assert tx.value_and_grad(joined, ("x",))(2.0, 3.0, 1.0) == (7.0, (3.0,))
    assert tx.grad(joined)(2.0) == 2.0
    assert tx.jvp(cube, (2.0,), (1.0,)) == (8.0, 12.0) and tx.hessian(cube)(2.0) == 12.0
    assert "No import reaches" not in tx.value_and_grad(cube).source_for(2.0)


def test_without_a_rule_it_is_called_once_as_it_is() -> None:
    CALLS.clear()
    assert tx.grad(lambda x, n: x * x * float(looked_up(n)), fallback="error")(3.0, 1.5) == 12.0
    assert CALLS == [1.5]
    with pytest.raises(tx.NoTemplate, match=r"`unruled` has no derivative rule"):
        unruled(tx.tensor(1.0, requires_grad=True))
    assert float(unruled(tx.tensor(3.0))) == 9.0


def test_a_rule_for_one_mode_alone() -> None:
    @tx.primitive
    def square(x: Any) -> Any:
        return x * x

    @square.tangent
    def square_tangent(x: Any, *, x_dot: Any) -> Any:
        return 2.0 * x * x_dot

    assert tx.jvp(lambda x: square(x), (3.0,), (1.0,)) == (9.0, 6.0)
    with pytest.raises(tx.NoTemplate, match=r"(?s)`square` has no `adjoint` rule.*@square\.adjoint"):
        tx.grad(lambda x: square(x), fallback="error")(3.0)
    with pytest.raises(tx.NoTemplate, match="`square` has no derivative rule"):
        square(tx.tensor(3.0, requires_grad=True))

    @square.adjoint
    def square_adjoint(x: Any, *, ans_bar: Any) -> Any:
        x_bar = 2.0 * x * ans_bar
        return x_bar

    assert tx.grad(lambda x: square(x))(3.0) == 6.0
    x = tx.tensor(3.0, requires_grad=True)
    square(x).backward()
    assert float(x.grad) == 6.0


@pytest.mark.parametrize("f", [damped, damped_in_place])
@pytest.mark.parametrize("off", [(), "all"], ids=["proofs_on", "proofs_off"])
def test_a_cotangent_goes_through_its_rule(f: Callable[..., Any], off: Any) -> None:
    x = np.array([0.3, 0.5, -0.02])
    with pipeline.proofs(off=off):
        found = tx.grad(f, fallback="error")(x)
        value, pullback = tx.vjp(f, x)
        np.testing.assert_allclose(pullback(1.0), found)
        np.testing.assert_allclose(pullback(2.0)[2], 2.0 * found[2])  # far from the limits
    # By hand: of what is squared the cotangent is 10 x, of u (after u[1] is written) 20 u, both cut off at 1.
    by_hand = [10 * 0.09 + 2 * 0.3, 10 * 0.25 + 2 * 0.5, 10 * 0.0004 + 2 * 0.02 * 0.2]
    np.testing.assert_allclose(found, by_hand if f is damped else [0.0, 2.0, -0.4])
    t = tx.tensor(x, requires_grad=True)
    f(t).backward()
    np.testing.assert_allclose(t.grad.numpy(), found)
    np.testing.assert_allclose(tx.jvp(f, (x,), (np.ones(3),))[1], _difference(f, x), rtol=1e-6)


def test_a_second_derivative_goes_through_the_rule_too() -> None:
    x = np.array([0.3, -0.02])
    # 10 x**2 + 2 x clip(10 x)
    np.testing.assert_allclose(np.diag(tx.hessian(damped)(x)), [6.0 + 2.0, -0.4 - 0.8])


def test_a_rule_that_captures_runs_on_tensors() -> None:
    with pytest.warns(tx.FallbackWarning, match="captures nothing"):
        assert tx.grad(damped_by)(0.3, 2.0) == pytest.approx(1.2)


def _difference(f: Callable[..., Any], x: Any, h: float = 1e-6) -> Any:
    return (f(x + h) - f(x - h)) / (2.0 * h)


@tx.primitive
def counted(x):
    return np.sum(x)


@counted.adjoint
def counted_adjoint(x, *, ans_bar):
    x_bar = np.full(np.shape(x), ans_bar, dtype=int)
    return x_bar


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
def test_a_rule_that_casts_to_whole_numbers_is_refused() -> None:
    """It is not linear: a cotangent of 0.5 would give 0, and forward mode, which turns the rule around, 0 always."""
    x = np.array([1.0, 2.0])
    for run in (
        lambda: tx.grad(counted)(x),
        lambda: tx.jvp(lambda x: counted(x) * 1.0, (x,), (x,)),
        lambda: counted(tx.tensor(x, requires_grad=True)).backward(),
    ):
        with pytest.raises(tx.NotDifferentiable, match="in the rule of `counted` is an array of int64"):
            run()
