"""Call arguments: starred ones expanded, all of them bound to parameters, defaults filled in."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tangentx import arrays
from tangentx.analysis.types.kinds import Arr, Bottom, Box, describe
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.nodes import Apply, Assign, Atom, Block, Expr, Function, Index, Key, Lit, Make, Method, Op, Var

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker

Room = Callable[[int, list[str]], int | None]
Named = tuple[tuple[str, Atom], ...]
Called = TypeVar("Called", Apply, Method)


class Misfit(Exception):
    """Arguments that the function does not take; `reason` is the message of Python's own TypeError."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def spread(w: Walker, expr: Called, room: Room) -> Called | None:
    """The call with its starred arguments written one by one; None where their kinds are not known yet.

    ``room(given, named)`` says how many arguments by position the callee takes beside those, if that is certain: so
    many items are taken from an array or a list of unknown length.
    """
    double = [i for i, (name, _) in enumerate(expr.kwargs) if name == "**"]
    if any(isinstance(w.read(expr.args[i])[1], Bottom) for i in expr.stars):
        return None
    if any(isinstance(w.read(expr.kwargs[i][1])[1], Bottom) for i in double):
        return None
    named: list[tuple[str, Atom]] = []
    for i, (name, atom) in enumerate(expr.kwargs):
        named += _entries(w, atom, i) if i in double else [(name, atom)]
    args: list[Atom] = []
    for i, atom in enumerate(expr.args):
        given = len(args) + len(expr.args) - i - 1
        args += _items(w, atom, i, room, given, [k for k, _ in named]) if i in expr.stars else [atom]
    met: set[str] = set()
    for name, _ in named:
        if name in met:
            raise Misfit(f"got multiple values for keyword argument '{name}'")
        met.add(name)
    return replace(expr, args=tuple(args), kwargs=tuple(named), stars=())


def _items(w: Walker, atom: Atom, place: int, room: Room, given: int, named: list[str]) -> list[Atom]:
    """The items of a starred argument."""
    _, kind = w.read(atom)
    if isinstance(kind, Box) and issubclass(kind.cls, list | tuple):
        node = kind.region.root()
        if not node.open and not node.resized:
            return _taken(w, atom, list(range(len(node.fields))), ("star", place))
    elif isinstance(kind, Box) and kind.cls is dict:
        return [Lit(key) for key in _keys(w, kind)]
    elif not isinstance(kind, Arr):
        raise UnsupportedSyntax(
            f"`*` unpacks {describe(kind)}, which is not differentiated", w.span, "give a list, a tuple or an array"
        )
    count = room(given, named)
    if count is None:
        raise UnsupportedSyntax(
            f"how many arguments `*` makes of {describe(kind)} is not known here",
            w.span,
            "unpack it first, `a, b = ...`, and pass the names",
        )
    checked = _kept(w, Op(arrays.fitting, (atom, Lit(count))), ("room", place, count))
    return _taken(w, checked, list(range(count)), ("star", place, count))


def _entries(w: Walker, atom: Atom, place: int) -> list[tuple[str, Atom]]:
    """The entries of a ``**`` argument."""
    _, kind = w.read(atom)
    if not (isinstance(kind, Box) and kind.cls is dict):
        raise UnsupportedSyntax(f"`**` unpacks {describe(kind)}, which is not differentiated", w.span, "give a dict")
    keys = _keys(w, kind)
    if any(not isinstance(key, str) for key in keys):
        raise Misfit("keywords must be strings")
    return list(zip(keys, _taken(w, atom, keys, ("entries", place)), strict=True))


def _keys(w: Walker, kind: Box) -> list[Any]:
    node = kind.region.root()
    if node.open or node.written:
        raise UnsupportedSyntax(
            "the keys of this dict are not known here, for it is written", w.span, "write the arguments one by one"
        )
    return list(node.fields)


def _taken(w: Walker, base: Atom, keys: list[Any], tag: Any) -> list[Atom]:
    """The items of `base` at the keys, each in a temporary."""
    return [_kept(w, Index(base, Key((Lit(key),))), (tag, key)) for key in keys]


def _kept(w: Walker, value: Expr, tag: Any) -> Atom:
    """A temporary that holds the value."""

    def build() -> Block:
        return (Assign(w.temporary(), value, w.span),)

    key = (id(w.statement), tag)
    w.expand(tag, build)
    last = w.instance.expansions[key][-1]
    assert isinstance(last, Assign)
    return Var(last.target)


