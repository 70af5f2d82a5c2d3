"""``try``: kept whole, for its parts may not compute what is differentiated (`analysis.attempts`)."""

from __future__ import annotations

from typing import Any

import gast

from tangentx.frontend.emitter import is_named
from tangentx.frontend.managers import Managers
from tangentx.ir import nodes as ir
from tangentx.ir import walk
from tangentx.ir.attempts import Attempt, Handler

_LEAVING = (gast.Return, gast.Break, gast.Continue)
_DEFINING = (gast.FunctionDef, gast.Lambda, gast.ClassDef, gast.Delete, gast.Import, gast.ImportFrom, gast.Try)


class Attempts(Managers):
    """Lifts ``try``."""

    def _Try(self, node: Any) -> bool:
        for inner in (each for part in gast.iter_child_nodes(node) for each in gast.walk(part)):
            if isinstance(inner, _LEAVING):
                message = "leaving a try statement from inside is not differentiated"
                raise self.refuse(inner, message, "note in it what is to be done, and do it after it")
            if isinstance(inner, _DEFINING):
                message = "this statement inside a try statement is not differentiated"
                raise self.refuse(inner, message, "move it before the try statement")
        blocks = [self._block(part) for part in (node.body, node.orelse, node.finalbody)]
        handlers = tuple(self._handler(handler) for handler in node.handlers)
        caught = {handler.name for handler in handlers}
        every = (*blocks, *(handler.block for handler in handlers))
        names = sorted({name for block in every for name in walk.bound(block) if is_named(ir.Var(name))} - caught)
        attempt = Attempt(blocks[0], handlers, blocks[1], blocks[2], tuple(names), self.span(node))
        whole = ir.Op(attempt, ())
        if len(names) == 1:
            self.emit(ir.Assign(names[0], whole, self.span(node)))
            return False
        held = self.copy(whole, node)
        for place, name in enumerate(names):
            self.emit(ir.Assign(name, ir.Index(held, ir.Key((ir.Lit(place),))), self.span(node)))
        return False

    def _block(self, nodes: list[Any]) -> ir.Block:
        with self.block() as block:
            self.body(nodes)
        return tuple(block)

    def _handler(self, node: Any) -> Handler:
        parts = [] if node.type is None else node.type.elts if isinstance(node.type, gast.Tuple) else [node.type]
        classes = [self.outside(part) for part in parts]
        if None in classes:
            raise self.refuse(node.type, "the class of this exception is not known", "name a class of the module")
        name = "" if node.name is None else self.local(node.name.id) or ""
        return Handler(tuple(c for c in classes if c is not None), name, self._block(node.body), self.span(node))
