from collections.abc import Callable

import pytest

from tangentx.common.branch_facts import Side, changed_names, enter


def test_a_side_notes_each_change() -> None:
    before = {"a": 1, "b": 2, "c": 3}
    side = Side(before)
    side["b"] = 20
    del side["a"]
    assert side.pop("c") == 3 and side.pop("d", None) is None
    assert list(side.changed) == ["b", "a", "c", "d"]
    assert before == {"a": 1, "b": 2, "c": 3} and side == {"b": 20}


def test_what_was_not_known_and_is_not_has_not_changed() -> None:
    """Else a chain of branches notes the names of all below in each of them."""
    side = Side({"a": 1, "b": 2})
    enter(side, ["a", "b", "inner"], {"b": 3})
    assert list(side.changed) == ["a", "b"] and side == {"b": 3}


@pytest.mark.parametrize(
    "change", [lambda s: s.update(a=1), lambda s: s.setdefault("b", 1), lambda s: s.clear(), lambda s: s.popitem()]
)
def test_what_would_not_be_noted_is_refused(change: Callable[[Side[int]], object]) -> None:
    side = Side({"a": 1})
    with pytest.raises(NotImplementedError):
        change(side)
    with pytest.raises(NotImplementedError):
        side |= {"b": 1}
    assert side == {"a": 1} and not side.changed


def test_names_that_either_side_has_changed() -> None:
    before = {"a": 1, "b": 2}
    one, other = Side(before), Side(before)
    one["a"], other["c"] = 2, 3
    assert changed_names(before, one, other) == ["a", "c"]
    assert changed_names(before, None, other) == ["c"]
    with pytest.raises(AssertionError, match="replaced"):
        changed_names(before, one, dict(other))
    with pytest.raises(AssertionError, match="replaced"):
        changed_names({"a": 1, "b": 2}, one, other)


def test_names_that_are_changed_on_the_way_out_of_a_side() -> None:
    """As where a branch in the body of a loop leaves it: what it changes, and what has been changed before it."""
    head = {"a": 1, "b": 2}
    trip = Side(head)
    trip["a"] = 2
    left = Side(trip)
    left["c"] = 3
    assert changed_names(head, left) == ["c", "a"] and changed_names(trip, left) == ["c"]


def test_a_branch_in_a_branch_is_a_change_of_the_outer_one() -> None:
    outermost = {"a": 1, "b": 2}
    outer = Side(outermost)
    inner = Side(outer)
    inner["a"] = 5
    del inner["b"]
    enter(outer, changed_names(outer, inner, None), inner)
    assert outer == inner and list(outer.changed) == ["a", "b"]
