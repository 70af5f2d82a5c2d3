"""Sparse Jacobians: the pattern that is found, the sweeps that it takes, and patterns that are given."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import products
from tangentx.sparse.colouring import colours
from tangentx.sparse.index_sets import Indices, product, united, units

pytest.importorskip("scipy.sparse")

POINT = np.linspace(0.1, 0.9, 8)
BAND = np.eye(8) + np.diag(np.full(7, 2.0), 1)


def tridiagonal(u):
    v = np.empty_like(u)
    v[0], v[-1] = u[0] ** 2 - u[1], u[-1] ** 3 - u[-2]
    v[1:-1] = u[:-2] - 2.0 * u[1:-1] * np.sin(u[1:-1]) + u[2:] ** 2
    return v


def branching(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] ** 2 + (x[i - 1] if x[i] > 0.5 else 0.0)
    return y


def banded(x):
    return BAND @ np.tanh(x)


def plate(u):
    field = u.reshape(2, 4)
    return np.stack([field[:, 1:] * field[:, :-1], np.roll(field, 1, 0)[:, :3]], axis=1)


def gathered(x):
    def pair(i):
        return x[i] * x[i - 1]

    return np.array([pair(i) for i in range(len(x))] + [1.0])


def shrinking(x):
    y = x.copy()
    while np.max(y) > 0.1:
        y[1:] = 0.5 * y[:-1] * y[1:]
        y[0] *= 0.5
    return y


def chosen(x):
    return np.concatenate([np.maximum(x[1:], x[:-1]), np.where(x > 0.3, x, x[::-1]), np.pad(x, 1)[2:] * x])


def arrow(x):
    return np.concatenate([np.array([np.sum(x**2)]), x[1:] * x[0] + x[1:].mean() * 0.0 + x[1:]])


def wide(x):
    return np.array([x.sum() * x[0], x @ x])


def solved(x):
    return np.linalg.solve(BAND, x**2)


def square(x):
    table = x.reshape(2, 4)
    return table @ table.T + np.cumsum(np.sum(table, axis=0, keepdims=True))[0]


PROGRAMS: dict[str, tuple[Callable[..., Any], int, int]] = {  # with the number of entries, and of sweeps
    "tridiagonal": (tridiagonal, 22, 3),
    "branching": (branching, 12, 2),
    "banded": (banded, 15, 2),
    "plate": (plate, 18, 2),
    "gathered": (gathered, 16, 2),
    "shrinking": (shrinking, 21, 3),
    "chosen": (chosen, 37, 2),
    "arrow": (arrow, 22, 8),
    "wide": (wide, 16, 2),
    "solved": (solved, 64, 8),
    "square": (square, 26, 4),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_matrix_is_the_dense_one(name: str) -> None:
    f, entries, number = PROGRAMS[name]
    jacobian = tx.jacobian(f, sparsity="auto", fallback="error")
    found = jacobian(POINT)
    dense = tx.jacobian(f, fallback="error")(POINT).reshape(found.shape)
    np.testing.assert_allclose(found.toarray(), dense, rtol=1e-13, atol=1e-15)
    assert found.dtype == np.float64
    assert (found.nnz, jacobian.explain().split()[-6]) == (entries, str(number))
    for mode in ("forward", "reverse"):
        given = tx.jacobian(f, 0, mode, sparsity=found != 0.0)(POINT)
        np.testing.assert_allclose(given.toarray(), dense, rtol=1e-12, atol=1e-14)


def test_a_tridiagonal_system_takes_three_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = [0]
    compile_linear = products.compile_linear

    def counting(*args: Any) -> Any:
        entry = compile_linear(*args)
        first, second = entry.functions
        code = second.__code__

        def swept(*given: Any) -> Any:
            calls[0] += 1
            return second(*given)

        assert code.co_name == "tridiagonal_linear"
        object.__setattr__(entry, "functions", (first, Counted(second, swept)))
        return entry

    class Counted:
        """The generated function, which the index sets are run through as well."""

        def __init__(self, inner: Any, run: Any) -> None:
            self.__dict__.update(inner=inner, run=run)

        def __call__(self, *given: Any) -> Any:
            return self.run(*given)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.inner, name)

    monkeypatch.setattr(products, "compile_linear", counting)
    u = np.linspace(0.0, 1.0, 100_000)

    def tridiagonal(u):
        v = u[1:-1] * u[2:] - u[:-2]
        return np.concatenate([u[:1] * u[1:2], v, u[-1:] - u[-2:-1]])

    found = tx.jacobian(tridiagonal, sparsity="auto", fallback="error")(u)
    assert (calls, found.shape, found.nnz) == ([3], (100_000, 100_000), 299_998)
    assert (found[500, 499], found[500, 500], found[500, 501], found[0, 1]) == (-1.0, u[501], u[500], u[0])


def test_the_pattern_is_found_anew_where_the_way_is_another() -> None:
    def way(x):
        return x**2 if x[0] > 0.0 else x[::-1] * np.sum(x[:2])

    jacobian = tx.jacobian(way, sparsity="auto")
    assert jacobian(POINT).nnz == 8
    assert jacobian(-POINT).nnz == 8 + 16 - 2
    np.testing.assert_array_equal(jacobian(-POINT).toarray(), tx.jacobian(way)(-POINT))


def test_a_sparse_hessian() -> None:
    def valley(x):
        return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)

    second = tx.jacobian(tx.grad(valley), sparsity="auto", fallback="error")
    np.testing.assert_allclose(second(POINT).toarray(), tx.hessian(valley)(POINT), rtol=1e-12)
    assert "3 tangent sweeps for 22 entries" in second.explain()


def test_parameters_of_other_forms() -> None:
    def scaled(x, c=2.0, *, turned=False):
        return c * (x[::-1] if turned else x)

    found = tx.jacobian(scaled, sparsity="auto")(POINT.astype(np.float32), 3.0, turned=True)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found.toarray(), 3.0 * np.eye(8)[::-1])
    by_c = tx.jacobian(scaled, "c", sparsity="auto")(POINT)
    np.testing.assert_array_equal(by_c.toarray(), POINT[:, None])
    np.testing.assert_array_equal(tx.jacobian(scaled, "c", sparsity="auto")(POINT[:0]).toarray(), np.zeros((0, 1)))


def test_effects_happen_once() -> None:
    seen: list[float] = []

    def noted(x):
        seen.append(1.0)
        return np.array([np.sum(x * x)])

    np.testing.assert_array_equal(tx.jacobian(noted, sparsity="auto")(POINT).toarray(), [2.0 * POINT])
    assert seen == [1.0]
    with pytest.raises(tx.NotDifferentiable, match='use mode="forward"'):
        tx.jacobian(noted, 0, "reverse", sparsity="auto")(POINT)


def test_a_pattern_that_lacks_entries_is_refused() -> None:
    with pytest.raises(tx.NotDifferentiable, match=r"test_sparse.*misses entries: row 0 .*has nonzeros"):
        tx.jacobian(tridiagonal, sparsity=np.eye(8))(POINT)
    more = np.eye(8) + np.eye(8, k=1) + np.eye(8, k=-1) + np.eye(8, k=5)
    np.testing.assert_allclose(
        tx.jacobian(tridiagonal, sparsity=more)(POINT).toarray(), tx.jacobian(tridiagonal)(POINT)
    )


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tx.jacobian(tridiagonal, sparsity=np.eye(7))(POINT), r"shape \(7, 7\), but.*shape \(8, 8\)"),
        (lambda: tx.jacobian(tridiagonal, sparsity="yes"), "sparsity='yes' is not an option"),
        (lambda: tx.jacobian(tridiagonal, (0,), sparsity="auto"), r"test_sparse.*is by one parameter"),
        (lambda: tx.jacobian(tridiagonal, sparsity="auto", has_aux=True), "takes no has_aux"),
        (lambda: tx.jacobian(lambda x: (x, x), sparsity="auto")(POINT), "the result is of type tuple"),
        (lambda: tx.jacobian(tridiagonal, sparsity="auto")(POINT * 1j), "parameter `u` is an array of complex128"),
        (lambda: tx.jacobian(lambda x: x[0], sparsity="auto")([1.0]), "parameter `x` is of type list"),
    ],
)
def test_what_has_no_sparse_jacobian(call: Callable[[], Any], text: str) -> None:
    with pytest.raises(tx.NotDifferentiable, match=rf"(?s){text}.*Instead: "):
        call()


def test_without_scipy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    with pytest.raises(tx.NotDifferentiable, match=r"(?s)test_sparse.*needs SciPy.*tangentx\[scipy\]"):
        tx.jacobian(tridiagonal, sparsity="auto")(POINT)


def test_inside_a_differentiated_function_it_is_refused() -> None:
    def outer(x):
        return np.sum(tx.jacobian(tridiagonal, sparsity="auto")(x))

    with pytest.raises(tx.TangentxError, match="tx.jvp along a direction"):
        tx.grad(outer, fallback="error")(POINT)


def test_colours_of_columns_that_meet_differ() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.random((30, 40)) < 0.1
    rows, columns = np.nonzero(matrix)
    found = colours(rows, columns, matrix.shape)
    for row in matrix:
        assert len(set(found[row])) == row.sum()
    wide = np.add.outer(np.arange(50), -np.arange(50))
    assert colours(*np.nonzero(abs(wide) <= 2), wide.shape).max() == 4


def test_sets_have_the_arithmetic_of_tangents() -> None:
    x = units((2, 3))
    one, two = Indices((0,)), Indices((1,))
    assert 2.0 * one + two / 3.0 - 1.0 == -(one - two) == Indices((0, 1)) and 0.0 - one == one
    assert united(x) == Indices(range(6)) and x.sum() == np.float64(2.0) * united(x)
    assert united(x, 0).tolist() == [{0, 3}, {1, 4}, {2, 5}] and united(x, (0, 1), True).shape == (1, 1)
    assert product(np.array([[1.0, 0.0], [1.0, 2.0]]), x)[:, 0].tolist() == [{0}, {0, 3}]
    assert (x @ np.array([0.0, 1.0, 0.0])).tolist() == [{1}, {4}] and x[0] @ np.ones(3) == Indices(range(3))
