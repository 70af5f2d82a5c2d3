"""`vjp` and `jvp`: structures, freshness, seeds and tangents that do not fit."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest

import tangentx as tx
from tangentx.common.pytrees import leaves
from tests.harness.guard import assert_fresh


class Pair(NamedTuple):
    a: Any
    b: Any


def product(x, y):
    return x * y


def linear(a, x):
    return a @ x


def several(x, y):
    return {"a": (x * y, [np.sum(x), 3]), "b": x}


def writes(x):
    x[0] = x[0] * 2.0
    return np.sum(x * x)


def gathers(x, *more, scale=2.0):
    return x * scale + sum(more)


def test_a_function_that_could_gather_more_primals_and_is_given_none() -> None:
    value, pullback = tx.vjp(gathers, 3.0)
    assert (value, pullback(1.0)) == (6.0, 2.0)
    assert tx.linearize(gathers, 3.0)[1](1.0) == 2.0
    with pytest.raises(tx.NotDifferentiable, match="gathers some"):
        tx.vjp(gathers, 3.0, 4.0)


def test_a_pullback_of_one_and_of_several_primals() -> None:
    assert tx.vjp(lambda x: x * x, 3.0)[1](2.0) == 12.0
    value, pullback = tx.vjp(product, 2.0, 3.0)
    assert (value, pullback(1.0), pullback(2.0), pullback(1.0)) == (6.0, (3.0, 2.0), (6.0, 4.0), (3.0, 2.0))
    assert tx.vjp(product, 2, 3.0)[1](1.0) == (None, 2.0)


def test_a_pullback_owns_what_it_needs() -> None:
    a, x, seed = np.ones((2, 3)), np.ones(3), np.ones(2)
    value, pullback = tx.vjp(linear, a, x)
    a[:], x[:], value[:] = 7.0, 9.0, 5.0
    first, second = pullback(seed), pullback(seed)
    for found in (first, second):
        np.testing.assert_array_equal(found[0], np.ones((2, 3)))
        np.testing.assert_array_equal(found[1], np.full(3, 2.0))
        assert_fresh(found, (a, x, seed, value))
    assert_fresh(first, second)
    first[0][:] = 4.0
    np.testing.assert_array_equal(pullback(seed)[0], np.ones((2, 3)))


def test_a_pullback_of_a_program_that_writes() -> None:
    x = np.array([1.0, 2.0])
    value, pullback = tx.vjp(writes, x)
    assert value == 8.0
    for _ in range(3):
        np.testing.assert_array_equal(pullback(1.0), [8.0, 4.0])
    np.testing.assert_array_equal(x, [1.0, 2.0])


def test_the_identity_is_fresh() -> None:
    x, seed = np.ones(3), np.ones(3)
    value, pullback = tx.vjp(lambda x: x, x)
    assert_fresh((value, pullback(seed)), (x, seed))
    value, tangent = tx.jvp(lambda x: x, (x,), (seed,))
    assert_fresh((value, tangent), (x, seed))
    x2 = np.ones(3)
    _, pullback = tx.vjp(lambda x, y: x + y, x, x2)
    assert_fresh(pullback(seed), (seed,))


def test_seeds_of_a_structure() -> None:
    value, pullback = tx.vjp(several, np.ones(2), 2.0)
    assert value["a"][1] == [2.0, 3]
    x_bar, y_bar = pullback({"a": (np.ones(2), [1.0, None]), "b": None})
    np.testing.assert_array_equal(x_bar, [3.0, 3.0])
    assert y_bar == 2.0
    x_bar, y_bar = pullback({"a": None, "b": np.ones(2)})
    np.testing.assert_array_equal(x_bar, [1.0, 1.0])
    assert y_bar == 0.0
    assert pullback(None)[1] == 0.0


@pytest.mark.parametrize("seed", [1, 1.0, True, np.float32(1.0), np.array(1.0), np.ones(1)])
def test_seeds_of_a_number(seed: Any) -> None:
    assert tx.vjp(product, 2.0, 3.0)[1](seed) == (3.0, 2.0)
    np.testing.assert_array_equal(tx.vjp(lambda x: np.sum(x), np.ones(2))[1](seed), [1.0, 1.0])


@pytest.mark.parametrize(
    "seed, both",
    [
        (np.ones(2), [r"\(2,\)", r"\(\)"]),
        (np.ones((1, 1)), [r"\(1, 1\)", r"\(\)"]),
        ("s", ["str", "float"]),
        ([1.0], ["list", "float"]),
        ((1.0,), ["tuple", "float"]),
        (1j, ["complex128", "float64"]),
    ],
)
def test_wrong_seeds_name_both_sides(seed: Any, both: list[str]) -> None:
    _, pullback = tx.vjp(product, 2.0, 3.0)
    for text in both:
        with pytest.raises(tx.NotDifferentiable, match=text):
            pullback(seed)
    assert pullback(1.0) == (3.0, 2.0)


@pytest.mark.parametrize("seed", [{"b": None}, {"a": 1.0, "b": None}, (1.0, 2.0), 3.0, {"a": (1.0, [1.0]), "b": None}])
def test_seeds_of_another_structure(seed: Any) -> None:
    _, pullback = tx.vjp(several, np.ones(2), 2.0)
    with pytest.raises(tx.NotDifferentiable, match="cotangent of the value"):
        pullback(seed)


def test_tangents() -> None:
    assert tx.jvp(product, (2.0, 3.0), (1.0, None)) == (6.0, 3.0)
    assert tx.jvp(product, (2.0, 3.0), (1.0, 1)) == (6.0, 5.0)
    assert tx.jvp(product, (2.0, 3.0), (None, None)) == (6.0, 0.0)
    assert tx.jvp(product, (2, 3.0), (None, 1.0)) == (6.0, 2.0)
    assert tx.jvp(lambda p: p["a"] * p["b"], ({"a": 2.0, "b": 3.0},), ({"a": 1.0, "b": None},)) == (6.0, 3.0)


def test_tangents_have_the_structure_of_the_value() -> None:
    value, tangent = tx.jvp(several, (np.ones(2), 2.0), (np.ones(2), None))
    assert tangent["a"][1] == [2.0, None] and value["a"][1] == [2.0, 3]
    np.testing.assert_array_equal(tangent["b"], [1.0, 1.0])
    value, tangent = tx.jvp(lambda p: Pair(p.b * 2.0, p.a), (Pair(2.0, np.ones(2)),), (Pair(1.0, None),))
    assert type(tangent) is Pair and tangent.b == 1.0 and np.all(tangent.a == 0.0)
    assert tx.jvp(lambda x: 3, (2.0,), (1.0,)) == (3, None)
    _, tangent = tx.jvp(lambda x: x * x, (np.ones(3, np.float32),), (np.ones(3),))
    assert tangent.dtype == np.float32


def test_tangents_are_not_written() -> None:
    x, v = np.ones(3), np.ones(3)
    assert tx.jvp(writes, (x,), (v,)) == (6.0, 12.0)
    np.testing.assert_array_equal(x, np.ones(3))
    np.testing.assert_array_equal(v, np.ones(3))


@pytest.mark.parametrize(
    "primals, tangents, text",
    [
        ((2.0, 3.0), (1.0,), "2 primals, but the number of tangents is 1"),
        (2.0, 1.0, "tuples"),
        ((np.ones(3), 2.0), (np.ones(2), None), r"\(2,\), but the primal has shape \(3,\)"),
        ((np.ones(3), 2.0), (np.ones(3) * 1j, None), "complex128, but the primal is float64"),
        ((2, 3.0), (1, None), "can have no tangent"),
        ((2.0, 3.0), ("a", None), "str"),
        ((2.0, 3.0), ([1.0], None), "list"),
    ],
)
def test_wrong_tangents(primals: Any, tangents: Any, text: str) -> None:
    with pytest.raises(tx.NotDifferentiable, match=text):
        tx.jvp(product, primals, tangents)


def wavy(x, c):
    y = np.sin(x) * x
    for k in range(3):
        y = y + c * y**2 / (k + 1)
    return y


def test_linear_functions_and_pullbacks_of_a_batch_in_one_sweep() -> None:
    x, rng = np.array([0.3, -0.7, 1.1]), np.random.default_rng(3)
    dots, slopes = rng.normal(size=(3, 4)), rng.normal(size=4)
    _, linear = tx.linearize(wavy, x, 0.5)
    _, pullback = tx.vjp(wavy, x, 0.5)
    calls = [0]

    def counted(run: Any) -> Any:
        def one(*args: Any) -> Any:
            calls[0] += 1
            return run(*args)

        return one

    linear._run, pullback._run = counted(linear._run), counted(pullback._run)
    found = tx.vmap(linear, (1, 0), 1)(dots, slopes)
    bars = tx.vmap(pullback, 1)(dots)
    assert calls == [2]  # the first of each batch, which says whether it fits
    for k in range(4):
        np.testing.assert_allclose(found[:, k], linear(dots[:, k], slopes[k]), rtol=1e-13)
        for bar, one in zip(bars, pullback(dots[:, k]), strict=True):
            np.testing.assert_allclose(bar[k], one, rtol=1e-13)
    tx.vmap(linear, (None, 0))(dots[:, 0], slopes)
    assert calls == [14]  # the same tangent for all: one after the other


def test_batches_where_a_primal_has_no_derivative() -> None:
    def power(x, n):
        return x**n

    _, linear = tx.linearize(power, np.array([1.0, 2.0]), 3)
    found = tx.vmap(linear, (0, None))(np.eye(2), None)
    np.testing.assert_array_equal(found, np.diag([3.0, 12.0]))
    _, pullback = tx.vjp(power, np.array([1.0, 2.0]), 3)
    bars = tx.vmap(pullback)(np.eye(2))
    np.testing.assert_array_equal(bars[0], np.diag([3.0, 12.0]))
    assert bars[1] is None


@pytest.mark.parametrize(
    "tangents, text",
    [
        ((1.0,), "2 primals, but the number of tangents is 1"),
        ((np.ones(2), None), r"tangent of `x` has shape \(2,\).*\(\)"),
    ],
)
def test_tangents_of_a_linear_function_that_do_not_fit(tangents: Any, text: str) -> None:
    _, linear = tx.linearize(product, 2.0, 3.0)
    with pytest.raises(tx.NotDifferentiable, match=text):
        linear(*tangents)
    assert repr(linear) == "<tangent at a point>" and linear(1.0, None) == 3.0


LOG: dict[str, Any] = {"calls": 0.0}
RNG = np.random.default_rng(0)
QUEUE = iter(np.arange(2.0, 100.0))


def counts_in_a_dict(x):
    LOG["calls"] += 1.0
    return x * LOG["calls"] * eval("2.0")


def counts_in_itself(x):
    counts_in_itself.calls += 1.0
    return x * counts_in_itself.calls * eval("2.0")


counts_in_itself.calls = 0.0


def takes_from_an_iterator(x):
    return x * next(QUEUE) * eval("2.0")


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize("f", [counts_in_a_dict, counts_in_itself, takes_from_an_iterator])
def test_a_linear_function_runs_no_program_anew_that_acts_on_something_outside(f: Any) -> None:
    _, along = tx.linearize(f, 3.0)
    with pytest.raises(tx.NotDifferentiable, match=r"test_products\.py:\d+: .*runs the program anew"):
        along(1.0)


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize("given", [(), (np.random.default_rng(1),)])
def test_a_linear_function_that_runs_the_program_anew_draws_what_it_drew(given: Any) -> None:
    def f(x, rng=RNG):
        return x * rng.normal() * np.random.normal() * eval("2.0")

    value, along = tx.linearize(f, 3.0, *given)
    after = RNG.bit_generator.state
    assert [along(3.0, *(None for _ in given)) for _ in range(2)] == pytest.approx([value, value], rel=1e-14)
    assert RNG.bit_generator.state == after


def test_the_batch_of_gradients_of_the_reference() -> None:
    def rows(x):
        return np.sum(np.exp(x), axis=1)

    x = np.array([[0.0, 1.0], [2.0, 3.0]])
    _, pullback = tx.vjp(rows, x)
    wanted = [[[1.0, np.exp(1.0)], [0.0, 0.0]], [[0.0, 0.0], [np.exp(2.0), np.exp(3.0)]]]
    np.testing.assert_allclose(tx.vmap(pullback)(np.eye(2)), wanted, rtol=1e-14)
    assert list(pullback._states) == [2]  # in one sweep


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x + 1.0,
        lambda x: x,
        lambda x: x[::-1] + 0.0,
        lambda x: np.ravel(x),
        lambda x: np.exp(x),
        lambda x: KEPT,
        lambda x: np.where(x > 0.0, x, KEPT),
    ],
)
def test_values_and_tangents_are_in_memory_of_their_own(f: Any) -> None:
    x, v = np.array([0.3, 1.2]), np.array([1.0, 2.0])
    value, dot = tx.jvp(f, (x,), (v,))
    for one, other in itertools.combinations((value, dot, x, v, KEPT), 2):
        assert not np.shares_memory(one, other)
    np.testing.assert_array_equal(value, f(x))
    assert value.flags.writeable and dot.flags.writeable and dot.shape == value.shape


KEPT = np.array([3.0, 4.0])


class Point(NamedTuple):
    x: Any
    y: Any


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (x * x, np.sum(x)),
        lambda x: [x * x, 2.0],
        lambda x: (x * x, KEPT),
        lambda x: {"b": x * x, "a": (KEPT, np.sum(x), [])},
        lambda x: Point(x[0] * x[1], [x * x, {"z": x}]),
        lambda x: (x, x, 3),
        lambda x: (KEPT, 1.0),
        lambda x: KEPT,
    ],
)
@pytest.mark.parametrize("fallback", ["error", "tensor"])
def test_a_batch_of_tangents_of_several_results(f: Any, fallback: str) -> None:
    _, linear = tx.linearize(f, np.array([1.0, 2.0, 3.0]), fallback=fallback)
    batch = np.random.default_rng(0).normal(size=(4, 3))
    found = tx.vmap(linear)(batch)
    assert type(found) is type(linear(batch[0]))
    for k, member in enumerate(batch):
        for (path, one), (_, wanted) in zip(leaves("", found), leaves("", linear(member)), strict=True):
            if wanted is None:
                assert one is None, path
            else:
                np.testing.assert_allclose(one[k], wanted, rtol=1e-13)


def test_a_batch_of_cotangents_of_several_results() -> None:
    x = np.array([1.0, 2.0, 3.0])
    _, pullback = tx.vjp(lambda x: {"a": x * x, "b": np.sum(x)}, x)
    np.testing.assert_array_equal(tx.vmap(pullback)({"a": np.eye(3), "b": np.ones(3)}), np.diag(2.0 * x) + 1.0)
    _, pullback = tx.vjp(lambda x: (x * x, np.sum(x)), x)
    np.testing.assert_array_equal(tx.vmap(pullback)((np.eye(3), np.zeros(3))), np.diag(2.0 * x))


WEIGHTS = np.array([1.0, 2.0])
COUNTS = [0]


def raising(x):
    y = x * x
    raise ArithmeticError(f"always, for {np.ndim(y)}")


def raising_of_data(x):
    COUNTS[0] += 1
    y = np.sum(x * WEIGHTS)
    raise ArithmeticError(f"always, for {np.ndim(y)}")


@pytest.mark.parametrize("f", [raising, raising_of_data])
@pytest.mark.parametrize(
    "derivative",
    [
        lambda f: tx.linearize(f, 2.0),
        lambda f: tx.jvp(f, (2.0,), (1.0,)),
        lambda f: tx.vjp(f, 2.0),
        lambda f: tx.grad(f)(2.0),
        lambda f: tx.value_and_grad(f)(2.0),
        lambda f: tx.jacfwd(f)(2.0),
        lambda f: tx.jacrev(f)(2.0),
        lambda f: tx.hessian(f)(2.0),
        lambda f: tx.hvp(f, (2.0,), (1.0,)),
        lambda f: tx.grad(tx.grad(f))(2.0),
        lambda f: tx.jvp(lambda x: tx.jvp(f, (x,), (1.0,))[1], (2.0,), (1.0,)),
    ],
)
def test_what_always_raises_does_so(f: Any, derivative: Any) -> None:
    before = COUNTS[0]
    with pytest.raises(ArithmeticError, match="always, for 0"):
        derivative(f)
    assert COUNTS[0] == before + (f is raising_of_data)


def test_an_empty_list_has_an_empty_tangent() -> None:
    def total(xs, y):
        return sum(xs, y * y)

    assert tx.jvp(total, ([], 3.0), ([], 1.0)) == (9.0, 6.0)
    assert tx.linearize(total, [], 3.0)[1]([], 1.0) == 6.0
    assert tx.hvp(total, ([], 3.0), ([], 1.0)) == ([], 2.0)
    assert tx.jacfwd(total, (0, 1))([], 3.0) == ([], 6.0)
    assert tx.jacfwd(lambda xs: 1.0)([]) == []
    with pytest.raises(tx.TangentxError, match="can have no tangent"):
        tx.jvp(total, ([], 3.0), ([1.0], 1.0))
