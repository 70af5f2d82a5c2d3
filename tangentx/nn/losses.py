"""Losses as modules: their settings are given once."""

from __future__ import annotations

from typing import Any

from tangentx.nn import functional
from tangentx.nn.module import Module


class _Loss(Module):
    def __init__(self, reduction: str = "mean") -> None:
        self.reduction = reduction


class MSELoss(_Loss):
    """See `functional.mse_loss`."""

    def forward(self, input: Any, target: Any) -> Any:
        """See the class."""
        return functional.mse_loss(input, target, self.reduction)


class L1Loss(_Loss):
    """See `functional.l1_loss`."""

    def forward(self, input: Any, target: Any) -> Any:
        """See the class."""
        return functional.l1_loss(input, target, self.reduction)


class SmoothL1Loss(_Loss):
    """See `functional.smooth_l1_loss`."""

    def __init__(self, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__(reduction)
        self.beta = beta

    def forward(self, input: Any, target: Any) -> Any:
        """See the class."""
        return functional.smooth_l1_loss(input, target, self.reduction, self.beta)


class HuberLoss(_Loss):
    """See `functional.huber_loss`."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction)
        self.delta = delta

    def forward(self, input: Any, target: Any) -> Any:
        """See the class."""
        return functional.huber_loss(input, target, self.reduction, self.delta)


class BCELoss(_Loss):
    """See `functional.binary_cross_entropy`."""

    def __init__(self, weight: Any = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight

    def forward(self, input: Any, target: Any) -> Any:
        """See the class."""
        return functional.binary_cross_entropy(input, target, self.weight, self.reduction)


class BCEWithLogitsLoss(_Loss):
    """See `functional.binary_cross_entropy_with_logits`."""

    def __init__(self, weight: Any = None, reduction: str = "mean", pos_weight: Any = None) -> None:
        super().__init__(reduction)
        self.weight, self.pos_weight = weight, pos_weight

    def forward(self, input: Any, target: Any) -> Any:
        """See the class."""
        return functional.binary_cross_entropy_with_logits(input, target, self.weight, self.reduction, self.pos_weight)


class NLLLoss(_Loss):
    """See `functional.nll_loss`."""

    def __init__(self, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight, self.ignore_index = weight, ignore_index

    def forward(self, input: Any, target: Any) -> Any:
        """See the class."""
        return functional.nll_loss(input, target, self.weight, self.ignore_index, self.reduction)


class CrossEntropyLoss(_Loss):
    """See `functional.cross_entropy`."""

    def __init__(
        self, weight: Any = None, ignore_index: int = -100, reduction: str = "mean", label_smoothing: float = 0.0
    ) -> None:
        super().__init__(reduction)
        self.weight, self.ignore_index, self.label_smoothing = weight, ignore_index, label_smoothing

    def forward(self, input: Any, target: Any) -> Any:
        """See the class."""
        return functional.cross_entropy(
            input, target, self.weight, self.ignore_index, self.reduction, self.label_smoothing
        )
