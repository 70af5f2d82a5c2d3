"""One program of the corpus: an ordinary function, and fresh arguments for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Program:
    """A function with a real scalar result.

    `args` makes new arguments at each call, always the same ones; `wrt` names the parameters to differentiate by.
    A program that is not `smooth` at second order says at which `kink`.
    """

    fn: Callable[..., Any]
    args: Callable[[], tuple[Any, ...]]
    wrt: str | tuple[str, ...]
    smooth: bool = True
    kink: str = ""

    @property
    def name(self) -> str:
        return self.fn.__name__


def draw(*shape: int, seed: int = 0, low: float = -1.0, high: float = 1.0) -> Any:
    """An array of numbers between `low` and `high`, the same for the same seed."""
    return np.random.default_rng(seed).uniform(low, high, shape)
