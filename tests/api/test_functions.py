"""The functional forms: wrt, results, freshness, auxiliary output, nesting, options."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest

import tangentx as tx
from tests.harness.guard import assert_fresh, call


class Pair(NamedTuple):
    a: Any
    b: Any


@dataclasses.dataclass
class Model:
    a: Any
    b: Any
    n: int = 3

    def __post_init__(self) -> None:
        assert isinstance(self.n, int)


class Owner:
    def __init__(self, k: float) -> None:
        self.k = k

    def scaled(self, x, y=2.0):
        return self.k * x * y


def power(x, y, n=2):
    return x * y**n


def gathered(x, *args, **kwargs):
    return x * args[0] * args[1] * kwargs["k"]


def only_named(x, *, k):
    return x * k


def square(x):
    return x * x


def total(x):
    return np.sum(x * x)


def weighed(p):
    return p.a * np.sum(p.b)


def weighed_dict(p):
    return p["a"] * np.sum(p["b"][0])


def cube(x):
    return x * x * x


@pytest.mark.parametrize(
    "wrt, wanted",
    [(0, 9.0), (1, 12.0), ("x", 9.0), ("y", 12.0), ((0,), (9.0,)), (("y", 0), (12.0, 9.0)), ((0, 1), (9.0, 12.0))],
)
def test_wrt(wrt: Any, wanted: Any) -> None:
    assert tx.grad(power, wrt)(2.0, 3.0) == wanted
    assert tx.value_and_grad(power, wrt=wrt)(2.0, 3.0) == (18.0, wanted)


@pytest.mark.parametrize("wrt", [True, False, 1.0, None, (0, True), (0, 1.0), (0, (1,)), [0], -1, 3, "z", (), (0, "x")])
def test_wrong_wrt(wrt: Any) -> None:
    tx.grad(power, (0, 1))(2.0, 3.0)
    tx.grad(power, 1)(2.0, 3.0)
    with pytest.raises(tx.NotDifferentiable):
        tx.grad(power, wrt)(2.0, 3.0)


def test_wrt_gathered_parameters() -> None:
    assert tx.grad(gathered, "args")(2.0, 3.0, 4.0, k=5.0) == (40.0, 30.0)
    assert tx.grad(gathered, "kwargs")(2.0, 3.0, 4.0, k=5.0) == {"k": 24.0}
    assert tx.grad(gathered, ("x", "kwargs"))(2.0, 3.0, 4.0, k=5.0) == (60.0, {"k": 24.0})
    assert tx.grad(only_named, "k")(2.0, k=3.0) == 2.0


def test_wrt_counts_after_self() -> None:
    owner = Owner(5.0)
    assert tx.grad(owner.scaled)(3.0) == 10.0
    assert tx.grad(owner.scaled, 1)(3.0) == 15.0
    assert tx.grad(Owner.scaled, "x")(owner, 3.0) == 10.0
    with pytest.raises(tx.NotDifferentiable, match="2 parameters"):
        tx.grad(owner.scaled, 2)(3.0)


@pytest.mark.parametrize(
    "x",
    [2.0, np.float64(2.0), np.float32(2.0), np.float16(2.0), np.array(2.0), np.array(2.0, np.float32)],
    ids=lambda x: f"{type(x).__name__}-{getattr(x, 'dtype', '')}",
)
def test_a_gradient_has_the_type_of_its_argument(x: Any) -> None:
    found = tx.grad(square)(x)
    assert type(found) is type(x) and found == 4.0
    assert getattr(found, "dtype", None) == getattr(x, "dtype", None) and np.shape(found) == ()


@pytest.mark.parametrize("shape", [(3,), (1,), (0,), (2, 0), (2, 3)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_array_keeps_shape_and_dtype(shape: tuple[int, ...], dtype: Any) -> None:
    x = np.full(shape, 3.0, dtype)
    found = call(tx.grad(total), x)
    assert type(found) is np.ndarray and found.shape == shape and found.dtype == dtype
    assert np.all(found == 6.0)


def test_structures_come_back_as_they_are() -> None:
    ones = np.ones(2, np.float32)
    for p in (Pair(2.0, ones), Model(2.0, ones)):
        found = call(tx.grad(weighed), p)
        assert type(found) is type(p) and found.a == 2.0 and type(found.a) is float
        assert found.b.dtype == np.float32 and np.all(found.b == 2.0)
    found = tx.grad(weighed_dict)({"a": 2.0, "b": [np.ones(2), 7], "name": "m", "n": 1})
    assert list(found) == ["a", "b", "name", "n"] and found["name"] is None and found["n"] is None
    assert found["a"] == 2.0 and type(found["b"]) is list and found["b"][1] is None


def test_a_dataclass_is_made_without_init() -> None:
    assert tx.grad(weighed)(Model(2.0, np.ones(2))).n is None


def test_results_are_fresh() -> None:
    def both(x, y):
        return np.sum(x + y)

    x, y = np.ones(3), np.ones(3)
    call(tx.grad(both, (0, 1)), x, y)
    call(tx.grad(both, (0, 1)), x, x)

    def with_extras(x):
        return np.sum(x), {"x": x, "view": x[1:]}

    for g in (tx.grad(with_extras, has_aux=True), tx.value_and_grad(with_extras, has_aux=True)):
        out = g(x)
        extras = out[1] if isinstance(out[1], dict) else out[0][1]
        assert_fresh(extras["x"], x)
        assert_fresh(extras["view"], x)
        np.testing.assert_array_equal(extras["view"], [1.0, 1.0])

    zero_d = np.array(2.0)
    value, gradient = tx.value_and_grad(lambda x: x)(zero_d)
    assert_fresh((value, gradient), zero_d)


def test_has_aux() -> None:
    def f(x):
        return x * x, ("extra", x)

    assert tx.grad(f, has_aux=True)(3.0) == (6.0, ("extra", 3.0))
    assert tx.value_and_grad(f, has_aux=True)(3.0) == ((9.0, ("extra", 3.0)), 6.0)


def test_nested_derivatives() -> None:
    assert tx.grad(tx.grad(cube))(2.0) == 12.0
    assert tx.grad(tx.grad(tx.grad(cube)))(2.0) == 6.0
    assert tx.jvp(tx.grad(cube), (2.0,), (1.0,)) == (12.0, 12.0)
    value, pullback = tx.vjp(tx.grad(cube), 2.0)
    assert (value, pullback(1.0)) == (12.0, 12.0)
    assert tx.jvp(tx.value_and_grad(cube), (2.0,), (1.0,)) == ((8.0, 12.0), (12.0, 12.0))


GRAD = tx.grad(cube)
BOTH = tx.value_and_grad(cube)


@tx.differentiate
def decorated(x):
    return x * x * x


def by_object(x):
    return GRAD(x) * x


def by_both(x):
    value, gradient = BOTH(x)
    return value * gradient


def by_call(x):
    return tx.grad(cube)(x) * x


def by_attribute(x):
    return decorated.grad(x) * decorated(x)


@pytest.mark.parametrize("f, wanted", [(by_object, 36.0), (by_call, 36.0), (by_both, 240.0), (by_attribute, 240.0)])
def test_derivatives_inside_a_differentiated_function(f: Any, wanted: float) -> None:
    assert tx.grad(f)(2.0) == wanted


def added(y, x):
    return x + y


def multiplied(y, x):
    return x * y


def confused_by_sum(x):
    return x * tx.grad(added)(1.0, x)


def confused_by_product(x):
    return x * tx.grad(multiplied)(1.0, x)


def test_perturbations_are_not_confused() -> None:
    assert tx.grad(confused_by_sum)(2.0) == 1.0
    assert tx.grad(confused_by_product)(2.0) == 4.0


@pytest.mark.parametrize("options", [{"fallback": "no"}, {"jit": "no"}])
def test_options_that_mean_nothing(options: dict[str, Any]) -> None:
    with pytest.raises(tx.NotDifferentiable, match="is not an option"):
        tx.grad(square, **options)


class Own(Exception):
    pass


def fails(x, how, items):
    y = x * x
    if how == 1:
        raise Own("own", 3)
    if how == 2:
        raise KeyError("k")
    if how == 3:
        y = y * items[7]
    if how == 4:
        y = y * (1.0 / items[2])
    if how == 5:
        assert y < 0.0, "too large"
    return y


@pytest.mark.parametrize(
    "how, error, text",
    [
        (1, Own, "('own', 3)"),
        (2, KeyError, "'k'"),
        (3, IndexError, "list index out of range"),
        (4, ZeroDivisionError, "division by zero"),
        (5, AssertionError, "too large"),
    ],
)
def test_exceptions_of_the_program_pass(how: int, error: type[Exception], text: str) -> None:
    items = [1.0, 2.0, 0.0]
    with pytest.raises(error) as caught:
        call(tx.grad(fails), 3.0, how, items)
    assert type(caught.value) is error and text in str(caught.value)
    assert items == [1.0, 2.0, 0.0]
    assert tx.grad(fails)(3.0, 0, items) == 6.0


def nasty(x):
    s = 'quo"te\'s\n"""\\ {x} %'
    return x * len(s)


def unicode_names(ξ, été=2.0):
    return ξ * ξ * été


def misnamed(x):
    return x * x


def test_names_and_strings_are_never_text() -> None:
    assert tx.grad(nasty)(2.0) == 19.0
    assert tx.grad(unicode_names)(2.0) == 8.0
    misnamed.__name__ = misnamed.__qualname__ = "a b\n1/0\n'\""
    assert tx.grad(misnamed)(2.0) == 4.0
    evil = "k'\"\n)]; raise SystemExit"
    assert tx.grad(lambda p: p["k'\"\n)]; raise SystemExit"] * 2.0)({evil: 3.0}) == {evil: 2.0}
    assert tx.grad(lambda x, s: x * 3.0 if s == "k'\"\n)]; raise SystemExit" else x)(2.0, evil) == 3.0
    assert tx.grad(lambda x, s: x * 3.0 if s == "other" else x)(2.0, evil) == 1.0


def test_the_package_shows_its_public_names_only() -> None:
    code = "import tangentx as tx; print([n for n in dir(tx) if n[:2] != '__'] == tx.__all__, tx.testing.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "tangentx.testing"]
