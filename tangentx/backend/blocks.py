"""Blocks as Python statements: branches, stores, ``try`` and ``with``, assembled from printed parts."""

from __future__ import annotations

import ast
import itertools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias, TypeVar

import numpy as np

from tangentx.backend import operators
from tangentx.backend.expressions import (
    BARRIER,
    Effect,
    Look,
    Piece,
    Waiting,
    Writer,
    effect,
    measure,
    measure_line,
    order,
    width,
)
from tangentx.backend.positions import mark
from tangentx.backend.printer import WIDEST, WIDTH
from tangentx.backend.spelling import Scope
from tangentx.backend.statement_groups import Shaped, Unpack, Uses, prepared, temporary
from tangentx.errors import Span
from tangentx.ir import walk
from tangentx.ir.markers import ASKING
from tangentx.ir.nodes import (
    WHOLE,
    Accumulate,
    Append,
    Apply,
    Assign,
    Atom,
    Augment,
    Augstore,
    Block,
    Break,
    Continue,
    Delete,
    Expr,
    Ext,
    For,
    If,
    Lit,
    Loop,
    Make,
    Manager,
    Note,
    Op,
    Pop,
    Raise,
    Return,
    Statement,
    Store,
    Var,
)
from tangentx.ir.opaque_ops import Attempt
from tangentx.ir.rewrite import map_atoms, rename
from tangentx.ir.upward_exposed import bound_after
from tangentx.ir.value_names import PARTIAL
from tangentx.ir.walk import bound

# Python statements and tests assembled from printed parts.


def filled(body: list[ast.stmt]) -> list[ast.stmt]:
    """`body`, with a ``pass`` where it holds comments at most."""
    comments = all(isinstance(s, ast.Expr) and isinstance(s.value, ast.Name) and s.value.id[0] == "#" for s in body)
    return [*body, ast.Pass()] if comments else body


def remark(text: str) -> list[ast.stmt]:
    """`text` as comments: a name that begins with "#", standing alone, is one."""
    lines = [f"# {line}".rstrip() for line in text.splitlines() or [""]]
    return [ast.Expr(ast.Name(line, ast.Load())) for line in lines]


def loop(body: list[ast.stmt]) -> ast.While:
    """``while True``, or ``while test`` where the body begins by leaving the loop."""
    match body:
        case [ast.If(test, [ast.Break()], []), *rest]:
            return ast.While(operators.negated(test), filled(rest), [])
    return ast.While(ast.Constant(True), filled(body), [])


def is_number(atom: Atom, value: int) -> bool:
    """Whether `atom` is the integer `value`, written out."""
    return isinstance(atom, Lit) and type(atom.value) is int and atom.value == value


def method(base: ast.expr, name: str, arg: ast.expr) -> ast.Call:
    """``base.name(arg)``"""
    return ast.Call(ast.Attribute(base, name, ast.Load()), [arg], [])


def augment(target: ast.expr, fn: Callable[..., object], value: ast.expr) -> ast.stmt:
    """``target fn= value``"""
    symbol = operators.augmented(fn)
    if symbol is None:
        raise AssertionError(f"{fn} has no augmented assignment")
    assert isinstance(target, ast.Name | ast.Subscript | ast.Attribute)
    return ast.AugAssign(target, symbol(), value)


def accumulate(target: ast.expr, value: ast.expr) -> ast.stmt:
    """``target += value``; adding ``-x`` is exactly subtracting ``x``."""
    assert isinstance(target, ast.Subscript | ast.Name)
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        return ast.AugAssign(target, ast.Sub(), value.operand)
    return ast.AugAssign(target, ast.Add(), value)


def add_at(at: ast.expr, element: ast.expr, value: ast.expr) -> ast.stmt:
    """``np.add.at(base, key, value)`` for an element whose key may repeat."""
    assert isinstance(element, ast.Subscript)
    base = element.value
    return ast.Expr(ast.Call(at, [base, _as_value(element.slice), value], []))


