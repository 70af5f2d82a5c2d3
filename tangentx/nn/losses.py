"""Losses and distances as modules: their settings are given once."""

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


class KLDivLoss(_Loss):
    """See `functional.kl_div`."""

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__(reduction)
        self.log_target = log_target

    def forward(self, input: Any, target: Any) -> Any:
        """See the class."""
        return functional.kl_div(input, target, self.reduction, self.log_target)


class TripletMarginLoss(_Loss):
    """See `functional.triplet_margin_loss`."""

    def __init__(
        self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False, reduction: str = "mean"
    ) -> None:
        super().__init__(reduction)
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap

    def forward(self, anchor: Any, positive: Any, negative: Any) -> Any:
        """See the class."""
        return functional.triplet_margin_loss(
            anchor, positive, negative, self.margin, self.p, self.eps, self.swap, self.reduction
        )


class CosineEmbeddingLoss(_Loss):
    """See `functional.cosine_embedding_loss`."""

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def forward(self, input1: Any, input2: Any, target: Any) -> Any:
        """See the class."""
        return functional.cosine_embedding_loss(input1, input2, target, self.margin, self.reduction)


class CosineSimilarity(Module):
    """See `functional.cosine_similarity`."""

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        self.dim, self.eps = dim, eps

    def forward(self, x1: Any, x2: Any) -> Any:
        """See the class."""
        return functional.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """See `functional.pairwise_distance`."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Any, x2: Any) -> Any:
        """See the class."""
        return functional.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
