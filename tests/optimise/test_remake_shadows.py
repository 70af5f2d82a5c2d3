"""Shadows and constants that are made anew, not recorded; programs in which a shadow must be the one that was there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline

U = np.array([0.7, 1.2, -0.4, 0.9, 1.1])


def recurrent(u):
    loss = 0.0
    for k in range(4):
        u = np.tanh(u * u + k)
        loss = loss + u[0] ** 2
    return loss + u[-1]


def shrinking(u):
    for _ in range(3):
        u = u[1:] * u[:-1]
    return u[0] + u[-1] ** 2


def slopes(u):
    y = u[:2]
    for _ in range(3):
        y = y + 0.1 * np.array([y[1], -u[2] * y[0] * y[0]])
    return y[0] * y[1]


def in_turn(u):
    for k in range(4):
        if u[k] > 0.0:
            u = u * u
        else:
            u = np.sin(u) + u[0]
    return np.sum(u[1:])


def left_early(u):
    for k in range(5):
        u = u * u[k]
        if u[0] > 0.5:
            break
        u = u + 0.1
    return u[1]


def bound_now_and_then(u):
    total = 0.0
    for k in range(5):
        total = total + u[k] * u[0]
        if k % 2 == 1:
            u = np.sin(u)
    return total


def by_two_names(u):
    v = u
    for k in range(3):
        u = u * v[k]
        v = u
    return u[0] * v[1]


def older_beside(u):
    v = u
    for k in range(3):
        v = u * 2.0
        u = u * v[k] + u[0]
    return u[0] * v[1]


def swapped(u):
    v = np.cos(u)
    for k in range(4):
        u, v = v * u[k], u + v[0]
    return u[1] * v[2]


def kept_in_a_list(u):
    seen = []
    for k in range(3):
        seen.append(u)
        u = u * u[k]
    return seen[1][2] * u[0] + seen[0][1]


def part_of_what_was(u):
    for k in range(3):
        v = u[1:]
        u = np.sin(u) * u[k]
        u[0] = u[0] + v[0] * v[1]
    return u[0] * u[1]


def in_two_loops(u):
    for j in range(2):
        for k in range(3):
            u = u * u[k] + j
        u = np.tanh(u)
    return u[0] + u[1] * u[2]


def written_before(u):
    u = u.copy()
    for k in range(3):
        u[k] = u[k] * u[k + 1]
        u = u * u[0]
    return u[0] * u[3]


def copied_of_another_each_trip(u):
    total = 0.0
    w = np.sin(u[1:])
    for k in range(3):
        v = u.copy()
        v[0] = v[0] * (k + 2.0)
        total = total + np.sum(v * v * v)
        u = w
    return total


def copied_before_its_name_is_bound(u):
    total = 0.0
    for k in range(3):
        v = u.copy()
        v[k] = v[k] * v[0]
        total = total + np.sum(v * v * v)
    u = u[:2] * total
    return u[0] + u[1]


def in_turns(u):
    for k in range(3):
        v = u.copy()
        v[1:-1] = u[2:] * u[:-2] + k
        u = v
    return np.sum(u * u)


def in_turns_of_a_number(u):
    a = np.sin(u)
    for _ in range(3):
        b = np.empty_like(a)
        b[0] = a[0]
        b[1:] = a[1:] * a[:-1] + u[1:]
        a = b
    return a[3] * a[4]


def in_turns_by_chance(u):
    a = u.copy()
    for k in range(3):
        b = a.copy()
        b[k] = b[k] * b[k + 1]
        if k != 1:
            a = b
    return np.sum(a * a) + b[1]


def in_turns_and_kept(u):
    a = u * 2.0
    seen = []
    for k in range(3):
        b = a.copy()
        b[k] = a[k] * a[k + 1]
        seen.append(b)
        a = b
    return seen[0][1] * a[0] + seen[1][1] * seen[2][2]


def in_turns_until(u):
    a = u * 2.0
    for k in range(4):
        b = a.copy()
        b[1:] = a[1:] * a[:-1]
        a = b
        if a[1] > 1.0:
            break
    return np.sum(a * a)


def in_turns_with_a_view(u):
    a = u * 2.0
    for k in range(3):
        rest = a[1:]
        b = np.zeros_like(a)
        b[:-1] = rest * a[:-1]
        rest[0] = rest[0] * 0.5
        b[-1] = rest[0]
        a = b
    return np.sum(a * a)


def in_turns_of_three(u):
    old, now = u * 1.0, np.sin(u)
    for _ in range(3):
        new = np.zeros_like(now)
        new[1:-1] = 2.0 * now[1:-1] - old[1:-1] + 0.3 * now[2:] * now[:-2]
        old = now
        now = new
    return np.sum(now * now) + old[1]


def in_turns_within(u):
    total = 0.0
    for j in range(2):
        a = u * (j + 1.0)
        for _ in range(2):
            b = a.copy()
            b[1:] = a[1:] * a[:-1]
            a = b
        total = total + np.sum(a * a)
    return total


def in_turns_and_back(u):
    a = u * 1.0
    for _ in range(2):
        b = a.copy()
        b[1:] = a[1:] * a[:-1]
        a = b
    total = a[2] * a[3]
    a[0] = a[1] * total
    for _ in range(2):
        c = np.zeros_like(a)
        c[:-1] = a[1:] * a[0]
        a = c
    return np.sum(a) * total


def in_turns_never(u):
    a = u * 1.0
    for _ in range(0):
        b = a.copy()
        b[1:] = a[1:] * a[:-1]
        a = b
    return np.sum(a * a)


def rolled(u, n):
    for _ in range(n):
        p = u.copy()
        u[1:-1] = p[:-2] * p[2:]
        u[0] = p[1]
    return u


def by_a_helper(u):
    v = u * 1.0
    for _ in range(2):
        v = rolled(v, 2)
    return np.sum(v * v)


def pulled(y, rate):
    return np.array([y[1], rate * (1.0 - y[0] ** 2) * y[1] - y[0]])


def stepped(y, rate):
    middle = y + 0.05 * pulled(y, rate)
    return y + 0.1 * pulled(middle, rate)


def by_helpers_of_helpers(u):
    y = u[:2]
    for _ in range(3):
        y = stepped(y, u[2])
    return y[0] * y[1]


def seen_by_a_view(u):
    t = u * u
    rest = t[1:]
    rest[0] = rest[1] * u[0]
    return t[0] * rest[0] + rest[2]


def by_a_helper_with_a_view(u):
    return seen_by_a_view(u) * seen_by_a_view(np.sin(u))


def handed_over(u, seen):
    t = u + 1.0
    seen.append(t)
    return t[0] * t[1]


def by_a_helper_that_keeps_it(u):
    seen = []
    total = handed_over(u, seen) + handed_over(u * u, seen)
    return total + seen[0][1] * seen[1][2]


class Pushed:
    def __init__(self, first):
        self.items = [first]

    def push(self, v):
        self.items.append(v)

    def product(self):
        found = 1.0
        for v in self.items:
            found = found * v
        return found


def by_a_method_that_appends(u):
    pushed = Pushed(u)
    pushed.push(u * u)
    pushed.push(np.sin(u))
    return np.sum(pushed.product())


def grown(u, n):
    v = u
    for _ in range(n):
        w = v * v
        w[0] = v[1]
        v = w
    return v[0] + v[1] * v[2]


def by_a_helper_that_takes_turns(u):
    return grown(u, 3) * grown(u, 1)


def descended(u, depth):
    if depth == 0:
        return u[0]
    v = u * u
    return v[1] * descended(v, depth - 1)


def by_a_helper_of_its_own(u):
    return descended(u, 3)


PROGRAMS: tuple[Callable[..., Any], ...] = (
    by_a_helper,
    by_helpers_of_helpers,
    by_a_helper_with_a_view,
    by_a_helper_that_keeps_it,
    by_a_method_that_appends,
    by_a_helper_that_takes_turns,
    by_a_helper_of_its_own,
    recurrent,
    shrinking,
    slopes,
    in_turn,
    left_early,
    bound_now_and_then,
    by_two_names,
    older_beside,
    swapped,
    kept_in_a_list,
    part_of_what_was,
    in_two_loops,
    written_before,
    copied_of_another_each_trip,
    copied_before_its_name_is_bound,
    in_turns,
    in_turns_of_a_number,
    in_turns_by_chance,
    in_turns_and_kept,
    in_turns_until,
    in_turns_with_a_view,
    in_turns_of_three,
    in_turns_within,
    in_turns_and_back,
    in_turns_never,
)


def slope(fn: Callable[..., Any], direction: np.ndarray[Any, Any], step: float = 1e-6) -> float:
    """A difference quotient, along a direction."""
    return float((fn(U + step * direction) - fn(U - step * direction)) / (2 * step))


@pytest.mark.share(3)
@pytest.mark.parametrize("off", [(), "anew"], ids=["on", "off"])
@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_right_at_both_orders(fn: Callable[..., Any], off: str) -> None:
    direction = np.random.default_rng(1).normal(size=U.shape)
    with pipeline.proofs(off=off):
        gradient: Any = tx.grad(fn, fallback="error")
        found = gradient(U)
        curved = tx.jvp(gradient, (U,), (direction,), fallback="error")[1]
    assert np.dot(found, direction) == pytest.approx(slope(fn, direction), rel=1e-6)
    assert curved == pytest.approx((gradient(U + 1e-6 * direction) - gradient(U - 1e-6 * direction)) / 2e-6, rel=1e-5)


def text(fn: Callable[..., Any], off: str | tuple[str, ...] = ()) -> str:
    gradient: Any = tx.grad(fn, fallback="error")
    with pipeline.proofs(off=off):
        source: str = gradient.source_for(U)
    return source


def test_a_shadow_is_made_where_its_array_is_taken_back() -> None:
    forward, reverse = text(recurrent).split("reverse sweep")
    assert "zeros" not in forward and "u_bar = np.zeros_like(u)" in reverse
    assert "zeros" in text(recurrent, "anew").split("reverse sweep")[0]


def test_shadows_that_take_turns_are_not_recorded() -> None:
    assert "a_bar" not in text(in_turns_of_a_number).split("reverse sweep")[0]
    assert "a_bar" in text(in_turns_of_a_number, "anew").split("reverse sweep")[0]
    assert "a_bar" in text(in_turns_and_kept).split("reverse sweep")[0]


def test_constants_are_not_recorded() -> None:
    assert "[0.0, 0.0]" not in text(slopes).split("reverse sweep")[0]
    assert "[0.0, 0.0]" in text(slopes, ("anew", "operands")).split("reverse sweep")[0]


def test_a_shadow_that_other_names_reach_is_recorded() -> None:
    assert "bar" in text(kept_in_a_list).split("reverse sweep")[0]


def test_a_callee_saves_no_shadows() -> None:
    assert "tape.append((p, p_bar))" in text(by_a_helper, "anew")
    found = text(by_a_helper)
    assert "p_tape.append(p)" in found and "p_bar = np.zeros_like(u)" in found


def test_a_pullback_makes_shadows_each_time() -> None:
    for fn in (by_a_helper, by_helpers_of_helpers, by_a_helper_with_a_view):
        _, pullback = tx.vjp(fn, U, fallback="error")
        assert np.array_equal(pullback(1.0), pullback(1.0))
        np.testing.assert_allclose(pullback(2.0), 2.0 * tx.grad(fn, fallback="error")(U), rtol=1e-12)


def tangents_of_a_closure(x):
    return tx.jvp(lambda a: np.sum(a) * 2.0 * x[0], (x,), (np.ones(3),))[1]


def test_a_shadow_is_not_made_like_an_argument_that_is_left_out() -> None:
    np.testing.assert_allclose(
        tx.grad(tangents_of_a_closure, fallback="error")(np.array([0.7, -1.3, 2.1])), [6.0, 0, 0]
    )
