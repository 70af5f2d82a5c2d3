"""Stand-ins do what NumPy's functions do; calls become their stores; what is not known is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.analysis.library import model_bodies
from tests.frontend.made import defined

X = np.array([0.3, -0.7, 0.2, 0.9, -0.4])
A = np.arange(12.0).reshape(3, 4) % 5.0
PLACES = np.array([0, 3, 0, -1])
V = np.array([1.5, 2.5])


def same(standin: Callable[..., Any], function: Callable[..., Any], a: Any, *args: Any) -> None:
    """Both write the same into equal arrays, also into one that is not contiguous."""
    for made in (np.array, lambda a: np.array(a.T, order="C").T):
        mine, wanted = made(a), made(a)
        standin(mine, *args)
        function(wanted, *args)
        np.testing.assert_array_equal(mine, wanted)


@pytest.mark.parametrize("a", [X, A], ids=["vector", "matrix"])
def test_they_write_as_numpy_does(a: Any) -> None:
    places, mask = PLACES, a > 0.1
    same(model_bodies.fill, np.ndarray.fill, a, 3.0)
    same(model_bodies.fill, np.copyto, a, a[::-1].copy())
    for where in (mask, mask[..., :1]):
        same(model_bodies.copy_some, lambda d, s, m: np.copyto(d, s, where=m), a, 7.0, where)
        same(model_bodies.copy_some, lambda d, s, m: np.copyto(d, s, where=m), a, a * 2.0, where)
    for mode in ("raise", "wrap", "clip"):
        for v in (4.0, V, np.arange(9.0)):
            same(model_bodies.put, np.put, a, places, v, mode)
    same(model_bodies.put, np.put, a, 2, 4.0)
    for key in (1, -1, slice(None), slice(1, None, 2), places, np.ravel(mask)):
        for v in (5.0,) if isinstance(key, int) else (5.0, V):
            same(model_bodies.put_flat, lambda d, k, v: d.flat.__setitem__(k, v), a, key, v)
    for v in (4.0, V, a * 3.0):
        same(model_bodies.putmask, np.putmask, a, mask, v)
        same(model_bodies.place, np.place, a, mask, v)
    same(model_bodies.sort, np.ndarray.sort, a, 0)


@pytest.mark.parametrize("shape", [(3, 3), (3, 5), (7, 3)])
def test_diagonals(shape: tuple[int, int]) -> None:
    for v in (4.0, V):
        same(model_bodies.fill_diagonal, np.fill_diagonal, np.zeros(shape), v)
        same(model_bodies.fill_diagonals, lambda a, v: np.fill_diagonal(a, v, wrap=True), np.zeros(shape), v)


def test_along_an_axis() -> None:
    for axis in (0, 1, -1):
        places = np.argmax(A, axis=axis, keepdims=True)
        same(model_bodies.put_along_axis, np.put_along_axis, A, places, 9.0, axis)


def test_one_after_the_other() -> None:
    rows, columns, values = np.array([0, 2, 0]), np.array([1, 1, 1]), np.array([2.0, 3.0, 5.0])
    at = lambda fn: lambda a, i, f, *v: fn.at(a, i, *v)
    same(model_bodies.update_each, at(np.multiply), X, rows, np.multiply, values)
    same(model_bodies.update_each_by, at(np.divide), A, rows, np.divide, 2.0)
    same(model_bodies.change_each, at(np.exp), X, rows, np.exp)
    pairs = lambda fn: lambda a, i, j, f, *v: fn.at(a, (i, j), *v)
    same(model_bodies.update_at_pairs, pairs(np.maximum), A, rows, columns, np.maximum, values)
    same(model_bodies.update_pairs_by, pairs(np.power), A, rows, columns, np.power, 2.0)
    same(model_bodies.change_pairs, pairs(np.negative), A, rows, columns, np.negative)


def test_nan_is_replaced_in_place() -> None:
    holed = np.array([1.0, np.nan, -np.inf])
    mine = holed.copy()
    assert model_bodies.replace_nan(mine, 2.0, None, -3.0) is mine
    np.testing.assert_array_equal(mine, np.nan_to_num(holed, nan=2.0, neginf=-3.0))


def test_partition_orders_what_it_says() -> None:
    mine = X.copy()
    model_bodies.partition(mine, 2)
    assert mine[2] == np.sort(X)[2] and max(mine[:2]) <= mine[2] <= min(mine[3:])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("np.put([x[0]], 0, s)", "writes into a list"),
        ("x.resize(9)", "`resize`"),
        ("np.fill_diagonal(x, s)", "this diagonal"),
        ("np.fill_diagonal(A, s, wrap=x[0] > s)", "this diagonal"),
        ("np.copyto(np.zeros(5, int), x)", "int64"),
        ("np.copyto(x, s, casting=str(s))", "casting"),
        ("np.add.at(x, [0, 1])", "an array, a key and values"),
        ("np.multiply.at(np.zeros(3, int), [0, 0], s)", "int64"),
        ("np.multiply.at(A, (np.array([[0]]), [1]), s)", "with these places"),
        ("np.exp.at([s], 0)", "into a list"),
        ("np.put_along_axis(A, np.array([1]), s, None)", "along no axis"),
        ("np.nan_to_num(x, x[0] > s)", "whether this writes"),
        ("np.nan_to_num(s, copy=False)", "writes into a"),
    ],
)
def test_what_is_refused(body: str, message: str) -> None:
    function = defined(f"import numpy as np\ndef f(x, A, s):\n    {body}\n    return np.sum(x)\n")
    with pytest.raises(tx.TangentxError, match=message) as caught:
        tx.grad(function, fallback="error")(X.copy(), A.copy(), 0.5)
    assert caught.value.span is not None


def test_arguments_that_do_not_fit_raise_as_numpy_does() -> None:
    def f(x):
        np.put(x, 0)
        return x[0]

    with pytest.raises(TypeError):
        tx.grad(f, fallback="error")(X.copy())
