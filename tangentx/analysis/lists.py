"""Methods of lists, and what else writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tangentx.analysis import standins
from tangentx.analysis.containers import append_to, expanded, popped
from tangentx.analysis.functions import external
from tangentx.analysis.inlining import standin
from tangentx.analysis.kinds import Box, Kind, Num, Obj
from tangentx.ir.nodes import (
    Append,
    Apply,
    Assign,
    Atom,
    Block,
    Delete,
    Expr,
    Key,
    Lit,
    Method,
    Op,
    Pop,
    Slice,
    Store,
    Var,
)

if TYPE_CHECKING:
    from tangentx.analysis.infer import Walker


def _append(w: Walker, expr: Method, atom: Atom, kind: Box) -> tuple[Expr, Kind]:
    value, value_kind = w.read(expr.args[0])
    append_to(w, kind, value_kind)
    w.out.append(Append(atom, value, w.span))
    return Lit(None), Obj(None)


def _pop(w: Walker, expr: Method, atom: Atom, kind: Box) -> tuple[Expr, Kind]:
    if isinstance(atom, Var):
        return Pop(atom), popped(w, kind)

    def by_name() -> Block:
        held, taken = w.temporary(), w.temporary()
        return (Assign(held, expr.base, w.span), Assign(taken, Method(Var(held), "pop", ()), w.span))

    return expanded(w, "held", by_name)


def _pop_at(w: Walker, expr: Method, atom: Atom, kind: Box) -> tuple[Expr, Kind]:
    return take_at(w, expr.base, expr.args[0])


def take_at(w: Walker, base: Atom, index: Atom) -> tuple[Expr, Kind]:
    """``base.pop(index)``"""
    _, kind = w.read(index)
    if isinstance(kind, Num) and kind.value == -1 and type(kind.value) is int:
        return w.walk(Method(base, "pop", ()))
    return standin(w, standins.take, (base, index))


def _extend(w: Walker, expr: Method, atom: Atom, kind: Box) -> tuple[Expr, Kind]:
    return extend(w, expr.base, kind, expr.args[0])


def extend(w: Walker, base: Atom, kind: Box, values: Atom) -> tuple[Expr, Kind]:
    """``base.extend(values)``"""
    _, other = w.read(values)
    if base == values:
        return standin(w, standins.double, (base,))
    if not (isinstance(other, Box) and other.region.root() is kind.region.root()):
        return standin(w, standins.extend, (base, values))

    def build() -> Block:
        copy = w.temporary()
        return (
            Assign(copy, Op(list, (values,)), w.span),
            Assign(w.temporary(), Method(base, "extend", (Var(copy),)), w.span),
        )

    return expanded(w, "aliased", build)


def _asked(w: Walker, expr: Method, atom: Atom, kind: Box) -> tuple[Expr, Kind]:
    return w.walk(Op(getattr(list, expr.name), (expr.base, *expr.args)))


def _copy(w: Walker, expr: Method, atom: Atom, kind: Box) -> tuple[Expr, Kind]:
    return w.walk(Op(list, (expr.base,)))


def sort(w: Walker, expr: Method) -> tuple[Expr, Kind]:
    """``base.sort(key=..., reverse=...)``: the items in order, written over what is there."""

    def build() -> Block:
        ordered = w.temporary()
        made = Apply(external(w, sorted, "sorted"), (expr.base,), expr.kwargs)
        whole = Store(expr.base, Key((Slice(),)), Var(ordered), w.span)
        return (Assign(ordered, made, w.span), whole, Assign(w.temporary(), Lit(None), w.span))

    return expanded(w, "ordered", build)


def delete_items(w: Walker, s: Delete) -> None:
    """``del base[key]`` of a list"""
    part = s.key.parts[0]
    if isinstance(part, Slice):
        standin(w, standins.erase, (s.base, part.start, part.stop, part.step))
    else:
        w.expand("taken", lambda: (Assign(w.temporary(), Method(s.base, "pop", (part,)), s.span),))


def store_items(w: Walker, s: Store) -> None:
    """``base[start:stop:step] = values`` of a list"""
    part = s.key.parts[0]
    assert isinstance(part, Slice)
    _, step = w.read(part.step)
    if step == Obj(None) or (isinstance(step, Num) and step.value == 1):
        standin(w, standins.replace, (s.base, part.start, part.stop, s.value))
    else:
        standin(w, standins.scatter, (s.base, part.start, part.stop, part.step, s.value))


METHODS: dict[tuple[str, int], Any] = {
    ("append", 1): _append,
    ("pop", 0): _pop,
    ("pop", 1): _pop_at,
    ("copy", 0): _copy,
    ("index", 1): _asked,
    ("index", 2): _asked,
    ("index", 3): _asked,
    ("count", 1): _asked,
    ("extend", 1): _extend,
    ("insert", 2): standins.insert,
    ("remove", 1): standins.remove,
    ("reverse", 0): standins.reverse,
    ("clear", 0): standins.clear,
}
