"""Shadows are made where they are first used."""

from __future__ import annotations

import numpy as np

import tangentx as tx
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


def test_zeros_that_are_the_value_of_a_pullback_stay_where_they_are_returned() -> None:
    """They are made as the shadow of the argument is, which is a copy of them then."""
    value, pullback = tx.vjp(lambda x: np.zeros_like(x), np.ones(2))
    value[:] = 5.0
    assert pullback(np.ones(2)).tolist() == [0.0, 0.0]
    assert tx.vjp(tx.grad(lambda x, t: t * t), np.ones(2), 3.0)[0].tolist() == [0.0, 0.0]
