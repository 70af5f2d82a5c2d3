"""The reverse sweep over a recorded graph: iterative, each node once, observed by hooks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from sys import getrefcount
from typing import Any

import numpy as np

from tangentx.arrays.libraries import ARRAYS, as_array
from tangentx.common.float_events import under_events
from tangentx.errors import NotDifferentiable, place, span_of
from tangentx.tensor.calls.apply import call
from tangentx.tensor.calls.operation import fit_tensor
from tangentx.tensor.core.forms import dtype_of, like_of
from tangentx.tensor.core.modes import STATE, during
from tangentx.tensor.core.tensor import Tensor, wrap
from tangentx.tensor.graph.nodes import Node, Watcher

# What observes a reverse sweep: hooks, listeners, and `retain_grad`.


class Watching:
    """A sweep that is watched; with `create` its cotangents are Tensors."""

    create: bool
    wanted: set[tuple[Any, int]] | None

    def _tensor(self, bar: Any) -> Tensor:
        if type(bar) is Tensor:
            return bar
        return wrap(bar.copy() if type(bar) in ARRAYS else np.asarray(bar) if isinstance(bar, np.generic) else bar)

    def _plain(self, bar: Any) -> Any:
        return bar if self.create or type(bar) is not Tensor else bar.current

    def _watched(self, watcher: Watcher, bar: Any) -> Any:
        """The cotangent after the hooks of a Tensor, and kept for those that retain it."""
        if bar is None:
            return None
        for hook in list(watcher.hooks.values()):
            changed = hook(self._tensor(bar))
            if changed is not None:
                bar = self._plain(_fitting(changed, bar, hook))
        for kept in watcher.retained:
            if kept() is not None and self.wanted is None:
                accumulate(kept(), self._tensor(bar))
        return bar

    def _hooked(self, hooks: dict[int, Any], bars: Any, *more: Any) -> list[Any]:
        shown = [tuple(None if b is None else self._tensor(b) for b in group) for group in (bars, *more)]
        for hook in list(hooks.values()):
            changed = hook(*shown)
            if changed is not None:
                shown[0] = _fitting_all(changed, shown[0], hook)
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


def _fitting_all(changed: Any, shown: tuple[Any, ...], hook: Any) -> tuple[Any, ...]:
    """What a hook on a node gives, one for each. Raises NotDifferentiable."""
    found = tuple(changed) if isinstance(changed, tuple | list) else (changed,)
    if len(found) != len(shown):
        message = f"a hook on a node returned {len(found)} gradients for {len(shown)}"
        raise NotDifferentiable(message, _written(hook), "return a tuple of as many as it is given, or None")
    return tuple(new if new is None else _fitting(new, old, hook) for new, old in zip(found, shown, strict=True))


def _fitting(changed: Any, bar: Any, hook: Any) -> Tensor:
    """The gradient that a hook gives in the place of another. Raises NotDifferentiable where it has another form."""
    new = changed if type(changed) is Tensor else wrap(as_array(changed))
    if bar is None:
        message = "a hook returned a gradient in the place of None, which stands for none"
        raise NotDifferentiable(message, _written(hook), "return None there")
    old, data = bar.current if type(bar) is Tensor else bar, new.current
    if np.shape(data) != np.shape(old):
        message = f"a hook returned a gradient of shape {np.shape(data)} in the place of one of shape {np.shape(old)}"
        raise NotDifferentiable(message, _written(hook), "return one of the same shape, or None to leave it as it is")
    kind, dtype = dtype_of(data), dtype_of(old)
    if kind == dtype:
        return new
    if kind.kind not in "fciub" or (kind.kind == "c" and dtype.kind != "c"):
        message = f"a hook returned a gradient of {kind} in the place of one of {dtype}"
        raise NotDifferentiable(message, _written(hook), f"return one of {dtype}, or None to leave it as it is")
    fitted: Tensor = fit_tensor(new, like_of(as_array(old)))
    return fitted


def _written(hook: Any) -> Any:
    """Where a hook is written, or, for one that is not, where backward was called."""
    code = getattr(hook, "__code__", None)
    return span_of(place() if code is None else (code, 0))


def accumulate(leaf: Any, bar: Tensor) -> None:
    """Adds to ``.grad``."""
    leaf._grad = bar if leaf._grad is None else call(np.add, (leaf._grad, bar), {})


# The reverse sweep over a recorded graph: iterative, each node once, in topological order.

_NONE: frozenset[Any] = frozenset()
Seed = tuple[Any, int, Any]


class Sweep(Watching):
    """One reverse sweep. With `create` the cotangents are Tensors, and what is done with them is recorded.

    `wanted` are edges whose cotangents are asked for; then nothing else is followed or collected. `bars` holds the
    cotangent of a target's first result by the target, those of others by target and slot; what is `owned` is an
    array that nobody else holds.
    """

    def __init__(self, create: bool, retain: bool, wanted: Sequence[tuple[Any, int]] | None) -> None:
        self.create = create
        self.retain = retain
        self.wanted = None if wanted is None else set(wanted)
        self.ends = _NONE if wanted is None else frozenset(target for target, _ in wanted)
        self.found: dict[tuple[Any, int], Any] = {}
        self.bars: dict[Any, Any] = {}
        self.owned: set[Any] = set()
        self.waiting: dict[Any, int] = {}
        self.where = place()
        self.told = STATE.anomaly or bool(STATE.listeners)

    def run(self, seeds: Sequence[Seed]) -> dict[tuple[Any, int], Any]:
        """The cotangents of the wanted edges."""
        return under_events(lambda: during(lambda: self._run(seeds), grad=self.create, honest=False), invalid="ignore")

    def _run(self, seeds: Sequence[Seed]) -> dict[tuple[Any, int], Any]:
        waiting = self.waiting = self._waiting([target for target, _, _ in seeds])
        for target, slot, bar in seeds:
            self._give(target, slot, bar, False)
        ready = [target for target, count in waiting.items() if count == 0]
        self._follow(ready, not (self.create or self.told))
        return self.found

    def reached(self, seeds: Sequence[Seed]) -> Collection[Any]:
        """The targets that a sweep from these seeds would pass."""
        return self._waiting([target for target, _, _ in seeds])

    def _follow(self, ready: list[Any], quick: bool) -> None:
        """Passes all targets, each after those that lead to it."""
        waiting, bars, ends = self.waiting, self.bars, self.ends
        passed = 0
        while ready:
            target = ready.pop()
            passed += 1
            if type(target) is Tensor:
                self._end(target, bars.pop(target, None))
            elif quick and target.simple and target in bars and target not in ends:
                target.step(bars, waiting, ready, self)
            else:
                self._pass(target)
                for source in target.sources:
                    count = waiting.get(source)
                    if count is not None:
                        waiting[source] = count - 1
                        if count == 1:
                            ready.append(source)
        if passed < len(waiting):
            stuck = next(target for target, count in waiting.items() if count > 0)
            raise NotDifferentiable(
                "the graph has a cycle: a node comes before itself",
                getattr(stuck, "span", None),
                "make the graph of operations on Tensors, and leave `edges` of nodes alone",
            )

    def add(self, target: Any, bar: Any) -> None:
        """`_give` of one more cotangent on plain data."""
        old = self.bars[target]
        if target in self.owned and type(bar) in ARRAYS:
            np.add(old, bar, out=old)
        else:
            self.bars[target] = total = old + bar
            if type(total) in ARRAYS:
                self.owned.add(target)

    def _waiting(self, roots: Sequence[Any]) -> dict[Any, int]:
        """How many edges lead to each target that is to be passed."""
        counts: dict[Any, int] = dict.fromkeys(roots, 0)
        order = list(counts)
        for target in order:  # which grows on the way
            if type(target) is not Tensor:
                for source in target.sources:
                    if source in counts:
                        counts[source] += 1
                    else:
                        counts[source] = 1
                        order.append(source)
        return counts if self.wanted is None else self._leading(order, counts)

    def _leading(self, order: list[Any], counts: dict[Any, int]) -> dict[Any, int]:
        """Only the targets from which a wanted edge is reached."""
        assert self.wanted is not None
        parents: dict[Any, list[Any]] = {}
        for target in order:
            if isinstance(target, Node) and target.dropped and target not in self.ends:
                target.check()  # nobody can tell what it has led to
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
        key = (target, slot) if slot else target
        old = self.bars.get(key)
        if old is None:
            self.bars[key] = bar
            if fresh:
                self.owned.add(key)
        elif self.create:
            self.bars[key] = call(np.add, (old, bar), {})
        else:
            self.add(key, bar)

    def _taken(self, target: Node) -> list[Any] | None:
        """The cotangents of a node's results; None where there are none."""
        bars = [self.bars.pop(target, None)]
        if target.slots > 1:
            bars += [self.bars.pop((target, slot), None) for slot in range(1, target.slots)]
        return None if all(bar is None for bar in bars) else bars

    def _pass(self, target: Any) -> None:
        """Takes a node's cotangents on to its edges."""
        bars = self._taken(target)
        if bars is None:
            return
        edges, first = target.edges, bars[0]
        if target.watchers or self.wanted is not None:
            bars = self._seen(target, bars)
            if not any(edge[0] in self.waiting for edge in edges):
                return
        target.check()
        if target.before:
            bars = self._hooked(target.before, bars)
        own = target in self.owned and bars[0] is first
        if target.consumes and not self.create and not own:
            bars[0] = bars[0].copy()
        given = self._pulled(target, bars)
        if target.after:
            given = self._hooked(target.after, given, bars)
        if self.told:
            self._tell(target, bars, given)
        if not self.retain:
            target.free(self.where)
        fresh = target.consumes and not self.create
        for (there, slot), bar in zip(edges, given, strict=True):
            if bar is not None and there in self.waiting:
                self._give(there, slot, bar, fresh)
            fresh = False

    def _pulled(self, target: Any, bars: list[Any]) -> Sequence[Any]:
        """The cotangents of what a node was made of."""
        found: Sequence[Any] = target.pull(bars, self.create)
        return found

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

    def _end(self, leaf: Tensor, bar: Any) -> None:
        """A leaf: its hooks, then its gradient."""
        if bar is None:
            return
        own = getrefcount(bar) <= _GIVEN and type(bar) in ARRAYS and bar.base is None
        if leaf._hooks is not None:
            bar, own = self._watched(leaf._hooks, bar), False
        if self.wanted is not None:
            self._collect(leaf, [bar])
        elif own and leaf._grad is None:
            leaf._grad = wrap(bar)
        else:
            accumulate(leaf, wrap(bar) if own else self._tensor(bar))


def _references(bar: Any) -> int:
    return getrefcount(bar)


_GIVEN = _references(np.zeros(1))  # what nobody holds, given to a function that asks
