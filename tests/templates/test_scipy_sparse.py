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


def from_zero(d, x):
    a = sparse.csr_matrix((d, (ROWS, COLS)), shape=(3, 3))
    by_columns = sparse.csc_array(a)
    total = a * x[0] + (FIXED + (0 + a))
    dense = TABLE @ TABLE.T - by_columns
    return weighed(total @ x, (0.0 - a) @ x, (FIXED - a) @ TABLE, (dense + by_columns * 2) @ x)


def summed(d, x):
    a = sparse.csr_matrix((d, (ROWS, COLS)), shape=(3, 3))
    return weighed(sum([a, a * x[0], FIXED]) @ x)


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


def of_diagonals(d, x):
    laplacian = sparse.diags([x[0], -2.0, x[1]], [-1, 0, 1], shape=(3, 3), format="csr")
    a = sparse.diags(x) / 2.0
    a.data[0, 0] *= 3.0
    both = sparse.diags_array([x, x[:2]], offsets=[0, 1]) @ x, sparse.spdiags(np.stack([x, x * x]), [0, 1], 3, 3) @ x
    eyes = sparse.eye(3, k=1, format="csr") * x[0] - sparse.identity(3, format="csr") * x[1]
    return weighed(laplacian @ x, a @ x, (-a).diagonal(), *both, eyes @ TABLE) + a.trace() + sparse.eye(3).sum() * x[2]


def of_blocks(d, x):
    a = sparse.csr_matrix((d, (ROWS, COLS)), shape=(3, 3))
    spread = sparse.kron(sparse.diags(x), a, format="csr"), sparse.kron(a, np.ones((2, 2)), format="csc")
    stacked = sparse.vstack([a, a * x[0]]), sparse.hstack([a, a], format="csc"), sparse.block_diag([a, x[:, None]])
    sides = sparse.tril(a, -1, format="csr"), sparse.triu(a), sparse.triu(a.toarray(), 1, "csc")
    return sum(weighed(m.toarray()) for m in (*spread, *stacked, *sides)) + weighed(stacked[0].data)


def of_two(d, x):
    a, b = sparse.csr_matrix((d, (ROWS, COLS))), sparse.csr_matrix((x, (COLS[:3], ROWS[1:4])), shape=(3, 3))
    products = a @ b, a * b, a.multiply(b), a.multiply(FIXED.toarray()), a @ b @ a, a.power(2)
    c, e = sparse.csc_array((d, (ROWS, COLS))), sparse.csc_array((x, (COLS[:3], ROWS[1:4])), shape=(3, 3))
    sums = c.sum(axis=0), c.sum(axis=-1), c.mean(axis=1), (c + e).data, c + np.outer(x, x)
    return sum(weighed(m.toarray()) for m in products) + weighed((c * e).toarray(), *sums) + a.mean() * (a @ b).sum()


def parts(d, x):
    a = sparse.csr_matrix((d, (ROWS, COLS)), shape=(3, 3))
    rows = a[1:] @ x, a[[2, 0]].toarray(), a[np.array([True, False, True])] @ x
    return weighed(*rows, a[0].toarray(), a[:, 1:].toarray(), a.getrow(1).toarray()) + a[1, 2] * a[-1, 0] + a[0, 2]


def in_shared_memory(d, x):
    """What SciPy keeps as it is given is written afterwards."""
    data = d[:6] * 1.0
    a = sparse.csr_matrix((data, FIXED.indices, FIXED.indptr), shape=(3, 3))
    own = sparse.csr_matrix((data, FIXED.indices, FIXED.indptr), shape=(3, 3), copy=True)
    triplets = sparse.coo_array((data[:3], (ROWS[:3], COLS[:3])), shape=(3, 3))
    data *= data
    triplets.data *= x
    b = a.tocsr()
    b.data[0] *= 2.0
    c, e = sparse.csr_matrix(a), a.transpose(copy=True)
    c.data[1] *= x[0]
    e.data *= 5.0
    return weighed(a @ x, own @ x, triplets @ x, a.T.data)


