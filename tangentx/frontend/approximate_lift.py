"""Lifts a function approximately, for analysis only: ``try`` as branches, unsupported constructs approximated.

What such a function gives, and what it writes, is found by the analysis as of any other; it runs on Tensors.
"""

from __future__ import annotations

import time
from types import FunctionType
from typing import Any

from tangentx.frontend.approximate_forms import loosen
from tangentx.frontend.lift import lift_as
from tangentx.frontend.statements import Statements
from tangentx.ir import nodes as ir

_ANSWER = ir.Ext("perf_counter", time.perf_counter, ("object",), time.perf_counter)
"""A function whose answer nobody knows before it is asked."""


def loosely(function: FunctionType) -> ir.Function:
    """As `lift.lift`, of a function in which ``try`` may hold anything, and what `loosened` knows other words for."""
    return lift_as(function, Loosely, lambda tree: loosen(tree, function.__globals__))


class Loosely(Statements):
    """Lifts ``try`` as its body, or some of its body and one of the handlers."""

    def _Try(self, node: Any) -> bool:
        with self.block() as whole:
            through = self.body([*node.body, *node.orelse])
        with self.block() as handled:
            ended = self._handled(node, node.handlers)
        self.emit(ir.If(self._unknown(node), tuple(whole), tuple(handled), self.span(node)))
        return self.body(node.finalbody) or (through and ended)

    def _handled(self, node: Any, handlers: list[Any]) -> bool:
        """Some of the body, and one of the handlers; whether control never comes past it."""
        if not handlers:
            self.emit(ir.Raise(self._unknown(node), self.span(node)))
            return True
        test, partly = self._unknown(node), self._unknown(node)
        with self.block() as tried:
            self.body(node.body)
        with self.block() as caught:
            self.emit(ir.If(partly, tuple(tried), (), self.span(node)))
            if handlers[0].name is not None:
                self.bind(handlers[0].name, self._unknown(node), node)
            ended = self.body(handlers[0].body)
        with self.block() as others:
            rest = self._handled(node, handlers[1:])
        self.emit(ir.If(test, tuple(caught), tuple(others), self.span(node)))
        return ended and rest

    def _unknown(self, node: Any) -> ir.Var:
        return self.copy(ir.Apply(_ANSWER, ()), node)
