"""Which half of a split function each name belongs to, and what the first half stores for the second."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from tangentx import arrays
from tangentx.analysis.batch.varying import Batched, Unbatchable
from tangentx.analysis.infer.program import Instance
from tangentx.analysis.types.kinds import MISSING, Arr, Box, Kind, Num, Region, reached
from tangentx.analysis.types.primitives import hashable
from tangentx.common.naming import Names
from tangentx.derive.emit import NONE, Emitter
from tangentx.errors import Span
from tangentx.ir.nodes import (
    Assign,
    Atom,
    Attr,
    Block,
    Break,
    Continue,
    Expr,
    Ext,
    For,
    If,
    Index,
    Key,
    Lit,
    Loop,
    Make,
    Op,
    Pop,
    Return,
    Statement,
    Var,
)
from tangentx.ir.rewrite import map_expr, map_key
from tangentx.ir.walk import bound, statements, writes

# Binding times: whether a name belongs to the constant half of a split function, the moving half, or both.


def torn(facts: Batched, root: Instance) -> frozenset[Region]:
    """The containers that hold what moves, and out of which something that does not is taken: they are on both sides.

    All others that hold what moves are with it, whatever else they hold.
    """
    found = {root.result.region.root()} if isinstance(root.result, Box) else set()
    for instance in facts.of_link.values():
        assert instance.link.function is not None
        for s in statements(instance.link.function.body):
            if isinstance(s, Assign) and isinstance(s.value, Index | Attr | Pop):
                box = facts.kind(instance, s.value.base)
                if isinstance(box, Box) and facts.within(box) and not facts.any(instance, Var(s.target)):
                    found.add(box.region.root())
    return frozenset(found)


class Sides:
    """The sides of the names of one function."""

    def __init__(self, facts: Batched, instance: Instance, both: frozenset[Region]) -> None:
        self.facts = facts
        self.instance = instance
        self.both = both
        self.loops: list[str] = []
        self.outside = frozenset(reached(kind for _, kind in facts.program.externals.values()))

    def kind(self, atom: Atom) -> Kind:
        """The kind of an atom."""
        return self.facts.kind(self.instance, atom)

    def moves(self, atom: Atom) -> bool:
        """Whether an atom is, or holds, anything that moves."""
        return self.facts.any(self.instance, atom)

    def only_moves(self, atom: Atom) -> bool:
        """Whether nothing of an atom is needed where nothing moves."""
        return self.moves(atom) and not self.is_torn(self.kind(atom))

    def is_torn(self, kind: Kind, seen: tuple[Region, ...] = ()) -> bool:
        """Whether a container, or one in it, is on both sides."""
        if not isinstance(kind, Box) or (node := kind.region.root()) in seen:
            return False
        return node in self.both or any(self.is_torn(k, (*seen, node)) for k in (*node.fields.values(), node.elt))

    def still_item(self, atom: Atom) -> Atom:
        """What stands for an atom where nothing moves."""
        return NONE if self.only_moves(atom) else atom

    def still(self, value: Expr, span: Span) -> Expr:
        """What stands for an expression that gives a container on both sides. Raises Unbatchable."""
        if isinstance(value, Make):
            return replace(value, items=tuple(map(self.still_item, value.items)))
        if isinstance(value, Var | Index | Attr | Pop):
            return value
        raise Unbatchable("a container of what moves and of what does not", span)

    def is_written(self, kind: Kind, seen: tuple[Region, ...] = ()) -> bool:
        """Whether a value may be changed after it is made: by the program, or by others that it is in reach of."""
        if not isinstance(kind, Arr | Box) or (node := kind.region.root()) in seen:
            return False
        inside = (*node.fields.values(), node.elt) if isinstance(kind, Box) else ()
        return node.written or node in self.outside or any(self.is_written(k, (*seen, node)) for k in inside)

    @contextmanager
    def inside(self, loop: For) -> Iterator[None]:
        """While it lasts, the variable of a loop has its value on both sides, unless the loop binds it anew."""
        given = [] if loop.target in bound(loop.body) else [loop.target]
        before, self.loops = self.loops, [*self.loops, *given]
        yield
        self.loops = before


# Control flow that both halves of a split function repeat.


@dataclass
class Passage:
    """A part of a block that both functions go through from its start to its end, or not at all.

    `place` is the number of the time, by which lists are read; None where a variable serves, for there is one time
    and the function ends behind it. `once`: there is one time at most. `counts`: `place` is a variable for it alone.
    """

    place: Atom | None
    once: bool = True
    counts: bool = False
    used: bool = False
    found: dict[str, Atom] = field(default_factory=dict)


def copied(atom: Atom, kind: Kind) -> Expr:
    """An atom, such that later writes are not seen."""
    if isinstance(kind, Arr):
        return Op(arrays.clone, (atom,))
    return Op(arrays.entry_copy, (atom,)) if isinstance(kind, Box) else atom


def name_of(atom: Atom) -> str:
    """The name of a variable, else none."""
    return atom.name if isinstance(atom, Var) else ""


def is_whole(kind: Kind) -> bool:
    """Whether a value is a whole number of Python."""
    return isinstance(kind, Num) and kind.type is int and not kind.none


COUNTING = frozenset((operator.add, operator.sub, operator.mul, operator.neg))


def stable(body: Block, params: Sequence[str]) -> frozenset[str]:
    """The names that are bound once, where the function starts or before anything may leave it."""
    times = Counter([*params, *(name for s in statements(body) for name in writes(s))])
    found = list(params)
    for s in body:
        found += writes(s) if isinstance(s, Assign) else ()
        if any(isinstance(each, Return | Break | Continue) for each in statements((s,))):
            break
    return frozenset(name for name in found if times[name] == 1)


# Residuals: what the first half of a split function stores for the second.


class Keeper:
    """The variables and lists of one pair of functions."""

    def __init__(self, sides: Sides, instance: Instance) -> None:
        assert instance.link.function is not None
        self.sides = sides
        self.source = instance.link.function
        self.names = Names(name for name in instance.kinds if not name.startswith("%"))
        self.state = self.names.fresh("saved")
        self.slots: dict[str, None] = {}
        self.tapes: list[str] = []
        self.counters: list[str] = []
        self.foreign: dict[int, tuple[Ext, str]] = {}
        self.stable = stable(self.source.body, [p.name for p in self.source.params])
        self.formed: dict[str, Op] = {}

    def after_exit(self, passage: Passage) -> Passage:
        """The rest of a block behind what may leave it."""
        return Passage(Lit(0)) if passage.once else self._numbered()

    def branch(self, passage: Passage) -> Passage:
        """The block of a test."""
        return self.after_exit(passage)

    def body(self, loop: For | Loop, passage: Passage) -> Passage:
        """The block of a loop, whose own variable counts its trips where it starts from 0."""
        simple = isinstance(loop, For) and (loop.start, loop.step) == (Lit(0), Lit(1)) and not loop.backward
        if passage.once and isinstance(loop, For) and simple and loop.target not in bound(loop.body):
            return Passage(Var(loop.target), once=False)
        return self._numbered()

    def _numbered(self) -> Passage:
        return Passage(Var(self.names.fresh("place")), once=False, counts=True)

    def close(self, passage: Passage, second: Emitter) -> None:
        """The end of a passage: the next one has the next number."""
        if passage.counts and passage.used:
            assert isinstance(passage.place, Var)
            self.counters.append(passage.place.name)
            second.assign(passage.place.name, Op(operator.add, (passage.place, Lit(1))))

    def passed(self, s: Statement, passage: Passage) -> None:
        """Forgets where the names are kept that a statement binds, and notes what can be formed again from now on."""
        for name in bound((s,)):
            passage.found.pop(name, None)
            self.formed = {n: op for n, op in self.formed.items() if n != name and Var(name) not in op.args}
        op = s.value if isinstance(s, Assign) else None
        if isinstance(s, Assign) and isinstance(op, Op) and op.fn in hashable(COUNTING, op.fn):
            forms = Var(s.target) not in op.args and all(map(self._forms, op.args))
            if forms and is_whole(self.sides.kind(Var(s.target))):
                self.formed[s.target] = op

    @contextmanager
    def inside(self, loop: For | Loop) -> Iterator[None]:
        """While it lasts, nothing that the loop binds has the value that it had before."""
        anew = bound((loop,))
        before = self.formed
        self.formed = {n: op for n, op in before.items() if n not in anew and not anew & set(map(name_of, op.args))}
        yield
        self.formed = before

    def kept(self, atom: Atom, first: Emitter, second: Emitter, passage: Passage, *, sure: bool = False) -> Atom:
        """Where the second function finds what an atom is here; `sure`: nobody changes it."""
        if isinstance(atom, Lit) or self.sides.moves(atom):
            return atom
        if isinstance(atom, Ext):
            return self._from_outside(atom)
        if (formed := self._formed(atom, second)) is not None:
            return formed
        written = not sure and self.sides.is_written(self.sides.kind(atom))
        if atom.name in self.stable and not written:
            self.slots[atom.name] = None
            return atom
        if atom.name in passage.found and not written:
            return passage.found[atom.name]
        now = first.let(copied(atom, self.sides.kind(atom))) if written else atom
        found = self._noted(atom.name, now, first, second, passage)
        passage.found[atom.name] = found
        return found

    def _formed(self, atom: Atom, second: Emitter) -> Atom | None:
        """A whole number that is formed again from the variables of loops."""
        if not self._forms(atom):
            return None
        op = self.formed.get(atom.name) if isinstance(atom, Var) else None
        if op is None:
            return atom
        return second.let(Op(op.fn, tuple(a for a in (self._formed(a, second) for a in op.args) if a is not None)))

    def _forms(self, atom: Atom) -> bool:
        known = self.sides.loops, self.formed
        return isinstance(atom, Lit) or isinstance(atom, Var) and any(atom.name in names for names in known)

    def _noted(self, name: str, now: Atom, first: Emitter, second: Emitter, passage: Passage) -> Atom:
        shown = "factor" if name.startswith("%") else name
        if passage.place is None:
            slot = self.names.fresh(f"{shown}_kept")
            first.assign(slot, now)
            self.slots[slot] = None
            return Var(slot)
        tape = self.names.fresh(f"{shown}_tape")
        self.tapes.append(tape)
        self.slots[tape] = None
        passage.used = True
        first.append(tape, now)
        return second.let(Index(Var(tape), Key((passage.place,))))

    def _from_outside(self, ext: Ext) -> Atom:
        if not isinstance(self.sides.kind(ext), Num | Arr | Box):
            return ext
        if id(ext) not in self.foreign:
            self.foreign[id(ext)] = (ext, self.names.fresh(f"{ext.name.rpartition('.')[2]}_kept"))
        name = self.foreign[id(ext)][1]
        self.slots[name] = None
        return Var(name)

    def key(self, key: Key, first: Emitter, second: Emitter, passage: Passage) -> Key:
        """A key as the second function has it."""
        return map_key(key, lambda a: self.kept(a, first, second, passage))

    def moved(self, value: Expr, kind: Kind, first: Emitter, second: Emitter, passage: Passage) -> Expr:
        """An expression that moves, as the second function has it. Raises Unbatchable."""
        if isinstance(value, Make) and isinstance(kind, Box):
            names = value.keys if value.keys is not None else range(len(value.items))
            pairs = zip(names, value.items, strict=True)
            return replace(value, items=tuple(self._slot(kind, k, a, first, second, passage) for k, a in pairs))
        given = (*value.args, *(a for _, a in value.kwargs)) if isinstance(value, Op) else ()
        if any(self.sides.is_torn(self.sides.kind(a)) for a in given if self.sides.moves(a)):
            raise Unbatchable("an operation on a container of what moves and of what does not", second.span)
        return map_expr(value, lambda a: self.kept(a, first, second, passage))

    def item(self, base: Kind, key: Key | None, atom: Atom, first: Emitter, second: Emitter, passage: Passage) -> Atom:
        """What is written into an array or container that moves."""
        if not isinstance(base, Box):
            return self.kept(atom, first, second, passage)
        place = MISSING if key is None else self.sides.facts.key(self.sides.instance, base, key)
        return self._slot(base, place, atom, first, second, passage)

    def _slot(self, box: Box, place: object, atom: Atom, first: Emitter, second: Emitter, passage: Passage) -> Atom:
        only_there = self.sides.is_torn(box) and not self.sides.facts.slot(box, place)
        if isinstance(atom, Lit) or self.sides.moves(atom) or not only_there:
            return self.kept(atom, first, second, passage)
        return NONE

    def opened(self, body: Block, span: Span) -> Block:
        """The first function: its lists are empty first, and what comes from outside is read."""
        emit = Emitter(span)
        for tape in self.tapes:
            emit.assign(tape, Make(list, ()))
        for ext, name in self.foreign.values():
            emit.assign(name, copied(ext, self.sides.kind(ext)))
        return (*emit.block, *body)

    def saved(self) -> Op:
        """A mark for all that is kept, which is known when both functions are written."""
        return Op(_all_kept, ())

    def with_saved(self, block: Block) -> Block:
        """A block with what is kept in the places of the marks."""
        out: list[Statement] = []
        for s in block:
            match s:
                case Assign(value=Op(fn=fn)) if fn is _all_kept:
                    out.append(replace(s, value=Make(tuple, tuple(map(Var, self.slots)))))
                case If():
                    out.append(replace(s, body=self.with_saved(s.body), orelse=self.with_saved(s.orelse)))
                case For() | Loop():
                    out.append(replace(s, body=self.with_saved(s.body)))
                case _:
                    out.append(s)
        return tuple(out)

    def restored(self, body: Block, span: Span) -> Block:
        """The second function: it takes apart what was kept."""
        emit = Emitter(span)
        for i, name in enumerate(self.slots):
            emit.assign(name, Index(Var(self.state), Key((Lit(i),))))
        for name in self.counters:
            emit.assign(name, Lit(0))
        return (*emit.block, *body)


def _all_kept() -> None:
    raise AssertionError("a marker, never run")
