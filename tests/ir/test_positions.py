"""The index of names against looking through the block."""

from __future__ import annotations

import pytest

from tangentx.errors import Span
from tangentx.ir.nodes import Assign, Block, Var
from tangentx.ir.walk import Positions, blocks, bound, names_of, statements, used
from tests.optimise.support import unit_of
from tests.programs import PROGRAMS
from tests.programs.case import Program

SOME = PROGRAMS[::12]
HERE = Span("here.py", 1)


def blocks_of(block: Block) -> list[Block]:
    return [block, *(inner for s in statements(block) for inner in blocks(s))]


@pytest.mark.parametrize("program", SOME, ids=lambda program: program.name)
def test_the_index_says_what_a_look_at_each_statement_says(program: Program) -> None:
    _, unit = unit_of(program.fn, *program.args())
    for block in blocks_of(unit.body):
        positions = Positions(block)
        reading = [set(used((s,))) for s in block]
        binding = [set(bound((s,))) for s in block]
        assert [tuple(map(set, names_of(s))) for s in block] == list(zip(reading, binding, strict=True))
        for name in set().union(*reading, *binding):
            for i in range(-1, len(block), 3):
                wanted = next((j for j in range(i + 1, len(block)) if name in reading[j]), None)
                assert positions.next_read(name, i) == wanted
                last = min(i + 5, len(block))
                between = any(name in names for names in binding[max(i + 1, 0) : last])
                assert positions.is_bound_between({name}, i, last) is between


def test_reads_move() -> None:
    block = [Assign(target, Var(name), HERE) for target, name in (("b", "a"), ("c", "b"), ("d", "a"))]
    positions = Positions(block)
    positions.move_reads({"a"}, 0, 1)
    assert positions.read["a"] == [1, 2]
    positions.move_reads({"a"}, 1, 2)
    assert positions.read["a"] == [2]
    assert positions.next_read("a", 2) is None
