"""The source map: which line of the user's program each line of generated text comes from.

A tree and what its text is parsed back to have the same nodes in the same order (the printer has compared them): so a
place in the text is found again by counting, and only where it is asked for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any

from tangentx.common.generated_text import Marks
from tangentx.common.syntax_trees import children
from tangentx.errors import Span


def mark(node: ast.AST, span: Span) -> None:
    """Notes what a statement or an expression was written for, unless that is known already."""
    if not hasattr(node, "span"):
        node.span = span  # type: ignore[attr-defined]


def marks_of(tree: ast.FunctionDef, whole: Span) -> Marks:
    """The marks of a tree by the numbers of its nodes, but for what belongs to the `whole` function."""
    spans = ((i, getattr(node, "span", whole)) for i, node in enumerate(_nodes(tree)))
    return tuple((i, span) for i, span in spans if span != whole)


def origin(source: str, marks: Mapping[str, Marks], frame: TracebackType) -> Span | None:
    """What the part of the text was written for that a frame of an exception stands at."""
    code = frame.tb_frame.f_code
    position = next((p for i, p in enumerate(code.co_positions()) if i == frame.tb_lasti // 2), (None,) * 4)
    function = next((f for f in ast.parse(source).body if getattr(f, "name", None) == code.co_name), None)
    if None in position or function is None:
        return None
    spans = dict(marks.get(code.co_name, ()))
    found: Span | None = None
    for i, node in enumerate(_nodes(function)):  # what is inside comes after what is around it
        if i in spans and _contains(node, position):
            found = spans[i]
    return found


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that text tells of, each before what is inside it."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if not _is_comment(node):
            yield node
            stack.extend(reversed(children(node)))


def _is_comment(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Name) and node.value.id.startswith("#")


def _contains(node: Any, position: Any) -> bool:
    line, end_line, column, end_column = position
    if not hasattr(node, "end_lineno"):
        return False
    start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    return bool(start <= (line, column) and (end_line, end_column) <= end)
