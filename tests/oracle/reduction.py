"""Smaller programs that fail in the same way: statements and operands are taken away while it lasts."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import replace

from .deadline import limited
from .grammar import Program
from .screen import Unfit, judge


def reduce(program: Program, fails: Callable[[Program], bool], tries: int = 600) -> Program:
    """A smaller fit program for which `fails` still holds, found by at most `tries` trials."""
    best = replace(program, source=ast.unparse(ast.parse(program.source)) + "\n")
    if not (usable(best) and fails(best)):
        return program
    smaller = True
    while smaller:
        smaller = False
        for source in candidates(best.source):
            tries -= 1
            if tries < 0:
                return best
            trial = replace(best, source=source)
            if len(source) < len(best.source) and usable(trial) and fails(trial):
                best, smaller = trial, True
                break
    return best


def usable(program: Program) -> bool:
    """Whether it is fit; a loop that lost its counter is not."""
    try:
        with limited(1):
            judge(program, program.points[0], 0)
    except (Unfit, TimeoutError):
        return False
    return True


def candidates(source: str) -> Iterator[str]:
    """Sources with one thing less, the large things first."""
    tree = ast.parse(source)
    spots = [(i, name) for i, node in enumerate(ast.walk(tree)) for name in ("body", "orelse") if listed(node, name)]
    for i, name in spots:
        count = len(getattr(list(ast.walk(tree))[i], name))
        for size in (size for size in (count // 2, count // 4) if size > 1):
            for k in range(0, count, size):
                yield from without(tree, i, name, slice(k, k + size), hoist=False)
        for k in range(count):
            for hoist in (False, True):
                yield from without(tree, i, name, slice(k, k + 1), hoist)
    for i, node in enumerate(ast.walk(tree)):
        for k in range(len(operands(node))):
            yield from narrowed(tree, i, k)


def listed(node: ast.AST, name: str) -> bool:
    return isinstance(getattr(node, name, None), list)


def without(tree: ast.Module, i: int, name: str, which: slice, hoist: bool) -> Iterator[str]:
    """The program with these statements of a block gone, or the first of them replaced by its own body."""
    trial = copy.deepcopy(tree)
    node = list(ast.walk(trial))[i]
    block = getattr(node, name)
    gone = block[which.start]
    inside = getattr(gone, "body", []) if hoist and not isinstance(gone, ast.FunctionDef) else []
    if hoist and not inside:
        return
    block[which] = inside
    if not block and name == "body" and not isinstance(node, ast.Module):
        block.append(ast.Pass())
    yield ast.unparse(ast.fix_missing_locations(trial)) + "\n"


def operands(node: ast.AST) -> list[ast.expr]:
    """Expressions that may stand in the place of a field's expression of `node`, which they are part of."""
    value = getattr(node, "value", None)
    if not isinstance(node, (ast.Assign, ast.AugAssign, ast.Return, ast.Expr)) or value is None:
        return []
    return [part for part in ast.walk(value) if isinstance(part, ast.expr) and part is not value]


def narrowed(tree: ast.Module, i: int, k: int) -> Iterator[str]:
    """The program with the right side of a statement replaced by one of its parts."""
    trial = copy.deepcopy(tree)
    node = list(ast.walk(trial))[i]
    node.value = operands(node)[k]  # type: ignore[attr-defined]
    yield ast.unparse(trial) + "\n"
