"""Special names of classes."""

from __future__ import annotations

import tangentx as tx


class Grid:
    def __init__(self, values):
        self.values = values

    def __getitem__(self, key):
        i, j = key
        return self.values[i][j]

    def __setitem__(self, key, value):
        i, j = key
        self.values[i][j] = value


class Window:
    def __init__(self, values):
        self.values = values

    def __getitem__(self, part):
        return self.values[part]


def test_items_are_what_the_class_says() -> None:
    def f(x):
        grid = Grid([[x, 1.0], [2.0, x]])
        grid[0, 1] = x * x
        grid[1, 1] += grid[0, 1] * grid[0, 0]
        return grid[1, 1]

    assert tx.grad(f)(2.0) == 1.0 + 3.0 * 4.0


def test_slices_are_passed_on() -> None:
    def f(x):
        return sum(Window([x, x * x, 1.0])[:2])

    assert tx.grad(f)(2.0) == 5.0
