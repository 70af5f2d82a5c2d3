"""The generated text: loaded by itself, and its statements counted."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any


def load(text: str) -> Callable[..., Any]:
    """The gradient function of a generated text, which needs nothing of the compiler."""
    namespace: dict[str, Any] = {}
    exec(compile(text, "<generated>", "exec"), namespace)
    names = [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    function: Callable[..., Any] = namespace[names[0]]
    return function


def count_generated(text: str) -> int:
    """Statements of all functions of a text."""
    return sum(_count(node) for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))


def count_written(*functions: Callable[..., Any]) -> int:
    """Statements of functions written by hand."""
    sources = (ast.parse(textwrap.dedent(inspect.getsource(f))).body[0] for f in functions)
    return sum(map(_count, sources))


def _count(function: ast.AST) -> int:
    """Statements inside a function, docstrings not counted."""
    every = (node for node in ast.walk(function) if isinstance(node, ast.stmt) and node is not function)
    return sum(not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) for node in every)
