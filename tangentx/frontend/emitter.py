"""Emits statements while a function is lifted: the open block, temporaries, local names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any

import gast

from tangentx.common.naming import Names
from tangentx.common.source import Found
from tangentx.errors import NotResolved, Span, UnsupportedSyntax
from tangentx.frontend import definite_assignment, resolve
from tangentx.ir import markers
from tangentx.ir import nodes as ir

LONGEST = 60
"""As many branches of a chain are written one in another. Python reads no text of more than 99 levels."""


@dataclass
class Link:
    """One branch of a chain: what is done before its test, the test, what is done where it holds."""

    before: Sequence[ir.Statement]
    test: ir.Atom
    body: Sequence[ir.Statement]
    span: Span


class Emitter:
    """The state of lifting one function; the classes that extend it know the constructs of Python.

    Temporaries are named "%1", "%2" ...: no name of the user's looks so.
    """

    def __init__(self, function: FunctionType, found: Found, tree: Any, outer: Emitter | None = None) -> None:
        self.found = found
        self.tree = tree
        self.scope = resolve.scope(tree)
        self.asked: set[int] = set()  # expressions of which only the truth counts
        self.resolver: resolve.Resolver = resolve.Resolver(function) if outer is None else outer.resolver
        self.unbound = definite_assignment.reads(
            tree, self.scope.names
        )  # nodes that read a name which may have no value there
        self.late: dict[str, None] = {}  # the names of which that is asked
        self.apart: list[bool] = []  # for each comprehension that is open whether Python runs it as a function
        self.renamed: list[dict[str, str]] = []  # variables of the comprehensions that are open, innermost last
        self.comprehended: set[str] = set()  # variables of all comprehensions so far
        self.captured: set[str] = set()  # those of them that functions hold
        self.unsettled: frozenset[str] = frozenset()  # names that the present statement may bind while it is evaluated
        # What imports before this place, in this block or one around it, have bound, and all names that they bind.
        self.imports: dict[str, ir.Ext] = {} if outer is None else dict(outer.imports)
        self.imported: frozenset[str] = self.scope.imports | (frozenset() if outer is None else outer.imported)
        self.around: tuple[ir.Manager, ...] = ()  # the with statements that are open
        self._flags: list[str] = []  # for each loop that is open the name that a break sets, or ""
        self._names = Names(self.scope.names)
        self._out: list[ir.Statement] = []
        self._temps = 0

    def span(self, node: Any) -> Span:
        """The place of `node` in the user's file."""
        span = self.found.span(node)
        return replace(span, around=self.around) if self.around else span

    def refuse(self, node: Any, message: str, hint: str) -> UnsupportedSyntax:
        """The error that `node` is not supported."""
        return UnsupportedSyntax(message, self.span(node), hint)

    def emit(self, stmt: ir.Statement) -> None:
        """Append `stmt` to the open block."""
        self._out.append(stmt)

    def chain(self, links: Sequence[Link], last: Sequence[ir.Statement]) -> None:
        """Emit a chain of branches, each in the ``else`` of the one before it, `last` in that of the last.

        A long chain is cut into pieces: what follows one is done where none of its tests held, which it tells.
        """
        cuts = list(range(0, len(links), LONGEST))
        flags = [self.temp() for _ in cuts[1:]]
        for flag in flags:
            self.emit(ir.Assign(flag, ir.Lit(False), links[0].span))
        for number, start in enumerate(cuts):
            piece = links[start : start + LONGEST]
            going_on = [ir.Assign(flag, ir.Lit(True), piece[-1].span) for flag in flags[number : number + 1]]
            orelse: Sequence[ir.Statement] = going_on or last
            for link in reversed(piece):
                orelse = (*link.before, ir.If(link.test, tuple(link.body), tuple(orelse), link.span))
            if number:
                orelse = (ir.If(ir.Var(flags[number - 1]), tuple(orelse), (), piece[0].span),)
            for stmt in orelse:
                self.emit(stmt)

    @contextmanager
    def block(self) -> Iterator[list[ir.Statement]]:
        """Collect what is emitted inside, instead of appending it to the open block."""
        outer, self._out = self._out, []
        imports, self.imports = self.imports, dict(self.imports)
        try:
            yield self._out
        finally:
            self._out, self.imports = outer, imports

    def temp(self) -> str:
        """A new temporary's name."""
        self._temps += 1
        return f"%{self._temps}"

    def fresh(self, stem: str) -> str:
        """A new name like `stem`, for what a reader of the generated text meets."""
        return self._names.fresh(stem)

    def hold(self, value: ir.Expr, node: Any) -> ir.Atom:
        """`value` as an atom: itself if it is one, else a new temporary that holds it."""
        return value if isinstance(value, ir.Atom) else self.copy(value, node)

    def copy(self, value: ir.Expr, node: Any) -> ir.Var:
        """A new temporary that holds `value`."""
        name = self.temp()
        self.emit(ir.Assign(name, value, self.span(node)))
        return ir.Var(name)

    def fixed(self, atom: ir.Atom, node: Any) -> ir.Atom:
        """`atom`, or a temporary instead of a user's variable: fit for the test of an `If`."""
        return self.copy(atom, node) if is_named(atom) else atom

    def local(self, name: str) -> str | None:
        """The variable that `name` means here, or None where it is not local."""
        for renamed in reversed(self.renamed):
            if name in renamed:
                return renamed[name]
        return name if name in self.scope.names or name.startswith("%") else None

    @contextmanager
    def within(self, node: Any) -> Iterator[None]:
        """While parts of `node` are looked at from outside: names that are bound in it are its own, whatever else has
        the same ones."""
        self.renamed.append({name: name for name in resolve.own(node)})
        try:
            yield
        finally:
            self.renamed.pop()

    def demand_bound(self, node: Any) -> None:
        """Where the name that `node` reads may have no value: emit the question, and what raises without one."""
        if id(node) not in self.unbound or any(node.id in renamed for renamed in self.renamed):
            return
        self.late[node.id] = None
        asked = (ir.Var(node.id), ir.Lit(node.id), ir.Lit(any(self.apart)))
        self.emit(ir.Assign(self.temp(), ir.Op(markers.bound, asked), self.span(node)))

    def openings(self) -> list[ir.Statement]:
        """What binds the names that may have no value to none, where the function begins."""
        span = self.found.span(self.tree)
        return [ir.Assign(name, ir.Op(markers.emptied, ()), span) for name in self.late]

    def foreign(self, node: Any) -> ir.Ext:
        """The object behind a name that is not local."""
        if node.id in self.imports:
            return self.imports[node.id]
        if node.id in self.imported:
            message = f"the name {node.id!r} is imported in another block, or further down"
            raise NotResolved(message, self.span(node), "import it at the top of the function, or of the module")
        return self.resolver.name(node.id, self.span(node))

    def outside(self, node: Any) -> ir.Ext | None:
        """The object that `node`, a name or an attribute of a module or class, means; None where it is another."""
        if isinstance(node, gast.Name):
            return self.foreign(node) if self.local(node.id) is None else None
        if isinstance(node, gast.Attribute):
            base = self.outside(node.value)
            if base is not None and resolve.folds(base):
                return self.resolver.attribute(base, node.attr, self.span(node))
        return None

    def calls(self, node: Any, what: Any) -> bool:
        """Whether `node` is a call, by position alone, of the very object `what`."""
        if not isinstance(node, gast.Call):
            return False
        fn = self.outside(node.func)
        return fn is not None and fn.value is what


def is_named(atom: ir.Atom) -> bool:
    """Whether `atom` is a variable of the user's, not a temporary."""
    return isinstance(atom, ir.Var) and not atom.name.startswith("%")
