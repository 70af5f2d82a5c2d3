"""Copies that are read before anything is written are not made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tests.optimise.support import WAYS, differences, gradient

U = np.array([0.3, 0.7, 1.1, 0.4])


def stepped(u, c):
    for n in range(2):
        u[1:-1] += c * (u[2:] - u[:-2])
    return np.sum(u * u)


def advected(u, c):
    for n in range(2):
        u[1:-1] -= c * u[1:-1] * (u[2:] - u[:-2])
    return np.sum(u * u)


def given_on(u, c):
    v = c * u[:2]
    w = v
    u[:2] = v + w
    u[1:3] += v
    return np.sum(u * u) + np.sum(w * v)


def overwritten(u, c):
    u[1:] = c * u[:-1] * u[1:]
    u[:2] = u[2:] * c
    return np.sum(u * u)


def twice(u, c):
    """Two arrays of what is taken out of the cotangent would wait in place of one copy of that."""
    u[:2] = u[2:] * u[1:3]
    return np.sum(u * u) * c


def summed(u, c):
    for n in range(2):
        u[1:] = u[1:] + c * u[0]
    return np.sum(u * u)


def selected(u, c):
    rows = np.array([2, 0])
    for n in range(2):
        u[rows] = c * u[rows] * u[1]
        u[u > 0.5] *= c
    return np.sum(u * u)


def drawn_apart(u, c):
    rows = np.outer(u, u)
    for _ in range(2):
        pulls = np.zeros_like(rows)
        for i in range(3):
            pull = c * (rows[i + 1] - rows[i]) * rows[i]
            pulls[i] += pull
            pulls[i + 1] -= pull
        rows = rows + c * pulls * pulls
    return np.sum(rows * rows)


def relaxed(u, c):
    for _ in range(3):
        u[1:-1] = c * (u[:-2] + u[2:])
    return np.sum(u * u)


def by_the_old(u, c):
    for _ in range(2):
        old = u.copy()
        u[1:-1] = old[1:-1] - c * old[1:-1] * (old[1:-1] - old[:-2]) + c * old[2:]
    return np.sum(u * u)


def mixed(u, c):
    u[1:] = c * u[:-1] * u[0] + c * c * u[1:] * u[1:]
    return np.sum(u * u)


def places_move(u, c):
    rows = np.array([0, 2])
    for k in range(2):
        u[rows] = c * u[1:3] * u[rows]
        rows[0] += 1
    return np.sum(u * u)


def two_names(u, c):
    v = u[::-1]
    for _ in range(2):
        v[1:3] = c * v[:2] + v[2:] * np.sum(u[2:])
    return np.sum(u * v * u)


def left_early(u, c):
    for k in range(3):
        u[k] = c * u[k + 1] * u[k + 1]
        if u[k] > 0.3:
            break
        u[1:3] = u[2:] * c
    return np.sum(u * u)


WAITING = (relaxed, by_the_old, mixed, places_move, two_names, left_early)
ALL = (*WAITING, stepped, advected, given_on, overwritten, twice, summed, selected, drawn_apart)


@pytest.mark.parametrize("f", [relaxed, by_the_old], ids=lambda f: f.__name__)
def test_zeros_wait_for_those_who_read_what_was_there(f: Any) -> None:
    text = reverse(f)
    assert "clone" not in text and text.index("u_bar[1:-1]") < text.index("u_bar[1:-1] = 0.0")


def test_what_comes_off_a_tape_in_between_changes_nothing() -> None:
    assert "pull_bar = pulls_bar[i] - pulls_bar[i + 1]" in reverse(drawn_apart)


def test_what_arrays_select_is_a_copy_already() -> None:
    text = tx.grad(selected).source_for(U, 0.5)
    assert "clone(u[" not in text and "u_rows = u[rows]" in text


def reverse(f: Any) -> str:
    text = tx.grad(f).source_for(U, 0.5)
    return text[text.index("reverse sweep") :]


@pytest.mark.parametrize("f", [stepped, advected], ids=lambda f: f.__name__)
def test_what_stays_in_its_place_is_read_there(f: Any) -> None:
    text = reverse(f)
    assert "clone" not in text and "= 0.0" not in text
    assert "u_bar[2:] += " in text


def test_a_sum_reads_the_place_itself() -> None:
    assert "u_bar[0] += 0.5 * np.sum(u_bar[1:])" in reverse(summed).replace("c * np", "0.5 * np")


def test_what_is_written_before_it_is_read_is_copied() -> None:
    text = reverse(twice)
    assert text.count("clone(u_bar[") == 1 and "clone(u_bar[:2])" in text


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_all_ways_agree(f: Any) -> None:
    wanted = differences(lambda u, c: f(u.copy(), c), (U, 0.5))
    for off in (*WAYS[:2], "direct", "stores", "clones"):
        np.testing.assert_allclose(gradient(f, (U.copy(), 0.5), off), wanted, rtol=1e-6, atol=1e-8)
