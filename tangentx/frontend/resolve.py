"""Name resolution: Python's scoping rules, and the objects behind names that are not local."""

from __future__ import annotations

from dataclasses import dataclass
from types import BuiltinMethodType, FunctionType, MethodType, ModuleType
from typing import Any

import gast

from tangentx.common.free_variables import found
from tangentx.common.syntax_trees import children
from tangentx.common.whole_numpy import is_numpys, refusal
from tangentx.errors import Span
from tangentx.ir import nodes as ir

COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
SCOPES = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda, gast.ClassDef)


@dataclass(frozen=True)
class Scope:
    """The names that a function binds in its own scope, those of them that it binds by ``:=``, and what it imports."""

    names: frozenset[str]
    walrus: frozenset[str]
    imports: frozenset[str] = frozenset()


def scope(tree: Any) -> Scope:
    """The scope of function `tree`.

    As in Python, what is bound anywhere in it is local everywhere in it; ``global`` and ``nonlocal`` take names out;
    variables of comprehensions are not part of it, but a ``:=`` inside them is.
    """
    args = tree.args
    params = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    names = {param.id for param in params if param is not None}
    walrus: set[str] = set()
    outer: set[str] = set()
    imports: set[str] = set()
    todo: list[tuple[Any, bool]] = [(node, False) for node in body_of(tree)]
    while todo:
        node, inside = todo.pop()
        if isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load) and not inside:
            names.add(node.id)
        elif isinstance(node, gast.NamedExpr):
            walrus.add(node.target.id)
        elif isinstance(node, gast.Global | gast.Nonlocal):
            outer.update(node.names)
        elif isinstance(node, gast.alias):
            imports.add(imported(node))
        names |= captured(node)
        if isinstance(node, SCOPES):
            if not isinstance(node, gast.Lambda):
                names.add(node.name)
            todo.extend((child, inside) for child in outside_parts(node))
            continue
        inside = inside or isinstance(node, COMPREHENSIONS)
        todo.extend((child, inside) for child in children(node))
    return Scope(frozenset((names | walrus) - outer), frozenset(walrus), frozenset(imports))


def imported(alias: Any) -> str:
    """The name that an import binds."""
    return str(alias.asname or alias.name.partition(".")[0])


def captured(pattern: Any) -> set[str]:
    """The name that a pattern of ``match`` binds by itself, if any."""
    if isinstance(pattern, gast.MatchAs | gast.MatchStar) and pattern.name is not None:
        return {pattern.name}
    return {pattern.rest} if isinstance(pattern, gast.MatchMapping) and pattern.rest is not None else set()


def body_of(tree: Any) -> list[Any]:
    """The statements of function `tree`, or the expression of a lambda."""
    return tree.body if isinstance(tree.body, list) else [tree.body]


def outside_parts(tree: Any) -> list[Any]:
    """What is evaluated where a function or class is defined: decorators, and defaults of parameters."""
    decorators = [] if isinstance(tree, gast.Lambda) else list(tree.decorator_list)
    if isinstance(tree, gast.ClassDef):
        return [*decorators, *tree.bases, *(keyword.value for keyword in tree.keywords)]
    return [*decorators, *tree.args.defaults, *(value for value in tree.args.kw_defaults if value is not None)]


def targets(tree: Any) -> frozenset[str]:
    """The names that assigning to `tree`, a target, binds."""
    return frozenset(
        node.id for node in gast.walk(tree) if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store)
    )


def own(tree: Any) -> frozenset[str]:
    """The names that anything in `tree` binds, the parameters of lambdas too."""
    return frozenset(
        node.id for node in gast.walk(tree) if isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load)
    )


class Resolver:
    """Finds the objects behind the outside names of one function; one `Ext` for each path."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self._known: dict[tuple[str, ...], ir.Ext] = {}

    def name(self, name: str, span: Span) -> ir.Ext:
        """What `name` is: of an enclosing function, global, or builtin. Raises `NotResolved`."""
        function = self.function
        if name in function.__code__.co_freevars:
            kind = "closure"
        elif name in function.__globals__:
            kind = "global"
        else:
            kind = "builtin"
        return self._ext(name, (kind, name), span)

    def attribute(self, base: ir.Ext, name: str, span: Span) -> ir.Ext:
        """Attribute `name` of `base`, for which `folds` is true. Raises `NotResolved`."""
        return self._ext(name, (*base.path, name), span)

    def imported(self, module: str, name: str, span: Span, attribute: str = "") -> ir.Ext:
        """What an import of `module` inside the function calls `name`: the module, or its `attribute`."""
        path = ("import", module, attribute) if attribute else ("import", module)
        return self._ext(name, path, span)

    def package(self) -> str:
        """The package to which relative imports refer."""
        return str(self.function.__globals__.get("__package__") or "")

    def builtin(self, name: str, value: Any) -> ir.Ext:
        """A builtin that the program uses without naming it."""
        return ir.Ext(name, value, ("builtin", name), None)

    def resolved(self) -> tuple[ir.Ext, ...]:
        """All that was found at names that may be bound anew, of ``a.b`` not `a` alone: `range` in a ``for`` is no part
        of any statement, and yet another loop where the program has a `range` of its own."""
        above = {path[:n] for path in self._known for n in range(2, len(path))}
        return tuple(ext for path, ext in self._known.items() if path not in above and path[0] != "import")

    def _ext(self, name: str, path: tuple[str, ...], span: Span) -> ir.Ext:
        if path not in self._known:
            value = found(path, self.function, span)
            ours = str(self.function.__globals__.get("__name__")).startswith("tangentx.")
            if ours and path[1] == "np" and not is_numpys(value):
                raise refusal(".".join(path[1:]), value, span)
            self._known[path] = ir.Ext(name, value, path, self.function)
        return self._known[path]


def folds(atom: ir.Atom) -> bool:
    """Whether attributes of `atom` are read at compile time: those of modules and classes, and the functions of a
    property (``Base.size.fset``)."""
    return isinstance(atom, ir.Ext) and isinstance(atom.value, ModuleType | type | property)


def is_same(a: Any, b: Any) -> bool:
    """Whether the two are one object; a bound method is made anew each time that it is asked for."""
    methods = type(a) is type(b) and isinstance(a, MethodType | BuiltinMethodType)
    return a is b or (methods and bool(a == b))
