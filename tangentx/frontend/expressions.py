"""Expressions in Python's order of evaluation, one temporary for each step.

A handler is a generator: it yields a sub-expression's node and is sent the atom that holds its value, and it returns
an expression of the language. `Expressions.expr` drives the handlers with a stack of its own, so the depth of the
user's expression does not matter.
"""

from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Callable, Generator
from types import ModuleType
from typing import Any, TypeAlias, TypeVar

import gast

from tangentx.frontend import resolve
from tangentx.frontend.emitter import Emitter, Link
from tangentx.ir import nodes as ir

Steps: TypeAlias = Generator[Any, ir.Atom, ir.Expr]

BINARY: dict[type, Callable[..., Any]] = {
    gast.Add: operator.add,
    gast.Sub: operator.sub,
    gast.Mult: operator.mul,
    gast.MatMult: operator.matmul,
    gast.Div: operator.truediv,
    gast.Mod: operator.mod,
    gast.Pow: operator.pow,
    gast.LShift: operator.lshift,
    gast.RShift: operator.rshift,
    gast.BitOr: operator.or_,
    gast.BitXor: operator.xor,
    gast.BitAnd: operator.and_,
    gast.FloorDiv: operator.floordiv,
}
UNARY: dict[type, Callable[..., Any]] = {
    gast.Invert: operator.invert,
    gast.Not: operator.not_,
    gast.UAdd: operator.pos,
    gast.USub: operator.neg,
}
COMPARISONS: dict[type, Callable[..., Any]] = {
    gast.Eq: operator.eq,
    gast.NotEq: operator.ne,
    gast.Lt: operator.lt,
    gast.LtE: operator.le,
    gast.Gt: operator.gt,
    gast.GtE: operator.ge,
    gast.Is: operator.is_,
    gast.IsNot: operator.is_not,
}
CONVERSIONS: dict[int, Callable[..., Any]] = {ord("r"): builtins.repr, ord("s"): builtins.str, ord("a"): builtins.ascii}


Lifter = TypeVar("Lifter")


def leaf(lift: Callable[[Lifter, Any], ir.Expr]) -> Callable[[Lifter, Any], Steps]:
    """The handler of an expression that yields no sub-expression."""

    @functools.wraps(lift)
    def steps(self: Lifter, node: Any) -> Steps:
        yield from ()
        return lift(self, node)

    return steps


def _asked(test: Any) -> list[Any]:
    """The operands in a test of and, or, of which only the truth counts and that may be anything."""
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        return _asked(test.operand)
    if not isinstance(test, gast.BoolOp):
        return []
    plain = (gast.Compare, gast.BoolOp, gast.UnaryOp, gast.Constant)
    return [node for value in test.values for node in ([] if isinstance(value, plain) else [value]) + _asked(value)]


