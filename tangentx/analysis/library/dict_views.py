"""Loops over ``x.items()``, ``x.keys()`` and ``x.values()``, of dicts and of classes with methods of these names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tangentx.analysis.infer.containers import expanded
from tangentx.analysis.library.collection_classes import table_of
from tangentx.analysis.library.container_methods import is_fixed, keys
from tangentx.analysis.library.out_argument import let
from tangentx.analysis.types.kinds import BOTTOM, Bottom, Box, Kind
from tangentx.errors import UnsupportedSyntax
from tangentx.ir import markers
from tangentx.ir import nodes as ir
from tangentx.ir.nodes import Assign, Atom, Block, Expr, Index, Key, Lit, Method, Op, Var

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


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
