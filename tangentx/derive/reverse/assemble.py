"""Assembles the reverse of a block: its statement groups, last first, with line comments."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from tangentx.derive.emit import Emitter
from tangentx.ir.nodes import Block, For, If, Lit, Loop, Note, Statement, Var

Group: TypeAlias = tuple[int, list[Statement]]
"""Statements of the reverse sweep, and the number of the last exit before what they reverse (0: none)."""


def guarded(groups: Iterable[Group], code: str) -> list[Statement]:
    """The groups in order, each only where the passage went beyond the exits before it; `code` names its own exit."""
    reverse: list[Statement] = []
    for guard, several in itertools.groupby((g for g in groups if g[1]), key=operator.itemgetter(0)):
        inner = [s for _, group in several for s in group]
        if guard:
            emit = Emitter(inner[0].span)
            passed = emit.op(operator.gt, Var(code), Lit(guard))
            inner = [*emit.block, If(passed, tuple(inner), (), inner[0].span)]
        reverse += inner
    return reverse


def headed(block: Block, groups: list[Group]) -> Iterator[Group]:
    """The groups, last first, with a comment above those of each line; a line was taken apart into several."""
    above = None
    for s, (guard, r) in zip(reversed(block), reversed(groups), strict=True):
        line = None if isinstance(s, If | For | Loop) else (s.span.file, s.span.line)
        if r and line is not None and line != above:
            r = [Note(f"line {s.span.line}: {s.span.text.strip()}", s.span), *r]
        above = line if r else above
        yield guard, r
