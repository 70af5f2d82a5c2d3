"""Kernels of ``jit="cuda"`` on a device: ``python -m tests.jit.kernels_on_device``, where CuPy is installed.

Every program of the corpus that runs on arrays of CuPy: value and gradient with kernels beside those without; how many
kernels, how often each ran; then the time of some statements on long arrays. It ends with 1 where anything differs.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import tangentx as tx
from tangentx.arrays.libraries import is_elsewhere
from tangentx.common.pytrees import leaves, rebuild
from tests.programs import PROGRAMS
from tests.programs.case import Program
from tests.testing.device_programs import function_there, has_arrays
from tests.testing.test_device_programs import NOT_CUPYS, REFUSED

DOUBLE, SINGLE = 1e-12, 1e-5
"""By how much of the largest number kernels may differ from the library's own statements."""


@dataclass
class Found:
    """What became of one program."""

    kernels: int = 0
    runs: int = 0
    left: Counter[str] = field(default_factory=Counter)
    refusal: str = ""
    difference: float = 0.0


def taken(program: Program) -> bool:
    """Whether a program is one for arrays on a device."""
    return has_arrays(program) and program.name not in NOT_CUPYS | REFUSED


def compared(program: Program, fn: Callable[..., Any], array: Callable[[Any], Any]) -> Found:
    """The gradient with kernels beside that without; `array` puts an array on the device."""

    def args() -> Any:
        return rebuild(list(program.args()), lambda leaf: array(leaf) if isinstance(leaf, np.ndarray) else leaf)

    plain = tx.value_and_grad(fn, wrt=program.wrt, fallback="error")
    with_kernels = tx.value_and_grad(fn, wrt=program.wrt, fallback="error", jit="cuda")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted, found = plain(*args()), with_kernels(*args())
    jit = with_kernels._cache.last.notes["jit"]
    result = Found(len(jit.kernels), sum(each.runs for each in jit.kernels), refusal=jit.refusal)
    for each in jit.kernels:
        result.left.update(each.left)
    result.difference = difference(wanted, found)
    return result


def difference(wanted: Any, found: Any) -> float:
    """The largest difference of numbers, as a share of what is allowed; infinite where the structures differ."""
    worst = 0.0
    pairs = list(zip(leaves("", wanted), leaves("", found), strict=True))
    for (_, a), (_, b) in pairs:
        if type(a) is not type(b) or np.shape(a) != np.shape(b):
            return float("inf")
        x, y = (np.asarray(leaf.get() if is_elsewhere(leaf) else leaf) for leaf in (a, b))
        if x.dtype != y.dtype:
            return float("inf")
        if x.dtype.kind != "f":
            worst = max(worst, 0.0 if np.array_equal(x, y) else float("inf"))
            continue
        scale = max(1.0, float(np.max(np.abs(x[np.isfinite(x)]), initial=0.0)))
        apart = np.where((x == y) | (np.isnan(x) & np.isnan(y)), 0.0, np.abs(x - y))
        apart = np.where(np.isnan(apart), np.inf, apart)
        worst = max(worst, float(np.max(apart, initial=0.0)) / scale / (SINGLE if x.dtype == np.float32 else DOUBLE))
    return worst


def waves(x: Any, y: Any, rate: float) -> Any:
    """A long chain of statements that go element by element."""
    e = np.exp(-rate * x * x)
    wave = e * np.sin(3.0 * y) + np.sqrt(1.0 + x * x) / (2.0 + np.cos(y))
    return np.sum(wave * wave)


def timed(run: Callable[[], Any], done: Callable[[], Any], times: int = 20) -> float:
    """The shortest of some runs, in milliseconds."""
    found = []
    for _ in range(times):
        done()
        start = time.perf_counter()
        run()
        done()
        found.append(time.perf_counter() - start)
    return 1e3 * min(found)


def main() -> int:
    """Runs all of it on the device."""
    import cupy as cp

    name = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    print(f"{name}, CuPy {cp.__version__}, CUDA {cp.cuda.runtime.runtimeGetVersion()}")
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for program in filter(taken, PROGRAMS):
            fn = function_there(program, Path(folder), "import cupy as np\n")
            try:
                found = compared(program, fn, cp.asarray)
            except Exception as error:
                counts["failed"] += 1
                print(f"{program.name}: {type(error).__name__}: {error}")
                continue
            counts += Counter(programs=1, kernels=found.kernels, runs=found.runs, refused=bool(found.refusal))
            counts += Counter({f"left: {why}": n for why, n in found.left.items()})
            if found.difference > 1.0:
                counts["wrong"] += 1
                print(f"{program.name}: {found.difference:.3g} times what is allowed")
    print(dict(counts))
    x, y = (cp.random.default_rng(1).random(10_000_000) for _ in range(2))
    for jit in (None, "cuda"):
        gradient = tx.value_and_grad(waves, wrt=("x", "y"), jit=jit)
        gradient(x, y, 0.5)
        ms = timed(lambda gradient=gradient: gradient(x, y, 0.5), cp.cuda.Device().synchronize)
        print(f"waves of 10 million, jit={jit!r}: {ms:.2f} ms")
    return 1 if counts["wrong"] or counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
