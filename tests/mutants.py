"""Mutants of the compiler, each a fault that reverse mode can have, and how soon the oracle finds them.

``python -m tests.mutants [name ...]`` runs all, or those named; the status is 1 if one is not caught.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pkgutil import resolve_name
from types import CodeType, FunctionType

from tests.faults_of_reverse import FAULTS
from tests.oracle.survey import BAD, program_of, tried

LIMIT = 500
EVERY = 10


@dataclass(frozen=True)
class Mutant:
    """A fault: in the text of the function `target` each old piece of `edits` becomes the new one.

    `pit` says what goes wrong. The functions of the compiler are compiled anew for each program, so no cache hides it.
    """

    name: str
    pit: str
    target: str
    edits: tuple[tuple[str, str], ...]

    @contextmanager
    def planted(self) -> Iterator[None]:
        """The fault in the compiler while this lasts. Raises LookupError if the text to be changed is gone."""
        function = resolve_name(self.target)
        original = function.__code__
        function.__code__ = self.code
        try:
            yield
        finally:
            function.__code__ = original

    @cached_property
    def code(self) -> CodeType:
        """The faulty function's code."""
        function = resolve_name(self.target)
        text = textwrap.dedent(inspect.getsource(function))
        for old, new in self.edits:
            if text.count(old) != 1:
                raise LookupError(f"{self.name}: `{old}` is {text.count(old)} times in {self.target}")
            text = text.replace(old, new)
        made: dict[str, FunctionType] = {}
        exec("from __future__ import annotations\n" + text, dict(function.__globals__), made)
        return made[function.__name__].__code__


MUTANTS: tuple[Mutant, ...] = tuple(Mutant(*fault) for fault in FAULTS)


def caught_at(mutant: Mutant, off: tuple[str, ...] | str = (), limit: int = LIMIT) -> int | None:
    """The number of the first program, from 1, that the mutant fails; None if none of `limit` does."""
    with mutant.planted():
        for seed in range(limit):
            if tried(program_of(seed), seed, off, EVERY).status in BAD:
                return seed + 1
    return None


def main(names: list[str], off: tuple[str, ...] | str) -> int:
    """Run the mutants and print where each was caught. Returns how many were not."""
    missed = 0
    chosen = [mutant for mutant in MUTANTS if not names or mutant.name in names]
    assert all(mutant.code for mutant in chosen)  # an edit whose text is gone is told before the long run
    for mutant in chosen:
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
