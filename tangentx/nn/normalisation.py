"""Layers that shift and scale to mean 0 and variance 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import stop_gradient
from tangentx.nn import functional
from tangentx.nn.module import Module
from tangentx.nn.parameter import Parameter
from tangentx.nn.shapes import demand_channels, demand_end
from tangentx.tensor.core.tensor import Tensor


class LayerNorm(Module):
    """See `functional.layer_norm`: over the last axes, which have `normalized_shape`.

    >>> import numpy as np, tangentx as tx
    >>> tx.nn.LayerNorm(2, eps=0.0)(np.array([[1.0, 3.0], [5.0, 4.0]])).detach()
    tensor([[-1.,  1.],
           [ 1., -1.]])
    """

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        *,
        dtype: Any = float,
    ) -> None:
        one = isinstance(normalized_shape, int | np.integer)
        self.normalized_shape = (int(normalized_shape),) if one else tuple(normalized_shape)
        self.eps = eps
        self.weight = Parameter(np.ones(self.normalized_shape, dtype)) if elementwise_affine else None
        self.bias = Parameter(np.zeros(self.normalized_shape, dtype)) if elementwise_affine and bias else None

    def forward(self, x: Any) -> Any:
        """See the class."""
        demand_end(np.shape(x), self.normalized_shape, "LayerNorm")
        return functional.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The shape."""
        return f"{self.normalized_shape}, eps={self.eps}"


class GroupNorm(Module):
    """See `functional.group_norm`."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        *,
        bias: bool = True,
        dtype: Any = float,
    ) -> None:
        if num_channels % num_groups:
            raise ValueError(f"{num_channels} channels cannot be parted into {num_groups} groups")
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.weight = Parameter(np.ones(num_channels, dtype)) if affine else None
        self.bias = Parameter(np.zeros(num_channels, dtype)) if affine and bias else None

    def forward(self, x: Any) -> Any:
        """See the class."""
        demand_channels(np.shape(x), self.num_channels, range(2, 9), "(batch, channels, ...)", "GroupNorm")
        return functional.group_norm(x, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The settings."""
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}"


class _BatchNorm(Module):
    """Mean 0 and variance 1 over all axes but that of channels, 1 (Ioffe and Szegedy 2015).

    While training, of the batch: then running means of its statistics (variance by n - 1) are kept in buffers, the new
    one with the factor `momentum`, or all alike where that is None. After ``eval()`` those are used. A compiled
    derivative leaves its arguments as they are, so it does not move them: call the model, or return them (`has_aux`).
    """

    ranks: tuple[int, ...] = ()
    axes = ""
    running_mean: Any
    running_var: Any
    num_batches_tracked: Any

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        *,
        bias: bool = True,
        dtype: Any = float,
    ) -> None:
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.weight: Any = Parameter(np.ones(num_features, dtype)) if affine else None
        self.bias: Any = Parameter(np.zeros(num_features, dtype)) if affine and bias else None
        self.track_running_stats = track_running_stats
        self.register_buffer("running_mean", np.zeros(num_features, dtype) if track_running_stats else None)
        self.register_buffer("running_var", np.ones(num_features, dtype) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", np.array(0) if track_running_stats else None)

    def forward(self, x: Any) -> Any:
        """See the class."""
        rank = np.ndim(x)
        demand_channels(np.shape(x), self.num_features, self.ranks, self.axes, "a batch normalisation")
        axes = (0,) if rank == 2 else (0, 2) if rank == 3 else (0, 2, 3)
        shape = (1, -1) if rank == 2 else (1, -1, 1) if rank == 3 else (1, -1, 1, 1)
        if self.training or not self.track_running_stats:
            mean = np.mean(x, axis=axes)
            moved = x - np.reshape(mean, shape)
            variance = np.mean(moved * moved, axis=axes)
            if self.track_running_stats:
                self._track(
                    _plain(stop_gradient(mean)), _plain(stop_gradient(variance)), np.size(x) // self.num_features
                )
        else:
            variance = self.running_var
            moved = x - np.reshape(self.running_mean, shape)
        result = moved / np.sqrt(np.reshape(variance, shape) + self.eps)
        if self.weight is not None:
            result = result * np.reshape(self.weight, shape)
        return result if self.bias is None else result + np.reshape(self.bias, shape)

    def _track(self, mean: Any, variance: Any, count: int) -> None:
        self.num_batches_tracked += 1
        factor = 1.0 / self.num_batches_tracked if self.momentum is None else self.momentum
        self.running_mean[...] = (1.0 - factor) * self.running_mean + factor * mean
        self.running_var[...] = (1.0 - factor) * self.running_var + factor * (count / max(count - 1, 1)) * variance

    def extra_repr(self) -> str:
        """The settings."""
        return f"{self.num_features}, eps={self.eps}, momentum={self.momentum}"


def _plain(value: Any) -> Any:
    """The array that a Tensor of a device holds; buffers hold arrays."""
    return value.current if isinstance(value, Tensor) and value.device != "cpu" else value


class BatchNorm1d(_BatchNorm):
    __doc__ = (_BatchNorm.__doc__ or "") + "\n    For inputs (batch, channels) and (batch, channels, length).\n    "

    ranks = (2, 3)
    axes = "(batch, channels) or (batch, channels, length)"


class BatchNorm2d(_BatchNorm):
    __doc__ = (_BatchNorm.__doc__ or "") + "\n    For inputs (batch, channels, height, width).\n    "

    ranks = (4,)
    axes = "(batch, channels, height, width)"
