"""Block-local names: live within one pass through a block, recorded when bound.

The general rule records a name before it is bound anew, so its first record is that of a name without value. A name
that is bound once, in a block inside a loop, and read only after that in the same passage of the block, needs no such
record: what each passage bound is all that the reverse of that passage asks for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tangentx.ir.nodes import Assign, Block, For, Loop
from tangentx.ir.walk import blocks, reads, statements, writes


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
