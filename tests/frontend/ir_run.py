"""Runs the language directly, open and closed forms, with Python's own objects: what it means, in one page."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Mapping, Sequence
from typing import Any

from tangentx.common import free_variables
from tangentx.ir import markers
from tangentx.ir import nodes as ir
from tangentx.ir.functions import Closure, function_of
from tangentx.ir.opaque_ops import Attempt

INPLACE = {
    getattr(operator, name): getattr(operator, f"i{name.rstrip('_')}")
    for name in "add sub mul matmul truediv mod pow lshift rshift or_ xor and_ floordiv".split()
}


COMPUTED = object()  # stands for a default that was captured


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class _Return(Exception):
    pass


def run(function: ir.Function, *args: Any, **kwargs: Any) -> Any:
    """Call `function`."""
    return Frame(bind(function, args, kwargs)).call(function)


def bind(function: ir.Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The parameters' values, by name, as Python would bind them."""
    kinds = {
        "normal": inspect.Parameter.POSITIONAL_OR_KEYWORD,
        "positional": inspect.Parameter.POSITIONAL_ONLY,
        "keyword": inspect.Parameter.KEYWORD_ONLY,
        "args": inspect.Parameter.VAR_POSITIONAL,
        "kwargs": inspect.Parameter.VAR_KEYWORD,
    }
    params = []
    for param in function.params:
        default = inspect.Parameter.empty if param.default is None else Frame({}).atom(param.default, COMPUTED)
        params.append(inspect.Parameter(param.name, kinds[param.kind], default=default))
    bound = inspect.Signature(params).bind(*args, **kwargs)
    bound.apply_defaults()
    for param in function.params:
        if isinstance(param.default, ir.Var) and bound.arguments[param.name] is COMPUTED:
            bound.arguments[param.name] = bound.arguments[param.default.name]
    return dict(bound.arguments)


