"""Optimisers whose steps are scaled by moments of the gradients seen before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tangentx.optim.optimizer import Optimizer, State, first_given


class Adam(Optimizer):
    """Adam (Kingma and Ba 2015), with AMSGrad (Reddi et al. 2018) where `amsgrad`, in PyTorch's form.

    Of ``g = gradient + weight_decay * p`` the moments ``m = b1 * m + (1 - b1) * g`` and ``v = b2 * v + (1 - b2) * g²``
    are kept; ``p -= lr / (1 - b1ᵗ) * m / (sqrt(v) / sqrt(1 - b2ᵗ) + eps)``. AMSGrad takes the largest v so far. With
    `decoupled_weight_decay` it is `AdamW`.

    >>> import numpy as np, tangentx as tx
    >>> loss = lambda p: np.sum(p["w"] ** 2)
    >>> params = {"w": np.array([0.15, -3.5])}
    >>> opt = tx.optim.Adam(lr=0.001)
    >>> new, state = opt.update(params, tx.grad(loss)(params), opt.init(params))
    >>> np.round(new["w"] - params["w"], 9)
    array([-0.001,  0.001])
    """

    decoupled = False

    def __init__(
        self,
        params: Any = None,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        decoupled_weight_decay: bool = False,
        learning_rate: float | None = None,
        parameters: Any = None,
    ) -> None:
        self.decoupled = self.decoupled or decoupled_weight_decay
        defaults = {
            "lr": first_given(lr, learning_rate), "betas": tuple(betas), "eps": eps, "weight_decay": weight_decay,
            "amsgrad": amsgrad, "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults, parameters)

    def rule(self, p: Any, g: Any, state: State, options: Mapping[str, Any]) -> Any:
        """See the class."""
        b1, b2 = options["betas"]
        if options["weight_decay"]:
            if self.decoupled:
                p = p * (1.0 - options["lr"] * options["weight_decay"])
            else:
                g = g + options["weight_decay"] * p
        step = state["step"] = state.get("step", 0) + 1
        zero = np.zeros_like(p)
        m = state["exp_avg"] = b1 * state.get("exp_avg", zero) + (1.0 - b1) * g
        v = state["exp_avg_sq"] = b2 * state.get("exp_avg_sq", zero) + (1.0 - b2) * (g * g)
        if options["amsgrad"]:
            v = state["max_exp_avg_sq"] = np.maximum(state.get("max_exp_avg_sq", zero), v)
        scale = np.sqrt(v) / (1.0 - b2**step) ** 0.5 + options["eps"]
        return p - options["lr"] / (1.0 - b1**step) * (m / scale)


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019): ``p *= 1 - lr * weight_decay`` before the step.

    >>> import tangentx as tx
    >>> tx.optim.AdamW(lr=0.01)
    AdamW(lr=0.01, betas=(0.9, 0.999), eps=1e-08, weight_decay=0.01, amsgrad=False, maximize=False)
    """

    decoupled = True

    def __init__(
        self,
        params: Any = None,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        learning_rate: float | None = None,
        parameters: Any = None,
    ) -> None:
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad,
            maximize=maximize, learning_rate=learning_rate, parameters=parameters,
        )  # fmt: skip


class RMSprop(Optimizer):
    """RMSprop (Tieleman and Hinton 2012), `centered` as by Graves (2013), in PyTorch's form.

    Of ``g = gradient + weight_decay * p`` the mean square ``v = alpha * v + (1 - alpha) * g²`` is kept, less the
    square of the mean where `centered`. The step ``g / (sqrt(v) + eps)`` is summed up by `momentum`, if any.
    """

    def __init__(
        self,
        params: Any = None,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        *,
        maximize: bool = False,
        learning_rate: float | None = None,
        parameters: Any = None,
    ) -> None:
        defaults = {
            "lr": first_given(lr, learning_rate), "alpha": alpha, "eps": eps, "weight_decay": weight_decay,
            "momentum": momentum, "centered": centered, "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults, parameters)

    def rule(self, p: Any, g: Any, state: State, options: Mapping[str, Any]) -> Any:
        """See the class."""
        alpha, momentum = options["alpha"], options["momentum"]
        if options["weight_decay"]:
            g = g + options["weight_decay"] * p
        zero = np.zeros_like(p)
        v = state["square_avg"] = alpha * state.get("square_avg", zero) + (1.0 - alpha) * (g * g)
        if options["centered"]:
            mean = state["grad_avg"] = alpha * state.get("grad_avg", zero) + (1.0 - alpha) * g
            v = v - mean * mean
        move = g / (np.sqrt(v) + options["eps"])
        if momentum:
            move = state["momentum_buffer"] = momentum * state.get("momentum_buffer", zero) + move
        return p - options["lr"] * move


class Adagrad(Optimizer):
    """Adagrad (Duchi, Hazan and Singer 2011), in PyTorch's form.

    Of ``g = gradient + weight_decay * p`` the squares are summed: ``p -= lr / (1 + (t - 1) * lr_decay) * g /
    (sqrt(sum) + eps)``.
    """

    def __init__(
        self,
        params: Any = None,
        lr: float = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        *,
        maximize: bool = False,
        learning_rate: float | None = None,
        parameters: Any = None,
    ) -> None:
        defaults = {
            "lr": first_given(lr, learning_rate), "lr_decay": lr_decay, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "eps": eps, "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults, parameters)

    def rule(self, p: Any, g: Any, state: State, options: Mapping[str, Any]) -> Any:
        """See the class."""
        if options["weight_decay"]:
            g = g + options["weight_decay"] * p
        step = state["step"] = state.get("step", 0) + 1
        start = np.full_like(p, options["initial_accumulator_value"])
        total = state["sum"] = state.get("sum", start) + g * g
        rate = options["lr"] / (1.0 + (step - 1) * options["lr_decay"])
        return p - rate * (g / (np.sqrt(total) + options["eps"]))
