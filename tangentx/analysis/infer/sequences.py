"""Lists and tuples built from others: copied, concatenated, repeated."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tangentx import arrays
from tangentx.analysis.infer.containers import copied, copied_list, expanded, make
from tangentx.analysis.infer.functions import external, value_class
from tangentx.analysis.library.container_methods import is_fixed, keys
from tangentx.analysis.types.kinds import BOTTOM, Arr, Bottom, Box, Kind, Num, Obj, Region, varied
from tangentx.analysis.types.samples import of_any_length
from tangentx.errors import UnsupportedSyntax
from tangentx.ir import markers
from tangentx.ir.nodes import (
    Append,
    Apply,
    Assign,
    Atom,
    Block,
    Delete,
    Expr,
    Ext,
    For,
    Index,
    Key,
    Lit,
    Make,
    Op,
    Var,
    sequence,
)

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


def listed(cls: type) -> Callable[[Walker, tuple[Atom, ...], list[Kind]], tuple[Expr, Kind] | None]:
    """``list(x)`` or ``tuple(x)``"""

    def build(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
        if not args:
            return make(w, Make(cls, ()))
        kind = kinds[0]
        if isinstance(kind, Box) and issubclass(kind.cls, list | tuple):
            node = kind.region.root()
            if not node.open:
                return copied(w, args[0], cls, list(range(len(node.fields))))
            if cls is list:
                return copied_list(w, args[0], None)
        if isinstance(kind, Arr) and cls is list:
            return copied_list(w, args[0], None)
        if isinstance(kind, Box) and kind.cls is dict and cls is list:
            return keys(w, args[0])
        return None if not varied(kind) and (not isinstance(kind, Box) or of_any_length(kind)) else _refuse_copy(w, cls)

    return build


def _refuse_copy(w: Walker, cls: type) -> tuple[Expr, Kind]:
    raise UnsupportedSyntax(
        f"`{cls.__name__}(...)` of this value is not differentiated", w.span, "build it item by item"
    )


def column(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind]:
    """What stands at a place in each of several rows, as a tuple."""
    rows, place = args
    if isinstance(kinds[0], Bottom):
        return Lit(None), BOTTOM
    if not isinstance(kinds[0], Box) or kinds[0].region.root().open:
        hint = "name the items of a column, as in `for a, b in zip(*rows)`, or write `[row[j] for row in rows]`"
        raise UnsupportedSyntax(
            "how many items a column has is not known: there may be any number of rows", w.span, hint
        )
    count = len(kinds[0].region.root().fields)

    def build() -> Block:
        out: list[Assign] = []
        for number in range(count):
            row, seq, item = (w.temporary() for _ in range(3))
            out += [
                Assign(row, Index(rows, Key((Lit(number),))), w.span),
                Assign(seq, Op(sequence, (Var(row),)), w.span),
                Assign(item, Index(Var(seq), Key((place,))), w.span),
            ]
        items = tuple(Var(s.target) for s in out[2::3])
        return (*out, Assign(w.temporary(), Make(tuple, items), w.span))

    return expanded(w, ("column", count), build)


def unwritten(w: Walker, args: tuple[Atom, ...]) -> tuple[Expr, Kind]:
    """Refuses memory that may be written after all of it has been read before its time."""
    deep, shallow = (count.value for count in args[:2] if isinstance(count, Lit))
    assert isinstance(deep, int) and isinstance(shallow, int)
    if not w.program.final:
        return Lit(None), Obj(None)
    read = set().union(*(_all_within(w, atom) for atom in args[2 : 2 + deep]))
    read.update(*(_themselves(w, atom) for atom in args[2 + deep : 2 + deep + shallow]))
    written = set().union(*(_all_within(w, atom) for atom in args[2 + deep + shallow :]))
    outside = any(_looks_out(w, atom) for atom in args[2 + deep + shallow :])
    if any(region.written and (region in written or (outside and region.external)) for region in read):
        message = "an iterator reads what may be overwritten before Python comes to it"
        raise UnsupportedSyntax(message, w.span, "iterate over a copy, or over a list of what the iterator gives")
    return Lit(None), Obj(None)


def unresized(w: Walker, args: tuple[Atom, ...]) -> tuple[Expr, Kind]:
    """Asks for the length of what is iterated before each item is read, where the loop may change it."""
    (atom, kind), count, *others = w.read(args[0]), *args[1:]
    top = kind.region.root() if isinstance(kind, Box) and kind.cls in (list, dict) else None
    changed = top is not None and (top.resized if isinstance(kind, Box) and kind.cls is list else top.written)
    if changed and any(top in _all_within(w, other) for other in others):
        return Op(arrays.same_length, (atom, w.read(count)[0])), Obj(None)
    return Lit(None), Obj(None)


def blind(w: Walker, args: tuple[Atom, ...]) -> tuple[Expr, Kind]:
    """Refuses an iterator that may look at the list or dict that is filled with what it gives."""
    base, *others = args
    kind = w.read(base)[1]
    if isinstance(kind, Box) and w.program.final:
        seen = set().union(*(_all_within(w, atom) for atom in others))
        outside = kind.region.root().external and any(_looks_out(w, atom) for atom in others)
        if outside or kind.region.root() in seen:
            message = "an iterator that may look at what it fills"
            raise UnsupportedSyntax(message, w.span, "make a list of the iterator first: list(...)")
    return Lit(None), Obj(None)


def _looks_out(w: Walker, atom: Atom) -> bool:
    """Whether it is from outside, or a function, which may name what is."""
    return isinstance(atom, Ext) or any(value_class(kind) is not None for kind in _kinds(w, atom))


def _kinds(w: Walker, atom: Atom) -> list[Kind]:
    """The kinds of what a name means anywhere in the function, or of what stands outside."""
    if not isinstance(atom, Var):
        return [] if isinstance(atom, Lit) else [w.read(atom)[1]]
    return [d.kind for d in w.instance.definitions.values() if d.name == atom.name]


def _all_within(w: Walker, atom: Atom) -> set[Region]:
    return set().union(*(within(kind) for kind in _kinds(w, atom)))


def _themselves(w: Walker, atom: Atom) -> set[Region]:
    return {kind.region.root() for kind in _kinds(w, atom) if isinstance(kind, Arr | Box)}


def within(kind: Kind, found: set[Region] | None = None) -> set[Region]:
    """The memory that a value refers to, at any depth."""
    found = set() if found is None else found
    node = kind.region.root() if isinstance(kind, Arr | Box) else None
    if node is not None and node not in found:
        found.add(node)
        for item in (*node.fields.values(), node.elt):
            within(item, found)
    return found


def joined(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    """``a + b`` of two tuples or two lists: a new one of the items of both."""
    a, b = kinds
    if not (isinstance(a, Box) and isinstance(b, Box) and a.cls is b.cls and a.cls in (list, tuple)):
        return None
    if not a.region.root().open and not b.region.root().open:
        cls, counts = a.cls, [len(k.region.root().fields) for k in (a, b)]

        def fixed() -> Block:
            names = [w.temporary() for _ in range(sum(counts))]
            places = [(base, i) for base, n in zip(args, counts, strict=True) for i in range(n)]
            taken = [Assign(t, Index(x, Key((Lit(i),))), w.span) for t, (x, i) in zip(names, places, strict=True)]
            made = w.temporary()
            return (*taken, Assign(made, Make(cls, tuple(Var(t) for t in names)), w.span))

        return expanded(w, f"joined{counts}", fixed)
    if a.cls is tuple:
        raise UnsupportedSyntax("tuples of unknown length are joined", w.span, "use lists")

    def grown() -> Block:
        made, span = w.temporary(), w.span
        out: list[Any] = [Assign(made, Make(list, ()), span)]
        for base in args:
            n, k, item = w.temporary(), w.temporary(), w.temporary()
            body = (Assign(item, Index(base, Key((Var(k),))), span), Append(Var(made), Var(item), span))
            out += [Assign(n, Op(builtins.len, (base,)), span), For(k, Lit(0), Var(n), Lit(1), False, body, span)]
        return (*out, Assign(w.temporary(), Var(made), span))

    return expanded(w, "joined", grown)


def repeated(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    """``items * n`` of a list or tuple: a new one of its items, n times over."""
    (items, base), (times, count) = sorted(zip(kinds, args, strict=True), key=lambda pair: not isinstance(pair[0], Box))
    if not (isinstance(items, Box) and items.cls in (list, tuple) and isinstance(times, Num)):
        return None
    node = items.region.root()
    if not node.open and isinstance(times.value, int):
        return copied(w, base, items.cls, list(range(len(node.fields))) * times.value)
    if items.cls is tuple:
        raise UnsupportedSyntax("a tuple is repeated a number of times that is not known", w.span, "use a list")

    def build() -> Block:
        made, n, j, k, item = (w.temporary() for _ in range(5))
        span = w.span
        inner = (Assign(item, Index(base, Key((Var(k),))), span), Append(Var(made), Var(item), span))
        body = (For(k, Lit(0), Var(n), Lit(1), False, inner, span),)
        return (
            Assign(made, Make(list, ()), span),
            Assign(n, Op(builtins.len, (base,)), span),
            For(j, Lit(0), count, Lit(1), False, body, span),
            Assign(w.temporary(), Var(made), span),
        )

    return expanded(w, "repeated", build)


def without(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind]:
    """A new dict without some of the entries of another."""
    kind, table = kinds[0], args[0]
    if not isinstance(kind, Box):
        return Lit(None), BOTTOM
    left = [key for key in kind.region.root().fields if Lit(key) not in args[1:]]
    fixed = is_fixed(kind) and all(isinstance(key, Lit) for key in args[1:])

    def build() -> Block:
        made, names, last = w.temporary(), [w.temporary() for _ in left], w.temporary()
        if fixed:
            taken = [Assign(t, Index(table, Key((Lit(k),))), w.span) for t, k in zip(names, left, strict=True)]
            return (*taken, Assign(last, Make(dict, tuple(map(Var, names)), tuple(left)), w.span))
        copy = Assign(made, Apply(external(w, dict, "dict"), (table,)), w.span)
        deletes = (Delete(Var(made), Key((key,)), w.span) for key in args[1:])
        return (copy, *deletes, Assign(last, Var(made), w.span))

    return expanded(w, ("without", fixed, tuple(left)), build)


MARKED: dict[Any, Any] = {markers.column: column, markers.without: without}
ASKING: dict[Any, Callable[[Walker, tuple[Atom, ...]], tuple[Expr, Kind]]] = {
    markers.unwritten: unwritten,
    markers.unresized: unresized,
    markers.blind: blind,
}
"""Questions about memory, of atoms that may be functions too."""
