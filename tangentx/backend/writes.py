"""Stores, deletions and exits, and the expressions evaluated for them."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from tangentx.backend import forms, operators
from tangentx.backend.expressions import Look, Writer
from tangentx.ir import walk
from tangentx.ir.keys import WHOLE
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Atom,
    Augment,
    Augstore,
    Delete,
    Ext,
    Lit,
    Raise,
    Return,
    Statement,
    Store,
    Var,
)

_STORE, _DEL = ast.Store(), ast.Del()
NOBODY: frozenset[str] = frozenset()
Written: TypeAlias = tuple[Sequence[Atom | None], Callable[[Look], ast.stmt], frozenset[str]]
"""Atoms in the order in which they are evaluated (None: memory is looked into), the statement, names that it binds."""


def written(writer: Writer, stmt: Statement) -> Written:
    """The parts of a statement that writes or leaves: one without blocks that is no `Assign` or `Note`."""
    match stmt:
        case Return(value):
            return [value], lambda look: ast.Return(look(value)), NOBODY
        case Raise(value, _, None):
            return [value], lambda look: ast.Raise(look(value), None), NOBODY
        case Raise(value, _, Var() | Lit() | Ext() as cause):
            return [value, cause], lambda look: ast.Raise(look(value), look(cause)), NOBODY
        case Append(base, value):
            return [base, value], lambda look: ast.Expr(forms.method(look(base), "append", look(value))), NOBODY
        case Delete(base, key):
            atoms = [base, *walk.key_atoms(key)]
            return atoms, lambda look: ast.Delete([writer.element(base, key, look, _DEL)]), NOBODY
        case Store(base, key, value):
            atoms = [value, base, *walk.key_atoms(key)]
            return atoms, lambda look: _store(writer, stmt, look), NOBODY
        case Augment(target, fn, value):
            return [value], lambda look: forms.augment(ast.Name(target, _STORE), fn, look(value)), frozenset((target,))
        case Augstore(base, key, fn, value):
            # Python looks at base[key] before it evaluates the value.
            found: list[Atom | None] = [base, *walk.key_atoms(key), None, value]
            return found, lambda look: forms.augment(writer.element(base, key, look, _STORE), fn, look(value)), NOBODY
        case Accumulate(base, key, value, repeats=True, by=by):
            found = [base, *walk.key_atoms(key), None, value]
            at = ast.Attribute(writer.scope.spelled(np.add if by is operator.add else by), "at", ast.Load())
            return found, lambda look: forms.add_at(at, writer.element(base, key, look, _STORE), look(value)), NOBODY
        case Accumulate(base, key, value):
            found = [base, *walk.key_atoms(key), None, value]
            return found, lambda look: forms.accumulate(writer.sum_in(base, key, look), look(value)), NOBODY
    raise AssertionError(f"{type(stmt).__name__} is written elsewhere")


def _store(writer: Writer, s: Store, look: Look) -> ast.stmt:
    """``base[key] = value``, or ``base += v`` for ``base[...] = base + v`` where the user wrote that."""
    value = look(s.value)
    if isinstance(s.base, Var) and s.key == WHOLE and not s.base.name.startswith("%") and isinstance(value, ast.BinOp):
        mark = operators.SIGNS.get(type(value.op))
        same = isinstance(value.left, ast.Name) and value.left.id == s.base.name
        if same and mark is not None and operators.is_augmented(s.span, mark, s.base.name):
            return ast.AugAssign(ast.Name(s.base.name, _STORE), value.op, value.right)
    return ast.Assign([writer.element(s.base, s.key, look, _STORE)], value)
