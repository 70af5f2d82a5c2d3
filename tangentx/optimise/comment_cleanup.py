"""Takes away comments under which nothing is left, and those that are said twice."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from tangentx.ir.nodes import Assign, Block, For, If, Loop, Make, Note, Return, Statement, Var
from tangentx.ir.rewrite import map_blocks


def tidy(block: Block) -> Block:
    """The block without comments that stand before another comment, the return or its end, or twice.

    One with which both ways of a branch begin stands above it.

    Of sections one that another follows at once goes, the others stay. The text of a user's line begins with its
    number, so it never looks like one.
    """
    out: list[Statement] = []
    for s in reversed(block):
        if isinstance(s, Note) and (_is_empty(out) if _is_section(s) else _is_over(out)):
            continue
        out.append(map_blocks(s, tidy))
    return _once(_raised(tuple(reversed(out))) if len(block) > 1 else tuple(out))[0]  # what is alone may be an `elif`


def _raised(block: Block) -> Block:
    """The block with comments with which both ways of a branch begin above it, and above what it tests."""
    out: list[Statement] = []
    for s in block:
        out.append(s)
        if not (isinstance(s, If) and s.body and s.orelse):
            continue
        one, other = s.body[0], s.orelse[0]
        if isinstance(one, Note) and isinstance(other, Note) and one.text == other.text and not _is_section(one):
            out[-1] = replace(s, body=s.body[1:], orelse=s.orelse[1:])
            tested = out[-2] if len(out) > 1 else None
            out.insert(-2 if isinstance(tested, Assign) and Var(tested.target) == s.test else -1, one)
    return tuple(out)


def _is_section(s: Statement) -> bool:
    return isinstance(s, Note) and s.text.startswith("--")


def _is_empty(after: list[Statement]) -> bool:
    """Whether another section follows at once; `after` is what follows, backwards."""
    return bool(after) and _is_section(after[-1])


def _is_over(after: list[Statement]) -> bool:
    """Whether nothing is left for a comment to speak of; `after` is what follows it, backwards."""
    match after:
        case [] | [*_, Note() | Return()]:
            return True
        case [*_, Return(value=Var(name=given)), Assign(target=made, value=Make())]:
            return given == made
    return False


def _once(block: Block, last: str = "") -> tuple[Block, frozenset[str]]:
    """The block, in which a comment that repeats the last one of its block, or the one under which its branch stands,
    is left out; and the comments inside, or some two of them."""
    out: list[Statement] = []
    said: frozenset[str] = frozenset()
    for s in block:
        if isinstance(s, Note):
            if s.text == last:
                continue
            last = s.text
            said = _some(said, {last})
        elif isinstance(s, If | For | Loop):
            above = last if isinstance(s, If) else ""
            inside: frozenset[str] = frozenset()

            def inner(part: Block, above: str = above) -> Block:
                nonlocal inside
                part, told = _once(part, above)
                inside = _some(inside, told)
                return part

            s = map_blocks(s, inner)
            last = last if inside <= {last} else ""
            said = _some(said, inside)
        out.append(s)
    return tuple(out), said


def _some(said: frozenset[str], more: Set[str]) -> frozenset[str]:
    """Comments of both; of more than two it does not matter which."""
    return said if len(said) > 1 or more <= said else said | more
