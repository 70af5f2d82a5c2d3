"""The harness can fail: each thing that it guards is broken once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.harness import Fault, call, call_with_fault, curvature, derivative, gradient, leaves, perturbed, snapshot
from tests.programs.case import draw
from tests.programs.faulty import leaves_a_mark, restores, swallows

TABLE: list[Any] = [np.zeros(2), {"a": 1.0}]


@dataclass
class Point:
    x: float
    y: np.ndarray[Any, Any]


def reads_table(x: float) -> float:
    return x * float(TABLE[0][0])


def counter() -> tuple[Callable[[], int], Callable[[], None]]:
    n = 0

    def read() -> int:
        return n

    def bump() -> None:
        nonlocal n
        n += 1

    return read, bump


def set_item(x: Any, key: Any, value: Any) -> None:
    x[key] = value


def reorder(d: dict[str, Any]) -> None:
    d["a"] = d.pop("a")


CHANGES: list[tuple[str, Callable[[], Any], Callable[[Any], object]]] = [
    ("an element", lambda: np.zeros(3), lambda x: set_item(x, 1, 1.0)),
    ("the sign of a zero", lambda: np.zeros(3), lambda x: set_item(x, 1, -0.0)),
    ("outside a view", lambda: np.zeros(4)[::2], lambda x: set_item(x.base, 1, 1.0)),
    ("a flag", lambda: np.zeros(3), lambda x: x.setflags(write=False)),
    ("an item", lambda: [1.0, 2.0], lambda x: set_item(x, 0, 3.0)),
    ("an equal copy", lambda: [np.zeros(1)], lambda x: set_item(x, 0, np.zeros(1))),
    ("one more", lambda: [1.0], lambda x: x.append(2.0)),
    ("the type of a number", lambda: [1.0], lambda x: set_item(x, 0, np.float64(1.0))),
    ("a key", lambda: {"a": 1.0}, lambda x: x.pop("a")),
    ("the order of keys", lambda: {"a": 1.0, "b": 2.0}, reorder),
    ("an attribute", lambda: Point(1.0, np.zeros(1)), lambda p: setattr(p, "x", 2.0)),
    ("an array of an attribute", lambda: Point(1.0, np.zeros(1)), lambda p: set_item(p.y, 0, 2.0)),
    ("deep below", lambda: {"a": [(1.0, [np.zeros(2)])]}, lambda x: set_item(x["a"][0][1][0], 0, 1.0)),
]


@pytest.mark.parametrize(("make", "change"), [case[1:] for case in CHANGES], ids=[case[0] for case in CHANGES])
def test_a_snapshot_sees(make: Callable[[], Any], change: Callable[[Any], object]) -> None:
    thing = make()
    before = snapshot(thing)
    before.assert_unchanged()
    change(thing)
    with pytest.raises(AssertionError, match="changed by the call"):
        before.assert_unchanged()


def test_a_snapshot_sees_globals_and_cells() -> None:
    read, bump = counter()
    of_cell, of_global = snapshot(read), snapshot(reads_table)
    bump()
    with pytest.raises(AssertionError, match="cell n"):
        of_cell.assert_unchanged()
    TABLE[0][0] = 2.0
    with pytest.raises(AssertionError, match="global TABLE"):
        of_global.assert_unchanged()
    TABLE[0][0] = 0.0
    of_global.assert_unchanged()


def test_a_call_refuses_shared_results() -> None:
    x = np.zeros(4)
    with pytest.raises(AssertionError, match="memory of args"):
        call(lambda a: a[1:], x)
    with pytest.raises(AssertionError, match="memory of result"):
        call(lambda a: [a * 1.0] * 2, x)
    assert call(lambda a: [a * 2.0, a * 3.0], x)[1].shape == (4,)


def test_faults_find_what_is_not_undone() -> None:
    seeds = range(12)
    for seed in seeds:
        call_with_fault(restores, (np.ones(3),), np.random.default_rng(seed))
    with pytest.raises(AssertionError, match="changed by the call"):
        for seed in seeds:
            call_with_fault(leaves_a_mark, (np.ones(3),), np.random.default_rng(seed))


def test_faults_happen_in_generated_texts() -> None:
    space: dict[str, Any] = {}
    text = "def f(x):\n    x[0] += 1.0\n    x[0] -= 1.0\n    return 2.0\n"
    exec(compile(text, "<tangentx f_grad>", "exec"), space)
    with pytest.raises(AssertionError, match="changed by the call"):
        for seed in range(12):
            call_with_fault(space["f"], (np.ones(1),), np.random.default_rng(seed))


def test_a_swallowed_fault_is_found() -> None:
    with pytest.raises(AssertionError, match="swallowed"):
        for seed in range(20):
            call_with_fault(swallows, (np.ones(3),), np.random.default_rng(seed))


def test_code_of_others_is_not_traced() -> None:
    with pytest.raises(AssertionError, match="ran no line"):
        call_with_fault(len, ([1, 2],), np.random.default_rng(0))
    assert issubclass(Fault, Exception)


def test_differences_of_what_is_known() -> None:
    value, error = derivative(lambda h: np.array([np.exp(h), np.sin(2.0 * h)]))
    np.testing.assert_allclose(value, [1.0, 2.0], rtol=1e-11)
    assert error < 1e-10
    assert curvature(lambda h: float(np.exp(2.0 * h)))[0] == pytest.approx(4.0, rel=1e-7)
    x = {"w": draw(2, 2, seed=1).T, "n": 3, "b": (0.5, "text")}
    got, _ = gradient(lambda s: float(np.sum(s["w"] ** 3) * s["b"][0] ** 2 * s["n"]), x)
    np.testing.assert_allclose(got[0], 9.0 * x["w"] ** 2 * 0.25, rtol=1e-9)
    np.testing.assert_allclose(got[1], 3.0 * np.sum(x["w"] ** 3), rtol=1e-9)


def test_moving_keeps_the_layout() -> None:
    for x in (
        draw(6, seed=1)[::-2],
        draw(2, 3, seed=2).T,
        draw(4, 4, seed=3)[1:, ::2],
        np.array(0.5),
        np.zeros((0, 2)),
    ):
        moved = perturbed([x], [np.ones(x.shape)], 0.25)[0]
        np.testing.assert_allclose(moved, x + 0.25)
        assert moved.strides == x.strides
        assert not np.shares_memory(moved, x)
    single = draw(4, seed=4).astype(np.float32)[::2]
    assert perturbed([single], [0.0], 1.0)[0].strides == (16,)
    assert [leaf.path for leaf in leaves({"a": [1.0, 2], "p": Point(1.0, x)})] == ["['a'][0]", "['p'].x", "['p'].y"]
