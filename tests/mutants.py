"""Mutants of the compiler, each a fault that reverse mode can have, and how soon the oracle finds them.

``python -m tests.mutants [name ...]`` runs all, or those named; the status is 1 if one is not caught.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from tests.oracle.harness import check
from tests.oracle.survey import program_of

LIMIT = 500


@dataclass(frozen=True)
class Mutant:
    """A fault: `pit` says which of DESIGN §5 it is; `patch` puts it into the compiler while its context lasts."""

    name: str
    pit: str
    patch: Callable[[], AbstractContextManager[Any]]


def swapped(target: str, make: Callable[[Any], Any]) -> Callable[[], AbstractContextManager[Any]]:
    """A patch of the object at dotted path `target` by ``make(old)``."""

    @contextmanager
    def patch() -> Iterator[None]:
        patcher = mock.patch(target)
        old, _ = patcher.get_original()
        with ExitStack() as stack:
            stack.enter_context(mock.patch(target, make(old)))
            yield

    return patch


MUTANTS: tuple[Mutant, ...] = ()


def caught_at(mutant: Mutant, off: tuple[str, ...] | str = (), limit: int = LIMIT) -> int | None:
    """The number of the first program, from 1, that the mutant fails; None if none of `limit` does."""
    with mutant.patch():
        for seed in range(limit):
            if check(program_of(seed), seed % 10 == 0, off).status in ("wrong", "crashed"):
                return seed + 1
    return None


def main(names: list[str], off: tuple[str, ...] | str) -> int:
    """Run the mutants and print where each was caught. Returns how many were not."""
    missed = 0
    for mutant in MUTANTS:
        if names and mutant.name not in names:
            continue
        at = caught_at(mutant, off)
        missed += at is None
        print(f"{mutant.name:32} {'NOT CAUGHT' if at is None else f'program {at}':14} {mutant.pit}", flush=True)
    return missed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--off", default="", help='proofs switched off ("all"), or none')
    options = parser.parse_args()
    sys.exit(1 if main(options.names, options.off) else 0)