def _as_value(key: ast.expr) -> ast.expr:
    """A key as an expression of its own: slices become calls of ``slice``."""
    if isinstance(key, ast.Tuple):
        return ast.Tuple([_as_value(part) for part in key.elts], ast.Load())
    if isinstance(key, ast.Slice):
        none = ast.Constant(None)
        bounds = [bound if bound is not None else none for bound in (key.lower, key.upper, key.step)]
        return ast.Call(ast.Name("slice", ast.Load()), bounds, [])
    return key


# ``try`` statements, printed as the user wrote them.

Write = Callable[[Block, Sequence[str]], list[ast.stmt]]
"""Writes a block, after which the given names are read."""


def statements(
    writer: Writer, tried: Attempt, args: Sequence[Atom], targets: Sequence[str], write: Write
) -> list[ast.stmt]:
    """A ``try`` statement that binds `targets`: its results, or one tuple of them. Names that it changes get the
    values that it is given first.
    """
    assert tried.given is not None
    names = dict(zip(tried.results, targets, strict=False))
    whole = None
    if len(targets) < len(tried.results):
        names = {name: f"{targets[0]}_{place}" for place, name in enumerate(tried.results)}
        items: list[ast.expr] = [ast.Name(names[name], ast.Load()) for name in tried.results]
        whole = ast.Assign([ast.Name(targets[0], ast.Store())], ast.Tuple(items, ast.Load()))
    given = dict(zip(tried.given, args, strict=True))
    inner = {name for block in tried.blocks() for name in bound(block)} | {h.name for h in tried.handlers if h.name}
    for name in sorted(inner - names.keys()):
        names[name] = f"%try{tried.span.line}_{tried.span.column}_{name.strip('%')}" if name.startswith("%") else name
    lines: list[ast.stmt] = [
        ast.Assign([ast.Name(names[name], ast.Store())], writer.atom(atom))
        for name, atom in given.items()
        if name in inner and atom != Var(names[name])
    ]
    if whole is not None:
        lines += _without_value(tried, names)

    def printed(block: Block) -> list[ast.stmt]:
        def known(atom: Atom) -> Atom:
            return given[atom.name] if isinstance(atom, Var) and atom.name in given.keys() - inner else atom

        return write(rename(map_atoms(block, known), names), [names[name] for name in tried.results])

    handlers = [
        ast.ExceptHandler(_classes(writer, h.classes), names[h.name] if h.name else None, filled(printed(h.block)))
        for h in tried.handlers
    ]
    body, orelse, final = printed(tried.body), printed(tried.orelse), printed(tried.final)
    # A ``finally`` in which nothing is done is no reason to try.
    done = [ast.Try(filled(body), handlers, orelse, final)] if handlers or final else [*body, *orelse]
    return [*lines, *done, *([] if whole is None else [whole])]


def _without_value(tried: Attempt, names: Mapping[str, str]) -> list[ast.stmt]:
    """What binds to None the results that are given no value before, and get none on some way through."""
    assert tried.given is not None
    unsure = [name for name in tried.results if name not in tried.given and not _is_bound(tried, name)]
    return [ast.Assign([ast.Name(names[name], ast.Store())], ast.Constant(None)) for name in unsure]


def _is_bound(tried: Attempt, name: str) -> bool:
    """Whether the statement binds the name on every way through it."""
    ways = [(*tried.body, *tried.orelse), *(h.block for h in tried.handlers)]
    return all(name in bound_after((*way, *tried.final), frozenset()) for way in ways)


def _classes(writer: Writer, classes: Sequence[Atom]) -> ast.expr | None:
    trees = [writer.atom(atom) for atom in classes]
    return ast.Tuple(trees, ast.Load()) if len(trees) > 1 else trees[0] if trees else None


# ``with`` statements, placed around the derived code of the user's blocks.

Inside = tuple[object, ...]


def runs(stmts: Sequence[Shaped], inside: Inside) -> Iterator[tuple[Manager | None, list[Shaped]]]:
    """Statements that follow each other under one manager beside those of `inside`, with that manager.

    Where no statement of them can warn there is no need of it: they come with None.
    """
    for _, group in itertools.groupby(stmts, lambda stmt: id(_next(stmt, inside))):
        found = list(group)
        manager = _next(found[0], inside)
        yield (None if all(map(_quiet, found)) else manager), found


