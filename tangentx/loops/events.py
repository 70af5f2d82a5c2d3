"""Floating-point events: keeps computations whose value may go unused, but whose event NumPy would report.

NumPy warns of ``np.log(x)`` in ``np.where(x > 0, np.log(x), 0.0)`` wherever it stands. A compiler of C or Numba's puts
such a value where it is used, and computes it nowhere else. So what is not used on every way on is kept: a `Keep`
follows it, by which the compiler has to compute it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tangentx.loops.loop_ir import (
    Apply,
    Assign,
    Block,
    Break,
    Continue,
    Expr,
    For,
    Function,
    If,
    Keep,
    Loop,
    Reduce,
    Return,
    Scalar,
    Statement,
    blocks,
    statements,
)
from tangentx.loops.simplify import atoms, expressions, targets

_CONDITIONAL = {"select": (1, 2), "ratio_or_zero": (0,), "power_slope": (0,)}
"""Operands that a printer's text need not compute, by operation."""
_SILENT = frozenset("neg abs select convert maximum minimum sign floor ceil trunc rint".split())


def with_events(function: Function) -> Function:
    """The function, which computes all of which NumPy may warn."""
    return replace(function, body=_kept(function.body))


def _kept(block: Block) -> Block:
    """The block; `used` are names of which it is certain, at each statement, that what follows computes with them."""
    found: list[Statement] = []
    used: set[str] = set()
    for s in reversed(block):
        if any(isinstance(t, Break | Continue | Return) for inner in blocks(s) for t in statements(inner)):
            used.clear()
        if isinstance(s, Assign):
            if s.name not in used and isinstance(s.value.type, Scalar) and s.value.type.is_float and _may_warn(s.value):
                found.append(Keep(s.name))
                used.add(s.name)
            sure = set(_surely(s.value)) if s.name in used else set[str]()
            used.discard(s.name)
            used |= sure
        else:
            used.difference_update(targets(s))
            used |= {name for value in expressions(s) for name in _surely(value)}
        found.append(_inside(s))
    return tuple(reversed(found))


def _inside(s: Statement) -> Statement:
    if isinstance(s, If):
        return replace(s, body=_kept(s.body), orelse=_kept(s.orelse))
    return replace(s, body=_kept(s.body)) if isinstance(s, For | Loop) else s


def _surely(value: Expr) -> Iterator[str]:
    """The names that an expression reads whatever it gives."""
    if not isinstance(value, Apply):
        yield from atoms(value)
        return
    for place, arg in enumerate(value.args):
        if place not in _CONDITIONAL.get(value.op, ()):
            yield from _surely(arg)


def _may_warn(value: Expr) -> bool:
    """Whether a floating-point event may be met where a real number is computed."""
    if isinstance(value, Apply):
        return value.op not in _SILENT or any(map(_may_warn, value.args))
    return isinstance(value, Reduce)
