"""Methods of dicts, and what else makes, reads or writes them as a whole."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from tangentx.analysis import standins
from tangentx.analysis.containers import copied, expanded, merged, new_dict
from tangentx.analysis.inlining import standin
from tangentx.analysis.kinds import BOTTOM, MISSING, Bottom, Box, Kind, Num, Obj, Some, describe
from tangentx.analysis.primitives import is_primitive
from tangentx.analysis.regions import join
from tangentx.analysis.selection import demand_key, known_key
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.nodes import (
    Apply,
    Assign,
    Atom,
    Block,
    Expr,
    Ext,
    Index,
    Lit,
    Make,
    Method,
    Op,
    Var,
)
from tangentx.ir.walk import reads, statements

if TYPE_CHECKING:
    from tangentx.analysis.infer import Walker

Named = tuple[tuple[str, Atom], ...]


def is_fixed(kind: Box) -> bool:
    """Whether the container has exactly the items that its kind lists, in that order."""
    node = kind.region.root()
    return not node.open and not node.written


def keys(w: Walker, base: Atom) -> tuple[Expr, Kind]:
    """The keys of a dict, in order, as a list."""
    atom, kind = w.read(base)
    if isinstance(kind, Bottom):
        return atom, BOTTOM
    if not (isinstance(kind, Box) and kind.cls is dict):
        raise UnsupportedSyntax(
            f"this method of {describe(kind)} in the head of a loop", w.span, "give its result a name first"
        )
    node = kind.region.root()
    if is_fixed(kind):
        return w.walk(Make(list, tuple(Lit(k) for k in node.fields)))
    found: Kind = node.key
    for key in node.fields:
        found = join(found, _kind_of_key(w, key))
    demand_key(w, kind, found)
    box = Box(list, w.fresh("keys")(()))
    box.region.mark("open")
    box.region.put_any(found)
    return Op(list, (atom,)), box


def _kind_of_key(w: Walker, key: Any) -> Kind:
    kind = w.program.valuer.kind(key)
    return Some(str) if isinstance(kind, Obj) and isinstance(key, str) else kind


def _keys(w: Walker, expr: Method, atom: Atom, kind: Box) -> tuple[Expr, Kind]:
    demand_consumed(w, kind)
    return w.walk(Op(list, (expr.base,)))


def _values(w: Walker, expr: Method, atom: Atom, kind: Box) -> tuple[Expr, Kind]:
    demand_consumed(w, kind)
    if is_fixed(kind):
        return copied(w, expr.base, list, list(kind.region.root().fields))
    return standin(w, standins.values, (expr.base,))


def _items(w: Walker, expr: Method, atom: Atom, kind: Box) -> tuple[Expr, Kind]:
    demand_consumed(w, kind)
    return standin(w, standins.items, (expr.base,))


def _is_consumed(w: Walker) -> bool:
    """Whether what the statement in hand makes goes to nothing but operations, which keep nothing."""
    if not isinstance(w.statement, Assign):
        return True
    target = w.statement.target
    if not target.startswith("%"):
        return False
    used = [s for s in statements(w.instance.source.body) if target in reads(s)]
    return all(isinstance(s, Assign) and _keeps_nothing(s.value, target) for s in used)


def _keeps_nothing(value: Expr, target: str) -> bool:
    if isinstance(value, Method):
        return value.name in ("extend", "update", "join") and value.base != Var(target)
    if isinstance(value, Apply):
        return isinstance(value.fn, Ext) and (
            is_primitive(value.fn.value) or any(value.fn.value is fn for fn in _CONSUMERS)
        )
    return isinstance(value, Op | Index)


_CONSUMERS = (sum, list, tuple, max, min, sorted, set, frozenset, len, any, all)


def demand_consumed(w: Walker, kind: Box) -> None:
    """Refuses to hold a view of a dict that is written: the list in its place would not follow the dict."""
    if not is_fixed(kind) and not _is_consumed(w):
        raise UnsupportedSyntax(
            "a view of a dict is kept, and the dict changes", w.span, "make a list of it: list(d.values())"
        )


def _get(w: Walker, expr: Method, atom: Atom, kind: Box) -> tuple[Expr, Kind]:
    return standin(w, standins.get, (expr.base, *expr.args, *(Lit(None),) * (2 - len(expr.args))))


def update(w: Walker, expr: Method, kind: Box) -> tuple[Expr, Kind]:
    """``base.update(other, name=value)``"""
    merge(w, expr.base, expr.args, expr.kwargs)
    return Lit(None), Obj(None)


def merge(w: Walker, base: Atom, others: tuple[Atom, ...], named: Named = ()) -> None:
    """Puts the entries of the dict or the pairs `others`, and the named ones, into the dict `base`."""
    kinds = [w.read(other)[1] for other in others]
    if any(isinstance(kind, Bottom) for kind in kinds):
        return
    if all(isinstance(kind, Box) and kind.cls is dict for kind in kinds):
        merged(w, base, others, named)
        return
    standin(w, standins.update_pairs, (base, *others))
    merged(w, base, (), named)


def made_dict(w: Walker, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """``dict(other, name=value)``; the other may be given by pairs."""
    kind = w.read(args[0])[1] if args else BOTTOM
    if not args or isinstance(kind, Bottom) or (isinstance(kind, Box) and kind.cls is dict):
        return new_dict(w, args, kwargs)

    def build() -> Block:
        made = w.temporary()
        put = Method(Var(made), "update", args, kwargs)
        start = (Assign(made, Make(dict, (), ()), w.span), Assign(w.temporary(), put, w.span))
        return (*start, Assign(w.temporary(), Var(made), w.span))

    return expanded(w, "dict of pairs", build)


def contains(w: Walker, base: Atom, key: Atom) -> tuple[Expr, Kind] | None:
    """``key in base`` for a dict: known where its keys are, else asked at run time; None for another container."""
    atom, kind = w.read(base)
    asked, part = w.read(key)
    if not (isinstance(kind, Box) and kind.cls is dict):
        return None
    demand_key(w, kind, part)
    known = known_key(kind, part) if is_fixed(kind) else MISSING
    if known is not MISSING:
        there = known in kind.region.root().fields
        return Lit(there), Num(bool, value=there)
    return Op(operator.contains, (atom, asked)), Num(bool)


def _copy(w: Walker, expr: Method, atom: Atom, kind: Box) -> tuple[Expr, Kind]:
    return new_dict(w, (expr.base,), ())


METHODS: dict[tuple[str, int], Any] = {
    ("copy", 0): _copy,
    ("get", 1): _get,
    ("get", 2): _get,
    ("setdefault", 2): standins.setdefault,
    ("pop", 1): standins.take_key,
    ("pop", 2): standins.take_key_or,
    ("popitem", 0): standins.popitem,
    ("clear", 0): standins.clear_table,
    ("keys", 0): _keys,
    ("values", 0): _values,
    ("items", 0): _items,
}
