"""Short names for programs of the IR written by hand."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any
from unittest import mock

from tangentx.backend.module_text import load, write
from tangentx.common.generated_text import Text
from tangentx.errors import Span
from tangentx.ir import markers
from tangentx.ir import nodes as ir

SPAN = Span("flight.py", 1)


def atom(value: Any) -> ir.Atom:
    return ir.Var(value[1:]) if isinstance(value, str) and value.startswith("$") else ir.Lit(value)


def op(fn: Callable[..., Any], *args: Any) -> ir.Op:
    return ir.Op(fn, tuple(atom(a) for a in args))


def add(x: Any, y: Any) -> ir.Op:
    return op(operator.add, x, y)


def index(base: str, *parts: Any) -> ir.Index:
    return ir.Index(atom(base), key(*parts))


def key(*parts: Any) -> ir.Key:
    return ir.Key(tuple(p if isinstance(p, ir.Slice) else atom(p) for p in parts), len(parts) != 1)


def let(target: str, value: Any) -> ir.Assign:
    made = value if not isinstance(value, str | int | float | complex | None) else atom(value)
    return ir.Assign(target, made, SPAN)


def store(base: str, where: ir.Key, value: Any) -> ir.Store:
    return ir.Store(atom(base), where, atom(value), SPAN)


def give(value: Any) -> ir.Return:
    return ir.Return(atom(value), SPAN)


def note(text: str) -> ir.Note:
    return ir.Note(text, SPAN)


def function(name: str, params: str, *body: ir.Statement, doc: str = "") -> ir.Function:
    return ir.Function(name, tuple(ir.Param(p) for p in params.split()), body, SPAN, doc=doc)


def run(text: Text, *args: Any) -> Any:
    """What the first function gives; the questions that the analysis answers are not asked."""
    asking = {mark.__name__: lambda *_: None for mark in markers.ASKING}
    with mock.patch.multiple(markers, **asking):
        return load(text, "<tangentx test>")[text.functions[0]](*args)


def body(*functions: ir.Function) -> str:
    """The text of the first function without its first line."""
    return write(functions).source.partition("def ")[2].partition("\n")[2].partition("\n\n\ndef")[0].rstrip("\n")
