"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tangentx.optim.optimizer import Optimizer, State, first_given


class SGD(Optimizer):
    """Gradient descent, with momentum (Polyak 1964) or Nesterov's (Sutskever et al. 2013), as PyTorch has them.

    With ``g = gradient + weight_decay * p``: the velocity is ``v = g`` at first, then ``v = momentum * v +
    (1 - dampening) * g``; ``p -= lr * v``, or ``p -= lr * (g + momentum * v)`` with `nesterov`.

    >>> import numpy as np, tangentx as tx
    >>> p = tx.tensor([1.0, -2.0], requires_grad=True)
    >>> opt = tx.optim.SGD([p], lr=0.25)
    >>> (p * p).sum().backward()
    >>> opt.step()
    >>> p
    tensor([ 0.5, -1. ], requires_grad=True)
    """

    def __init__(
        self,
        params: Any = None,
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        learning_rate: float | None = None,
        parameters: Any = None,
    ) -> None:
        defaults = {
            "lr": first_given(lr, learning_rate), "momentum": momentum, "dampening": dampening,
            "weight_decay": weight_decay, "nesterov": nesterov, "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults, parameters)

    def _checked(self, options: dict[str, Any]) -> dict[str, Any]:
        if options["nesterov"] and (options["momentum"] <= 0 or options["dampening"] != 0):
            raise ValueError("SGD: Nesterov's momentum needs momentum > 0 and dampening = 0")
        return super()._checked(options)

    def rule(self, p: Any, g: Any, state: State, options: Mapping[str, Any]) -> Any:
        """See the class."""
        momentum = options["momentum"]
        if options["weight_decay"]:
            g = g + options["weight_decay"] * p
        if momentum:
            old = state.get("momentum_buffer")
            v = +g if old is None else momentum * old + (1.0 - options["dampening"]) * g
            state["momentum_buffer"] = v
            g = g + momentum * v if options["nesterov"] else v
        return p - options["lr"] * g
