"""Tapes: records of block-local names, those with a single record, and names that are recomputed instead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tangentx.analysis.types.kinds import Arr
from tangentx.derive.emit import SHADOW, VALUE, Emitter
from tangentx.derive.reverse.context import Reverse
from tangentx.ir.nodes import Append, Assign, Block, Expr, For, If, Index, Loop, Op, Pop, Statement, Var
from tangentx.ir.rewrite import map_blocks
from tangentx.ir.walk import blocks, reads, statements, writes

# Tapes: records of block-local names, and names that the reverse sweep recomputes.


def keep(r: Reverse, s: Assign) -> tuple[list[Statement], list[Statement]]:
    """What records a name after it is bound; what restores it, or forms it again, where its block's reverse begins."""
    name = s.target
    forward, back = Emitter(s.span), Emitter(s.span)
    if name in r.again.first:
        form(r, back, [s])
    if name not in r.local:
        return [], back.block
    how = r.how(name)
    if name not in r.again.names:
        for each in [name, r.frame.other(name)] if how == SHADOW else [name]:
            tape = r.tape(each)
            forward.append(tape, Var(each))
            back.assign(each, Pop(Var(tape)))
    if how == VALUE and not (name in r.again.names and isinstance(r.frame.kinds[name], Arr)):
        back.assign(r.frame.other(name), r.frame.zero_value(Var(name), r.frame.kinds[name]))
    return forward.block, back.block


def form(r: Reverse, emit: Emitter, made: Sequence[Assign]) -> None:
    """Binds names, and what their shadows are views of, as the forward sweep did."""
    for s in made:
        of_place = r.again.stored.get(s.target)
        emit.assign(s.target, s.value if of_place is None else Op(of_place, (emit.let(s.value),)))
        kind = r.frame.kinds[s.target]
        if r.how(s.target) == VALUE and isinstance(kind, Arr):
            emit.assign(r.frame.other(s.target), r.frame.zero_value(Var(s.target), kind))
        if r.how(s.target) == SHADOW:
            emit.assign(r.frame.other(s.target), _shadow(r, s.value))


def _shadow(r: Reverse, value: Expr) -> Expr:
    """The shadow of a name or of an element that is formed again."""
    if isinstance(value, Var):
        return r.other(value)
    assert isinstance(value, Index)
    return Index(r.other(value.base), value.key)


def formed(r: Reverse) -> list[str]:
    """The names that are formed again, and their shadows."""
    names = sorted(r.again.names)
    return [*names, *(r.frame.other(n) for n in names if r.how(n) == SHADOW)]


def restored(r: Reverse, emit: Emitter, s: Statement) -> None:
    """Where all is as it was before `s`: forms what its reverse reads."""
    form(r, emit, r.again.at.get(id(s), ()))


# Block-local names: live within one pass through a block, recorded when bound.
#
# The general rule records a name before it is bound anew, so its first record is that of a name without value. A name
# that is bound once, in a block inside a loop, and read only after that in the same passage of the block, needs no
# such record: what each passage bound is all that the reverse of that passage asks for.


def block_locals(body: Block, params: Sequence[str] = ()) -> frozenset[str]:
    """The names of a function's body for which this holds."""
    bound = dict.fromkeys(params, 1)
    everywhere: dict[str, int] = {}
    for s in statements(body):
        for name in writes(s):
            bound[name] = bound.get(name, 0) + 1
        for name in reads(s):
            everywhere[name] = everywhere.get(name, 0) + 1
    return frozenset(name for block in _in_loops(body) for name in _lives(block, everywhere) if bound[name] == 1)


def _in_loops(body: Block) -> Iterator[Block]:
    """Every block that is, or stands in, the body of a loop."""
    stack = [(body, False)]
    while stack:
        block, inside = stack.pop()
        if inside:
            yield block
        for s in block:
            stack += [(inner, inside or isinstance(s, For | Loop)) for inner in blocks(s)]


def _lives(block: Block, everywhere: dict[str, int]) -> Iterator[str]:
    """Names bound by a statement of the block, all of whose reads come after that in it."""
    later: dict[str, int] = {}
    for s in reversed(block):
        if isinstance(s, Assign) and s.target not in reads(s):
            if later.get(s.target, 0) == everywhere.get(s.target, 0):
                yield s.target
        for inner in statements((s,)):
            for name in reads(inner):
                later[name] = later.get(name, 0) + 1


# Tapes that hold a single record, created and consumed in one block: replaced by names.


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
