"""The shortest way through a call: taken for what it was made for, and for nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.dispatch.call_stubs import MISSED, Route, hit
from tangentx.dispatch.entries import compilations


class Entry:
    """Stands for what was compiled."""

    def __init__(self, function: Any) -> None:
        self.functions = (function,)
        self.still = True

    def holds(self) -> bool:
        return self.still


def published(out: Any, values: Any) -> Any:
    return "published"


def routed(function: Any, *args: Any, many: bool = False, value: bool = False, places: Any = (0,)) -> Route:
    return hit(Entry(function), args, places, many, value, published).route("here", args)


@pytest.mark.parametrize(
    ("args", "others"),
    [
        ((1.0,), (np.float64(1.0),)),
        ((1.0,), (1,)),
        ((np.ones(3), 2), (np.ones(4), 2)),
        ((np.ones(3), 2), (np.ones(3, "f4"), 2)),
        ((np.ones(3), 2), (np.ones(3), 2.0)),
        ((np.ones(3), 2), (np.ma.ones(3), 2)),
        ((np.ones(3), np.ones((2, 1))), (np.ones(3), np.ones((1, 2)))),
    ],
)
def test_other_types_dtypes_and_shapes_miss(args: Any, others: Any) -> None:
    route = routed(lambda *given: given[0] + 1.0, *args)
    assert route.run(*args) is not MISSED and route.run(*others) is MISSED


def test_what_holds_no_more_misses() -> None:
    route = routed(lambda x: 2.0 * x, 1.0)
    assert route.run(3.0) == 6.0
    route.entry.still = False
    assert route.run(3.0) is MISSED


A = np.arange(3.0)


@pytest.mark.parametrize(
    ("result", "options"),
    [
        (A + 1.0, {}),
        ((A + 1.0,), {"many": True}),
        ((A + 1.0, 2.0), {"many": True, "places": (0, 1)}),
        ((7.0, A + 1.0), {"value": True}),
        ((np.float64(7.0), (A + 1.0,)), {"value": True, "many": True}),
    ],
)
def test_what_is_promised_is_given_back_as_it_is(result: Any, options: Any) -> None:
    assert routed(lambda a, x: result, A, 1.0, **options).run(A, 1.0) is result


def read_only() -> Any:
    a = np.ones(3)
    a.flags.writeable = False
    return a


@pytest.mark.parametrize(
    ("result", "options"),
    [
        (A, {}),
        (A[::-1], {}),
        (np.broadcast_to(1.0, 3), {}),
        (read_only(), {}),
        (np.ones(3, "f4"), {}),
        (np.ones(2), {}),
        (1.0, {}),
        ((A + 1.0, np.float64(2.0)), {"many": True, "places": (0, 1)}),
        ((A + 1.0, None), {"many": True, "places": (0, 1)}),
        (([7.0], A + 1.0), {"value": True}),
        ([A + 1.0] * 2, {"many": True, "places": (0, 0)}),
    ],
)
def test_everything_else_is_published(result: Any, options: Any) -> None:
    assert routed(lambda a, x: result, A, 1.0, **options).run(A, 1.0) == "published"


def test_results_for_whole_numbers_are_published() -> None:
    assert routed(lambda z: 1j, 1j).run(1j) == "published"


def wave(a: Any, x: float) -> Any:
    return np.sum(np.sin(a * x))


def test_calls_of_several_forms_in_turn_compile_nothing_anew() -> None:
    both = tx.value_and_grad(wave, wrt=(0, 1))
    calls = [(np.linspace(0.0, 1.0, n), x) for n in (3, 5) for x in (0.5, np.float64(0.5))]
    wanted = [both(*args) for args in calls]
    before = compilations()
    for _ in range(3):
        for args, (value, (a_bar, x_bar)) in zip(calls, wanted, strict=True):
            found, (first, second) = both(*args)
            assert found == value and second == x_bar and type(second) is type(args[1])
            np.testing.assert_array_equal(first, a_bar)
            assert first is not a_bar and not np.shares_memory(first, args[0])
    assert compilations() == before


def test_errors_come_from_the_function_itself_and_say_the_line() -> None:
    gradient = tx.grad(wave)
    for _ in range(2):
        gradient(A, 0.5)
        with pytest.raises(TypeError, match="missing a required argument"):
            gradient(A)
        with pytest.raises(TypeError, match="too many"):
            gradient(A, 0.5, 1)


def halved(x: float) -> float:
    return x / 2.0 if x > 0.0 else x**0.5 / x


def test_an_error_of_the_program_is_its_own() -> None:
    gradient = tx.grad(halved)
    assert [gradient(2.0), gradient(4.0)] == [0.5, 0.5]
    with pytest.raises(ZeroDivisionError):
        gradient(0.0)
    assert gradient(2.0) == 0.5
