"""Arrays told apart by when they were made: drawn programs that note what they come to, and programs that mislead."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.analysis.dependence.array_dependence import Elements
from tangentx.analysis.dependence.births import Births
from tangentx.analysis.dependence.control_context import Course
from tangentx.compile import pipeline
from tangentx.derive.emit import Frame
from tests.analysis.dependence.test_array_dependence import key_of, made, places
from tests.analysis.made import analysed

ARRAYS = "yzw"


class Drawn:
    """Loops that make arrays, exchange their names, record them and take them back; an access a line."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines = ["y = x.copy()", "z = x * 2.0", "w = z", "S = []", "T = []"]
        self.calm = self.rng.random() < 0.5  # more is done to what names hold than to names

    def access(self) -> str:
        a, at = self.rng.choice(ARRAYS), self.rng.choice("01")
        return self.rng.choice([f"{a}[{at}] = 1.0", f"s = {a}[{at}]"])

    def statement(self, loops: int) -> str:
        if self.calm and self.rng.random() < 0.6:
            return self.access()
        a, b = self.rng.choice(ARRAYS), self.rng.choice(ARRAYS + "x")
        at = self.rng.choice(["0", "1", "-1"])
        return self.rng.choice([
            f"{a}[{at}] = 1.0", f"{a}[{at}] = 2.0", f"s = {b}[{at}]", f"s = {b}[{at}]",
            f"{a} = np.zeros_like({b})", f"{a} = {b} * 1.0", f"{a} = {b}", f"{a} = {b}",
            "if q > 2:\n    break" if loops else "s = 0.0", "if i % 2:\n    continue" if loops else "s = 1.0",
        ])  # fmt: skip

    def block(self, pad: str, loops: int, tapes: list[str]) -> None:
        """Statements, among them those given in their order."""
        steps = [self.statement(loops) for _ in range(self.rng.randint(2, 5))]
        for tape in tapes:
            steps.insert(self.rng.randint(0, len(steps)), tape)
        for step in steps:
            if self.rng.random() < 0.15:
                self.lines.append(f"{pad}if {self.rng.choice(['q > 1', 'i % 2', 'i > 1'])}:")
                self.lines += [f"{pad}    {line}" for line in step.split("\n")]
            elif self.rng.random() < 0.1 and loops < 2:
                self.lines.append(f"{pad}for j in range(2):")
                self.block(pad + "    ", loops + 1, [step] if "\n" not in step else [])
            else:
                self.lines += [pad + line for line in step.split("\n")]

    def source(self) -> str:
        self.lines.append("i = 0")
        back = self.rng.random() < 0.8
        names = [self.rng.choice(ARRAYS) for _ in range(2)]
        for tapes in (
            [f"{tape}.append({name})" for tape, name in zip("ST", names, strict=True)],
            [f"{self.rng.choice((name, *ARRAYS))} = {tape}.pop()" for tape, name in zip("ST", names, strict=True)],
        ):
            self.lines.append("for i in range(q):")
            self.block("    ", 1, tapes if back else [])
        self.block("", 0, [])
        return "\n".join(["def f(x, q):", *(f"    {line}" for line in self.lines), "    return y[0]", ""])


class Noting(np.ndarray):
    """A vector that notes at which line which element of which memory is come to."""

    run: list[tuple[int, int]] = []
    alive: list[Any] = []

    def __array_finalize__(self, other: Any) -> None:
        self.alive.append(self)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.note(key)
        super().__setitem__(key, value)

    def __getitem__(self, key: Any) -> Any:
        self.note(key)
        return super().__getitem__(key)

    def note(self, key: Any) -> None:
        if isinstance(key, int):
            address = self.__array_interface__["data"][0]
            self.run.append((sys._getframe(2).f_lineno, address + key % len(self) * self.itemsize))


def meetings(fn: Callable[..., Any]) -> Iterator[tuple[int, int]]:
    """Pairs of lines of which the second comes, after the first, to its place."""
    for n in (2, 3):
        for q in (0, 1, 2, 3, 4):
            Noting.run, Noting.alive = [], []
            try:
                fn(np.ones(n).view(Noting), q)
            except (IndexError, UnboundLocalError):
                pass
            for at, (a, p) in enumerate(Noting.run):
                yield from ((a, b) for b, r in Noting.run[at + 1 :] if p == r)


