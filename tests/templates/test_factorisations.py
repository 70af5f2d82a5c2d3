"""Factors of matrices: what does not depend on their sign, phase or basis, and what is refused where they have none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.testing import check_grads

random = np.random.default_rng(5)
REAL = {shape: random.normal(size=shape) for shape in ((3, 3), (3, 2), (2, 3), (4, 2), (2, 4), (8, 4))}
COMPLEX = {shape: random.normal(size=shape) + 1j * random.normal(size=shape) for shape in REAL}
WEIGHTS = random.normal(size=(4, 4)) + 1j * random.normal(size=(4, 4))


def turned(a):
    return np.conj(np.swapaxes(a, -1, -2))


def weighed(a):
    return np.real(np.sum(WEIGHTS[: a.shape[0], : a.shape[1]] * a))


def function_of_a_hermitian_matrix(a):
    values, vectors = np.linalg.eigh(a, "U")
    return weighed((vectors * np.sin(values)) @ turned(vectors)) + np.abs(vectors[0, 1])


def function_of_a_matrix(a):
    values, vectors = np.linalg.eig(a)
    return weighed((vectors * np.sin(values)) @ np.linalg.inv(vectors)) + np.sum(np.abs(vectors) ** 3)


def function_of_singular_values(a):
    left, values, right = np.linalg.svd(a, full_matrices=False)
    return weighed((left * np.sin(values)) @ right) + weighed(left @ turned(left)) + np.abs(right[0, 1])


def rest_of_a_basis(a):
    left, values, right = np.linalg.svd(a)
    rows, columns = left[:, 2:], right[2:]
    return weighed(rows @ turned(rows)) + weighed(turned(columns) @ columns) + values[0]


def hermitian_parts(a):
    left, values, right = np.linalg.svd(a, hermitian=True)
    return weighed((left * values**2) @ right) + weighed(np.linalg.pinv(a, hermitian=True))


def both_triangular_factors(a):
    q, r = np.linalg.qr(a)
    return weighed(q) + weighed(r)


def triangular_root(a):
    return weighed(np.linalg.cholesky(a @ turned(a)))


PROGRAMS: list[tuple[Callable[..., Any], tuple[int, int]]] = [
    (function_of_a_hermitian_matrix, (3, 3)),
    (function_of_a_matrix, (3, 3)),
    (function_of_singular_values, (3, 2)),
    (function_of_singular_values, (2, 3)),
    (rest_of_a_basis, (4, 2)),
    (rest_of_a_basis, (2, 4)),
    (hermitian_parts, (3, 3)),
    (triangular_root, (3, 3)),
    (both_triangular_factors, (3, 2)),
    (both_triangular_factors, (2, 4)),
]


@pytest.mark.share(6)
@pytest.mark.parametrize(("f", "shape"), PROGRAMS)
@pytest.mark.parametrize("matrices", [REAL, pytest.param(COMPLEX, marks=pytest.mark.thorough)], ids=["real", "complex"])
def test_what_does_not_depend_on_the_basis(f: Any, shape: Any, matrices: Any) -> None:
    check_grads(f, (matrices[shape],), order=2, rtol=1e-5)


def test_complex_factors() -> None:
    for f, shape in PROGRAMS:
        check_grads(f, (COMPLEX[shape],), order=1, rtol=1e-5)


def covariance(x):
    centred = x - x.mean(axis=0)
    return centred.T @ centred / (len(x) - 1)


def whitened(x):
    values, vectors = np.linalg.eigh(covariance(x))
    return np.mean(((x - x.mean(0)) @ (vectors @ np.diag(1.0 / np.sqrt(values)) @ vectors.T)) ** 4)


def turned_onto(x):
    left, _, right = np.linalg.svd(x.T @ REAL[8, 4])
    return np.sum((x @ (left @ right) - REAL[8, 4]) ** 2)


def solved(x):
    found, residuals, rank, values = np.linalg.lstsq(x, REAL[8, 4][:, :2] ** 2, rcond=None)
    return np.sum(found**2) + np.sum(residuals) * rank + values[0] / values[-1] + np.linalg.cond(x)


def roots_again_and_again(x):
    a, total = covariance(x), 0.0
    for i in range(3):
        result = np.linalg.eigh(a)
        a = (result.eigenvectors * np.sqrt(result.eigenvalues + 1.0)) @ result.eigenvectors.T
        total += result[0][i]
    return total


def overwritten(x):
    values, vectors = np.linalg.eigh(np.stack([covariance(x), covariance(2.0 * x) + np.diag(x[0] ** 2)]))
    vectors[..., 0] *= 0.0
    values[0, 1] = values[1, 2] * 2.0
    return np.sum(np.abs(vectors * values[:, None, :]) ** 3)


@pytest.mark.share(5)
@pytest.mark.parametrize("f", [whitened, turned_onto, solved, roots_again_and_again, overwritten])
def test_in_programs(f: Any) -> None:
    check_grads(f, (REAL[8, 4],), order=2, rtol=1e-5)
    x = tx.tensor(REAL[8, 4], requires_grad=True)
    f(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), tx.grad(f)(REAL[8, 4]), rtol=1e-8, atol=1e-10)


def log_determinant(a):
    values, _ = np.linalg.eigh(a)
    return np.sum(np.log(values))


def root(a):
    values, vectors = np.linalg.eigh(a)
    return np.sum((vectors * np.sqrt(values)) @ vectors.T)


def logarithm(a):
    values, vectors = np.linalg.eigh(a)
    return ((vectors * np.log(values)) @ vectors.T)[0, 1]


def polar(a):
    left, _, right = np.linalg.svd(a)
    return (left @ right)[0, 1]


def first_components(x):
    values, vectors = np.linalg.eigh(x.T @ x)
    return np.sum(np.abs(vectors[:, -2:]) ** 3) + values[-1]


def test_values_have_derivatives_where_vectors_have_none() -> None:
    np.testing.assert_allclose(tx.grad(log_determinant, fallback="error")(np.eye(3)), np.eye(3))
    np.testing.assert_allclose(tx.grad(lambda a: np.sum(np.linalg.svd(a)[1]))(np.eye(3)), np.eye(3))
    assert tx.jvp(log_determinant, (np.eye(2),), (np.ones((2, 2)),))[1] == pytest.approx(2.0)
    a = tx.tensor(np.eye(2), requires_grad=True)
    log_determinant(a).backward()
    np.testing.assert_allclose(a.grad.numpy(), np.eye(2))


@pytest.mark.parametrize("f", [root, logarithm, polar])
def test_vectors_of_equal_values_are_refused_or_nan(f: Any) -> None:
    across = np.linalg.qr(REAL[3, 3])[0]
    for a in (np.eye(3), across @ np.diag([2.0, 2.0, 1.0]) @ across.T):
        with pytest.raises(tx.NotDifferentiable, match="equal values"):
            tx.grad(f, fallback="error")(a)
        assert np.isnan(tx.jvp(f, (a,), (REAL[3, 3],))[1])


def test_vectors_that_nobody_reads_may_belong_to_equal_values() -> None:
    x = REAL[2, 4]  # two of four eigenvalues are 0
    slope, h = tx.grad(first_components, fallback="error")(x), 1e-6
    moved = REAL[4, 2].T
    wanted = (first_components(x + h * moved) - first_components(x - h * moved)) / (2.0 * h)
    assert np.sum(slope * moved) == pytest.approx(wanted, rel=1e-6)
    assert tx.jvp(first_components, (x,), (moved,))[1] == pytest.approx(wanted, rel=1e-6)


def columns_of_one(a):
    return np.sum(np.linalg.svd(a, full_matrices=False)[0] ** 3)


REFUSED: list[tuple[Callable[..., Any], Any, str]] = [
    (lambda a: np.sum(np.linalg.qr(a)[1]), np.ones((3, 2)), "depend on one another"),
    (lambda a: np.sum(np.linalg.qr(a, "complete")[0]), REAL[3, 2], "completes the basis"),
    (lambda a: np.sum(np.linalg.qr(a, "raw")[0]), REAL[3, 2], "in this mode"),
    (lambda a: np.sum(np.abs(np.linalg.eigvals(a))), np.array([[1.0, 1.0], [0.0, 1.0]]), "defective"),
    (lambda a: np.sum(np.linalg.pinv(a, 0.5)), np.diag([1.0, 0.1]), "leaves out"),
    (columns_of_one, np.ones((3, 2)), "value 0"),
]


@pytest.mark.parametrize(("f", "a", "words"), REFUSED, ids=[words for _, _, words in REFUSED])
def test_refusals(f: Any, a: Any, words: str) -> None:
    f(a)
    with pytest.raises(tx.NotDifferentiable, match=words):
        tx.grad(f, fallback="error")(a)


def test_a_pseudo_inverse_moves_among_matrices_of_its_rank() -> None:
    def of_rank_two(b):
        return np.sum(np.cos(np.arange(16.0).reshape(4, 4)) * np.linalg.pinv(b @ b.T))

    check_grads(of_rank_two, (REAL[4, 2],))


def test_rounding_is_no_part_of_a_nuclear_norm() -> None:
    u, v = np.array([3.0, 4.0]), np.array([1.0, 2.0, 2.0])
    found = tx.grad(lambda a: np.linalg.norm(a, "nuc"))(np.outer(u, v))
    np.testing.assert_allclose(found, np.outer(u, v) / 15.0)


def test_only_what_is_read_is_in_the_text() -> None:
    text = tx.grad(log_determinant).source_for(np.eye(3))
    assert "demand_apart" not in text and "demand_apart" in tx.grad(root).source_for(np.eye(3))
