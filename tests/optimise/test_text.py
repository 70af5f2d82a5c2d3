"""How the gradients of the textbook's programs read with all passes on."""

from __future__ import annotations

import numpy as np
import pytest

import tangentx as tx
from tests.conftest import Golden
from tests.optimise import textbook
from tests.optimise.test_dce import ARGUMENTS


@pytest.mark.parametrize("name", ARGUMENTS)
def test_text(name: str, golden: Golden) -> None:
    golden(f"optimised_{name}", tx.grad(getattr(textbook, name)).source_for(*ARGUMENTS[name]))


def starts_at_nothing(x, y, n):
    total = 0.0
    for _ in range(n):
        total = total * x + y
    return total


def test_no_comment_stands_before_what_is_returned() -> None:
    lines = tx.grad(starts_at_nothing, wrt=("x", "y")).source_for(0.5, 0.7, 3).splitlines()
    before = next(lines[i - 1] for i, line in enumerate(lines) if line.lstrip().startswith("return "))
    assert not before.lstrip().startswith("#")


def test_a_comment_with_which_both_ways_of_a_branch_begin_stands_above_it() -> None:
    def f(x, flag):
        total = x * x
        d = {"a": x, "b": x * x} if flag > 0.0 else {"b": x, "a": 2.0, "c": x * 3.0}
        for key in d:
            total = total + np.sin(d[key])
        return total

    gradient = tx.grad(f)
    assert np.isclose(gradient(0.5, 1.0), 1.0 + np.cos(0.5) + np.cos(0.25))
    assert gradient.source.count(': d = {"a": x') == 1
