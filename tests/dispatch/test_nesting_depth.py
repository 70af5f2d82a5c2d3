"""What is nested too deeply for our own walks is a located refusal; the program's own recursion is its own error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.dispatch.tensor_arguments import holds_modules

DEEP = 3_000


class Node:
    def __init__(self, following: Any) -> None:
        self.value, self.following = 1.0, following


def in_lists(n: int) -> Any:
    made: Any = 1.0
    for _ in range(n):
        made = [made]
    return made


def in_tuples(n: int) -> Any:
    made: Any = 1.0
    for _ in range(n):
        made = (made,)
    return made


def in_dicts(n: int) -> Any:
    made: Any = 1.0
    for _ in range(n):
        made = {"a": made}
    return made


def in_objects(n: int) -> Any:
    made: Any = None
    for _ in range(n):
        made = Node(made)
    return made


def square(x: Any, other: Any) -> Any:
    return x * x


WAYS: dict[str, Callable[[Any], Any]] = {
    "grad": lambda deep: tx.grad(square)(1.5, deep),
    "both": lambda deep: tx.grad(square, wrt=(0, 1))(1.5, deep),
    "source": lambda deep: tx.grad(square).source_for(1.5, deep),
    "vjp": lambda deep: tx.vjp(square, 1.5, deep),
    "jvp": lambda deep: tx.jvp(square, (1.5, deep), (1.0, None)),
    "hvp": lambda deep: tx.hvp(square, (1.5, deep), (1.0, None)),
    "jacobian": lambda deep: tx.jacobian(square)(1.5, deep),
    "linearize": lambda deep: tx.linearize(square, 1.5, deep),
    "vmap": lambda deep: tx.vmap(square, in_axes=(0, None))(np.ones(3), deep),
    "method": lambda deep: tx.differentiate(square).jvp((1.5, deep), (1.0, None)),
    "tensors": lambda deep: tx.differentiate(square)(tx.tensor(1.5, requires_grad=True), deep),
}


@pytest.mark.parametrize("make", [in_lists, in_tuples, in_dicts, in_objects])
@pytest.mark.parametrize("way", WAYS)
def test_deep_arguments_are_refused(way: str, make: Callable[[int], Any]) -> None:
    with pytest.raises(tx.TangentxError, match="levels deep") as caught:
        WAYS[way](make(DEEP))
    assert __file__ in str(caught.value)


def of_itself(kind: str) -> Any:
    made: Any = {"list": [1.0, [2.0]], "dict": {"a": 1.0, "b": [2.0]}, "items": [[1.0], [2.0]]}[kind]
    if kind == "dict":
        made["me"] = made
    else:
        (made if kind == "list" else made[1]).append(made)
    return made


@pytest.mark.parametrize("kind", ["list", "dict", "items"])
@pytest.mark.parametrize("way", WAYS)
def test_arguments_that_hold_themselves_are_refused(way: str, kind: str) -> None:
    """They were said to be nested too deeply, and that the limit of recursion should be raised."""
    with pytest.raises(tx.TangentxError, match="holds itself") as caught:
        WAYS[way](of_itself(kind))
    assert __file__ in str(caught.value) and "pass the parts" in str(caught.value)


def refers_back(x: Any) -> Any:
    made = [x * x]
    made.append(made)  # type: ignore[arg-type]
    return made


def refers_back_on_tensors(x: Any) -> Any:
    made = {"y": eval("x * x")}
    made["me"] = made
    return made


def refers_back_by_name(x: Any) -> Any:
    made: dict[str, Any] = {"y": x * x}
    made["me"] = made
    return made


RESULTS: dict[str, Callable[[Any], Any]] = {
    "jvp": lambda f: tx.jvp(f, (1.5,), (1.0,)),
    "linearize": lambda f: tx.linearize(f, 1.5)[1](1.0),
    "jacobian": lambda f: tx.jacobian(f)(1.5),
    "vmap": lambda f: tx.vmap(f)(np.ones(2)),
    "pullback": lambda f: tx.vjp(f, 1.5)[1](tx.vjp(f, 1.5)[0]),
}


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize("f", [refers_back, refers_back_on_tensors, refers_back_by_name])
@pytest.mark.parametrize("way", RESULTS)
def test_results_that_hold_themselves_are_refused(way: str, f: Callable[[Any], Any]) -> None:
    """The remedy was a higher limit of recursion; the linear map of one raised a RecursionError."""
    with pytest.raises(tx.TangentxError, match="holds itself") as caught:
        RESULTS[way](f)
    assert __file__ in str(caught.value)


def test_objects_that_refer_to_each_other() -> None:
    node = Node(None)
    node.following = Node(node)
    assert tx.grad(lambda x, node: x * node.following.following.value)(1.5, node) == 1.0
    with pytest.raises(tx.TangentxError, match="holds itself"):
        tx.grad(lambda node: node.value * 2.0)(node)


def test_arguments_are_looked_through_for_modules_however_deep() -> None:
    linear, holder = tx.nn.Linear(1, 1), []
    holder.append(holder)
    for make in (in_lists, in_tuples, in_dicts):
        assert not holds_modules(make(DEEP))
    assert not holds_modules(holder) and holds_modules([holder, {"a": (1.0, linear)}])


@pytest.mark.parametrize("make", [in_lists, in_tuples, in_dicts, in_objects])
def test_a_hundred_levels_are_followed(make: Callable[[int], Any]) -> None:
    assert tx.grad(square)(1.5, make(100)) == 3.0
    assert tx.vjp(square, 1.5, make(100))[1](1.0)[0] == 3.0


def test_the_function_itself_takes_anything() -> None:
    assert tx.differentiate(square)(1.5, in_lists(DEEP)) == 2.25


OUTSIDE = in_lists(DEEP)


def reads_outside(x: float) -> float:
    return x * len(OUTSIDE)


def test_deep_things_outside_are_refused() -> None:
    with pytest.raises(tx.TangentxError, match="nested too deeply"):
        tx.grad(reads_outside)(1.5)


def descends(x: float, tree: Any) -> float:
    return descends(x, tree)


def by_itself(x: float, tree: Any) -> float:
    return x * descends(x, tree) if x > 0.0 else x


def test_a_recursion_of_the_programs_own_is_its_own_error() -> None:
    with pytest.raises(RecursionError):
        tx.grad(by_itself)(1.5, in_lists(110))
    assert tx.grad(by_itself)(-1.5, in_lists(110)) == 1.0
