"""Tuples that are only taken apart, gone: ``t = (a, b); x = t[0]; y = t[1]`` becomes ``x = a; y = b``.

It is done before a function is differentiated, so that no tuple of cotangents is made, and an item that nothing reads
has none: of ``values, vectors = np.linalg.eigh(a)`` only what is used is differentiated. It means the same where the
tuple and its items are bound once, the items before it, and each reader stands behind it, in its block or inside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from tangentx.analysis.types.kinds import BOTTOM, Arr, Kind, Num, varied
from tangentx.ir.nodes import Assign, Atom, Block, Function, Index, Lit, Make, Statement, Var
from tangentx.ir.rewrite import map_blocks
from tangentx.ir.walk import statement_atoms, statements, writes


def unpacked(function: Function, kinds: Mapping[str, Kind]) -> Function:
    """The function without such tuples; the very same one where there are none."""
    if not any(isinstance(s, Assign) and _is_tuple(s) for s in statements(function.body)):
        return function
    found = _Tuples(function, kinds)
    found.block(function.body, {})
    gone = found.gone()
    return replace(function, body=_without(function.body, gone, found.items)) if gone else function


def _is_tuple(s: Assign) -> bool:
    return isinstance(s.value, Make) and issubclass(s.value.cls, tuple)


class _Tuples:
    """The tuples of a function whose items may stand for them, with the names that they have."""

    def __init__(self, function: Function, kinds: Mapping[str, Kind]) -> None:
        self.kinds = kinds
        self.seen = {param.name for param in function.params}
        self.bound = Counter(self.seen)
        self.read: Counter[str] = Counter()
        for s in statements(function.body):
            self.bound.update(writes(s))
            self.read.update(a.name for a in statement_atoms(s) if isinstance(a, Var))
        self.names: dict[str, list[str]] = {}
        self.made: dict[str, tuple[Atom, ...]] = {}
        self.known: Counter[str] = Counter()
        self.items: dict[int, Atom] = {}

    def block(self, block: Block, roots: Mapping[str, str]) -> None:
        """Notes the tuples of a block, and who reads them; `roots` are the names of tuples that are known there."""
        roots = dict(roots)
        for s in block:
            if isinstance(s, Assign):
                self._assign(s, roots)
            map_blocks(s, lambda inner: self._inside(inner, roots))
            self.seen.update(writes(s))

    def _inside(self, block: Block, roots: Mapping[str, str]) -> Block:
        self.block(block, roots)
        return block

    def _assign(self, s: Assign, roots: dict[str, str]) -> None:
        single = self.bound[s.target] == 1
        match s.value:
            case Make(items=items) if _is_tuple(s) and single and all(map(self._stays, items)):
                roots[s.target] = s.target
                self.names[s.target] = [s.target]
                self.made[s.target] = items
            case Var(name=name) if name in roots and single:
                root = roots[s.target] = roots[name]
                self.names[root].append(s.target)
                self.known[name] += 1
            case Index(base=Var(name=name), key=key) if name in roots:
                self._taken(s, roots[name], name, key.parts[0] if not key.many else None)

    def _stays(self, atom: Atom) -> bool:
        """Whether an item is what it was wherever the tuple is read."""
        return not isinstance(atom, Var) or (self.bound[atom.name] == 1 and atom.name in self.seen)

    def _taken(self, s: Assign, root: str, name: str, key: object) -> None:
        """An item that is read, where it is known which, and that it has the same kind there."""
        made = self.made[root]
        place = key.value if isinstance(key, Lit) and type(key.value) is int else None
        if place is None or not -len(made) <= place < len(made):
            return
        item, kind = made[place], self.kinds.get(s.target, BOTTOM)
        alike = self.kinds.get(item.name, BOTTOM) == kind if isinstance(item, Var) else not varied(kind)
        if alike and isinstance(kind, Arr | Num):
            self.known[name] += 1
            self.items[id(s)] = item

    def gone(self) -> frozenset[str]:
        """All names of tuples that are read in no other way."""
        whole = [names for names in self.names.values() if all(self.read[n] == self.known[n] for n in names)]
        return frozenset(name for names in whole for name in names)


def _without(block: Block, gone: frozenset[str], items: Mapping[int, Atom]) -> Block:
    """The block without the tuples of these names, and with their items for what is read of them."""
    out: list[Statement] = []
    for s in block:
        if isinstance(s, Assign) and s.target in gone:
            continue
        if isinstance(s, Assign) and isinstance(s.value, Index) and isinstance(s.value.base, Var):
            out.append(replace(s, value=items[id(s)]) if s.value.base.name in gone else s)
        else:
            out.append(map_blocks(s, lambda inner: _without(inner, gone, items)))
    return tuple(out)
