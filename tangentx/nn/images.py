"""Layers for images: convolutions and pooling."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.nn import functional
from tangentx.nn.linear import layer
from tangentx.nn.module import Module
from tangentx.nn.shapes import demand_channels


def _pair(value: Any) -> tuple[int, int]:
    one = isinstance(value, int | np.integer)
    return (int(value), int(value)) if one else (int(value[0]), int(value[1]))


def _single(value: Any) -> tuple[int]:
    return (int(value),) if isinstance(value, int | np.integer) else (int(value[0]),)


class Conv2d(Module):
    """See `functional.conv2d`; weights and bias drawn evenly within ``1 / sqrt(inputs of an output)``, as PyTorch's.

    `padding_mode` is "zeros", "reflect", "replicate" or "circular".

    >>> import numpy as np, tangentx as tx
    >>> layer = tx.nn.Conv2d(3, 8, kernel_size=3, padding=1, generator=0)
    >>> layer(np.ones((2, 3, 5, 4))).shape, layer
    ((2, 8, 5, 4), Conv2d(3, 8, kernel_size=(3, 3), padding=(1, 1))  # 224 parameters)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        *,
        generator: Any = None,
        dtype: Any = float,
    ) -> None:
        if padding_mode != "zeros" and padding_mode not in functional.PADDINGS:
            raise ValueError(f"padding_mode={padding_mode!r} is none of zeros, {', '.join(functional.PADDINGS)}")
        if in_channels % groups or out_channels % groups:
            raise ValueError(f"{in_channels} and {out_channels} channels cannot be parted into {groups} groups")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride = _pair(kernel_size), _pair(stride)
        if isinstance(padding, str) and padding not in ("valid", "same"):
            raise ValueError(f'padding={padding!r} must be a number, a pair of them, "valid" or "same"')
        if padding == "same" and self.stride != (1, 1):
            raise ValueError(f'padding="same" keeps the size of an image, which stride={self.stride} does not')
        self.padding = padding if isinstance(padding, str) else _pair(padding)
        self.dilation, self.padding_mode = _pair(dilation), padding_mode
        shape, outputs = (out_channels, in_channels // groups, *self.kernel_size), out_channels if bias else None
        self.weight, self.bias = layer(shape, outputs, generator, dtype)

    def forward(self, x: Any) -> Any:
        """See the class."""
        demand_channels(np.shape(x), self.in_channels, (4,), "(batch, channels, height, width)", "Conv2d")
        if self.padding_mode == "zeros":
            return functional.conv2d(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)
        x = np.pad(x, [(0, 0), (0, 0), *self._ends()], mode=functional.PADDINGS[self.padding_mode])
        return functional.conv2d(x, self.weight, self.bias, self.stride, 0, self.dilation, self.groups)

    def _ends(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """How many elements are put before and behind both axes."""
        if self.padding == "same":
            down, across = (gap * (k - 1) for gap, k in zip(self.dilation, self.kernel_size, strict=True))
            return (down // 2, down - down // 2), (across // 2, across - across // 2)
        down, across = (0, 0) if isinstance(self.padding, str) else self.padding
        return (down, down), (across, across)

    def extra_repr(self) -> str:
        """The settings that are not the usual ones."""
        usual = {"stride": (1, 1), "padding": (0, 0), "dilation": (1, 1), "groups": 1, "padding_mode": "zeros"}
        others = [f", {name}={getattr(self, name)!r}" for name, value in usual.items() if getattr(self, name) != value]
        no_bias = ", bias=False" if self.bias is None else ""
        return f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}{''.join(others)}{no_bias}"


class Conv1d(Module):
    """See `functional.conv1d`; drawn as `Conv2d`'s. PyTorch's other modes of padding are not built.

    >>> import numpy as np, tangentx as tx
    >>> tx.nn.Conv1d(3, 8, kernel_size=3, padding="same", generator=0)(np.ones((2, 3, 5))).shape
    (2, 8, 5)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        *,
        generator: Any = None,
        dtype: Any = float,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'padding_mode={padding_mode!r}: Conv1d pads with "zeros"; use functional.pad before it')
        if in_channels % groups or out_channels % groups:
            raise ValueError(f"{in_channels} and {out_channels} channels cannot be parted into {groups} groups")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.dilation = _single(kernel_size), _single(stride), _single(dilation)
        self.padding = padding if isinstance(padding, str) else _single(padding)
        shape, outputs = (out_channels, in_channels // groups, *self.kernel_size), out_channels if bias else None
        self.weight, self.bias = layer(shape, outputs, generator, dtype)

    def forward(self, x: Any) -> Any:
        """See the class."""
        demand_channels(np.shape(x), self.in_channels, (3,), "(batch, channels, length)", "Conv1d")
        return functional.conv1d(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)

    def extra_repr(self) -> str:
        """The sizes."""
        return f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"


class ConvTranspose2d(Module):
    """See `functional.conv_transpose2d`; drawn evenly within ``1 / sqrt(weights of an input)``, as PyTorch's.

    >>> import numpy as np, tangentx as tx
    >>> tx.nn.ConvTranspose2d(4, 3, kernel_size=2, stride=2, generator=0)(np.ones((2, 4, 5, 4))).shape
    (2, 3, 10, 8)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        *,
        generator: Any = None,
        dtype: Any = float,
    ) -> None:
        if in_channels % groups or out_channels % groups:
            raise ValueError(f"{in_channels} and {out_channels} channels cannot be parted into {groups} groups")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.padding = _pair(kernel_size), _pair(stride), _pair(padding)
        self.output_padding, self.dilation = _pair(output_padding), _pair(dilation)
        shape, outputs = (in_channels, out_channels // groups, *self.kernel_size), out_channels if bias else None
        self.weight, self.bias = layer(shape, outputs, generator, dtype)

    def forward(self, x: Any) -> Any:
        """See the class."""
        axes = "(batch, channels, height, width)"
        demand_channels(np.shape(x), self.in_channels, (4,), axes, "ConvTranspose2d")
        return functional.conv_transpose2d(
            x,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self.output_padding,
            self.groups,
            self.dilation,
        )

    def extra_repr(self) -> str:
        """The sizes."""
        return f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"


class Upsample(Module):
    """See `functional.interpolate`."""

    def __init__(
        self, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
    ) -> None:
        self.size, self.scale_factor, self.mode, self.align_corners = size, scale_factor, mode, align_corners

    def forward(self, x: Any) -> Any:
        """See the class."""
        return functional.interpolate(x, self.size, self.scale_factor, self.mode, self.align_corners)

    def extra_repr(self) -> str:
        """How large."""
        how = f"size={self.size}" if self.scale_factor is None else f"scale_factor={self.scale_factor}"
        return f"{how}, mode={self.mode!r}"


class _Pool(Module):
    """How windows lie."""

    def __init__(self, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool) -> None:
        self.kernel_size, self.padding = _pair(kernel_size), _pair(padding)
        self.stride = self.kernel_size if stride is None else _pair(stride)
        self.ceil_mode = bool(ceil_mode)

    def extra_repr(self) -> str:
        """The sizes, and the settings that are not the usual ones."""
        usual = {"padding": (0, 0), "dilation": (1, 1), "ceil_mode": False}
        usual |= {"count_include_pad": True, "divisor_override": None}
        others = {name: getattr(self, name, value) for name, value in usual.items()}
        shown = "".join(f", {name}={value}" for name, value in others.items() if value != usual[name])
        return f"kernel_size={self.kernel_size}, stride={self.stride}{shown}"


class MaxPool2d(_Pool):
    """See `functional.max_pool2d`.

    >>> import numpy as np, tangentx as tx
    >>> tx.nn.MaxPool2d(3, stride=2, ceil_mode=True)(np.ones((2, 4, 6, 5))).shape
    (2, 4, 3, 2)
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        if return_indices:
            raise ValueError("return_indices=True is not built: MaxPool2d gives the maxima alone")
        super().__init__(kernel_size, stride, padding, ceil_mode)
        self.dilation = _pair(dilation)

    def forward(self, x: Any) -> Any:
        """See the class."""
        return functional.max_pool2d(x, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode)


class AvgPool2d(_Pool):
    """See `functional.avg_pool2d`."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode)
        self.count_include_pad, self.divisor_override = bool(count_include_pad), divisor_override

    def forward(self, x: Any) -> Any:
        """See the class."""
        return functional.avg_pool2d(
            x,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AdaptiveAvgPool2d(Module):
    """See `functional.adaptive_avg_pool2d`."""

    def __init__(self, output_size: Any) -> None:
        self.output_size = output_size if isinstance(output_size, tuple) else (output_size, output_size)

    def forward(self, x: Any) -> Any:
        """See the class."""
        return functional.adaptive_avg_pool2d(x, self.output_size)

    def extra_repr(self) -> str:
        """The size."""
        return f"{self.output_size}"
