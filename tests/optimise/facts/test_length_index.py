"""The index of lengths has all that mentions one, for the facts that it is asked of."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tangentx.optimise.facts.shape_arithmetic import Lengths, Mentions, mentioned, replaced, written

M, N, K = ("once", 0, 0), ("once", 0, 1), ("param", "x", 0)
COMMON = ("common", frozenset((M, N)))
LINEAR = ("linear", frozenset(((M, 2), (N, 1))), 3)
SHAPES = [
    Lengths((M, N)),
    Lengths((M, 3)),
    ("items", Lengths((M,)), Lengths((N, K))),
    COMMON,
    LINEAR,
    ("less", M, 2),
    ("long", ("slice", M, None, ("less", N, 1), None)),
    ("slice", COMMON, 0, LINEAR, None),
    Lengths((("less", LINEAR, 2), 1)),
]


@pytest.mark.parametrize("shape", [*SHAPES, K, 3, None, "number"])
def test_what_is_not_mentioned_is_not_replaced(shape: object) -> None:
    inside = set(mentioned(shape))
    for old in (M, N, K, COMMON, LINEAR, ("less", M, 2), ("less", K, 2)):
        assert (replaced(shape, old, ("param", "y", 0)) != shape) == (old in inside)


@pytest.mark.parametrize("shape", SHAPES)
def test_equations_are_written_one_after_the_other(shape: object) -> None:
    """The second finds what the first has written, though the shape did not mention it."""
    equal: dict[object, object] = {K: 7, M: ("less", N, 1), N: ("param", "y", 0)}
    assert isinstance(shape, tuple)
    for part in shape if isinstance(shape, Lengths) or shape[:1] == ("items",) else (shape,):
        if isinstance(part, tuple) and not isinstance(part, Lengths) and part not in equal:
            wanted: object = part
            for old, new in equal.items():
                wanted = replaced(wanted, old, new)
            assert written(part, equal) == wanted


def shapes_in(facts: Mapping[str, object]) -> list[tuple[object, object]]:
    return list(facts.items())


def test_each_place_has_an_index_of_its_own() -> None:
    mentions = Mentions(shapes_in)
    here: dict[str, object] = {"a": Lengths((M, N)), "b": Lengths((N,))}
    assert [mentions.count(here, length) for length in (M, N, K)] == [1, 2, 0]
    assert list(mentions.taken(here, M)) == ["a"]
    assert list(mentions.taken(here, M)) == []  # it is taken
    here["c"] = Lengths((K,))
    mentions.note(here, "c", here["c"])
    assert list(mentions.taken(here, K)) == ["c"]
    there = {"b": Lengths((N,)), "d": COMMON}
    mentions.note(there, "e", Lengths((N,)))  # nobody has asked of these yet
    assert list(mentions.taken(there, N)) == ["b", "d"]
    assert list(mentions.taken(here, N)) == ["a", "b"]
