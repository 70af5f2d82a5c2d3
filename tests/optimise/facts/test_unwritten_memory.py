"""What a write makes stale: what lies there on the way in hand, and is not stale already."""

from __future__ import annotations

from typing import Any

from tangentx.analysis.types.kinds import Region, World
from tangentx.common.branch_facts import Side
from tangentx.optimise.facts.memory import Unwritten


def test_a_write_takes_what_lies_there_once() -> None:
    found, facts, a, b = Unwritten(), dict[str, Any](), Region(World()), Region(World())
    found.note(facts, "t", [a])
    found.note(facts, "u", [a, b])
    found.note(facts, "v", [])
    assert found.taken(facts, a) == ["t", "u"] and found.taken(facts, a) == []
    found.note(facts, "t", [a])
    assert sorted(found.taken(facts, None)) == ["t", "u"] and found.taken(facts, None) == []


def test_a_side_begins_with_what_was_known_before_it() -> None:
    found, before, a = Unwritten(), dict[str, Any](), Region(World())
    found.note(before, "t", [a])
    side, other = Side(before), Side(before)
    found.note(side, "u", [a])
    assert found.taken(side, a) == ["t", "u"]
    assert found.taken(other, a) == ["t"]
    assert found.taken(before, a) == ["t"]
    found.entered(before, ["u", "nothing of it is known"])
    assert found.taken(before, a) == ["u"]


def test_what_lies_elsewhere_on_another_way_lies_here_as_well() -> None:
    found, before, a, b = Unwritten(), dict[str, Any](), Region(World()), Region(World())
    found.note(before, "t", [a])
    found.note(Side(before), "t", [b])  # a side that leaves the function, say
    assert found.taken(before, a) == ["t"]


def test_facts_that_are_new_have_everything() -> None:
    found, a = Unwritten(), Region(World())
    found.note({}, "t", [a])
    found.taken({}, a)
    assert found.taken({"others": 1}, a) == ["t"]
