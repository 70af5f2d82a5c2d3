"""Many calls of each kind of public entry: what is left in memory after them.

``python -m tests.soak`` makes 10,000 calls of each entry with a known function and 1,000 with a new function each time,
and prints a table: resident memory, objects that the collector knows, lines that `linecache` holds, threads; the status
is the number of entries that leave more than they may. ``--calls`` is the first number.
"""

from __future__ import annotations

import argparse
import gc
import linecache
import sys
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.harness.entries import FRESH, KNOWN
from tests.harness.surroundings import assert_unchanged, surroundings

CALLS = 10_000
COMPILING = ("vmap", "Tensors, compiled")
"""Entries that compile something in each call, whatever the function."""
PAGE = 4096


@dataclass(frozen=True)
class State:
    """What the process has now."""

    resident: int
    objects: int
    texts: int
    threads: int

    def __sub__(self, other: State) -> State:
        return State(
            self.resident - other.resident,
            self.objects - other.objects,
            self.texts - other.texts,
            self.threads - other.threads,
        )


def state() -> State:
    """Measured after a collection."""
    gc.collect()
    statm = Path("/proc/self/statm")
    resident = int(statm.read_text().split()[1]) * PAGE if statm.exists() else 0
    return State(resident, len(gc.get_objects()), len(linecache.cache), threading.active_count())


@dataclass(frozen=True)
class Left:
    """What so many calls have left, after as many warming calls as a tenth."""

    name: str
    calls: int
    left: State
    seconds: float

    def is_flat(self) -> bool:
        """At most 200 objects, no text, no thread, and of resident memory 4 MB, as allocators go."""
        left = self.left
        return left.resident <= 4_000_000 and left.objects <= 200 and left.texts <= 0 and left.threads <= 0

    def __str__(self) -> str:
        left = self.left
        each = 1e6 * self.seconds / max(self.calls, 1)
        return (
            f"{self.name:32} {self.calls:7} {left.resident / 1e6:9.2f} MB {left.objects:8} {left.texts:6}"
            f" {left.threads:4} {each:10.0f} us  {'' if self.is_flat() else 'GROWS'}"
        )


def soaked(name: str, entry: Callable[[], Any], calls: int) -> Left:
    """Makes the calls."""
    for _ in range(max(calls // 10, 5)):
        entry()
    around, before, start = surroundings(), state(), time.perf_counter()
    for _ in range(calls):
        entry()
    seconds = time.perf_counter() - start
    assert_unchanged(around)
    return Left(name, calls, state() - before, seconds)


def entries(calls: int) -> list[tuple[str, Callable[[], Any], int]]:
    """The names, entries and numbers of calls."""
    known = [(name, entry, calls // 10 if name in COMPILING else calls) for name, entry in KNOWN.items()]
    return [*known, *((f"{name}, a new function", entry, calls // 10) for name, entry in FRESH.items())]


def main(calls: int, names: list[str]) -> int:
    """Prints the table; gives how many entries grow."""
    warnings.simplefilter("ignore")
    print(f"{'':32} {'calls':>7} {'resident':>12} {'objects':>8} {'texts':>6} {'thr.':>4} {'a call':>13}", flush=True)
    found = []
    for name, entry, count in entries(calls):
        if not names or any(part in name for part in names):
            found.append(soaked(name, entry, count))
            print(found[-1], flush=True)
    return sum(not left.is_flat() for left in found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--calls", type=int, default=CALLS)
    options = parser.parse_args()
    sys.exit(main(options.calls, options.names))
