"""Prints the IR for people who debug the compiler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_never

from tangentx.ir import nodes as ir
from tangentx.ir import walk
from tangentx.ir.nodes import attribute_of


def show(function: ir.Function) -> str:
    """`function` as text, one statement a line, each with the line of the source it came from."""
    params = ", ".join(_param(param) for param in function.params)
    lines = [f"function {function.name}({params}):"]
    stack: list[tuple[int, ir.Statement | str]] = [(1, stmt) for stmt in reversed(function.body)]
    while stack:
        depth, item = stack.pop()
        if isinstance(item, str):
            lines.append("    " * depth + item)
            continue
        lines.append(f"{'    ' * depth + statement(item):<60}  # {item.span.line}")
        for number, block in reversed(tuple(enumerate(walk.blocks(item)))):
            stack.extend((depth + 1, stmt) for stmt in reversed(block))
            if number == 1 and block:
                stack.append((depth, "else:"))
            if number == 0 and not block:
                stack.append((depth + 1, "pass"))
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _again(loop: ir.For) -> str:
    return "" if loop.snapshots is None else f" checkpointed({atom(loop.snapshots)})"


def _param(param: ir.Param) -> str:
    star = {"args": "*", "kwargs": "**", "keyword": "(keyword) "}.get(param.kind, "")
    default = "" if param.default is None else f"={atom(param.default)}"
    return star + param.name + default


def atom(value: ir.Atom) -> str:
    """One atom as text; an outside object is written ``<path>``."""
    match value:
        case ir.Var():
            return value.name
        case ir.Lit():
            return repr(value.value)
        case ir.Ext():
            return f"<{'.'.join(value.path[1:])}>"
        case _:
            assert_never(value)


def key(value: ir.Key) -> str:
    """What stands in the brackets."""
    parts = [_part(part) for part in value.parts]
    if value.many:
        return "()" if not parts else ", ".join(parts) + ("," if len(parts) == 1 else "")
    return parts[0]


def _part(part: ir.Atom | ir.Slice) -> str:
    if not isinstance(part, ir.Slice):
        return atom(part)
    start, stop, step = ("" if bound == ir.Lit(None) else atom(bound) for bound in (part.start, part.stop, part.step))
    return f"{start}:{stop}" + (f":{step}" if step else "")


def place(base: ir.Atom, where: ir.Key) -> str:
    """What a key selects."""
    return f"{atom(base)}.{attribute_of(where)}" if where.attribute else f"{atom(base)}[{key(where)}]"


def expression(value: ir.Expr) -> str:
    """One expression as text."""
    match value:
        case ir.Var() | ir.Lit() | ir.Ext():
            return atom(value)
        case ir.Op():
            return f"{fn_name(value.fn)}({_arguments(value.args, value.kwargs)})"
        case ir.Apply():
            return f"apply {atom(value.fn)}({_arguments(value.args, value.kwargs, value.stars)})"
        case ir.Method():
            base = atom(value.base) if value.above is None else f"super({atom(value.above)}, {atom(value.base)})"
            return f"method {base}.{value.name}({_arguments(value.args, value.kwargs, value.stars)})"
        case ir.Call():
            return f"call {value.link.name}({_arguments(value.args, ())})"
        case ir.Index():
            return f"{atom(value.base)}[{key(value.key)}]"
        case ir.Attr():
            return f"{atom(value.base)}.{value.name}"
        case ir.Make():
            return _make(value)
        case ir.Pop():
            return f"{atom(value.base)}.pop()"
        case _:
            assert_never(value)


def _make(value: ir.Make) -> str:
    items = [atom(item) for item in value.items]
    if value.keys is not None:
        items = [f"{name!r}: {item}" for name, item in zip(value.keys, items, strict=False)]
    return f"make {value.cls.__name__}({', '.join(items)})"


def _arguments(args: tuple[ir.Atom, ...], kwargs: tuple[tuple[str, ir.Atom], ...], stars: tuple[int, ...] = ()) -> str:
    given = [f"*{atom(arg)}" if i in stars else atom(arg) for i, arg in enumerate(args)]
    named = [f"**{atom(arg)}" if name == "**" else f"{name}={atom(arg)}" for name, arg in kwargs]
    return ", ".join(given + named)


def fn_name(fn: Callable[..., Any]) -> str:
    """The name of a primitive, without its module."""
    return str(getattr(fn, "__name__", fn))


def statement(stmt: ir.Statement) -> str:
    """The head of one statement, without its blocks."""
    match stmt:
        case ir.Assign():
            return f"{stmt.target} = {expression(stmt.value)}"
        case ir.Augment():
            return f"{stmt.target} {fn_name(stmt.fn)}= {atom(stmt.value)}"
        case ir.Store():
            return f"{place(stmt.base, stmt.key)} = {atom(stmt.value)}"
        case ir.Augstore():
            return f"{place(stmt.base, stmt.key)} {fn_name(stmt.fn)}= {atom(stmt.value)}" + (
                f" from {atom(stmt.old)}" if stmt.old is not None else ""
            )
        case ir.Accumulate():
            return f"{place(stmt.base, stmt.key)} accumulate {atom(stmt.value)}"
        case ir.Append():
            return f"{atom(stmt.base)}.append({atom(stmt.value)})"
        case ir.Delete():
            return f"del {place(stmt.base, stmt.key)}"
        case ir.If():
            return f"if {atom(stmt.test)}:"
        case ir.For():
            bounds = f"range({atom(stmt.start)}, {atom(stmt.stop)}, {atom(stmt.step)})"
            over = f"reversed({bounds})" if stmt.backward else bounds
            return f"for {stmt.target} in {over}{_again(stmt)}:"
        case ir.Loop():
            return "loop:"
        case ir.Break() | ir.Continue():
            return type(stmt).__name__.lower()
        case ir.Return():
            return f"return {atom(stmt.value)}"
        case ir.Raise():
            return f"raise {atom(stmt.value)}" + ("" if stmt.cause is None else f" from {atom(stmt.cause)}")
        case ir.Note():
            return f"# {stmt.text}"
        case _:
            assert_never(stmt)
