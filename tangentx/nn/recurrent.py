"""One step of recurrent networks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tangentx.nn import functional
from tangentx.nn.linear import drawn
from tangentx.nn.module import Module


class _Cell(Module):
    """Weights of the input and of the state, for `gates` gates, drawn evenly within ``1 / sqrt(hidden_size)``."""

    gates = 1

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, *, generator: Any = None, dtype: Any = float
    ) -> None:
        self.input_size, self.hidden_size = input_size, hidden_size
        rng = np.random.default_rng(generator)
        bound = 1.0 / math.sqrt(hidden_size) if hidden_size else 0.0
        rows = self.gates * hidden_size
        self.weight_ih = drawn((rows, input_size), bound, rng, dtype)
        self.weight_hh = drawn((rows, hidden_size), bound, rng, dtype)
        self.bias_ih = drawn((rows,), bound, rng, dtype) if bias else None
        self.bias_hh = drawn((rows,), bound, rng, dtype) if bias else None

    def _start(self, x: Any) -> Any:
        """A state of zeros."""
        return np.zeros((*np.shape(x)[:-1], self.hidden_size), x.dtype)

    def extra_repr(self) -> str:
        """The sizes."""
        return f"{self.input_size}, {self.hidden_size}"


class RNNCell(_Cell):
    """``h' = tanh(W_ih x + b_ih + W_hh h + b_hh)`` (Elman 1990); "relu" in place of tanh by `nonlinearity`.

    >>> import numpy as np, tangentx as tx
    >>> cell = tx.nn.RNNCell(3, 4, generator=0)
    >>> h = cell(np.ones((2, 3)))
    >>> cell(np.ones((2, 3)), h).shape
    (2, 4)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        *,
        generator: Any = None,
        dtype: Any = float,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f'nonlinearity={nonlinearity!r} must be "tanh" or "relu"')
        super().__init__(input_size, hidden_size, bias, generator=generator, dtype=dtype)
        self.nonlinearity = nonlinearity

    def forward(self, x: Any, h: Any = None) -> Any:
        """The next state."""
        if h is None:
            h = self._start(x)
        total = functional.linear(x, self.weight_ih, self.bias_ih) + functional.linear(h, self.weight_hh, self.bias_hh)
        return np.tanh(total) if self.nonlinearity == "tanh" else functional.relu(total)


class LSTMCell(_Cell):
    """Long short-term memory (Hochreiter and Schmidhuber 1997; Gers, Schmidhuber and Cummins 2000).

    With gates i, f, g, o, in this order in the weights: ``c' = sigmoid(f) * c + sigmoid(i) * tanh(g)``,
    ``h' = sigmoid(o) * tanh(c')``. The state is ``(h, c)``, and so is the result.
    """

    gates = 4

    def forward(self, x: Any, state: Any = None) -> Any:
        """The next state."""
        if state is None:
            h = self._start(x)
            c = h
        else:
            h, c = state
        total = functional.linear(x, self.weight_ih, self.bias_ih) + functional.linear(h, self.weight_hh, self.bias_hh)
        n = self.hidden_size
        i, f, g, o = total[..., :n], total[..., n : 2 * n], total[..., 2 * n : 3 * n], total[..., 3 * n :]
        c = functional.sigmoid(f) * c + functional.sigmoid(i) * np.tanh(g)
        return functional.sigmoid(o) * np.tanh(c), c


class GRUCell(_Cell):
    """Gated recurrent unit (Cho et al. 2014), in PyTorch's form.

    With gates r, z, n, in this order in the weights: ``h' = (1 - z) * tanh(n_x + r * n_h) + z * h``.
    """

    gates = 3

    def forward(self, x: Any, h: Any = None) -> Any:
        """The next state."""
        if h is None:
            h = self._start(x)
        ours = functional.linear(x, self.weight_ih, self.bias_ih)
        theirs = functional.linear(h, self.weight_hh, self.bias_hh)
        n = self.hidden_size
        r = functional.sigmoid(ours[..., :n] + theirs[..., :n])
        z = functional.sigmoid(ours[..., n : 2 * n] + theirs[..., n : 2 * n])
        new = np.tanh(ours[..., 2 * n :] + r * theirs[..., 2 * n :])
        return (1.0 - z) * new + z * h
