"""Objects of one of several classes, and objects that may be None."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.testing import check_grads


class Base:
    scale = 2.0
    energy: Any

    def __init__(self, k: Any) -> None:
        self.k = k

    def total(self, x: Any) -> Any:
        return self.scale * self.energy(x) + self.shift

    @property
    def shift(self) -> Any:
        return self.k


class Spring(Base):
    def __init__(self, k: Any, rest: Any) -> None:
        super().__init__(k)
        self.rest = rest

    def energy(self, x: Any) -> Any:
        return 0.5 * self.k * np.sum((x - self.rest) ** 2)

    def __call__(self, x: Any) -> Any:
        return self.k * x

    def __mul__(self, s: Any) -> Any:
        return Spring(self.k * s, self.rest)


class Stiff(Spring):
    scale = 3.0

    def energy(self, x: Any) -> Any:
        return 10.0 * super().energy(x)


class Morse(Base):
    def __init__(self, k: Any, a: Any) -> None:
        super().__init__(k)
        self.a = a

    def energy(self, x: Any) -> Any:
        return self.k * np.sum((1.0 - np.exp(-self.a * x)) ** 2)

    @property
    def shift(self) -> Any:
        return self.k * 3.0

    def __call__(self, x: Any) -> Any:
        return self.k + x

    def __mul__(self, s: Any) -> Any:
        return Morse(self.k, self.a * s)


def made(x: Any, k: Any) -> list[Any]:
    found: list[Any] = []
    for i in range(5):
        if i % 3 == 0:
            found.append(Spring(k, x[0]))
        elif i % 3 == 1:
            found.append(Morse(k, 0.5))
        else:
            found.append(Stiff(k * i, x[1]))
    return found


def methods(x: Any, k: Any) -> Any:
    return sum(each.total(x) for each in made(x, k))


def operators(x: Any, k: Any) -> Any:
    return sum((each * x[2]).total(x) + np.sum(each(x)) for each in made(x, k))


def written(x: Any, k: Any) -> Any:
    parts = made(x, k)
    for part in parts:
        part.k = part.k * x[2]
        if isinstance(part, Spring):
            part.rest = part.rest + 1.0
    return sum(part.total(x) * part.k for part in parts)


def chosen(x: Any, k: Any) -> Any:
    model: Any = Spring(k, x[0])
    for i in range(3):
        energy = model.total(x)
        if energy > 1.0 and i == 1:
            model = Morse(k * 0.3, 0.7)
        x = x - 0.01 * energy * x
    return model.total(x)


def best(x: Any, k: Any) -> Any:
    found: Any = None
    for part in made(x, k):
        if found is None or part.total(x) < found.total(x):
            found = part
    return found.total(x) ** 2 + found.k


def pairs(x: Any, k: Any) -> Any:
    parts = made(x, k)
    return sum(a.k * b.total(x) for a in parts for b in parts if a is not b)


@dataclass
class Tree:
    key: Any
    left: Any = None
    right: Any = None


def insert(node: Any, key: Any) -> Any:
    if node is None:
        return Tree(key)
    if key < node.key:
        node.left = insert(node.left, key)
    else:
        node.right = insert(node.right, key)
    return node


def depths(node: Any, depth: Any) -> Any:
    if node is None:
        return 0.0
    return depth * node.key**2 + depths(node.left, depth + 1.0) + depths(node.right, depth + 1.0)


def tree(x: Any, k: Any) -> Any:
    root = None
    for v in x:
        root = insert(root, v * k)
    return depths(root, 1.0)


def linked(x: Any, k: Any) -> Any:
    head: Any = None
    for v in x:
        head = Tree(v * k, head)
    node, total = head, 0.0
    while node:
        total += 2.0 * node.key if node is head else node.key**2
        node = node.left
    return total if not node else 0.0


def containers(x: Any, k: Any) -> Any:
    largest: Any = None
    grown: Any = None
    table: Any = None
    for i in range(len(x)):
        value = x[i] * (i + 1)
        if largest is None or value > largest[0]:
            largest = (value, i)
        if grown is None:
            grown, table = [value * k], {"first": value}
        else:
            grown.append(grown[-1] * value)
    return largest[0] ** 2 + x[largest[1]] + sum(grown) * table["first"]


X, K = np.array([0.4, -0.3, 0.8]), 0.7


@pytest.mark.share(1)
@pytest.mark.parametrize("f", [methods, operators, written, chosen, best, pairs, tree, linked, containers])
def test_the_class_of_an_object_says_what_its_members_are(f: Any) -> None:
    check_grads(f, (X, K), wrt=(0, 1), order=2 if f is linked else 1, rtol=1e-4)
    with tx.checked():
        found = tx.grad(f, fallback="error")(X, K)
    np.testing.assert_array_equal(found, tx.grad(f, fallback="error")(X, K))


def test_objects_of_a_list_that_is_given() -> None:
    def f(models: Any, x: Any) -> Any:
        total = 0.0
        for model in models:
            total += model.total(x)
            if total > 1e9:
                break
        return total

    for models in ([Spring(0.5, 0.1), Morse(0.3, 0.2)], [Stiff(0.1, 0.3), Morse(0.3, 0.2), Stiff(0.2, 0.3)]):
        check_grads(f, (models, X), wrt=(1,), order=1)


def test_a_member_that_a_class_lacks_is_an_error_of_the_program() -> None:
    def f(x: Any, k: Any) -> Any:
        return sum(part.energy(x) for part in [*made(x, k), Base(k)][::1])

    with pytest.raises(AttributeError, match="no attribute 'energy'"):
        f(X, K)
    with pytest.raises((AttributeError, tx.TangentxError), match="energy"):
        tx.grad(f, fallback="error")(X, K)


def test_what_is_a_method_here_and_a_value_there_is_refused() -> None:
    class Value:
        def __init__(self, k: Any) -> None:
            self.total = k

    def f(x: Any, k: Any) -> Any:
        part = Spring(k, x[0]) if k > 0 else Value(k)
        return part.total

    with pytest.raises(tx.TangentxError, match="total"):
        tx.grad(f, fallback="error")(X, K)
