"""Upward-exposed reads, and names that are certainly bound at a point of control flow."""

from __future__ import annotations

from collections.abc import Set

from tangentx.ir.nodes import (
    UNBOUND,
    Assign,
    Block,
    Break,
    Continue,
    Expr,
    For,
    Function,
    If,
    Lit,
    Loop,
    Raise,
    Return,
    Statement,
    Var,
)
from tangentx.ir.walk import reads

Known = set[str] | None
"""The names that are bound for sure; None where control never comes."""


class _Walk:
    def __init__(self, target: For | None = None) -> None:
        self.shown: set[str] = set()
        self.target = target
        self.at_target: frozenset[str] = frozenset()
        self.empty: set[str] = set()

    def block(self, block: Block, before: Set[str]) -> Known:
        """What is known behind the block, in a set of its own."""
        known: Known = set(before)
        for s in block:
            if known is None:
                return None
            known = self._statement(s, known)
        return known

    def _statement(self, s: Statement, known: set[str]) -> Known:
        """What is known behind a statement; `known` may be changed."""
        self.shown |= reads(s) - known
        if s is self.target:
            self.at_target = frozenset(known)
        match s:
            case Assign(target=target, value=value):
                (known.discard if self._is_empty(target, value) else known.add)(target)
            case If():
                one, two = self.block(s.body, known), self.block(s.orelse, known)
                return one & two if one is not None and two is not None else two if one is None else one
            case For():
                self.block(s.body, known | {s.target})
            case Loop():
                self.block(s.body, known)
            case Break() | Continue() | Return() | Raise():
                return None
        return known

    def _is_empty(self, target: str, value: Expr) -> bool:
        """Whether the name is bound to what stands for no value."""
        of = isinstance(value, Lit) and value.value is UNBOUND
        if of or (isinstance(value, Var) and value.name in self.empty):
            self.empty.add(target)
        else:
            self.empty.discard(target)
        return target in self.empty


def exposed(block: Block) -> frozenset[str]:
    """The names that the block may read before it binds them."""
    walk = _Walk()
    walk.block(block, frozenset())
    return frozenset(walk.shown)


def bound_after(block: Block, before: frozenset[str]) -> frozenset[str]:
    """The names that have a value wherever control leaves the block at its end; those `before` have one."""
    return frozenset(_Walk().block(block, before) or ())


def assigned_before(function: Function, loop: For) -> frozenset[str]:
    """The names that have a value wherever control comes to the loop."""
    walk = _Walk(loop)
    walk.block(function.body, frozenset(p.name for p in function.params))
    return walk.at_target
