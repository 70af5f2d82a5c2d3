"""Optional values: operations on operands that may be None."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tangentx.analysis.types.kinds import Arr, Box, Kind, Num, Obj
from tangentx.ir.nodes import Assign, Block, Key, Op, Slice, Var

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


def may_be_none(kind: Kind) -> bool:
    """Whether a value of the kind may also be None."""
    return isinstance(kind, Num | Arr | Box) and kind.none


def without_none(kinds: Iterable[Kind]) -> list[Kind]:
    """The kinds, none of which is None."""
    return [replace(kind, none=False) if isinstance(kind, Num | Arr) else kind for kind in kinds]


def with_and_without(kinds: Sequence[Kind]) -> Iterator[tuple[list[Kind], bool]]:
    """The kinds with a value, or None, in each place that may be None; and whether there is a None among them."""
    places = [(i, kind) for i, kind in enumerate(kinds) if isinstance(kind, Num | Arr) and kind.none]
    for absent in itertools.product((False, True), repeat=len(places)):
        given = list(kinds)
        for (i, kind), is_none in zip(places, absent, strict=True):
            given[i] = Obj(None) if is_none else replace(kind, none=False)
        yield given, any(absent)


def as_indices(w: Walker, key: Key, parts: tuple[Any, ...]) -> tuple[Block, Key]:
    """The key of an array, where None is an error and no new axis."""
    made: list[Assign] = []
    chosen = list(key.parts)
    for i, (part, kind) in enumerate(zip(key.parts, parts, strict=True)):
        if may_be_none(kind) and not isinstance(part, Slice):
            made.append(Assign(w.temporary(), Op(operator.index, (part,)), w.span))
            chosen[i] = Var(made[-1].target)
    return tuple(made), Key(tuple(chosen), key.many)
