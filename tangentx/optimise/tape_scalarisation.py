"""Scalar replacement of tapes: a tape that holds one record becomes a name, so that ``tape = []``, append and pop
are ``t = a[i]`` and ``a[i] = t``.

Such a tape is made empty and appended to in the same block, so that there is a new one for each record, and popped from
at one place, which may be in the function that reverses its own: it gets there in tuples, and as an argument.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import BOTTOM, Box, Region
from tangentx.ir.markers import EMPTY
from tangentx.ir.nodes import Append, Assign, Block, Index, Pop, Statement, Var
from tangentx.ir.rewrite import map_blocks, rename
from tangentx.ir.walk import Positions, blocks
from tangentx.optimise import tuple_fields
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.unit import Unit


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Takes such tapes away; True if there were any."""
    if memory.is_opaque(units):
        return False
    blocks_read: dict[int, Positions] = {}
    found = {node: tape for node, tape in _tapes(program, units).items() if tape.has_one_record(blocks_read)}
    if not found:
        return False
    for unit in units:
        unit.body = _without(unit, unit.body, found)
        unit.body = rename(unit.body, _new_names(unit, found))
    tuple_fields.replace_kinds(units, {node: node.elt for node in found})
    return True


@dataclass(eq=False)
class _Tape:
    """What is done with the lists of a region: where one is made and appended to, and how often."""

    made: list[tuple[Assign, Block]] = field(default_factory=list)
    appended: list[tuple[Append, Block]] = field(default_factory=list)
    popped: int = 0
    other: bool = False

    def has_one_record(self, known: dict[int, Positions]) -> bool:
        """Whether each list is given one record before anything else is done with it, and is popped from alone.

        `known` has the positions of names in blocks that have been asked for, by the identity of the block.
        """
        if self.other or not (len(self.made) == len(self.appended) == self.popped == 1):
            return False
        (made, block), (append, there) = self.made[0], self.appended[0]
        if block is not there or append.base != Var(made.target) or append.value == append.base:
            return False
        positions = known.get(id(block)) or known.setdefault(id(block), Positions(block))
        first, last = positions.bound[made.target], positions.read[made.target][0]
        return block[last] is append and len(first) == 1 and first[0] < last


def _tapes(program: Program, units: Sequence[Unit]) -> dict[Region, _Tape]:
    """Every list that is made empty, by its region."""
    found: dict[Region, _Tape] = {}
    fixed = tuple_fields.Reads(program, units).fixed
    for unit in units:
        counts = unit.counts()[1]
        for s, block in _with_blocks(unit.body):
            if isinstance(s, Append) and (node := _list(program, unit, s.base)) is not None:
                found.setdefault(node, _Tape()).appended.append((s, block))
            elif isinstance(s, Assign) and s.value == EMPTY:
                node = memory.region(unit.kinds.get(s.target, BOTTOM))
                if node is not None:
                    tape = found.setdefault(node, _Tape(other=node in fixed))
                    tape.made.append((s, block))
                    tape.other = tape.other or counts[s.target] != 1
            elif isinstance(s, Assign) and isinstance(s.value, Pop | Index):
                node = _list(program, unit, s.value.base)
                if node is not None:
                    tape = found.setdefault(node, _Tape())
                    tape.popped += 1
                    tape.other = tape.other or isinstance(s.value, Index)
    return found


def _list(program: Program, unit: Unit, base: object) -> Region | None:
    """The region of a name that is bound to lists."""
    kind = unit.kind(program, base) if isinstance(base, Var) else None
    return kind.region.root() if isinstance(kind, Box) and kind.cls is list else None


def _with_blocks(block: Block) -> Iterator[tuple[Statement, Block]]:
    """Each statement with the block in which it stands."""
    todo = [block]
    while todo:
        inner = todo.pop()
        for s in inner:
            yield s, inner
            todo.extend(blocks(s))


def _without(unit: Unit, block: Block, found: dict[Region, _Tape]) -> Block:
    """The block with names bound where these tapes were appended to, and read where they were popped from."""
    out: list[Statement] = []
    for s in block:
        match s:
            case Assign(target=name) if s.value == EMPTY and _is_one(unit, name, found):
                continue
            case Append(base=Var(name=name)) if _is_one(unit, name, found):
                out.append(Assign(name, s.value, s.span))
            case Assign(value=Pop(base=Var(name=name) as base)) if _is_one(unit, name, found):
                out.append(Assign(s.target, base, s.span))
            case _:
                out.append(map_blocks(s, lambda inner: _without(unit, inner, found)))
    return tuple(out)


def _is_one(unit: Unit, name: str, found: dict[Region, _Tape]) -> bool:
    kind = unit.kinds.get(name)
    return isinstance(kind, Box) and kind.cls is list and kind.region.root() in found


def _new_names(unit: Unit, found: dict[Region, _Tape]) -> dict[str, str]:
    """Names for what is no tape any more: those of temporaries."""
    given = {p.name for p in unit.function.params}
    names = {name for name in unit.kinds if name not in given and not name.startswith("%")}
    renamed = {name: f"%{name}.record" for name in names if _is_one(unit, name, found)}
    unit.kinds.update({new: unit.kinds[old] for old, new in renamed.items()})
    return renamed
