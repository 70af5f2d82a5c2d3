"""Items of the program's own objects are read in their versions on Tensors, whoever reads them."""

from __future__ import annotations

import functools
import heapq
import itertools
import math
import weakref
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tests.tensor.fallback.test_introspection import _on_tensors  # noqa: F401

pytestmark = pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")


class Items:
    def __init__(self, value):
        self.value = value

    def __iter__(self):
        yield (1.0 if type(self.value) is float else 5.0) * self.value
        yield np.sin(self.value)


class Following:
    def __init__(self, value):
        self.value, self.count = value, 0

    def __iter__(self):
        return self

    def __next__(self):
        self.count += 1
        if self.count > 2:
            raise StopIteration
        return (1.0 if type(self.value) is float else 5.0) * self.value * self.count


class Numbered:
    def __init__(self, value):
        self.value = value

    def __len__(self):
        return 2 if type(self.value) is float else 1

    def __getitem__(self, k):
        if k > 1:
            raise IndexError(k)
        return (1.0 if type(self.value) is float else 5.0) * np.cos(self.value + k)


class Reversed(Items):
    def __reversed__(self):
        yield np.sin(self.value)
        yield (1.0 if type(self.value) is float else 5.0) * self.value


class Keyed:
    def __init__(self, value):
        self.value = value

    def keys(self):
        return ["a", "b"] if type(self.value) is float else ["a"]

    def __getitem__(self, key):
        return self.value * (2.0 if key == "a" else np.cos(self.value))


def extended(row):
    found = [1.0]
    found.extend(row)
    return sum(found)


def added(row):
    found, more = [1.0], deque([2.0])
    found += row
    more += found
    return sum(more)


def stored(row):
    found = [1.0, 2.0, 3.0]
    found[0:2] = row
    return sum(found)


def bound(row):
    a, b = row
    return a * b + b


def bound_with_a_star(row):
    a, *b = row
    return a * b[0]


def bound_in_places(row):
    found = [0.0, 0.0]
    found[0], found[1] = row
    return found[0] * found[1]


def bound_inside(row):
    (a, b), (c, [d, e]) = row, (2.0, (3.0, 4.0))
    return a * b * c + d * e


def bound_in_a_loop(row):
    total = 0.0
    for a, b in [row]:
        total += a * b
    return total


def bound_in_a_loop_inside(row):
    total = 0.0
    for k, (a, b) in enumerate([row], 1):
        total += k * a * b
    return total


def handed_on(row):
    def inner():
        yield 1.0
        yield from row

    return sum(inner())


def merged(row):
    found = {"a": 3.0}
    found |= row
    return sum(found.values())


def updated(row):
    found = {"a": 3.0}
    found.update(row)
    return sum(found.values())


READ: dict[str, Callable[[Any], Any]] = {
    **{f.__name__: f for f in (extended, added, stored, bound, bound_with_a_star, bound_in_places, bound_inside)},
    **{f.__name__: f for f in (bound_in_a_loop, bound_in_a_loop_inside, handed_on)},
    "list": lambda row: sum(list(row)),
    "tuple": lambda row: tuple(row)[0],
    "set": lambda row: sum({*row} | set(row)),
    "sorted": lambda row: sorted(row)[0],
    "max": lambda row: max(row) * min(1.0, 2.0),
    "deque": lambda row: sum(deque(row)),
    "enumerate": lambda row: sum(k * v for k, v in enumerate(row)),
    "zip": lambda row: sum(a * b for a, b in zip(row, [1.0, 2.0])),
    "map": lambda row: sum(map(lambda v: v * v, row)),
    "filter": lambda row: sum(filter(lambda v: v > 0, row)),
    "reduce": lambda row: functools.reduce(lambda a, b: a * b, row),
    "prod": lambda row: math.prod(row),
    "any": lambda row: 2.0 if any(v > 3.0 for v in row) else row.value,
    "star": lambda row: sum([*row, 1.0]),
    "call": lambda row: (lambda a, b: a * b)(*row),
    "chain": lambda row: sum(itertools.chain(row, [1.0])),
    "from_iterable": lambda row: sum(itertools.chain.from_iterable([row, [1.0]])),
    "islice": lambda row: sum(itertools.islice(row, 1)),
    "accumulate": lambda row: list(itertools.accumulate(row))[-1],
    "starmap": lambda row: sum(itertools.starmap(lambda a, b: a * b, [row])),
    "zip_longest": lambda row: sum(a + b for a, b in itertools.zip_longest(row, [1.0] * 3, fillvalue=0.0)),
    "takewhile": lambda row: sum(itertools.takewhile(lambda v: v < 2.0, row)),
    "nsmallest": lambda row: heapq.nsmallest(1, row)[0],
    "fromiter": lambda row: np.sum(np.fromiter(row, float)),
    "fromkeys": lambda row: sum(dict.fromkeys(row)),
    "Counter": lambda row: sum(Counter(row)),
    "join": lambda row: len(",".join("a" for v in row if v < 2.0)) * row.value,
}
KEYED: dict[str, Callable[[Any], Any]] = {
    "dict": lambda row: sum(dict(row).values()),
    "OrderedDict": lambda row: sum(OrderedDict(row).values()),
    "display": lambda row: sum({"c": 1.0, **row}.values()),
    "keywords": lambda row: (lambda a, b=7.0: a * b)(**row),
    "merged": merged,
    "updated": updated,
}


