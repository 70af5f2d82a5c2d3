"""What is shown of a reverse sweep on its way: to hooks, to listeners, to Tensors that keep their gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tangentx.errors import NotDifferentiable
from tangentx.tensor.apply import call
from tangentx.tensor.core import Tensor, wrap
from tangentx.tensor.graph import Node, Watcher
from tangentx.tensor.modes import STATE


class Watching:
    """A sweep that is watched; with `create` its cotangents are Tensors."""

    create: bool
    wanted: set[tuple[Any, int]] | None

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
