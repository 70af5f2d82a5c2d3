"""Nonlinearities, dropout, and layers that give another shape.

PyTorch's ``inplace=True`` saves memory there. Here it says nothing: what a layer is given stays as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.nn import functional
from tangentx.nn.module import Module
from tangentx.nn.parameter import Parameter


class ReLU(Module):
    """See `functional.relu`."""

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace

    def forward(self, x: Any) -> Any:
        """See the class."""
        return functional.relu(x)


class LeakyReLU(Module):
    """See `functional.leaky_relu`."""

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, x: Any) -> Any:
        """See the class."""
        return functional.leaky_relu(x, self.negative_slope)


class PReLU(Module):
    """See `functional.prelu`, whose weights are learnt: one for all elements, or one for each channel.

    >>> import numpy as np, tangentx as tx
    >>> tx.nn.PReLU()(np.array([2.0, -2.0])).detach()
    tensor([ 2. , -0.5])
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, *, dtype: Any = float) -> None:
        self.num_parameters = num_parameters
        self.weight = Parameter(np.full(num_parameters, init, dtype))

    def forward(self, x: Any) -> Any:
        """See the class."""
        return functional.prelu(x, self.weight)

    def extra_repr(self) -> str:
        """How many weights there are."""
        return f"num_parameters={self.num_parameters}"


class ELU(Module):
    """See `functional.elu`."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        self.alpha, self.inplace = alpha, inplace

    def forward(self, x: Any) -> Any:
        """See the class."""
        return functional.elu(x, self.alpha)


class GELU(Module):
    """See `functional.gelu`; `approximate` is "none" or "tanh"."""

    def __init__(self, approximate: str = "none") -> None:
        self.approximate = approximate

    def forward(self, x: Any) -> Any:
        """See the class."""
        return functional.gelu(x, self.approximate)

    def extra_repr(self) -> str:
        """The approximation, if any."""
        return "" if self.approximate == "none" else f"approximate={self.approximate!r}"


class SiLU(Module):
    """See `functional.silu`."""

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace

    def forward(self, x: Any) -> Any:
        """See the class."""
        return functional.silu(x)


class Softplus(Module):
    """See `functional.softplus`."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        self.beta, self.threshold = beta, threshold

    def forward(self, x: Any) -> Any:
        """See the class."""
        return functional.softplus(x, self.beta, self.threshold)


class Sigmoid(Module):
    """See `functional.sigmoid`."""

    def forward(self, x: Any) -> Any:
        """See the class."""
        return functional.sigmoid(x)


class LogSigmoid(Module):
    """See `functional.logsigmoid`."""

    def forward(self, x: Any) -> Any:
        """See the class."""
        return functional.logsigmoid(x)


class Tanh(Module):
    """The hyperbolic tangent."""

    def forward(self, x: Any) -> Any:
        """See the class."""
        return functional.tanh(x)


class Softmax(Module):
    """See `functional.softmax`."""

    def __init__(self, dim: int = -1) -> None:
        self.dim = dim

    def forward(self, x: Any) -> Any:
        """See the class."""
        return functional.softmax(x, self.dim)


class LogSoftmax(Module):
    """See `functional.log_softmax`."""

    def __init__(self, dim: int = -1) -> None:
        self.dim = dim

    def forward(self, x: Any) -> Any:
        """See the class."""
        return functional.log_softmax(x, self.dim)


class Identity(Module):
    """Gives what it is given."""

    def forward(self, x: Any) -> Any:
        """See the class."""
        return x


class Dropout(Module):
    """See `functional.dropout`; after ``eval()`` it gives what it is given. `generator` is a Generator or a seed.

    >>> import numpy as np, tangentx as tx
    >>> layer = tx.nn.Dropout(0.5, generator=0)
    >>> layer(np.ones(6)), layer.eval()(np.ones(6))
    (array([2., 0., 0., 0., 2., 2.]), array([1., 1., 1., 1., 1., 1.]))
    """

    def __init__(self, p: float = 0.5, inplace: bool = False, *, generator: Any = None) -> None:
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"p={p!r} is no probability")
        self.p, self.inplace = p, inplace
        self.generator = np.random.default_rng(generator)

    def forward(self, x: Any) -> Any:
        """See the class."""
        return functional.dropout(x, self.p, self.training, self.generator)

    def extra_repr(self) -> str:
        """The probability."""
        return f"p={self.p}"


class Flatten(Module):
    """The axes from `start_dim` to `end_dim` as one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        self.start_dim, self.end_dim = start_dim, end_dim
        self.keeps_rows = start_dim == 1 and end_dim == -1

    def forward(self, x: Any) -> Any:
        """See the class."""
        shape = np.shape(x)
        if self.keeps_rows:
            width = 1
            for axis in range(1, len(shape)):
                width *= shape[axis]
            return np.reshape(x, (shape[0], width))
        first, last = (dim if dim >= 0 else dim + len(shape) for dim in (self.start_dim, self.end_dim))
        if not (0 <= first < len(shape) and 0 <= last < len(shape)):
            dims = f"start_dim={self.start_dim}, end_dim={self.end_dim}"
            raise ValueError(f"Flatten expects an input with the axes {dims}, and got the shape {shape}")
        if first > last:
            raise ValueError(f"start_dim={self.start_dim} lies behind end_dim={self.end_dim} of {len(shape)} axes")
        lengths: list[int] = []
        for axis, n in enumerate(shape):
            if first < axis <= last:
                lengths[-1] *= n
            else:
                lengths.append(n)
        return np.reshape(x, tuple(lengths))


class Unflatten(Module):
    """The axis `dim` as several of the lengths `unflattened_size`, of which one may be -1."""

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        self.dim, self.unflattened_size = dim, tuple(unflattened_size)

    def forward(self, x: Any) -> Any:
        """See the class."""
        shape = np.shape(x)
        place = self.dim % len(shape)
        lengths: list[int] = []
        for axis, n in enumerate(shape):
            if axis == place:
                lengths.extend(self.unflattened_size)
            else:
                lengths.append(n)
        return np.reshape(x, tuple(lengths))

    def extra_repr(self) -> str:
        """The axes."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
