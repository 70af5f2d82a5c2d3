"""Attention of several heads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tangentx.nn import functional, init
from tangentx.nn.linear import Linear
from tangentx.nn.module import Module
from tangentx.nn.parameter import Parameter
from tangentx.nn.shapes import demand_end


class MultiheadAttention(Module):
    """Attention of `num_heads` parts of the width side by side (Vaswani et al. 2017), in PyTorch's form.

    ``forward(query, key, value)`` of (batch, length, width) where `batch_first`, else (length, batch, width), gives the
    result and the weights, averaged over heads, None where not `need_weights`. A mask of booleans is True where
    attention is not allowed, one of numbers is added to the scores; `key_padding_mask` (batch, length) leaves keys out.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        batch_first: bool = False,
        *,
        generator: Any = None,
        dtype: Any = float,
    ) -> None:
        if embed_dim % num_heads:
            raise ValueError(f"the width {embed_dim} cannot be parted among {num_heads} heads")
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.generator = np.random.default_rng(generator)
        weight = Parameter(np.zeros((3 * embed_dim, embed_dim), dtype))
        self.in_proj_weight = init.xavier_uniform_(weight, generator=self.generator)
        self.in_proj_bias = Parameter(np.zeros(3 * embed_dim, dtype)) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias, generator=self.generator, dtype=dtype)
        if self.out_proj.bias is not None:
            init.zeros_(self.out_proj.bias)

    def forward(
        self,
        query: Any,
        key: Any,
        value: Any,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
    ) -> Any:
        """See the class."""
        if not self.batch_first:
            query, key, value = np.swapaxes(query, 0, 1), np.swapaxes(key, 0, 1), np.swapaxes(value, 0, 1)
        q, k, v = self._heads(query, 0), self._heads(key, 1), self._heads(value, 2)
        scores = q @ np.swapaxes(k, -1, -2) * (1.0 / math.sqrt(self.embed_dim // self.num_heads))
        if attn_mask is not None:
            scores = _masked(scores, attn_mask)
        if key_padding_mask is not None:
            scores = _masked(scores, key_padding_mask[:, None, None, :])
        weights = functional.softmax(scores, -1)
        weights = functional.dropout(weights, self.dropout, self.training, self.generator)
        joined = np.reshape(np.swapaxes(weights @ v, 1, 2), np.shape(query))
        result = self.out_proj(joined)
        if not self.batch_first:
            result = np.swapaxes(result, 0, 1)
        return result, np.mean(weights, axis=1) if need_weights else None

    def _heads(self, x: Any, part: int) -> Any:
        """The projection number `part` of x, as (batch, heads, length, width of a head)."""
        demand_end(np.shape(x), (self.embed_dim,), "MultiheadAttention")
        rows = slice(part * self.embed_dim, (part + 1) * self.embed_dim)
        bias = None if self.in_proj_bias is None else self.in_proj_bias[rows]
        projected = functional.linear(x, self.in_proj_weight[rows], bias)
        batch, length = np.shape(x)[0], np.shape(x)[1]
        return np.swapaxes(np.reshape(projected, (batch, length, self.num_heads, -1)), 1, 2)

    def extra_repr(self) -> str:
        """The sizes."""
        return f"{self.embed_dim}, num_heads={self.num_heads}"


def _masked(scores: Any, mask: Any) -> Any:
    return np.where(mask, -np.inf, scores) if mask.dtype == bool else scores + mask
