"""A derivative call that touches nothing of the user's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.harness.leaves import leaves
from tests.harness.snapshot import snapshot


def call(derivative: Callable[..., Any], *args: Any, watch: tuple[object, ...] = ()) -> Any:
    """``derivative(*args)``; fails if it changed its arguments or what the functions in `watch` reach.

    The result must be fresh: its arrays share memory with no argument and with one another.
    """
    before = snapshot(args, getattr(derivative, "__wrapped__", None), *watch)
    result = derivative(*args)
    before.assert_unchanged()
    assert_fresh(result, args)
    return result


def assert_fresh(result: object, args: object) -> None:
    """Raise `AssertionError` where an array of `result` shares memory with another one, or with one of `args`."""
    made = [leaf for leaf in leaves(result) if isinstance(leaf.value, np.ndarray)]
    given = [leaf for leaf in leaves(args) if isinstance(leaf.value, np.ndarray)]
    for k, leaf in enumerate(made):
        for other in given:
            assert not np.shares_memory(leaf.value, other.value), f"result{leaf.path} is memory of args{other.path}"
        for other in made[:k]:
            assert not np.shares_memory(leaf.value, other.value), f"result{leaf.path} is memory of result{other.path}"
