"""Finds the operation whose rule is wrong, when gradients disagree with differences.

The function is run at a point, and beside it in both directions. Of each node in between, what it gave and what it was
given changes by differences, and a pullback that is right pairs the one with a cotangent as it pairs the other with
what it pulls back: ``<bar, change of the results> == <pulled bar, change of the arguments>``.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tangentx.common.float_events import under_events
from tangentx.tensor.core.forms import fit, inexact, like_of
from tangentx.tensor.core.making import made
from tangentx.tensor.core.modes import during
from tangentx.tensor.core.tensor import Tensor
from tangentx.tensor.graph.nodes import TAPES, Node

_DIRECTIONS = 3
_STEP = 1e-5


class Log:
    """The nodes that are recorded while a function runs, and copies of what each gave."""

    def __init__(self, run: Callable[[], Any]) -> None:
        self.nodes: list[Node] = []
        self.gave: list[list[Any]] = []
        tape = threading.get_ident(), weakref.ref(self)
        TAPES.insert(0, tape)
        try:
            self.result = run()
        finally:
            TAPES[:] = [other for other in TAPES if other is not tape]

    def note(self, node: Node, results: Sequence[Any]) -> None:
        """A node was recorded."""
        self.nodes.append(node)
        self.gave.append([np.copy(t.current) if type(t) is Tensor else None for t in results])

    def origin(self, result: Any) -> Node | None:
        """The node from which what is not finite in `result` comes: all that it was given is finite. None where
        `result` is finite, or was not recorded."""
        spoilt = {id(node): node for node, given in zip(self.nodes, self.gave, strict=True) if not _are_finite(given)}
        node: Any = result._node if type(result) is Tensor else None
        if id(node) not in spoilt:
            return None
        while True:
            below = next((source for source in node.sources if id(source) in spoilt), None)
            if below is None:
                found: Node = node
                return found
            node = below


def listening() -> Log | None:
    """The log of what runs in this thread, if there is one."""
    tapes = [tape for thread, reference in TAPES if thread == threading.get_ident() and (tape := reference())]
    return next((tape for tape in tapes if type(tape) is Log), None)


def _are_finite(results: Sequence[Any]) -> bool:
    return all(data is None or bool(np.all(np.isfinite(data))) for data in results)


def wrong_node(func: Callable[..., Any], leaves: list[Any], active: list[Tensor]) -> Node | None:
    """The first node on the way through ``func(*leaves)`` whose pullback is not that of differences; None for none."""
    here = Log(lambda: func(*leaves))
    numbers = {id(node): k for k, node in enumerate(here.nodes)}
    found: list[int] = []
    for seed in range(_DIRECTIONS):
        random = np.random.default_rng(seed)
        dots = [_drawn(t.current, random) for t in active]
        changes = _changes(here, func, leaves, active, dots)
        if changes is None:
            return None  # it does not go the same way beside the point
        by_leaf = {id(t): dot for t, dot in zip(active, dots, strict=True)}
        for k, node in enumerate(here.nodes):
            if k not in found and _is_wrong(node, here.gave[k], changes, k, numbers, by_leaf, random):
                found.append(k)
    return here.nodes[min(found)] if found else None


def _drawn(data: Any, random: np.random.Generator) -> Any:
    shape = np.shape(data)
    drawn = random.normal(size=shape)
    return drawn + 1j * random.normal(size=shape) if np.iscomplexobj(data) else drawn


def _changes(here: Log, func: Any, leaves: list[Any], active: list[Tensor], dots: list[Any]) -> Any:
    """How what each node gave changes along a direction."""
    logs = []
    for sign in (1.0, -1.0):
        moved = {id(t): made(t.current + sign * _STEP * dot, True) for t, dot in zip(active, dots, strict=True)}
        logs.append(Log(lambda moved=moved: func(*(moved.get(id(x), x) for x in leaves))))  # type: ignore[misc]
    for log in logs:
        if [n.operation for n in log.nodes] != [n.operation for n in here.nodes]:
            return None
    return [
        [None if a is None else (a - b) / (2.0 * _STEP) for a, b in zip(ahead, behind, strict=True)]
        for ahead, behind in zip(logs[0].gave, logs[1].gave, strict=True)
    ]


def _is_wrong(
    node: Node,
    gave: list[Any],
    changes: list[list[Any]],
    k: int,
    numbers: dict[int, int],
    by_leaf: dict[int, Any],
    random: np.random.Generator,
) -> bool:
    bars = [None if x is None or not inexact(x) else fit(_drawn(x, random), _like(x)) for x in gave]
    bars += [None] * (node.slots - len(bars))
    given = [None if b is None else np.copy(b) for b in bars]
    pulled = under_events(lambda: during(lambda: node.pull(given, False), grad=False), all="ignore")
    total = size = 0.0
    for bar, change in zip(bars, changes[k], strict=False):
        total, size = _paired(bar, change, total, size, 1.0)
    for (target, slot), bar in zip(node.edges, pulled, strict=True):
        dot = changes[numbers[id(target)]][slot] if id(target) in numbers else by_leaf.get(id(target))
        total, size = _paired(bar, dot, total, size, -1.0)
    return bool(abs(total) > 1e-4 * size + 1e-7)


def _like(x: Any) -> Any:
    return like_of(x) if np.ndim(x) else like_of(x[()])


def _paired(bar: Any, dot: Any, total: float, size: float, sign: float) -> tuple[float, float]:
    if bar is None or dot is None:
        return total, size
    product = np.real(np.asarray(bar) * dot)
    return total + sign * float(np.sum(product)), size + float(np.sum(np.abs(product)))
