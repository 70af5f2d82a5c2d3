"""The node of a compiled function: one for the whole call, with the generated adjoint as its pullback."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tangentx.arrays import over
from tangentx.common.float_events import under_events
from tangentx.tensor.calls.operation import attach, fit_tensor
from tangentx.tensor.core.containers import mapped, parts_of, tensors_in
from tangentx.tensor.core.forms import fit, inexact, like_of, zeros
from tangentx.tensor.core.tensor import Tensor, wrap
from tangentx.tensor.graph.nodes import TAPES, Node, noted


def apart(value: Any, given: Any) -> Any:
    """A result whose arrays are read-only where they share memory with what was given, or with one another."""
    taken: list[Any] = []
    shown: list[Any] = []
    mapped(given, lambda x: taken.append(x) if isinstance(x, np.ndarray) else None)
    mapped(value, lambda x: shown.append(x) if isinstance(x, np.ndarray) else None)

    def one(x: Any) -> Any:
        others = [y for y in shown if y is not x]
        twice = len(shown) - len(others) > 1
        if not isinstance(x, np.ndarray) or not (twice or any(np.may_share_memory(x, y) for y in (*taken, *others))):
            return x
        x = x.view()
        x.flags.writeable = False
        return x

    return mapped(value, one)


class Compiled(Node):
    """A call of a compiled function. `reverse(bars)` gives the cotangents of the `values` by parameter, for those of
    all results; `again(values, bars)` does so on Tensors, recorded, and `at_once(bars, count)` for a batch, or gives
    None."""

    def __init__(
        self, name: str, values: Sequence[Any], reverse: Any, again: Callable[..., Any], at_once: Callable[..., Any]
    ) -> None:
        active = [t for t in tensors_in(list(values)) if t.requires_grad]
        super().__init__(name, tuple(t.edge for t in active))
        self.likes = tuple(like_of(t._primal) for t in active)
        self.values: Any = _detached(list(values))
        self.reverse = reverse
        self.again = again
        self.at_once: Any = at_once
        self.answers: list[Any] = []

    def free(self, where: Any) -> None:
        super().free(where)
        self.reverse = self.values = self.at_once = None

    def drop(self, where: Any) -> None:
        super().drop(where)
        self.again = None  # type: ignore[assignment]

    def kept(self) -> Any:
        found: list[Any] = []
        mapped(self.values, lambda x: found.append(x.data if type(x) is _Kept else x))
        return found

    def pull(self, bars: list[Any], create: bool) -> list[Any]:
        given = [zeros(like) if bar is None else bar for bar, like in zip(bars, self.answers, strict=True)]
        if create:
            edges = iter(self.edges)
            values = _attached(self.values, edges)
            found = self.again(values, [bar if type(bar) is Tensor else wrap(bar) for bar in given])
        else:
            found = self.reverse(given)
        flat: list[Any] = []
        for value, bar in zip(self.values, found, strict=True):
            _matched(value, bar, flat)
        fitted = fit_tensor if create else fit
        return [None if bar is None else fitted(bar, like) for bar, like in zip(flat, self.likes, strict=True)]

    def pull_batch(self, bars: list[Any], count: int) -> list[Any] | None:
        """The cotangents for a batch of plain ones; None where there is no program for all members at once."""
        given = [over(zeros(like), count) if bar is None else bar for bar, like in zip(bars, self.answers, strict=True)]
        # The program has been run, and has said what it says.
        found = under_events(lambda: self.at_once(given, count), all="ignore")
        flat: list[Any] = []
        for value, bar in zip(self.values, found or (), strict=found is not None):
            _matched(value, bar, flat)
        return None if found is None else flat

    def results(self, value: Any) -> Any:
        """The results as Tensors, each with a slot of the node."""
        self.slots = 0
        found = mapped(value, self._result)
        self.slots = max(self.slots, 1)
        if TAPES:
            noted(self, list(tensors_in(found)))
        return found

    def _result(self, value: Any) -> Any:
        if value is None or not inexact(value):
            return value
        self.answers.append(like_of(value))
        self.slots += 1
        return wrap(value, self, self.slots - 1)


class _Kept:
    """A Tensor that requires a gradient, without its place in the graph."""

    def __init__(self, data: Any) -> None:
        self.data = data


def _detached(value: Any) -> Any:
    def one(t: Any) -> Any:
        if type(t) is not Tensor:
            return t
        data = t.current.copy() if hasattr(t._primal, "copy") else t.current  # the caller may write into it
        return _Kept(data) if t._needs else wrap(data)

    return mapped(value, one)


def _attached(value: Any, edges: Any) -> Any:
    return mapped(value, lambda t: attach(t.data, next(edges)) if type(t) is _Kept else t)


def _matched(value: Any, bar: Any, flat: list[Any]) -> None:
    """The cotangents of what requires a gradient, in order."""
    if type(value) is _Kept:
        flat.append(bar)
    else:
        bars = parts_of(bar) or {}
        for key, item in (parts_of(value) or {}).items():
            _matched(item, bars.get(key), flat)