class Expressions(Emitter):
    """Lifts expressions."""

    def expr(self, node: Any) -> ir.Expr:
        """The value of `node`; the steps that lead to it are emitted."""
        stack = [(node, self._steps(node))]
        sent: ir.Atom | None = None
        while True:
            top, steps = stack[-1]
            try:
                child = next(steps) if sent is None else steps.send(sent)
            except StopIteration as done:
                stack.pop()
                value: ir.Expr = done.value
                if not stack:
                    return value
                sent = self.hold(value, top)
            else:
                stack.append((child, self._steps(child)))
                sent = None

    def atom(self, node: Any) -> ir.Atom:
        """The value of `node` as an atom."""
        return self.hold(self.expr(node), node)

    def test(self, node: Any) -> ir.Atom:
        """The value of `node` as the test of an `If`."""
        self.asked.update(map(id, _asked(node)))
        return self.fixed(self.atom(node), node)

    def _steps(self, node: Any) -> Steps:
        steps: Steps = getattr(self, f"_{type(node).__name__}")(node)
        return steps

    @leaf
    def _Constant(self, node: Any) -> ir.Expr:
        return ir.Lit(node.value)

    @leaf
    def _Name(self, node: Any) -> ir.Expr:
        name = self.local(node.id)
        if name is None:
            return self.foreign(node)
        self.demand_bound(node)
        return self.copy(ir.Var(name), node) if name in self.unsettled else ir.Var(name)

    def _Attribute(self, node: Any) -> Steps:
        base = yield node.value
        if isinstance(base, ir.Ext) and resolve.folds(base):
            return self.resolver.attribute(base, node.attr, self.span(node))
        return ir.Attr(base, node.attr)

    def _BinOp(self, node: Any) -> Steps:
        left = yield node.left
        right = yield node.right
        return ir.Op(BINARY[type(node.op)], (left, right))

    def _UnaryOp(self, node: Any) -> Steps:
        operand = yield node.operand
        if isinstance(node.op, gast.USub) and isinstance(operand, ir.Lit):
            value = operand.value
            if isinstance(value, int | float | complex) and not isinstance(value, bool):
                return ir.Lit(-value)
        return ir.Op(UNARY[type(node.op)], (operand,))

    def _Compare(self, node: Any) -> Steps:
        """``a < b < c`` is ``a < b and b < c`` with b evaluated once."""
        left = yield node.left
        right = yield node.comparators[0]
        value = self._compared(node.ops[0], left, right, node)
        for op, comparator in zip(node.ops[1:], node.comparators[1:], strict=True):
            test, name, left = self.hold(value, node), self.temp(), right
            with self.block() as body:
                right = yield comparator
                self.emit(ir.Assign(name, self._compared(op, left, right, node), self.span(node)))
            self._choose(test, body, [ir.Assign(name, test, self.span(node))], node)
            value = ir.Var(name)
        return value

    def _compared(self, op: Any, left: ir.Atom, right: ir.Atom, node: Any) -> ir.Expr:
        if not isinstance(op, gast.In | gast.NotIn):
            return ir.Op(COMPARISONS[type(op)], (left, right))
        contains = ir.Op(operator.contains, (right, left))
        return contains if isinstance(op, gast.In) else ir.Op(operator.not_, (self.hold(contains, node),))

    def _choose(self, test: ir.Atom, body: list[ir.Statement], orelse: list[ir.Statement], node: Any) -> None:
        self.emit(ir.If(test, tuple(body), tuple(orelse), self.span(node)))

    def _BoolOp(self, node: Any) -> Steps:
        """``a and b and c`` is ``(a and b) and c``: each step keeps its left side or goes on."""
        value = self._truth(node.values[0], (yield node.values[0]))
        for operand in node.values[1:]:
            test, name = self.fixed(value, node), self.temp()
            with self.block() as more:
                right = self._truth(operand, (yield operand))
                self.emit(ir.Assign(name, right, self.span(operand)))
            keep: list[ir.Statement] = [ir.Assign(name, test, self.span(node))]
            if isinstance(node.op, gast.And):
                self._choose(test, more, keep, node)
            else:
                self._choose(test, keep, more, node)
            value = ir.Var(name)
        return value

    def _truth(self, operand: Any, value: Any) -> ir.Atom:
        """An operand of and, or: its truth alone where only that is asked, as of a list beside a comparison."""
        held = self.hold(value, operand)
        return self.copy(ir.Op(ir.truth, (held,)), operand) if id(operand) in self.asked else held

    def _IfExp(self, node: Any) -> Steps:
        """``a if p else b if q else c`` is a chain of branches that bind one name."""
        while isinstance(node, gast.IfExp) and (known := self.has_member(node.test)) is not None:
            node = node.body if known else node.orelse
        if not isinstance(node, gast.IfExp):
            return (yield node)
        links: list[Link] = []
        outer, imports = self._out, self.imports
        self._out = []
        name = ""
        while isinstance(node, gast.IfExp):
            self.asked.update(map(id, _asked(node.test)))
            test = self.fixed((yield node.test), node.test)
            name = name or self.temp()
            with self.block() as body:
                value = yield node.body
                self.emit(ir.Assign(name, value, self.span(node.body)))
            links.append(Link(self._out, test, body, self.span(node)))
            self._out, self.imports = [], dict(self.imports)
            node = node.orelse
        value = yield node
        self.emit(ir.Assign(name, value, self.span(node)))
        last, self._out, self.imports = self._out, outer, imports
        self.chain(links, last)
        return ir.Var(name)

    def has_member(self, test: Any) -> bool | None:
        """What ``hasattr(module, "name")`` says, or ``not hasattr(...)``; None for any other test. The branch that is
        for another version of a library cannot be read."""
        if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
            found = self.has_member(test.operand)
            return None if found is None else not found
        if not self.calls(test, builtins.hasattr) or test.keywords or len(test.args) != 2:
            return None
        base, name = self.outside(test.args[0]), test.args[1]
        if base is None or not isinstance(base.value, ModuleType) or not isinstance(name, gast.Constant):
            return None
        return isinstance(name.value, str) and hasattr(base.value, name.value)

    def _NamedExpr(self, node: Any) -> Steps:
        value = yield node.value
        name = self.local(node.target.id)
        assert name is not None
        self.emit(ir.Assign(name, value, self.span(node)))
        return value

    def _Subscript(self, node: Any) -> Steps:
        base = yield node.value
        key = yield from self._key(node.slice)
        return ir.Index(base, key)

    def key(self, node: Any) -> ir.Key:
        """What stands in the brackets of a subscript that is written."""
        steps = self._key(node)
        try:
            child = next(steps)
            while True:
                child = steps.send(self.atom(child))
        except StopIteration as done:
            key: ir.Key = done.value
            return key

    def _key(self, node: Any) -> Generator[Any, ir.Atom, ir.Key]:
        many = isinstance(node, gast.Tuple)
        parts: list[ir.Atom | ir.Slice] = []
        for part in node.elts if many else [node]:
            if isinstance(part, gast.Slice):
                bounds: list[ir.Atom] = []
                for bound in (part.lower, part.upper, part.step):
                    bounds.append(ir.Lit(None) if bound is None else (yield bound))
                parts.append(ir.Slice(*bounds))
            else:
                parts.append((yield part))
        return ir.Key(tuple(parts), many)
