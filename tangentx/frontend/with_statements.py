"""``with``: context managers that can be entered again wherever derived code runs.

They become part of the place of each statement of the block (`Span.around`), so both sweeps, and every derivative of
them, run under the manager under which the user's statement runs.
"""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

import gast
import numpy as np

from tangentx.frontend.match_statements import Patterns
from tangentx.ir import nodes as ir

# Each with the functions that may be called, of constants, where its block begins: they are part of entering it.
_AGAIN: dict[Any, tuple[Any, ...]] = {
    np.errstate: (np.seterr,),
    np.printoptions: (),
    warnings.catch_warnings: (warnings.simplefilter, warnings.filterwarnings),
}
_HINT = "put the with statement around the call of this function, or move it into one that is marked @tx.primitive"


class Managers(Patterns):
    """Lifts ``with``."""

    def _With(self, node: Any) -> bool:
        outer, body = self.around, node.body
        for item in node.items:
            if self.calls(item.context_expr, contextlib.nullcontext):
                self._nothing(item, node)
                continue
            manager, body = self._manager(item, body)
            self.around = (*self.around, manager)
        ends = self.body(body)
        self.around = outer
        return ends

    def _nothing(self, item: Any, node: Any) -> None:
        """``with nullcontext(value) as name``"""
        given = item.context_expr.args
        value = self.expr(given[0]) if given else ir.Lit(None)
        if item.optional_vars is not None:
            self.bind(item.optional_vars, value, node)

    def _manager(self, item: Any, body: list[Any]) -> tuple[ir.Manager, list[Any]]:
        """The manager of one item, and what is left of the block behind the calls that belong to it."""
        fn = self.outside(item.context_expr.func) if isinstance(item.context_expr, gast.Call) else None
        known = next((which for which in _AGAIN if fn is not None and fn.value is which), None)
        if known is None:
            what = f"the context manager `{fn.name}`" if fn is not None else "this context manager"
            why = "its block may end anywhere" if what.endswith(" `suppress`") else "it cannot be entered again"
            raise self.refuse(item.context_expr, f"{what} is not differentiated: {why}", _HINT)
        call = self._constant_call(item.context_expr)
        if call is None or item.optional_vars is not None:
            message = "a manager with a name, or with arguments that are no constants, is not differentiated"
            raise self.refuse(item.context_expr, message, "write its arguments as constants, and no `as`")
        first = []
        while body and isinstance(body[0], gast.Expr):
            inner = self._constant_call(body[0].value)
            if inner is None or not isinstance(inner.fn, ir.Ext) or inner.fn.value not in _AGAIN[known]:
                break
            first.append(inner)
            body = body[1:]
        return ir.Manager(call, tuple(first)), body

    def _constant_call(self, node: Any) -> ir.Apply | None:
        """The call `node` where its arguments are constants and objects from outside; None for all else."""
        fn = self.outside(node.func) if isinstance(node, gast.Call) else None
        if fn is None:
            return None
        args = [self._constant(arg) for arg in node.args]
        kwargs = [(keyword.arg, self._constant(keyword.value)) for keyword in node.keywords]
        if None in args or any(name is None or value is None for name, value in kwargs):
            return None
        return ir.Apply(fn, tuple(a for a in args if a), tuple((n, a) for n, a in kwargs if n and a))

    def _constant(self, node: Any) -> ir.Atom | None:
        return ir.Lit(node.value) if isinstance(node, gast.Constant) else self.outside(node)
