"""What stands for deques and default dicts does what they do; programs with them are differentiated."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tangentx as tx
from tangentx import arrays
from tests.frontend.made import defined

STEPS = st.lists(
    st.sampled_from(
        [
            ("append", 1),
            ("append", 2),
            ("appendleft", 3),
            ("pop",),
            ("popleft",),
            ("extend", [4, 5]),
            ("extendleft", [6, 7]),
            ("rotate",),
            ("rotate", -2),
            ("reverse",),
            ("clear",),
        ]
    ),
    max_size=12,
)


def done(queue: Any, name: str, *args: Any) -> Any:
    try:
        return getattr(queue, name)(*args)
    except IndexError:
        return IndexError


@given(STEPS, st.sampled_from([None, 0, 1, 3]))
def test_a_deque_of_ours_is_a_deque(steps: list[Any], limit: int | None) -> None:
    mine, wanted = arrays.Deque([9, 8], limit), collections.deque([9, 8], limit)
    for step in steps:
        assert done(mine, *step) == done(wanted, *step)
        assert mine.listed() == list(wanted)
        assert (len(mine), bool(mine)) == (len(wanted), bool(wanted))
    for place in range(-4, 4):
        assert done(mine, "__getitem__", place) == done(wanted, "__getitem__", place)
        assert done(mine, "__setitem__", place, 0) == done(wanted, "__setitem__", place, 0)
    assert mine.listed() == list(wanted)


def test_a_default_dict_of_ours_is_one() -> None:
    mine, wanted = arrays.DefaultDict(list, {"a": [1]}), collections.defaultdict(list, {"a": [1]})
    for table in (mine, wanted):
        table["b"].append(2)
        table["c"] = [3]
        table.update({"d": [4]})
        assert table.pop("a") == [1]
        assert table.get("z") is None and "z" not in table and "b" in table
    assert mine.listed() == mine.keys() == list(wanted)
    assert mine.items() == list(wanted.items())
    assert mine.values() == list(wanted.values())
    assert len(mine) == len(wanted) and mine
    with pytest.raises(KeyError):
        mine.pop("z")


def test_functions_over_items_are_given_a_list() -> None:
    def f(x):
        q = collections.deque(x, maxlen=2)
        return sum(q) * max(q) + np.sum(np.array(q)) + len(q) + isinstance(q, collections.deque)

    np.testing.assert_allclose(tx.grad(f, fallback="error")(np.array([5.0, 1.0, 2.0])), [0.0, 3.0, 6.0])


@pytest.mark.parametrize("body", ["q.index(x)", "q == q.copy()", "q.insert(0, x)", "q + q"])
def test_what_is_refused(body: str) -> None:
    f: Any = defined(
        f"import collections\ndef f(x):\n    q = collections.deque([x])\n    y = {body}\n    return x * x\n"
    )
    with pytest.raises(tx.TangentxError) as caught:
        tx.grad(f, fallback="error")(2.0)
    assert caught.value.span is not None
