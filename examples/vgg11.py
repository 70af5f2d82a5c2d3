"""VGG-11, all 132,863,336 parameters of it: one training step on a picture of noise, held against PyTorch.

The weights are drawn at random. Where PyTorch is installed it gets the same ones and the same picture, and every
gradient is compared; where it is not, one number is: the slope along a direction. Run ``python examples/vgg11.py``, or
a small one with ``--width 32 --image 32 --classes 10``.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np

import tangentx as tx
from tangentx import nn

CHANNELS = (64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0)


def loss(model, image, label):
    """The cross entropy of the network's answers."""
    return nn.functional.cross_entropy(model(image), label)


def show_progress(done: int, total: int) -> None:
    """Draw a bar on a terminal; write nothing into a pipe or a file."""
    if sys.stderr.isatty():
        filled = 40 * done // total
        end = "\n" if done == total else ""
        print(f"\r[{'#' * filled}{'.' * (40 - filled)}] {done}/{total}", end=end, file=sys.stderr, flush=True)


def of_pytorch(model: nn.Module, image: Any, label: Any, width: int, classes: int) -> list[Any] | None:
    """The same gradients by PyTorch, in the order of the parameters; None where it is not installed."""
    try:
        import torch
    except ImportError:
        return None
    layers: list[Any] = []
    before = 3
    for count in CHANNELS:
        layers += [torch.nn.Conv2d(before, count, 3, padding=1), torch.nn.ReLU()] if count else [torch.nn.MaxPool2d(2)]
        before = count or before
    layers += [torch.nn.AdaptiveAvgPool2d(7), torch.nn.Flatten(), torch.nn.Linear(before * 49, width), torch.nn.ReLU()]
    layers += [torch.nn.Linear(width, width), torch.nn.ReLU(), torch.nn.Linear(width, classes)]
    theirs = torch.nn.Sequential(*layers).to(getattr(torch, image.dtype.name))
    with torch.no_grad():
        for p, value in zip(theirs.parameters(), model.parameters(), strict=True):
            p.copy_(torch.from_numpy(np.array(value.detach().numpy())))
    torch.nn.functional.cross_entropy(theirs(torch.from_numpy(image)), torch.from_numpy(label)).backward()
    return [p.grad.numpy() for p in theirs.parameters()]


def along(model: nn.Module, gradient: nn.Module, image: Any, label: Any) -> float:
    """How far the slope along the gradient is from a central difference, relatively."""
    slopes = dict(gradient.named_parameters())
    size = np.sqrt(sum(float(np.sum(np.square(g, dtype=float))) for g in slopes.values()))
    ends = []
    with tx.no_grad():
        for h in (0.003, -0.003):
            moved = {name: p.detach().numpy() + h / size * slopes[name] for name, p in model.named_parameters()}
            ends.append(float(loss(model.with_parameters(moved), image, label).item()))
    return abs((ends[0] - ends[1]) / 0.006 / size - 1.0)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--width", type=int, default=4096)
    parser.add_argument("--image", type=int, default=224)
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--dtype", default="float64", help="float32 takes half of the five gigabytes")
    given = parser.parse_args()
    draw = np.random.default_rng(0)
    model = nn.models.VGG(CHANNELS, given.classes, given.width, generator=draw, dtype=np.dtype(given.dtype)).eval()
    image = draw.random((1, 3, given.image, given.image)).astype(given.dtype)
    label = draw.integers(0, given.classes, 1)
    print(f"{sum(p.size for p in model.parameters()):,} parameters.")

    gradient = tx.value_and_grad(loss)
    times = []
    for run in range(2):
        start = time.perf_counter()
        value, slopes = gradient(model, image, label)
        times.append(time.perf_counter() - start)
        show_progress(run + 1, 2)
    print("\n\n\n".join(gradient.source.split("\n\n\n")[:2]), "\n\nand what it calls.\n")
    print(f"Loss {value:.5f}; the gradient takes {times[1]:.2f} s, {times[0]:.2f} s with compiling.")

    theirs = of_pytorch(model, image, label, given.width, given.classes)
    if theirs is None:
        off = along(model, slopes, image, label)
        print(f"PyTorch is not installed. Off a central difference by {off:.1e}.")
        return 0 if off < 0.05 else 1
    off = 0.0
    for ours, other in zip(slopes.parameters(), theirs, strict=True):
        off = max(off, float(np.max(np.abs(ours - other)) / np.max(np.abs(other))))
    print(f"Off PyTorch's gradients by {off:.1e} of the largest in each parameter.")
    return 0 if off < (1e-4 if given.dtype == "float32" else 1e-6) else 1


if __name__ == "__main__":
    sys.exit(main())