class Frame:
    """One call: the names and their values."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names

    def call(self, function: ir.Function) -> Any:
        try:
            self.block(function.body)
        except _Return as done:
            return done.args[0]
        raise AssertionError("the end was reached without Return")

    def atom(self, atom: ir.Atom, unbound: Any = None) -> Any:
        match atom:
            case ir.Var():
                if atom.name not in self.names and unbound is not None:
                    return unbound
                if atom.name not in self.names:
                    raise UnboundLocalError(atom.name)
                return self.names[atom.name]
            case ir.Lit():
                return atom.value
            case ir.Ext():
                return free_variables.current(atom)
        raise AssertionError(atom)

    def key(self, key: ir.Key) -> Any:
        parts = tuple(
            slice(self.atom(part.start), self.atom(part.stop), self.atom(part.step))
            if isinstance(part, ir.Slice)
            else self.atom(part)
            for part in key.parts
        )
        return parts if key.many else parts[0]

    def args(self, expr: Any) -> tuple[list[Any], dict[str, Any]]:
        given: list[Any] = []
        named: dict[str, Any] = {}
        for place, arg in enumerate(expr.args):
            given += self.atom(arg) if place in getattr(expr, "stars", ()) else [self.atom(arg)]
        for name, arg in expr.kwargs:
            named.update(self.atom(arg) if name == "**" else {name: self.atom(arg)})
        return given, named

    def expr(self, expr: ir.Expr) -> Any:
        match expr:
            case ir.Op(fn=Attempt() as tried):
                return self.attempt(tried)
            case ir.Op(fn=markers.bound, args=(held, called, free)):
                if self.atom(held) is ir.UNBOUND:
                    raise (NameError if self.atom(free) else UnboundLocalError)(self.atom(called))
                return None
            case ir.Op(fn=markers.unresized | markers.blind | markers.unwritten):
                return None
            case ir.Op() if expr.fn in MARKERS:
                return MARKERS[expr.fn](*(self.atom(arg) for arg in expr.args))
            case ir.Op():
                args, kwargs = self.args(expr)
                return expr.fn(*args, **kwargs)
            case ir.Apply():
                args, kwargs = self.args(expr)
                return self.atom(expr.fn)(*args, **kwargs)
            case ir.Method():
                args, kwargs = self.args(expr)
                return getattr(self.atom(expr.base), expr.name)(*args, **kwargs)
            case ir.Call():
                callee = expr.link.function
                assert callee is not None
                values = (self.atom(arg) for arg in expr.args)
                return Frame(dict(zip((param.name for param in callee.params), values))).call(callee)
            case ir.Index():
                return self.atom(expr.base)[self.key(expr.key)]
            case ir.Attr():
                return getattr(self.atom(expr.base), expr.name)
            case ir.Make():
                return make(expr.cls, [self.atom(item) for item in expr.items], expr.keys)
            case ir.Pop():
                return self.atom(expr.base).pop()
        return self.atom(expr)

    def attempt(self, tried: Attempt) -> Any:
        """What a try statement binds, as far as it has: the names are bound here already."""
        try:
            self.block(tried.body)
        except Exception as error:
            for handler in tried.handlers:
                if not handler.classes or isinstance(error, tuple(self.atom(cls) for cls in handler.classes)):
                    self.names[handler.name] = error
                    self.block(handler.block)
                    self.names.pop(handler.name)
                    break
            else:
                raise
        else:
            self.block(tried.orelse)
        finally:
            self.block(tried.final)
        found = [self.names[name] for name in tried.results]
        return found[0] if len(found) == 1 else found

    def block(self, block: ir.Block) -> None:
        for stmt in block:
            self.statement(stmt)

    def statement(self, stmt: ir.Statement) -> None:
        match stmt:
            case ir.Assign(value=ir.Op(fn=ir.deleted)):
                self.atom(ir.Var(stmt.target))
                del self.names[stmt.target]
            case ir.Assign(value=ir.Op(fn=markers.emptied)):
                self.names.pop(stmt.target, None)
            case ir.Assign():
                self.names[stmt.target] = self.expr(stmt.value)
            case ir.Augment():
                old, value = self.atom(ir.Var(stmt.target)), self.atom(stmt.value)
                self.names[stmt.target] = INPLACE[stmt.fn](old, value)
            case ir.Store():
                self.atom(stmt.base)[self.key(stmt.key)] = self.atom(stmt.value)
            case ir.Augstore():
                base, key = self.atom(stmt.base), self.key(stmt.key)
                base[key] = INPLACE[stmt.fn](base[key], self.atom(stmt.value))
            case ir.Append():
                self.atom(stmt.base).append(self.atom(stmt.value))
            case ir.Delete():
                del self.atom(stmt.base)[self.key(stmt.key)]
            case ir.If():
                self.block(stmt.body if self.atom(stmt.test) else stmt.orelse)
            case ir.For():
                bounds = range(self.atom(stmt.start), self.atom(stmt.stop), self.atom(stmt.step))
                self.loop(stmt.body, iter(reversed(bounds) if stmt.backward else bounds), stmt.target)
            case ir.Loop():
                self.loop(stmt.body, iter(int, 1), "")
            case ir.Break():
                raise _Break
            case ir.Continue():
                raise _Continue
            case ir.Return():
                raise _Return(self.atom(stmt.value))
            case ir.Raise():
                if stmt.cause is not None:
                    raise self.atom(stmt.value) from self.atom(stmt.cause)
                raise self.atom(stmt.value)
            case ir.Note():
                pass
            case _:
                raise AssertionError(stmt)

    def loop(self, body: ir.Block, values: Any, target: str) -> None:
        for value in values:
            if target:
                self.names[target] = value
            try:
                self.block(body)
            except _Break:
                return
            except _Continue:
                continue


def make(cls: type, items: list[Any], keys: tuple[Any, ...] | None) -> Any:
    """A container, or a function, as `ir.Make` describes it."""
    if issubclass(cls, Closure):
        return lambda *args, **kwargs: run(function_of(cls), *items, *args, **kwargs)
    if cls is dict:
        return dict(zip(keys or (), items, strict=True))
    return cls(**dict(zip(keys, items, strict=True))) if keys is not None else cls(items)


def _is_whole(x: Any, method: str) -> bool:
    """Whether what is found for a loop over `method` of `x` are the keys, or the values, themselves."""
    return isinstance(x, dict) or method == "values"


def sequence(value: Any, count: int | None = None, more: bool = False) -> Any:
    """What the marker `ir.sequence` stands for."""
    items = value if hasattr(value, "__getitem__") and not isinstance(value, dict) else list(value)
    if count is not None and (len(items) < count or (len(items) > count and not more)):
        what = "not enough" if len(items) < count else "too many"
        raise ValueError(f"{what} values to unpack")
    return items


MARKERS: dict[Any, Any] = {
    ir.sequence: sequence,
    ir.keys: lambda x, method: list(x if isinstance(x, dict) else getattr(x, method)()),
    markers.entry_key: lambda x, method, found, i: found[i] if _is_whole(x, method) else found[i][0],
    markers.entry_value: lambda x, method, found, i, key: (
        x[key] if isinstance(x, dict) else key if method == "values" else found[i][1]
    ),
    ir.is_sequence: lambda value: isinstance(value, Sequence) and not isinstance(value, (str, bytes)),
    ir.truth: bool,
    ir.is_mapping: lambda value: isinstance(value, Mapping),
}
"""What the markers stand for."""
