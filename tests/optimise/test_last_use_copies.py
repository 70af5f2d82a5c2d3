"""The last copy of an array is the array itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx import arrays
from tangentx.compile import pipeline
from tangentx.optimise import last_use_copies
from tests.optimise.support import WAYS, differences, gradient, operations, unit_of

U = np.array([0.3, 0.7, 1.1, 0.4])


def finished(a):
    b = 2.0 * a
    b[0] = 3.0
    c = arrays.clone(b)
    return c


def seen_through_a_view(a):
    b = np.zeros_like(a)
    first = b[:2]
    first[0] = a[1]
    c = arrays.clone(b)
    return c


def of_the_caller(a):
    return arrays.clone(a)


def written_later(a):
    b = 2.0 * a
    c = arrays.clone(b)
    b[0] = 3.0
    return c


def read_later(a):
    b = 2.0 * a
    c = arrays.clone(b)
    c[0] = 3.0
    return c + b


def view_read_later(a):
    b = 2.0 * a
    first = b[:2]
    c = arrays.clone(b)
    c[0] = 3.0
    return np.sum(c) + np.sum(first)


def held_by_a_list(a):
    b = 2.0 * a
    held = [b]
    c = arrays.clone(b)
    return c


def copied_in_a_loop(a):
    b = 2.0 * a
    c = a
    for i in range(2):
        c = arrays.clone(b)
        c[i] = 0.0
    return c


KEPT = [np.zeros(4)]


def doubled(a):
    b = 2.0 * a
    b[0] = 3.0
    return b


def same(a):
    a[0] = 1.0
    return a


def added_to(rows, a):
    b = 2.0 * a
    rows.append(b)
    return b


def one_of_two(a):
    b = 2.0 * a
    return b, [b]


def kept_outside(a):
    return KEPT[0]


def made_by_a_callee(a):
    b = doubled(a)
    c = arrays.clone(b)
    return c


def given_back_by_a_callee(a):
    b = 2.0 * a
    c = same(b)
    d = arrays.clone(c)
    return d * 1.0 + b


def held_by_a_callee(a):
    rows = []
    b = added_to(rows, a)
    c = arrays.clone(b)
    c[0] = 5.0
    return c + rows[0]


def held_in_a_result(a):
    both = one_of_two(a)
    b = both[0]
    c = arrays.clone(b)
    c[0] = 5.0
    return c + both[1][0]


def of_outside(a):
    b = kept_outside(a)
    c = arrays.clone(b)
    c[0] = 5.0
    return c


@pytest.mark.parametrize("f", [finished, seen_through_a_view, made_by_a_callee], ids=lambda f: f.__name__)
def test_an_array_of_the_function_s_own_is_handed_on(f: Any) -> None:
    program, unit = unit_of(f, U)
    assert last_use_copies.run(program, [unit]) and arrays.clone not in operations(unit)


@pytest.mark.parametrize(
    "f",
    [
        *(of_the_caller, written_later, read_later, view_read_later, held_by_a_list, copied_in_a_loop),
        *(given_back_by_a_callee, held_by_a_callee, held_in_a_result, of_outside),
    ],
    ids=lambda f: f.__name__,
)
def test_what_others_may_see_is_copied(f: Any) -> None:
    program, unit = unit_of(f, U)
    assert not last_use_copies.run(program, [unit]) and arrays.clone in operations(unit)


def smoothed(u, c):
    u = u.copy()
    for n in range(3):
        u[1:-1] += c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def copied_twice(u, c):
    v, w = u.copy(), u.copy()
    v[1:] *= w[:-1]
    w[0] = c * v[1]
    return np.sum(v * w) + np.sum(u)


def test_the_cotangent_of_a_copy_is_that_of_the_original() -> None:
    text = tx.grad(smoothed).source_for(U, 0.2)
    assert (
        text.endswith("    return u__bar\n")
        and "u_bar = clone" not in text
        and "zeros_like" not in text
        and "unbroadcast" not in text
    )


@pytest.mark.parametrize("f", [smoothed, copied_twice], ids=lambda f: f.__name__)
def test_all_ways_agree(f: Any) -> None:
    wanted = differences(f, (U, 0.2))
    for off in (*WAYS[:2], "handed", "zeros", "simplify", "sink", "stores"):
        np.testing.assert_allclose(gradient(f, (U.copy(), 0.2), off), wanted, rtol=1e-6, atol=1e-8)


def relaxed(b, u):
    for _ in range(3):
        v = u.copy()
        v[1:-1] = 0.5 * (u[2:] + u[:-2] - b[1:-1])
        u = v
    return np.sum(u * u)


def written_after_it_was_copied(b, u):
    for _ in range(3):
        q = u - b
        p = u[::-1] * 2.0
        u = p[None]
        u = u[0] + q[0]
    return np.sum(u * u)


def kept_in_a_list(b, u):
    seen = []
    for _ in range(3):
        v = u.copy()
        v[1:] = u[:-1] * b[1:]
        seen.append(v)
        u = v
    return np.sum(u * u) + np.sum(seen[0] * seen[1])


@pytest.mark.parametrize("f", [relaxed, written_after_it_was_copied, kept_in_a_list])
def test_copies_in_loops_are_handed_on_where_nobody_reads_what_was_copied(f: Any) -> None:
    b, u = np.linspace(0.1, 0.6, 6).reshape(3, 2), np.linspace(0.5, 1.5, 6).reshape(3, 2)
    seed = u.copy()
    found = tx.grad(f, wrt=("b", "u"))(b, u)
    assert np.array_equal(u, seed)
    for off in ("handed", "stores", "all"):
        with pipeline.proofs(off=off):
            again = tx.grad(f, wrt=("b", "u"))(b, u)
        assert all(np.allclose(one, two, rtol=1e-13, atol=1e-15) for one, two in zip(found, again, strict=True))
    assert np.allclose(found[0], differences(lambda b: f(b, u), (b,)), rtol=1e-6, atol=1e-7)
    _, pullback = tx.vjp(f, b, u)
    assert all(np.array_equal(one, two) for one, two in zip(pullback(1.0), pullback(1.0), strict=True))


def test_the_shadow_of_a_copy_takes_its_place() -> None:
    text = tx.grad(relaxed).source_for(np.ones(6), np.ones(6))
    assert text.count("zeros_like") == 1 and "clone(u_bar)" not in text and "v_bar" not in text
