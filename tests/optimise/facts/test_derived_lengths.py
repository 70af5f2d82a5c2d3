"""Parts of arguments that are not of length one for the arguments at hand, and other arguments after them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.common.axes import Axes, Taken, evaluated
from tangentx.compile import pipeline
from tangentx.dispatch.entries import compilations
from tests.optimise.support import differences


def fluxes(u, d):
    return np.sum(d[1:] * (u[1:] - u[:-1]) ** 2)


def inner(u, d):
    return np.sum(np.sin(u[1:-1]) * d[2:])


def gated(h, w):
    n = h.shape[0]
    a, f = gate(h, w[:n], w[n : 2 * n])
    c, g = gate(a, w[:n], w[1 : n + 1])
    return np.sum(a * c) + np.sum(f * g)


def gate(h, v, w):
    f = 1.0 / (1.0 + np.exp(-h * v))
    return f * np.tanh(h * w), f


def in_place(u, d):
    v = u.copy()
    for _ in range(2):
        v[1:-1] += 0.1 * d[1:-1] * (v[2:] - v[:-2])
    return np.sum(v * v)


def with_steps(u, d):
    return np.sum(u[::2] * d[1::2]) + np.sum(u[-2:] * d[:2])


def in_a_new_array(u, d):
    m = len(u) - 1
    z = np.zeros(max(m, 0))
    z[:] = u[1:] * d[: max(m, 0)]
    return np.sum(z**2)


def of_a_part(u, d):
    e = u[:-1]
    return np.sum(np.exp(e[1:] * d[: len(e) - 1]))


def in_turns(u, d):
    h, total = u[1:], 0.0
    for _ in range(3):
        h, c = product(h, d[1:])
        total = total + np.sum(c)
    return total + np.sum(h)


def product(h, w):
    q = np.sin(h * w)
    return q, q * w[: len(h)]


def either(u, d):
    a, b = (u[1:], d[1:]) if len(u) > 2 else (u, d)
    return np.sum(a * b * b)


def tried(u, d):
    try:
        z = u[1:] + d[1:]
    except ValueError:
        z = u[:1] + d[:1]
    return np.sum(z * z)


def growing(u, d):
    total = np.zeros(1)
    for _ in range(2):
        total = total * u[:1] + d[1:]
    return np.sum(total * total)


ALL = (fluxes, inner, gated, in_place, with_steps, in_a_new_array, of_a_part, in_turns, either, tried, growing)


def raises(f: Any, *args: Any) -> type[Exception] | None:
    try:
        f(*args)
    except Exception as error:
        return type(error)
    return None


@pytest.mark.share(1)
@pytest.mark.parametrize("f", ALL)
def test_one_gradient_for_arguments_of_all_lengths(f: Any) -> None:
    """What does not fit raises what the program raises; what fits has the gradient that differences give."""
    draw = np.random.default_rng(3)
    lengths = list(itertools.product(range(5), range(6)))
    draw.shuffle(lengths)
    gradient = tx.grad(f, wrt=(0, 1))
    for a, b in lengths:
        u, d = draw.normal(size=a), draw.normal(size=b)
        if (error := raises(f, u, d)) is not None:
            assert raises(gradient, u, d) is error, (a, b)
            continue
        u_bar, d_bar = gradient(u, d)
        for got, of, given in ((u_bar, lambda x, d=d: f(x, d), u), (d_bar, lambda x, u=u: f(u, x), d)):
            assert got.shape == given.shape and np.allclose(got, differences(of, (given,)), rtol=1e-5, atol=1e-6), (
                a,
                b,
            )


@pytest.mark.parametrize("f", [fluxes, inner, gated, in_place, of_a_part])
def test_nothing_is_summed_back(f: Any) -> None:
    u, d = np.linspace(0.5, 1.0, 5), np.linspace(1.0, 2.0, 10 if f is gated else 4 if f is of_a_part else 5)
    assert "unbroadcast" not in tx.grad(f, wrt=(0, 1)).source_for(u, d)
    with pipeline.proofs(off="slices"):
        assert "unbroadcast" in tx.grad(f, wrt=(0, 1)).source_for(u, d)


def test_the_text_says_what_it_takes_for_granted() -> None:
    text = tx.grad(fluxes, wrt=(0, 1)).source_for(np.ones(4), np.ones(4))
    assert "# Nor are these lengths one: `len(d) - 1`, `len(u) - 1`." in text


def test_each_call_has_the_text_for_its_lengths() -> None:
    """Whatever the lengths of the first call were."""
    gradient, d = tx.grad(lambda u, d: np.sum(np.sin(u[1:]) * d[1:]), wrt=(0, 1)), np.ones(4)
    assert "unbroadcast" in gradient.source_for(np.ones(2), d)
    assert "unbroadcast" not in gradient.source_for(np.ones(4), d)
    gradient(np.ones(2), d), gradient(np.ones(4), d)
    before = compilations()
    for n in (4, 2, 4, 2):
        assert gradient(np.zeros(n), d)[0].tolist() == ([0.0, 3.0] if n == 2 else [0.0, 1.0, 1.0, 1.0])
        assert ("unbroadcast" in gradient.source) is (n == 2)
    assert compilations() == before


def test_lengths_of_arguments() -> None:
    shapes = ((5,), None, (3, 7))
    first, second = ("at", 0, 0), ("at", 2, 1)
    assert evaluated(("less", first, 2), shapes) == 3
    assert evaluated(("less", ("at", 2, 0), 5), shapes) == 0
    assert evaluated(("slice", second, first, None, None), shapes) == 2
    assert evaluated(("linear", frozenset(((first, 2), (second, -1))), 1), shapes) == 4
    assert evaluated(("at", 1, 0), shapes) is None
    assert evaluated(("slice", second, ("at", 1, 0), None, None), shapes) is None
    assert evaluated(("slice", second, None, None, 0), shapes) is None
    assert Taken((("less", first, 2),)).holds(shapes) and not Taken((("less", first, 4),)).holds(shapes)
    assert Taken().holds(()) and not Taken((("at", 1, 0),)).holds(shapes)
    assert Taken((), (("less", first, 4),)).fits(shapes) and not Taken((), (("less", first, 3),)).fits(shapes)


def test_a_sentence_about_lengths() -> None:
    axes = Axes(((), ()), ((5,), (3, 7)))
    axes.taken = dict.fromkeys([("slice", ("at", 1, 1), ("at", 0, 0), None, 2), ("less", ("at", 0, 0), 2)])
    assert axes.sentence("uw") == (
        "No axis of these arrays has length one, here and in every call.\n"
        "Nor are these lengths one: `len(range(w.shape[1])[len(u)::2])`, `len(u) - 2`."
    )


@pytest.mark.parametrize("order", list(itertools.permutations((1, 2, 4))))
def test_axes_of_length_one_come_after_parts_of_length_one(order: tuple[int, ...]) -> None:
    def f(u, d):
        inner = u[1:] * d[1:] if len(u) > 1 else u
        return np.sum(inner) + np.sum(u * d[:1]) + np.sum(u * u)

    gradient, d = tx.grad(f, wrt=(0, 1)), np.array([2.0, 3.0, 5.0, 7.0])
    for n in order:
        u = np.arange(1.0, n + 1)
        wanted = [differences(lambda x: f(x, d), (u,)), differences(lambda x, u=u: f(u, x), (d,))]
        assert all(np.allclose(a, b, atol=1e-6) for a, b in zip(gradient(u, d), wanted, strict=True))
