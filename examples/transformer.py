"""Teach a transformer of one block to turn sequences around.

Attention by `scipy.special.softmax`, GELU by `scipy.special.erf`, layer normalisation in NumPy.
Run ``python examples/transformer.py``.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.special import erf, log_softmax, softmax

import tangentx as tx

SYMBOLS, LENGTH, WIDTH, HEADS = 6, 5, 16, 2


def normalised(x, gain):
    centred = x - np.mean(x, axis=-1, keepdims=True)
    return gain * centred / np.sqrt(np.mean(centred**2, axis=-1, keepdims=True) + 1e-5)


def gelu(x):
    return 0.5 * x * (1.0 + erf(x / np.sqrt(2.0)))


def attention(p, x):
    """Each head looks at all places: (batch, place, width) to the same."""
    queries, keys, values = (
        (x @ p[name]).reshape(len(x), LENGTH, HEADS, -1).swapaxes(1, 2) for name in ("query", "key", "value")
    )
    weights = softmax(queries @ keys.swapaxes(-1, -2) / np.sqrt(WIDTH / HEADS), axis=-1)
    return (weights @ values).swapaxes(1, 2).reshape(x.shape) @ p["out"]


def logits(p, symbols):
    x = p["symbols"][symbols] + p["places"]
    x = x + attention(p, normalised(x, p["gain1"]))
    x = x + gelu(normalised(x, p["gain2"]) @ p["up"]) @ p["down"]
    return x @ p["read"]


def loss(p, symbols):
    """Cross entropy of the symbols in reverse order."""
    scores = log_softmax(logits(p, symbols), axis=-1)
    return -np.mean(np.take_along_axis(scores, symbols[:, ::-1, None], axis=-1))


def parameters(rng):
    square, hidden = (WIDTH, WIDTH), 2 * WIDTH
    shapes = {"symbols": (SYMBOLS, WIDTH), "places": (LENGTH, WIDTH), "read": (WIDTH, SYMBOLS)}
    shapes |= {"query": square, "key": square, "value": square, "out": square}
    shapes |= {"up": (WIDTH, hidden), "down": (hidden, WIDTH)}
    p = {name: rng.normal(size=shape) / np.sqrt(shape[0]) for name, shape in shapes.items()}
    return {**p, "gain1": np.ones(WIDTH), "gain2": np.ones(WIDTH)}


def main() -> int:
    rng = np.random.default_rng(8)
    p = parameters(rng)
    gradient, opt = tx.value_and_grad(loss), tx.optim.Adam(lr=0.02)
    state = opt.init(p)
    for step in range(61):
        value, slope = gradient(p, rng.integers(0, SYMBOLS, size=(32, LENGTH)))
        p, state = opt.update(p, slope, state)
        if step % 20 == 0:
            print(f"step {step:4}   loss {value:.5f}")
    others = rng.integers(0, SYMBOLS, size=(200, LENGTH))
    right = np.mean(np.argmax(logits(p, others), axis=-1) == others[:, ::-1])
    print(f"\nOf 1000 other symbols {100.0 * right:.1f} % are put where they belong.\n")
    print(gradient.source)
    return 0 if right > 0.97 else 1


if __name__ == "__main__":
    sys.exit(main())
