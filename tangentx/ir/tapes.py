"""Recognises tapes: lists created empty, appended to in one place and popped in another."""

from __future__ import annotations

from collections.abc import Sequence

from tangentx.ir.nodes import Append, Assign, Make, Pop, Statement, Var

EMPTY = Make(list, ())


def is_tape(name: str, mentions: Sequence[Statement]) -> bool:
    """Whether the statements that have to do with a name, in the order of the text, make, fill and empty a tape."""
    match mentions:
        case [
            Assign(value=Make() as empty),
            Append(base=Var(name=longer), value=Var(name=record)),
            Assign(target=popped, value=Pop()),
        ]:
            return empty == EMPTY and longer == name and name not in (record, popped)
    return False
