"""Assignment targets: names, attributes, subscripts and tuple patterns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import gast

from tangentx.frontend import resolve
from tangentx.frontend.calls import Calls
from tangentx.frontend.emitter import is_named
from tangentx.ir import markers
from tangentx.ir import nodes as ir


@dataclass(frozen=True)
class Column:
    """What stands at `place` in each of `rows`."""

    rows: ir.Atom
    place: ir.Atom


# A value, or the values of the items where the tuple itself is never made.
Value: TypeAlias = "ir.Expr | tuple[Value, ...] | Column"


class Targets(Calls):
    """Lifts assignments."""

    def bind(self, target: Any, value: Value, node: Any) -> None:
        """Assign `value` to `target`, as statement `node` does."""
        if isinstance(target, gast.Name):
            name = self.local(target.id)
            assert name is not None
            self.emit(ir.Assign(name, self.whole(value, node), self.span(node)))
        elif isinstance(target, gast.Subscript):
            atom = self.hold(self.whole(value, node), node)
            base = self.atom(target.value)
            self.emit(ir.Store(base, self.key(target.slice), atom, self.span(node)))
        elif isinstance(target, gast.Attribute):
            atom = self.hold(self.whole(value, node), node)
            self.emit(ir.Store(self.atom(target.value), attribute_key(target), atom, self.span(node)))
        elif isinstance(target, gast.Starred):
            self.bind(target.value, value, node)
        else:
            items = self._parts(target, value, node)
            for item, part in zip(target.elts, items, strict=True):
                self.bind(item, part, node)

    def whole(self, value: Value, node: Any) -> ir.Expr:
        """`value` as one expression."""
        if isinstance(value, Column):
            return ir.Op(markers.column, (value.rows, value.place))
        if not isinstance(value, tuple):
            return value
        return ir.Make(tuple, tuple(self.hold(self.whole(part, node), node) for part in value))

    def _parts(self, target: Any, value: Value, node: Any) -> tuple[Value, ...]:
        """The values of the items of `target`, a tuple or a list; all are read before the first is assigned."""
        count = len(target.elts)
        stars = [place for place, item in enumerate(target.elts) if isinstance(item, gast.Starred)]
        items: tuple[Value, ...]
        if stars:
            items = self._around(stars[0], count - stars[0] - 1, value, node)
        elif isinstance(value, tuple) and len(value) == count:
            items = value
        elif isinstance(value, Column):
            items = self._of_rows(value, count, node)
        else:
            whole = self.hold(self.whole(value, node), node)
            found = self.copy(ir.Op(ir.sequence, (whole, ir.Lit(count))), node)
            items = tuple(ir.Index(found, ir.Key((ir.Lit(number),))) for number in range(count))
        return items if _only_names(target) else tuple(self._read(item, node) for item in items)

    def _around(self, before: int, after: int, value: Value, node: Any) -> tuple[Value, ...]:
        """The items of a pattern with a star: single ones before and after it, and a list of those between."""
        least = ir.Lit(before + after)
        found = self.copy(ir.Op(ir.sequence, (self.hold(self.whole(value, node), node), least, ir.Lit(True))), node)
        part = ir.Slice(ir.Lit(before), ir.Lit(-after if after else None))
        middle = self.copy(ir.Index(found, ir.Key((part,))), node)
        between = self.copy(ir.Apply(self.resolver.builtin("list", list), (middle,)), node)
        singles = [ir.Index(found, ir.Key((ir.Lit(place),))) for place in (*range(before), *range(-after, 0))]
        return (*singles[:before], between, *singles[before:])

    def _of_rows(self, column: Column, count: int, node: Any) -> tuple[Value, ...]:
        """The items of a column of so many rows."""
        found = self.copy(ir.Op(ir.sequence, (column.rows, ir.Lit(count))), node)
        rows = [self.copy(ir.Index(found, ir.Key((ir.Lit(number),))), node) for number in range(count)]
        return tuple(ir.Index(self.copy(ir.Op(ir.sequence, (row,)), node), ir.Key((column.place,))) for row in rows)

    def _read(self, value: Value, node: Any) -> Value:
        if isinstance(value, tuple):
            return tuple(self._read(part, node) for part in value)
        return self.hold(self.whole(value, node), node)

    def display(self, target: Any, value: Any) -> Value:
        """The value of expression `value`, item by item where a display meets a pattern of its length.

        Variables that the pattern binds are copied, so that ``a, b = b, a`` is right.
        """
        return self._display(target, value, resolve.targets(target))

    def _display(self, target: Any, value: Any, names: frozenset[str]) -> Value:
        pattern, display = isinstance(target, gast.Tuple | gast.List), isinstance(value, gast.Tuple | gast.List)
        starred = pattern and display and any(isinstance(e, gast.Starred) for e in (*target.elts, *value.elts))
        if pattern and display and not starred and len(target.elts) == len(value.elts):
            pairs = zip(target.elts, value.elts, strict=True)
            return tuple(self._display(item, part, names) for item, part in pairs)
        if pattern and self.is_lazy(value):
            return self.drained(value)
        return self.safe(self.atom(value), names, value)

    def safe(self, atom: ir.Atom, names: frozenset[str], node: Any) -> ir.Atom:
        """`atom`, or a copy where it is one of the variables `names`, which are going to be bound."""
        return self.copy(atom, node) if isinstance(atom, ir.Var) and atom.name in names and is_named(atom) else atom


def attribute_key(node: Any) -> ir.Key:
    """The key of an attribute that is written."""
    return ir.Key((ir.Lit(node.attr),), attribute=True)


def _only_names(target: Any) -> bool:
    if isinstance(target, gast.Tuple | gast.List):
        return all(_only_names(item) for item in target.elts)
    return isinstance(target.value if isinstance(target, gast.Starred) else target, gast.Name)
