"""Drawn programs of which steps are run again in the reverse sweep: checkpointed loops, calls and helpers."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections import Counter

    from .grammar import Program

LOOP = re.compile(r"( *for \w+ in )(range\(.*\)):")
STATEMENT = re.compile(r"( +(?:\w+ = )?)(\w+)\((.*)\)")
SNAPSHOTS = ("", "", ", snapshots=1", ", snapshots=2")


def with_checkpoints(program: Program) -> Program:
    """The program with some loops and calls checkpointed, for one in six. Drawn by the text, as `with_sum` does."""
    rng = Random(program.source)
    if rng.randrange(6):
        return program
    lines, tags = program.source.splitlines(), program.tags.copy()
    plain = _plainly_called(program.source)
    for k, line in enumerate(lines):
        lines[k] = _checkpointed(rng, line, lines[k + 1 :], plain, tags)
    if lines == program.source.splitlines():
        return program
    return replace(program, source="\n".join(["import tangentx as tx", *lines]) + "\n", tags=tags)


def _checkpointed(rng: Random, line: str, rest: list[str], plain: set[str], tags: Counter[str]) -> str:
    loop, call = LOOP.fullmatch(line), STATEMENT.fullmatch(line)
    if loop and not _returns(line, rest) and rng.randrange(3):
        tags["checkpointed loop"] += 1
        return f"{loop[1]}tx.checkpointed({loop[2]}{rng.choice(SNAPSHOTS)}):"
    if call and call[2] in plain and rng.randrange(3):
        tags["checkpointed call"] += 1
        return f"{call[1]}tx.checkpoint({call[2]}, {call[3]})"
    if line.startswith("def ") and line[4:].split("(")[0] in plain and not rng.randrange(3):
        tags["checkpointed helper"] += 1
        return f"@tx.checkpoint\n{line}"
    return line


def _returns(head: str, rest: list[str]) -> bool:
    """Whether something in the loop with this head leaves the function."""
    depth = len(head) - len(head.lstrip())
    for line in rest:
        if len(line) - len(line.lstrip()) <= depth:
            return False
        if line.lstrip().startswith("return"):
            return True
    return False


def _plainly_called(source: str) -> set[str]:
    """The module's functions that are not recursive, and all calls of which give arguments by position alone."""
    tree = ast.parse(source)
    known = {s.name: s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name != "f"}
    odd = {name for name, fn in known.items() if any(_names(call) == name for call in _calls(fn))}
    starred = [c for c in _calls(tree) if c.keywords or not c.args or any(isinstance(a, ast.Starred) for a in c.args)]
    return set(known) - odd - {_names(call) for call in starred}


def _calls(tree: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def _names(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""
