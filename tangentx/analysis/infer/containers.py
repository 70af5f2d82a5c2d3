"""Creating, copying and popping containers, and the statements that these expand to."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tangentx.analysis.types.kinds import BOTTOM, Arr, Bottom, Box, Kind, Top, describe, is_inexact, located
from tangentx.analysis.types.selection import demand_alike
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.functions import FunctionValue
from tangentx.ir.nodes import (
    Append,
    Assign,
    Atom,
    Block,
    Expr,
    For,
    Index,
    Key,
    Lit,
    Make,
    Op,
    Slice,
    Statement,
    Store,
    Var,
)

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


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


def copied_list(w: Walker, base: Atom, part: Slice | Atom | None) -> tuple[Expr, Kind]:
    """A new list of the items of `base`, or of a slice of them (which an atom may hold), by a loop."""

    def build() -> Block:
        n, k, item, made = (w.temporary() for _ in range(4))
        span = w.span
        setup: list[Any] = [Assign(n, Op(builtins.len, (base,)), span), Assign(made, Make(list, ()), span)]
        bounds: tuple[Atom, ...] = (Lit(0), Var(n), Lit(1))
        if part is not None:
            cut, triple = w.temporary(), w.temporary()
            names = [w.temporary() for _ in range(3)]
            held = Op(slice, (part.start, part.stop, part.step)) if isinstance(part, Slice) else part
            setup.append(Assign(cut, held, span))
            setup.append(Assign(triple, Op(slice.indices, (Var(cut), Var(n))), span))
            setup += [Assign(t, Index(Var(triple), Key((Lit(i),))), span) for i, t in enumerate(names)]
            bounds = tuple(Var(t) for t in names)
        start, stop, step = bounds
        body = (Assign(item, Index(base, Key((Var(k),))), span), Append(Var(made), Var(item), span))
        last = w.temporary()
        return (*setup, For(k, start, stop, step, False, body, span), Assign(last, Var(made), span))

    return expanded(w, "copied_list", build)


def merged(w: Walker, base: Atom, others: tuple[Atom, ...], named: tuple[tuple[str, Atom], ...]) -> None:
    """Puts the entries of the dicts `others`, and the `named` ones, into the dict `base`."""

    def build() -> Block:
        out: list[Statement] = []
        for other in others:
            out += _entries_put(w, base, other)
        return (*out, *(Store(base, Key((Lit(name),)), value, w.span) for name, value in named))

    kinds = [w.read(other)[1] for other in others]
    if not any(isinstance(kind, Bottom) for kind in kinds):
        w.expand(("merged", base, others, tuple(map(_keys_of, kinds))), build)


def _keys_of(kind: Kind) -> tuple[Any, ...] | None:
    """The keys of a dict that nobody writes; None where they are to be asked while the program runs."""
    node = kind.region.root() if isinstance(kind, Box) else None
    return tuple(node.fields) if node is not None and not node.open and not node.written else None


def _entries_put(w: Walker, base: Atom, other: Atom) -> list[Statement]:
    _, kind = w.read(other)
    if not (isinstance(kind, Box) and kind.cls is dict):
        raise UnsupportedSyntax(f"{describe(kind)} has no entries that are known here", w.span, "give a dict")
    keys, span = _keys_of(kind), w.span
    out: list[Statement] = []
    if keys is not None:
        for key in map(Lit, keys):
            item = w.temporary()
            out += [Assign(item, Index(other, Key((key,))), span), Store(base, Key((key,)), Var(item), span)]
        return out
    found, n, k, name, item = (w.temporary() for _ in range(5))
    at = Key((Var(name),))
    body = (
        Assign(name, Index(Var(found), Key((Var(k),))), span),
        Assign(item, Index(other, at), span),
        Store(base, at, Var(item), span),
    )
    out += [Assign(found, Op(list, (other,)), span), Assign(n, Op(builtins.len, (Var(found),)), span)]
    return [*out, For(k, Lit(0), Var(n), Lit(1), False, body, span)]


def new_dict(w: Walker, others: tuple[Atom, ...], named: tuple[tuple[str, Atom], ...]) -> tuple[Expr, Kind]:
    """A new dict with the entries of dicts and with named ones; the last of a name counts."""
    kinds = [w.read(other)[1] for other in others]
    if any(isinstance(kind, Bottom) for kind in kinds):
        return Lit(None), BOTTOM
    known = tuple(map(_keys_of, kinds))

    def display() -> Block:
        entries: dict[Any, Atom] = {}
        out: list[Statement] = []
        for other, keys in zip(others, known, strict=True):
            for key in keys or ():
                item = w.temporary()
                entries[key] = Var(item)
                out.append(Assign(item, Index(other, Key((Lit(key),))), w.span))
        entries.update(named)
        return (*out, Assign(w.temporary(), Make(dict, tuple(entries.values()), tuple(entries)), w.span))

    def filled() -> Block:
        made, last = w.temporary(), w.temporary()
        puts = [s for other in others for s in _entries_put(w, Var(made), other)]
        puts += [Store(Var(made), Key((Lit(name),)), value, w.span) for name, value in named]
        return (Assign(made, Make(dict, (), ()), w.span), *puts, Assign(last, Var(made), w.span))

    return expanded(w, ("new_dict", others, known), filled if None in known else display)


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
    box.region.born(keys)
    demand_alike(w, box, (kind for _, kind in read))
    cls = expr.cls
    if issubclass(cls, FunctionValue):
        w.instance.makes_functions, cls = True, tuple
    return Make(cls, tuple(a for a, _ in read), expr.keys), box


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


def append_to(w: Walker, base: Kind, value: Kind) -> None:
    """Notes the facts of ``base.append(value)``."""
    demand_own(w, base)
    if not (isinstance(base, Box) and base.cls is list):
        raise UnsupportedSyntax("append to something that is not a list", w.span, "use a list")
    base.region.mark("written", "open", "resized")
    base.region.put_any(value)


def demand_own(w: Walker, base: Kind) -> None:
    """Refuses a write that may go to an object from outside, where such objects should have become parameters."""
    if w.program.closed_to_outside and w.program.final and isinstance(base, Arr | Box) and base.region.root().external:
        raise UnsupportedSyntax(
            "this may write into an argument and into an object from outside (a global, a closure's or a default)",
            w.span,
            "pass the object as an argument, or write into a copy of it",
        )


def check_cast(w: Walker, fn: Any, kind: Kind, value: Kind) -> None:
    """An in-place operation that NumPy refuses (a real added to an integer array) is refused here too."""
    if isinstance(kind, Arr) and not is_inexact(kind) and is_inexact(value):
        raise UnsupportedSyntax(
            f"numpy cannot write the real result of `{fn.__name__}` into an array of {kind.dtype}",
            w.span,
            "make the array one of floats",
        )
