"""Layers of encoders by attention."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from tangentx.nn import functional
from tangentx.nn.activations import Dropout
from tangentx.nn.attention import MultiheadAttention
from tangentx.nn.linear import Linear
from tangentx.nn.module import Module
from tangentx.nn.normalisation import LayerNorm

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
