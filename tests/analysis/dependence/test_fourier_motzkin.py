"""Systems of linear inequalities over whole numbers: what is found impossible is so."""

from __future__ import annotations

import itertools
import random

import pytest

from tangentx.analysis.dependence.fourier_motzkin import ONE, Form, is_possible, number, plus

X, Y, Z = (("x", 0, 0), ("y", 0, 0), ("z", 0, 0))
RANGE = range(-4, 5)


def drawn(rng: random.Random) -> Form:
    form = {x: rng.randint(-3, 3) for x in (X, Y, Z) if rng.random() < 0.7}
    form[ONE] = rng.randint(-5, 5)
    return {x: n for x, n in form.items() if n}


def holds(zero: list[Form], positive: list[Form], values: tuple[int, int, int]) -> bool:
    at = {X: values[0], Y: values[1], Z: values[2], ONE: 1}
    sums = [sum(n * at[x] for x, n in form.items()) for form in (*zero, *positive)]
    return all(s == 0 for s in sums[: len(zero)]) and all(s >= 0 for s in sums[len(zero) :])


def test_nothing_possible_is_found_impossible() -> None:
    rng = random.Random(0)
    impossible = 0
    for _ in range(400):
        zero = [drawn(rng) for _ in range(rng.randint(0, 2))]
        positive = [drawn(rng) for _ in range(rng.randint(1, 4))]
        bounds = [plus(number(4), {x: 1}, sign) for x in (X, Y, Z) for sign in (1, -1)]
        found = is_possible(zero, [*positive, *bounds])
        some = any(holds(zero, positive, values) for values in itertools.product(RANGE, repeat=3))
        assert found or not some
        impossible += not found
    assert impossible > 80


@pytest.mark.parametrize(
    ("zero", "positive", "possible"),
    [
        ([{X: 2, Y: -2, ONE: 1}], [], False),  # even numbers and odd ones
        ([{X: 1, Y: -1, ONE: 1}], [{X: 1, Y: -1}], False),
        ([{X: 3, Y: 2, ONE: -1}], [], True),
        ([], [{X: 2, ONE: -1}, {X: -2, ONE: 1}], False),  # between a half and a half
        ([], [{X: 1, Y: -1, ONE: -1}, {Y: 1, Z: -1}, {Z: 1, X: -1}], False),
        ([number(3)], [], False),
        ([], [number(-1)], False),
        ([{}], [{}], True),
    ],
)
def test_systems(zero: list[Form], positive: list[Form], possible: bool) -> None:
    assert is_possible(zero, positive) is possible
