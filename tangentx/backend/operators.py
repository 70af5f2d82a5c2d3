"""Primitives as Python operators and calls, and their effects on memory."""

from __future__ import annotations

import ast
import builtins
import math
import operator
import re
from collections.abc import Callable
from types import MethodDescriptorType
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.errors import Span

Fn = Callable[..., Any]

_BINARY: dict[Fn, type[ast.operator]] = {
    operator.add: ast.Add,
    operator.sub: ast.Sub,
    operator.mul: ast.Mult,
    operator.truediv: ast.Div,
    operator.floordiv: ast.FloorDiv,
    operator.mod: ast.Mod,
    operator.pow: ast.Pow,
    operator.matmul: ast.MatMult,
    operator.and_: ast.BitAnd,
    operator.or_: ast.BitOr,
    operator.xor: ast.BitXor,
    operator.lshift: ast.LShift,
    operator.rshift: ast.RShift,
}
_IN_PLACE: dict[Fn, type[ast.operator]] = {
    getattr(operator, "i" + fn.__name__.rstrip("_")): symbol for fn, symbol in _BINARY.items()
}
_COMPARE: dict[Fn, type[ast.cmpop]] = {
    operator.lt: ast.Lt,
    operator.le: ast.LtE,
    operator.gt: ast.Gt,
    operator.ge: ast.GtE,
    operator.eq: ast.Eq,
    operator.ne: ast.NotEq,
    operator.is_: ast.Is,
    operator.is_not: ast.IsNot,
}
_UNARY: dict[Fn, type[ast.unaryop]] = {
    operator.neg: ast.USub,
    operator.pos: ast.UAdd,
    operator.invert: ast.Invert,
    operator.inv: ast.Invert,
    operator.not_: ast.Not,
}
_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_STRING = r"""'[^']*'|"[^"]*\""""
_SIMPLE = rf"(?:{_STRING}|[^;#])+"
_TARGET = r"([^\W\d]\w*)(?:\.\w+|\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\])*\s*$"
SIGNS = {ast.Add: "+=", ast.Sub: "-=", ast.Mult: "*=", ast.Div: "/="}

# What may be evaluated a little later than the program says: it writes nothing and draws on no hidden state.
_PURE_BUILTINS = frozenset(
    "abs bool bytes complex dict divmod enumerate float frozenset getattr hasattr int isinstance len list max min"
    " pow range reversed round slice sorted str sum tuple type zip".split()
)
_WRITERS = frozenset("copyto put place fill_diagonal put_along_axis putmask apply_along_axis vectorize".split())
_ARRAY_WRITERS = frozenset("fill sort partition put resize setflags setfield byteswap tofile dump".split())
_READERS = frozenset("index count get keys values items copy".split())
_SUPPORT_EFFECTS = frozenset(
    "add_at apart demand_bound demand_copied demand_own demand_same demand_unshared counted same_length seed_of_scalar"
    " as_seen generator_states set_generators".split()
)  # they write or refuse


def infix(fn: Fn, args: list[ast.expr]) -> ast.expr | None:
    """The operator expression for ``fn(*args)``, or None where Python has no operator for it."""
    if fn is operator.call:
        return None
    if len(args) == 1:
        return _negated(args[0]) if fn is operator.not_ else _unary(fn, args[0])
    if len(args) != 2:
        return None
    left, right = args
    if _get(_BINARY, fn) is not None:
        return ast.BinOp(left, _BINARY[fn](), right)
    if _get(_COMPARE, fn) is not None:
        return ast.Compare(left, [_COMPARE[fn]()], [right])
    if fn is operator.contains:
        return ast.Compare(right, [ast.In()], [left])
    if fn is operator.getitem:
        return ast.Subscript(left, right, ast.Load())
    return None


def _get(table: dict[Fn, Any], fn: Fn) -> Any:
    try:
        return table.get(fn)
    except TypeError:  # a callable object that cannot be hashed
        return None


def _unary(fn: Fn, arg: ast.expr) -> ast.expr | None:
    symbol = _get(_UNARY, fn)
    return None if symbol is None else ast.UnaryOp(symbol(), arg)


def _negated(test: ast.expr) -> ast.expr:
    """``not test``; ``in`` and ``is`` have an opposite of their own (``<`` has none: not a number)."""
    if isinstance(test, ast.Compare) and type(test.ops[0]) in _OPPOSITE:
        return ast.Compare(test.left, [_OPPOSITE[type(test.ops[0])]()], test.comparators)
    return ast.UnaryOp(ast.Not(), test)


def negated(test: ast.expr) -> ast.expr:
    """A test that holds where `test` does not; only its truth counts."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    return _negated(test)


def joined(op: ast.boolop, left: ast.expr, right: ast.expr) -> ast.expr:
    """``left and right``, ``left or right``; a chain of one operator needs no brackets."""
    if isinstance(left, ast.BoolOp) and type(left.op) is type(op):
        return ast.BoolOp(op, [*left.values, right])
    return ast.BoolOp(op, [left, right])


def augmented(fn: Fn) -> type[ast.operator] | None:
    """The operator of ``x fn= y``, or None."""
    found: type[ast.operator] | None = _get(_IN_PLACE, fn) or _get(_BINARY, fn)
    return found


def sign(fn: Fn) -> str | None:
    """How ``+=`` and its like are written, of the four that numbers use most."""
    symbol = _get(_BINARY, fn)
    return SIGNS.get(symbol) if symbol is not None else None


def is_augmented(span: Span, mark: str, name: str | None = None) -> bool:
    """Whether the statement of which `span` is a part has this mark, ``+=`` or the like, on its first line. With a
    name, behind what begins with the user's variable of it: what is derived from the statement has other names."""
    for found in re.finditer(_SIMPLE, span.text):
        if found.start() <= span.column < found.end():
            target, is_there, _ = re.sub(_STRING, "", found[0]).partition(mark)
            first = re.search(_TARGET, target) if is_there else None
            return first is not None and (name is None or re.fullmatch(rf"{first[1]}[_\d]*", name) is not None)
    return False


def swapped(fn: Fn) -> bool:
    """Whether the printed form evaluates the second argument first."""
    return fn is operator.contains


def method(fn: Fn) -> str | None:
    """The name of the method that `fn` is of built-in classes: ``np.ndarray.sum`` is "sum"."""
    return fn.__name__ if isinstance(fn, MethodDescriptorType) else None


def pure(fn: Fn) -> bool:
    """Whether a call of `fn` may be moved past reads, and past other pure calls. Unknown functions may not."""
    if isinstance(fn, MethodDescriptorType):
        owner = fn.__objclass__
        return fn.__name__ not in _ARRAY_WRITERS if owner in (np.ndarray, np.generic) else fn.__name__ in _READERS
    name = getattr(fn, "__name__", "")
    home = getattr(fn, "__module__", None)
    if isinstance(fn, np.ufunc) or home == "_operator":
        return not name.startswith(("i", "set", "del", "call")) or name in (
            "inv",
            "invert",
            "is_",
            "is_not",
            "index",
            "isnan",
        )
    if getattr(builtins, name, None) is fn:
        return name in _PURE_BUILTINS
    if getattr(math, name, None) is fn:
        return True
    if getattr(arrays, name, None) is fn:
        return name not in _SUPPORT_EFFECTS
    if getattr(np, name, None) is fn:
        return name not in _WRITERS
    return getattr(np.linalg, name, None) is fn
