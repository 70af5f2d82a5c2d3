"""The places that a checkpointed region reads and writes: names, and items of containers."""

from __future__ import annotations

from dataclasses import dataclass, field

from tangentx.analysis.infer.program import Instance
from tangentx.analysis.types.kinds import Arr, Box, Kind, Region
from tangentx.derive.emit import Emitter, shadow_key
from tangentx.derive.reverse.calls import instance_of
from tangentx.derive.reverse.context import Reverse
from tangentx.ir.keys import WHOLE, attribute_of
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Atom,
    Attr,
    Block,
    Call,
    Delete,
    Index,
    Key,
    Pop,
    Store,
    Var,
)
from tangentx.ir.walk import statements


@dataclass(frozen=True, eq=False)
class Spot:
    """A name, or the item at a key of the container that another spot holds; `sure` where it has a value already."""

    kind: Kind
    how: str | None
    name: str = ""
    other: str = ""
    owner: Spot | None = None
    key: Key = WHOLE
    sure: bool = True
    depth: int = 0

    def read(self, emit: Emitter) -> Atom:
        """What the spot holds."""
        if self.owner is None:
            return Var(self.name)
        base = self.owner.read(emit)
        return emit.let(Attr(base, attribute_of(self.key)) if self.key.attribute else Index(base, self.key))

    def read_bar(self, emit: Emitter) -> Atom:
        """The shadow of that, or the cotangent of an item."""
        if self.owner is None:
            return Var(self.other)
        return emit.let(Index(self.owner.read_bar(emit), shadow_key(self.key)))

    def bind(self, emit: Emitter, value: Atom) -> None:
        """Makes the spot hold something."""
        if self.owner is None:
            emit.assign(self.name, value)
        else:
            emit.add(Store(self.owner.read(emit), self.key, value, emit.span))

    def bind_bar(self, emit: Emitter, value: Atom) -> None:
        """Makes its shadow something."""
        if self.owner is None:
            emit.assign(self.other, value)
        else:
            emit.add(Store(self.owner.read_bar(emit), shadow_key(self.key), value, emit.span))


@dataclass(eq=False)
class Writes:
    """The memory that a block, and what it calls, writes into; of lists those that it appends to and does no more."""

    memory: set[Region] = field(default_factory=set)
    other: set[Region] = field(default_factory=set)

    def grows(self, region: Region) -> bool:
        """Whether a list that is written is only appended to."""
        return region not in self.other


def written(r: Reverse, block: Block) -> Writes:
    """What a block of the function in hand writes into."""
    found = Writes()
    todo: list[tuple[Instance, Block]] = [(r.instance, block)]
    seen: list[Instance] = []
    while todo:
        instance, inner = todo.pop()
        for s in statements(inner):
            base: Atom | None = s.base if isinstance(s, Store | Accumulate | Append | Delete) else None
            if isinstance(s, Assign) and isinstance(s.value, Pop):
                base = s.value.base
            if isinstance(s, Assign) and isinstance(s.value, Call):
                callee = instance_of(r.program, s.value)
                if callee not in seen and callee.link.function is not None:
                    seen.append(callee)
                    todo.append((callee, callee.link.function.body))
            kind = instance.kinds.get(base.name) if isinstance(base, Var) else None
            if isinstance(kind, Arr | Box):
                found.memory.add(kind.region.root())
                found.other |= set() if isinstance(s, Append) else {kind.region.root()}
    return found
