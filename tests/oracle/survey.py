"""Many programs drawn, checked and counted; failures are saved, the first made smaller.

One that has been mended is kept: its file moves to `failed/`, under a name that says what it was about.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from .grammar import Program, draft
from .harness import Outcome, check
from .keeping import written
from .reduction import reduce
from .screen import generate

CHUNK = 25
BAD = ("wrong", "crashed")
SHORT = 20  # lines of a program whose second order costs little
PULLS = 3


@dataclass
class Summary:
    """Counts over programs: how they fared, what they were made of, why they were refused or not used."""

    statuses: Counter[str] = field(default_factory=Counter)
    stages: Counter[str] = field(default_factory=Counter)
    tags: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)  # constructs, by the refused programs that have them
    rejected: Counter[str] = field(default_factory=Counter)
    sharing: int = 0
    failures: list[tuple[int, str, str, str]] = field(default_factory=list)

    @property
    def count(self) -> int:
        return self.statuses.total()

    def add(self, other: Summary) -> None:
        for name in ("statuses", "stages", "tags", "refusals", "refused", "rejected"):
            getattr(self, name).update(getattr(other, name))
        self.sharing += other.sharing
        self.failures += other.failures

    def __str__(self) -> str:
        lines = [f"{self.count} programs, {self.sharing} write through an alias or in a callee"]
        for title in ("statuses", "stages", "rejected", "refusals"):
            lines.append(f"{title}:")
            lines += [f"  {count:6d}  {what}" for what, count in getattr(self, title).most_common(25)]
        lines.append("constructs, by the number of programs that have them:")
        lines += [f"  {count:6d} ({self.refused[tag]} refused)  {tag}" for tag, count in self.tags.most_common()]
        return "\n".join(lines)


def program_of(seed: int, rejected: Counter[str] | None = None, drawn: Callable[[Random], Program] = draft) -> Program:
    """The program that belongs to a seed."""
    return generate(Random(seed), rejected, drawn)


def refusal(text: str) -> str:
    """The message of a refusal without its place and without the program's names."""
    first = text.splitlines()[0] if text else ""
    return re.sub(r"\d+", "#", re.sub(r"^<\w+>:\d+: ", "", first))


def tried(
    program: Program,
    seed: int,
    off: tuple[str, ...] | str,
    every: int,
    *,
    short: int = SHORT,
    pulls: int = PULLS,
    **options: Any,
) -> Outcome:
    """The program of a seed checked: a pullback for each `pulls`-th, second order for each `every`-th and the short."""
    order2 = every > 0 and (seed % every == 0 or program.source.count("\n") <= short)
    return check(program, order2, off, pull=pulls > 0 and seed % pulls == 0, **options)


def inspect(
    seed: int,
    off: tuple[str, ...] | str,
    every: int,
    *,
    drawn: Callable[[Random], Program] = draft,
    **options: Any,
) -> Summary:
    """Draw the program of a seed and check it."""
    found = Summary()
    program = program_of(seed, found.rejected, drawn)
    outcome = tried(program, seed, off, every, **options)
    found.statuses[outcome.status] += 1
    found.tags.update(program.tags.keys())
    if outcome.status == "refused":
        found.refused.update(program.tags.keys())
    found.sharing += program.shares
    for name, (status, text) in outcome.stages.items():
        found.stages[f"{name} {status}"] += 1
        if status == "refused":
            found.refusals[f"{name}: {refusal(text)}"] += 1
    if outcome.status in BAD:
        found.failures.append((seed, outcome.status, outcome.details, program.source))
    return found


def survey(first: int, count: int, off: tuple[str, ...] | str = (), every: int = 10, **options: Any) -> Summary:
    """Check the programs of `count` seeds from `first` on, as `tried` says."""
    total = Summary()
    for seed in range(first, first + count):
        total.add(inspect(seed, off, every, **options))
    return total


def smaller(seed: int, off: tuple[str, ...] | str, every: int) -> Program:
    """A reduced program of which the same stage fails as the seed's does."""
    program = program_of(seed)
    stage, status = next((n, s) for n, (s, _) in tried(program, seed, off, every).stages.items() if s in BAD)
    return reduce(program, lambda p: check(p, off=off, only=stage).stages[stage][0] == status)


def main() -> None:
    parser = argparse.ArgumentParser(description="Random programs against the oracle.")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--off", default="", help='proofs switched off: names joined by commas, or "all"')
    parser.add_argument("--every", type=int, default=10, help="second order for each so many programs; 0: never")
    parser.add_argument("--save", type=Path, default=Path("/tmp/oracle"))
    parser.add_argument("--reduce", type=int, default=3, help="how many failing programs to make smaller")
    options = parser.parse_args()
    off = options.off if options.off in ("", "all") else tuple(options.off.split(","))
    starts = range(options.seed, options.seed + options.count, CHUNK)
    sizes = [min(CHUNK, options.seed + options.count - start) for start in starts]
    total = Summary()
    with ProcessPoolExecutor(options.jobs) as pool:
        for part in pool.map(survey, starts, sizes, [off] * len(starts), [options.every] * len(starts)):
            total.add(part)
    print(total)
    options.save.mkdir(parents=True, exist_ok=True)
    for k, (seed, status, details, _) in enumerate(total.failures):
        program = smaller(seed, off, options.every) if k < options.reduce else program_of(seed)
        path = options.save / f"{status}_{seed}.py"
        path.write_text("".join(f"# {line}\n" for line in details.splitlines()) + written(program))
        print(f"\n==== seed {seed}: {status}, in {path}\n{details}\n{program.source if k < options.reduce else ''}")
