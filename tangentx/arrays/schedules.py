"""Checkpointing schedules: which states of a long loop to keep, so that few steps are repeated.

Of a loop of n steps at most c states are kept at a time. A stretch whose first state is kept is gone back over by
running on to a step at which another state is kept, going back over what lies behind that (with one state less to
keep), and then over what lies before it. The number of steps run again is least where the stretch is cut as in
A. Griewank and A. Walther, "Algorithm 799: revolve", ACM Transactions on Mathematical Software 26 (2000), pp. 19-45:
with c states, and no step run more than r times, it may have (c + r over c) steps (theorem 2.1 there).
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from math import comb
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


def checkpointed(over: Iterable[T], snapshots: int | None = None) -> Iterable[T]:
    """`over` itself. In a compiled function ``for t in checkpointed(range(n), snapshots=s)`` records none of its steps.

    The reverse sweep runs them again, each from the last of at most `snapshots` states that are kept; as many as that
    no step is run again more than twice, where it is not said (about the square root of 2 n). A state is what the steps
    change: numbers, and copies of arrays that are written. Nothing is printed again, and random generators give what
    they gave. UnsupportedSyntax where a step returns, asks clocks or calls other unknown code; ValueError for less than
    one snapshot. With Tensors, and where nothing is differentiated, it is the plain loop.

    >>> import tangentx as tx
    >>> def f(x):
    ...     for t in tx.checkpointed(range(100), snapshots=5):
    ...         x = x - 0.01 * x * x
    ...     return x
    >>> round(tx.grad(f)(1.0), 3)
    0.247
    """
    if snapshots is not None and snapshots < 1:
        raise ValueError(_LEAST)
    return over


_LEAST = "a checkpointed loop holds one snapshot at least"


def next_snapshot(at: int, stop: int, free: int) -> int:
    """The step before which the next state is kept, after that before step `at`; `stop` where none is.

    The steps up to `stop` are to be gone back over, and `free` states may be kept besides that at `at`. Of the cuts
    that are best (revolve, theorem 3.1) it is the latest. Raises ValueError where `free` is negative.
    """
    if free < 0:
        raise ValueError(_LEAST)
    steps, states, repeats = stop - at, free + 1, 0
    if free == 0 or steps < 2:
        return stop
    while comb(states + repeats, states) < steps:
        repeats += 1
    return at + min(comb(states + repeats - 1, states), steps - comb(states + repeats - 2, states - 1))


def enough_snapshots(start: int, stop: int) -> int:
    """How many states to keep so that no step of ``range(start, stop)`` is run again more than twice, and one more
    time to be gone back over: the least c for which (c + 2 over 2) is the number of steps, or more."""
    states = 1
    while comb(states + 2, 2) < stop - start:
        states += 1
    return states


def generator_states(*generators: Any) -> tuple[Any, ...]:
    """The states of random generators: those of NumPy and of Python, or a function or module that draws from one."""
    return tuple(_state_of(_generator(g)) for g in generators)


def set_generators(states: Any, *generators: Any) -> None:
    """Gives random generators the states that `generator_states` said."""
    for state, given in zip(states, generators, strict=True):
        own = _generator(given)
        if isinstance(own, np.random.Generator):
            own.bit_generator.state = state
        elif isinstance(own, np.random.RandomState):
            own.set_state(state)
        else:
            own.setstate(state)


def _generator(x: Any) -> Any:
    if x is np.random:
        return _generator(np.random.standard_normal)
    if x is random:
        return _generator(random.random)
    return getattr(x, "__self__", x)


def _state_of(own: Any) -> Any:
    if isinstance(own, np.random.Generator):
        return own.bit_generator.state
    return own.get_state(legacy=False) if isinstance(own, np.random.RandomState) else own.getstate()


def there(x: Any) -> bool:
    """Whether a name that may have no value yet has one."""
    return x is not None


def has_memory(x: Any) -> bool:
    """Whether a name that is to hold an array or a container does: without a value it is None, its cotangent 0.0."""
    return x is not None and type(x) is not float
