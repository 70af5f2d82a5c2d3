"""Copy propagation: a name that is bound to another name gives way to that one as long as both hold the same value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from tangentx.analysis.infer.program import Program
from tangentx.ir.nodes import UNBOUND, Assign, Atom, Block, Ext, Index, Lit, Make, Pop, Statement, Var
from tangentx.ir.rewrite import rename
from tangentx.ir.value_names import stem, with_stem
from tangentx.ir.walk import bound, statement_atoms
from tangentx.optimise.facts.dataflow import Flow, map_atoms, sweeps
from tangentx.optimise.facts.unit import Unit

Copy: TypeAlias = Atom | tuple[Atom, ...]


class Copies(Flow[Copy]):
    """`env` gives for a name the atom that it equals, or the items of the tuple that it is bound to.

    A name of the forward sweep that is no temporary is the user's, and stays. `called` has, for temporaries that take
    the place of a name, that name: it is what they are called from now on.
    """

    def __init__(self, unit: Unit) -> None:
        super().__init__()
        forward, _ = sweeps(unit.function)
        self.written = bound(forward)
        self.params = {p.name for p in unit.function.params}
        names = self.written | self.params
        self.holders: dict[str, set[str]] = {}
        self.kept = frozenset(name for name in names if not name.startswith("%"))
        self.called: dict[str, str] = {}

    def merge(self, a: dict[str, Copy], b: dict[str, Copy], site: object, names: Iterable[str]) -> dict[str, Copy]:
        """What is the same on both ways; 1, 1.0 and True are not."""
        return {name: a[name] for name in names if name in a and name in b and _is_same(b[name], a[name])}

    def kill(self, name: str) -> None:
        """Neither `name` nor what equals it is known any longer."""
        assert self.env is not None
        self.env.pop(name, None)
        for holder in self.holders.get(name, ()):
            if holder in self.env and _mentions(self.env[holder], name):
                del self.env[holder]

    def note(self, name: str, fact: Copy) -> None:
        """Enters a fact, and under whose names it has to be forgotten."""
        assert self.env is not None
        self.env[name] = fact
        for atom in fact if isinstance(fact, tuple) else (fact,):
            if isinstance(atom, Var):
                self.holders.setdefault(atom.name, set()).add(name)

    def rewrite(self, s: Statement) -> Sequence[Statement]:
        """The statement with known atoms in place of names, and an item in place of a tuple's index."""
        assert self.env is not None
        if type(s) is Assign:
            if type(s.value) is Var and self._known(s.value) == Var(s.target) and s.target not in self.written:
                return ()  # what is derived binds a name to what it holds
            if type(s.value) is Index and (item := self._item(s.value)) is not None:
                return (Assign(s.target, item, s.span),)
            if type(s.value) is Pop:
                return (self._popping(s, s.value.base),)
        for a in statement_atoms(s):
            if type(a) is Var and a.name in self.env:
                return (map_atoms(s, self._known),)
        return (s,)

    def _popping(self, s: Assign, base: Var) -> Statement:
        """The statement with the list's own name; a parameter gets that of what it is bound to in the end."""
        known = self._known(base)
        other = isinstance(known, Var) and known != base and known.name not in self.params
        return Assign(s.target, Pop(known), s.span) if other and isinstance(known, Var) else s

    def _known(self, atom: Atom) -> Atom:
        fact = self.env.get(atom.name) if isinstance(atom, Var) and self.env is not None else None
        return fact if isinstance(fact, Var | Lit | Ext) else atom

    def _item(self, value: Index) -> Atom | None:
        fact = self.env.get(value.base.name) if isinstance(value.base, Var) and self.env is not None else None
        if not isinstance(fact, tuple) or value.key.many:
            return None
        part = value.key.parts[0]
        if not isinstance(part, Lit) or type(part.value) is not int:
            return None
        return fact[part.value] if -len(fact) <= part.value < len(fact) else None

    def after(self, s: Statement) -> None:
        """Notes what a binding makes equal."""
        if not isinstance(s, Assign):
            return
        self.kill(s.target)
        assert self.env is not None
        match s.value:
            case Make(cls=cls, items=items) if cls is tuple and Var(s.target) not in items:
                self.note(s.target, items)
            case Lit(value=value) if value is UNBOUND:
                pass
            case Var(name=name) if name.startswith("%") and not s.target.startswith("%"):
                self.note(name, Var(s.target))
            case Var() | Lit() | Ext() as atom if atom != Var(s.target) and s.target not in self.kept:
                self.note(s.target, atom)
                if isinstance(atom, Var) and stem(atom.name) is None and (called := stem(s.target)) is not None:
                    self.called.setdefault(atom.name, with_stem(atom.name, called))


def _called(unit: Unit, body: Block, found: Mapping[str, str]) -> Block:
    """The body with temporaries called by the name that they take the place of, and those that hold the values of
    several names, which happen to be equal, by none of them."""
    mapping = {old: new for old, new in found.items() if old not in unit.shared}
    for name in sorted(unit.shared):
        plain = name.partition(":")[0]
        if plain != name:
            mapping[name] = plain
            unit.shared.add(plain)
    unit.kinds.update({new: unit.kinds[old] for old, new in mapping.items() if old in unit.kinds})
    return rename(body, mapping) if mapping else body


def _mentions(fact: Copy, name: str) -> bool:
    return Var(name) in fact if isinstance(fact, tuple) else fact == Var(name)


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Uses of a copy become uses of what was copied."""
    changed = False
    for unit in units:
        if unit.settled.get(Copies) is unit.body:
            continue
        copies = Copies(unit)
        body = copies.block(unit.body)
        changed = changed or body is not unit.body
        if body is not unit.body:
            body = _called(unit, body, copies.called)
        unit.body = unit.settled[Copies] = body
    return changed


__all__ = ["Copies", "run"]


def _is_same(one: Copy, other: Copy) -> bool:
    return one is other or (one == other and repr(one) == repr(other))
