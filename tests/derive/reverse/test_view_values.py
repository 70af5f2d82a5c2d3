"""Arrays that are only computed with have cotangents of their own, though they are views now and then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tangentx.testing import check_grads

X = np.array([0.5, -1.25, 2.0, 0.75, -0.5, 1.5])


def halves(x):
    a = x[:3]
    b = x[3:]
    total = 0.0
    for _ in range(4):
        a = a + 0.1 * b
        b = b - 0.1 * np.sin(a)
        total += b @ b
    return total


def chosen(x):
    a = x[:3] if x[0] > 0.0 else x[3:] * 2.0
    return np.sum(a * a)


def turned(x):
    table = x.reshape(2, 3)
    other = table.T
    return np.sum(other @ table) * table[0, 1]


def of_one_trip(x):
    rows = x.reshape(3, 2)
    total = 0.0
    for i in range(3):
        row = rows[i]
        if i == 1:
            row = row * x[i]
        total = total + np.sum(np.exp(row) * row)
    return total


def until_small(x):
    a = x[1:4]
    while np.sum(a * a) > 0.1:
        a = 0.5 * np.sin(a)
        if a[0] > 10.0:
            break
    return np.sum(a)


def swapped(x):
    a, b = x[:3], x[3:]
    for i in range(3):
        if i % 2 == 0:
            a, b = b, a * x[i]
        else:
            a = a + b
    return np.sum(a * b)


def raveled_twice(x):
    table = x.reshape(2, 3)
    columns = np.ravel(table.T)
    return np.sum(columns * np.ravel(table)) * x[2]


def written_later(x):
    y = x * 2.0
    a = y[:3]
    for i in range(2):
        a = a * 1.5 if i else y.reshape(2, 3)[1]
    y[4] = x[0]
    return np.sum(a * a) + np.sum(y)


def in_a_list(x):
    a = x.reshape(-1)
    kept = []
    for i in range(2):
        kept.append(a)
        a = a * x[i]
    return np.sum(kept[1] * kept[0]) + np.sum(a)


def given_back(x):
    def cut(v, k):
        part = v[k:]
        if k == 1:
            part = part * 2.0
        return part

    return np.sum(cut(x, 1) ** 2) + np.sum(cut(x, 2) ** 3)


def diagonal(x):
    table = np.outer(x, x)
    total = table[0, 1]
    for _ in range(2):
        d = np.diagonal(table)
        total = total + np.sum(d * d)
    return total


def by_elements(x):
    p = x[:3]
    total = 0.0
    for k in range(4):
        d = np.stack([p[1] - p[0], p[0] * p[2], x[3] * p[1]])
        p = p + 0.1 * d
        total = total + np.sqrt(d @ d)
    return total + p[0]


def from_an_argument(x):
    y = x
    for k in range(3):
        y = y * y[k] + x[0]
    return y[1] * y[2]


def in_turns(x):
    a, b = x[:3], x[3:] * 2.0
    for k in range(3):
        if a[0] > b[k]:
            a, b = b, a
        else:
            b = b + a * b[0]
    return np.sum(a) * b[1]


def views_in_a_loop(x):
    total = 0.0
    v = x * 1.0
    for k in range(3):
        total = total + v[k]
        v = x[k : k + 3]
        total = total * v[1]
    return total


PROGRAMS = [
    by_elements,
    from_an_argument,
    in_turns,
    views_in_a_loop,
    halves,
    chosen,
    turned,
    of_one_trip,
    until_small,
    swapped,
    raveled_twice,
    written_later,
    in_a_list,
    given_back,
    diagonal,
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives_are_right(f: Any) -> None:
    check_grads(f, (X,))
    found = tx.grad(f)(X)
    with pipeline.proofs(off="apart"):
        np.testing.assert_allclose(found, tx.grad(f)(X), rtol=1e-14)
    pull = tx.vjp(f, X)[1]
    np.testing.assert_array_equal(pull(1.0), pull(1.0))
    with tx.checked():
        np.testing.assert_allclose(tx.grad(f)(X), found, rtol=1e-14)


@pytest.mark.parametrize("shape", [(0,), (1,), (4,), (2, 3), (1, 3), (3, 1)])
def test_whatever_the_shape(shape: tuple[int, ...]) -> None:
    def f(x):
        a = x.T
        b = a.reshape(-1)
        total = np.sum(x[:1]) * 0.5
        for _ in range(2):
            b = b * 1.5 + b * b
        return total + np.sum(np.sin(a)) + np.sum(b)

    x = np.linspace(0.1, 0.9, int(np.prod(shape))).reshape(shape)
    slope = 1.5 + 2.0 * x
    once = 1.5 * x + x * x
    expected = np.cos(x) + (1.5 + 2.0 * once) * slope
    expected[:1] += 0.5
    np.testing.assert_allclose(tx.grad(f)(x), expected, rtol=1e-13)


def _forward(f: Any) -> str:
    source: str = tx.grad(f).source_for(X)
    return source.partition("---- reverse sweep ----")[0].partition("forward sweep")[2]


@pytest.mark.parametrize("f", [by_elements, halves, swapped, raveled_twice])
def test_the_forward_sweep_makes_no_cotangents(f: Any) -> None:
    assert "_bar" not in _forward(f)
    with pipeline.proofs(off="apart"):
        assert "_bar" in _forward(f)


def test_complex_parts_that_are_viewed_keep_their_shadows() -> None:
    def f(z):
        y = z * 2.0
        a = y.reshape(-1)
        for _ in range(2):
            a = a * y[0]
        return np.sum(np.abs(a) ** 2) + np.sum(y.imag * y.real)

    check_grads(f, (np.array([0.5 + 0.25j, -1.0 + 2.0j]),))


def of_itself(f):
    """The derivative of `f` along the array at which it is taken: primal and tangent are one array."""

    def along(x):
        return tx.jvp(f, (x,), (x,))[1]

    return along


def slopes_of(x):
    return np.sum(np.gradient(x, 0.5) ** 2)


def rows_of(x):
    return np.sum((x.reshape(2, 3)[0] * x[0]) ** 2)


def turned_about(x):
    return np.sum((np.rot90(x.reshape(2, 3))[0] * x[1]) ** 2)


def flat_parts(x):
    return np.sum((np.ravel(x)[1:] * x[0]) ** 2)


def inserted(x):
    return np.sum(np.insert(x, 1, x[0]) ** 2)


@pytest.mark.parametrize("f", [slopes_of, rows_of, turned_about, flat_parts, inserted], ids=lambda f: f.__name__)
def test_a_tangent_that_is_the_primal_itself(f: Any) -> None:
    point = X.copy()
    check_grads(of_itself(f), (point,), order=1)
    np.testing.assert_array_equal(point, X)
