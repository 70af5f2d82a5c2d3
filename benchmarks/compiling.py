"""How long compiling takes by the length of a program: numbers, arrays, loop bodies, helpers, writes of slices.

``python -m benchmarks.compiling`` prints milliseconds a statement, of first and second order, and draws the curve where
``--draw FILE`` says (with matplotlib).
"""

from __future__ import annotations

import argparse
import importlib
import linecache
import resource
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import tangentx as tx

LENGTHS = (30, 100, 300, 1000, 3000)
GOALS = {"numbers": 3.0, "arrays": 3.0, "loop body": 3.0, "helpers": 3.0, "writes of slices": 6.0}
"""Milliseconds a statement, first order."""
LIMIT_SECONDS = 20.0
"""What takes longer is not made longer still."""


def numbers(count: int) -> str:
    """A function of that many statements on numbers."""
    lines = [f"    v{i} = np.sin(v{i - 1}) * 0.{i} + 0.5 * v{i // 2} * x" for i in range(1, count)]
    return "\n".join(["def f(x):", "    v0 = x * x", *lines, f"    return v{count - 1}", ""])


def arrays(count: int) -> str:
    """Likewise on arrays."""
    lines = [f"    v{i} = np.tanh(v{i - 1}) * 0.5 + v{i // 2} * x" for i in range(1, count)]
    return "\n".join(["def f(x):", "    v0 = x * x", *lines, f"    return np.sum(v{count - 1})", ""])


def loop_body(count: int) -> str:
    """One loop whose body has that many statements."""
    lines = [f"        v{i} = np.tanh(v{i - 1}) * 0.5 + v{i - 1} * u" for i in range(1, count)]
    head = ["def f(x):", "    u = x", "    for step in range(3):", "        v0 = u * x"]
    return "\n".join([*head, *lines, f"        u = u + v{count - 1}", "    return np.sum(u)", ""])


def helpers(count: int) -> str:
    """Functions of ten statements that call one another."""
    parts = []
    for k in range(count // 10):
        lines = [f"    v{i} = np.tanh(v{i - 1}) * 0.5 + v{i - 1} * x" for i in range(1, 9)]
        end = f"    return v8 + g{k - 1}(x)" if k else "    return v8"
        parts.append("\n".join([f"def g{k}(x):", "    v0 = x * x", *lines, end, ""]))
    return "\n".join([*parts, "def f(x):", f"    return np.sum(g{count // 10 - 1}(x))", ""])


def writes(count: int) -> str:
    """Writes of slices, read in the next statement."""
    lines = [f"    u[{i % 5} : {i % 5 + 3}] = u[{(i + 1) % 5} : {(i + 1) % 5 + 3}] * 0.9 + x" for i in range(count)]
    return "\n".join(["def f(x):", "    u = np.zeros(8) + x", *lines, "    return np.sum(u)", ""])


PROGRAMS: dict[str, tuple[Callable[[int], str], Any]] = {
    "numbers": (numbers, 0.3),
    "arrays": (arrays, np.full(4, 0.3)),
    "loop body": (loop_body, np.full(4, 0.3)),
    "helpers": (helpers, np.full(4, 0.3)),
    "writes of slices": (writes, 0.3),
}


class Point(NamedTuple):
    """How many seconds it took to compile a program of `count` statements, and the derivative of its derivative."""

    what: str
    length: int
    first: float
    second: float | None


def function(text: str, name: str = "f") -> Any:
    """The function of a text, whose source can be read."""
    file = f"<benchmark of {len(text)} characters>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    space: dict[str, Any] = {"np": np, "tx": tx, "__name__": "benchmark"}
    exec(compile(text, file, "exec"), space)
    return space[name]


def seconds(make: Callable[[], Any], point: Any, repeats: int) -> float:
    """Median seconds of the processor until a derivative has its first result; `make` makes one of a new function."""
    found = []
    for _ in range(repeats):
        derivative = make()
        start = time.process_time()
        derivative(point)
        found.append(time.process_time() - start)
    return statistics.median(found)


def points(what: str, lengths: Sequence[int], second: bool) -> Iterator[Point]:
    """The curve of one sort of program, until it takes too long."""
    write, point = PROGRAMS[what]
    took = took_twice = 0.0
    seconds(lambda: tx.grad(function(write(20))), point, 1)  # what is loaded and made once
    for count in lengths:
        text = write(count)
        if took > LIMIT_SECONDS:
            return
        repeats = 3 if took < 1.0 else 1
        took = seconds(lambda text=text: tx.grad(function(text)), point, repeats)  # type: ignore[misc]
        twice = None
        if second and took_twice < LIMIT_SECONDS:
            twice = took_twice = seconds(lambda text=text: tx.grad(_summed(text)), point, 1)  # type: ignore[misc]
        yield Point(what, count, took, twice)


def _summed(text: str) -> Any:
    """The sum of the first derivative, as a function of the program's."""
    return function(f"{text}\ng = tx.grad(f)\ndef s(x):\n    return np.sum(g(x))\n", "s")


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table, and draws it where that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compiling", description=__doc__)
    parser.add_argument("--longest", type=int, default=LENGTHS[-1], help="statements of the longest programs")
    parser.add_argument("--only", choices=list(PROGRAMS), help="one sort of program")
    parser.add_argument("--second", action="store_true", help="second order, too")
    parser.add_argument("--draw", help="a file for the curve")
    given = parser.parse_args(arguments)
    lengths = [count for count in LENGTHS if count <= given.longest] or [given.longest]
    found: list[Point] = []
    for what in [given.only] if given.only else PROGRAMS:
        for one in points(what, lengths, given.second):
            found.append(one)
            print(row(one), flush=True)
    print(f"most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB")
    if given.draw:
        _draw(found, given.draw)


def row(one: Point) -> str:
    """A line of the table."""
    each = 1e3 * one.first / one.length
    told = "met" if each <= GOALS[one.what] else "MISSED"
    line = (
        f"{one.what:18} {one.length:5} statements  {one.first:8.3f} s  {each:6.2f} ms each  goal {GOALS[one.what]:.0f}"
    )
    twice = "" if one.second is None else f"  second order {one.second:8.3f} s, {one.second / one.first:4.1f} times"
    return f"{line}  {told}{twice}"


def _draw(found: Sequence[Point], path: str) -> None:
    plt: Any = importlib.import_module("matplotlib.pyplot")
    figure, axes = plt.subplots(figsize=(6.0, 4.0))
    for what in PROGRAMS:
        of = [one for one in found if one.what == what]
        axes.loglog([one.length for one in of], [1e3 * one.first / one.length for one in of], "o-", label=what)
    axes.set_xlabel("statements")
    axes.set_ylabel("milliseconds a statement")
    axes.legend()
    figure.savefig(path)


if __name__ == "__main__":
    main()
