"""The reverse sweep over a recorded graph: iterative, each node once, after all that lead to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tangentx.errors import NotDifferentiable
from tangentx.tensor.apply import call
from tangentx.tensor.core import Tensor, wrap
from tangentx.tensor.graph import Node, Watcher
from tangentx.tensor.modes import STATE, setting
from tangentx.tensor.places import place

Seed = tuple[Any, int, Any]


class Sweep:
    """One reverse sweep. With `create` the cotangents are Tensors, and what is done with them is recorded.

    `wanted` are edges whose cotangents are asked for; then nothing else is followed or collected.
    """

    def __init__(self, create: bool, retain: bool, wanted: Sequence[tuple[Any, int]] | None) -> None:
        self.create = create
        self.retain = retain
        self.wanted = None if wanted is None else set(wanted)
        self.found: dict[tuple[Any, int], Any] = {}
        self.bars: dict[Any, list[Any]] = {}
        self.owned: set[int] = set()
        self.waiting: dict[Any, int] = {}
        self.where = place()
        self.told = STATE.anomaly or bool(STATE.listeners)

    def run(self, seeds: Sequence[Seed]) -> dict[tuple[Any, int], Any]:
        """The cotangents of the wanted edges."""
        with setting(grad=self.create, honest=False), np.errstate(invalid="ignore"):
            waiting = self.waiting = self._waiting([target for target, _, _ in seeds])
            for target, slot, bar in seeds:
                self._give(target, slot, bar, False)
            ready = [target for target, count in waiting.items() if count == 0]
            passed = 0
            while ready:
                target = ready.pop()
                passed += 1
                for edge, _ in self._pass(target):
                    count = waiting.get(edge)
                    if count is not None:
                        waiting[edge] = count - 1
                        if count == 1:
                            ready.append(edge)
            if passed < len(waiting):
                stuck = next(target for target, count in waiting.items() if count > 0)
                raise NotDifferentiable(
                    "the graph has a cycle: a node comes before itself",
                    getattr(stuck, "span", None),
                    "make the graph of operations on Tensors, and leave `edges` of nodes alone",
                )
        return self.found

    def _waiting(self, roots: Sequence[Any]) -> dict[Any, int]:
        """How many edges lead to each target that is to be passed."""
        counts: dict[Any, int] = {}
        stack: list[Any] = []
        for root in roots:
            if root not in counts:
                counts[root] = 0
                stack.append(root)
        order: list[Any] = []
        while stack:
            target = stack.pop()
            order.append(target)
            for edge, _ in () if type(target) is Tensor else target.edges:
                if edge in counts:
                    counts[edge] += 1
                else:
                    counts[edge] = 1
                    stack.append(edge)
        return counts if self.wanted is None else self._leading(order, counts)

    def _leading(self, order: list[Any], counts: dict[Any, int]) -> dict[Any, int]:
        """Only the targets from which a wanted edge is reached."""
        assert self.wanted is not None
        parents: dict[Any, list[Any]] = {}
        for target in order:
            for edge in target.edges if isinstance(target, Node) else ():
                parents.setdefault(edge[0], []).append(target)
        stack = [target for target, _ in self.wanted if target in counts]
        leading = set(stack)
        while stack:
            for parent in parents.get(stack.pop(), ()):
                if parent not in leading:
                    leading.add(parent)
                    stack.append(parent)
        return {
            target: sum(1 for parent in parents.get(target, ()) if parent in leading)
            for target in order
            if target in leading
        }

    def _give(self, target: Any, slot: int, bar: Any, fresh: bool) -> None:
        """Adds a cotangent to what a target has got."""
        slots = self.bars.get(target)
        if slots is None:
            slots = self.bars[target] = [None] * (target.slots if isinstance(target, Node) else 1)
        old = slots[slot]
        if old is None:
            slots[slot] = bar
            if fresh:
                self.owned.add(id(bar))
        elif self.create:
            slots[slot] = call(np.add, (old, bar), {})
        elif id(old) in self.owned and type(bar) is np.ndarray:
            np.add(old, bar, out=old)
        else:
            slots[slot] = old + bar
            if type(slots[slot]) is np.ndarray:
                self.owned.add(id(slots[slot]))

    def _pass(self, target: Any) -> Any:
        """Takes a target's cotangents on to its edges, and gives these."""
        bars = self.bars.pop(target, None)
        own = False
        if self.owned and bars is not None:
            first = bars[0]
            own = id(first) in self.owned
            self.owned.difference_update(map(id, bars))  # ids of dead arrays come back
        if type(target) is Tensor:
            self._end(target, bars)
            return ()
        edges = target.edges
        if bars is None:
            return edges
        if target.watchers or self.wanted is not None:
            bars = self._seen(target, bars)
            own = own and bars[0] is first
            if not any(edge[0] in self.waiting for edge in edges):
                return ()
        if target.contents or target.freed is not None:
            target.check()
        if target.before:
            bars, own = self._hooked(target.before, bars), False
        if target.consumes and not self.create and not own:
            bars[0] = bars[0].copy()
        given = target.pull(bars, self.create)
        if target.after:
            given = self._hooked(target.after, given, bars)
        if self.told:
            self._tell(target, bars, given)
        if not self.retain:
            target.free(self.where)
        fresh = target.consumes and not self.create
        for (there, slot), bar in zip(edges, given, strict=True):
            if bar is not None and there in self.waiting:
                if fresh or there in self.bars or slot:
                    self._give(there, slot, bar, fresh)
                else:
                    self.bars[there] = [bar, *[None] * ((1 if type(there) is Tensor else there.slots) - 1)]
            fresh = False
        return edges

    def _seen(self, target: Any, bars: list[Any]) -> list[Any]:
        """The cotangents after the hooks on them; what is wanted of them is kept."""
        if target.watchers:
            for slot, watcher in target.watchers.items():
                bars[slot] = self._watched(watcher, bars[slot])
        if self.wanted is not None:
            self._collect(target, bars)
        return bars

    def _collect(self, target: Any, bars: list[Any]) -> None:
        assert self.wanted is not None
        for slot, bar in enumerate(bars):
            if bar is not None and (target, slot) in self.wanted:
                consumed = type(target) is not Tensor and target.consumes and not self.create
                self.found[target, slot] = bar.copy() if consumed else bar

    def _end(self, leaf: Tensor, bars: list[Any] | None) -> None:
        """A leaf: its hooks, then its gradient."""
        if bars is None:
            return
        if leaf._hooks is not None:
            bars = [self._watched(leaf._hooks, bars[0])]
        if self.wanted is not None:
            self._collect(leaf, bars)
        else:
            accumulate(leaf, self._tensor(bars[0]))

    def _tensor(self, bar: Any) -> Tensor:
        if type(bar) is Tensor:
            return bar
        return wrap(bar.copy() if type(bar) is np.ndarray else np.asarray(bar) if isinstance(bar, np.generic) else bar)

    def _plain(self, bar: Any) -> Any:
        return bar if self.create or type(bar) is not Tensor else bar.current

    def _watched(self, watcher: Watcher, bar: Any) -> Any:
        """The cotangent after the hooks of a Tensor, and kept for those that retain it."""
        if bar is None:
            return None
        for hook in list(watcher.hooks.values()):
            changed = hook(self._tensor(bar))
            if changed is not None:
                bar = self._plain(changed if type(changed) is Tensor else wrap(changed))
        for kept in watcher.retained:
            if kept() is not None and self.wanted is None:
                accumulate(kept(), self._tensor(bar))
        return bar

    def _hooked(self, hooks: dict[int, Any], bars: Any, *more: Any) -> list[Any]:
        shown = [tuple(None if b is None else self._tensor(b) for b in group) for group in (bars, *more)]
        for hook in list(hooks.values()):
            changed = hook(*shown)
            if changed is not None:
                shown[0] = tuple(changed) if isinstance(changed, tuple | list) else (changed,)
        return [self._plain(bar) for bar in shown[0]]

    def _tell(self, target: Node, bars: list[Any], given: Sequence[Any]) -> None:
        if STATE.anomaly:
            for bar in given:
                if bar is not None and not np.all(np.isfinite(bar.current if type(bar) is Tensor else bar)):
                    raise NotDifferentiable(
                        f"`{target.name}` gives the first cotangent that is not finite", target.span,
                        "look at the values that the operation was given: `node.saved`",
                    )  # fmt: skip
        for listener in STATE.listeners:
            listener(target, bars, given)


def accumulate(leaf: Any, bar: Tensor) -> None:
    """Adds to ``.grad``."""
    leaf._grad = bar if leaf._grad is None else call(np.add, (leaf._grad, bar), {})
