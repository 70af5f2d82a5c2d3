"""Sums of products, as products of vectors, matrices and tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tests.optimise.support import differences

DRAW = np.random.default_rng(7)
U, V, A, B, T = (DRAW.uniform(0.5, 1.5, size=n) for n in (4, 3, (4, 3), (4, 3), (4, 3, 2)))


def of_vectors(c, u):
    return np.sum(np.sin(c * u) * u)


def of_matrices(c, a):
    return np.sum(np.tanh(c * a))


def of_rows(r, a):
    return np.sum(np.exp(a * r) * a)


def of_columns(c, a):
    return np.sum(np.exp(a * c[:, None]) * a)


def of_tensors(w, t):
    return np.sum(np.cos(t * w[:, None]) ** 2)


def scaled(c, a):
    return np.mean(np.sum(np.exp(c * a), axis=1)) / 3.0


def of_quotients(d, a):
    return np.sum(a / d * a)


def written(c, u):
    v = u * c
    v[0] = c * v[1]
    v[1:] = v[1:] * c
    return np.sum(v * v)


def kept(c, a):
    p = np.exp(c * a)
    return np.sum(a * np.log(p / np.sum(p, axis=1, keepdims=True)))


CASES: list[tuple[Any, tuple[Any, ...], str]] = [
    (of_vectors, (0.7, U), "@"),
    (of_matrices, (0.7, A), "np.vdot("),
    (of_rows, (V, A), "np.einsum("),
    (of_columns, (U, A), ""),
    (of_tensors, (V, T), ""),
    (scaled, (0.7, A), "len(c_times_a)"),
    (of_quotients, (1.7, A), "np.vdot("),
    (written, (0.7, U), "@"),
    (kept, (0.7, A), "np.vdot("),
]


@pytest.mark.parametrize(("f", "args", "text"), CASES)
def test_gradients_with_products_are_those_without(f: Any, args: Any, text: str) -> None:
    with pipeline.proofs(off="products"):
        plain = tx.grad(f)
        wanted = plain(*args)
        assert not text or text not in plain.source or text in ("@", "len(c_times_a)")
    gradient = tx.grad(f)
    got = gradient(*args)
    assert np.allclose(got, wanted, rtol=1e-13, atol=0) and np.shape(got) == np.shape(wanted)
    assert np.allclose(got, differences(lambda x: f(x, *args[1:]), args[:1]), rtol=1e-6)
    assert text in gradient.source


def mixture(x, means, scales):
    z = (x[:, None, :] - means) * np.exp(-scales)
    return np.sum(np.log(np.sum(np.exp(-np.sum(z * z, axis=2)), axis=1)))


def test_a_product_that_sums_alone_read_is_not_made() -> None:
    x, means, scales = DRAW.normal(size=(50, 2)), DRAW.normal(size=(4, 2)), 0.1 * DRAW.normal(size=(4, 2))
    gradient = tx.grad(mixture, ("means", "scales"))
    got = gradient(x, means, scales)
    assert "z_bar" not in gradient.source and gradient.source.count("np.einsum(") == 2
    with pipeline.proofs(off="products"):
        wanted = tx.grad(mixture, ("means", "scales"))(x, means, scales)
    assert all(np.allclose(a, b, rtol=1e-12, atol=1e-14) for a, b in zip(got, wanted, strict=True))


def test_a_factor_goes_into_the_product_that_was_made_of_it() -> None:
    x, means, scales = DRAW.normal(size=(50, 2)), DRAW.normal(size=(4, 2)), 0.1 * DRAW.normal(size=(4, 2))
    text = tx.grad(mixture, ("means", "scales")).source_for(x, means, scales)
    assert '"ijk,ijk,ijk->jk", z, z, ' in text and "x_minus_means" not in text


def changed(x, means, scales):
    factor = np.exp(-scales)
    z = (x[:, None, :] - means) * factor
    logs = np.sum(z * z, axis=2)
    z[0] = 0.0
    return np.sum(logs * logs) + np.sum(z)


def bound_anew(x, means, scales):
    factor = np.exp(-scales)
    z = (x[:, None, :] - means) * factor
    logs = np.sum(z * z, axis=2)
    z = z * factor
    return np.sum(logs * logs) + np.sum(z * z * z)


@pytest.mark.parametrize("f", [mixture, changed, bound_anew])
def test_what_a_factor_went_into_is_still_there(f: Any) -> None:
    x, means, scales = DRAW.normal(size=(5, 2)), DRAW.normal(size=(4, 2)), 0.1 * DRAW.normal(size=(4, 2))
    got = tx.grad(f, "scales")(x, means, scales)
    assert np.allclose(got, differences(lambda a: f(x, means, a), (scales,)), rtol=1e-5, atol=1e-7)


def test_a_product_that_something_else_reads_is_made_once() -> None:
    x, means, scales = DRAW.normal(size=(50, 2)), DRAW.normal(size=(4, 2)), 0.1 * DRAW.normal(size=(4, 2))
    text = tx.grad(mixture, ("x", "means", "scales")).source_for(x, means, scales)
    assert "z_bar" in text and "ijk,ijk,ijk" not in text


def test_what_the_program_computes_is_computed_as_it_says() -> None:
    """The value beside a tangent has the bits of the program's own."""

    def f(x):
        return np.sum(x * x) + np.sum(np.sin(x) * x)

    x = DRAW.normal(size=1001)
    value, _ = tx.jvp(f, (x,), (x,))
    assert value == f(x)


