"""Blocks as Python statements, with branches that only bind a temporary as conditional expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from tangentx.backend import forms, operators, try_blocks
from tangentx.backend.expressions import Look, Writer, effect, order
from tangentx.backend.positions import mark
from tangentx.backend.printed_expressions import BARRIER, Effect, Piece, Waiting, measure, measure_line, width
from tangentx.backend.printer import WIDEST, WIDTH
from tangentx.backend.spelling import Scope
from tangentx.backend.statement_groups import Shaped, Unpack, Uses, prepared, temporary
from tangentx.backend.with_blocks import Inside, runs, statement
from tangentx.backend.writes import written
from tangentx.errors import Span
from tangentx.ir.markers import ASKING
from tangentx.ir.nodes import (
    Assign,
    Atom,
    Block,
    Break,
    Continue,
    Expr,
    For,
    If,
    Loop,
    Note,
    Op,
    Pop,
    Statement,
    Var,
)
from tangentx.ir.try_op import Attempt
from tangentx.ir.value_names import PARTIAL

_MARGIN = 24
"""What indentation, brackets and the end of the first of two lines may take of them."""


def bound_by_both(w: BlockWriter, body: list[ast.stmt], orelse: list[ast.stmt]) -> str | None:
    """The temporary that both branches bind, when they do nothing else and nothing else binds it."""
    match body, orelse:
        case [ast.Assign([ast.Name(one)]) as first], [ast.Assign([ast.Name(two)]) as second]:
            known = first in w.context.values and second in w.context.values
            if one == two and known and temporary(one) and w.context.uses.bound[one] == 2:
                return one
    return None


def conditional(w: BlockWriter, test: ast.expr, reads: frozenset[str], body: ast.stmt, orelse: ast.stmt) -> Piece:
    """The two values as one expression that chooses by the test."""
    yes, no = w.context.values[body], w.context.values[orelse]
    tree = _either(w, test, yes.tree, no.tree)
    # The test may hold a call: it is read here as one.
    impure = any(isinstance(node, ast.Call) for node in ast.walk(test))
    return Piece(tree, yes.effect | no.effect | Effect(reads, True, impure), measure(tree))


def _either(w: BlockWriter, test: ast.expr, yes: ast.expr, no: ast.expr) -> ast.expr:
    """``yes if test else no``; ``and`` or ``or`` where one of them is the test itself."""
    if not isinstance(test, ast.Name) or isinstance(yes, ast.Name) == isinstance(no, ast.Name):
        return ast.IfExp(test, yes, no)
    if isinstance(no, ast.Name) and no.id == test.id:
        return operators.joined(ast.And(), _last(w, test.id), yes)
    if isinstance(yes, ast.Name) and yes.id == test.id:
        return operators.joined(ast.Or(), _last(w, test.id), no)
    return ast.IfExp(test, yes, no)


def _last(w: BlockWriter, name: str) -> ast.expr:
    """What stands for `name`: its definition, where that is the last line and only the two readers here need
    it."""
    uses = w.context.uses
    match w.lines:
        case [*_, ast.Assign([ast.Name(bound)], value)] if bound == name and temporary(name):
            if uses.bound[name] == 1 and uses.read[name] == 2:
                w.lines.pop()
                return value
    return ast.Name(name, ast.Load())


_LOAD, _STORE, _DEL = ast.Load(), ast.Store(), ast.Del()
Tree = TypeVar("Tree", bound=ast.stmt)


class Context:
    """What the blocks of one function share; `values` remembers what each printed assignment evaluates."""

    def __init__(self, body: Block, scope: Scope, lengths: Mapping[str, int]) -> None:
        self.writer = Writer(scope)
        self.uses = Uses(body, lengths)
        self.shaped = prepared(body, self.uses)
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
        self.width = WIDTH

    def block(self, stmts: Sequence[Shaped]) -> list[ast.stmt]:
        """The statements of a block, in shape; none for an empty one."""
        for manager, group in runs(stmts, self.inside):
            if manager is not None:
                self._barrier()
                inner = BlockWriter(self.context, self.depth + 1, (*self.inside, manager))
                self.lines.append(statement(self.writer, manager, inner.block(group)))
                continue
            for stmt in group:
                self.width = min(max(WIDTH, len(stmt.span.text.rstrip())), WIDEST)  # as wide as the user's own line
                count = len(self.lines)
                self._unpack(stmt) if isinstance(stmt, Unpack) else self._statement(stmt)
                for line in self.lines[count:]:
                    mark(line, stmt.span)
        self._name(self.waiting.leave(BARRIER, frozenset(), True))
        return self.lines

    def _statement(self, stmt: Statement) -> None:
        match stmt:
            case Assign(target, Op(Attempt() as tried) as op):
                self._attempt([target], op, tried)
            case Assign(_, Op(question)) if question in ASKING:
                pass  # of open programs, which answer for themselves
            case Assign(target, value):
                self._assign(target, value, stmt.span)
            case Note(text):
                self._barrier()
                self.lines += forms.remark(text)
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
                self._write(*written(self.writer, stmt))

    def _write(
        self, atoms: Sequence[Atom | None], build: Callable[[Look], ast.stmt], binds: frozenset[str] = frozenset()
    ) -> None:
        self.lines.append(self._settle(atoms, BARRIER, build, binds)[0])

    def _attempt(self, targets: Sequence[str], op: Op, tried: Attempt) -> None:
        def apart(block: Block, results: Sequence[str]) -> list[ast.stmt]:
            context = Context(block, self.writer.scope, {})
            context.uses.read.update([*results, *results])
            return BlockWriter(context, self.depth + 1, self.inside).block(context.shaped[id(block)])

        self._barrier()
        self.lines += try_blocks.statements(self.writer, tried, op.args, targets, apart)

    def _assign(self, target: str, value: Expr, span: Span) -> None:
        uses, atoms, own = self.context.uses, order(value), effect(value)
        if temporary(target) and not uses.read[target]:
            self._write(atoms, lambda look: ast.Expr(self.writer.expression(value, look)))
            return

        def build(look: Look) -> ast.Assign:
            return ast.Assign([ast.Name(target, _STORE)], self.writer.expression(value, look))

        # A definition that will wait itself overtakes nobody: its place is settled with its reader's.
        waits = uses.single(target)
        tree, total, line = self._settle(atoms, own, build, frozenset([target]), barrier=False, waits=waits)
        if not isinstance(value, Atom):
            mark(tree.value, span)
        wide = measure(tree.value) if line is None else line - width(f"{target} = ")
        self._bind(target, tree, Piece(tree.value, total, wide))

    def _bind(self, target: str, tree: ast.Assign, piece: Piece) -> None:
        if self.context.uses.single(target):
            self.waiting.pieces[target] = piece
            self._name(self.waiting.overflow())
        else:
            self.context.values[tree] = piece
            self.lines.append(tree)

    def _unpack(self, stmt: Unpack) -> None:
        targets = [name or f"%_{place}" for place, name in enumerate(stmt.targets)]
        if isinstance(stmt.value, Op) and isinstance(stmt.value.fn, Attempt):
            return self._attempt(targets, stmt.value, stmt.value.fn)

        def build(look: Look) -> ast.Assign:
            names: list[ast.expr] = [ast.Name(name, _STORE) for name in targets]
            return ast.Assign([ast.Tuple(names, _STORE)], self.writer.expression(stmt.value, look))

        own = BARRIER if isinstance(stmt.value, Atom) else effect(stmt.value)  # items of what memory holds are read
        barrier = not isinstance(stmt.value, Pop)
        self.lines.append(self._settle(order(stmt.value), own, build, frozenset(targets), barrier=barrier)[0])

    def _if(self, stmt: If) -> None:
        def build(look: Look) -> ast.If:
            return ast.If(look(stmt.test), [ast.Pass()], [])

        tree, total, _ = self._settle([stmt.test], BARRIER, build)
        # An `elif` stands no deeper than its `if`.
        chain = bool(stmt.orelse) and isinstance(stmt.orelse[-1], If)
        body, orelse = self._inner(stmt.body), self._inner(stmt.orelse, 0 if chain else 1)
        if orelse and not body:
            tree.test, body, orelse = operators.negated(tree.test), orelse, []
        target = bound_by_both(self, body, orelse)
        if target is not None:
            count, last = len(self.lines), self.lines[-1:]
            made = conditional(self, tree.test, total.reads, body[0], orelse[0])
            if 4 * self.depth + made.width + 6 <= WIDTH:
                self.context.uses.bound[target] = 1
                self._bind(target, ast.Assign([ast.Name(target, _STORE)], made.tree), made)
                return
            self.lines += last[: count - len(self.lines)]  # what it took in is needed where it stood
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

        tree = self._settle([stmt.start, stmt.stop, stmt.step], BARRIER, build)[0]
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
    ) -> tuple[Tree, Effect, int | None]:
        """The statement with the waiting pieces nested that may be, after those that may wait no longer; what it does,
        and its width, where that was asked."""
        waiting = self.waiting
        chosen = waiting.choose(atoms)
        tree = build(self._look(chosen))
        line = measure_line(tree) if chosen else None
        while (
            chosen and line is not None and 4 * self.depth + line > (self.width if waits else self._room(tree, chosen))
        ):
            widest = max(sorted(chosen), key=lambda name: waiting.pieces[name].width)
            chosen = waiting.restrict(chosen, atoms, widest)
            tree = build(self._look(chosen))
            line = measure_line(tree) if chosen else None
        names = {atom.name for atom in atoms if isinstance(atom, Var)} - chosen
        total = own | Effect(frozenset(names))
        for name in sorted(chosen):
            total = total | waiting.pieces.pop(name).effect
        self._name(waiting.leave(Effect() if waits else total, binds, barrier, names))
        return tree, total, line

    def _room(self, tree: ast.stmt, chosen: set[str]) -> int:
        """How wide a statement may be: a line, and the first terms of a sum that it adds to, on almost two in all."""
        match tree:
            case ast.Assign(value=ast.BinOp(op=ast.Add() | ast.Sub())):
                first = sum(self.waiting.pieces[name].width for name in chosen if name.startswith(PARTIAL))
                return min(self.width + first, 2 * self.width - _MARGIN)
        return self.width

    def _look(self, chosen: set[str]) -> Look:
        def look(atom: Atom) -> ast.expr:
            if isinstance(atom, Var) and atom.name in chosen:
                return self.waiting.pieces[atom.name].tree
            return self.writer.atom(atom)

        return look

    def _name(self, pieces: list[tuple[str, Piece]]) -> None:
        for name, piece in pieces:
            tree = ast.Assign([ast.Name(name, _STORE)], piece.tree)
            self.context.values[tree] = piece
            self.lines.append(tree)

    def _barrier(self) -> None:
        self._name(self.waiting.leave(BARRIER, frozenset(), True))

    def _inner(self, block: Block, deeper: int = 1) -> list[ast.stmt]:
        return BlockWriter(self.context, self.depth + deeper, self.inside).block(self.context.shaped[id(block)])
