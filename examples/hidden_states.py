"""Islands in a strand of DNA: a hidden Markov model, whose algorithms are gradients of its log-likelihood.

The bases of a strand come from one of two hidden states, islands rich in C and G, and the sea between them. The
logarithm of the probability of the strand is computed by the forward algorithm, a loop in plain NumPy. Its gradient by
the logarithms of the model's probabilities is the number of times that each is expected to be used, which the textbook
finds by the forward-backward algorithm; so a step of Baum and Welch's is to divide a gradient by its sums. The gradient
by the evidence for each state at each place is the probability that the strand is in it there. Run
``python examples/hidden_states.py``.
"""

from __future__ import annotations

import itertools
import sys
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

import tangentx as tx

Array: TypeAlias = NDArray[np.float64]
Strand: TypeAlias = NDArray[np.int64]

LENGTH = 1500
STEPS = 30
BASES = "ACGT"
TRUE = (
    np.array([0.5, 0.5]),
    np.array([[0.95, 0.05], [0.03, 0.97]]),
    np.array([[0.12, 0.38, 0.38, 0.12], [0.32, 0.18, 0.18, 0.32]]),
)
"""How a strand begins, goes on from one state to the next, and the bases of an island and of the sea."""


@tx.differentiate(wrt=("start", "moves", "bases", "evidence"))
def log_likelihood(start, moves, bases, evidence, strand):
    """The logarithm of the probability of `strand`, by logarithms of the model's and of evidence for each place."""
    reached = np.exp(start + bases[:, strand[0]] + evidence[0])
    total = 0.0
    for t in range(1, len(strand)):
        scale = np.sum(reached)
        total += np.log(scale)
        reached = (reached / scale) @ np.exp(moves) * np.exp(bases[:, strand[t]] + evidence[t])
    return total + np.log(np.sum(reached))


def drawn() -> tuple[Strand, Strand]:
    """The hidden states and the bases of a strand, drawn with a fixed seed."""
    draw = np.random.default_rng(7)
    start, moves, bases = TRUE
    states, strand = np.zeros(LENGTH, int), np.zeros(LENGTH, int)
    for t in range(LENGTH):
        states[t] = draw.choice(2, p=start if t == 0 else moves[states[t - 1]])
        strand[t] = draw.choice(4, p=bases[states[t]])
    return states, strand


def forward_backward(start: Array, moves: Array, bases: Array, strand: Strand) -> tuple[Array, Array, Array]:
    """Where the strand begins, and how often it moves and shows a base, as expected: as the textbooks have it."""
    seen = bases[:, strand].T
    ahead, behind = np.zeros_like(seen), np.ones_like(seen)
    ahead[0] = start * seen[0] / np.sum(start * seen[0])
    for t in range(1, len(strand)):
        ahead[t] = ahead[t - 1] @ moves * seen[t]
        ahead[t] /= np.sum(ahead[t])
    for t in range(len(strand) - 1, 0, -1):
        behind[t - 1] = moves @ (seen[t] * behind[t])
        behind[t - 1] /= np.sum(behind[t - 1])
    places = ahead * behind
    places /= np.sum(places, axis=1, keepdims=True)
    pairs = ahead[:-1, :, None] * moves * (seen * behind)[1:, None, :]
    pairs /= np.sum(pairs, axis=(1, 2), keepdims=True)
    shown = np.stack([np.sum(places[strand == base], axis=0) for base in range(4)], axis=1)
    return places[0], np.sum(pairs, axis=0), shown


def by_all_paths(start: Array, moves: Array, bases: Array, strand: Strand) -> float:
    """The same logarithm from the definition: the sum over all paths through the hidden states."""
    total = 0.0
    for path in itertools.product(range(2), repeat=len(strand)):
        steps = [moves[i, j] for i, j in itertools.pairwise(path)]
        total += start[path[0]] * np.prod(steps) * np.prod(bases[list(path), strand])
    return float(np.log(total))


def show_progress(done: int, total: int) -> None:
    """Draw a bar on a terminal; write nothing into a pipe or a file."""
    if sys.stderr.isatty():
        filled = 40 * done // total
        end = "\n" if done == total else ""
        print(f"\r[{'#' * filled}{'.' * (40 - filled)}] {done}/{total}", end=end, file=sys.stderr, flush=True)


def fitted(strand: Strand, model: list[Array]) -> list[Array]:
    """The model after some of Baum and Welch's steps, each one gradient divided by its sums."""
    lines = []
    for step in range(STEPS + 1):
        value, gradient = log_likelihood.value_and_grad(*map(np.log, model), np.zeros((LENGTH, 2)), strand)
        if step % 3 == 0:
            lines.append(f"step {step:3d}   log-likelihood {value:.4f}")
        show_progress(step, STEPS)
        if step < STEPS:
            model = [counts / np.sum(counts, axis=-1, keepdims=True) for counts in gradient[:3]]
    print("\n".join(lines))
    return model


def main() -> int:
    states, strand = drawn()
    print(f"A strand of {LENGTH} bases, which begins with {''.join(BASES[b] for b in strand[:40])}.\n")
    short = strand[:10]
    apart = abs(log_likelihood(*map(np.log, TRUE), np.zeros((10, 2)), short) - by_all_paths(*TRUE, short))
    print(f"Of ten bases the loop is off the sum over all paths by {apart:.1e}.")

    guess = [
        np.array([0.5, 0.5]),
        np.array([[0.9, 0.1], [0.1, 0.9]]),
        np.array([[0.2, 0.3, 0.3, 0.2], [0.3, 0.2, 0.2, 0.3]]),
    ]
    counts = log_likelihood.grad(*map(np.log, guess), np.zeros((LENGTH, 2)), strand)
    textbook = forward_backward(*guess, strand)
    worst = max(float(np.max(np.abs(a - b))) for a, b in zip(counts[:3], textbook, strict=True))
    print(f"The gradient is off the counts of forward-backward, which add up to {LENGTH}, by {worst:.1e}.\n")

    model = fitted(strand, guess)
    print("\n             stays   " + "      ".join(BASES))
    for number, name in enumerate(("an island", "the sea")):
        shares = "   ".join(f"{share:.2f}" for share in model[2][number])
        print(f"{name:10s}   {model[1][number, number]:.3f}   {shares}")
    places = log_likelihood.grad(*map(np.log, model), np.zeros((LENGTH, 2)), strand)[3]
    right = float(np.mean((places[:, 1] > 0.5) == (states == 1)))
    print(f"\nThe likelier state is the one that it was drawn in at {100.0 * right:.1f} % of the places.")
    print(f"\n{log_likelihood.grad.source_for(*map(np.log, model), np.zeros((LENGTH, 2)), strand)}")
    return 0 if worst < 1e-9 and apart < 1e-12 else 1


if __name__ == "__main__":
    sys.exit(main())
