"""Learning rates that change from epoch to epoch, by PyTorch's names: one ``scheduler.step()`` after each.

Each schedule is a formula for the rate at an epoch, from the rate that the group began with (``initial_lr``).
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Sequence
from typing import Any


class LRScheduler:
    """Base class: a subclass gives the rate of a group at `epoch`."""

    def __init__(self, optimizer: Any, last_epoch: int = -1) -> None:
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch + 1
        self._set()

    def rate(self, base: float, epoch: int, group: int) -> float:
        """The learning rate at `epoch` of the group whose number is given, which began with `base`."""
        raise NotImplementedError

    def step(self) -> None:
        """Goes on to the next epoch."""
        self.last_epoch += 1
        self._set()

    def _set(self) -> None:
        for k, (group, base) in enumerate(zip(self.optimizer.param_groups, self.base_lrs, strict=False)):
            group["lr"] = self.rate(base, self.last_epoch, k)

    def get_last_lr(self) -> list[float]:
        """The rates of the groups as they are now."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """What `load_state_dict` needs."""
        return {"last_epoch": self.last_epoch, "base_lrs": list(self.base_lrs)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from what `state_dict` gave."""
        self.last_epoch, self.base_lrs = state["last_epoch"], list(state["base_lrs"])
        self._set()


class StepLR(LRScheduler):
    """Times `gamma` after every `step_size` epochs.

    >>> import tangentx as tx
    >>> opt = tx.optim.SGD(lr=1.0)
    >>> schedule = tx.optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.5)
    >>> rates = []
    >>> for epoch in range(5):
    ...     rates.append(opt.param_groups[0]["lr"])
    ...     schedule.step()
    >>> rates
    [1.0, 1.0, 0.5, 0.5, 0.25]
    """

    def __init__(self, optimizer: Any, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, epoch: int, group: int) -> float:
        """See the class."""
        return base * self.gamma ** (epoch // self.step_size)


class MultiStepLR(LRScheduler):
    """Times `gamma` at each of the `milestones`."""

    def __init__(self, optimizer: Any, milestones: Sequence[int], gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.milestones, self.gamma = sorted(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, epoch: int, group: int) -> float:
        """See the class."""
        return float(base * self.gamma ** bisect.bisect_right(self.milestones, epoch))


class ExponentialLR(LRScheduler):
    """Times `gamma` after every epoch."""

    def __init__(self, optimizer: Any, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, epoch: int, group: int) -> float:
        """See the class."""
        return float(base * self.gamma**epoch)


class CosineAnnealingLR(LRScheduler):
    """Half a wave of the cosine from the first rate down to `eta_min` over `T_max` epochs (Loshchilov, Hutter 2017)."""

    def __init__(self, optimizer: Any, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, epoch: int, group: int) -> float:
        """See the class."""
        return self.eta_min + (base - self.eta_min) * (1.0 + math.cos(math.pi * epoch / self.T_max)) / 2.0


class LinearLR(LRScheduler):
    """A factor that goes straight from `start_factor` to `end_factor` over `total_iters` epochs: a warm-up."""

    def __init__(
        self,
        optimizer: Any,
        start_factor: float = 1.0 / 3.0,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, epoch: int, group: int) -> float:
        """See the class."""
        done = min(epoch, self.total_iters) / self.total_iters
        return base * (self.start_factor + (self.end_factor - self.start_factor) * done)


class LambdaLR(LRScheduler):
    """The first rate times ``lr_lambda(epoch)``; a list has one function for each group."""

    def __init__(self, optimizer: Any, lr_lambda: Any, last_epoch: int = -1) -> None:
        many = isinstance(lr_lambda, list | tuple)
        self.lr_lambdas: list[Callable[[int], float]] = (
            list(lr_lambda) if many else [lr_lambda] * len(optimizer.param_groups)
        )
        if len(self.lr_lambdas) != len(optimizer.param_groups):
            raise ValueError(f"{len(self.lr_lambdas)} functions for {len(optimizer.param_groups)} groups")
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, epoch: int, group: int) -> float:
        """See the class."""
        return base * self.lr_lambdas[group](epoch)


class SequentialLR:
    """Several schedules one after the other: the next one begins anew at each of the `milestones`.

    >>> import tangentx as tx
    >>> from tangentx.optim import lr_scheduler
    >>> opt = tx.optim.SGD(lr=1.0)
    >>> warm_up = lr_scheduler.LinearLR(opt, start_factor=0.5, total_iters=2)
    >>> schedule = lr_scheduler.SequentialLR(opt, [warm_up, lr_scheduler.StepLR(opt, 2)], milestones=[2])
    >>> rates = []
    >>> for epoch in range(5):
    ...     rates.append(opt.param_groups[0]["lr"])
    ...     schedule.step()
    >>> rates
    [0.5, 0.75, 1.0, 1.0, 0.1]
    """

    def __init__(self, optimizer: Any, schedulers: Sequence[LRScheduler], milestones: Sequence[int]) -> None:
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                f"{len(schedulers)} schedules have {len(schedulers) - 1} milestones, not {len(milestones)}"
            )
        if any(each.optimizer is not optimizer for each in schedulers):
            raise ValueError("a schedule belongs to another optimizer")
        self.optimizer, self.schedulers, self.milestones = optimizer, list(schedulers), list(milestones)
        self.last_epoch = 0
        self._set()

    def _set(self) -> None:
        turn = bisect.bisect_right(self.milestones, self.last_epoch)
        now = self.schedulers[turn]
        now.last_epoch = self.last_epoch - (self.milestones[turn - 1] if turn else 0)
        now._set()

    def step(self) -> None:
        """Goes on to the next epoch."""
        self.last_epoch += 1
        self._set()

    def get_last_lr(self) -> list[float]:
        """The rates of the groups as they are now."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """What `load_state_dict` needs."""
        return {"last_epoch": self.last_epoch, "schedulers": [each.state_dict() for each in self.schedulers]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from what `state_dict` gave."""
        self.last_epoch = state["last_epoch"]
        for each, its in zip(self.schedulers, state["schedulers"], strict=True):
            each.load_state_dict(its)
        self._set()


