"""Loss scaling, so that small gradients do not underflow in float16 (Micikevicius et al. 2018)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tangentx.arrays.libraries import array_of, as_array, is_array
from tangentx.common.pytrees import is_differentiable, rebuild


class GradScaler:
    """The factor of the loss, which halves where a gradient is not finite and doubles after many steps that are.

    As PyTorch's, on Tensors::

        scaler = tx.amp.GradScaler()
        for x, y in batches:
            opt.zero_grad()
            with tx.amp.autocast():
                loss = criterion(model(x), y)
            scaler.scale(loss).backward()
            scaler.step(opt)                    # unscales, and steps unless a gradient is not finite
            scaler.update()

    and for gradients of the compiled form, whose loss takes the factor as an argument::

        value, grads = gradient(model, x, y, scaler.get_scale())
        grads = scaler.unscale(grads)           # None where one is not finite
        if grads is not None:
            model, state = opt.update(model, grads, state)
        scaler.update()

    >>> import numpy as np, tangentx as tx
    >>> scaler = tx.amp.GradScaler(init_scale=8.0, growth_interval=2)
    >>> scaler.unscale(np.array([16.0, 4.0]))
    array([2. , 0.5])
    >>> scaler.update()
    >>> scaler.unscale([np.inf]), scaler.update(), scaler.get_scale()
    (None, None, 4.0)
    """

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if not (init_scale > 0.0 and growth_factor > 1.0 and 0.0 < backoff_factor < 1.0 and growth_interval >= 1):
            raise ValueError(
                f"GradScaler: init_scale={init_scale!r} must be positive, growth_factor={growth_factor!r} above 1, "
                f"backoff_factor={backoff_factor!r} between 0 and 1, growth_interval={growth_interval!r} at least 1"
            )
        self._scale, self._growth, self._backoff = float(init_scale), float(growth_factor), float(backoff_factor)
        self._interval, self._enabled = int(growth_interval), bool(enabled)
        self._good_steps = 0
        self._finite: dict[int, bool] = {}  # by optimiser whose gradients are unscaled; 0 stands for the compiled form

    def get_scale(self) -> float:
        """The factor."""
        return self._scale if self._enabled else 1.0

    def is_enabled(self) -> bool:
        """Whether anything is scaled."""
        return self._enabled

    def scale(self, outputs: Any) -> Any:
        """Losses times the factor: a Tensor, a number, an array, or a list or tuple of them."""
        if isinstance(outputs, list | tuple):
            return type(outputs)(map(self.scale, outputs))
        return outputs * self.get_scale() if self._enabled else outputs

    def unscale_(self, optimizer: Any) -> None:
        """Divides the gradients of an optimiser's parameters by the factor, in place: to clip them before the step.

        Raises RuntimeError where that has been done since the last `update`.
        """
        if not self._enabled:
            return
        if id(optimizer) in self._finite:
            raise RuntimeError("unscale_() has been called for this optimiser since the last update()")
        finite = []
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    gradient = p.grad.current / as_array(p.grad.current).dtype.type(self._scale)
                    finite.append(np.all(np.isfinite(gradient)))
                    p.grad = gradient
        self._finite[id(optimizer)] = not finite or bool(np.all(array_of(finite)))  # one transfer from a device

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """What ``optimizer.step`` gives, with unscaled gradients; None, and no step, where one is not finite."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if id(optimizer) not in self._finite:
            self.unscale_(optimizer)
        return optimizer.step(*args, **kwargs) if self._finite[id(optimizer)] else None

    def unscale(self, grads: Any) -> Any:
        """A structure of gradients by the factor; None where a number in it is not finite."""
        if not self._enabled:
            return grads
        finite = True

        def part(leaf: Any) -> Any:
            nonlocal finite
            if not is_differentiable(leaf):
                return leaf
            finite = finite and bool(np.all(np.isfinite(leaf)))
            new = leaf / self._scale
            return as_array(new).astype(leaf.dtype, copy=False) if is_array(leaf) else new

        found = rebuild(grads, part)
        self._finite[0] = self._finite.get(0, True) and finite
        return found if finite else None

    def update(self, new_scale: float | None = None) -> None:
        """Sets the factor for the next step: less where gradients were not finite, more after `growth_interval` steps
        that were. Raises RuntimeError where there was no step."""
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale = float(new_scale)
        elif not self._finite:
            raise RuntimeError("update() has no step to go by: call step(optimizer), or unscale(grads), before it")
        elif not all(self._finite.values()):
            self._scale, self._good_steps = self._scale * self._backoff, 0
        else:
            self._good_steps += 1
            if self._good_steps == self._interval:
                self._scale, self._good_steps = self._scale * self._growth, 0
        self._finite.clear()

    def state_dict(self) -> dict[str, Any]:
        """The factor and the settings, by PyTorch's names."""
        return {
            "scale": self._scale,
            "growth_factor": self._growth,
            "backoff_factor": self._backoff,
            "growth_interval": self._interval,
            "_growth_tracker": self._good_steps,
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Goes on from what `state_dict` gave."""
        self._scale, self._growth = float(state_dict["scale"]), float(state_dict["growth_factor"])
        self._backoff, self._interval = float(state_dict["backoff_factor"]), int(state_dict["growth_interval"])
        self._good_steps = int(state_dict["_growth_tracker"])
