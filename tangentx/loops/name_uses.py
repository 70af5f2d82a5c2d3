"""Use counts: which names a function reads, where and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tangentx import arrays
from tangentx.ir import nodes as ir
from tangentx.ir import walk


def reads(block: ir.Block) -> Counter[str]:
    """How often each name is read, by what does not only serve an exception or nothing."""
    live = [s for s in walk.statements(block) if not isinstance(s, ir.Raise)]
    while True:
        found = Counter(a.name for s in live for a in walk.statement_atoms(s) if isinstance(a, ir.Var))
        rest = [s for s in live if not (isinstance(s, ir.Assign) and not found[s.target] and may_go(s.value))]
        if len(rest) == len(live):
            return found
        live = rest


def reads_elsewhere(body: ir.Block, bound: set[str]) -> Iterator[str]:
    """Names that are read where they may hold what another trip gave them, or no value: not behind what binds them,
    in its block or inside of that."""
    known = set(bound)
    for s in body:
        yield from (a.name for a in walk.statement_atoms(s) if isinstance(a, ir.Var) and a.name not in known)
        inside = {s.target} if isinstance(s, ir.For) else set[str]()
        for block in walk.blocks(s):
            yield from reads_elsewhere(block, known | inside)
        if type(s) in walk.BINDING and not isinstance(s, ir.For):
            known.add(s.target)  # type: ignore[union-attr]


def asked_names(body: ir.Block) -> frozenset[str]:
    """Variables of which the program asks whether they have a value."""
    ops = [s.value for s in walk.statements(body) if isinstance(s, ir.Assign) and isinstance(s.value, ir.Op)]
    return frozenset(a.name for op in ops if op.fn is arrays.demand_bound for a in op.args if isinstance(a, ir.Var))


def may_go(value: ir.Expr) -> bool:
    return not isinstance(value, ir.Pop | ir.Call)
