"""The Greeks of an Asian option by Monte Carlo, on ten million paths, in shards, on all cores.

The option pays what the mean of a share's price at twelve dates is above the strike. No closed form is known, but one
is for the geometric mean (Kemna and Vorst 1990), which moves almost alike: the paths have to tell the difference alone.
A shard is a seed and a number of paths: it is drawn where it is worked on, so that no worker ever holds more than one
shard. Run ``python examples/monte_carlo_greek.py``, or with ``--paths`` and ``--workers``; it draws how much faster
several workers are, where matplotlib is installed. Each worker sums on one thread: where the library behind NumPy's
sums and products uses all cores in each of them, two workers are slower than one.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is imported, here and by the workers

import argparse
import math
import sys
import time
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import tangentx as tx

DATES, YEARS, STRIKE = 12, 1.0, 100.0
NAMES = ("delta", "vega", "rho")
GREEKS = ("spot", "volatility", "rate")
HERE = (101.0, 0.3, 0.02)  # spot, volatility, rate
PICTURE = Path("monte_carlo_speedup.png")


def normal(x):
    """The normal distribution function."""
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


def geometric(spot, volatility, rate):
    """What an option on the geometric mean is worth: the mean's logarithm is normal."""
    n = DATES
    deviation = volatility * math.sqrt(YEARS * (n + 1) * (2 * n + 1) / (6.0 * n * n))
    middle = math.log(spot) + (rate - 0.5 * volatility**2) * YEARS * (n + 1) / (2.0 * n)
    lower = (middle - math.log(STRIKE)) / deviation
    mean = math.exp(middle + 0.5 * deviation**2)
    return math.exp(-rate * YEARS) * (mean * normal(lower + deviation) - STRIKE * normal(lower))


def worth(spot, volatility, rate, seed, paths):
    """The mean of what the option pays on these paths, discounted, corrected by what is known of the geometric one."""
    step = YEARS / DATES
    moves = np.random.default_rng(seed).standard_normal((paths, DATES))
    logs = np.log(spot) + np.cumsum((rate - 0.5 * volatility**2) * step + volatility * np.sqrt(step) * moves, axis=1)
    arithmetic = np.maximum(np.mean(np.exp(logs), axis=1) - STRIKE, 0.0)
    known = np.maximum(np.exp(np.mean(logs, axis=1)) - STRIKE, 0.0)
    return np.exp(-rate * YEARS) * np.mean(arithmetic - known) + geometric(spot, volatility, rate)


def show_progress(done: int, total: int) -> None:
    """Draw a bar on a terminal; write nothing into a pipe or a file."""
    if sys.stderr.isatty():
        filled = 40 * done // total
        end = "\n" if done == total else ""
        print(f"\r[{'#' * filled}{'.' * (40 - filled)}] {done}/{total}", end=end, file=sys.stderr, flush=True)


def timed(workers: int, shards: list[tuple[int, int]]) -> tuple[float, Any]:
    """Seconds that all shards take on so many workers, who have compiled the gradient before; value and gradient."""
    with ProcessPoolExecutor(workers) as pool:
        by = {"wrt": GREEKS, "executor": pool}
        tx.parallel.value_and_grad(worth, shards=[(0, 10)] * 4 * workers, **by)(*HERE)
        function = tx.parallel.value_and_grad(worth, shards=shards, weights=[paths for _, paths in shards], **by)
        start = time.perf_counter()
        found = function(*HERE)
        return time.perf_counter() - start, found


def draw(counts: list[int], seconds: list[float]) -> None:
    """Saves the speed-up by the number of workers as a picture, with matplotlib (the extra `viz`)."""
    try:
        import matplotlib

        matplotlib.use("agg")
        from matplotlib import pyplot
    except ImportError:
        print("No picture: matplotlib is not installed.")
        return
    figure, axes = pyplot.subplots(figsize=(6.0, 3.5), layout="constrained")
    axes.plot(counts, [seconds[0] / taken for taken in seconds], marker="o", label="measured")
    axes.plot(counts, counts, linestyle="--", color="grey", label="as many times as workers")
    axes.set_xticks(counts)
    axes.set_xlabel("workers")
    axes.set_ylabel("speed-up")
    axes.set_title("The Greeks of an Asian option, in shards")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(PICTURE, dpi=120)
    pyplot.close(figure)
    print(f"The picture is in {PICTURE}.")


def memory_of(seed: int, paths: int) -> float:
    """Megabytes that the gradient of one shard takes at most."""
    gradient = tx.grad(worth, GREEKS)
    gradient(*HERE, seed, 10)
    tracemalloc.start()
    gradient(*HERE, seed, paths)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def differences(seed: int, paths: int) -> float:
    """The largest relative difference of one shard's gradient from central differences on the same paths."""
    worst = 0.0
    for place, slope in enumerate(tx.grad(worth, GREEKS)(*HERE, seed, paths)):
        ends = []
        for sign in (1.0, -1.0):
            moved = list(HERE)
            moved[place] += sign * 1e-6 * HERE[place]
            ends.append(worth(*moved, seed, paths))
        worst = max(worst, abs((ends[0] - ends[1]) / (2e-6 * HERE[place]) / slope - 1.0))
    return worst


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--paths", type=int, default=10_000_000)
    parser.add_argument("--shard", type=int, default=100_000, help="paths of a shard")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    sizes = [min(given.shard, given.paths - first) for first in range(0, given.paths, given.shard)]
    shards = list(enumerate(sizes))

    print(tx.grad(worth, GREEKS).source_for(*HERE, *shards[0]))
    counts = sorted({1, given.workers, *(2**k for k in range(given.workers.bit_length()) if 2**k < given.workers)})
    seconds, results = [], []
    for done, workers in enumerate(counts, 1):
        taken, found = timed(workers, shards)
        seconds.append(taken)
        results.append(found)
        show_progress(done, len(counts))
    value, gradient = results[-1]
    print(f"\nThe option is worth {value:.4f}, of {given.paths} paths in {len(shards)} shards.")
    slopes = tx.grad(geometric, GREEKS)(*HERE)
    for name, slope, known in zip(NAMES, gradient, slopes, strict=True):
        print(f"{name:6s} {slope:10.5f}   of the geometric mean {known:10.5f}")
    print(f"Off central differences, relatively, by {differences(0, min(sizes[0], 10_000)):.1e}.")

    for workers, taken in zip(counts, seconds, strict=True):
        print(f"{workers} worker{'s' if workers > 1 else ' '}   {taken:8.2f} s   speed-up {seconds[0] / taken:.2f}")
    draw(counts, seconds)
    shard = memory_of(*shards[0])
    print(f"A worker needs {shard:.0f} MB for its shard; all paths at once: {shard * given.paths / sizes[0]:.0f} MB.")
    same = all(result == results[0] for result in results)
    print(f"The results are {'the same to the last bit' if same else 'NOT THE SAME'}.")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