def _next(stmt: Shaped, inside: Inside) -> Manager | None:
    """The outermost manager around the statement that is not yet open."""
    around = stmt.span.around
    heading = isinstance(stmt, Note) and stmt.text.startswith("----")
    if heading or len(around) <= len(inside) or any(a is not b for a, b in zip(around, inside, strict=False)):
        return None
    manager = around[len(inside)]
    assert isinstance(manager, Manager)
    return manager


def _quiet(stmt: Shaped) -> bool:
    """Whether the statement only moves values about."""
    match stmt:
        case Note() | Append() | Break() | Continue():
            return True
        case Assign(value=value):
            return _moves(value)
    return isinstance(stmt, Unpack) and _moves(stmt.value)


def _moves(value: Expr) -> bool:
    return isinstance(value, Var | Lit | Ext | Make | Pop)


def statement(writer: Writer, manager: Manager, body: list[ast.stmt]) -> ast.With:
    """``with manager:`` around `body`."""
    first: list[ast.stmt] = [ast.Expr(_call(writer, call)) for call in manager.first]
    match [*first, *body]:
        case [ast.With(items, inner)]:
            return ast.With([ast.withitem(_call(writer, manager.call), None), *items], inner)
    return ast.With([ast.withitem(_call(writer, manager.call), None)], [*first, *filled(body)])


def _call(writer: Writer, call: Apply) -> ast.expr:
    return writer.expression(call, writer.atom)


# Stores, deletions and exits, and the expressions evaluated for them.

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
            return [base, value], lambda look: ast.Expr(method(look(base), "append", look(value))), NOBODY
        case Delete(base, key):
            atoms = [base, *walk.key_atoms(key)]
            return atoms, lambda look: ast.Delete([writer.element(base, key, look, _DEL)]), NOBODY
        case Store(base, key, value):
            atoms = [value, base, *walk.key_atoms(key)]
            return atoms, lambda look: _store(writer, stmt, look), NOBODY
        case Augment(target, fn, value):
            return [value], lambda look: augment(ast.Name(target, _STORE), fn, look(value)), frozenset((target,))
        case Augstore(base, key, fn, value):
            # Python looks at base[key] before it evaluates the value.
            found: list[Atom | None] = [base, *walk.key_atoms(key), None, value]
            return found, lambda look: augment(writer.element(base, key, look, _STORE), fn, look(value)), NOBODY
        case Accumulate(base, key, value, repeats=True, by=by):
            found = [base, *walk.key_atoms(key), None, value]
            at = ast.Attribute(writer.scope.spelled(np.add if by is operator.add else by), "at", ast.Load())
            return found, lambda look: add_at(at, writer.element(base, key, look, _STORE), look(value)), NOBODY
        case Accumulate(base, key, value):
            found = [base, *walk.key_atoms(key), None, value]
            return found, lambda look: accumulate(writer.sum_in(base, key, look), look(value)), NOBODY
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


# Blocks as Python statements, with branches that only bind a temporary as conditional expressions.

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
                self.lines += remark(text)
            case Break() | Continue():
                self._barrier()
                self.lines.append(ast.Break() if isinstance(stmt, Break) else ast.Continue())
            case If():
                self._if(stmt)
            case For():
                self._for(stmt)
            case Loop(body):
                self._barrier()
                self.lines.append(loop(self._inner(body)))
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
        self.lines += statements(self.writer, tried, op.args, targets, apart)

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
        tree.body, tree.orelse = filled(body), orelse
        self.lines.append(tree)

    def _for(self, stmt: For) -> None:
        def build(look: Look) -> ast.For:
            bounds = [stmt.start, stmt.stop, stmt.step]
            if is_number(stmt.step, 1):
                bounds = bounds[1:2] if is_number(stmt.start, 0) else bounds[:2]
            iterable: ast.expr = ast.Call(self.writer.builtin("range"), [look(bound) for bound in bounds], [])
            if stmt.backward:
                iterable = ast.Call(self.writer.builtin("reversed"), [iterable], [])
            return ast.For(ast.Name(stmt.target, _STORE), iterable, [ast.Pass()], [])

        tree = self._settle([stmt.start, stmt.stop, stmt.step], BARRIER, build)[0]
        tree.body = filled(self._inner(stmt.body))
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
