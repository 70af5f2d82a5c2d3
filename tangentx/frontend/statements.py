"""Statements: one handler each, which reports whether control can continue past its statement."""

from __future__ import annotations

import importlib.util
from typing import Any

import gast
import numpy as np

from tangentx.frontend import resolve
from tangentx.frontend.emitter import Link
from tangentx.frontend.expressions import BINARY
from tangentx.frontend.loop_statements import Cycles
from tangentx.frontend.targets import attribute_key
from tangentx.ir import markers, walk
from tangentx.ir import nodes as ir

# Imports inside functions: they bind objects that are known at compile time.


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


_LIBRARIES = ("numpy", "math", "cmath", "builtins", "operator", "_operator")
_WRITERS = frozenset(
    """
    copyto put place putmask put_along_axis fill_diagonal fill sort partition itemset resize setflags byteswap
    append extend insert pop popitem remove clear reverse update setdefault
    """.split()
)
_READERS = frozenset(name for cls in (np.ndarray, list, dict) for name in dir(cls)) - _WRITERS


class Statements(Imports):
    """Lifts statements."""

    def body(self, nodes: list[Any]) -> bool:
        """Emit `nodes`, up to the first that control does not come past; whether there is one."""
        for node in nodes:
            self._settle_own(node)
            if getattr(self, f"_{type(node).__name__}")(node):
                return True
        return False

    def _settle_own(self, node: Any) -> None:
        """As `settle`, for a statement without its blocks."""
        children = [child for field, child in gast.iter_fields(node) if field not in ("body", "orelse")]
        self.settle(*(part for child in children for part in (child if isinstance(child, list) else [child])))

    def _Pass(self, node: Any) -> bool:
        return False

    _Global = _Nonlocal = _Pass

    def _Expr(self, node: Any) -> bool:
        if isinstance(node.value, gast.Name):
            self.demand_bound(node.value)
        elif isinstance(node.value, gast.Yield | gast.YieldFrom):
            self.give(node.value)
        elif not isinstance(node.value, gast.Constant):
            self.atom(node.value)
        return False

    def _Return(self, node: Any) -> bool:
        value = ir.Lit(None) if node.value is None else self.atom(node.value)
        self.emit(ir.Return(value, self.span(node)))
        return True

    def _Assign(self, node: Any) -> bool:
        first = node.targets[0]
        if len(node.targets) > 1:
            names = frozenset().union(*(resolve.targets(target) for target in node.targets))
            value = self.safe(self.atom(node.value), names, node.value)
            for target in node.targets:
                self.bind(target, value, node)
        elif isinstance(first, gast.Name):
            if isinstance(node.value, gast.Lambda):
                node.value.name = first.id
            self.bind(first, self.expr(node.value), node)
        else:
            self.bind(first, self.display(first, node.value), node)
        return False

    def _AnnAssign(self, node: Any) -> bool:
        if node.value is not None:
            self.bind(node.target, self.expr(node.value), node)
        return False

    def _AugAssign(self, node: Any) -> bool:
        fn, target, span = BINARY[type(node.op)], node.target, self.span(node)
        if isinstance(target, gast.Name):
            name = self.local(target.id)
            assert name is not None
            self.demand_bound(target)
            # Python reads the old value first; a := in the new one must not change it.
            held = self.copy(ir.Var(name), node) if name in self.unsettled else ir.Var(name)
            value = self.atom(node.value)
            self.emit(ir.Augment(held.name, fn, value, span))
            if held.name != name:
                self.emit(ir.Assign(name, held, span))
            return False
        base = self.atom(target.value)
        key = attribute_key(target) if isinstance(target, gast.Attribute) else self.key(target.slice)
        with self.block() as steps:
            value = self.atom(node.value)
        certain = _may_write(tuple(steps), base, key.attribute)
        old = self.copy(ir.Index(base, key), node) if certain or _may_call(tuple(steps), key.attribute) else None
        for stmt in steps:
            self.emit(stmt)
        if old is not None and certain:
            self.emit(ir.Augment(old.name, fn, value, span))
            self.emit(ir.Store(base, key, old, span))
        else:
            self.emit(ir.Augstore(base, key, fn, value, span, old))
        return False

    def _If(self, node: Any) -> bool:
        """A chain of elif is lifted without recursion: it may be long."""
        known = self.has_member(node.test)
        if known is not None:
            return self.body(node.body if known else node.orelse)
        links: list[Link] = []
        after = True
        outer, imports = self._out, self.imports
        self._out = []
        while True:
            self._settle_own(node)
            test = self.test(node.test)
            with self.block() as body:
                after = self.body(node.body) and after
            links.append(Link(self._out, test, body, self.span(node)))
            self._out, self.imports = [], dict(self.imports)
            if len(node.orelse) != 1 or not isinstance(node.orelse[0], gast.If):
                break
            node = node.orelse[0]
        after = self.body(node.orelse) and after
        last, self._out, self.imports = self._out, outer, imports
        self.chain(links, last)
        return after

    def _Delete(self, node: Any) -> bool:
        todo = list(node.targets)
        while todo:
            target = todo.pop(0)
            if isinstance(target, gast.Name):
                name = self.local(target.id)
                assert name is not None
                self.demand_bound(target)
                gone = markers.emptied if name in self.unbound.values() else ir.deleted
                self.emit(ir.Assign(name, ir.Op(gone, ()), self.span(node)))
            elif isinstance(target, gast.Subscript):
                base = self.atom(target.value)
                self.emit(ir.Delete(base, self.key(target.slice), self.span(node)))
            else:
                todo[:0] = target.elts
        return False

    def _Raise(self, node: Any) -> bool:
        error = self.atom(node.exc)
        if isinstance(error, ir.Ext) and isinstance(error.value, type):
            error = self.copy(ir.Apply(error, ()), node)
        cause = None if node.cause is None else self.atom(node.cause)
        self.emit(ir.Raise(error, self.span(node), cause))
        return True

    def _Assert(self, node: Any) -> bool:
        test, span = self.test(node.test), self.span(node)
        with self.block() as failed:
            message = () if node.msg is None else (self.atom(node.msg),)
            error = self.resolver.builtin("AssertionError", AssertionError)
            self.emit(ir.Raise(self.copy(ir.Apply(error, message), node), span))
        self.emit(ir.If(test, (), tuple(failed), span))
        return False


