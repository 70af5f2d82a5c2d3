"""What observes a reverse sweep: hooks, listeners, and `retain_grad`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tangentx.arrays.libraries import ARRAYS, as_array
from tangentx.errors import NotDifferentiable, place, span_of
from tangentx.tensor.calls.apply import call
from tangentx.tensor.calls.operation import fit_tensor
from tangentx.tensor.core.forms import dtype_of, like_of
from tangentx.tensor.core.modes import STATE
from tangentx.tensor.core.tensor import Tensor, wrap
from tangentx.tensor.graph.nodes import Node, Watcher


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
