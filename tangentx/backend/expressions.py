"""Expressions of the IR as Python expressions, with their effects, and constants as they can be written."""

from __future__ import annotations

import ast
import cmath
import math
import operator
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

import numpy as np

from tangentx import arrays
from tangentx.arrays import instance, observed
from tangentx.backend import operators
from tangentx.backend.spelling import Scope, chained
from tangentx.ir import walk
from tangentx.ir.functions import Closure, function_of
from tangentx.ir.markers import emptied, entry_key, entry_value
from tangentx.ir.nodes import (
    UNBOUND,
    WHOLE,
    Apply,
    Atom,
    Attr,
    Call,
    Expr,
    Ext,
    Function,
    Index,
    Key,
    Lit,
    Make,
    Method,
    Op,
    Pop,
    Slice,
    Var,
    attribute_of,
    keys,
    sequence,
    truth,
)
from tangentx.ir.opaque_ops import Callback, Given, LibraryCall, Observed, Part

# Constants as expressions that evaluate to exactly the same value.

_HUGE = 10_000  # bits; Python refuses to read or write much longer decimal numbers


def constant(value: object, scope: Scope) -> ast.expr:
    """An expression for `value`, of its type, to the last bit and the sign of zero."""
    if value is UNBOUND:
        return ast.Constant(None)
    if type(value) is float:
        return _real(value, scope)
    if type(value) is complex:
        return _complex(value, scope)
    if type(value) is int:
        return _integer(value, scope)
    if value is None or value is Ellipsis or type(value) in (bool, str, bytes):
        return ast.Constant(value)  # type: ignore[arg-type]
    if type(value) is tuple:
        return ast.Tuple([constant(item, scope) for item in value], ast.Load())
    return scope.spelled(value)


def _integer(value: int, scope: Scope) -> ast.expr:
    if value.bit_length() > _HUGE:
        return scope.held("big", value)
    return ast.UnaryOp(ast.USub(), ast.Constant(-value)) if value < 0 else ast.Constant(value)


def _real(value: float, scope: Scope) -> ast.expr:
    if math.isnan(value):
        return chained(scope.module("numpy"), ("nan",))
    negative = math.copysign(1.0, value) < 0.0
    size = abs(value)
    tree = chained(scope.module("numpy"), ("inf",)) if math.isinf(size) else ast.Constant(size)
    return ast.UnaryOp(ast.USub(), tree) if negative else tree


def _complex(value: complex, scope: Scope) -> ast.expr:
    plain = cmath.isfinite(value)
    if plain and str(value.real) == "0.0" and math.copysign(1.0, value.imag) > 0.0:
        return ast.Constant(value)
    if plain and str(value.real) != "-0.0" and value.imag != 0.0:
        # A real number plus an imaginary one: exact, as neither part meets another one than zero.
        symbol = ast.Sub() if value.imag < 0.0 else ast.Add()
        return ast.BinOp(_real(value.real, scope), symbol, ast.Constant(complex(0.0, abs(value.imag))))
    parts = [_real(value.real, scope), _real(value.imag, scope)]
    return ast.Call(scope.member("builtins", "complex"), parts, [])


# Printed expressions with their effects, which decide whether an expression may move.

_TEMPORARY, _USUAL = re.compile(r"%[\w.:%]+"), "_" * 8
_MOST = 40  # more waiting expressions than a line can take only cost time


@dataclass(frozen=True, slots=True)
class Effect:
    """What evaluation does: the names it `reads`, whether it looks into memory (`content`), whether it is `impure`.

    What is impure writes, consumes or calls unknown code, and keeps its place among all that looks into memory.
    """

    reads: frozenset[str] = frozenset()
    content: bool = False
    impure: bool = False

    def __or__(self, other: Effect) -> Effect:
        return Effect(self.reads | other.reads, self.content or other.content, self.impure or other.impure)

    def clashes(self, other: Effect) -> bool:
        """Whether the two must stay in order."""
        if self.impure:
            return other.content or other.impure
        return other.impure and self.content


BARRIER = Effect(content=True, impure=True)


@dataclass(frozen=True, slots=True)
class Piece:
    """A printed expression, its effect and its width in characters."""

    tree: ast.expr
    effect: Effect
    width: int


