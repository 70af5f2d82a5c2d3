"""Elements that are told apart: random loops that note what they come to, and where it would be wrong."""

from __future__ import annotations

import linecache
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tangentx.analysis.dependence.array_dependence import Elements, Spot
from tangentx.analysis.dependence.control_context import Course, Place
from tangentx.derive.emit import Frame
from tangentx.ir.nodes import Assign, Index, Store
from tests.analysis.made import analysed

NAMES = "ijk"


class Writer:
    """Draws loops over the elements of a vector `x` of length `n`; each access stands on a line of its own."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.indices: dict[int, str] = {}

    def index(self, inside: tuple[str, ...]) -> str:
        term = self.rng.choice([*inside, *inside, "n", "q"]) if inside else self.rng.choice(["n", "q"])
        other = "{} - " + (inside or ("q",))[0]
        form = self.rng.choice(["{} - 1", "{}", "{} + 1", "{} - 2", "-{}", "2 * {}", "n - {}", other])
        return form.format(term)

    def block(self, depth: int, inside: tuple[str, ...]) -> None:
        pad = "    " * (depth + 1)
        for _ in range(self.rng.randint(1, 3)):
            choice = self.rng.random()
            if choice < 0.45 or depth > 2:
                self.indices[len(self.lines) + 2] = at = self.index(inside)
                self.lines.append(f"{pad}{self.rng.choice(['x[@] = 1.0', 's = x[@]']).replace('@', at)}")
            elif choice < 0.8 and len(inside) < 3:
                name = NAMES[len(inside)]
                ends = [self.rng.choice(["0", "1", "2", *inside]), self.rng.choice(["n", "n - 1", "q", *inside])]
                step = self.rng.choice(["1", "1", "-1", "2", "-2"])
                start, stop = ends if "-" not in step else ends[::-1]
                self.lines.append(f"{pad}for {name} in range({start}, {stop}, {step}):")
                self.block(depth + 1, (*inside, name))
            elif inside:
                a, b = (self.rng.choice([*inside, "n", "q", "1"]) for _ in range(2))
                test = f"{a} {self.rng.choice(['<', '>=', '==', '!='])} {b}"
                self.lines.append(f"{pad}if {test} {self.rng.choice(['and q > 1', 'or q > 1', ''])}:")
                self.block(depth + 1, inside)
                if self.rng.random() < 0.4:
                    self.lines.append(f"{pad}else:")
                    self.block(depth + 1, inside)
            else:
                self.lines.append(f"{pad}q = {self.rng.choice(['q + 1', '1', 'n - q'])}")

    def source(self) -> str:
        return "\n".join(["def f(x, q):", "    n = len(x)", *self.lines, "    return x[0]", ""])


def made(source: str, name: str) -> Callable[..., Any]:
    space: dict[str, Any] = {}
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    exec(compile(source, name, "exec"), space)
    f: Callable[..., Any] = space["f"]
    return f


class Noting(np.ndarray):
    """A vector that notes at which line which of its elements is come to."""

    def __setitem__(self, key: Any, value: Any) -> None:
        self.note(key)
        super().__setitem__(key, value)

    def __getitem__(self, key: Any) -> Any:
        self.note(key)
        return super().__getitem__(key)

    def note(self, key: int) -> None:
        line = sys._getframe(2).f_lineno
        if -len(self) <= key < len(self):
            self.run.append((line, key % len(self)))


def elements_of(fn: Callable[..., Any], *values: Any) -> Elements:
    frame = Frame(*analysed(fn, *values), "_bar")
    return Elements(Course(frame.function.body, [p.name for p in frame.function.params]), frame.kind)


def places(elements: Elements) -> Iterator[Place]:
    for place in elements.course.places:
        s = place.statement
        if isinstance(s, Store) or (isinstance(s, Assign) and isinstance(s.value, Index)):
            yield place


def key_of(place: Place) -> tuple[Any, Any]:
    s = place.statement
    made = s.value if isinstance(s, Assign) else s
    assert isinstance(made, Index | Store)
    return made.base, made.key.parts


@pytest.mark.parametrize("start", range(0, 120, 30))
def test_what_is_told_apart_never_meets(start: int) -> None:
    apart = 0
    for seed in range(start, start + 30):
        writer = Writer(seed)
        while not writer.indices:
            writer.block(0, ())
        fn = made(writer.source(), f"<elements {seed}>")
        elements = elements_of(fn, np.ones(3), 2)
        found = {place.statement.span.line: elements.spot(*key_of(place), place) for place in places(elements)}
        met: set[tuple[int, int]] = set()
        for n in (1, 2, 3, 5):
            for q in (0, 1, 3):
                x = np.ones(n).view(Noting)
                x.run = []  # type: ignore[attr-defined]
                try:
                    fn(x, q)
                except IndexError:
                    pass
                run = x.run  # type: ignore[attr-defined]
                met |= {(a, b) for at, (a, p) in enumerate(run) for b, r in run[at + 1 :] if p == r}
        for a, first in found.items():
            for b, second in found.items():
                may = first is None or second is None or elements.may_meet(first, second)
                assert may or (a, b) not in met, f"{writer.source()}\nlines {a} and {b}"
                apart += not may
    assert apart > 60


def rows(A, n):
    for i in range(1, n):
        row = A[i]
        for j in range(2, n):
            row[j] = 1.0
            A[i - 1][j] += A[i, 1]
            A[i, : j - 1] = A[i - 1, j]
            A[j] = A[i, j - 1 :] @ A[i, j - 1 :]


def other_names(A, n):
    B = A
    C = A[1:]
    for i in range(1, n):
        B[i, 0] = 1.0
        C[i, 0] = 1.0
        A[i - 1, 0] = 1.0
        n = n + 1
        A[n, 0] = 1.0


def spots(fn: Callable[..., Any]) -> tuple[Elements, dict[tuple[int, type], Spot]]:
    elements = elements_of(fn, np.ones((4, 4)), 3)
    first = fn.__code__.co_firstlineno
    found = {}
    for place in places(elements):
        spot = elements.spot(*key_of(place), place)
        if spot is not None:
            found[place.statement.span.line - first, type(place.statement)] = spot
    return elements, found


def test_rows_and_slices() -> None:
    elements, found = spots(rows)
    row, above, part, dot = (found[line, Store] for line in (4, 5, 6, 7))
    assert not elements.may_meet_within(row, above)  # rows i and i - 1
    assert not elements.may_meet_within(row, part)  # column j, columns to j - 2
    assert elements.may_meet_within(row, dot)  # row j may be row i
    assert elements.may_meet(row, above) and not elements.may_meet(above, row)  # a row above comes back, none below
    assert not elements.may_meet_within(part, found[7, Assign])  # columns to j - 2, columns from j - 1 on


def test_names_of_one_array() -> None:
    elements, found = spots(other_names)
    same, view, before = (found[line, Store] for line in (4, 5, 6))
    assert not elements.may_meet_within(same, before)
    assert elements.may_meet_within(view, before)
    assert elements.may_meet(same, before) is True
    assert elements.may_meet(found[8, Store], before)
