"""How the gradients of the textbook's programs read with all passes on."""

from __future__ import annotations

import pytest

import tangentx as tx
from tests.conftest import Golden
from tests.optimise import textbook
from tests.optimise.test_dead import ARGUMENTS


@pytest.mark.parametrize("name", ARGUMENTS)
def test_text(name: str, golden: Golden) -> None:
    golden(f"optimised_{name}", tx.grad(getattr(textbook, name)).source_for(*ARGUMENTS[name]))
