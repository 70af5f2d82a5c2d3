"""Mutants of the compiler, each a fault that reverse mode can have, and how soon the oracle finds them.

``python -m tests.mutants [name ...]`` runs all, or those named; the status is 1 if one is not caught.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import linecache
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pkgutil import resolve_name
from types import CodeType, FunctionType

from tests import faults_of_kinds, faults_of_proofs, faults_of_reverse
from tests.faults_of_reverse import Edits
from tests.oracle.grammar import Program
from tests.oracle.survey import BAD, program_of, tried

LIMIT = 500
EVERY = 10


@dataclass(frozen=True)
class Mutant:
    """A fault: in the text of the function `target` each old piece of `edits` becomes the new one.

    `pit` says what goes wrong; programs with the construct `tag`, or with that text, are tried first. `also` has the
    functions, with their edits, that would make up for the fault. The functions of the compiler are compiled anew for
    each program, so no cache hides it.
    """

    name: str
    pit: str
    target: str
    edits: Edits
    tag: str = ""
    also: tuple[tuple[str, Edits], ...] = ()

    def is_likely(self, program: Program) -> bool:
        """Whether a program is tried before others."""
        return program.tags[self.tag] > 0 or self.tag in program.source

    @contextmanager
    def planted(self) -> Iterator[None]:
        """The fault in the compiler while this lasts. Raises LookupError if the text to be changed is gone."""
        original = {name: resolve_name(name).__code__ for name in self.codes}
        try:
            for name, code in self.codes.items():
                resolve_name(name).__code__ = code
            yield
        finally:
            for name, code in original.items():
                resolve_name(name).__code__ = code

    @cached_property
    def codes(self) -> dict[str, CodeType]:
        """The code of each faulty function."""
        return {name: self._code(name, edits) for name, edits in ((self.target, self.edits), *self.also)}

    def _code(self, name: str, edits: Edits) -> CodeType:
        function = resolve_name(name)
        text = definition(function)
        for old, new in edits:
            if text.count(old) != 1:
                raise LookupError(f"{self.name}: `{old}` is {text.count(old)} times in {name}")
            text = text.replace(old, new)
        made: dict[str, FunctionType] = {}
        text, file = "from __future__ import annotations\n" + text, f"<{self.name}: {name}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)  # a rule is lifted from there
        exec(compile(text, file, "exec", dont_inherit=True), dict(function.__globals__), made)
        return made[function.__name__].__code__


def definition(function: FunctionType) -> str:
    """The text of a function without its decorators."""
    text = textwrap.dedent(inspect.getsource(function))
    return "\n".join(text.splitlines()[ast.parse(text).body[0].lineno - 1 :]) + "\n"


TABLES = (faults_of_reverse.FAULTS, faults_of_proofs.FAULTS, faults_of_kinds.FAULTS)
MUTANTS: tuple[Mutant, ...] = tuple(Mutant(*fault) for table in TABLES for fault in table)


@cache
def programs(count: int) -> tuple[tuple[int, Program], ...]:
    """The programs of the first seeds, the short ones first: most faults need little to show."""
    drawn = [(seed, program_of(seed)) for seed in range(count)]
    return tuple(sorted(drawn, key=lambda pair: len(pair[1].source)))


def caught_at(mutant: Mutant, off: tuple[str, ...] | str = (), limit: int = LIMIT) -> int | None:
    """How many programs it took, of the `LIMIT` of the first seeds; None if `limit` of them do not do."""
    with mutant.planted():
        likely = sorted(programs(LIMIT), key=lambda pair: not mutant.is_likely(pair[1]))
        for count, (seed, program) in enumerate(likely[:limit], 1):
            if tried(program, seed, off, EVERY).status in BAD:
                return count
    return None


def main(names: list[str], off: tuple[str, ...] | str, limit: int) -> int:
    """Run the mutants and print where each was caught. Returns how many were not."""
    missed = 0
    chosen = [mutant for mutant in MUTANTS if not names or mutant.name in names]
    assert all(mutant.codes for mutant in chosen)  # an edit whose text is gone is told before the long run
    for mutant in chosen:
        at = caught_at(mutant, off, limit)
        missed += at is None
        print(f"{mutant.name:34} {'NOT CAUGHT' if at is None else f'program {at}':14} {mutant.pit}", flush=True)
    return missed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--off", default="", help='proofs switched off ("all"), or none')
    parser.add_argument("--limit", type=int, default=LIMIT, help="how many programs a mutant has to fool")
    options = parser.parse_args()
    sys.exit(1 if main(options.names, options.off, options.limit) else 0)
