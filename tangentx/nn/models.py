"""Ready-made models."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.nn import init
from tangentx.nn.activations import Dropout, Flatten, ReLU
from tangentx.nn.containers import Sequential
from tangentx.nn.images import AdaptiveAvgPool2d, Conv2d, MaxPool2d
from tangentx.nn.linear import Linear
from tangentx.nn.module import Module

_VGG11 = (64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0)
"""The channels of the convolutions; 0 stands for a pooling."""


class VGG(Module):
    """A network of Simonyan and Zisserman (2015), of images of three channels.

    `channels` are those of its convolutions, 0 for a pooling; three dense layers follow, of `width`. Convolutions begin
    as by He et al. (2015), without bias; the dense layers as `Linear` does.
    """

    def __init__(
        self,
        channels: Any = _VGG11,
        num_classes: int = 1000,
        width: int = 4096,
        dropout: float = 0.5,
        *,
        generator: Any = None,
        dtype: Any = np.float32,
    ) -> None:
        rng = np.random.default_rng(generator)
        layers: list[Module] = []
        before = 3
        for count in channels:
            if count == 0:
                layers.append(MaxPool2d(2))
                continue
            layer = Conv2d(before, count, 3, padding=1, generator=rng, dtype=dtype)
            init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu", generator=rng)
            init.zeros_(layer.bias)
            layers += [layer, ReLU()]
            before = count
        self.features = Sequential(*layers)
        self.avgpool = AdaptiveAvgPool2d(7)
        self.flatten = Flatten()
        self.classifier = Sequential(
            Linear(before * 49, width, generator=rng, dtype=dtype), ReLU(), Dropout(dropout, generator=rng),
            Linear(width, width, generator=rng, dtype=dtype), ReLU(), Dropout(dropout, generator=rng),
            Linear(width, num_classes, generator=rng, dtype=dtype),
        )  # fmt: skip

    def forward(self, x: Any) -> Any:
        """The logits of images (batch, 3, height, width)."""
        return self.classifier(self.flatten(self.avgpool(self.features(x))))


def vgg11(num_classes: int = 1000, *, generator: Any = None, dtype: Any = np.float32) -> VGG:
    """VGG with eight convolutions, five poolings and three dense layers: 132,863,336 parameters for 1000 classes."""
    return VGG(_VGG11, num_classes, generator=generator, dtype=dtype)
