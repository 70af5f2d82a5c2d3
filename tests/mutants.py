"""Mutants of the compiler, each a fault that it can have, and how soon the oracle finds them.

``python -m tests.mutants [name ...]`` draws programs for all, or those named, until one finds the fault; the status is
1 if one is not caught. With ``--keep`` the program, made smaller, is kept as the mutant's file in `killers/`, where
there is none that still finds it: the test runs that one.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import linecache
import re
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from pkgutil import resolve_name
from types import CodeType, FunctionType

from tangentx.analysis.types import operation_cache
from tests import faults_of_kinds, faults_of_passes, faults_of_proofs, faults_of_reverse, faults_of_running
from tests.faults_of_reverse import Edits
from tests.oracle.grammar import Program
from tests.oracle.harness import check
from tests.oracle.keeping import read, written
from tests.oracle.reduction import reduce
from tests.oracle.survey import BAD, SHORT, program_of

LIMIT = 500
POOL = 3000  # programs of which the short ones are tried first
STAGES = ("grad", "jvp", "vjp")
EVERY = 10
TRIES = 40
ENOUGH = 8  # lines of a program that is not made smaller
SECOND = ("jvp_of_grad", "grad_of_grad")
REFUSING = ("tangentx.analysis.infer.sequences:unwritten", "tangentx.analysis.infer.sequences:blind")
KILLERS = Path(__file__).with_name("killers")


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

    @property
    def refuses(self) -> bool:
        """Whether what the fault leaves out is a refusal: without it the program is refused, not compiled."""
        return self.target in REFUSING

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
            operation_cache.forget()  # what operations give was found by code without the fault
            yield
        finally:
            operation_cache.forget()
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


TABLES = (faults_of_reverse, faults_of_proofs, faults_of_kinds, faults_of_passes, faults_of_running)
MUTANTS: tuple[Mutant, ...] = tuple(Mutant(*fault) for table in TABLES for fault in table.FAULTS)


@cache
def programs(count: int) -> tuple[tuple[int, Program], ...]:
    """The programs of the first seeds, the short ones first: most faults need little to show."""
    drawn = [(seed, program_of(seed)) for seed in range(count)]
    return tuple(sorted(drawn, key=lambda pair: len(pair[1].source)))


@dataclass(frozen=True)
class Find:
    """A program that finds a fault: how many were tried, the stage that fails of it."""

    count: int
    program: Program
    stage: str


def fails(program: Program, stage: str, off: tuple[str, ...] | str = ()) -> bool:
    """Whether this stage of the program is wrong or crashes."""
    return check(program, off=off, only=stage).status in BAD


def caught(mutant: Mutant, off: tuple[str, ...] | str = (), limit: int = LIMIT, pool: int = POOL) -> Find | None:
    """The first of the drawn programs that finds the fault; None if `limit` of those of `pool` seeds do not do.

    Each is tried to first order; every tenth, and the shortest, also to second.
    """
    with mutant.planted():
        likely = sorted(programs(pool), key=lambda pair: not mutant.is_likely(pair[1]))
        for count, (seed, program) in enumerate(likely[:limit], 1):
            short = program.source.count("\n") <= SHORT
            for stage in (*STAGES, *(SECOND if seed % EVERY == 0 or short else ())):
                if fails(program, stage, off):
                    return Find(count, program, stage)
    return None


# ---- what is kept ----
def killer(mutant: Mutant) -> Path:
    """The file of the program that finds the fault."""
    return KILLERS / f"{re.sub(r'[^a-z0-9]+', '_', mutant.name.lower())}.py"


def kill(mutant: Mutant) -> bool:
    """Whether the program that is kept for the mutant finds the fault, and nothing where there is none. What is refused
    with the fault and not without it has found it."""
    path = killer(mutant)
    if not path.exists():
        return False
    program, stage = read(path), path.read_text().partition("\n")[0].removeprefix("# ")
    plain = "refused" if mutant.refuses else "compiled"
    with mutant.planted():
        status = check(program, only=stage).status
    found = status in BAD or (status == "refused" and not mutant.refuses)
    return found and check(program, only=stage).status == plain


def keep(mutant: Mutant, find: Find) -> None:
    """Writes the program that found the fault, made smaller, as the mutant's file."""

    def found(program: Program) -> bool:
        with mutant.planted():
            return program.source.count("\n") > ENOUGH and fails(program, find.stage)

    small = reduce(find.program, found, TRIES)
    for program in (replace(small, points=small.points[:1]), small, find.program):
        KILLERS.mkdir(exist_ok=True)
        killer(mutant).write_text(f"# {find.stage}\n{written(program)}")
        if kill(mutant):
            return


def main(names: list[str], off: tuple[str, ...] | str, limit: int, keeps: bool) -> int:
    """Run the mutants and print where each was caught. Returns how many were not."""
    missed = 0
    chosen = [mutant for mutant in MUTANTS if not names or mutant.name in names]
    assert all(mutant.codes for mutant in chosen)  # an edit whose text is gone is told before the long run
    for mutant in chosen:
        if keeps and kill(mutant):
            continue
        find = caught(mutant, off, limit)
        missed += find is None
        at = "NOT CAUGHT" if find is None else f"program {find.count}"
        print(f"{mutant.name:44} {at:14} {mutant.pit}", flush=True)
        if keeps and find is not None:
            keep(mutant, find)
    return missed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--off", default="", help='proofs switched off ("all"), or none')
    parser.add_argument("--limit", type=int, default=LIMIT, help="how many programs a mutant has to fool")
    parser.add_argument("--keep", action="store_true", help="keep the programs, for those mutants that have none")
    options = parser.parse_args()
    sys.exit(1 if main(options.names, options.off, options.limit, options.keep) else 0)
