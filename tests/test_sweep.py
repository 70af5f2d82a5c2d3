"""The kinds of crash that the sweep over Python's own library and NumPy has found, and a sample of that sweep."""

import ast
import ctypes
import functools
import inspect
import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tangentx.testing import check_grads


@pytest.fixture(params=["proofs_on", "proofs_off"])
def proofs(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.param == "proofs_on":
        yield
        return
    with pipeline.proofs(off="all"):
        yield


@pytest.mark.long
def test_a_sample_of_the_sweep_crashes_nowhere() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.sweep", "--every", "389", "--start", "11"],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "compiled:" in done.stdout, done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith("crashed")] == []


def fail(x, why):
    raise ValueError(f"{why}: {x}")


def checked(x):
    if x < 0.0:
        y = fail(x, "negative")
        if y > 3.0:
            return y * 2.0
        for _ in range(int(y)):
            x = x * 2.0
        return y[0]
    return x * x


def checked_sum(x):
    total = 0.0
    for v in x:
        if v > 5.0:
            total = total * v
            fail(v, "large")
        total = total + checked(v)
    return total


@pytest.mark.usefixtures("proofs")
def test_a_helper_that_never_returns() -> None:
    check_grads(checked, (1.5,))
    check_grads(checked_sum, (np.array([1.0, 2.0]),))
    calls: list[Callable[[], Any]] = [
        lambda: tx.grad(checked, fallback="error")(-1.0),
        lambda: tx.grad(tx.grad(checked, fallback="error"), fallback="error")(-1.0),
        lambda: tx.jvp(checked, (-1.0,), (1.0,), fallback="error"),
        lambda: tx.grad(checked_sum, fallback="error")(np.array([1.0, -2.0])),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="negative: -"):
            call()
    with pytest.raises(ValueError, match="large"):
        tx.grad(checked_sum, fallback="error")(np.array([1.0, 6.0]))


def shown_otherwise(x, scale=2.0):
    return x * x * scale


shown_otherwise.__signature__ = inspect.Signature()  # type: ignore[attr-defined]


def shown_by_text(x, *rest, scale=2.0):
    return x * x * scale


shown_by_text.__text_signature__ = "(x, scale=2.0)"  # type: ignore[attr-defined]


def test_the_parameters_are_those_of_the_code() -> None:
    for fn in (shown_otherwise, shown_by_text):
        assert tx.grad(fn, fallback="error")(3.0) == 12.0


class Unhashable:
    __hash__ = None  # type: ignore[assignment]

    def __call__(self, x):
        return x


unhashable = Unhashable()


def calls_an_unhashable(x):
    return unhashable(x) * 2.0


def makes_an_object_of_c(x):
    return ast.Load(), x


def transposes(rows):
    return sum(a * b for a, b in zip(*rows))


def test_a_callable_that_cannot_be_hashed() -> None:
    assert tx.grad(calls_an_unhashable, fallback="error")(1.0) == 2.0


def test_the_rest_is_refused() -> None:
    for fn in (makes_an_object_of_c, ctypes.cast, transposes):
        with pytest.raises(tx.TangentxError):
            tx.grad(fn, fallback="error")(*(1.0, 2.0)[: fn.__code__.co_argcount])


def by_bounds(x, bounds):
    for k in range(*bounds):
        x = x * (1.0 + k)
    return x


def test_a_range_of_starred_bounds() -> None:
    assert tx.grad(by_bounds, fallback="error")(1.0, (1, 4)) == 24.0


def deep() -> list[Any]:
    """Two lists of different kinds, with more parts than anything written by hand."""
    return [[[0.5] for _ in range(3)] if k % 2 else [(k, 0.5)] * 3 for k in range(15_000)]


def first_of(x, table):
    return x * x


def test_a_list_with_too_many_parts_is_refused() -> None:
    with pytest.raises(tx.TangentxError, match="more parts"):
        tx.grad(first_of, fallback="error")(1.0, [deep(), [deep()]])


def sets_print_options(x):
    np.set_printoptions(precision=3)
    return x * x


def test_a_function_of_numpy_with_effects_is_called_when_the_program_calls_it() -> None:
    """Compiling tries it on no sample, and showing the text runs nothing."""
    before = np.get_printoptions()["precision"]
    gradient = tx.grad(sets_print_options, fallback="error")
    with pytest.raises(tx.TangentxError):
        gradient.source_for(1.0)
    assert np.get_printoptions()["precision"] == before
    with np.printoptions():
        assert gradient(1.0) == 2.0
        assert np.get_printoptions()["precision"] == 3
    assert np.get_printoptions()["precision"] == before


def polynomial(x, c):
    return np.polynomial.chebyshev.chebder(c * x)


def test_other_python_functions_of_numpy_are_read() -> None:
    with pytest.raises(tx.TangentxError, match="polynomial"):
        tx.grad(polynomial, fallback="error")(0.5, np.array([1.0, 2.0]))


def by_tuple(a, place):
    return float(a[place]) * a[place] + np.sum(a[np.nonzero(a > 1.0)] ** 2)


@pytest.mark.usefixtures("proofs")
def test_a_tuple_is_as_many_indices_as_it_has() -> None:
    check_grads(by_tuple, (np.array([[0.5, 1.5], [2.0, 0.25]]), (1, 0)))


def of_itself(x):
    items = [x]
    items.append(items)
    return np.sum(items)


def table_of_itself(x):
    table = {}
    table["x"] = x
    table["self"] = table
    return table["self"]["x"] * x


def first(items):
    return items[0] * 2.0


def test_containers_that_hold_themselves_are_refused() -> None:
    endless: list[Any] = [1.0]
    endless.append(endless)
    for fn, arg in ((of_itself, 1.0), (first, endless)):
        with pytest.raises(tx.TangentxError):
            tx.grad(fn, fallback="error")(arg)
    assert tx.grad(table_of_itself, fallback="error")(3.0) == 6.0


def nested_again(x):
    items = [x]
    for _ in range(2):
        items = [items, x]
    return items[1] * x


def nested_tuples(x):
    items = (x,)
    for _ in range(2):
        items = (items, x)
    return items[1] * x


@pytest.mark.usefixtures("proofs")
@pytest.mark.parametrize("fn", [nested_again, nested_tuples])
def test_slots_that_have_nothing_in_common_are_right_or_refused(fn: Callable[..., Any]) -> None:
    gradient = tx.grad(fn, fallback="error")
    calls = [
        (lambda: tx.jvp(fn, (3.0,), (1.0,), fallback="error")[1], 6.0),
        (lambda: gradient(3.0), 6.0),
        (lambda: tx.grad(gradient, fallback="error")(3.0), 2.0),
    ]
    for call, wanted in calls:
        try:
            found = call()
        except tx.TangentxError:
            continue
        assert found == wanted


def wrapped(*args, **kwargs):
    return args[0] * 2.0


wrapped.__defaults__ = (None, 3.0)


class Point:
    def __init__(self, x):
        self.x = x

    @classmethod
    def at(cls, x):
        return cls(x)


def of_a_class_method(x, y):
    return Point.at(x).x * Point.at(y).x


def calls_it_twice(x, y):
    return of_a_class_method(x, y) * of_a_class_method(y, x)


def test_defaults_that_no_parameter_has_and_methods_of_classes_in_helpers() -> None:
    assert tx.grad(wrapped, fallback="error")(3.0) == (2.0,)
    check_grads(calls_it_twice, (0.7, 0.4), wrt=(0, 1))


SINE = functools.lru_cache(math.sin)
LENGTH = functools.lru_cache(len)


def test_a_cache_of_a_function_without_source() -> None:
    gradient = tx.grad(lambda x: SINE(x) * LENGTH("ab") * x, fallback="error")
    assert gradient(0.7) == pytest.approx(2.0 * (math.cos(0.7) * 0.7 + math.sin(0.7)))
