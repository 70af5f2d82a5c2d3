"""Imports inside functions: they bind objects that are known at compile time."""

from __future__ import annotations

import importlib.util
from typing import Any

from tangentx.frontend import resolve
from tangentx.frontend.loop_statements import Cycles
from tangentx.ir import nodes as ir


class Imports(Cycles):
    """Lifts imports."""

    def _Import(self, node: Any) -> bool:
        for alias in node.names:
            module = alias.name if alias.asname else alias.name.partition(".")[0]
            self.resolver.imported(alias.name, alias.name, self.span(node))
            self._imported(alias, self.resolver.imported(module, resolve.imported(alias), self.span(node)), node)
        return False

    def _ImportFrom(self, node: Any) -> bool:
        try:
            home = importlib.util.resolve_name("." * (node.level or 0) + (node.module or ""), self.resolver.package())
        except ImportError as error:
            raise self.refuse(node, f"cannot import: {error}", "import at the top of the module") from None
        for alias in node.names:
            module = self.resolver.imported(home, alias.name, self.span(node)).value
            if hasattr(module, alias.name):
                found = self.resolver.imported(home, resolve.imported(alias), self.span(node), alias.name)
            else:
                found = self.resolver.imported(f"{home}.{alias.name}", resolve.imported(alias), self.span(node))
            self._imported(alias, found, node)
        return False

    def _imported(self, alias: Any, found: ir.Ext, node: Any) -> None:
        name = resolve.imported(alias)
        if name in self.scope.names:
            message = f"{name!r} is imported, and assigned elsewhere in the function"
            raise self.refuse(node, message, "give the two different names")
        self.imports[name] = found
