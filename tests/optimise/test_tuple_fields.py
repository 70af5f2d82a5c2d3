"""Tuples and signatures hold what is read of them."""

from __future__ import annotations

import re

import pytest

import tangentx as tx
from tests.optimise import textbook
from tests.optimise.test_dce import ARGUMENTS, gradient, text


def test_an_item_that_nobody_reads_is_no_longer_made() -> None:
    found = text(textbook.settle, ARGUMENTS["settle"], ("dead", "slots", "signatures"))
    keys = [int(key) for key in re.findall(r"saved\[(\d+)\]", found)]
    assert sorted(keys) == list(range(len(keys)))
    assert not any("None, " in line for line in found.splitlines() if "saved" in line or "return" in line)


def test_parameters_and_results_that_nobody_reads_leave_the_signature() -> None:
    found = text(textbook.with_partner, (1.5, 2.0), ("dead", "slots", "signatures"))
    assert not any("spare" in line for line in found.splitlines() if "#" not in line)
    assert gradient(textbook.with_partner, (1.5, 2.0), ()) == pytest.approx(6.0)


def test_a_pullback_keeps_its_two_functions_as_they_are_called() -> None:
    value, pullback = tx.vjp(textbook.with_partner, 1.5, 2.0)
    assert value == 4.5
    assert pullback(1.0) == pytest.approx((6.0, 0.0))