def room_of(source: Function, first: int = 0) -> Room:
    """How many more arguments by position a function takes that is given `first` more of them."""

    def room(given: int, named: list[str]) -> int | None:
        if any(p.kind == "args" for p in source.params):
            return None
        places = [p for p in source.params if p.kind in ("normal", "positional")][first + given :]
        free = [p for p in places if p.name not in named or p.kind == "positional"]
        return len(free) if all(p.default is None for p in free) else None

    return room


def room_by_signature(fn: Any) -> Room:
    """As `room_of`, for a class, a ufunc or a builtin function."""
    if isinstance(fn, np.ufunc):
        return lambda given, named: fn.nin - given if given < fn.nin and not named else None
    try:
        params = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return lambda given, named: None
    single = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)

    def room(given: int, named: list[str]) -> int | None:
        free = [p for p in params if p.kind in single and p.name not in named][given:]
        many = any(p.kind == inspect.Parameter.VAR_POSITIONAL for p in params)
        return None if many or any(p.default is not p.empty for p in free) else len(free)

    return room


def bind(w: Walker, source: Function, args: tuple[Atom, ...], kwargs: Named) -> tuple[Atom, ...]:
    """Arguments in the order of the parameters, defaults filled in. Raises Misfit where they do not fit."""
    given = dict(kwargs)
    rest = list(args)
    bound: list[Atom] = []
    for param in source.params:
        if param.kind == "args":
            bound.append(_gathered(w, source, Make(tuple, tuple(rest))))
            rest = []
        elif param.kind == "kwargs":
            bound.append(_gathered(w, source, Make(dict, tuple(given.values()), tuple(given))))
            given = {}
        elif rest and param.kind in ("normal", "positional"):
            bound.append(rest.pop(0))
            if param.name in given and param.kind == "normal":
                raise _misfit(source, args, kwargs)
        elif param.name in given and param.kind != "positional":
            bound.append(given.pop(param.name))
        elif param.default is None:
            raise _misfit(source, args, kwargs)
        else:  # a default that was computed is one of the first arguments
            captured = [i for i, p in enumerate(source.params[: len(bound)]) if Var(p.name) == param.default]
            bound.append(bound[captured[0]] if captured else param.default)
    if rest or given:
        raise _misfit(source, args, kwargs)
    return tuple(bound)


def _gathered(w: Walker, source: Function, made: Make) -> Atom:
    return _kept(w, made, ("gathered", source.name, made.items, made.keys))


def _misfit(source: Function, args: tuple[Atom, ...], kwargs: Named) -> Misfit:
    kinds = {
        "positional": inspect.Parameter.POSITIONAL_ONLY,
        "args": inspect.Parameter.VAR_POSITIONAL,
        "keyword": inspect.Parameter.KEYWORD_ONLY,
        "kwargs": inspect.Parameter.VAR_KEYWORD,
    }
    params = []
    for p in source.params:
        default = inspect.Parameter.empty if p.default is None else None
        params.append(
            inspect.Parameter(p.name, kinds.get(p.kind, inspect.Parameter.POSITIONAL_OR_KEYWORD), default=default)
        )
    name = getattr(source.origin, "__qualname__", source.name)
    return Misfit(message_of(inspect.Signature(params), name, args, kwargs))


def message_of(signature: inspect.Signature, name: str, args: tuple[Atom, ...], kwargs: Named, own: int = 0) -> str:
    """What Python says of arguments that do not fit, asked of a function with these parameters and an empty body.

    `own` parameters that the signature leaves out come first.
    """
    params = [
        p.replace(annotation=p.empty, default=p.empty if p.default is p.empty else None)
        for p in signature.parameters.values()
    ]
    first = [inspect.Parameter(f"self{i}", inspect.Parameter.POSITIONAL_ONLY) for i in range(own)]
    space: dict[str, Any] = {}
    exec(f"def f{inspect.Signature([*first, *params])}: pass", space)
    stand_in = space["f"]
    stand_in.__qualname__ = name
    try:
        stand_in(*first, *args, **dict(kwargs))
    except TypeError as error:
        return str(error)
    raise AssertionError(f"the arguments fit {name}")
