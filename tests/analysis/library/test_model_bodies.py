"""Stand-ins do what the methods do; calls of methods become their statements."""

from __future__ import annotations

import copy
import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tangentx as tx
from tangentx.analysis.library import model_bodies, standard_library
from tangentx.errors import TangentxError, UnsupportedSyntax
from tests.analysis.made import in_order, text

LISTS = st.lists(st.integers(0, 3), max_size=6)
PLACES = st.integers(-8, 8)
BOUNDS = st.none() | PLACES


def same(standin: Any, method: Any, value: Any, *args: Any) -> None:
    """Both do the same to equal values, and give the same or raise alike."""
    found = []
    for fn in (standin, method):
        mine = copy.deepcopy(value)
        try:
            result = fn(mine, *copy.deepcopy(args))
        except (IndexError, KeyError, ValueError) as error:
            result = type(error)
        found.append((result, mine, list(mine)))
    assert found[0] == found[1]


@given(LISTS, PLACES, st.integers(0, 3))
def test_methods_of_lists(items: list[int], index: int, value: int) -> None:
    same(model_bodies.insert, list.insert, items, index, value)
    same(model_bodies.take, list.pop, items, index)
    same(model_bodies.remove, list.remove, items, value)
    same(model_bodies.extend, list.extend, items, [value, index])
    same(model_bodies.double, lambda x: x.extend(x), items)
    same(model_bodies.multiply, lambda x, n: x.__imul__(n) and None or None, items, index)
    same(model_bodies.reverse, list.reverse, items)
    same(model_bodies.clear, list.clear, items)


@given(LISTS, BOUNDS, BOUNDS, st.none() | PLACES.filter(bool), LISTS)
def test_slices_of_lists(items: list[int], start: Any, stop: Any, step: Any, given_: list[int]) -> None:
    same(model_bodies.replace, lambda x, a, b, v: x.__setitem__(slice(a, b), v), items, start, stop, given_)
    same(model_bodies.erase, lambda x, a, b, c: x.__delitem__(slice(a, b, c)), items, start, stop, step)
    if step not in (None, 1):
        same(
            model_bodies.scatter,
            lambda x, a, b, c, v: x.__setitem__(slice(a, b, c), v),
            items,
            start,
            stop,
            step,
            given_,
        )


@given(st.dictionaries(st.integers(0, 4), st.integers()), st.integers(0, 4), st.integers(0, 9))
def test_methods_of_dicts(table: dict[int, int], key: int, value: int) -> None:
    same(model_bodies.get, dict.get, table, key, value)
    same(model_bodies.setdefault, dict.setdefault, table, key, value)
    same(model_bodies.take_key, dict.pop, table, key)
    same(model_bodies.take_key_or, dict.pop, table, key, value)
    same(model_bodies.popitem, dict.popitem, table)
    same(model_bodies.update_pairs, dict.update, table, [(key, value), (9, 9)])
    same(model_bodies.clear_table, dict.clear, table)
    same(model_bodies.values, lambda x: list(x.values()), table)
    same(model_bodies.items, lambda x: list(x.items()), table)
    same(model_bodies.from_keys, dict.fromkeys, [key, 7], value)


@given(LISTS, LISTS)
def test_what_itertools_gives(first: list[int], second: list[int]) -> None:
    assert standard_library.chained(first, second) == list(itertools.chain(first, second))
    assert standard_library.crossed(first, second) == list(itertools.product(first, second))
    assert standard_library.paired(first) == list(itertools.pairwise(first))
    assert standard_library.combined(first) == list(itertools.combinations(first, 2))
    assert standard_library.accumulated(first) == list(itertools.accumulate(first))
    assert standard_library.accumulated_by(first, max) == list(itertools.accumulate(first, max))
    assert standard_library.product(first, 2) == math.prod(first, start=2)


def test_a_method_becomes_its_statements_at_the_place_of_the_call() -> None:
    def f(x, L):
        L.insert(0, x)
        return L[1]

    assert in_order(text(f, 2.0, [1.0]), "len(", ".pop()", ".append(", ".append(", ".pop()")


def test_a_known_key_is_decided() -> None:
    def f(x):
        d = {"a": x}
        return d.get("a", 1) * d.get("b", 2.0)

    assert "if " not in text(f, 2.0)


def test_items_that_one_branch_lacks_are_asked_for_at_run_time() -> None:
    def f(x, c):
        d = {"a": x} if c else {"b": x * x, "a": x}
        total = 0.0
        for key in d:
            total += d[key]
        return total * ("b" in d) + len(d) * x

    gradient = tx.grad(f, fallback="error")
    assert gradient(3.0, 1) == 1.0
    assert gradient(3.0, 0) == 2.0 * 3.0 + 1.0 + 2.0


@pytest.mark.parametrize(
    "body, message",
    [
        ("return x.fromhex", "attribute"),
        ("return d.values", "leaves the program"),
        ("v = d.values()\n    d['b'] = x\n    return sum(v)", "view of a dict"),
        ("return L.sort(1)", "with these arguments"),
        ("return sum({x, 1.0})", "a set holds values"),
        ("for v in {1, 2}:\n        x = x * v\n    return x", "a set"),
        ("for k in d:\n        d[k + 'x'] = x\n    return x", None),
        ("del x[0]\n    return 1.0", "del of an item"),
        ("for a in x.items():\n        pass\n    return x", "method `items` of a float"),
        ("y = x if c else None\n    if c:\n        del y\n    return y is None", "may have no value here"),
        ("y = x\n    h = lambda: y\n    del y\n    return h()", "is deleted, and a function inside shares it"),
    ],
)
def test_what_is_refused(body: str, message: str | None) -> None:
    from tests.frontend.made import defined

    function = defined(f"def f(x, d, L, c):\n    {body}\n")
    with pytest.raises(TangentxError if message else UnsupportedSyntax, match=message) as caught:
        tx.grad(function, fallback="error")(2.0, {"a": 1.0}, [1.0], np.float64(1.0))
    assert message is None or caught.value.span is not None
