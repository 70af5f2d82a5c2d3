"""Sparse matrices that are made of what varies, and systems with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.testing import check_grads

sparse = pytest.importorskip("scipy.sparse")
linalg = pytest.importorskip("scipy.sparse.linalg")

RNG = np.random.default_rng(0)
ROWS, COLS = np.array([0, 1, 2, 0, 2, 1, 0]), np.array([0, 1, 2, 1, 0, 2, 0])
VALUES = np.array([4.0, 5.0, 6.0, 1.0, 0.5, 0.3, 0.7])
x, TABLE = RNG.normal(size=3), RNG.normal(size=(3, 2))
FIXED = sparse.csr_matrix((VALUES, (ROWS, COLS)), shape=(3, 3))
NODES = np.array([[0.0, 0.0], [2.0, 0.0], [4.0, 0.0], [1.0, 1.5], [3.0, 1.5]])
BARS = np.array([[0, 1], [1, 2], [0, 3], [1, 3], [1, 4], [2, 4], [3, 4]])


def weighed(*found: Any) -> Any:
    return sum(np.sum(z * np.cos(np.arange(np.size(z))).reshape(np.shape(z))) for z in found)


def formats(d, x):
    by_columns = sparse.csc_array((d, (ROWS, COLS)), shape=(3, 3))
    triplets = sparse.coo_matrix((d, (ROWS, COLS)), shape=(3, 3))
    by_rows = sparse.csr_matrix((d, (ROWS, COLS)))
    products = by_columns @ x, triplets.tocsr() @ x, by_rows.T @ x, by_rows.transpose().dot(x), x @ by_rows
    return weighed(*products, triplets.toarray(), by_rows.diagonal(), by_rows.data)


def arithmetic(d, x):
    a = sparse.csr_matrix((d, (ROWS, COLS)), shape=(3, 3))
    return weighed((2.0 * a + FIXED * x[0] - FIXED / 3.0) @ TABLE, (-a) @ x, FIXED.T @ x)


def compressed(d, dense):
    again = sparse.csr_array((d[:6], FIXED.indices, FIXED.indptr), shape=(3, 3))
    return weighed(again @ TABLE, sparse.csr_matrix(dense) @ TABLE)


def solved(d, x):
    a = sparse.csc_matrix((d, (ROWS, COLS)), shape=(3, 3))
    lu = linalg.splu(a)
    direct = linalg.spsolve(a, x), lu.solve(x), lu.solve(x, "T"), linalg.factorized(a)(x)
    return weighed(*direct, linalg.spsolve(FIXED, x))


def iterated(d, x):
    a = sparse.csr_matrix((d, (ROWS, COLS)), shape=(3, 3))
    first, _ = linalg.gmres(a, x, rtol=1e-13)
    second, info = linalg.bicgstab(a, x, rtol=1e-13, atol=0.0)
    return weighed(first, second) + info


def truss(areas):
    """The work of a load on a truss, whose stiffness is put together bar by bar."""
    ends = NODES[BARS[:, 1]] - NODES[BARS[:, 0]]
    lengths = np.sqrt(np.sum(ends**2, axis=1))
    directions = np.concatenate([-ends, ends], axis=1) / lengths[:, None]
    blocks = (areas / lengths)[:, None, None] * directions[:, :, None] * directions[:, None, :]
    degrees = np.concatenate([2 * BARS[:, :1], 2 * BARS[:, :1] + 1, 2 * BARS[:, 1:], 2 * BARS[:, 1:] + 1], axis=1)
    rows, cols = np.repeat(degrees, 4, axis=1).ravel(), np.tile(degrees, (1, 4)).ravel()
    free = np.array([2, 3, 4, 6, 7, 8, 9])
    fixed = np.array([0, 1, 5])
    stiffness = sparse.coo_matrix((blocks.ravel(), (rows, cols)), shape=(10, 10)).tocsr()
    stiffness = stiffness + sparse.csr_matrix((np.full(3, 1e6), (fixed, fixed)), shape=(10, 10))
    load = np.zeros(10)
    load[free[1]] = -1.0
    load[free[-1]] = -0.5
    moved = linalg.spsolve(stiffness.tocsc(), load)
    return load @ moved + 0.1 * np.sum(areas * lengths)


PROGRAMS: dict[Any, tuple[Any, ...]] = {
    formats: (VALUES, x),
    arithmetic: (VALUES, x),
    compressed: (VALUES, 1.0 + RNG.random((3, 3))),
    solved: (VALUES, x),
    iterated: (VALUES, x),
    truss: (1.0 + RNG.random(7),),
}


@pytest.mark.share(12)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_program(f: Any) -> None:
    args = PROGRAMS[f]
    everything = tuple(range(len(args)))
    value, found = tx.value_and_grad(f, wrt=everything, fallback="error")(*args)
    assert value == pytest.approx(f(*args), rel=1e-9)
    check_grads(f, args, wrt=everything, rtol=1e-5, atol=1e-6)
    rows = tx.vmap(tx.grad(f))(*(np.stack([a, a]) for a in args))
    np.testing.assert_allclose(rows[1], found[0], rtol=1e-9, atol=1e-12)


def test_a_matrix_comes_in_and_goes_out_as_scipy_s() -> None:
    def f(x, a):
        b = a * x[0]
        return np.sum(b @ x), b

    gradient, b = tx.grad(f, has_aux=True, fallback="error")(x, FIXED)
    assert type(b) is sparse.csr_matrix
    np.testing.assert_allclose(b.toarray(), FIXED.toarray() * x[0])
    dense = FIXED.toarray()
    wanted = x[0] * dense.sum(axis=0)
    wanted[0] += np.sum(dense @ x)
    np.testing.assert_allclose(gradient, wanted)


def test_what_has_no_rule_is_named() -> None:
    def product(d):
        a = sparse.csr_matrix((d, (ROWS, COLS)), shape=(3, 3))
        return np.sum((a @ a) @ x)

    def largest(d):
        return sparse.csr_matrix((d, (ROWS, COLS)), shape=(3, 3)).max()

    with pytest.raises(tx.NotDifferentiable, match=r"A @ \(B @ x\)"):
        tx.grad(product, fallback="error")(VALUES)
    with pytest.raises(tx.NoTemplate, match=r"(?s)csr_matrix.max.*`toarray`"):
        tx.grad(largest, fallback="error")(VALUES)