def test_broadcast_arrays_are_no_vectors() -> None:
    """Of length one and three, of three and one: `@` would raise, or be another number."""

    def f(c, u, v):
        return np.sum(np.sin(c * u) * v)

    gradient = tx.grad(f)
    for n, m in ((3, 3), (1, 3), (3, 1), (1, 1)):
        u, v = U[:n], V[:m]
        assert np.isclose(gradient(0.7, u, v), differences(lambda c, u=u, v=v: f(c, u, v), (0.7,)), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_sums_of_other_numbers_stay(dtype: Any) -> None:
    """Of short numbers one after the other would be off; those of complex numbers have a rule of their own."""
    a = A.astype(dtype)
    text = tx.grad(lambda c, a: np.sum(np.real(np.exp(a * c) * a))).source_for(dtype(0.5), a)
    assert "vdot" not in text and "einsum" not in text


def test_sums_of_nothing() -> None:
    for f, a in ((of_vectors, np.zeros(0)), (of_matrices, np.zeros((0, 3))), (of_matrices, np.zeros((3, 0)))):
        assert tx.grad(f)(0.5, a) == 0.0
    assert tx.grad(of_rows)(np.ones(3), np.zeros((0, 3))).tolist() == [0.0] * 3
    assert np.isfinite(tx.grad(kept)(0.5, np.zeros((2, 3))))


def halves(a, v):
    q = np.sum(a * v, axis=0) * 0.5
    return q, np.sum(q * q) * 0.1


def test_values_beside_tangents_of_helpers_keep_their_bits() -> None:
    """What a helper gives beside a tangent is the user's, and so is what goes into its call."""

    def f(a, v):
        q, s = halves(np.sin(a) * a, v * v)
        return np.sum(a * q) + s * np.sum(q * v)

    a, v = DRAW.normal(size=(50, 7)), DRAW.normal(size=7)
    value, _ = tx.jvp(f, (a, v), (a, v))
    assert value == f(a, v)


def correlated(rho, v, z1, z2):
    other = 1.0 - rho * rho
    return np.sum((rho * z1 + other * z2) * v * v)


def test_sums_over_all_of_three_arrays_are_products_of_two() -> None:
    v, z1, z2 = DRAW.normal(size=(3, 50))
    gradient = tx.grad(correlated)
    assert "einsum" not in gradient.source_for(0.3, v, z1, z2) and "@" in gradient.source
    slope = np.sum(z1 * v * v) - 0.6 * np.sum(z2 * v * v)
    assert np.isclose(gradient(0.3, v, z1, z2), slope, rtol=1e-12)
