"""Shapes are called equal only where they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.ir.nodes import Assign, Statement, Var
from tangentx.optimise.facts.shape_arithmetic import replaced
from tangentx.optimise.facts.shapes import EQUAL, Facts
from tests.optimise.support import unit_of

A = np.ones(3)


class Asked(Facts):
    """Notes, where `mark` is bound, whether `a` and `b` have equal shapes."""

    answer: bool | None = None

    def after(self, s: Statement) -> None:
        super().after(s)
        if isinstance(s, Assign) and s.target == "mark":
            shapes = self.shape(Var("a")), self.shape(Var("b"))
            self.answer = shapes[0] is not None and shapes[0] == shapes[1]


def alike(fn: Callable[..., Any], *values: Any) -> bool | None:
    program, unit = unit_of(fn, *values)
    facts = Asked(program, unit)
    facts.block(unit.body)
    return facts.answer


def by_numbers(x):
    a = x * 2.0
    b = np.sin(a) + a
    mark = 1.0
    return mark * np.sum(a * b)


def by_spread(x, y):
    a = np.sqrt(x.var(axis=0) + 1.0)
    b = np.mean(x, axis=0) / a
    mark = 1.0
    return mark * np.sum(a * b)


def by_spread_of_fewer(x, y):
    a = np.std(x, axis=1, ddof=1)
    b = np.mean(x, axis=0)
    mark = 1.0
    return mark * (np.sum(a) + np.sum(b))


def broadcast(x, y):
    a = x * 2.0
    b = a + y
    mark = 1.0
    return mark * np.sum(a * b)


def list_that_grows(x):
    values = [1.0]
    a = np.exp(values)
    values.append(x)
    b = np.exp(values)
    mark = 1.0
    return mark * np.sum(a * b)


def changing(x, y):
    a = x * 1.0
    for _ in range(2):
        b = a * 1.0
        a = a + y
        mark = 1.0
    return mark * np.sum(a * b)


def kept(x, y):
    a = x * 1.0
    b = x * 2.0
    for _ in range(2):
        a = a + b
        b = np.cos(b)
        mark = 1.0
    return mark * np.sum(a * b) + np.sum(y)


def one_way(x, y):
    a = x * 1.0
    b = x * 2.0
    if np.sum(x) > 0.0:
        b = y * 1.0
    mark = 1.0
    return mark * np.sum(a * b)


def both_ways(x, y):
    a = x * 1.0
    if np.sum(x) > 0.0:
        a = y * 1.0
    b = np.sqrt(a)
    mark = 1.0
    return mark * np.sum(a * b)


@pytest.mark.parametrize(
    ("fn", "values", "wanted"),
    [
        (by_numbers, (A,), True),
        (by_spread, (np.ones((2, 3)), A), True),
        (by_spread_of_fewer, (np.ones((2, 3)), A), False),
        (broadcast, (A, A), False),
        (list_that_grows, (1.0,), False),
        (changing, (A, A), False),
        (kept, (A, A), True),
        (one_way, (A, A), False),
        (both_ways, (A, A), True),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_equal_shapes(fn: Callable[..., Any], values: tuple[Any, ...], wanted: bool) -> None:
    assert alike(fn, *values) is wanted


class Still(Facts):
    """Notes, at each number bound to `mark`, which names would be the same if they were computed again."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.answers: dict[object, str] = {}

    def after(self, s: Statement) -> None:
        super().after(s)
        if isinstance(s, Assign) and s.target.startswith("mark"):
            known = [name for name in "abc" if self.current(Var(name)) is not None]
            self.answers[getattr(s.value, "value", None)] = "".join(known)


def written_on_the_ways(x, n):
    u = x * 1.0
    a = u * 2.0
    mark = 0.0
    if n > 0:
        u[0] = 5.0
        mark = 1.0
        b = u * 3.0
        mark = 2.0
        u[1] = np.sum(b)
    else:
        mark = 3.0
        u[1] = 6.0
        mark = 4.0
    for _ in range(n):
        c = u * 4.0
        mark = 5.0
        u[2] = np.sum(c)
        mark = 6.0
    return mark * np.sum(u * a)


def test_what_is_written_on_one_way_is_not_on_the_other() -> None:
    program, unit = unit_of(written_on_the_ways, A, 2)
    facts = Still(program, unit)
    facts.block(unit.body)
    assert facts.answers == {0.0: "a", 1.0: "", 2.0: "b", 3.0: "a", 4.0: "", 5.0: "c", 6.0: ""}


def lower_of_a_row(v):
    L = np.tril(v)
    return np.sum((L + np.eye(3)) * L)


def upper_beside_its_row(v):
    return np.sum((np.outer(v, v) - np.triu(v)) ** 2)


def lower_of_a_matrix(v):
    M = np.outer(v, v)
    return np.sum((np.tril(M) - M) ** 2 + np.triu(M, 1))


@pytest.mark.parametrize("f", [lower_of_a_row, upper_beside_its_row, lower_of_a_matrix])
@pytest.mark.parametrize("n", [1, 3])
def test_the_triangle_of_a_row_is_a_matrix(f, n: int) -> None:
    v = np.array([0.5, -0.3, 0.8])[:n] if f is not lower_of_a_row else np.array([0.5, -0.3, 0.8])
    wanted = [(f(v + s) - f(v - s)) / 2e-6 for s in 1e-6 * np.eye(len(v))]
    assert np.allclose(tx.grad(f, fallback="error")(v), wanted, atol=1e-6)
    assert np.allclose(tx.vjp(f, v, fallback="error")[1](1.0), wanted, atol=1e-6)


TURNED = ("linear", frozenset({(("less", ("made", 7), 1), 1), (("slice", ("made", 7), 0, 1, None), 1)}), 0)


@pytest.mark.parametrize("whole", [("made", 7), ("common", frozenset({("made", 7), ("once", 8)}))], ids=["tag", "made"])
@pytest.mark.parametrize("turn", [1, -1])
def test_no_length_is_written_for_one_that_it_is_made_of(whole: tuple[object, ...], turn: int) -> None:
    """``a * np.concatenate((a[1:], a[:1]))`` says that ``a`` is as long as these slices of it together."""
    facts = Facts(*unit_of(by_numbers, A))
    turned = replaced(TURNED, ("made", 7), whole)
    facts._equate(*(turned, whole)[::turn])
    assert facts.env is not None
    assert facts.env[EQUAL].shape == {turned: whole}
