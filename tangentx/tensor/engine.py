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
from tangentx.tensor.places import place, span_of

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

    def run(self, seeds: Sequence[Seed]) -> dict[tuple[Any, int], Any]:
        """The cotangents of the wanted edges."""
        with setting(grad=self.create, honest=False):
            waiting = self.waiting = self._waiting([target for target, _, _ in seeds])
            for target, slot, bar in seeds:
                self._give(target, slot, bar, False)
            ready = [target for target, count in waiting.items() if count == 0]
            passed = 0
            while ready:
                target = ready.pop()
                passed += 1
                for edge in self._pass(target):
                    if edge in waiting:
                        waiting[edge] -= 1
                        if waiting[edge] == 0:
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
            for edge in target.edges if isinstance(target, Node) else ():
                if edge[0] in counts:
                    counts[edge[0]] += 1
                else:
                    counts[edge[0]] = 1
                    stack.append(edge[0])
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

    def _pass(self, target: Any) -> list[Any]:
        """Takes a target's cotangents on to its edges; gives the targets of these."""
        bars = self.bars.pop(target, None)
        own = bars is not None and id(bars[0]) in self.owned
        self.owned.difference_update(map(id, bars or ()))  # ids of dead arrays come back
        if type(target) is Tensor:
            self._end(target, bars)
            return []
        if bars is None:
            return [edge[0] for edge in target.edges]
        if target.watchers:
            for slot, watcher in target.watchers.items():
                bars[slot] = self._watched(watcher, bars[slot])
        if self.wanted is not None:
            self._collect(target, bars)
            if not any(edge[0] in self.waiting for edge in target.edges):
                return []
        target.check()
        if target.before:
            bars = self._hooked(target.before, bars)
        if target.consumes and not self.create and not own:
            bars[0] = bars[0].copy()
        given = target.pull(bars, self.create)
        if target.after:
            given = self._hooked(target.after, given, bars)
        if STATE.anomaly or STATE.listeners:
            self._tell(target, bars, given)
        if not self.retain:
            target.free(self.where)
        for i, (edge, bar) in enumerate(zip(target.edges, given, strict=True)):
            if bar is not None and edge[0] in self.waiting:
                self._give(edge[0], edge[1], bar, i == 0 and target.consumes and not self.create)
        return [edge[0] for edge in target.edges]

    def _collect(self, target: Any, bars: list[Any]) -> None:
        assert self.wanted is not None
        for slot, bar in enumerate(bars):
            if bar is not None and (target, slot) in self.wanted:
                self.found[target, slot] = bar

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


def seed_of(t: Tensor, gradient: Any) -> Any:
    """The cotangent to begin with. Raises NotDifferentiable where shape or domain do not fit."""
    data = t.current
    value = gradient.current if type(gradient) is Tensor else gradient
    if np.shape(value) == (1,) and np.shape(data) == ():
        if type(gradient) is Tensor:
            gradient = call(np.reshape, (gradient, ()), {})
        else:
            gradient = np.reshape(value, ())
        value = np.reshape(value, ())[()]
    if np.shape(value) != np.shape(data):
        raise NotDifferentiable(
            f"the gradient has shape {np.shape(value)}, but the Tensor has shape {np.shape(data)}",
            span_of(place()),
            f"give it the shape {np.shape(data)}; a batch of gradients needs is_grads_batched=True",
        )
    if np.iscomplexobj(value) and not np.iscomplexobj(data):
        raise NotDifferentiable(
            "the gradient is complex, but the Tensor is real", span_of(place()), "give it the Tensor's dtype"
        )
    return gradient
