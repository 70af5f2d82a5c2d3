"""What a compiled derivative depends on: everything that the compiler read from the user's program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tangentx.analysis.infer.program import Program
from tangentx.analysis.memory import global_writes
from tangentx.analysis.types.kinds import Arr, Box
from tangentx.common.generated_text import Text
from tangentx.dispatch.guards import Guard, Reads
from tangentx.ir.nodes import Ext
from tangentx.ir.walk import exts


def guard_of(programs: Sequence[Program], text: Text) -> Guard:
    """The guard of what is compiled of the programs. Raises ChangedMeanwhile where it is out of date already."""
    reads = reads_of([each for program in programs for each in (program, *program.inside())])
    return Guard(replace(reads, members=(*reads.members, *text.reads)))


def reads_of(programs: Sequence[Program]) -> Reads:
    """What the programs have read, those of inner derivatives being programs of their own."""
    # the rules themselves do not change
    lifted = [(p, *each) for p in programs for each in p.lifted.values() if not _is_ours(each[0])]
    names = [(ext, program.keys.get(id(ext))) for program, _, _, function in lifted for ext in exts(function)]
    members = [found for program in programs for found in program.members.values()]
    data = [_data(program) for program in programs if global_writes.written(program)]
    functions = [(function, code) for _, function, code, _ in lifted]
    return Reads(tuple(functions), tuple(names), tuple(members), tuple(data))


def outside_data(program: Program) -> tuple[Ext, ...]:
    """The arrays and containers from outside that the program reads or writes, those of inner derivatives too."""
    return tuple(ext for each in (program, *program.inside()) for ext in _data(each))


def _data(program: Program) -> tuple[Ext, ...]:
    return tuple(ext for ext, kind in program.externals.values() if isinstance(kind, Arr | Box))


def _is_ours(function: object) -> bool:
    return str(getattr(function, "__module__", None)).startswith("tangentx.")
