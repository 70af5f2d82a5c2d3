"""Calls of the user's functions."""

from __future__ import annotations

from tests.analysis import programs
from tests.analysis.made import analysed


def test_a_helper_is_compiled_once_for_each_kind() -> None:
    program, _ = analysed(programs.calls, 2.0, 3.0)
    assert sum(i.source.name == "helper" for i in program.reached()) == 2
    program, _ = analysed(programs.calls, 2.0, 3.0, wrt=(0, 1))
    assert sum(i.source.name == "helper" for i in program.reached()) == 1
