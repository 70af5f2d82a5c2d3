"""Shadows are made where they are first used."""

from __future__ import annotations

from tests.optimise import textbook
from tests.optimise.test_dce import ARGUMENTS, text


def test_a_shadow_moves_into_the_reverse_sweep() -> None:
    args = ARGUMENTS["smooth"]
    before, after = text(textbook.smooth, args), text(textbook.smooth, args, ("dead", "sink"))
    assert before.index("u_bar = zero") < before.index("reverse sweep")
    assert after.index("u_bar = zero") > after.index("reverse sweep")


def test_the_users_lines_keep_their_order() -> None:
    found = text(textbook.glide, ARGUMENTS["glide"], ("dead", "sink"))
    assert found.index("x_ = 0.0") < found.index("in range")