def measure(tree: ast.expr) -> int:
    """Width of the expression on one line."""
    return width(ast.unparse(tree))


def measure_line(tree: ast.stmt) -> int:
    """Width of the statement's first line."""
    tree.lineno = 1  # `ast` looks there for a comment on types
    return width(ast.unparse(tree).partition("\n")[0])


def width(text: str) -> int:
    """Width of a line whose temporaries get their names later: each counts as a name of usual length."""
    return len(_TEMPORARY.sub(_USUAL, text))


class Waiting:
    """The temporaries of one block that wait to be nested, in the order of their definition."""

    def __init__(self) -> None:
        self.pieces: dict[str, Piece] = {}

    def choose(self, order: Sequence[Atom | None]) -> set[str]:
        """Those that may be nested into a statement that evaluates the atoms `order`; None stands for a look
        into memory by the statement itself, before what follows it."""
        position: dict[str, int] = {}
        looks = len(order)
        for place, atom in enumerate(order):
            if isinstance(atom, Var) and atom.name in self.pieces:
                position[atom.name] = place
            elif (atom is None or isinstance(atom, Ext)) and looks == len(order):
                looks = place
        chosen = set(position)
        while (bad := self._misplaced(chosen, position, looks)) is not None:
            chosen.discard(bad)
        return chosen

    def restrict(self, chosen: set[str], order: Sequence[Atom | None], without: str) -> set[str]:
        """`chosen` less `without`, and less what must then have a name too."""
        return self.choose([a for a in order if not isinstance(a, Var) or a.name in chosen - {without}])

    def _misplaced(self, chosen: set[str], position: dict[str, int], looks: int) -> str | None:
        """One of `chosen` that nesting would move past something that it must not pass."""
        later: list[tuple[str, Effect]] = []
        for name, piece in reversed(self.pieces.items()):
            if name in chosen:
                if piece.effect.impure and looks < position[name]:
                    return name
                for other, effect in later:
                    if (other not in chosen or position[other] < position[name]) and piece.effect.clashes(effect):
                        return name
            later.append((name, piece.effect))
        return None

    def leave(
        self, effect: Effect, binds: frozenset[str], barrier: bool, read: Collection[str] = ()
    ) -> list[tuple[str, Piece]]:
        """Takes out, in order, what may not wait beyond a statement of that effect which binds and reads those
        names."""
        leaving: list[str] = []
        passed = Effect()
        for name, piece in reversed(self.pieces.items()):
            held = barrier or name in read or piece.effect.clashes(effect) or piece.effect.reads & binds
            if held or piece.effect.clashes(passed):
                leaving.append(name)
                passed = passed | piece.effect
        return [(name, self.pieces.pop(name)) for name in reversed(leaving)]

    def overflow(self) -> list[tuple[str, Piece]]:
        """Takes out the oldest where too many wait."""
        if len(self.pieces) <= _MOST:
            return []
        name = next(iter(self.pieces))
        return [(name, self.pieces.pop(name))]


# Expressions of the IR as Python expressions.

Look = Callable[[Atom], ast.expr]


def order(expr: Expr) -> list[Atom | None]:
    """The atoms in the order in which the printed expression evaluates them."""
    atoms: list[Atom | None] = list(walk.atoms(expr))
    if isinstance(expr, Op) and operators.swapped(expr.fn):
        atoms.reverse()
    if isinstance(expr, Apply) and isinstance(expr.fn, Ext) and operators.pure(expr.fn.value):
        atoms.pop(0)  # printed by its import path: nothing that runs in between rebinds it
    return atoms


def effect(expr: Expr) -> Effect:
    """What the expression does by itself, its atoms evaluated."""
    match expr:
        case Var() | Lit():
            return Effect()
        case Op(fn, args, kwargs) if operators.pure(fn):
            atoms = (*args, *(atom for _, atom in kwargs))
            return Effect(content=any(not isinstance(atom, Lit) for atom in atoms))
        case Apply(Ext() as callee, _, _) if operators.pure(callee.value):
            return Effect(content=True)
        case Index() | Attr() | Ext():
            return Effect(content=True)
        case Make(cls) if cls in (tuple, list, dict):
            return Effect()
    return BARRIER


