"""Control flow that both halves of a split function repeat."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from tangentx import arrays
from tangentx.analysis.types.kinds import Arr, Box, Kind, Num
from tangentx.ir.nodes import Assign, Atom, Block, Break, Continue, Expr, Op, Return, Var
from tangentx.ir.walk import statements, writes


@dataclass
class Passage:
    """A part of a block that both functions go through from its start to its end, or not at all.

    `place` is the number of the time, by which lists are read; None where a variable serves, for there is one time
    and the function ends behind it. `once`: there is one time at most. `counts`: `place` is a variable for it alone.
    """

    place: Atom | None
    once: bool = True
    counts: bool = False
    used: bool = False
    found: dict[str, Atom] = field(default_factory=dict)


def copied(atom: Atom, kind: Kind) -> Expr:
    """An atom, such that later writes are not seen."""
    if isinstance(kind, Arr):
        return Op(arrays.clone, (atom,))
    return Op(arrays.entry_copy, (atom,)) if isinstance(kind, Box) else atom


def name_of(atom: Atom) -> str:
    """The name of a variable, else none."""
    return atom.name if isinstance(atom, Var) else ""


def is_whole(kind: Kind) -> bool:
    """Whether a value is a whole number of Python."""
    return isinstance(kind, Num) and kind.type is int and not kind.none


COUNTING = frozenset((operator.add, operator.sub, operator.mul, operator.neg))


def stable(body: Block, params: Sequence[str]) -> frozenset[str]:
    """The names that are bound once, where the function starts or before anything may leave it."""
    times = Counter([*params, *(name for s in statements(body) for name in writes(s))])
    found = list(params)
    for s in body:
        found += writes(s) if isinstance(s, Assign) else ()
        if any(isinstance(each, Return | Break | Continue) for each in statements((s,))):
            break
    return frozenset(name for name in found if times[name] == 1)
