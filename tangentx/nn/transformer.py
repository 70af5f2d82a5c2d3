"""Attention of several heads, and layers of encoders by attention."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tangentx.nn import functional, init
from tangentx.nn.activations import Dropout
from tangentx.nn.linear import Linear
from tangentx.nn.module import Module
from tangentx.nn.normalisation import LayerNorm
from tangentx.nn.parameter import Parameter
from tangentx.nn.shapes import demand_end

# Attention of several heads.


class MultiheadAttention(Module):
    """Attention of `num_heads` parts of the width side by side (Vaswani et al. 2017), in PyTorch's form.

    ``forward(query, key, value)`` of (batch, length, width) where `batch_first`, else (length, batch, width), or of one
    sequence (length, width), gives the result and the weights, averaged over heads unless not `average_attn_weights`,
    None where not `need_weights`. A mask of booleans is True where attention is not allowed, one of numbers is added to
    the scores: `attn_mask` (length, length of keys), or one for each head of each sequence; `key_padding_mask` (batch,
    length of keys) leaves keys out. Keys and values have the widths `kdim` and `vdim`; `add_bias_kv` puts a learnt key
    and value behind them, `add_zero_attn` one of zeros.

    >>> import numpy as np, tangentx as tx
    >>> layer = tx.nn.MultiheadAttention(6, 2, kdim=3, vdim=3, batch_first=True, generator=0)
    >>> found, weights = layer(np.ones((2, 4, 6)), np.ones((2, 5, 3)), np.ones((2, 5, 3)))
    >>> found.shape, weights.shape
    ((2, 4, 6), (2, 4, 5))
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        *,
        generator: Any = None,
        dtype: Any = float,
    ) -> None:
        if embed_dim % num_heads:
            raise ValueError(f"the width {embed_dim} cannot be parted among {num_heads} heads")
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.kdim, self.vdim, self.add_zero_attn = kdim or embed_dim, vdim or embed_dim, add_zero_attn
        self.generator = rng = np.random.default_rng(generator)
        self._make_projections(rng, dtype)
        self.in_proj_bias = Parameter(np.zeros(3 * embed_dim, dtype)) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias, generator=rng, dtype=dtype)
        if self.out_proj.bias is not None:
            init.zeros_(self.out_proj.bias)
        self.bias_k = self.bias_v = None
        if add_bias_kv:
            self.bias_k = init.xavier_normal_(Parameter(np.zeros((1, 1, embed_dim), dtype)), generator=rng)
            self.bias_v = init.xavier_normal_(Parameter(np.zeros((1, 1, embed_dim), dtype)), generator=rng)

    def _make_projections(self, rng: Any, dtype: Any) -> None:
        """One weight for queries, keys and values of one width, three for others."""
        width = self.embed_dim
        self.q_proj_weight = self.k_proj_weight = self.v_proj_weight = self.in_proj_weight = None
        if self.kdim == self.vdim == width:
            self.in_proj_weight = init.xavier_uniform_(Parameter(np.zeros((3 * width, width), dtype)), generator=rng)
            return
        for name, size in (("q", width), ("k", self.kdim), ("v", self.vdim)):
            weight = init.xavier_uniform_(Parameter(np.zeros((width, size), dtype)), generator=rng)
            setattr(self, f"{name}_proj_weight", weight)

    def forward(
        self,
        query: Any,
        key: Any,
        value: Any,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> Any:
        """See the class. `is_causal` says of `attn_mask`, which has to be given, that it hides later places."""
        if is_causal and attn_mask is None:
            raise ValueError("is_causal=True says of an attn_mask what it is: MultiheadAttention needs the mask itself")
        alone = np.ndim(query) == 2
        if alone:
            query, key, value = np.expand_dims(query, 0), np.expand_dims(key, 0), np.expand_dims(value, 0)
            key_padding_mask = None if key_padding_mask is None else np.expand_dims(key_padding_mask, 0)
        elif not self.batch_first:
            query, key, value = np.swapaxes(query, 0, 1), np.swapaxes(key, 0, 1), np.swapaxes(value, 0, 1)
        weights, v = self._attended(query, key, value, key_padding_mask, attn_mask)
        joined = np.reshape(np.swapaxes(weights @ v, 1, 2), np.shape(query))
        result = self.out_proj(joined)
        shown = np.mean(weights, axis=1) if average_attn_weights else weights
        if alone:
            result, shown = result[0], shown[0]
        elif not self.batch_first:
            result = np.swapaxes(result, 0, 1)
        return result, shown if need_weights else None

    def _attended(self, query: Any, key: Any, value: Any, key_padding_mask: Any, attn_mask: Any) -> Any:
        """The weights of all heads, and the values."""
        demand_end(np.shape(query), (self.embed_dim,), "MultiheadAttention")
        demand_end(np.shape(key), (self.kdim,), "MultiheadAttention")
        demand_end(np.shape(value), (self.vdim,), "MultiheadAttention")
        k, v = self._projected(key, 1), self._projected(value, 2)
        added = 0
        if self.bias_k is not None:
            k, v, added = _longer(k, self.bias_k), _longer(v, self.bias_v), 1
        if self.add_zero_attn:
            k, v, added = _longer(k, np.zeros_like(k[:1, :1])), _longer(v, np.zeros_like(v[:1, :1])), added + 1
        q, k, v = self._heads(self._projected(query, 0)), self._heads(k), self._heads(v)
        scores = q @ np.swapaxes(k, -1, -2) * (1.0 / math.sqrt(self.embed_dim // self.num_heads))
        if attn_mask is not None:
            if np.ndim(attn_mask) == 3:
                attn_mask = np.reshape(attn_mask, (np.shape(q)[0], self.num_heads, *np.shape(attn_mask)[1:]))
            scores = _masked(scores, attn_mask, added)
        if key_padding_mask is not None:
            scores = _masked(scores, key_padding_mask[:, None, None, :], added)
        weights = functional.softmax(scores, -1)
        return functional.dropout(weights, self.dropout, self.training, self.generator), v

    def _projected(self, x: Any, part: int) -> Any:
        """The projection number `part` of x."""
        rows = slice(part * self.embed_dim, (part + 1) * self.embed_dim)
        bias = None if self.in_proj_bias is None else self.in_proj_bias[rows]
        if self.in_proj_weight is not None:
            return functional.linear(x, self.in_proj_weight[rows], bias)
        weight = self.q_proj_weight if part == 0 else self.k_proj_weight if part == 1 else self.v_proj_weight
        return functional.linear(x, weight, bias)

    def _heads(self, x: Any) -> Any:
        """(batch, length, width) as (batch, heads, length, width of a head)."""
        parts = np.reshape(x, (np.shape(x)[0], np.shape(x)[1], self.num_heads, self.embed_dim // self.num_heads))
        return np.swapaxes(parts, 1, 2)

    def extra_repr(self) -> str:
        """The sizes, and the settings that are not the usual ones."""
        others = [f", kdim={self.kdim}, vdim={self.vdim}"] if self.in_proj_weight is None else []
        others += [", add_bias_kv=True"] if self.bias_k is not None else []
        others += [", add_zero_attn=True"] if self.add_zero_attn else []
        others += [", batch_first=True"] if self.batch_first else []
        return f"{self.embed_dim}, num_heads={self.num_heads}{''.join(others)}"


def _longer(x: Any, row: Any) -> Any:
    """Sequences with a row, the same for all, at the end."""
    return np.concatenate([x, np.broadcast_to(row, (np.shape(x)[0], 1, np.shape(x)[2]))], axis=1)


def _masked(scores: Any, mask: Any, added: int) -> Any:
    """Scores where the mask allows attention; the last `added` keys are always allowed."""
    if added:
        mask = np.pad(mask, ((0, 0),) * (np.ndim(mask) - 1) + ((0, added),))
    return np.where(mask, -np.inf, scores) if mask.dtype == bool else scores + mask


# Layers of encoders by attention.

_ACTIVATIONS: dict[str, Callable[[Any], Any]] = {"relu": functional.relu, "gelu": functional.gelu}


class TransformerEncoderLayer(Module):
    """Attention of a sequence to itself, and two linear layers for each place (Vaswani et al. 2017).

    Both are added to what they are given, and normalised after that, or before with `norm_first`. `activation` is
    "relu", "gelu" or a function.

    >>> import numpy as np, tangentx as tx
    >>> layer = tx.nn.TransformerEncoderLayer(8, 2, dim_feedforward=16, batch_first=True, generator=0)
    >>> layer(np.ones((3, 5, 8))).shape
    (3, 5, 8)
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        *,
        generator: Any = None,
        dtype: Any = float,
    ) -> None:
        if isinstance(activation, str) and activation not in _ACTIVATIONS:
            raise ValueError(f'activation={activation!r} must be "relu", "gelu" or a function')
        rng = np.random.default_rng(generator)
        made: dict[str, Any] = {"generator": rng, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **made)
        self.linear1 = Linear(d_model, dim_feedforward, bias, **made)
        self.dropout = Dropout(dropout, generator=rng)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **made)
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
        self.dropout1 = Dropout(dropout, generator=rng)
        self.dropout2 = Dropout(dropout, generator=rng)
        self.activation = _ACTIVATIONS[activation] if isinstance(activation, str) else activation
        self.norm_first = norm_first

    def forward(self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False) -> Any:
        """See the class; masks are those of `MultiheadAttention`."""
        if self.norm_first:
            x = src + self._attended(self.norm1(src), src_mask, src_key_padding_mask, is_causal)
            return x + self._fed(self.norm2(x))
        x = self.norm1(src + self._attended(src, src_mask, src_key_padding_mask, is_causal))
        return self.norm2(x + self._fed(x))

    def _attended(self, x: Any, mask: Any, padding: Any, is_causal: bool) -> Any:
        found = self.self_attn(
            x, x, x, key_padding_mask=padding, need_weights=False, attn_mask=mask, is_causal=is_causal
        )
        return self.dropout1(found[0])

    def _fed(self, x: Any) -> Any:
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoder(Module):
    """Copies of an encoder layer, one after the other, and `norm` behind them.

    `enable_nested_tensor` and `mask_check` are PyTorch's, and say nothing here.
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        self.layers = [copy.deepcopy(encoder_layer) for _ in range(num_layers)]
        self.norm = norm

    def forward(self, src: Any, mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False) -> Any:
        """See the class; masks are those of the layers."""
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask, is_causal)
        return src if self.norm is None else self.norm(src)
