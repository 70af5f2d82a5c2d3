"""The mutants fit the compiler as it is. That the oracle catches each is a long run by hand: `tests.mutants`."""

from __future__ import annotations

import pytest

from tests.mutants import MUTANTS, Mutant, caught_at


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_text_to_be_changed_is_there(mutant: Mutant) -> None:
    assert mutant.codes


@pytest.mark.parametrize("name", ["not zeroed", "record is a view"])
def test_a_mutant_is_caught_and_leaves_no_trace(name: str) -> None:
    mutant = next(m for m in MUTANTS if m.name == name)
    assert caught_at(mutant, limit=20) is not None
    assert caught_at(Mutant("none", "", mutant.target, ()), limit=5) is None
