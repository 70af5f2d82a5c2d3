"""Reverse of loops and of exits from them."""

from __future__ import annotations

import numpy as np

from tests.analysis.made import in_order
from tests.derive.made import reverse_text


def leave(x, n):
    y = x
    for i in range(n):
        if y > 10.0:
            break
        y = y * y
    return y


def plain(x, n):
    for i in range(n):
        x = np.sin(x)
    return x


def endless(x):
    while x < 100.0:
        x = x * x
    return x


def test_a_loop_without_exits_counts_nothing() -> None:
    found = reverse_text(plain, 2.0, 3)
    assert "exits" not in found and "reversed(range(0, n, 1))" in found


def test_an_exit_is_numbered_and_guards_what_it_skipped() -> None:
    forward, _, reverse = reverse_text(leave, 2.0, 3).partition("reverse sweep")
    assert in_order(forward, "exits = make list()", "exits.append(1)", "break", "y = mul(y, y)", "exits.append(3)")
    assert in_order(reverse, "len(exits)", "exits_code = ", "gt(exits_code, 1)", "    y = ")


def test_what_is_recorded_is_restored_from_its_own_tape() -> None:
    forward, _, reverse = reverse_text(leave, 2.0, 3).partition("reverse sweep")
    for tape in ("y_tape", "y_tape_", "y_above_10_tape"):
        assert f" {tape}.append(" in forward and f" {tape}.pop()" in reverse


def test_a_loop_without_a_head_runs_back_as_often_as_it_ran() -> None:
    forward, _, reverse = reverse_text(endless, 2.0).partition("reverse sweep")
    assert "exits.append(" in forward
    assert in_order(reverse, "= len(exits)", "for ", ".pop()")
