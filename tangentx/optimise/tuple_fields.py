"""Scalar replacement of tuples: items of tuples that are never read are left out.

Takes away the items of tuples that no key reads, over all functions at once; a tuple of which one item is left is
replaced by the item.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import BOTTOM, Box, Kind, Region
from tangentx.ir.nodes import (
    Append,
    Assign,
    Atom,
    Block,
    Call,
    Delete,
    Expr,
    Ext,
    For,
    If,
    Index,
    Key,
    Lit,
    Loop,
    Make,
    Pop,
    Return,
    Statement,
    Store,
    Var,
)
from tangentx.ir.value_names import ValueNames
from tangentx.ir.walk import atoms, key_atoms, statement_atoms
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.unit import Unit


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Narrows tuples; True if anything changed."""
    return any(map(_makes_tuples, units)) and not memory.is_opaque(units) and _narrow(program, units)


def _makes_tuples(unit: Unit) -> bool:
    return any(type(s) is Assign and memory.is_tuple(s.value) for s in unit.statements())


def note_lengths(program: Program, units: Sequence[Unit]) -> None:
    """Notes of each function which of its parameters are tuples of one length, all made by it, as `lengths` by name,
    and what their items are called where they are made, as `items`."""
    found: dict[Region, set[int]] = {node: {-1} for node in Reads(program, units).fixed}
    called: dict[Region, list[tuple[str, ...]]] = {}
    for unit in units:
        names = ValueNames(unit.body)
        for s in unit.statements():
            node = memory.region(unit.kinds.get(s.target, BOTTOM)) if isinstance(s, Assign) else None
            if isinstance(s, Assign) and node is not None and not isinstance(s.value, Var | Index | Call | Pop):
                found.setdefault(node, set()).add(len(s.value.items) if isinstance(s.value, Make) else -1)
                if isinstance(s.value, Make):
                    called.setdefault(node, []).append(_called(names, s.value))
    for unit in units:
        kinds = {p.name: unit.kinds.get(p.name) for p in unit.function.params}
        boxes = {name: kind for name, kind in kinds.items() if isinstance(kind, Box) and kind.cls is tuple}
        known = {name: found.get(kind.region.root(), set()) for name, kind in boxes.items()}
        lengths = {name: next(iter(each)) for name, each in known.items() if len(each) == 1 and min(each) > 0}
        if lengths:
            sites = {name: called.get(boxes[name].region.root(), []) for name in lengths}
            items = {name: tuple(map(_agreed, *each)) for name, each in sites.items()}
            notes = {**unit.function.notes, "lengths": lengths, "items": items}
            unit.link.function = replace(unit.function, notes=notes)


def _called(names: ValueNames, made: Make) -> tuple[str, ...]:
    """What the items of a tuple are called where it is made; nothing for constants."""
    return tuple(names.of(a.name) if isinstance(a, Var) else "" for a in made.items)


def _agreed(*words: str) -> str:
    """What an item is called wherever its tuple is made, places aside where it is a constant."""
    found = set(words) - {""}
    return found.pop() if len(found) == 1 else ""


class Reads:
    """The keys that are read of the tuples of each region, and the regions whose tuples must stay as they are."""

    def __init__(self, program: Program, units: Sequence[Unit]) -> None:
        self.program = program
        self.keys: dict[Region, set[int]] = {}
        self.fixed: set[Region] = set()
        self.made: dict[Region, int] = {}
        self._fix(kind for _, kind in program.externals.values())
        for unit in units:
            if unit.outer:
                self._fix([unit.result, *(unit.kinds.get(p.name, BOTTOM) for p in unit.function.params)])
            for s in unit.statements():
                self._statement(unit, s)

    def _fix(self, kinds: Iterable[Kind]) -> None:
        found = [kind for kind in kinds if type(kind) is Box]
        if found:
            self.fixed.update(memory.reach(found, arrays_too=False))

    def _fix_atoms(self, unit: Unit, found: Iterable[Atom]) -> None:
        self._fix([unit.kind(self.program, atom) for atom in found])

    def _statement(self, unit: Unit, s: Statement) -> None:
        objects = [a for a in statement_atoms(s) if type(a) is not Var and (type(a) is Ext or _is_literal_tuple(a))]
        if objects:
            self._fix_atoms(unit, objects)
        match s:
            case Assign():
                self._assign(unit, s)
            case Append() | Return():
                pass
            case Store(base=base, key=key) if isinstance(unit.kind(self.program, base), Box):
                self._fix_atoms(unit, key_atoms(key))
            case Delete(key=key):
                self._fix_atoms(unit, key_atoms(key))
            case _:
                self._fix_atoms(unit, statement_atoms(s))

    def _assign(self, unit: Unit, s: Assign) -> None:
        kind = unit.kinds.get(s.target, BOTTOM)
        node = memory.region(kind)
        match s.value:
            case Make(items=items) if memory.is_tuple(s.value):
                if node is not None:
                    self.made[node] = max(self.made.get(node, 0), len(items))
            case Var() | Lit() | Ext() | Call() | Pop() | Make():
                pass
            case Index(base=base, key=key):
                self._fix_atoms(unit, key_atoms(key))
                item = memory.slot(self.program, unit, s.value)
                if item is not None:
                    self.keys.setdefault(item[0], set()).add(item[1])
                else:
                    self._fix_tuple(unit.kind(self.program, base))
            case _:
                self._fix_atoms(unit, atoms(s.value))
                self._fix([kind])

    def _fix_tuple(self, kind: Kind) -> None:
        if isinstance(kind, Box) and kind.cls is tuple:
            self.fixed.add(kind.region.root())

    def order(self) -> dict[Region, tuple[int, ...]]:
        """For each region whose tuples can be narrowed the keys that stay, in order."""
        found: dict[Region, tuple[int, ...]] = {}
        for node, count in self.made.items():
            kept = tuple(sorted(self.keys.get(node, ())))
            if node not in self.fixed and kept and (len(kept) < count or count == 1):
                found[node] = kept
        return found


