"""Inlining of library models: the model's body replaces the call."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tangentx.analysis.infer.containers import expanded
from tangentx.analysis.library import array_write_bodies, container_method_bodies, itertools_models
from tangentx.analysis.types.kinds import Kind
from tangentx.ir.nodes import (
    Assign,
    Atom,
    Block,
    Expr,
    Ext,
    Return,
    Var,
)
from tangentx.ir.rewrite import map_atoms, rename, with_span
from tangentx.ir.walk import bound

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker

INLINED = frozenset(
    fn
    for module in (container_method_bodies, itertools_models, array_write_bodies)
    for _, fn in inspect.getmembers(module, inspect.isfunction)
    if fn.__module__ == module.__name__
)


def standin(w: Walker, fn: Callable[..., Any], args: tuple[Atom, ...], tag: Any = None) -> tuple[Expr, Kind]:
    """The statements of a stand-in in place of a call; its last one returns."""

    def build() -> Block:
        function = w.program.library(fn)
        names = {name: _local(w, name) for name in sorted(bound(function.body))}
        given: list[Any] = []
        known: dict[str, Atom] = {}
        for param, atom in zip(function.params, args, strict=True):
            if param.name in names or isinstance(atom, Ext):
                names.setdefault(param.name, w.temporary())
                given.append(Assign(names[param.name], atom, w.span))
            else:
                known[param.name] = atom
        own = rename(function.body, names)
        *body, last = with_span(map_atoms(own, lambda a: known.get(a.name, a) if isinstance(a, Var) else a), w.span)
        assert isinstance(last, Return)
        return (*given, *body, Assign(w.temporary(), last.value, w.span))

    return expanded(w, ("standin", fn, tag), build)


def _local(w: Walker, name: str) -> str:
    """A new name for a local of a stand-in: `webs` gives it the part before the mark, for the reader."""
    return w.temporary() if name.startswith(("%", "_")) else f"{name}{w.temporary()}"
