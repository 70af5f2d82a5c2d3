"""Random programs of loops and arrays, compiled, beside the generated Python: ``python -m tests.jit.drawn``.

``python -m tests.jit.drawn 500 100 c numba`` draws 100 from seed 500 on, in these ways; without ways, Python and C.
What differs is printed, with its seed.
"""

import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from random import Random
from types import ModuleType
from typing import Any

import numpy as np

import tangentx as tx
from tests.jit.sanitised import alike, outcome
from tests.oracle.harness import loaded

HELPERS = """import math

import numpy as np


def bent(p, q):
    if p > q:
        return np.sin(p) * q
    return p - 0.3 * q * q


def smoothed(v, c):
    w = np.zeros(len(v))
    for k in range(1, len(v) - 1):
        w[k] = c * (v[k - 1] + v[k + 1]) - v[k]
    return w


def moved(v, k):
    v[k] = 0.5 * v[k] + 0.1
    return v[k - 1]

"""


class Draft:
    """A program that is being drawn: `n` elements in each row, `m` rows."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.depth = 1
        self.counters: list[str] = []
        self.count = 0

    def pick(self, *choices: str) -> str:
        """One of them."""
        return self.rng.choice(choices)

    def add(self, line: str) -> None:
        """A line of the block that is being drawn."""
        self.lines.append("    " * self.depth + line)

    def counter(self) -> str:
        """A counter of a loop around, or a number."""
        return self.rng.choice(self.counters) if self.counters else str(self.rng.randrange(3))

    def place(self) -> str:
        """A place in a row, mostly one that is there."""
        k = self.counter()
        if self.rng.random() < 0.02:
            return f"{k} + 2"
        return self.pick(k, f"({k} + 1) % n", f"{k} - 1", f"n - 1 - {k}", f"-1 - {k}", f"{k} // 2", f"where[{k}]")

    def vector(self) -> str:
        """The name of a row."""
        return self.pick("x", "y", "z", "A[1]", "A[0]")

    def number(self, deep: int = 2) -> str:
        """A number; small ones stay so."""
        if deep == 0 or self.rng.random() < 0.25:
            return self.pick(
                "s", "t", "c", "0.7", f"{self.vector()}[{self.place()}]", f"A[{self.row()}, {self.place()}]"
            )
        a, b = self.number(deep - 1), self.number(deep - 1)
        return self.pick(
            f"({a} + {b})", f"({a} - {b})", f"{a} * {b}", f"{a} / (2.0 + {b} * {b})", f"np.sin({a})", f"math.tanh({a})",
            f"min({a}, {b})", f"max({a}, {b})", f"abs({a})", f"bent({a}, {b})", f"np.maximum({a}, {b})", f"{a} ** 2",
            f"np.sum({self.array()})", f"float({a} > {b}) * {b}", f"({a} if {self.test()} else {b})",
            f"np.max({self.array()})", f"np.dot({self.array()}, {self.array()})", f"{self.counter()} * {a}",
        )  # fmt: skip

    def row(self) -> str:
        """A row of the matrix."""
        return self.pick("0", "1", "-1", f"{self.counter()} % m", f"({self.counter()} + 1) % m")

    def test(self) -> str:
        """Something to decide by."""
        a, b = self.pick("s", "t", f"x[{self.place()}]", f"y[{self.place()}]"), self.pick("t", "0.2", "c")
        return self.pick(f"{a} > {b}", f"{a} <= {b}", f"{self.counter()} % 2 == 0", f"(not {a} < {b} or {b} > 0.1)")

    def array(self, deep: int = 1) -> str:
        """A row of n numbers."""
        if deep == 0:
            return self.pick("x", "y", "z", "A[0]", "A[m - 1]", "x[::-1]", "z[where]")
        a, b = self.array(deep - 1), self.array(deep - 1)
        return self.pick(
            f"({a} + {b})", f"{a} * {b}", f"np.sin({a})", f"np.where({a} > {b}, {a}, {b})", f"({a} - {b}) * c", a,
            f"np.roll({a}, 1)", f"smoothed({a}, 0.4)", f"np.minimum({a}, 0.5)", f"A @ {a} @ A", f"np.abs({a})",
            f"np.clip({a}, -0.4, 0.6)", f"s * {a}",
        )  # fmt: skip

    def statement(self) -> None:
        """One statement, or a block of several."""
        kinds: tuple[Callable[[], None], ...] = (self.simple, self.simple, self.simple, self.sliced, self.whole)
        if self.depth < 4:
            kinds += (self.loop, self.loop, self.branch, self.until)
        self.rng.choice(kinds)()

    def simple(self) -> None:
        """A number, or an element."""
        op = self.pick("=", "=", "+=", "-=", "*=")
        bounded = f"math.tanh({self.number()})"
        self.add(
            self.pick(
                f"s {op} {bounded}",
                f"t {op} {bounded}",
                f"{self.vector()}[{self.place()}] {op} {bounded}",
                f"{self.vector()}[{self.place()}] = {self.number(1)}",
                f"A[{self.row()}, {self.place()}] {op} {bounded}",
                f"t = moved({self.pick('x', 'y', 'z')}, {self.place()})",
                f"kept.append({self.number(1)})",
            )  # fmt: skip
        )

    def sliced(self) -> None:
        """Parts of rows."""
        v, op = self.pick("x", "y", "z", "A[1]", "A[-1]"), self.pick("=", "+=", "*=")
        a = self.pick("x", "y", "z", "A[0]")
        self.add(
            self.pick(
                f"{v}[1:] {op} 0.4 * {a}[:-1]",
                f"{v}[:-1] {op} np.sin({a}[1:])",
                f"{v}[1:-1] {op} {a}[2:] - {a}[:-2]",
                f"{v}[::2] {op} {a}[::2] * c",
                f"{v}[::-1] {op} 0.5 * {a}",
                f"{v}[{v} > 0.3] {op} 0.25",
                f"A[:, {self.place()}] {op} 0.3 * s",
                f"A[1:] {op} 0.5 * A[:-1]",
                f"{v}[:] = {self.array()}",
                f"{v}[where] {op} 0.5 * {a}",
                f"A[:, 1:] {op} 0.2 * A[:, :-1]",
            )  # fmt: skip
        )

    def whole(self) -> None:
        """A row that is bound anew."""
        v = self.pick("x", "y", "z")
        self.add(self.pick(f"{v} = np.tanh({self.array(2)})", f"{v} = 0.5 * {self.array()}", f"{v} = {v}.copy()"))

    def block(self, most: int) -> None:
        """A few statements."""
        self.depth += 1
        for _ in range(self.rng.randrange(1, most + 1)):
            self.statement()
        self.depth -= 1

    def loop(self) -> None:
        """A loop that counts."""
        self.count += 1
        name = f"i{self.count}"
        bounds = self.pick("n", "n", "1, n", "n - 1", "n - 1, -1, -1", "0, n, 2", "1, n - 1", "n - 2, 0, -1", "m")
        self.add(f"for {name} in range({bounds}):")
        self.counters.append(name)
        self.block(3)
        if self.rng.random() < 0.25:
            self.add(f"    if {self.test()}:")
            self.add(f"        {self.pick('break', 'continue', 'break', 'return s + t')}")
            self.add(f"    s = s + 0.1 * {self.vector()}[{name}]")
        self.counters.pop()

    def until(self) -> None:
        """A loop with a test, which ends."""
        self.count += 1
        name = f"k{self.count}"
        self.add(f"{name} = 0")
        self.add(f"while {name} < n and {self.test()}:")
        self.counters.append(name)
        self.block(2)
        self.counters.pop()
        self.add(f"    {name} += 1")

    def branch(self) -> None:
        """Two ways."""
        self.add(f"if {self.test()}:")
        self.block(2)
        if self.rng.random() < 0.6:
            self.add("else:")
            self.block(2)

    def program(self) -> str:
        """The text of a function `f`."""
        for _ in range(self.rng.randrange(3, 7)):
            self.statement()
        ends = "np.sum(x * y) + s * t + np.sum(A * A) + np.sum(np.sin(z)) + kept[-1] * len(kept)"
        head = ["def f(x, y, A, c, where):", "    n, m = len(x), len(A)", "    x, y, A = x.copy(), y.copy(), A.copy()",
                "    z = np.zeros(n)", "    s, t = c, 0.5 * c", "    kept = [0.0]"]  # fmt: skip
        return HELPERS + "\n".join([*head, *self.lines, f"    return {ends}"]) + "\n"


def arguments(seed: int) -> list[tuple[Any, ...]]:
    """Those of three calls, of different lengths."""
    rng = np.random.default_rng(seed)
    return [
        (*rng.uniform(-1, 1, size=(2, n)), rng.uniform(-1, 1, size=(n, n)), 0.4, rng.permutation(n)) for n in (5, 3, 8)
    ]


def same(wanted: list[Any], found: list[Any], exact: bool) -> bool:
    """Whether two outcomes have the same types and numbers, or exceptions."""
    if len(wanted) != len(found):
        return False
    for a, b in zip(wanted, found, strict=True):
        if type(a) is not type(b) or (isinstance(a, np.ndarray) and (a.shape, a.dtype) != (b.shape, b.dtype)):
            return False
        numbers = isinstance(a, float | np.ndarray | np.generic)
        if not (np.array_equal(a, b, equal_nan=True) if exact and numbers else alike(a, b)):
            return False
    return True


def compared(module: ModuleType, seed: int, ways: list[str]) -> Counter[str]:
    """What became of the gradient and the function in each way."""
    found: Counter[str] = Counter()
    plain = tx.value_and_grad(module.f, wrt=("x", "y", "A", "c"), guarded=True)
    for form, way in ((form, way) for form in ("gradient", "function") for way in ways):
        whole = form == "function"
        compiled = (
            tx.jit(module.f, jit=way) if whole else tx.value_and_grad(module.f, wrt=("x", "y", "A", "c"), jit=way)
        )
        for args in arguments(seed):
            wanted, given = outcome(module.f if whole else plain, args), outcome(compiled, args)
            entry = compiled._cache.last
            note = entry and entry.notes["jit"]
            taken = note is not None and note.compiled is not None
            found[f"{way}, {'compiled' if taken else 'left to Python'}"] += 1
            if not taken and note is not None:
                found[f"    {str(note.refusal).partition(' (')[0]}"] += 1
            if not same(wanted, given, way == "python" and whole):
                found["differ"] += 1
                print(f"seed {seed}, {form} by {way}: {given} for {wanted}", flush=True)
    return found


def drawn(seed: int, ways: list[str]) -> Counter[str]:
    """What became of one program. What differs, or crashes, is printed."""
    source = Draft(Random(seed)).program()
    with loaded(source) as module:
        try:
            found = compared(module, seed, ways)
        except Exception:
            print(f"seed {seed}: {traceback.format_exc()}", flush=True)
            found = Counter({"crashed": 1})
    if found["differ"] or found["crashed"]:
        print(source, flush=True)
    return found


def main() -> int:
    """Draws, compares and counts."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    seed, count = map(int, sys.argv[1:3] or (0, 50))
    found: Counter[str] = Counter()
    for number in range(count):
        found += drawn(seed + number, sys.argv[3:] or ["python", "c"])
        if (number + 1) % 10 == 0:
            print(f"{number + 1} programs: {dict(found)}", flush=True)
    return found["differ"] + found["crashed"]


if __name__ == "__main__":
    sys.exit(main())
