"""Walks a function with the kinds of its arguments and rewrites it in closed form.

One round walks every reached function once; rounds repeat until no kind, region or definition changes. The last walk
keeps what it writes: open forms are replaced, decided branches removed, and names that are bound to unrelated values
are told apart (a *web* is a set of definitions that reach a common use; each becomes one variable with one kind).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tangentx.analysis.infer import attribute_writes, calls, expressions
from tangentx.analysis.infer.arguments import Named
from tangentx.analysis.infer.augmented_assignments import augment, augstore
from tangentx.analysis.infer.context import Walker
from tangentx.analysis.infer.control_flow import break_, continue_, for_, if_, loop, never
from tangentx.analysis.infer.function_choices import as_chosen, choose
from tangentx.analysis.infer.program import DELETED
from tangentx.analysis.infer.unbound_names import empty
from tangentx.analysis.infer.web_renaming import close
from tangentx.analysis.infer.writes import accumulate, append, delete
from tangentx.analysis.types.kinds import BOTTOM, Bottom, Kind, Top, join, located
from tangentx.analysis.types.selection import is_missing
from tangentx.analysis.types.value_kinds import constant_kind
from tangentx.errors import NotResolved, TangentxError, is_library, is_ours
from tangentx.ir import markers
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Atom,
    Augment,
    Augstore,
    Block,
    Break,
    Call,
    Continue,
    Delete,
    Expr,
    For,
    Function,
    If,
    Index,
    Link,
    Lit,
    Loop,
    Note,
    Op,
    Raise,
    Return,
    Statement,
    Store,
    Var,
    deleted,
)
from tangentx.ir.observed_op import Observed


class FunctionWalker(Walker):
    """One walk of one instance."""

    def run(self) -> None:
        """Walks the body; on the final round leaves the closed function in the instance's link."""
        params = []
        self.env = {}
        for param, kind in zip(self.instance.source.params, self.instance.params, strict=True):
            params.append(self.bind(param.name, kind, ("param", param.name)))
        body = self.block(self.instance.source.body)
        if self.program.final:
            close(self.instance, params, body, self.program.round)

    def block(self, block: Block) -> Block:
        """Walks statements in order; those that cannot be reached are dropped."""
        saved, self.out = self.out, []
        self.inline(block)
        written, self.out = self.out, saved
        return tuple(written)

    def inline(self, block: Block) -> None:
        """Walks statements, adding to the block in hand."""
        outer = self.statement
        for statement in block:
            if self.env is None:
                break
            self.statement = statement
            if self.program.problems is None:
                _STATEMENTS[type(statement)](self, statement)
            else:
                self._noting(statement, self.program.problems)
        self.statement = outer

    def _noting(self, statement: Statement, problems: list[TangentxError]) -> None:
        """A statement whose refusal is noted, and what it binds has no kind: what follows is walked all the same.

        What is refused in a library's source is told by those who called it."""
        try:
            _STATEMENTS[type(statement)](self, statement)
        except TangentxError as error:
            if is_library(file := self.instance.source.span.file) or is_ours(file):
                raise
            problems.append(error)
            if isinstance(statement, Return | Raise):
                self.env = None
            elif isinstance(statement, Assign | Augment):
                self.bind(statement.target, BOTTOM)

    def read(self, atom: Atom) -> tuple[Atom, Kind]:
        """The atom in closed form and its kind here."""
        if isinstance(atom, Var):
            return self._read_name(atom)
        if isinstance(atom, Lit):
            return atom, constant_kind(self.program.valuer, atom.value)
        return atom, self.program.external(atom)

    def _read_name(self, atom: Var) -> tuple[Atom, Kind]:
        assert self.env is not None
        known = self.env.get(atom.name, ())
        if len(known) == 1 and (only := known[0]) is not None and only.lost is None and only.choice is None:
            if type(only.kind) is Top:
                raise located(only.kind, self.span)
            return only.read, only.kind
        definitions = [d for d in known if d is not None and d.choice is None]
        for definition in definitions:
            if definition.lost is not None:
                raise definition.lost(atom.name, self.span)
        if not definitions and not self.program.final:
            return atom, BOTTOM
        if not definitions:
            raise NotResolved(f"`{atom.name}` is read before it is bound", self.span, "bind it first")
        if choose(self, definitions):
            return atom, BOTTOM
        kind, web = definitions[0].kind, definitions[0].web()
        for definition in definitions[1:]:
            if definition.parent is not web:
                web.unite(definition)
            if definition.kind is not kind:
                kind = join(kind, definition.kind)
        if isinstance(kind, Top):
            raise located(kind, self.span)
        return definitions[0].read, kind

    def walk(self, expr: Expr) -> tuple[Expr, Kind]:
        """An expression in closed form, and its kind here."""
        return expressions.walk(self, expr)

    def call(self, source: Function, link: Link | None, args: tuple[Atom, ...]) -> tuple[Expr, Kind]:
        """A call of a function of the language, every argument by position."""
        return calls.call(self, source, link, args)

    def call_object(self, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
        """A call of a known object."""
        return calls.call_object(self, fn, args, kwargs)


def _assign(w: Walker, s: Assign) -> None:
    if type(s.value) is Op and s.value.fn is deleted:
        w.read(Var(s.target))
        assert w.env is not None
        w.env[s.target] = (DELETED,)
        return
    if type(s.value) is Op and s.value.fn is markers.emptied:
        empty(w, s)
        return
    known = w.instance.definitions.get((id(s), s.target))
    if known is not None and known.choice is not None:
        as_chosen(w, s, *known.choice)
        return
    expr, kind = w.walk(s.value)
    if w.env is None or (type(s.value) is Op and s.value.fn in markers.ASKING and type(expr) is Lit):
        return
    target = w.bind(s.target, kind)
    w.out.append(Assign(target, expr, s.span))
    raises = is_missing(w, s.value) if isinstance(s.value, Index) else isinstance(expr, Call) and w.program.final
    raises = raises or (isinstance(expr, Op) and isinstance(expr.fn, Observed))
    if raises and isinstance(kind, Bottom) and not (w.program.final and w.program.problems):
        never(w, Var(target))


def _return(w: Walker, s: Return) -> None:
    value, kind = w.read(s.value)
    joined = join(w.instance.result, kind)
    if isinstance(joined, Top):
        raise located(joined, s.span)
    if joined != w.instance.result:
        w.instance.result = joined
        w.program.world.changed = True
    w.env = None
    w.out.append(Return(value, s.span))


def _raise(w: Walker, s: Raise) -> None:
    value, cause = w.read(s.value)[0], None if s.cause is None else w.read(s.cause)[0]
    w.env = None
    w.out.append(Raise(value, s.span, cause))


_STATEMENTS: dict[type, Callable[[Walker, Any], None]] = {
    Assign: _assign,
    Augment: augment,
    Store: attribute_writes.store,
    Augstore: augstore,
    Accumulate: accumulate,
    Append: append,
    Delete: delete,
    If: if_,
    For: for_,
    Loop: loop,
    Break: break_,
    Continue: continue_,
    Return: _return,
    Raise: _raise,
    Note: lambda w, s: w.out.append(s),
}
