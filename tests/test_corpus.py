"""The corpus itself: enough programs, smooth ones, whose differences can be trusted. Needs no tangentx."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.programs import PROGRAMS
from tests.programs.case import Program
from tests.programs.reference import bend, direction, slope, slopes

EACH = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)


def test_enough_programs_of_different_names() -> None:
    assert len(PROGRAMS) >= 75
    assert [name for name, count in Counter(program.name for program in PROGRAMS).items() if count > 1] == []


def test_few_are_excused_and_each_names_its_kink() -> None:
    rough = [program for program in PROGRAMS if not program.smooth]
    assert len(rough) * 10 <= len(PROGRAMS)
    assert all(program.kink for program in rough)
    assert not any(program.kink for program in PROGRAMS if program.smooth)


@EACH
def test_a_program_gives_a_finite_number_twice_the_same(program: Program) -> None:
    value = program.fn(*program.args())
    assert np.shape(value) == () and np.isfinite(value)
    assert program.fn(*program.args()) == value


@EACH
def test_differences_agree_at_two_step_sizes(program: Program) -> None:
    parts, error = slopes(program)
    largest = max(float(np.max(np.abs(part), initial=0.0)) for part in parts)
    assert largest > 1e-3, "a gradient that vanishes tests nothing"
    assert error <= 1e-8 * max(1.0, largest)


@EACH
def test_differences_by_elements_and_along_a_direction_agree(program: Program) -> None:
    along, error = slope(program)
    total = sum(float(np.sum(a * b)) for a, b in zip(slopes(program)[0], direction(program), strict=True))
    assert error <= 1e-8 * max(1.0, abs(total))
    assert along == pytest.approx(total, rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.smooth], ids=lambda program: program.name)
def test_second_differences_agree_at_two_step_sizes(program: Program) -> None:
    value, error = bend(program)
    assert error <= 1e-5 * max(1.0, abs(value))