class ReduceLROnPlateau:
    """Times `factor` when a measure has not become better for more than `patience` epochs: ``step(loss)``.

    Better is by more than `threshold`, a fraction of the best ("rel") or an amount ("abs"); `mode` is "min" or "max".
    After a change nothing is counted for `cooldown` epochs; no rate goes below `min_lr`, nor changes by less than
    `eps`.
    """

    def __init__(
        self,
        optimizer: Any,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0.0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError(f"factor={factor!r} does not make the rate smaller")
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs"):
            raise ValueError(f'mode={mode!r} must be "min" or "max", threshold_mode={threshold_mode!r} "rel" or "abs"')
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode, self.cooldown = threshold, threshold_mode, cooldown
        self.min_lr, self.eps = min_lr, eps
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = self.cooldown_counter = self.last_epoch = 0

    def _is_better(self, value: float) -> bool:
        sign = 1.0 if self.mode == "min" else -1.0
        if math.isinf(self.best):
            return sign * value < sign * self.best
        margin = self.threshold if self.threshold_mode == "abs" else self.threshold * self.best
        return sign * value < sign * self.best - margin

    def step(self, metrics: Any) -> None:
        """Counts an epoch with this measure."""
        value = float(metrics.detach() if hasattr(metrics, "detach") else metrics)
        self.last_epoch += 1
        if self._is_better(value):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for group in self.optimizer.param_groups:
                new = max(group["lr"] * self.factor, self.min_lr)
                if group["lr"] - new > self.eps:
                    group["lr"] = new
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0

    def get_last_lr(self) -> list[float]:
        """The rates of the groups as they are now."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """What `load_state_dict` needs."""
        return {name: value for name, value in vars(self).items() if name != "optimizer"}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from what `state_dict` gave."""
        vars(self).update(state)
