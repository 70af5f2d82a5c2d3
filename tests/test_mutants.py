"""The oracle finds each fault: of the programs kept for the mutants each finds its own, and nothing without it."""

from __future__ import annotations

import pytest

from tests.mutants import KILLERS, MUTANTS, Mutant, kill, killer


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_caught(mutant: Mutant) -> None:
    """By its own program: where that no longer does, `python -m tests.mutants --keep` draws another."""
    assert mutant.codes
    assert kill(mutant)


def test_a_program_is_kept_for_each_mutant_and_no_other() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    assert sorted(KILLERS.glob("*.py")) == sorted(killer(m) for m in MUTANTS)


def test_a_mutant_leaves_no_trace() -> None:
    mutant = next(m for m in MUTANTS if m.name == "not zeroed")
    assert kill(mutant) and kill(mutant)


def test_a_mutant_whose_program_finds_nothing_is_not_caught() -> None:
    mutant = next(m for m in MUTANTS if m.name == "not zeroed")
    harmless = Mutant(mutant.name, "", mutant.target, ())
    assert not kill(harmless)
