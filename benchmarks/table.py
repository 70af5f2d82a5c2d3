"""The rows that are printed, each with its goal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import tangentx as tx
from benchmarks import jitted, modes, overheads, peers, tensors
from benchmarks.measure import demand_equal, interleaved, peak
from benchmarks.programs import Program, programs
from benchmarks.texts import count_generated, count_written, load

GOAL_RATIO = 1.1
GOAL_RATIO_OF = {"Durbin": 1.3, "convolution": 1.3, "LSTM of ADBench": 1.3}
"""Their statements work on a few numbers each, so that what Python adds to each counts."""
GOAL_STATEMENTS = 1.25


@dataclass(frozen=True)
class Row:
    """One line: what was measured, the figure in the unit of the goal, and what goes with it."""

    name: str
    figure: float
    goal: float
    unit: str
    more: str = ""

    def __str__(self) -> str:
        verdict = "met" if self.figure <= self.goal else "MISSED"
        figures = f"{self.figure:8.2f} {self.unit:3} goal {self.goal:g}"
        return f"{self.name:26}{figures:28}{verdict:8}{self.more}".rstrip()


def gradient_rows(seconds: float, scale: float) -> Iterator[Row]:
    """The generated gradient beside the one written by hand. Raises ValueError where they differ."""
    for program in programs(scale):
        yield from _rows_of(program, seconds)


def jit_rows(seconds: float, scale: float) -> Iterator[Row]:
    """Gradients that are compiled to C beside the Python that is generated. Raises ValueError where they differ."""
    for program, share, more in jitted.shares(seconds, scale):
        yield Row(f"{program.name}: jit", share, program.goal, "x", more)


GOALS_OF_JIT = {
    "polynomial": 0.08, "black_scholes": 0.15, "heat": 0.28, "burgers": 0.06, "Van der Pol": 0.025,
    "Gauss-Seidel": 0.03, "Cholesky": 0.05, "n-body": 0.07, "bundle adjustment": 0.3, "mixture": 0.3,
    "LSTM of ADBench": 0.03, "Jacobi": 0.25, "softmax 4-D": 0.5,
}  # fmt: skip


def peer_rows(seconds: float, scale: float) -> Iterator[Row]:
    """Gradients that are compiled to C beside those written by hand with NumPy, and beside other libraries that are
    installed. Raises ValueError where they differ."""
    for program in programs(scale):
        gradient, arguments = tx.grad(program.primal, program.wrt, jit="c"), program.arguments
        start = perf_counter()
        compiled = gradient(*arguments)
        first = perf_counter() - start
        demand_equal(program.name, compiled, program.by_hand(*arguments))
        calls: list[Callable[[], Any]] = [partial(program.by_hand, *arguments), partial(gradient, *arguments)]
        found = [peer for peer in program.peers if peer in peers.installed()]
        calls += [peers.gradient_by(peer, program) for peer in found]
        by_hand, ours, *others = interleaved(calls, seconds)
        shown = f"{_shown(ours)} beside {_shown(by_hand)}; the first call took {first:.2f} s"
        shown += "".join(f"; {peer} {time / by_hand:.2f} x" for peer, time in zip(found, others, strict=True))
        yield Row(f"{program.name}: jit", ours / by_hand, GOALS_OF_JIT.get(program.name, 1.0), "x", shown)


def _rows_of(program: Program, seconds: float) -> Iterator[Row]:
    gradient = tx.grad(program.primal, program.wrt)
    text = gradient.source_for(*program.arguments)
    generated = load(text) if program.direct else gradient
    arguments = program.arguments
    wanted = program.by_hand(*arguments)
    demand_equal(program.name, generated(*arguments), wanted)
    calls = [lambda: program.by_hand(*arguments), lambda: generated(*arguments)]
    found = [peer for peer in program.peers if peer in peers.installed()]
    for peer in found:
        calls.append(peers.gradient_by(peer, program))
        demand_equal(f"{program.name} by {peer}", calls[-1](), wanted)
    by_hand, ours, *others = interleaved(calls, seconds)
    shown = f"{_shown(ours)} beside {_shown(by_hand)}"
    shown += "".join(f"; {peer} {time / by_hand:.2f} x" for peer, time in zip(found, others, strict=True))
    goal = GOAL_RATIO_OF.get(program.name, GOAL_RATIO)
    yield Row(f"{program.name}: time", ours / by_hand, goal, "x", shown)
    mine, its = count_generated(text), count_written(program.by_hand, *program.helpers)
    yield Row(f"{program.name}: statements", mine / its, GOAL_STATEMENTS, "x", f"{mine} beside {its}")
    if program.memory:
        most, least = peak(calls[1]), peak(calls[0])
        yield Row(
            f"{program.name}: memory", most / least, GOAL_RATIO, "x", f"{most / 1e6:.2g} MB beside {least / 1e6:.2g} MB"
        )


def _shown(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def tensor_rows(seconds: float) -> Iterator[Row]:
    """The runtime Tensor beside its peers, and beside NumPy where nothing is recorded."""
    for name, peer, theirs, ours in tensors.ratios(seconds):
        yield Row(f"Tensor {name}: {peer}", ours / theirs, 0.5, "x", f"{_shown(ours)} beside {_shown(theirs)}")
    once, each = tensors.batch(seconds)
    yield Row("Tensor 64 cotangents", once / each, 0.25, "x", f"{_shown(once)} at once, {_shown(each)} one by one")
    share = f"; of a function {_shown(tensors.handed_over(seconds))} are NumPy's, to hand it over"
    for name, ours, plain in tensors.overheads(seconds):
        yield Row(f"Tensor no_grad: {name}", (ours - plain) * 1e6, 1.0, "us", f"over NumPy's {_shown(plain)}{share}")
        share = ""


def mode_rows(seconds: float, scale: float) -> Iterator[Row]:
    """Forward mode, a product with the Hessian, and a Jacobian."""
    moved, by_hand = modes.forward_ratios(seconds, scale)
    yield Row("jvp beside the program", moved, 2.2, "x", "element by element")
    yield Row("jvp beside one by hand", by_hand, GOAL_RATIO, "x")
    yield Row("hvp beside the gradient", modes.product_ratio(seconds, scale), 4.0, "x", "Rosenbrock's function")
    yield Row("jacobian, 100 x 100", modes.jacobian_ratio(seconds), 0.1, "x", "beside 100 products")


def overhead_rows(seconds: float, repeats: int) -> Iterator[Row]:
    """What is paid beside the generated function."""
    yield Row("call on three numbers", overheads.call_overhead(seconds) * 1e6, 3.0, "us", "over the generated function")
    yield Row("cache hit, four numbers", overheads.hit_overhead(seconds) * 1e6, 2.0, "us", "to an empty program")
    first, later = overheads.compile_time(repeats)
    yield Row("compile ten lines", later * 1e3, 20.0, "ms", f"first of a process: {first * 1e3:.0f} ms")
    yield Row("import tangentx", overheads.import_time(repeats), 0.1, "s", "beyond NumPy")