def of_single_precision(d, x):
    a = sparse.csr_matrix((d.astype(np.float32), (ROWS, COLS)), shape=(3, 3))
    z = (a @ x.astype(np.float32)).astype(np.float64)
    return weighed(z) if a.data.dtype == np.float32 else 0.0


def of_rows_of_blocks(d, x):
    """A saddle point of a system, and one with dense blocks."""
    a = sparse.csr_matrix((d, (ROWS, COLS)), shape=(3, 3))
    saddle = sparse.bmat(
        [[a, sparse.csr_matrix(np.outer(x, x) + np.eye(3))], [sparse.eye(3, format="csr"), None]], "csc"
    )
    around = sparse.block_array([[None, sparse.diags_array(x)], [sparse.diags_array(x * x), None]], format="csr")
    return weighed(linalg.spsolve(saddle, np.arange(6.0)), around @ np.arange(6.0))


def exponential(d, x):
    a = sparse.csr_matrix((-2.0 * d, (ROWS, COLS)), shape=(3, 3))
    return weighed(linalg.expm_multiply(a, np.stack([x, x * x], axis=1)), linalg.expm_multiply(np.outer(x, x), x))


PROGRAMS: dict[Any, tuple[Any, ...]] = {
    iterated: (VALUES, x),
    arithmetic: (VALUES, x),
    from_zero: (VALUES, x),
    compressed: (VALUES, 1.0 + RNG.random((3, 3))),
    solved: (VALUES, x),
    truss: (1.0 + RNG.random(7),),
    of_diagonals: (VALUES, x),
    of_blocks: (VALUES, x),
    of_two: (VALUES, x),
    parts: (VALUES, x),
    in_shared_memory: (VALUES, x),
    formats: (VALUES, x),
    exponential: (VALUES, x),
    of_rows_of_blocks: (VALUES, x),
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


@pytest.mark.share(4)
@pytest.mark.parametrize("f", [solved, of_blocks, of_two, parts, in_shared_memory, from_zero])
@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
def test_a_program_on_tensors(f: Any) -> None:
    def on_tensors(d: Any, x: Any) -> Any:
        exec("pass")  # not compiled
        return f(d, x)

    args = PROGRAMS[f]
    found, wanted = tx.grad(on_tensors, wrt=(0, 1))(*args), tx.grad(f, wrt=(0, 1), fallback="error")(*args)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
def test_the_sum_of_a_list() -> None:
    check_grads(summed, (VALUES, x), wrt=(0, 1), rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
def test_a_number_by_a_matrix_is_what_scipy_says() -> None:
    def upside_down(d):
        return (5.0 / sparse.csr_matrix((d, (ROWS, COLS)), shape=(3, 3))).sum()

    for f in (upside_down, tx.grad(upside_down)):
        with pytest.raises(TypeError, match="unsupported operand"):
            f(VALUES)


def test_single_precision_stays() -> None:
    value, found = tx.value_and_grad(of_single_precision, fallback="error")(VALUES, x)
    assert value == pytest.approx(of_single_precision(VALUES, x), rel=1e-6) != 0.0
    np.testing.assert_allclose(found, np.cos(ROWS) * x[COLS], rtol=1e-5)


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


@pytest.mark.parametrize(
    ("f", "said"),
    [
        (lambda a, d: np.sum(linalg.eigsh(a, k=1)[0]), r"np.linalg.eigh\(A.toarray\(\)\)"),
        (lambda a, d: np.sum(a.sum(axis=0)), r"A @ np.ones\(A.shape\[1\]\)"),
        (lambda a, d: np.sum(a + d[:3]), r"A.toarray\(\) \+ x"),
        (lambda a, d: (1.0 + a).sum(), r"(?s)no number but 0.*A.toarray\(\) \+ x"),
        (lambda a, d: np.sum((sparse.diags(d) @ sparse.diags(d)).data), r"A.tocsr\(\) @ B.tocsr\(\)"),
        (lambda a, d: np.sum(sparse.csr_array(a)[0].data), r"A\[i : i \+ 1\]"),
        (lambda a, d: np.sum(sparse.kron(a, a.toarray()).data), "format='csr'"),
        (lambda a, d: np.sum(a[[0, 1], [1, 0]]), r"A\[rows\]\[:, cols\]"),
    ],
)
def test_what_has_no_rule_says_what_to_write(f: Any, said: str) -> None:
    def program(d):
        return f(sparse.csr_matrix((d, (ROWS, COLS)), shape=(3, 3)), d)

    with pytest.raises((tx.NotDifferentiable, tx.NoTemplate), match=said):
        tx.grad(program, fallback="error")(VALUES)


def test_what_has_no_rule_is_named() -> None:
    def largest(d):
        return sparse.csr_matrix((d, (ROWS, COLS)), shape=(3, 3)).max()

    with pytest.raises(tx.NoTemplate, match=r"(?s)csr_matrix.max.*`toarray`"):
        tx.grad(largest, fallback="error")(VALUES)


BESIDE = np.array([1.0, 0.5, -0.3])


def tridiagonal(x):
    return sparse.diags_array([x, BESIDE, BESIDE], offsets=[0, 1, -1]).tocsr()


ITERATIVE: dict[str, Any] = {
    "cg": lambda x: linalg.cg(tridiagonal(x), x * x, rtol=1e-13),
    "cgs": lambda x: linalg.cgs(tridiagonal(x), x * x, rtol=1e-13),
    "bicg": lambda x: linalg.bicg(tridiagonal(x), x * x, rtol=1e-13, maxiter=50),
    "lgmres": lambda x: linalg.lgmres(tridiagonal(x), x * x, np.ones(4), rtol=1e-13),
    "gcrotmk": lambda x: linalg.gcrotmk(tridiagonal(x), x * x, rtol=1e-13),
    "tfqmr": lambda x: linalg.tfqmr(tridiagonal(x), x * x, rtol=1e-13),
    "spsolve_triangular": lambda x: (
        linalg.spsolve_triangular(sparse.diags_array([x, BESIDE], offsets=[0, -1]).tocsr(), x),
    ),
}


@pytest.mark.share(3)
@pytest.mark.parametrize("name", ITERATIVE)
def test_solvers_by_steps(name: str) -> None:
    check_grads(lambda x: np.sum(ITERATIVE[name](x)[0] ** 3), (np.array([4.0, 5.0, 6.0, 3.0]),), order=1, rtol=1e-5)


def test_a_matrix_is_factored_once_until_its_values_are_written() -> None:
    from tangentx.arrays import sparse_matrices, sparse_solved

    def dense(data: Any) -> Any:
        return sparse.csr_matrix((data, (ROWS, COLS)), shape=(3, 3)).toarray()

    def known(data: Any) -> Any:
        return sparse_matrices._FACTORED[id(data)][1].factors

    data = VALUES.copy()
    np.testing.assert_allclose(sparse_solved(data, ROWS, COLS, x), np.linalg.solve(dense(data), x))
    first = known(data)
    np.testing.assert_allclose(sparse_solved(data, COLS.copy(), ROWS, x), np.linalg.solve(dense(data).T, x))
    assert known(data) is first
    data[0] *= 3.0
    np.testing.assert_allclose(sparse_solved(data, ROWS, COLS, x), np.linalg.solve(dense(data), x))
    assert known(data) is not first
    np.testing.assert_allclose(sparse_solved(data, ROWS, COLS, x * 1j), np.linalg.solve(dense(data), x * 1j))
    assert sparse_solved(data.astype(np.float32), ROWS, COLS, x.astype(np.float32)).dtype == np.float32
    kept = id(data)
    del data
    assert kept not in sparse_matrices._FACTORED
