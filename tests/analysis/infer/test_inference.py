"""One walk over a function: variables, their kinds, and the closed form."""

from __future__ import annotations

import numpy as np

from tangentx.analysis.types.kinds import Arr, Num
from tangentx.ir import nodes as ir
from tangentx.ir.walk import statements
from tests.analysis import programs
from tests.analysis.made import analysed, kind, text


def test_the_closed_form_has_no_open_statement() -> None:
    for fn, values in (
        (programs.in_place, (2.0, np.ones(2))),
        (programs.view, (np.ones((2, 2)),)),
        (programs.taken, (1.0, [1])),
    ):
        program, _ = analysed(fn, *values)
        for instance in program.reached():
            body = instance.link.function.body
            assert not any(isinstance(s, ir.Augment | ir.Augstore) for s in statements(body))
            values_of = [s.value for s in statements(body) if isinstance(s, ir.Assign)]
            assert not any(isinstance(v, ir.Apply | ir.Method) for v in values_of)


def test_the_result_of_an_active_argument_varies() -> None:
    assert analysed(programs.helper, 2.0)[1].result == Num(float, True)
    assert analysed(programs.helper, 2.0, wrt=())[1].result == Num(float)
    assert analysed(programs.helper, 2)[1].result == Num(int)


def test_kinds_of_a_loop_are_a_fixed_point() -> None:
    found = kind(programs.grown, "total", np.ones(2), 3)
    assert isinstance(found, Arr) and found.loose


def test_a_name_read_before_it_is_bound_raises_what_the_program_raises() -> None:
    def f(x):
        y = z * x  # noqa: F821
        z = y
        return z

    assert "UnboundLocalError" in text(f, 2.0)
