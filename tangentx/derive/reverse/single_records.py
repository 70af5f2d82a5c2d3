"""Tapes that hold a single record, created and consumed in one block: replaced by names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from tangentx.derive.reverse.context import Reverse
from tangentx.ir.nodes import Append, Assign, Block, For, If, Loop, Pop, Statement, Var
from tangentx.ir.rewrite import map_blocks
from tangentx.ir.walk import blocks


def at_once(r: Reverse, block: Block, first: int) -> Block:
    """The block with a name in the place of each tape, from the `first` of those of the function on, that it appends
    to in one place and pops from in one, neither of them in a loop: what is popped is what was appended."""
    seen = Counter(_uses(block, 1))
    tapes = [tape for tape in r.tapes[first:] if (seen[tape, Append], seen[tape, Pop]) == (1, 1)]
    r.tapes[first:] = [tape for tape in r.tapes[first:] if tape not in tapes]
    return _named(block, {tape: _name(r, tape) for tape in tapes})


def _uses(block: Block, weight: int) -> Iterator[tuple[str, type]]:
    for s in block:
        found = _use(s)
        if found is not None:
            yield from [found] * weight
        for inner in blocks(s):
            yield from _uses(inner, 2 if isinstance(s, For | Loop) else weight)


def _use(s: Statement) -> tuple[str, type] | None:
    if isinstance(s, Append) and isinstance(s.base, Var):
        return s.base.name, Append
    if isinstance(s, Assign) and isinstance(s.value, Pop):
        return s.value.base.name, Pop
    return None


def _name(r: Reverse, tape: str) -> str:
    """``u_before`` for ``u_tape``."""
    stem = tape.rpartition("_tape")[0]
    return r.frame.names.fresh(f"{stem}_before") if stem else f"%{tape}"


def _named(block: Block, names: dict[str, str]) -> Block:
    out: list[Statement] = []
    for s in block:
        tape = _use(s)
        if tape is None or tape[0] not in names:
            out.append(map_blocks(s, lambda b: _named(b, names)) if isinstance(s, If | For | Loop) else s)
        elif isinstance(s, Append):
            out.append(Assign(names[tape[0]], s.value, s.span))
        else:
            assert isinstance(s, Assign)
            out.append(replace(s, value=Var(names[tape[0]])))
    return tuple(out)
