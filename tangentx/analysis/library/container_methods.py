"""Methods of lists and dicts, loops over what is in a dict, and augmented assignment to containers."""

from __future__ import annotations

import inspect
import operator
from typing import TYPE_CHECKING, Any

from tangentx.analysis.infer.containers import append_to, copied, expanded, merged, new_dict, popped
from tangentx.analysis.infer.functions import external
from tangentx.analysis.infer.inlining import INLINED, standin
from tangentx.analysis.library import model_bodies
from tangentx.analysis.library.out_argument import let
from tangentx.analysis.library.standard_library import table_of
from tangentx.analysis.types.kinds import BOTTOM, MISSING, Bottom, Box, Kind, Num, Obj, Some, join
from tangentx.analysis.types.primitives import is_primitive
from tangentx.analysis.types.selection import demand_key, known_key
from tangentx.common.naming import with_article
from tangentx.errors import UnsupportedSyntax
from tangentx.ir import markers
from tangentx.ir import nodes as ir
from tangentx.ir.nodes import (
    Append,
    Apply,
    Assign,
    Atom,
    Augment,
    Block,
    Delete,
    Expr,
    Ext,
    Index,
    Key,
    Lit,
    Make,
    Method,
    Op,
    Pop,
    Slice,
    Store,
    Var,
)
from tangentx.ir.walk import reads, statements

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


# Methods of lists and dicts, and augmented assignment to them.


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
    return standin(w, model_bodies.take, (base, index))


def _extend(w: Walker, expr: Method, atom: Atom, kind: Box) -> tuple[Expr, Kind]:
    return extend(w, expr.base, kind, expr.args[0])


def extend(w: Walker, base: Atom, kind: Box, values: Atom) -> tuple[Expr, Kind]:
    """``base.extend(values)``"""
    _, other = w.read(values)
    if base == values:
        return standin(w, model_bodies.double, (base,))
    if not (isinstance(other, Box) and other.region.root() is kind.region.root()):
        return standin(w, model_bodies.extend, (base, values))

    def build() -> Block:
        copy = w.temporary()
        return (
            Assign(copy, Op(list, (values,)), w.span),
            Assign(w.temporary(), Method(base, "extend", (Var(copy),)), w.span),
        )

    return expanded(w, "aliased", build)


def _asked(w: Walker, expr: Method, atom: Atom, kind: Box) -> tuple[Expr, Kind]:
    return w.walk(Op(getattr(list, expr.name), (expr.base, *expr.args)))


def _copy_list(w: Walker, expr: Method, atom: Atom, kind: Box) -> tuple[Expr, Kind]:
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
        standin(w, model_bodies.erase, (s.base, part.start, part.stop, part.step))
    else:
        w.expand("taken", lambda: (Assign(w.temporary(), Method(s.base, "pop", (part,)), s.span),))


def store_items(w: Walker, s: Store) -> None:
    """``base[start:stop:step] = values`` of a list"""
    part = s.key.parts[0]
    assert isinstance(part, Slice)
    _, step = w.read(part.step)
    if step == Obj(None) or (isinstance(step, Num) and step.value == 1):
        standin(w, model_bodies.replace, (s.base, part.start, part.stop, s.value))
    else:
        standin(w, model_bodies.scatter, (s.base, part.start, part.stop, part.step, s.value))


LIST_METHODS: dict[tuple[str, int], Any] = {
    ("append", 1): _append,
    ("pop", 0): _pop,
    ("pop", 1): _pop_at,
    ("copy", 0): _copy_list,
    ("index", 1): _asked,
    ("index", 2): _asked,
    ("index", 3): _asked,
    ("count", 1): _asked,
    ("extend", 1): _extend,
    ("insert", 2): model_bodies.insert,
    ("remove", 1): model_bodies.remove,
    ("reverse", 0): model_bodies.reverse,
    ("clear", 0): model_bodies.clear,
}


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
    assert isinstance(kind, Box)
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
    return standin(w, model_bodies.values, (expr.base,))


def _items(w: Walker, expr: Method, atom: Atom, kind: Box) -> tuple[Expr, Kind]:
    demand_consumed(w, kind)
    return standin(w, model_bodies.items, (expr.base,))


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
    return standin(w, model_bodies.get, (expr.base, *expr.args, *(Lit(None),) * (2 - len(expr.args))))


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
    standin(w, model_bodies.update_pairs, (base, *others))
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


