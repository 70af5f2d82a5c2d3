from collections.abc import Callable

import pytest

from tangentx.common.branch_sides import Side, changed_names, differing, enter, noted


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
    assert changed_names(before, one, dict(other)) is None  # a loop, say, has put other facts there
    assert changed_names({"a": 1, "b": 2}, one, other) is None


def test_a_branch_in_a_branch_is_a_change_of_the_outer_one() -> None:
    outermost = {"a": 1, "b": 2}
    outer = Side(outermost)
    inner = Side(outer)
    inner["a"] = 5
    del inner["b"]
    enter(outer, changed_names(outer, inner, None) or (), inner)
    assert outer == inner and list(outer.changed) == ["a", "b"]


def test_a_loop_in_a_branch_is_a_change_of_the_side() -> None:
    same = object()
    side: Side[object] = Side({"a": 1, "b": same})
    facts: dict[str, object] = {"b": same, "c": 3}
    assert differing(side, facts) == ["a", "c"] and differing(facts, facts) == []
    assert noted(side, facts) is side
    assert side == facts and list(side.changed) == ["a", "c"]
    outer: dict[str, object] = {"a": 1}
    assert noted(outer, facts) is facts and outer == {"a": 1}
    assert noted(side, None) is None
