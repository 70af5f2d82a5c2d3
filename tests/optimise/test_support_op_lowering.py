"""Support functions that come to operators, where they do and where they must not."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline

RNG = np.random.default_rng(0)


def both(f, *args, wrt=0):
    """The text, after gradients with and without the pass have been found equal."""
    on = tx.grad(f, wrt)(*args)
    with pipeline.proofs(off="operators"):
        off = tx.grad(f, wrt)(*args)
    for a, b in zip(on if isinstance(wrt, tuple) else [on], off if isinstance(wrt, tuple) else [off]):
        assert type(a) is type(b) and np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=1e-12, atol=0)
    return tx.grad(f, wrt, guarded=True).source_for(*args)


def divided(x, y):
    return np.sum(x / y * x)


def selected(x, y):
    return np.sum(np.where(y > 0.0, x / y, 0.0))


def test_a_cotangent_is_divided() -> None:
    text = both(divided, RNG.random(3) + 1, RNG.random(3) + 1, wrt=("x", "y"))
    assert "quotient(" not in text and "/ y" in text.partition("reverse sweep")[2]


def test_not_where_an_element_may_be_chosen_away() -> None:
    with np.errstate(divide="ignore"):
        assert "quotient(" in both(selected, np.ones(2), np.array([0.0, 2.0]), wrt=("x", "y"))
        assert tx.grad(selected, "y")(np.ones(2), np.array([0.0, 2.0])).tolist() == [0.0, -0.25]


def test_not_where_dtypes_would_change() -> None:
    x, y = RNG.random(3).astype("f4") + 1, RNG.random(3) + 1
    both(divided, x, y, wrt=("x", "y"))
    assert tx.grad(divided)(x, y).dtype == np.float32


@pytest.mark.parametrize("left, right", [((3, 4), (4, 2)), ((3, 4), (4,)), ((4,), (4, 2)), ((4,), (4,))])
@pytest.mark.parametrize("product", [lambda x, y: x @ y, lambda x, y: np.dot(x, y)])
def test_products_of_matrices_and_vectors(left, right, product) -> None:
    text = both(lambda x, y: np.sum(product(x, y) ** 2), RNG.random(left), RNG.random(right), wrt=("x", "y"))
    assert len(left) + len(right) < 3 or "_left" not in text and "_right" not in text


def test_not_where_the_rank_of_a_factor_is_not_known() -> None:
    text = both(lambda a: np.dot(a * 2.0, a[:, None].squeeze()), RNG.random(3))
    assert "np.outer(" not in text


def test_not_of_stacks() -> None:
    f = lambda x, y: np.sum((x @ y) ** 2)
    assert "matmul_left" in both(f, RNG.random((2, 3, 4)), RNG.random((4, 5)), wrt=("x", "y"))


def mean_of_squares(x):
    r = x - 1.0
    return np.mean(r * r)


def test_a_shape_is_asked_of_what_is_there_anyway() -> None:
    text = both(mean_of_squares, RNG.random(3))
    assert "r.size" in text and "count_reduced" not in text and text.count("r * r") == 1  # the comment


def total(x):
    return np.sum(x)


def sums(x, y):
    return np.sum(x + y)


def test_what_is_given_back_is_nobody_elses() -> None:
    x, y = RNG.random(3), RNG.random(3)
    space = {}
    for f, wrt in ((total, "x"), (sums, ("x", "y"))):
        text = both(f, x, *([y] if wrt != "x" else []), wrt=wrt)
        exec(text, space)
        given = space[f"{f.__name__}_grad"](*([x] if wrt == "x" else [x, y]))
        arrays = [*(given if isinstance(given, tuple) else (given,)), x, y]
        assert not any(np.shares_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])
        assert all(a.flags.writeable for a in arrays)


def biased(w, b, x):
    return np.sum(np.tanh(x @ w + b))


def test_what_is_made_here_is_not_copied() -> None:
    assert "clone" not in both(biased, RNG.random((3, 2)), RNG.random(2), RNG.random((4, 3)), wrt=("w", "b"))


def table(x, y):
    return np.sum(np.sin(np.outer(x, y)))


def test_outer_products() -> None:
    found = both(table, RNG.random(3), RNG.random(2), wrt=("x", "y"))
    assert re.search(r"\bouter_\w+\(", found) is None


def dot(x, y):
    return np.sin(x @ y)


def test_products_of_two_vectors() -> None:
    assert "matmul_" not in both(dot, RNG.random(3), RNG.random(3), wrt=("x", "y"))


def windows(image, kernel):
    total = 0.0
    for i in range(len(image) - len(kernel) + 1):
        total = total + np.sum(image[i : i + len(kernel)] * kernel) ** 2
    return total


def test_nothing_is_recorded_for_the_shape_that_a_parameter_has() -> None:
    text = both(windows, RNG.random(5), RNG.random(2), wrt=("image", "kernel"))
    assert "append(image" not in text and "np.full" not in text


def weighed(x, a, b):
    return np.sum(np.tanh((x @ a) @ (x @ b).T) ** 2)


def test_no_matrix_is_turned_twice() -> None:
    """The cotangent of ``k`` in ``q @ k.T`` is a product of `q`, and that of `q` one of `k`."""
    text = both(weighed, RNG.random((4, 3)), RNG.random((3, 2)), RNG.random((3, 2)), wrt=("x", "a", "b"))
    reverse = [line for line in text.partition("reverse sweep")[2].splitlines() if "# line" not in line]
    assert reverse and not any(").T" in line for line in reverse) and any(".T @ x" in line for line in reverse)


def system(A, b):
    return np.sum(np.linalg.solve(A, b) ** 2)


def code_of(f, *args, wrt=(0, 1)):
    text = tx.grad(f, wrt).source_for(*args)
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))


@pytest.mark.parametrize("shape", [(3,), (3, 2), (3, 1), (3, 3)])
def test_one_linear_system(shape: tuple[int, ...]) -> None:
    A, b = 3.0 * np.eye(3) + np.arange(9.0).reshape(3, 3) / 9, np.linspace(1.0, 2.0, int(np.prod(shape))).reshape(shape)
    text = code_of(system, A, b)
    assert "A.T" in text and ("np.outer(" in text) == (len(shape) == 1)
    for word in ("one_system_each", "columns_outer", "swapaxes", "unbroadcast"):
        assert word not in text
    A_bar, b_bar = tx.grad(system, (0, 1))(A, b)
    step = 1e-6 * np.cos(np.arange(9.0)).reshape(3, 3)
    assert np.isclose(np.sum(A_bar * step), (system(A + step, b) - system(A - step, b)) / 2, rtol=1e-5)
    step = 1e-6 * np.cos(np.arange(b.size)).reshape(shape)
    assert np.isclose(np.sum(b_bar * step), (system(A, b + step) - system(A, b - step)) / 2, rtol=1e-5)


def test_stacks_of_systems_are_looked_at() -> None:
    A, b = np.stack([3.0 * np.eye(2), 2.0 * np.eye(2) + 0.5]), np.linspace(1.0, 2.0, 4).reshape(2, 2, 1)
    text = code_of(system, A, b)
    assert "one_system_each" in text and "columns_outer" in text and "swapaxes" in text
    A_bar, _ = tx.grad(system, (0, 1))(A, b)
    step = 1e-6 * np.cos(np.arange(8.0)).reshape(2, 2, 2)
    assert np.isclose(np.sum(A_bar * step), (system(A + step, b) - system(A - step, b)) / 2, rtol=1e-5)


def filtered(F, P, n):
    for _ in range(n):
        P = np.tanh(F @ P @ F.T)
    return np.sum(P * P)


def test_transposes_are_formed_again_and_undo_each_other() -> None:
    F, P = np.cos(np.arange(9.0)).reshape(3, 3), np.eye(3)
    text = code_of(filtered, F, P, 3)
    assert ".T.T" not in text and "F_T" not in text
    step = 1e-6 * np.sin(np.arange(9.0)).reshape(3, 3)
    slope = (filtered(F + step, P, 3) - filtered(F - step, P, 3)) / 2
    assert np.isclose(np.sum(tx.grad(filtered)(F, P, 3) * step), slope, rtol=1e-5)


def centred(X):
    return np.sum((X - X.mean(axis=1, keepdims=True)) ** 3)


def test_a_mean_along_one_axis_is_divided_by_its_length() -> None:
    X = np.cos(np.arange(6.0)).reshape(2, 3)
    text = code_of(centred, X, wrt=0)
    assert "X.shape[1]" in text and "count_reduced" not in text
    step = 1e-6 * np.sin(np.arange(6.0)).reshape(2, 3)
    assert np.isclose(np.sum(tx.grad(centred)(X) * step), (centred(X + step) - centred(X - step)) / 2, rtol=1e-5)


def mixed(h, q, steps):
    h, q = h.copy(), q.copy()
    for _ in range(steps):
        u = q / h
        h[1:] = h[1:] - 0.1 * u[:-1] * h[1:]
        q[:-1] = 0.9 * q[:-1] + 0.1 * u[1:] * u[:-1]
    return np.sum(h * q)


def test_cotangents_are_divided_by_arrays_that_are_written_elsewhere() -> None:
    h, q = np.linspace(1.0, 2.0, 5), np.cos(np.arange(5.0))
    both(mixed, h, q, 3, wrt=(0, 1))
    assert "1.0 / h" not in tx.grad(mixed, (0, 1)).source_for(h, q, 3)
    step = 1e-6 * np.sin(np.arange(5.0))
    slope = (mixed(h + step, q - step, 3) - mixed(h - step, q + step, 3)) / 2
    found = tx.grad(mixed, (0, 1))(h, q, 3)
    assert np.isclose(np.sum(found[0] * step) - np.sum(found[1] * step), slope, rtol=1e-5)
