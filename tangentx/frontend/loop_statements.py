"""Loop statements: for and while with else, break and continue."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import gast

from tangentx.arrays.schedules import checkpointed
from tangentx.common.syntax_trees import children
from tangentx.frontend.calls import named
from tangentx.frontend.try_statements import Attempts
from tangentx.ir import nodes as ir
from tangentx.ir import walk
from tangentx.ir.check import own_break


class Cycles(Attempts):
    """Lifts the statements of loops."""

    def _For(self, node: Any) -> bool:
        if self.calls(node.iter, filter):
            node = self._filter(node)
        source = self.again(node.iter) or self.iterable(node.iter)
        flag = self._flag(node)
        self.loop(node.target, source, functools.partial(self._turn, node, flag), node)
        return self._else(node, flag)

    def again(self, node: Any) -> Any:
        """The loop over what ``tx.checkpointed`` is given, from a start in steps of one; None for other iterables."""
        if not self.calls(node, checkpointed):
            return None
        named_ = {keyword.arg: keyword.value for keyword in node.keywords}
        given = [*node.args, *named_.values()]
        if any(isinstance(arg, gast.Starred) for arg in given) or set(named_) - {"snapshots"} or len(given) > 2:
            hint = "write `for t in tx.checkpointed(range(n), snapshots=20):`"
            raise self.refuse(node, "`checkpointed` takes what is iterated, and the number of snapshots", hint)
        over = node.args[0]
        simple = self.calls(over, range) and len(over.args) < 3
        source: Any = self.iterable(over) if simple else self.items(over)
        return replace(source, snapshots=self.atom(given[1]) if given[1:] else ir.Lit(None))

    def _filter(self, node: Any) -> Any:
        """The loop over all items, with the test of the ``filter`` that `node` iterates over in it."""
        item = self.temp()
        test = self.kept(node.iter, item)
        target = gast.copy_location(gast.Assign([node.target], named(item, node), None), node)
        kept = gast.copy_location(gast.If(test, [target, *node.body], []), node)
        loop = gast.For(named(item, node, store=True), node.iter.args[1], [kept], node.orelse, None)
        return gast.copy_location(loop, node)

    def _While(self, node: Any) -> bool:
        span = self.span(node)
        flag = self._flag(node)
        with self.block() as body:
            if not (isinstance(node.test, gast.Constant) and node.test.value):
                self.emit(ir.If(self.test(node.test), (), (ir.Break(span),), self.span(node.test)))
            self._turn(node, flag)
        block = tuple(body)
        leaves = own_break(block)
        if (
            not leaves
            and not self.yields
            and not any(isinstance(stmt, ir.Return | ir.Raise) for stmt in walk.statements(block))
        ):
            raise self.refuse(node, "nothing leaves this loop", "give it a condition, or a break")
        self.emit(ir.Loop(block, span))
        return self._else(node, flag) or not leaves

    def _flag(self, node: Any) -> str:
        """For a loop with an else that a break passes by: the name that says whether it was left so, false first."""
        if not node.orelse or not _breaks(node.body):
            return ""
        flag = self.fresh("broken")
        self.emit(ir.Assign(flag, ir.Lit(False), self.span(node)))
        return flag

    def _turn(self, node: Any, flag: str) -> None:
        """Emit the body of a loop."""
        self._flags.append(flag)
        self.body(node.body)
        self._flags.pop()

    def _else(self, node: Any, flag: str) -> bool:
        """Emit the else of a loop; whether control never comes past it."""
        if not node.orelse:
            return False
        if not flag:
            return self.body(node.orelse)
        with self.block() as orelse:
            self.body(node.orelse)
        test = self.copy(ir.Var(flag), node)
        self.emit(ir.If(test, (), tuple(orelse), self.span(node.orelse[0])))
        return False

    def _Break(self, node: Any) -> bool:
        if self._flags[-1]:
            self.emit(ir.Assign(self._flags[-1], ir.Lit(True), self.span(node)))
        self.emit(ir.Break(self.span(node)))
        return True

    def _Continue(self, node: Any) -> bool:
        self.emit(ir.Continue(self.span(node)))
        return True


def _breaks(body: list[Any]) -> bool:
    """Whether a break in `body`, the body of a loop, leaves that very loop."""
    todo = list(body)
    while todo:
        node = todo.pop()
        if isinstance(node, gast.Break):
            return True
        if isinstance(node, gast.For | gast.While):
            todo.extend(node.orelse)
        elif not isinstance(node, gast.FunctionDef | gast.ClassDef):
            todo.extend(children(node))
    return False
