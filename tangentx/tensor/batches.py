"""Many cotangents in one reverse sweep: each node is passed once, and pulled back for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tangentx.errors import NotDifferentiable, place, span_of
from tangentx.tensor import autograd
from tangentx.tensor.apply import call
from tangentx.tensor.core import Tensor, wrap
from tangentx.tensor.engine import Sweep
from tangentx.tensor.forms import like_of, ones, zeros


class Batch:
    """One cotangent for each member of the batch."""

    def __init__(self, items: Sequence[Any]) -> None:
        self.items = list(items)

    def __add__(self, other: Batch) -> Batch:
        return Batch([_plus(a, b) for a, b in zip(self.items, other.items, strict=True)])


def _plus(a: Any, b: Any) -> Any:
    if a is None or b is None:
        return b if a is None else a
    return call(np.add, (a, b), {}) if type(a) is Tensor else a + b


class _Batches(Sweep):
    """A sweep whose cotangents are batches."""

    def _give(self, target: Any, slot: int, bar: Any, fresh: bool) -> None:
        key = (target, slot) if slot else target
        self.bars[key] = self.bars[key] + bar if key in self.bars else bar

    def _follow(self, ready: list[Any], quick: bool) -> None:
        super()._follow(ready, False)

    def _pass(self, target: Any) -> None:
        bars = self._taken(target)
        if bars is not None and self.wanted is not None:
            for slot, bar in enumerate(bars):
                if bar is not None and (target, slot) in self.wanted:
                    self.found[target, slot] = bar
        if bars is None or not any(edge[0] in self.waiting for edge in target.edges):
            return
        target.check()
        count = next(len(bar.items) for bar in bars if bar is not None)
        each = []
        for k in range(count):
            member = [None if bar is None else bar.items[k] for bar in bars]
            if target.consumes and not self.create:
                member[0] = np.array(member[0])
            each.append(target.pull(member, self.create))
        if not self.retain:
            target.free(self.where)
        for i, edge in enumerate(target.edges):
            if edge[0] in self.waiting and any(given[i] is not None for given in each):
                self._give(edge[0], edge[1], Batch([given[i] for given in each]), False)


def batched(outs: list[Any], ins: list[Any], gradients: list[Any], retain: bool, create: bool) -> list[Any]:
    """The gradients by the inputs for each member of the batch, stacked; None for what nothing depends on."""
    sizes = {}
    for t, g in zip(outs, gradients, strict=True):
        shape, wanted = np.shape(g.current if type(g) is Tensor else g), np.shape(t.current)
        if g is None or len(shape) != len(wanted) + 1 or shape[1:] != wanted:
            raise NotDifferentiable(
                f"a batch of gradients for a Tensor of shape {wanted} has shape (batch, *{wanted}), not {shape}",
                span_of(place()),
                "give every grad_output one more dimension in front, or leave is_grads_batched out",
            )
        sizes[shape[0]] = shape
    if len(sizes) != 1:
        raise NotDifferentiable(
            f"the batches have different lengths: {sorted(sizes)}", span_of(place()), "give all grad_outputs one length"
        )
    count = next(iter(sizes))
    members = [autograd._seeds(outs, [g[k] for g in gradients], create) for k in range(count)]
    seeds = [(*row[0][:2], Batch([seed for _, _, seed in row])) for row in zip(*members, strict=True)]
    autograd.SWEEPS[0] += 1
    edges = [t.edge for t in ins]
    if count == 0:
        return [wrap(np.zeros((0, *np.shape(t.current)), np.asarray(ones(like_of(t.current))).dtype)) for t in ins]
    bars = _Batches(create, retain, edges).run(seeds)
    return [_stacked(bars.get(edge), like_of(t.current)) for edge, t in zip(edges, ins, strict=True)]


def _stacked(batch: Batch | None, like: Any) -> Any:
    if batch is None:
        return None
    items = [zeros(like) if item is None else item for item in batch.items]
    return call(np.stack, (items,), {}) if any(type(item) is Tensor for item in items) else wrap(np.stack(items))
