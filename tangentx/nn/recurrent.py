"""Recurrent networks: one step, and layers over sequences."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from tangentx.nn import functional
from tangentx.nn.linear import drawn
from tangentx.nn.module import Module
from tangentx.nn.shapes import demand_end, demand_state


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
        return np.zeros_like(x, shape=(*np.shape(x)[:-1], self.hidden_size))

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

    def forward(self, x: Any, hx: Any = None) -> Any:
        """The next state."""
        demand_end(np.shape(x), (self.input_size,), "RNNCell")
        h = self._start(x) if hx is None else hx
        total = functional.linear(x, self.weight_ih, self.bias_ih) + functional.linear(h, self.weight_hh, self.bias_hh)
        return np.tanh(total) if self.nonlinearity == "tanh" else functional.relu(total)


class LSTMCell(_Cell):
    """Long short-term memory (Hochreiter and Schmidhuber 1997; Gers, Schmidhuber and Cummins 2000).

    With gates i, f, g, o, in this order in the weights: ``c' = sigmoid(f) * c + sigmoid(i) * tanh(g)``,
    ``h' = sigmoid(o) * tanh(c')``. The state is ``(h, c)``, and so is the result.
    """

    gates = 4

    def forward(self, x: Any, hx: Any = None) -> Any:
        """The next state."""
        demand_end(np.shape(x), (self.input_size,), "LSTMCell")
        if hx is None:
            h = self._start(x)
            c = h
        else:
            h, c = hx
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

    def forward(self, x: Any, hx: Any = None) -> Any:
        """The next state."""
        demand_end(np.shape(x), (self.input_size,), "GRUCell")
        h = self._start(x) if hx is None else hx
        ours = functional.linear(x, self.weight_ih, self.bias_ih)
        theirs = functional.linear(h, self.weight_hh, self.bias_hh)
        n = self.hidden_size
        r = functional.sigmoid(ours[..., :n] + theirs[..., :n])
        z = functional.sigmoid(ours[..., n : 2 * n] + theirs[..., n : 2 * n])
        new = np.tanh(ours[..., 2 * n :] + r * theirs[..., 2 * n :])
        return (1.0 - z) * new + z * h


class _Recurrent(Module):
    """Cells of one class in layers, over a whole sequence; parameters have PyTorch's names, ``weight_ih_l0``."""

    cell: type[_Cell]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        *,
        generator: Any = None,
        dtype: Any = float,
        **options: Any,
    ) -> None:
        if proj_size:
            raise ValueError(f"proj_size={proj_size!r} is not built: put a Linear behind the layer")
        if num_layers < 1:
            raise ValueError(f"num_layers={num_layers!r} must be at least 1")
        if not 0.0 <= dropout <= 1.0:
            raise ValueError(f"dropout={dropout!r} is no probability")
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.batch_first, self.dropout, self.bidirectional = batch_first, dropout, bidirectional
        self.generator = rng = np.random.default_rng(generator)
        more = {"generator": rng, "dtype": dtype, **options}
        self.cells: list[Any] = []
        self.backward_cells: list[Any] = []
        width = input_size
        for _ in range(num_layers):
            self.cells.append(self.cell(width, hidden_size, bias, **more))
            if bidirectional:
                self.backward_cells.append(self.cell(width, hidden_size, bias, **more))
            width = 2 * hidden_size if bidirectional else hidden_size

    def _held(self) -> Iterator[tuple[str, Any]]:
        """The weights of all cells by PyTorch's names, and the settings."""
        for name, value in vars(self).items():
            if name not in ("cells", "backward_cells"):
                yield name, value
        for k, cell in enumerate(self.cells):
            directions = [(cell, ""), *((other, "_reverse") for other in self.backward_cells[k : k + 1])]
            for each, end in directions:
                for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                    yield f"{name}_l{k}{end}", getattr(each, name)

    def _is_own(self, name: str, value: Any) -> bool:
        return value is not None and name.startswith(("weight_", "bias_"))

    def _begun(self, x: Any) -> Any:
        """The sequence with its axis first, and one for the batch behind it."""
        if np.ndim(x) not in (2, 3):
            raise ValueError("a sequence has the axes (length, batch, features), or (length, features)")
        if np.ndim(x) == 3 and self.batch_first:
            x = np.swapaxes(x, 0, 1)
        if np.shape(x)[0] == 0:
            raise ValueError("the sequence is empty")
        demand_end(np.shape(x), (self.input_size,), "a recurrent layer")
        return x

    def _ended(self, y: Any) -> Any:
        return np.swapaxes(y, 0, 1) if np.ndim(y) == 3 and self.batch_first else y

    def _between(self, y: Any, layer: int) -> Any:
        """What goes on to the next layer: with some of it dropped, while training."""
        if self.dropout == 0.0 or layer == self.num_layers - 1:
            return y
        return functional.dropout(y, self.dropout, self.training, self.generator)

    def extra_repr(self) -> str:
        """The sizes, and the settings that are not the usual ones."""
        usual = {"num_layers": 1, "batch_first": False, "dropout": 0.0, "bidirectional": False}
        others = [f", {name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value]
        return f"{self.input_size}, {self.hidden_size}{''.join(others)}"


class _OfOneState(_Recurrent):
    """Layers whose state is one array."""

    def forward(self, x: Any, hx: Any = None) -> Any:
        """``(outputs of the last layer, last states of all layers)``."""
        y = self._begun(x)
        finals = []
        step = 2 if self.bidirectional else 1
        if hx is not None:
            expected = (self.num_layers * step, *np.shape(y)[1:-1], self.hidden_size)
            demand_state(np.shape(hx), expected, "a recurrent layer")
        for k in range(self.num_layers):
            out, last = _run(self.cells[k], y, None if hx is None else hx[k * step])
            finals.append(last)
            if self.bidirectional:
                back, first = _run_back(self.backward_cells[k], y, None if hx is None else hx[k * step + 1])
                finals.append(first)
                out = np.concatenate([out, back], axis=-1)
            y = self._between(out, k)
        return self._ended(y), np.stack(finals)


def _run(cell: Any, x: Any, h: Any) -> Any:
    """The states after each place of a sequence, and the last."""
    if h is None:
        h = cell._start(x[0])
    states = []
    for t in range(np.shape(x)[0]):
        h = cell(x[t], h)
        states.append(h)
    return np.stack(states), h


def _run_back(cell: Any, x: Any, h: Any) -> Any:
    """As `_run` from the end; states stand where their input stood."""
    states, first = _run(cell, np.flip(x, 0), h)
    return np.flip(states, 0), first


class RNN(_OfOneState):
    """`RNNCell`, with its `nonlinearity`, over sequences (length, batch, features).

    They are (batch, length, features) if `batch_first`.

    The result is ``(outputs, states)``: of the last layer at all places, and of all layers at the end, of shapes
    (length, batch, directions * hidden_size) and (num_layers * directions, batch, hidden_size). Sequences may have no
    axis of a batch. `dropout` is between layers, while training. Parameters have PyTorch's names, so that its
    ``state_dict`` fits. Raises ValueError for a sequence of other axes, and for an empty one.

    >>> import numpy as np, tangentx as tx
    >>> layers = tx.nn.RNN(3, 4, num_layers=2, generator=0)
    >>> outputs, states = layers(np.ones((5, 2, 3)))
    >>> outputs.shape, states.shape
    ((5, 2, 4), (2, 2, 4))
    """

    cell = RNNCell

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        *,
        generator: Any = None,
        dtype: Any = float,
    ) -> None:
        super().__init__(
            input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
            generator=generator, dtype=dtype, nonlinearity=nonlinearity,
        )  # fmt: skip


