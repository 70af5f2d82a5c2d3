"""Variants of a name are one name again where they never hold a value at the same time."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tangentx as tx
from tests.optimise import textbook
from tests.optimise.test_dce import ARGUMENTS, gradient, text


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