def _narrow(program: Program, units: Sequence[Unit]) -> bool:
    order = Reads(program, units).order()
    if not order:
        return False
    single = {node: _single(node, kept) for node, kept in order.items()}
    changed = False
    for unit in units:
        sweep = _Narrowing(program, unit, order, single)
        body = sweep.block(unit.body)
        if sweep.changed:
            unit.body, changed = body, True
    for node, kept in order.items():
        node.fields = {i: node.fields[k] for i, k in enumerate(kept) if k in node.fields}
    replace_kinds(units, {node: item for node, item in single.items() if item is not None})
    return changed


def _single(node: Region, kept: tuple[int, ...]) -> Kind | None:
    """The kind of the only item left, if the tuple can be replaced by it."""
    if len(kept) != 1 or kept[0] not in node.fields:
        return None
    item = node.fields[kept[0]]
    return None if node in set(memory.reach([item])) else item


def replace_kinds(units: Sequence[Unit], single: dict[Region, Kind]) -> None:
    """Puts the kind of the item in the place of the kind of the tuple, also inside containers."""

    def put(kind: Kind) -> Kind:
        node = memory.region(kind)
        while node is not None and node in single:
            kind = single[node]
            node = memory.region(kind)
        return kind

    for unit in units:
        for node in list(memory.reach([*unit.kinds.values(), unit.result])):
            node.fields = {key: put(kind) for key, kind in node.fields.items()}
            node.elt = put(node.elt)
        for name, kind in list(unit.kinds.items()):
            unit.kinds[name] = put(kind)
        unit.result = put(unit.result)


class _Narrowing:
    """Writes one function again with narrow tuples."""

    def __init__(
        self, program: Program, unit: Unit, order: dict[Region, tuple[int, ...]], single: dict[Region, Kind | None]
    ) -> None:
        self.program = program
        self.unit = unit
        self.order = order
        self.single = single
        self.changed = False

    def block(self, block: Block) -> Block:
        """The block with its tuples narrowed."""
        return tuple(self._statement(s) for s in block)

    def _statement(self, s: Statement) -> Statement:
        match s:
            case If():
                return replace(s, body=self.block(s.body), orelse=self.block(s.orelse))
            case For() | Loop():
                return replace(s, body=self.block(s.body))
            case Assign():
                value = self._expr(s)
                if value is not s.value:
                    self.changed = True
                    return replace(s, value=value)
        return s

    def _expr(self, s: Assign) -> Expr:
        if memory.is_tuple(s.value):
            node = memory.region(self.unit.kinds.get(s.target, BOTTOM))
            if node is not None and node in self.order:
                assert isinstance(s.value, Make)
                items = tuple(s.value.items[k] for k in self.order[node] if k < len(s.value.items))
                return items[0] if self.single[node] is not None and items else replace(s.value, items=items)
        item = memory.slot(self.program, self.unit, s.value)
        if item is not None and item[0] in self.order:
            assert isinstance(s.value, Index)
            if self.single[item[0]] is not None:
                return s.value.base
            position = self.order[item[0]].index(item[1])
            return s.value if position == item[1] else replace(s.value, key=Key((Lit(position),)))
        return s.value


def _is_literal_tuple(atom: Atom) -> bool:
    return isinstance(atom, Lit) and isinstance(atom.value, tuple)