class Writer:
    """Builds expressions; `look` says what stands for an atom."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def atom(self, atom: Atom) -> ast.expr:
        """An atom as it stands alone."""
        match atom:
            case Var(name):
                return ast.Name(name, ast.Load())
            case Lit(value):
                return constant(value, self.scope)
            case Ext():
                return self.scope.external(atom)
        assert_never(atom)

    def key(self, key: Key, look: Look) -> ast.expr:
        """What stands between brackets."""
        parts = [self._slice(part, look) if isinstance(part, Slice) else look(part) for part in key.parts]
        return ast.Tuple(parts, ast.Load()) if key.many or len(parts) != 1 else parts[0]

    def element(self, base: Atom, key: Key, look: Look, ctx: ast.expr_context) -> ast.expr:
        """``base[key]``"""
        if key.attribute:
            return ast.Attribute(look(base), attribute_of(key), ctx)
        return ast.Subscript(look(base), self.key(key, look), ctx)

    def sum_in(self, base: Atom, key: Key, look: Look) -> ast.expr:
        """What is added to in place: ``a`` for ``a[...]``, where `a` is no name of ours, else ``base[key]``."""
        if isinstance(base, Var) and key == WHOLE and not base.name.startswith("%"):
            return ast.Name(base.name, ast.Store())
        return self.element(base, key, look, ast.Store())

    def expression(self, expr: Expr, look: Look) -> ast.expr:
        """The expression, with `look` for its atoms."""
        match expr:
            case Var() | Lit() | Ext():
                return look(expr)
            case Op(fn, args, kwargs):
                return self._op(fn, [look(a) for a in args], self._keywords(kwargs, look))
            case Apply(callee, args, kwargs, stars):
                return ast.Call(look(callee), self._given(args, stars, look), self._keywords(kwargs, look))
            case Method(base, name, args, kwargs, stars, above):
                owner = look(base)
                if above is not None:
                    owner = ast.Call(self.builtin("super"), [look(above), owner], [])
                bound = ast.Attribute(owner, name, ast.Load())
                return ast.Call(bound, self._given(args, stars, look), self._keywords(kwargs, look))
            case Call(link, args):
                assert link.function is not None
                called = ast.Name(self.scope.functions[link.function], ast.Load())
                return ast.Call(called, [look(a) for a in args], [])
            case Index(base, key):
                return self.element(base, key, look, ast.Load())
            case Attr(base, name):
                return ast.Attribute(look(base), name, ast.Load())
            case Make():
                return self._make(expr, look)
            case Pop(base):
                return ast.Call(ast.Attribute(look(base), "pop", ast.Load()), [], [])
        assert_never(expr)

    def builtin(self, name: str) -> ast.expr:
        """A builtin by name."""
        return self.scope.member("builtins", name)

    def _keywords(self, kwargs: tuple[tuple[str, Atom], ...], look: Look) -> list[ast.keyword]:
        return [ast.keyword(None if name == "**" else name, look(atom)) for name, atom in kwargs]

    def _given(self, args: tuple[Atom, ...], stars: tuple[int, ...], look: Look) -> list[ast.expr]:
        return [ast.Starred(look(a), ast.Load()) if i in stars else look(a) for i, a in enumerate(args)]

    def _slice(self, part: Slice, look: Look) -> ast.Slice:
        start, stop, step = (
            None if isinstance(bound, Lit) and bound.value is None else look(bound)
            for bound in (part.start, part.stop, part.step)
        )
        return ast.Slice(start, stop, step)

    def _op(self, fn: Callable[..., Any], args: list[ast.expr], keywords: list[ast.keyword]) -> ast.expr:
        tree = None if keywords else operators.infix(fn, args)
        if tree is not None:
            return tree
        if fn is sequence:  # the marker of open programs: an iterable whose items can be indexed
            return ast.Call(self.builtin("list"), args[:1], [])
        if fn is truth:
            return ast.Call(self.builtin("bool"), args, [])
        if fn is keys:  # of open programs, as the two that follow: a dict is taken for one
            return ast.Call(self.builtin("list"), args[:1], [])
        if fn is entry_key or fn is entry_value:
            base, place = (args[2], args[3]) if fn is entry_key else (args[0], args[4])
            return ast.Subscript(base, place, ast.Load())
        if fn is emptied:
            return ast.Constant(None)
        if fn is operator.call:
            return ast.Call(args[0], args[1:], keywords)
        if fn is arrays.to_library:
            assert isinstance(args[1], ast.Constant)
            library = self.scope.module(str(args[1].value))
            return ast.Call(ast.Attribute(library, "asarray", ast.Load()), args[:1], [])
        if isinstance(fn, Observed):
            return self._observed(fn, args, keywords)
        if isinstance(fn, LibraryCall):
            return self._library_call(fn, args)
        if isinstance(fn, Part):
            return self._part(fn, args[0])
        name = operators.method(fn)
        if name is not None and args:
            return ast.Call(ast.Attribute(args[0], name, ast.Load()), args[1:], keywords)
        return ast.Call(self.scope.spelled(fn), args, keywords)

    def _part(self, part: Part, found: ast.expr) -> ast.expr:
        if part.form.startswith("None"):
            return ast.Call(self.builtin("getattr"), [found, ast.Constant(part.name), ast.Constant(None)], [])
        read = ast.Attribute(found, part.name, ast.Load())
        if part.form == "float":  # NumPy's, or Python's
            return ast.Call(self.builtin("float"), [read], [])
        return ast.Call(self.scope.spelled(np.array), [read], []) if part.form.endswith("]") else read

    def _library_call(self, fn: LibraryCall, atoms: list[ast.expr]) -> ast.expr:
        """The call as the user wrote it; functions that captured something are partial."""

        def given(each: Given) -> ast.expr:
            if isinstance(each, tuple):
                return ast.Tuple([given(item) for item in each], ast.Load())
            return atoms[each] if isinstance(each, int) else self._callback(each, [given(g) for g in each.given])

        keywords = [ast.keyword(name, given(each)) for name, each in fn.kwargs]
        return ast.Call(self.scope.spelled(fn.fn), [given(each) for each in fn.args], keywords)

    def _callback(self, back: Callback, held: list[ast.expr]) -> ast.expr:
        if back.name:
            return ast.Attribute(held[0], back.name, ast.Load())
        function, *rest = held if back.function is None else (self._function(back.function), *held)
        split = len(rest) - len(back.names)
        named = [ast.keyword(name, value) for name, value in zip(back.names, rest[split:], strict=True)]
        partial = self.scope.member("functools", "partial")
        return ast.Call(partial, [function, *rest[:split]], named) if rest else function

    def _function(self, function: Function) -> ast.expr:
        return ast.Name(self.scope.functions[function], ast.Load())

    def _observed(self, fn: Observed, args: list[ast.expr], keywords: list[ast.keyword]) -> ast.expr:
        what = ast.Attribute(args[0], fn.name, ast.Load()) if fn.name else self._op(fn.fn, args, keywords)
        own = [ast.keyword("own", ast.Constant(True))] if fn.own else []
        return ast.Call(self.scope.spelled(observed), [what, ast.Constant(fn.form), ast.Constant(fn.site)], own)

    def _make(self, make: Make, look: Look) -> ast.expr:
        items = [look(item) for item in make.items]
        if issubclass(make.cls, Closure):
            return self._callback(Callback((), function_of(make.cls)), items)
        if make.cls is tuple:
            return ast.Tuple(items, ast.Load())
        if make.cls is list:
            return ast.List(items, ast.Load())
        if issubclass(make.cls, tuple):
            return ast.Call(self.scope.spelled(make.cls), items, [])
        if make.keys is None:
            return ast.Call(self.scope.spelled(make.cls), [ast.Tuple(items, ast.Load())] if items else [], [])
        if make.cls is dict:
            return self._dict(make.keys, items)
        made = self.scope.spelled(instance)
        return ast.Call(made, [self.scope.spelled(make.cls), self._dict(make.keys, items)], [])

    def _dict(self, keys: tuple[Any, ...], items: list[ast.expr]) -> ast.expr:
        trees = [self.atom(k) if isinstance(k, Var | Lit | Ext) else constant(k, self.scope) for k in keys]
        return ast.Dict(list(trees), items)
