"""Nested functions, by closure conversion.

Such a function is lifted as a function of its own, with what it captures as its first parameters. Python captures
variables, not values: where the two differ, `cells` makes the variable a list of one item. A function that a plain
``def`` defines under a name of its own is not captured itself: whoever calls it captures what it captures and makes
it again, so recursion and functions that call each other need no cycle.
"""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import gast

from tangentx.common.naming import Names
from tangentx.frontend import resolve, scopes
from tangentx.frontend.cells import with_cells
from tangentx.frontend.displays import Displays
from tangentx.frontend.expressions import Steps
from tangentx.frontend.generators import is_generator
from tangentx.ir import nodes as ir
from tangentx.ir.functions import Closure, closure


@dataclass(frozen=True)
class Known:
    """A function of which a name is known to mean it: its class, and the variables here that it captures."""

    cls: type[Closure]
    captures: tuple[str, ...]

    def made(self) -> ir.Make:
        """The function as a value."""
        return ir.Make(self.cls, tuple(ir.Var(name) for name in self.captures))


class Functions(Displays):
    """Lifts lambdas and nested functions."""

    def __init__(self, function: Any, found: Any, tree: Any, outer: Functions | None = None) -> None:
        super().__init__(function, found, tree, outer)
        self.known: dict[str, Known] = {}
        self.slots: dict[str, str] = {}  # captured variables of the enclosing function -> parameters here
        self.defaults: list[str] = []  # parameters that hold defaults
        defined = scopes.definitions(tree)
        self.generators = {name: node for name, node in defined.items() if is_generator(node)}
        self.trees = {name: node for name, node in defined.items() if name not in self.generators}  # known functions
        self.rebound_inside = scopes.rebound_inside(tree)
        self.rebound: frozenset[str] = self.rebound_inside | (
            (frozenset() if outer is None else outer.rebound) - self.scope.names
        )
        if outer is not None:
            self._capture(outer)
        self._define()

    def _capture(self, outer: Functions) -> None:
        """Give a parameter to each variable of `outer` that is used here, or by a known function that is."""
        names = self._captured(outer)
        taken = Names(self.scope.names.union(names))
        later: list[tuple[str, Known]] = []
        for name in names:
            known = outer.known_as(name)
            if outer.defines_generator(name):
                self.generators[name] = outer.generators[name]
            elif known is None:
                variable = outer.local(name)
                assert variable is not None
                self.slots[variable] = name
            else:
                later.append((name, known))
        for name, known in later:
            for variable in known.captures:
                if variable not in self.slots:
                    self.slots[variable] = taken.fresh(variable)
            self.known[name] = Known(known.cls, tuple(self.slots[variable] for variable in known.captures))
        itself = outer.known_as(self.tree.name) if isinstance(self.tree, gast.FunctionDef) else None
        if itself is not None:  # in the order in which all who make it pass them
            self.slots = {variable: self.slots[variable] for variable in itself.captures}
        self.scope = resolve.Scope(self.scope.names.union(names, self.slots.values()), self.scope.walrus)

    def _captured(self, outer: Functions) -> list[str]:
        """The names of `outer` that are used here, and by the generators that are: their statements will stand here."""
        names = [name for name in scopes.free(self.tree) if outer.local(name) is not None]
        for name in names:  # it grows
            if not outer.defines_generator(name):
                continue
            used = scopes.free(outer.generators[name])
            clash = [each for each in used if each in self.scope.names]
            if clash:
                message = f"the generator `{name}` is looped over where `{clash[0]}` means something else than in it"
                raise self.refuse(self.tree, message, f"use another name than `{clash[0]}` in one of the two")
            names += [each for each in used if each not in names and outer.local(each) is not None]
        return names

    def defines_generator(self, name: str) -> bool:
        """Whether `name` means a generator function here."""
        return name in self.generators and self.local(name) == name

    def _define(self) -> None:
        """Enter the known functions that are defined here; what they capture is found to a fixed point."""
        free = {name: scopes.free(tree) for name, tree in (self.trees | self.generators).items()}
        direct = {name: [n for n in names if self.local(n) is not None] for name, names in free.items()}
        captures: dict[str, dict[str, None]] = {name: {} for name in free}
        changed = True
        while changed:
            changed = False
            for name, used in direct.items():
                before = len(captures[name])
                for each in used:
                    inherited = self.known[each].captures if each in self.known else (each,)
                    captures[name].update(dict.fromkeys(captures.get(each, inherited)))
                changed = changed or len(captures[name]) > before
        self.known |= {name: Known(closure(name), tuple(captures[name])) for name in self.trees}

    def known_as(self, name: str) -> Known | None:
        """The function that `name` is known to mean here."""
        return self.known.get(name) if not any(name in renamed for renamed in self.renamed) else None

    def lifted(self, name: str, params: tuple[ir.Param, ...]) -> ir.Function:
        """The function itself, with `params` of its own; what it captures comes first."""
        with self.block() as body:
            for own, known in self.known.items():
                if own in scopes.free(self.tree):
                    self.emit(ir.Assign(own, known.made(), self.span(self.tree)))
            if isinstance(self.tree, gast.Lambda):
                self.settle(self.tree.body)
                self.emit(ir.Return(self.atom(self.tree.body), self.span(self.tree.body)))
            elif not self.body(self.tree.body):
                self.emit(ir.Return(ir.Lit(None), self.span(self.tree.body[-1])))
        body[:0] = self.openings()
        first = tuple(ir.Param(slot) for slot in (*self.slots.values(), *self.defaults))
        made = ir.Function(name, (*first, *params), tuple(body), self.span(self.tree))
        return self.shared(made)

    def shared(self, function: ir.Function) -> ir.Function:
        """The lifted function, complete: functions that control never comes to are lifted too, as others name them."""
        with self.block():
            for name, tree in self.trees.items():
                if self.known[name].cls.link.function is None:
                    self._function(tree, name, {})
        return with_cells(function, self.slots.values(), self.rebound_inside)

    @abstractmethod
    def body(self, nodes: list[Any]) -> bool:
        """Emit statements."""

    def settle(self, *parts: Any) -> None:
        """Note the names that may be bound while `parts`, expressions of one statement, are evaluated: by a ``:=`` in
        them, or by a function that they call and that declares them ``nonlocal``."""
        if not (self.scope.walrus or self.rebound):
            return
        found = [inner for part in parts if isinstance(part, gast.AST) for inner in gast.walk(part)]
        bound = frozenset(inner.target.id for inner in found if isinstance(inner, gast.NamedExpr))
        self.unsettled = bound | (self.rebound if any(isinstance(inner, gast.Call) for inner in found) else frozenset())

    def _Lambda(self, node: Any) -> Steps:
        defaults: dict[str, ir.Atom] = {}
        for name, value in _defaults(node.args):
            defaults[name] = yield value
        return self._function(node, getattr(node, "name", "lambda_"), defaults)

    def _FunctionDef(self, node: Any) -> bool:
        if self.generators.get(node.name) is node:
            return False  # put in the place of the loops over it
        decorators = [self.atom(each) for each in node.decorator_list]
        defaults = {name: self.atom(value) for name, value in _defaults(node.args)}
        value: ir.Expr = self._function(node, node.name, defaults)
        for decorator in reversed(decorators):
            value = ir.Apply(decorator, (self.hold(value, node),))
        name = self.local(node.name)
        assert name is not None
        self.emit(ir.Assign(name, value, self.span(node)))
        return False

    def _function(self, node: Any, name: str, defaults: dict[str, ir.Atom]) -> ir.Make:
        """The function of `node` as a value."""
        inner = type(self)(self.resolver.function, self.found, node, self)
        known = self.known_as(name) if isinstance(node, gast.FunctionDef) else None
        cls = closure(name) if known is None else known.cls
        taken = Names(inner.scope.names)
        params, computed = [], []
        for param, kind in parameters(node.args):
            default = defaults.get(param)
            if isinstance(default, ir.Var):
                inner.defaults.append(taken.fresh(param))
                computed.append(default)
                default = ir.Var(inner.defaults[-1])
            params.append(ir.Param(param, default, kind))
        cls.variables = len(inner.slots)
        cls.captured = len(inner.slots) + len(computed)
        cls.link.function = inner.lifted(name, tuple(params))
        return ir.Make(cls, (*(ir.Var(variable) for variable in inner.slots), *computed))


def parameters(args: Any) -> Sequence[tuple[str, str]]:
    """The parameters with their kinds, in the order of the signature."""
    found = [(node.id, "positional") for node in args.posonlyargs]
    found.extend((node.id, "normal") for node in args.args)
    if args.vararg is not None:
        found.append((args.vararg.id, "args"))
    found.extend((node.id, "keyword") for node in args.kwonlyargs)
    if args.kwarg is not None:
        found.append((args.kwarg.id, "kwargs"))
    return found


def _defaults(args: Any) -> Iterable[tuple[str, Any]]:
    """The parameters that have defaults, with the expressions of those, in the order of evaluation."""
    positional = [*args.posonlyargs, *args.args]
    last = positional[len(positional) - len(args.defaults) :]
    pairs = itertools.chain(zip(last, args.defaults, strict=True), zip(args.kwonlyargs, args.kw_defaults, strict=True))
    return [(node.id, value) for node, value in pairs if value is not None]
