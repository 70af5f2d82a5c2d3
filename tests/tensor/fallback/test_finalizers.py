"""Objects that do something when they die do it where they die in the program, or the run on Tensors is refused."""

from __future__ import annotations

import typing
import weakref
from typing import Any

import pytest

import tangentx as tx
from tests.tensor.fallback.test_introspection import _on_tensors  # noqa: F401

pytestmark = pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")


class Node:
    def __init__(self, value):
        self.value = value


def refers_to_one(x):
    node = Node(x * 2.0)
    found = weakref.ref(node)
    y = found().value
    del node
    return y * (3.0 if found() is None else 5.0)


def refers_to_an_item(x):
    table = {}
    table["a"] = Node(x)
    found = weakref.ref(table["a"])
    del table
    return x * (3.0 if found() is None else 5.0)


def holds_weakly(x):
    table, node = weakref.WeakValueDictionary(), Node(x)
    table["a"] = node
    del node
    return x * (3.0 if "a" not in table and table.get("a") is None else 5.0)


def finalizes(x):
    log, node = [], Node(x)
    weakref.finalize(node, log.append, 1.0)
    node = None
    return x * (2.0 + len(log))


ENDED: list[float] = []


class Ending:
    def __init__(self, value):
        self.value = value

    def __del__(self):
        ENDED.append(1.0)


def ends(x):
    ENDED.clear()
    ending = Ending(x)
    value = ending.value
    ending = None
    return value * (2.0 + len(ENDED))


def is_asked_for_its_length(x):
    table, row, node = weakref.WeakValueDictionary(), [], Node(x)
    table["a"] = node
    row.append(node)
    del node, row
    for _ in table.values():
        x = x * 2.0
    return x * (3.0 + len(table))


@pytest.mark.parametrize(
    "program", [refers_to_one, refers_to_an_item, holds_weakly, is_asked_for_its_length, finalizes, ends]
)
def test_an_object_dies_where_the_program_lets_it_go(program: Any) -> None:
    """What was noted to hold values of the run was held by the note: a weak reference told that it lives."""
    scale = program(1.0)
    assert scale in (3.0, 6.0)
    assert tx.grad(program)(0.5) == scale
    with pytest.raises(tx.TangentxError):
        tx.grad(program, fallback="error")(0.5)


class Pair(typing.NamedTuple("Pair", [("value", Any), ("scale", float)])):
    def __del__(self):
        ENDED.append(1.0)


class SlottedEnding:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __del__(self):
        ENDED.append(1.0)


def ends_with_its_tuple(x):
    ENDED.clear()
    pair = Pair(x, 2.0)
    value = pair.value
    del pair
    return value * (2.0 + len(ENDED))


def ends_with_slots(x):
    ENDED.clear()
    ending = SlottedEnding(x)
    ending = None
    return x * (2.0 + len(ENDED))


def ends_with_its_list(x):
    ENDED.clear()
    row = [1.0]
    row.append({"a": [Ending(x)]})
    row = None
    return x * (2.0 + len(ENDED))


def ends_with_what_a_closure_shares(x):
    ENDED.clear()

    def inner():
        kept = None

        def keeps():
            nonlocal kept
            kept = Ending(x)

        keeps()

    inner()
    return x * (2.0 + len(ENDED))


def finalizes_what_a_list_holds(x):
    log, row = [], []
    row.append(Node(x))
    weakref.finalize(row[0], log.append, 1.0)
    row = None
    return x * (2.0 + len(log))


LATER = [
    ends_with_its_tuple,
    ends_with_slots,
    ends_with_its_list,
    ends_with_what_a_closure_shares,
    finalizes_what_a_list_holds,
]


@pytest.mark.parametrize("program", LATER)
def test_what_would_die_later_than_in_the_program_is_refused(program: Any) -> None:
    assert program(1.0) == 3.0
    with pytest.raises(tx.NotDifferentiable, match=r"(?s)test_finalizers\.py:\d+.*(`__del__`|when it dies)"):
        tx.grad(program)(0.5)


def test_what_others_hold_too_does_not_die() -> None:
    kept = Ending(2.0)

    def f(x: Any) -> Any:
        row = []
        row.append([kept, x * 3.0])
        return row[0][1] * row[0][0].value

    ENDED.clear()
    assert tx.grad(f)(0.5) == 6.0 and not ENDED


def writes_into(x, ending):
    ending.value = ending.value * x
    return ending.value * x


def reads_on_tensors(x, ending):
    return eval("x") * ending.value


def gives_back(x, ending):
    return x, ending


@pytest.mark.parametrize("f, has_aux", [(writes_into, False), (reads_on_tensors, False), (gives_back, True)])
def test_no_copy_is_made_that_would_do_something_when_it_dies(f: Any, has_aux: bool) -> None:
    """It would be done once more than in the program."""
    ending = Ending(2.0)
    ENDED.clear()
    with pytest.raises(tx.NotDifferentiable, match="the `__del__` of the copy would run"):
        tx.grad(f, has_aux=has_aux)(1.5, ending)
    assert not ENDED and ending.value == 2.0
