"""A small convolutional network reads handwritten digits: trained, saved as it goes, and resumed.

The gradient is compiled: ``tx.value_and_grad(loss)(model, images, labels)`` gives a gradient that is a model. After
each epoch everything that the next one needs is written to a checkpoint, under another name first, so that an
interrupted run leaves the last whole one. Run ``python examples/digits.py``; run it again to go on from the checkpoint.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import tangentx as tx
from tangentx import nn

Array: TypeAlias = NDArray[Any]

DATA = Path(__file__).with_name("digits.txt")
CHECKPOINT = Path("digits_checkpoint.npz")
PICTURE = Path("digits_loss.png")
BATCH = 32
RATE = 0.004


def network() -> nn.Sequential:
    """Two convolutions, each halved by a pooling, and one dense layer; in float32."""
    rng, kind = np.random.default_rng(1), np.float32
    return nn.Sequential(
        nn.Conv2d(1, 12, 3, padding=1, generator=rng, dtype=kind),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(12, 24, 3, padding=1, generator=rng, dtype=kind),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(96, 10, generator=rng, dtype=kind),
    )


def loss(model, images, labels):
    """The cross entropy of the network's answers."""
    return nn.functional.cross_entropy(model(images), labels)


def read(path: Path) -> tuple[Array, Array]:
    """Images with pixels from 0 to 1, and what they show."""
    rows = [line.split() for line in path.read_text().splitlines() if not line.startswith("#")]
    pixels = np.array([["0123456789ABCDEFG".index(letter) for letter in row[1]] for row in rows], np.float32)
    return pixels.reshape(-1, 1, 8, 8) / np.float32(16.0), np.array([int(row[0]) for row in rows])


def accuracy(model: nn.Module, images: Array, labels: Array) -> float:
    """The share of images that the network reads right."""
    with tx.no_grad():
        return float(np.mean(np.argmax(model(images), axis=1) == labels))


def save(path: Path, model: nn.Module, state: dict[str, Any], history: list[float]) -> None:
    """Writes a checkpoint: whole, or not at all."""
    moments = {f"moment {place} {name}": value for place, held in state.items() for name, value in held.items()}
    beside = path.with_suffix(".part")
    with beside.open("wb") as file:
        np.savez(file, history=np.array(history), **{f"model {k}": v for k, v in model.state_dict().items()}, **moments)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)


def load(path: Path, model: nn.Module, opt: tx.optim.Adam) -> tuple[nn.Module, dict[str, Any], list[float]]:
    """The model, the state of the optimiser and the losses so far."""
    state: dict[str, Any] = opt.init(model)
    weights, history = {}, []
    with np.load(path, allow_pickle=False) as found:
        for name, value in found.items():
            what, _, rest = name.partition(" ")
            if what == "model":
                weights[rest] = value
            elif what == "moment":
                place, name = rest.split(" ")
                state[place][name] = value if value.ndim else value.item()  # a count
            else:
                history = value.tolist()
    model.load_state_dict(weights)
    return model, state, history


def show_progress(done: int, total: int) -> None:
    """Draw a bar on a terminal; write nothing into a pipe or a file."""
    if sys.stderr.isatty():
        filled = 40 * done // total
        end = "\n" if done == total else ""
        print(f"\r[{'#' * filled}{'.' * (40 - filled)}] {done}/{total}", end=end, file=sys.stderr, flush=True)


def train(epochs: int, images: Array, labels: Array) -> tuple[nn.Module, list[float]]:
    """Goes on from the checkpoint, if there is one; returns the network, and the mean loss of each epoch."""
    model: Any = network().arrays()
    opt = tx.optim.Adam(lr=RATE)
    state, history = opt.init(model), list[float]()
    if CHECKPOINT.exists():
        model, state, history = load(CHECKPOINT, model, opt)
        print(f"Goes on after epoch {len(history)}, from {CHECKPOINT}.")
    step = tx.value_and_grad(loss)
    batches = -(-len(labels) // BATCH)
    for epoch in range(len(history), epochs):
        order = np.random.default_rng(epoch).permutation(len(labels))  # a resumed run draws what it would have drawn
        rate = RATE * 0.5 * (1.0 + np.cos(np.pi * epoch / epochs))
        total = 0.0
        for k in range(batches):
            some = order[k * BATCH : (k + 1) * BATCH]
            value, gradient = step(model, images[some], labels[some])
            model, state = opt.update(model, gradient, state, lr=rate)
            total += float(value) * len(some)
            show_progress(epoch * batches + k + 1, epochs * batches)
        history.append(total / len(labels))
        save(CHECKPOINT, model, state, history)
        print(f"epoch {epoch + 1:2d}   loss {history[-1]:.5f}")
    whole = step.source_for(model, images[:BATCH], labels[:BATCH])
    print("\n\n\n".join(whole.split("\n\n\n")[:2]), "\n\nand what it calls.\n")
    return model, history


def draw(history: list[float]) -> None:
    """Saves the loss of each epoch as a picture, with matplotlib (the extra `viz`)."""
    try:
        import matplotlib

        matplotlib.use("agg")
        from matplotlib import pyplot
    except ImportError:
        print("No picture: matplotlib is not installed.")
        return
    figure, axes = pyplot.subplots(figsize=(6.0, 3.5), layout="constrained")
    axes.semilogy(range(1, len(history) + 1), history, marker="o")
    axes.set_xlabel("epoch")
    axes.set_ylabel("cross entropy")
    axes.set_title("Handwritten digits, a small convolutional network")
    axes.grid(alpha=0.3)
    figure.savefig(PICTURE, dpi=120)
    pyplot.close(figure)
    print(f"The picture is in {PICTURE}.")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--fresh", action="store_true", help="begin anew, whatever the checkpoint has")
    given = parser.parse_args()
    if given.fresh:
        CHECKPOINT.unlink(missing_ok=True)
    images, labels = read(DATA)
    order = np.random.default_rng(0).permutation(len(labels))
    learn, test = order[360:], order[:360]
    start = time.perf_counter()
    model, history = train(given.epochs, images[learn], labels[learn])
    right = accuracy(model, images[test], labels[test])
    print(f"Reads {100.0 * right:.1f} % of {len(test)} other images right, after {time.perf_counter() - start:.1f} s.")
    draw(history)
    return 0


if __name__ == "__main__":
    sys.exit(main())
