"""Two moons told apart by a small network, on Tensors: zero the gradients, go back from the loss, take a step.

The same gradient is compiled too, printed, and held against that of the Tensors. Run ``python examples/two_moons.py``.
"""

from __future__ import annotations

import sys
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import tangentx as tx
from tangentx import nn

Array: TypeAlias = NDArray[Any]
EPOCHS = 200


def moons(count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Points on two half circles that reach into each other, with noise, and on which of them each lies."""
    angle = np.pi * rng.random(count)
    upper = rng.random(count) < 0.5
    x = np.where(upper, np.cos(angle), 1.0 - np.cos(angle))
    y = np.where(upper, np.sin(angle), 0.5 - np.sin(angle))
    return np.stack([x, y], axis=1) + 0.15 * rng.normal(size=(count, 2)), upper.astype(int)


def loss(model, points, moon):
    """The cross entropy of the network's answers."""
    return nn.functional.cross_entropy(model(points), moon)


def accuracy(model: nn.Module, points: Array, moon: Array) -> float:
    """The share of points that are told right."""
    model.eval()
    with tx.no_grad():
        return float(np.mean(np.argmax(model(points).numpy(), axis=1) == moon))


def show_progress(done: int, total: int) -> None:
    """Draw a bar on a terminal; write nothing into a pipe or a file."""
    if sys.stderr.isatty():
        filled = 40 * done // total
        end = "\n" if done == total else ""
        print(f"\r[{'#' * filled}{'.' * (40 - filled)}] {done}/{total}", end=end, file=sys.stderr, flush=True)


def main() -> int:
    rng = np.random.default_rng(0)
    points, moon = moons(400, rng)
    model = nn.Sequential(nn.Linear(2, 16, generator=rng), nn.Tanh(), nn.Linear(16, 2, generator=rng))
    opt = tx.optim.Adam(model.parameters(), lr=0.05)
    for epoch in range(EPOCHS):
        opt.zero_grad()
        value = loss(model, points, moon)
        value.backward()
        opt.step()
        if epoch % 20 == 0:
            print(f"epoch {epoch:3d}   loss {value.item():.5f}")
        show_progress(epoch + 1, EPOCHS)
    print(f"epoch {EPOCHS:3d}   loss {loss(model, points, moon).item():.5f}")
    others = moons(2000, rng)
    right = accuracy(model, *others)
    print(f"Of 2000 other points {100.0 * right:.2f} % are told right.")

    opt.zero_grad()
    loss(model, points, moon).backward()
    gradient = tx.grad(loss)
    compiled = dict(gradient(model, points, moon).named_parameters())
    worst = max(float(np.max(np.abs(compiled[name] - p.grad.numpy()))) for name, p in model.named_parameters())
    print(f"\n{gradient.source_for(model, points, moon)}")
    print(f"The compiled gradient differs from that of the Tensors by {worst:.1e}.")
    return 0 if right > 0.97 and worst < 1e-12 else 1


if __name__ == "__main__":
    sys.exit(main())