def told_apart(source: str, name: str) -> int:
    """How many more pairs of accesses are told apart than by their places alone; none of them may meet."""
    fn = made("import numpy as np\n" + source, name)
    frame = Frame(*analysed(fn, np.ones(3), 2), "_bar")
    course = Course(frame.function.body, [p.name for p in frame.function.params])
    births, elements = Births(course, frame.kind), Elements(course, frame.kind)
    found = [
        (place.statement.span.line, births.spot(*key_of(place), place), elements.spot(*key_of(place), place))
        for place in places(births)
    ]
    met = set(meetings(fn))
    more = 0
    for a, first, plain in found:
        for b, second, other in found:
            may = first is None or second is None or births.may_meet(first, second)
            assert may or (a, b) not in met, f"{source}\nlines {a - 1} and {b - 1} of it"
            more += not may and (plain is None or other is None or elements.may_meet(plain, other))
    return more


@pytest.mark.parametrize("start", range(0, 240, 40))
def test_what_is_told_apart_never_meets(start: int) -> None:
    assert sum(told_apart(Drawn(seed).source(), f"<births {seed}>") for seed in range(start, start + 40)) > 100


RECORDED = """
def f(x, q):
    S = []
    T = []
    z = x * 2.0
    for i in range(q):
        @
    for i in range(q):
        y = T.pop()
        y[0] = 1.0
        s = y[0]
        z = S.pop()
        s = z[0]
    return y[0]
"""
RECORDED_AGAIN = """
def f(x, q):
    S = []
    T = []
    v = x * 2.0
    for k in range(2):
        for i in range(q):
            @
        for i in range(q):
            y = T.pop()
            y[0] = 1.0
            z = S.pop()
            s = z[0]
            v = y
    return v[0]
"""
CARRIED = """
def f(x, q):
    y = x * 1.0
    w = y
    for i in range(q):
        y[0] = 1.0
        s = y[0]
        s = w[0]
        @
    s = y[0]
    return s
"""
TOLD_APART = {
    "recorded together, one before the other is made": (RECORDED, "y = x * 1.0; T.append(y); S.append(z); z = y"),
    "what each trip makes": (CARRIED, "y = x * 1.0"),
    "what each trip makes under another name": (CARRIED, "w = x * 1.0; y = w"),
}  # fmt: skip
MEETING = {
    "recorded twice": (RECORDED, "y = x * 1.0; T.append(y); S.append(y)"),
    "recorded under two names": (RECORDED, "y = x * 1.0; z = y; T.append(y); S.append(z)"),
    "under another name at times": (RECORDED, "y = x * 1.0\nif i != 1:\n    z = y\nT.append(y); S.append(z)"),
    "more records on one": (RECORDED, "y = x * 1.0; T.append(y)\nfor j in range(2):\n    S.append(y)"),
    "older records, but more": (RECORDED, "y = x * 1.0; T.append(y)\nfor j in range(2):\n    S.append(z)\nz = y"),
    "recorded again later": (RECORDED_AGAIN, "y = x * 1.0; T.append(y); S.append(v)"),
    "fewer records on one": (RECORDED, "y = x * 1.0; S.append(y)\nif i != 1:\n    T.append(y)"),
    "no record of the last trip": (RECORDED, "y = x * 1.0; S.append(y)\nif i == 2:\n    break\nT.append(y)"),
    "always the same": (RECORDED, "y = x[:]; T.append(y); S.append(z)"),
    "made at times": (RECORDED, "y = z\nif i == 0:\n    y = x * 1.0\nT.append(y); z = y; S.append(z)"),
    "brought back at times": (CARRIED, "v = y; y = x * 1.0\nif i % 2:\n    y = v"),
    "not made in each trip": (CARRIED, "if i % 2:\n    y = x * 1.0"),
    "not made where the trip ends early": (CARRIED, "if i % 2:\n    continue\ny = x * 1.0"),
    "the last trip ends early": (CARRIED, "if i == 2:\n    break\ny = x * 1.0"),
    "changed for another one": (CARRIED, "v = y; y = w; w = v"),
    "changed for what the trip had": (CARRIED.replace("    s = y[0]\n    return", "    if q:\n        y = w\n    s = y[0]\n    return"), "w = y; y = x * 1.0"),  # noqa: E501
}  # fmt: skip


def written(template: str, steps: str) -> str:
    lines = [line for part in steps.split("\n") for line in ([part] if part.startswith(" ") else part.split("; "))]
    margin = re.search("\n( *)@", template)
    assert margin is not None
    return template.strip().replace("@", f"\n{margin[1]}".join(lines)) + "\n"


@pytest.mark.parametrize("name", [*TOLD_APART, *MEETING])
def test_what_meets_is_not_told_apart(name: str) -> None:
    more = told_apart(written(*{**TOLD_APART, **MEETING}[name]), f"<{name}>")
    assert more or name not in TOLD_APART


# -- programs that record nothing to restore an array ----------------------------------------------------------------

U = np.array([0.7, 1.2, -0.4, 0.9, 1.1])


