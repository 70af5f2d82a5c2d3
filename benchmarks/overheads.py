"""What is paid around the generated function: the call, the look-up, compiling, the import."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tangentx as tx
from benchmarks.measure import interleaved
from benchmarks.programs import formula
from benchmarks.texts import load

ROOT = Path(__file__).parent.parent


def ten_lines(x: float, y: float, n: int) -> Any:
    """A function of ten lines, for the clock of the compiler."""
    total = 0.0
    for _ in range(n):
        if x > y:
            z = x * y
        else:
            z = x + y
        total = total + z * z
        x = x * 0.5
    scale = 1.0 / (1.0 + total)
    return total * scale


def call_overhead(seconds: float) -> float:
    """Seconds that calling a gradient of three numbers costs beside the generated function."""
    gradient: Any = tx.grad(formula, ("x", "y", "z"))
    arguments = (0.7, 1.3, 0.4)
    generated = load(gradient.source_for(*arguments))
    called, bare = interleaved((lambda: gradient(*arguments), lambda: generated(*arguments)), seconds)
    return called - bare


def nothing(a: float, b: float, c: float, d: float) -> float:
    """The least that can be differentiated."""
    return a


def hit_overhead(seconds: float) -> float:
    """Seconds from a call with four numbers to the generated function of a program that computes nothing."""
    gradient: Any = tx.grad(nothing)
    arguments = (0.7, 1.3, 0.4, 0.1)
    generated = load(gradient.source_for(*arguments))
    called, bare = interleaved((lambda: gradient(*arguments), lambda: generated(*arguments)), seconds)
    return called - bare


def compile_time(repeats: int) -> tuple[float, float]:
    """Seconds of the first gradient of a process, and the median of later ones, each of a function never met."""
    first = _in_new_process("from benchmarks.overheads import compiled_once; print(compiled_once())")
    return first, statistics.median(compiled_once() for _ in range(repeats))


def compiled_once() -> float:
    """Seconds until the first gradient of a new function is there."""
    new = types.FunctionType(ten_lines.__code__, globals(), ten_lines.__name__)
    gradient: Callable[..., Any] = tx.grad(new)
    start = time.perf_counter()
    gradient(1.5, 0.5, 3)
    return time.perf_counter() - start


def import_time(repeats: int) -> float:
    """Seconds that ``import tangentx`` takes where NumPy is there already: median over new processes."""
    code = "import time, numpy; s = time.perf_counter(); import tangentx; print(time.perf_counter() - s)"
    return statistics.median(_in_new_process(code) for _ in range(repeats))


def _in_new_process(code: str) -> float:
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return float(done.stdout)