def checked(make: type, read: Callable[[Any], Any]) -> None:
    def program(x):
        return read(make(x * 1.0))

    wanted = (program(0.7 + 1e-6) - program(0.7 - 1e-6)) / 2e-6
    assert tx.grad(program)(0.7) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("make", [Items, Following, Numbered])
def test_items_are_read_on_tensors(make: type, name: str) -> None:
    checked(make, READ[name])


@pytest.mark.parametrize("name", KEYED)
def test_keys_are_read_on_tensors(name: str) -> None:
    checked(Keyed, KEYED[name])


@pytest.mark.parametrize("make", [Reversed, Numbered])
def test_what_is_reversed_is_read_on_tensors(make: type) -> None:
    checked(make, lambda row: functools.reduce(lambda a, b: a * 3.0 + b, reversed(row)))


class Doubled(dict):
    """Python asks no dict for its items."""

    def __getitem__(self, key):
        return 2.0 * super().__getitem__(key)


def test_a_dict_of_the_programs_own_is_read_as_python_reads_it() -> None:
    checked(lambda x: Doubled(a=x, b=x * x), lambda row: sum(dict(row).values()) * row["a"])  # type: ignore[arg-type]


def test_only_what_is_asked_for_is_read() -> None:
    def program(x):
        row = Following(x)
        pairs = zip(row, [1.0])
        return sum(a * b for a, b in pairs) * row.count

    wanted = program(1.0)
    assert tx.grad(program)(1.0) == wanted


class Truth:
    def __init__(self, value):
        self.value = value

    def __bool__(self):
        return type(self.value) is float


class Long:
    def __init__(self, value):
        self.value = value

    def __len__(self):
        return 2 if type(self.value) is float else 0


def while_true(row):
    total = 1.0
    while row and total < 9.0:
        total *= 3.0 * row.value
    return total


def asserted(row):
    assert row
    return row.value


TESTED: dict[str, Callable[[Any], Any]] = {
    "if": lambda row: row.value**2 if row else row.value,
    "not": lambda row: row.value**2 if not row else row.value,
    "and": lambda row: row.value**2 if row.value > 0 and row else row.value,
    "or": lambda row: row.value**2 if row.value < 0 or (not row or row.value < 0) else row.value,
    "filter": lambda row: sum([v * row.value for v in [1.0, 2.0] if row]),
    "any": lambda row: row.value**2 if any([row]) and all([row, 1.0]) else row.value,
    "while": while_true,
    "assert": asserted,
}


@pytest.mark.parametrize("name", TESTED)
@pytest.mark.parametrize("make", [Truth, Long])
def test_whether_an_object_is_true_is_asked_on_tensors(make: type, name: str) -> None:
    checked(make, TESTED[name])


KEPT: list[Any] = []


def test_an_iterator_of_the_programs_own_may_be_kept_and_goes_on_with_plain_values() -> None:
    def program(x):
        KEPT[:] = [Following(x * 2.0)]
        return next(KEPT[0]) * 3.0

    assert tx.grad(program)(1.0) == 6.0
    assert next(KEPT[0]) == 4.0
    assert type(KEPT[0].value) is float


class Node:
    def __init__(self, value):
        self.value = value


def test_a_table_of_weak_references_that_is_read_as_a_whole_has_what_lives() -> None:
    def program(x):
        table, row, node = weakref.WeakValueDictionary(), [], Node(x)
        table["a"] = node
        row.append(node)
        del node, row
        return x * (2.0 + len(list(table)) + len([*table]))

    assert tx.grad(program)(1.0) == program(1.0) == 2.0