def springs(x, k, dt):
    v = np.ones(len(x))
    for _ in range(3):
        f = np.zeros(len(x))
        f[1:] += k * (x[:-1] - x[1:])
        f[:-1] -= k * (x[:-1] - x[1:])
        v = v + dt * f
        x = x + dt * v
    return np.sum(x * x)


def made_by_a_product(x, k, dt):
    for _ in range(3):
        f = k * x
        f[0] = f[1] * f[2]
        f[3] = f[0] * f[1]
        x = x + dt * f * f
    return np.sum(x * x)


def a_new_row(x, k, dt):
    for _ in range(3):
        w = np.empty_like(x)
        w[0] = x[0]
        w[-1] = x[-1]
        w[1:-1] = x[1:-1] + k * (x[2:] - 2.0 * x[1:-1] * x[1:-1] + x[:-2])
        x = w
    return dt * np.sum(x * x)


def a_matrix(x, k, dt):
    p = x[:2]
    for _ in range(3):
        F = np.zeros((2, 2))
        F[0, 0] = k
        F[0, 1] = dt
        F[1, 1] = k * dt
        p = F @ p + F.T @ p * p
    return np.sum(p * p)


PLAIN = {f.__name__: f for f in (springs, made_by_a_product, a_new_row, a_matrix)}


def stores_of_tapes(text: str) -> int:
    """How often an element is brought back: from a tape, or from what was taken off a tape."""
    lines = [line.strip() for line in text.partition("reverse sweep")[2].splitlines()]
    taken = {name.strip(" ()") for line in lines if line.endswith(".pop()") for name in line.split(" = ")[0].split(",")}
    return sum("] = " in line and (line.endswith(".pop()") or line.split(" = ")[1] in taken) for line in lines)


@pytest.mark.parametrize("name", PLAIN)
def test_an_array_made_in_each_trip_is_not_restored(name: str) -> None:
    f = PLAIN[name]
    arguments = U, 0.3, 0.2
    gradient = tx.grad(f, wrt=(0, 1, 2), fallback="error")
    assert stores_of_tapes(gradient.source_for(*arguments)) == 0
    with pipeline.proofs(off="elements"):
        assert stores_of_tapes(tx.grad(f, wrt=(0, 1, 2), fallback="error").source_for(*arguments)) > 0
    agrees(f)


# -- programs that would mislead the proof ---------------------------------------------------------------------------


def put_in_a_list(x, k, dt):
    every = []
    for _ in range(3):
        f = np.zeros(len(x))
        f[0] = k * x[0] * x[1]
        every.append(f)
        f[0] *= every[0][0]
        f[1] = f[0] * every[-1][0] * dt
        x = x + f * f
        every[0][0] = f[1] * f[0]
    return sum(np.sum(e * e) for e in every)


def kept_for_the_next_trip(x, k, dt):
    last = np.ones(len(x))
    for _ in range(3):
        f = np.zeros(len(x))
        f[0] = k * last[0] * x[0]
        last[1] = f[0] * last[0]
        x = x + dt * f * last
        f[2] = x[0] * f[0]
        f[0] = f[2] * f[0]
        last = f
    return np.sum(x * x * last)


def view_of_an_older_one(x, k, dt):
    base = x * 1.0
    for _ in range(3):
        f = base[:3]
        f[0] = k * f[1] * f[0]
        f[1] = dt * f[0] * f[2] * f[1]
    return np.sum(base * base)


def made_in_one_branch(x, k, dt):
    f = np.ones(len(x))
    for t in range(4):
        if t % 2 == 0:
            f = np.zeros(len(x)) + x
        f[0] = f[0] * f[1] * k
        f[1] = f[0] * f[1]
        x = x + dt * f * f
    return np.sum(x * f)


def one_for_two_trips(x, k, dt):
    total = 0.0
    for _ in range(2):
        f = np.zeros(len(x)) + x
        for i in range(1, 3):
            f[i] = f[i - 1] * f[i] * k
            total += f[i] * f[i + 1]
            f[i - 1] = f[i] * dt * f[i - 1]
        x = x + f
    return total + np.sum(x * x)


def under_another_name(x, k, dt):
    for _ in range(3):
        f = np.zeros(len(x)) + x
        g = f
        g[0] = f[0] * f[1] * k
        f[1] = g[0] * g[1] * dt
        x = x + f * g
    return np.sum(x * x)


def written_once_it_is_the_state(x, k, dt):
    for _ in range(3):
        w = x * k
        y = x
        x = w
        w[0] = w[0] * w[1] * y[0]
        y = y * w
        x[1] = x[0] * y[1] * dt
    return np.sum(x * x)


