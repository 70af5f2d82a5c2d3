"""Containers made, copied and popped; what a statement is expanded into."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tangentx.analysis.kinds import BOTTOM, Bottom, Box, Kind, Top
from tangentx.analysis.program import located
from tangentx.analysis.writes import demand_own
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.nodes import Append, Assign, Atom, Block, Expr, For, Index, Key, Lit, Make, Op, Slice, Var

if TYPE_CHECKING:
    from tangentx.analysis.infer import Walker


def copied(w: Walker, base: Atom, cls: type, keys: list[Any]) -> tuple[Expr, Kind]:
    """A new tuple or list of the items of `base` at known keys."""
    name = f"copied{keys}"
    result: list[str] = []

    def build() -> Block:
        items = [w.temporary() for _ in keys]
        made = w.temporary()
        result.append(made)
        taken = [Assign(t, Index(base, Key((Lit(k),))), w.span) for t, k in zip(items, keys, strict=True)]
        return (*taken, Assign(made, Make(cls, tuple(Var(t) for t in items)), w.span))

    return expanded(w, name, build)


def copied_list(w: Walker, base: Atom, part: Slice | None) -> tuple[Expr, Kind]:
    """A new list of the items of `base`, or of a slice of them, by a loop."""

    def build() -> Block:
        n, k, item, made = (w.temporary() for _ in range(4))
        span = w.span
        setup: list[Any] = [Assign(n, Op(builtins.len, (base,)), span), Assign(made, Make(list, ()), span)]
        bounds: tuple[Atom, ...] = (Lit(0), Var(n), Lit(1))
        if part is not None:
            cut, triple = w.temporary(), w.temporary()
            names = [w.temporary() for _ in range(3)]
            setup.append(Assign(cut, Op(slice, (part.start, part.stop, part.step)), span))
            setup.append(Assign(triple, Op(slice.indices, (Var(cut), Var(n))), span))
            setup += [Assign(t, Index(Var(triple), Key((Lit(i),))), span) for i, t in enumerate(names)]
            bounds = tuple(Var(t) for t in names)
        start, stop, step = bounds
        body = (Assign(item, Index(base, Key((Var(k),))), span), Append(Var(made), Var(item), span))
        last = w.temporary()
        return (*setup, For(k, start, stop, step, False, body, span), Assign(last, Var(made), span))

    return expanded(w, "copied_list", build)


def expanded(w: Walker, tag: Any, build: Callable[[], Block]) -> tuple[Expr, Kind]:
    """Walks an expansion whose last statement binds the value."""
    key = (id(w.statement), tag)
    w.expand(tag, build)
    last = w.instance.expansions[key][-1]
    assert isinstance(last, Assign)
    return w.read(Var(last.target)) if w.env is not None else (Lit(None), BOTTOM)


def make(w: Walker, expr: Make) -> tuple[Expr, Kind]:
    """A new container."""
    read = [w.read(a) for a in expr.items]
    box = Box(expr.cls, w.fresh("make")(()))
    keys = expr.keys if expr.keys is not None else tuple(range(len(read)))
    for key, (_, kind) in zip(keys, read, strict=True):
        box.region.put(key, kind)
    return Make(expr.cls, tuple(a for a, _ in read), expr.keys), box


def popped(w: Walker, kind: Kind) -> Kind:
    """The kind of what ``pop`` takes off a list."""
    if isinstance(kind, Bottom):
        return BOTTOM
    if not (isinstance(kind, Box) and kind.cls is list):
        raise UnsupportedSyntax("pop from something that is not a list", w.span, "use a list")
    demand_own(w, kind)
    kind.region.mark("written", "open", "resized")
    item = kind.region.any()
    if isinstance(item, Top):
        raise located(item, w.span)
    return item
