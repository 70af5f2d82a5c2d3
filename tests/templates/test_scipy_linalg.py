"""Factors, systems of few diagonals and matrix equations of SciPy's, as programs use them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.testing import check_grads

linalg = pytest.importorskip("scipy.linalg")

RNG = np.random.default_rng(0)
A, TALL, b = RNG.normal(size=(3, 3)), RNG.normal(size=(4, 2)), RNG.normal(size=3)
S = A @ A.T + np.diag([1.0, 2.0, 3.0])
BAND = RNG.normal(size=(3, 4)) + np.array([[0.0], [6.0], [0.0]])


def weighed(*found: Any) -> Any:
    return sum(np.sum(np.real(z) * np.cos(np.arange(z.size)).reshape(z.shape)) for z in map(np.asarray, found))


def solved(a, b):
    factors = linalg.lu_factor(a)
    return weighed(linalg.lu_solve(factors, b), linalg.lu_solve(factors, b, trans=1))


def bands(ab, b):
    half = np.abs(ab[1:]) + np.array([[6.0], [0.0]])
    return weighed(linalg.solve_banded((1, 1), ab, b), linalg.solveh_banded(half, b, lower=True))


def modes(a):
    w, v = linalg.eigh(a)
    return weighed(w, v * v, v[:, :1] @ v[:, :1].T)


def vibrations(k, m):
    w, v = linalg.eigh(k, m + 5.0 * np.eye(3), subset_by_index=[0, 1])
    return weighed(np.sqrt(w), v * v)


def values(a):
    left, s, right = linalg.svd(a, full_matrices=False)
    w, v = linalg.eig(a.T @ a + a[:2])
    return weighed(s, left * right[0, 0], np.abs(v)) + np.sum(np.abs(w))


def orthogonal(a):
    q, r, places = linalg.qr(a, mode="economic", pivoting=True)
    u, p = linalg.polar(a)
    return weighed(q, r, u, p, linalg.qr(a, mode="r")[0]) + places[0]


def fitted(a, b):
    x, rest, _, s = linalg.lstsq(a, b)
    rotation, scale = linalg.orthogonal_procrustes(a, a[::-1])
    return weighed(x, s, rotation) + rest + scale


def riccati(a, b):
    q, r = a @ a.T + np.eye(3), np.eye(1) * (1.0 + b[0] ** 2)
    x = linalg.solve_continuous_are(a, b[:, None], q, r)
    return weighed(x, linalg.solve_discrete_are(a, b[:, None], q, r))


def powers(a):
    return weighed(linalg.logm(a), linalg.fractional_matrix_power(a, 0.3), linalg.cosm(a), linalg.sqrtm(a + 0j))


PROGRAMS: dict[Any, tuple[Any, ...]] = {
    bands: (BAND, RNG.normal(size=4)),
    solved: (A, b),
    modes: (S,),
    vibrations: (S, A @ A.T),
    values: (TALL,),
    orthogonal: (TALL,),
    fitted: (TALL, RNG.normal(size=4)),
    riccati: (A, b),
    powers: (S,),
}


@pytest.mark.share(6)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_program(f: Any) -> None:
    args = PROGRAMS[f]
    check_grads(f, args, wrt=tuple(range(len(args))), rtol=1e-5, atol=1e-6)
    found = tx.grad(f, fallback="error")(*args)
    leaf = tx.tensor(args[0], requires_grad=True)
    tx.differentiate(f)(leaf, *args[1:]).backward()
    np.testing.assert_allclose(leaf.grad.numpy(), found)
    rows = tx.vmap(tx.grad(f))(*(np.stack([a, a]) for a in args))
    np.testing.assert_allclose(rows[1], found, rtol=1e-9, atol=1e-12)


def test_stacks_and_long_matrices() -> None:
    stack = RNG.normal(size=(2, 3, 3))
    check_grads(lambda a: weighed(*linalg.lu(a)[1:]), (stack,), order=1)
    check_grads(lambda a: weighed(*linalg.lu(a, permute_l=True)), (TALL,), order=1)
    check_grads(lambda a: weighed(*linalg.lu(a.T)), (TALL,), order=1)


def test_a_complex_root_of_a_real_matrix_is_refused() -> None:
    with pytest.raises(tx.NotDifferentiable, match=r"a \+ 0j"):
        tx.grad(lambda a: np.sum(linalg.sqrtm(a)))(-S)


def test_what_has_no_rule_says_why() -> None:
    for fallback in ("error", "tensor"):
        with pytest.raises(tx.NoTemplate, match=r"(?s)scipy.linalg.null_space.*many bases.*scipy.linalg.pinv"):
            tx.grad(lambda a: np.sum(linalg.null_space(a)), fallback=fallback)(A)


def first_root(a):
    return np.abs(linalg.eigvals(a))[0] + np.abs(linalg.eig(a)[1][0, 0])


def test_eigenvalues_in_the_order_of_scipy() -> None:
    """LAPACK gives those of a complex matrix in another order than those of the same real one."""
    a = np.array([[0.7, -1.3, 0.4], [0.2, 1.1, -0.6], [-0.9, 0.5, 1.7]])
    check_grads(first_root, (a,))
    assert tx.value_and_grad(first_root)(a)[0] == pytest.approx(first_root(a), rel=1e-13)
