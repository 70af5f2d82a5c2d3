"""Layers that are a product with their weights: linear maps, and tables of rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tangentx.nn import functional, init
from tangentx.nn.module import Module
from tangentx.nn.parameter import Parameter
from tangentx.nn.shapes import demand_end


def drawn(shape: tuple[int, ...], bound: float, generator: Any, dtype: Any) -> Any:
    """A parameter drawn evenly from ``-bound`` to ``bound``."""
    return init.uniform_(Parameter(np.zeros(shape, dtype)), -bound, bound, generator)


def layer(shape: tuple[int, ...], outputs: int | None, generator: Any, dtype: Any) -> tuple[Any, Any]:
    """Weight and bias of a layer, within one over the root of how many inputs the weight of `shape` adds up for each
    output (the product of its axes but the first); no bias where `outputs` is None."""
    rng = np.random.default_rng(generator)
    inputs = math.prod(shape[1:])
    bound = 1.0 / math.sqrt(inputs) if inputs else 0.0
    return drawn(shape, bound, rng, dtype), None if outputs is None else drawn((outputs,), bound, rng, dtype)


class Linear(Module):
    """``x @ weight.T + bias``; drawn evenly within ``1 / sqrt(in_features)``, as PyTorch's.

    `generator` is a ``numpy.random.Generator`` or a seed.

    >>> import numpy as np, tangentx as tx
    >>> layer = tx.nn.Linear(3, 2, generator=0)
    >>> layer(np.ones((5, 3))).shape, layer.weight.stop_gradient
    ((5, 2), False)
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, *, generator: Any = None, dtype: Any = float
    ) -> None:
        self.in_features, self.out_features = in_features, out_features
        shape, outputs = (out_features, in_features), out_features if bias else None
        self.weight, self.bias = layer(shape, outputs, generator, dtype)

    def forward(self, x: Any) -> Any:
        """See the class."""
        demand_end(np.shape(x), (self.in_features,), "Linear")
        return functional.linear(x, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The sizes."""
        return f"{self.in_features}, {self.out_features}{'' if self.bias is not None else ', bias=False'}"


class Embedding(Module):
    """A row of the table for each index; rows are normal at first, that of `padding_idx` is 0 and stays so.

    PyTorch's `max_norm`, `scale_grad_by_freq` and `sparse` are not built: given, they raise ValueError.

    >>> import numpy as np, tangentx as tx
    >>> tx.nn.Embedding(10, 4, generator=0)(np.array([[1, 2], [3, 1]])).shape
    (2, 2, 4)
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        *,
        generator: Any = None,
        dtype: Any = float,
    ) -> None:
        for name, given in (("max_norm", max_norm), ("scale_grad_by_freq", scale_grad_by_freq), ("sparse", sparse)):
            if given:
                raise ValueError(f"{name}={given!r} is not built: Embedding gives rows of its table as they are")
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        rows = np.random.default_rng(generator).normal(size=(num_embeddings, embedding_dim)).astype(dtype)
        if padding_idx is not None:
            self.padding_idx = range(num_embeddings)[padding_idx]
            rows[padding_idx] = 0.0
        self.weight = Parameter(rows)

    def forward(self, indices: Any) -> Any:
        """See the class."""
        return functional.embedding(indices, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        """The sizes."""
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"
