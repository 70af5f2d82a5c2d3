"""Takes away comments under which nothing is left."""

from __future__ import annotations

from dataclasses import replace

from tangentx.ir.nodes import Block, For, If, Loop, Note, Return, Statement


def tidy(block: Block) -> Block:
    """The block without comments that stand before another comment, the return or its end, or twice.

    Sections stay. The text of a user's line begins with its number, so it never looks like one.
    """
    out: list[Statement] = []
    for s in reversed(block):
        match s:
            case If():
                s = replace(s, body=tidy(s.body), orelse=tidy(s.orelse))
            case For() | Loop():
                s = replace(s, body=tidy(s.body))
            case Note() if not s.text.startswith("--") and (not out or isinstance(out[-1], Note | Return)):
                continue
        out.append(s)
    return _once(tuple(reversed(out)))


def _once(block: Block) -> Block:
    """A comment that repeats the last one of its block is left out."""
    out: list[Statement] = []
    last = ""
    for s in block:
        if isinstance(s, Note):
            if s.text == last:
                continue
            last = s.text
        elif isinstance(s, If | For | Loop):
            last = ""
        out.append(s)
    return tuple(out)
