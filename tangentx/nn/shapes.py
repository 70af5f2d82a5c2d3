"""Shape checks of layers, for Tensors and in compiled code.

Each is asked of a shape, not of an array, so that compiled text has one line for it and nothing in the reverse sweep.
"""

from __future__ import annotations

from typing import Any


def demand_end(shape: Any, end: Any, layer: str) -> None:
    """Raises ValueError unless a shape ends with `end`."""
    if len(shape) < len(end) or shape[len(shape) - len(end) :] != end:
        raise ValueError(f"{layer} expects an input whose last axes have the lengths {end}, and got the shape {shape}")


def demand_channels(shape: Any, channels: int, ranks: Any, axes: str, layer: str) -> None:
    """Raises ValueError unless a shape has one of the numbers of axes in `ranks`, called `axes`, and these channels."""
    if len(shape) not in ranks or shape[1] != channels:
        raise ValueError(f"{layer} expects an input {axes} with {channels} channels, and got the shape {shape}")


def demand_targets(shape: Any, places: Any) -> None:
    """Raises ValueError unless targets of this shape stand for the places of the loss, one for each."""
    if shape != places:
        raise ValueError(f"the loss expects targets of shape {places} for this input, and got the shape {shape}")


def demand_state(shape: Any, expected: Any, layer: str) -> None:
    """Raises ValueError unless an initial state has a row for each layer, direction and sequence."""
    if shape != expected:
        raise ValueError(f"{layer} expects an initial state of shape {expected}, and got the shape {shape}")
