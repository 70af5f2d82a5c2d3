"""Facts along control flow, and where the reverse sweep begins."""

from __future__ import annotations

import tangentx as tx
from tangentx.ir.nodes import Assign, Lit, Note, Statement
from tangentx.optimise.comment_cleanup import tidy
from tangentx.optimise.facts.dataflow import REVERSE, Flow, sweeps
from tests.optimise import hazards
from tests.optimise.support import unit_of


class Constants(Flow[float]):
    """Which names hold which literal; at each binding of `mark` what is known of `a` is noted."""

    def __init__(self) -> None:
        super().__init__()
        self.marks: list[object] = []

    def after(self, s: Statement) -> None:
        if isinstance(s, Assign):
            self.kill(s.target)
            assert self.env is not None
            if isinstance(s.value, Lit) and isinstance(s.value.value, float):
                self.env[s.target] = s.value.value
            if s.target == "mark":
                self.marks.append(self.env.get("a"))


def in_a_loop(x):
    a = 1.0
    for _ in range(3):
        mark = 5.0
        x = x * mark * a
        a = 2.0
    return x


def after_a_break(x):
    a = 1.0
    while True:
        if x > 3.0:
            break
        a = 2.0
        x = x + a
    mark = 5.0
    return x * mark * a


def after_continue(x):
    a = 1.0
    for k in range(3):
        mark = 5.0
        x = x * mark * a
        if k == 1:
            a = 2.0
            continue
        a = 1.0
    return x


def test_the_last_walk_alone_counts() -> None:
    for fn in (in_a_loop, after_a_break, after_continue):
        _, unit = unit_of(fn, 1.0)
        walk = Constants()
        walk.block(unit.body)
        assert walk.marks[-1] is None, fn.__name__


def test_a_users_line_is_not_the_mark() -> None:
    assert tx.grad(hazards.looks_like_the_mark)(1.2) == float(len(REVERSE))
    _, unit = unit_of(hazards.looks_like_the_mark, 1.2)
    assert sweeps(unit.function) == (unit.body, ())


def test_comments_under_which_nothing_is_left_go_and_sections_stay() -> None:
    _, unit = unit_of(in_a_loop, 1.0)
    span = unit.function.span
    note, section = Note("line 3: x", span), Note(REVERSE, span)
    assign = unit.body[0]
    assert tidy((section, note, note, assign, note)) == (section, note, assign)
    assert tidy((note, assign, note, assign)) == (note, assign, assign)
