"""What of a function in forward mode is ours."""

from __future__ import annotations

from dataclasses import replace

from tangentx.ir.nodes import Assign
from tangentx.optimise.facts.tangent_names import of_tangents, target_of
from tests.optimise.support import every, unit_of


def moved(x, x_dot):
    y = x * x
    y_dot = 2.0 * x * x_dot
    return y, y_dot


def test_what_only_tangents_read_is_theirs_and_what_the_user_reads_is_not() -> None:
    _, unit = unit_of(moved, 1.0, 1.0)
    assert of_tangents(unit) == frozenset()
    unit.link.function = replace(unit.function, notes={"dots": ("x_dot",)})
    ours = of_tangents(unit)
    made = {s.target for s in every(unit) if isinstance(s, Assign)}
    assert {"x_dot", "y_dot"} <= ours and not {"x", "y"} & ours
    twice = [s.target for s in every(unit) if isinstance(s, Assign) and "2.0" in repr(s.value)]
    assert set(twice) <= ours < made | {"x_dot"}


def test_targets() -> None:
    _, unit = unit_of(moved, 1.0, 1.0)
    assert [target_of(s) for s in every(unit)][-1] is None
    assert "y" in [target_of(s) for s in every(unit)]
