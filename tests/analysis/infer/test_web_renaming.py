"""Names told apart, and definitions united."""

from __future__ import annotations

from tangentx.analysis.types.kinds import Num, Obj
from tests.analysis import programs
from tests.analysis.made import analysed


def test_unrelated_meanings_of_a_name_are_two_variables() -> None:
    kinds = analysed(programs.reused, 2.0)[1].kinds
    assert kinds["t"] == Num(int, value=3) and kinds["t_"] == Obj("a")


def test_definitions_that_reach_one_use_are_one_variable() -> None:
    kinds = analysed(programs.joined, 2.0, None)[1].kinds
    assert kinds["y"] == Num(float, True, types=(float, int)) and "y_" not in kinds


def test_parameters_keep_their_names() -> None:
    function = analysed(programs.calls, 2.0, 3.0)[1].link.function
    assert [p.name for p in function.params] == ["x", "n"]
