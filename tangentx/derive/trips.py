"""Names that live within one trip of a loop: recorded when bound, restored where the reverse of the trip begins.

The general rule records a name before it is bound anew, so its first record is that of a name without value. A name
that is bound once, in the body of a loop without other exits, and read only after that in the same trip, needs no such
record: what each trip bound is all that the reverse of that trip asks for.
"""

from __future__ import annotations

from tangentx.ir.nodes import Assign, Block, Break, Call, Continue, For, If, Loop, Pop, Return, Statement
from tangentx.ir.walk import reads, statements, writes


def trip_locals(body: Block) -> frozenset[str]:
    """The names of a function's body for which this holds."""
    everywhere: dict[str, int] = {}
    bound: dict[str, int] = {}
    for s in statements(body):
        for name in reads(s):
            everywhere[name] = everywhere.get(name, 0) + 1
        for name in writes(s):
            bound[name] = bound.get(name, 0) + 1
    found: set[str] = set()
    for s in statements(body):
        if isinstance(s, For) and not _has_exits(s.body):
            found |= {name for name in _locals(s.body, everywhere) if bound[name] == 1}
    return frozenset(found)


def _has_exits(body: Block) -> bool:
    """Whether a trip may end before the end of the body. Exits of inner loops count too: that is cautious."""
    return any(isinstance(s, Break | Continue | Return) for s in statements(body))


def _locals(body: Block, everywhere: dict[str, int]) -> set[str]:
    """Names bound at the top of the body, all of whose reads come after that in it."""
    found: set[str] = set()
    later: dict[str, int] = {}
    for s in reversed(body):
        if isinstance(s, Assign) and _is_plain(s) and s.target not in reads(s):
            if later.get(s.target, 0) == everywhere.get(s.target, 0):
                found.add(s.target)
        for inner in _with_blocks(s):
            for name in reads(inner):
                later[name] = later.get(name, 0) + 1
    return found


def _is_plain(s: Assign) -> bool:
    """Whether the binding has no record of its own beside that of the name."""
    return not isinstance(s.value, Call | Pop)


def _with_blocks(s: Statement) -> list[Statement]:
    return [s, *(inner for inner in statements(_blocks(s)))]


def _blocks(s: Statement) -> Block:
    match s:
        case If():
            return (*s.body, *s.orelse)
        case For() | Loop():
            return s.body
    return ()
