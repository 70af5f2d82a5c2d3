"""How the gradients of the textbook's programs read with all passes on."""

from __future__ import annotations

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