def _copy_dict(w: Walker, expr: Method, atom: Atom, kind: Box) -> tuple[Expr, Kind]:
    return new_dict(w, (expr.base,), ())


DICT_METHODS: dict[tuple[str, int], Any] = {
    ("copy", 0): _copy_dict,
    ("get", 1): _get,
    ("get", 2): _get,
    ("setdefault", 2): model_bodies.setdefault,
    ("pop", 1): model_bodies.take_key,
    ("pop", 2): model_bodies.take_key_or,
    ("popitem", 0): model_bodies.popitem,
    ("clear", 0): model_bodies.clear_table,
    ("keys", 0): _keys,
    ("values", 0): _values,
    ("items", 0): _items,
}


def container_method(w: Walker, expr: Method, atom: Atom, kind: Box) -> tuple[Expr, Kind]:
    """A method of a list or a dict."""
    names = [name for name, _ in expr.kwargs]
    table: dict[Any, Any] = LIST_METHODS if kind.cls is list else DICT_METHODS
    rule = table.get((expr.name, len(expr.args)))
    if expr.name == "update" and kind.cls is dict and len(expr.args) < 2:
        return update(w, expr, kind)
    if kind.cls is list and expr.name == "sort" and set(names) <= {"key", "reverse"} and not expr.args:
        return sort(w, expr)
    if rule is None or names:
        raise UnsupportedSyntax(
            f"`{expr.name}` of {with_article(kind.cls.__name__)} with these arguments is not differentiated",
            w.span,
            "write it with a loop, append, pop and writes by index or key",
        )
    if inspect.isfunction(rule) and rule in INLINED:
        return standin(w, rule, (expr.base, *expr.args))
    result: tuple[Expr, Kind] = rule(w, expr, atom, kind)
    return result


def augment(w: Walker, s: Augment, kind: Box) -> None:
    """``target += values`` of a list, ``target |= other`` of a dict: written in place"""
    base = Var(s.target)
    if kind.cls is list and s.fn is operator.add:
        extend(w, base, kind, s.value)
    elif kind.cls is list and s.fn is operator.mul:
        standin(w, model_bodies.multiply, (base, s.value))
    elif kind.cls is dict and s.fn is operator.or_:
        merge(w, base, (s.value,))
    else:
        raise UnsupportedSyntax(
            "this augmented assignment to a container is not differentiated", s.span, "write it item by item"
        )


# Loops over ``x.items()``, ``x.keys()`` and ``x.values()``, of dicts and of classes with methods of these names.


def _is_own(w: Walker, base: Atom) -> bool:
    """Whether the method that is called is no dict's."""
    kind = w.read(table_of(w, base))[1]
    return not isinstance(kind, Bottom) and not (isinstance(kind, Box) and kind.cls is dict)


def _found(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind]:
    """The keys of a dict, or what the method gives, called where the loop begins."""
    base, method = args
    if not _is_own(w, base):
        return keys(w, table_of(w, base))
    assert isinstance(method, Lit)
    name = str(method.value)

    def build() -> Block:
        made = w.temporary()
        given = Assign(made, Method(base, name, ()), w.span)
        return given, Assign(w.temporary(), Op(ir.sequence, (Var(made),)), w.span)

    return expanded(w, "viewed", build)


def _entry_key(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind]:
    base, method, found, index = args
    if method == Lit("values") or not _is_own(w, base):
        return w.walk(Index(found, Key((index,))))
    return _part(w, found, index, 0)


def _entry_value(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind]:
    base, method, found, index, key = args
    if not _is_own(w, base):
        return w.walk(Index(base, Key((key,))))
    return w.read(key) if method == Lit("values") else _part(w, found, index, 1)


def _part(w: Walker, found: Atom, index: Atom, place: int) -> tuple[Expr, Kind]:
    """One of the two that stand at a place of what a method of the user's gives."""
    pair = let(w, ("pair", place), Index(found, Key((index,))))
    kind = w.read(pair)[1]
    if isinstance(kind, Bottom):
        return Lit(None), BOTTOM
    if not (isinstance(kind, Box) and kind.cls is tuple and is_fixed(kind) and len(kind.region.root().fields) == 2):
        message = "the items of an object of this class are not known to be tuples of two"
        raise UnsupportedSyntax(message, w.span, "give the result of the method a name, and loop over that")
    return w.walk(Index(pair, Key((Lit(place),))))


VIEWED = {ir.keys: _found, markers.entry_key: _entry_key, markers.entry_value: _entry_value}