class GRU(_OfOneState):
    """`GRUCell` over sequences; see `RNN`."""

    cell = GRUCell


class LSTM(_Recurrent):
    """`LSTMCell` over sequences; see `RNN`. The states are a pair, of hidden states and of cells: ``(y, (h, c))``."""

    cell = LSTMCell

    def forward(self, x: Any, hx: Any = None) -> Any:
        """``(outputs of the last layer, (last hidden states, last cells))``."""
        y = self._begun(x)
        hidden, cells = [], []
        step = 2 if self.bidirectional else 1
        if hx is not None:
            expected = (self.num_layers * step, *np.shape(y)[1:-1], self.hidden_size)
            demand_state(np.shape(hx[0]), expected, "LSTM")
            demand_state(np.shape(hx[1]), expected, "LSTM")
        for k in range(self.num_layers):
            start = None if hx is None else (hx[0][k * step], hx[1][k * step])
            out, h, c = _run_pair(self.cells[k], y, start)
            hidden.append(h)
            cells.append(c)
            if self.bidirectional:
                start = None if hx is None else (hx[0][k * step + 1], hx[1][k * step + 1])
                back, h, c = _run_pair(self.backward_cells[k], np.flip(y, 0), start)
                hidden.append(h)
                cells.append(c)
                out = np.concatenate([out, np.flip(back, 0)], axis=-1)
            y = self._between(out, k)
        return self._ended(y), (np.stack(hidden), np.stack(cells))


def _run_pair(cell: Any, x: Any, state: Any) -> Any:
    """The hidden states after each place of a sequence, the last one, and the last cell."""
    if state is None:
        h = cell._start(x[0])
        c = h
    else:
        h, c = state
    states = []
    for t in range(np.shape(x)[0]):
        h, c = cell(x[t], (h, c))
        states.append(h)
    return np.stack(states), h, c
