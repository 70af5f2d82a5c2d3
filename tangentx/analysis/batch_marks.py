"""What is noted of a batch: the names, slots of containers and written arrays that have one value for each member."""

from __future__ import annotations

from typing import Any

from tangentx.analysis.kinds import MISSING, Arr, Bottom, Box, Kind, Num
from tangentx.analysis.program import Instance, Program
from tangentx.analysis.regions import Region
from tangentx.analysis.selection import known_key
from tangentx.analysis.values import constant_kind
from tangentx.ir.nodes import Atom, Ext, Key, Slice, Var

ANY = "*"


class Marks:
    """An array that is written is batched as a whole, whatever name it goes by; a slot of a container by its key."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.of_link = {instance.link: instance for instance in program.reached()}
        self.names: set[tuple[Instance, str]] = set()
        self.slots: set[tuple[Region, Any]] = set()
        self.written: set[Region] = set()
        self.results: set[Instance] = set()
        self.changed = True

    def kind(self, instance: Instance, atom: Atom) -> Kind:
        """The kind of one member's value."""
        if isinstance(atom, Var):
            return instance.kinds.get(atom.name, Bottom())
        return self.program.external(atom) if isinstance(atom, Ext) else constant_kind(self.program.valuer, atom.value)

    def holds(self, instance: Instance, atom: Atom) -> bool:
        """Whether an atom is a number or array for each member."""
        if not isinstance(atom, Var):
            return False
        kind = instance.kinds.get(atom.name)
        if isinstance(kind, Arr) and kind.region.root().written:
            return kind.region.root() in self.written
        return (instance, atom.name) in self.names

    def slot(self, box: Box, key: Any) -> bool:
        """Whether an item of a container is one for each member; `key` MISSING for any of them."""
        node = box.region.root()
        item = box.region.any() if key is MISSING else box.region.get(key)
        if isinstance(item, Arr) and item.region.root().written:
            return item.region.root() in self.written
        if key is MISSING:
            return any((node, k) in self.slots for k in (*node.fields, ANY))
        return (node, key) in self.slots or (node, ANY) in self.slots

    def within(self, kind: Kind, seen: tuple[Region, ...] = ()) -> bool:
        """Whether a container has anything in it that is one for each member."""
        if not isinstance(kind, Box) or kind.region.root() in seen:
            return False
        node = kind.region.root()
        keys = (*node.fields, *(() if isinstance(node.elt, Bottom) else (MISSING,)))
        inside = (*node.fields.values(), node.elt)
        return any(self.slot(kind, k) for k in keys) or any(self.within(k, (*seen, node)) for k in inside)

    def any(self, instance: Instance, atom: Atom) -> bool:
        """Whether an atom is, or holds, anything that is one for each member."""
        return self.holds(instance, atom) or self.within(self.kind(instance, atom))

    def mark(self, instance: Instance, name: str) -> None:
        """A name holds one value for each member."""
        kind = instance.kinds[name]
        if isinstance(kind, Arr) and kind.region.root().written:
            self.add(self.written, kind.region.root())
        else:
            self.add(self.names, (instance, name))

    def mark_all(self, instance: Instance, name: str) -> None:
        """All numbers and arrays that a name holds are one for each member."""
        kind = instance.kinds[name]
        if isinstance(kind, Box):
            self.mark_items(kind)
        else:
            self.mark(instance, name)

    def mark_items(self, box: Box, around: tuple[Region, ...] = ()) -> None:
        """All numbers and arrays in a container are one for each member."""
        node = box.region.root()
        for key, item in [*node.fields.items(), (ANY, node.elt)]:
            if isinstance(item, Box):
                if item.region.root() not in (*around, node):
                    self.mark_items(item, (*around, node))
            elif isinstance(item, Arr) and item.region.root().written:
                self.add(self.written, item.region.root())
            elif isinstance(item, Num | Arr):
                self.add(self.slots, (node, key))

    def mark_slot(self, box: Box, key: Any) -> None:
        """An item of a container is one for each member."""
        item = box.region.any() if key is MISSING else box.region.get(key)
        if isinstance(item, Arr) and item.region.root().written:
            self.add(self.written, item.region.root())
        else:
            self.add(self.slots, (box.region.root(), ANY if key is MISSING else key))

    def add(self, group: set[Any], member: Any) -> None:
        """Notes something new."""
        if member not in group:
            group.add(member)
            self.changed = True

    def key(self, i: Instance, box: Box, key: Key) -> Any:
        """The key of a container where it is known, else MISSING."""
        part = key.parts[0]
        return MISSING if isinstance(part, Slice) else known_key(box, self.kind(i, part))

    def mark_like(self, given: Kind, made: Kind, seen: tuple[Region, ...]) -> None:
        """What is batched in one container is so in another one like it."""
        if not (isinstance(given, Box) and isinstance(made, Box)) or given.region.root() in seen:
            return
        node = given.region.root()
        for key in (*node.fields, *(() if isinstance(node.elt, Bottom) else (MISSING,))):
            if self.slot(given, key):
                self.mark_slot(made, key)
            inner = given.region.any() if key is MISSING else given.region.get(key)
            other = made.region.any() if key is MISSING else made.region.get(key)
            self.mark_like(inner, other, (*seen, node))