def exchanged(x, k, dt):
    a, b = x * 1.0, x * 2.0
    for _ in range(3):
        b[0] = a[0] * a[1] * k
        b[1] = b[0] * b[1] * dt
        a, b = b, a
    return np.sum(a * b)


def left_early(x, k, dt):
    u = x * 1.0
    for t in range(5):
        u[0] = u[0] * u[1] * k
        if t == 1:
            continue
        w = u * u
        w[1] = w[0] * w[1] * u[2]
        if t == 3:
            break
        u = w
    return np.sum(u * u) * dt


def filled(n, x, k):
    f = np.zeros(n)
    f[0] = k * x[0]
    f[1] = f[0] * x[1]
    f[0] = f[0] * f[1]
    return f


def made_by_a_helper(x, k, dt):
    for _ in range(3):
        f = filled(len(x), x, k)
        f[2] = f[0] * f[1]
        f[0] = f[2] * f[2]
        x = x + dt * f * f
    return np.sum(x * x)


def the_same_or_another(x, k, dt):
    for t in range(3):
        f = x * 1.0 if t == 1 else x
        g = f * k
        g[0] = g[0] * g[1]
        f = g
        f[1] = f[0] * f[1]
        x = x + dt * f * f
    return np.sum(x * x)


def in_a_dict(x, k, dt):
    state = {"f": x * 1.0}
    for _ in range(3):
        f = np.zeros(len(x))
        f[0] = state["f"][0] * k * x[1]
        state["f"][1] = f[0] * f[0]
        x = x + dt * f * state["f"]
        state["f"] = f
        f[1] = f[0] * x[0]
    return np.sum(x * state["f"])


def turned(x, k, dt):
    p = x[:2]
    for _ in range(3):
        F = np.ones((2, 2)) * k
        G = F.T
        G[0, 1] = F[0, 1] * p[0] * dt
        F[0, 1] = G[1, 0] * F[1, 0]
        p = G @ p + F @ p * p
    return np.sum(p * p)


def two_loops_of_one_name(x, k, dt):
    u = x * 1.0
    for _ in range(2):
        w = u * k
        w[0] = w[0] * w[1]
        u = w
    for _ in range(2):
        u[1] = u[0] * u[1]
        w = u * dt + x
        w[1] = w[1] * u[0]
        u = w
        u[0] = u[0] * u[2]
    return np.sum(u * u)


def read_in_the_next_trip(x, k, dt):
    total = 0.0
    for _ in range(2):
        f = x * 1.0
        for i in range(1, 4):
            f[0] = f[i] * f[i] * k
            total += np.sum(np.sin(f[:2]))
        x = x + dt * f
    return total + np.sum(x * x)


def half_of_it_the_last(x, k, dt):
    z = x * 1.0
    total = 0.0
    for _ in range(3):
        y = x * k
        total += np.sum(np.sin(z) * y)
        y[0] = y[0] * y[1]
        z[1] = z[0] * y[0] * z[1]
        total += np.sum(np.sin(z) * y * dt)
        z = y
    return total + np.sum(z * z)


MISLEADING = {f.__name__: f for f in (
    put_in_a_list, kept_for_the_next_trip, view_of_an_older_one, made_in_one_branch, one_for_two_trips,
    under_another_name, written_once_it_is_the_state, exchanged, left_early, made_by_a_helper, the_same_or_another,
    in_a_dict, turned, two_loops_of_one_name, read_in_the_next_trip, half_of_it_the_last,
)}  # fmt: skip


def agrees(f: Callable[..., Any]) -> None:
    for x in (U, U[::-1] * 0.9):
        arguments = x.copy(), 0.8, 0.6
        with pipeline.proofs(off="all"):
            wanted = tx.grad(f, wrt=(0, 1, 2), fallback="error")(*arguments)
        for found in (
            tx.grad(f, wrt=(0, 1, 2), fallback="error")(*arguments),
            tx.grad(f, wrt=(0, 1, 2), fallback="error", guarded=True)(*arguments),
            tx.vjp(f, *arguments)[1](1.0),
        ):
            for one, other in zip(found, wanted, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-14)


@pytest.mark.share(1)
@pytest.mark.parametrize("name", MISLEADING)
def test_programs_that_would_mislead(name: str) -> None:
    agrees(MISLEADING[name])


@pytest.mark.share(1)
@pytest.mark.parametrize("name", [*PLAIN, "kept_for_the_next_trip", "written_once_it_is_the_state"])
def test_at_the_second_order(name: str) -> None:
    f = {**PLAIN, **MISLEADING}[name]
    found = tx.hessian(f)(U.copy(), 0.8, 0.6)
    with pipeline.proofs(off="elements"):
        assert np.allclose(found, tx.hessian(f)(U.copy(), 0.8, 0.6), rtol=1e-11, atol=1e-13)