def _may_write(steps: ir.Block, base: ir.Atom, attribute: bool) -> bool:
    """Whether a call in `steps` may write into `base`, which it may hold by another name; `attribute` tells that it is
    an object with methods of its own."""
    for stmt in walk.statements(steps):
        call = stmt.value if isinstance(stmt, ir.Assign) else None
        if isinstance(call, ir.Apply | ir.Method) and not _harmless(call, base, attribute):
            return True
    return False


def _may_call(steps: ir.Block, attribute: bool) -> bool:
    """Whether `steps` may turn out to run code of the user's: a property, or an operator of a class that defines it;
    `attribute` tells that objects with methods of their own are at hand."""
    values = [stmt.value for stmt in walk.statements(steps) if isinstance(stmt, ir.Assign)]
    return any(isinstance(value, ir.Attr) or (attribute and isinstance(value, ir.Index | ir.Op)) for value in values)


def _harmless(call: ir.Apply | ir.Method, base: ir.Atom, attribute: bool) -> bool:
    if isinstance(call, ir.Method):
        return call.base == base and not attribute and call.name in _READERS
    if not isinstance(call.fn, ir.Ext):
        return False
    module = str(getattr(call.fn.value, "__module__", None)).partition(".")[0]
    return module in _LIBRARIES and getattr(call.fn.value, "__name__", "") not in _WRITERS
