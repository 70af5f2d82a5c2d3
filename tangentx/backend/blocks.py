"""Statements of the IR as Python statements."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from tangentx.backend import forms, operators
from tangentx.backend.around import Inside, runs, statement
from tangentx.backend.choices import bound_by_both, conditional
from tangentx.backend.expressions import Look, Writer, effect, order
from tangentx.backend.pieces import BARRIER, Effect, Piece, Waiting, measure
from tangentx.backend.shapes import Shaped, Unpack, Uses, prepared, temporary
from tangentx.backend.spelling import Scope
from tangentx.ir import walk
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Atom,
    Augment,
    Augstore,
    Block,
    Break,
    Continue,
    Delete,
    Expr,
    For,
    Function,
    If,
    Loop,
    Note,
    Raise,
    Return,
    Statement,
    Store,
    Var,
)

WIDTH = 100
_LOAD, _STORE, _DEL = ast.Load(), ast.Store(), ast.Del()
Tree = TypeVar("Tree", bound=ast.stmt)


class Context:
    """What the blocks of one function share; `values` remembers what each printed assignment evaluates."""

    def __init__(self, function: Function, scope: Scope) -> None:
        self.writer = Writer(scope)
        self.uses = Uses(function.body)
        self.shaped = prepared(function.body, self.uses)
        self.values: dict[ast.stmt, Piece] = {}


class BlockWriter:
    """Writes one block, at nesting `depth`, inside the given managers."""

    def __init__(self, context: Context, depth: int, inside: Inside = ()) -> None:
        self.inside = inside
        self.context = context
        self.writer = context.writer
        self.depth = depth
        self.waiting = Waiting()
        self.lines: list[ast.stmt] = []

    def block(self, stmts: Sequence[Shaped]) -> list[ast.stmt]:
        """The statements of a block, in shape; none for an empty one."""
        for manager, group in runs(stmts, self.inside):
            if manager is not None:
                self._barrier()
                inner = BlockWriter(self.context, self.depth + 1, (*self.inside, manager))
                self.lines.append(statement(self.writer, manager, inner.block(group)))
                continue
            for stmt in group:
                self._unpack(stmt) if isinstance(stmt, Unpack) else self._statement(stmt)
        self._name(self.waiting.leave(BARRIER, frozenset(), True))
        return self.lines

    def _statement(self, stmt: Statement) -> None:
        match stmt:
            case Assign(target, value):
                self._assign(target, value)
            case Note(text):
                lines = [f"# {line}".rstrip() for line in text.splitlines() or [""]]
                self._barrier()
                self.lines += [ast.Expr(ast.Name(line, _LOAD)) for line in lines]
            case Break() | Continue():
                self._barrier()
                self.lines.append(ast.Break() if isinstance(stmt, Break) else ast.Continue())
            case If():
                self._if(stmt)
            case For():
                self._for(stmt)
            case Loop(body):
                self._barrier()
                self.lines.append(forms.loop(self._inner(body)))
            case _:
                self._effect(stmt)

    def _effect(self, stmt: Statement) -> None:
        writer = self.writer
        match stmt:
            case Return(value):
                self._write([value], lambda look: ast.Return(look(value)))
            case Raise(value):
                self._write([value], lambda look: ast.Raise(look(value), None))
            case Append(base, value):
                self._write([base, value], lambda look: ast.Expr(forms.method(look(base), "append", look(value))))
            case Delete(base, key):
                atoms = [base, *walk.key_atoms(key)]
                self._write(atoms, lambda look: ast.Delete([writer.element(base, key, look, _DEL)]))
            case Store(base, key, value):
                atoms = [value, base, *walk.key_atoms(key)]
                self._write(atoms, lambda look: ast.Assign([writer.element(base, key, look, _STORE)], look(value)))
            case Augment(target, fn, value):
                self._write([value], lambda look: forms.augment(ast.Name(target, _STORE), fn, look(value)), {target})
            case Augstore(base, key, fn, value):
                # Python looks at base[key] before it evaluates the value.
                found: list[Atom | None] = [base, *walk.key_atoms(key), None, value]
                self._write(found, lambda look: forms.augment(writer.element(base, key, look, _STORE), fn, look(value)))
            case Accumulate(base, key, value, repeats=True):
                found = [base, *walk.key_atoms(key), None, value]
                at = ast.Attribute(writer.scope.spelled(np.add), "at", ast.Load())
                self._write(found, lambda look: forms.add_at(at, writer.element(base, key, look, _STORE), look(value)))
            case Accumulate(base, key, value):
                found = [base, *walk.key_atoms(key), None, value]
                self._write(found, lambda look: forms.accumulate(writer.sum_in(base, key, look), look(value)))

    def _write(
        self, atoms: Sequence[Atom | None], build: Callable[[Look], ast.stmt], binds: set[str] | None = None
    ) -> None:
        tree, _ = self._settle(atoms, BARRIER, build, frozenset(binds or ()))
        self.lines.append(tree)

    def _assign(self, target: str, value: Expr) -> None:
        uses, atoms, own = self.context.uses, order(value), effect(value)
        if temporary(target) and not uses.read[target]:
            self._write(atoms, lambda look: ast.Expr(self.writer.expression(value, look)))
            return

        def build(look: Look) -> ast.Assign:
            return ast.Assign([ast.Name(target, _STORE)], self.writer.expression(value, look))

        # A definition that will wait itself overtakes nobody: its place is settled with its reader's.
        waits = uses.single(target)
        tree, total = self._settle(atoms, own, build, frozenset([target]), barrier=False, waits=waits)
        self._bind(target, tree, Piece(tree.value, total, measure(tree.value)))

    def _bind(self, target: str, tree: ast.Assign, piece: Piece) -> None:
        if self.context.uses.single(target):
            self.waiting.pieces[target] = piece
            self._name(self.waiting.overflow())
        else:
            self.context.values[tree] = piece
            self.lines.append(tree)

    def _unpack(self, stmt: Unpack) -> None:
        targets = [name or f"%_{place}" for place, name in enumerate(stmt.targets)]

        def build(look: Look) -> ast.Assign:
            names: list[ast.expr] = [ast.Name(name, _STORE) for name in targets]
            return ast.Assign([ast.Tuple(names, _STORE)], self.writer.expression(stmt.value, look))

        own = BARRIER if isinstance(stmt.value, Atom) else effect(stmt.value)  # items of what memory holds are read
        tree, _ = self._settle(order(stmt.value), own, build, frozenset(targets))
        self.lines.append(tree)

    def _if(self, stmt: If) -> None:
        def build(look: Look) -> ast.If:
            return ast.If(look(stmt.test), [ast.Pass()], [])

        tree, total = self._settle([stmt.test], BARRIER, build)
        # An `elif` stands no deeper than its `if`.
        chain = bool(stmt.orelse) and isinstance(stmt.orelse[-1], If)
        body, orelse = self._inner(stmt.body), self._inner(stmt.orelse, 0 if chain else 1)
        if orelse and not body:
            tree.test, body, orelse = operators.negated(tree.test), orelse, []
        target = bound_by_both(self, body, orelse)
        if target is not None:
            made = conditional(self, tree.test, total.reads, body[0], orelse[0])
            if 4 * self.depth + made.width + 6 <= WIDTH:
                self.context.uses.bound[target] = 1
                self._bind(target, ast.Assign([ast.Name(target, _STORE)], made.tree), made)
                return
        tree.body, tree.orelse = forms.filled(body), orelse
        self.lines.append(tree)

    def _for(self, stmt: For) -> None:
        def build(look: Look) -> ast.For:
            bounds = [stmt.start, stmt.stop, stmt.step]
            if forms.is_number(stmt.step, 1):
                bounds = bounds[1:2] if forms.is_number(stmt.start, 0) else bounds[:2]
            iterable: ast.expr = ast.Call(self.writer.builtin("range"), [look(bound) for bound in bounds], [])
            if stmt.backward:
                iterable = ast.Call(self.writer.builtin("reversed"), [iterable], [])
            return ast.For(ast.Name(stmt.target, _STORE), iterable, [ast.Pass()], [])

        tree, _ = self._settle([stmt.start, stmt.stop, stmt.step], BARRIER, build)
        tree.body = forms.filled(self._inner(stmt.body))
        self.lines.append(tree)

    def _settle(
        self,
        atoms: Sequence[Atom | None],
        own: Effect,
        build: Callable[[Look], Tree],
        binds: frozenset[str] = frozenset(),
        barrier: bool = True,
        waits: bool = False,
    ) -> tuple[Tree, Effect]:
        """The statement with the waiting pieces nested that may be, after those that may wait no longer."""
        waiting = self.waiting
        chosen = waiting.choose(atoms)
        tree = build(self._look(chosen))
        while chosen and self._wide(tree):
            widest = max(sorted(chosen), key=lambda name: waiting.pieces[name].width)
            chosen = waiting.restrict(chosen, atoms, widest)
            tree = build(self._look(chosen))
        names = {atom.name for atom in atoms if isinstance(atom, Var)} - chosen
        total = own | Effect(frozenset(names))
        for name in sorted(chosen):
            total = total | waiting.pieces.pop(name).effect
        self._name(waiting.leave(Effect() if waits else total, binds, barrier, names))
        return tree, total

    def _look(self, chosen: set[str]) -> Look:
        def look(atom: Atom) -> ast.expr:
            if isinstance(atom, Var) and atom.name in chosen:
                return self.waiting.pieces[atom.name].tree
            return self.writer.atom(atom)

        return look

    def _wide(self, tree: ast.stmt) -> bool:
        return 4 * self.depth + len(ast.unparse(ast.fix_missing_locations(tree)).partition("\n")[0]) > WIDTH

    def _name(self, pieces: list[tuple[str, Piece]]) -> None:
        for name, piece in pieces:
            tree = ast.Assign([ast.Name(name, _STORE)], piece.tree)
            self.context.values[tree] = piece
            self.lines.append(tree)

    def _barrier(self) -> None:
        self._name(self.waiting.leave(BARRIER, frozenset(), True))

    def _inner(self, block: Block, deeper: int = 1) -> list[ast.stmt]:
        return BlockWriter(self.context, self.depth + deeper, self.inside).block(self.context.shaped[id(block)])
