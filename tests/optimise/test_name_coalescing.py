"""Variants of a name are one name again where they never hold a value at the same time."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tangentx as tx
from tests.optimise import textbook
from tests.optimise.test_dce import ARGUMENTS, gradient, text
from tests.programs import PROGRAMS


def test_restored_names_read_as_the_users() -> None:
    found = text(textbook.glide, ARGUMENTS["glide"], ("dead", "coalesce"))
    assert "v = v_tape.pop()" in found
    assert not re.search(r"\b[vx]_\d*\b", found)


def test_an_entry_copy_takes_the_name_of_the_argument() -> None:
    assert "u = entry_copy(u)" in text(textbook.smooth, ARGUMENTS["smooth"], ("dead", "coalesce"))


def kept_apart(x):
    """Both meanings of `y` are alive at once, by way of `z`."""
    y = x * x
    z = y
    y = np.sin(x)
    return z * y


def test_values_that_are_alive_together_stay_apart() -> None:
    assert gradient(kept_apart, (0.7,), ()) == pytest.approx(2 * 0.7 * np.sin(0.7) + 0.49 * np.cos(0.7))


def test_a_parameter_that_is_only_renamed_has_the_name() -> None:
    found = tx.grad(textbook.settle).source_for(*ARGUMENTS["settle"])
    assert "def relax_backward(x, x_bar, b, b_bar, w, x_tape):" in found
    assert "x_tape = " not in found.partition("def relax_backward")[2]


def swapped(x, a):
    b = a
    for _ in range(2):
        a, b = b * x, a * b
    return np.sum(a * b)


def test_a_copy_is_one_name_with_what_it_was_made_of_unless_one_is_bound_while_the_other_is_read() -> None:
    a = np.array([0.613, -0.352])
    slope = (swapped(0.7 + 1e-6, a) - swapped(0.7 - 1e-6, a)) / 2e-6
    assert tx.grad(swapped)(0.7, a) == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("name", ["edges_of", "stirred", "noisy", "payoff"])
def test_no_name_stands_for_what_is_copied_at_once(name: str) -> None:
    program = next(p for p in PROGRAMS if p.name == name)
    found = tx.value_and_grad(program.fn, wrt=program.wrt).source_for(*program.args())
    assert not re.search(r"^ +(\w+) = .*\n +\w+ = \1\n +\w+ = \w+(\.\w+)?\(\1\)$", found, re.MULTILINE)
