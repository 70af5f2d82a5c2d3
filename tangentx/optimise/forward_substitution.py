"""Forward substitution: a name that is read once is replaced by its expression at that place.

A binding moves down to the statement that reads it where nothing on the way binds a name that it reads or writes memory
that it looks into; and ``t = e; ...; x = t`` becomes ``x = e`` where nothing on the way has to do with `x`. In the
reverse sweep that is done to every such name, in the forward sweep to temporaries alone: the user's names stay. A name
stays with the line of the user's whose reverse it belongs to, unless it joins further contributions to the same
cotangent (`joins.py`), and what is returned keeps its name.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import BOTTOM, Kind, Num, Some, is_array
from tangentx.analysis.types.primitives import has_effect
from tangentx.ir.markers import CUT, REVERSE
from tangentx.ir.nodes import (
    WHOLE,
    Accumulate,
    Append,
    Assign,
    Atom,
    Block,
    Call,
    Delete,
    For,
    If,
    Index,
    Link,
    Lit,
    Loop,
    Make,
    Note,
    Op,
    Pop,
    Return,
    Statement,
    Store,
    Var,
)
from tangentx.ir.rewrite import rename
from tangentx.ir.value_names import PARTIAL
from tangentx.ir.walk import atoms, blocks, reads, statement_atoms, statements, writes
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.dataflow import sweeps
from tangentx.optimise.facts.summaries import Summary, summaries
from tangentx.optimise.facts.unit import Unit, write_each
from tangentx.optimise.facts.uses import reading

MOST_TERMS = 5
"""Terms of a sum; a longer one is more than a reader takes in, and nests as deep as it is long."""
_SCALING = (operator.mul, operator.truediv, operator.neg)
_COTANGENT = re.compile(r"(.+_bar)_?\d*")


class Joins:
    """The sums of one function; `staying` are the names of what calls and the like gave, which stay where they are."""

    def __init__(self, every: Sequence[Statement]) -> None:
        self.terms: dict[str, int] = {}
        self.read = Counter(a.name for s in every for a in statement_atoms(s) if isinstance(a, Var))
        self.made = {s.target: s.value for s in every if isinstance(s, Assign) and s.target.startswith("%")}
        self.staying = frozenset(
            s.target for s in every if isinstance(s, Assign) and isinstance(s.value, Call | Pop | Make)
        )

    def may(self, first: Assign, second: Statement) -> bool:
        """Whether `second` adds to the cotangent that `first` binds, under the same name, and the sum stays short."""
        match second:
            case Assign(target=target, value=Op(fn=operator.add | operator.sub, args=(Var(name=name), _), kwargs=())):
                short = self._terms(first) + self._terms(second) <= MOST_TERMS
                moves = not (isinstance(first.value, Var) and first.value.name in self.staying)
                return short and moves and name == first.target and _cotangent(name) == _cotangent(target) is not None
        return False

    def shared(self, first: Assign, second: Statement) -> bool:
        """Whether `first` is one product, and `second` a factor made of it that several cotangents share."""
        if not (isinstance(second, Assign) and second.target.startswith("%") and self.read[second.target] > 1):
            return False
        value = self.made.get(first.value.name) if isinstance(first.value, Var) else first.value
        plain = [v for v in (value, second.value) if isinstance(v, Op) and v.fn in _SCALING]
        return len(plain) == 2 and all(self._is_name(a) for a in plain[0].args)

    def _is_name(self, atom: Atom) -> bool:
        """Whether the text has a name for it, or a number."""
        return isinstance(atom, Lit) or (isinstance(atom, Var) and (atom.name[0] != "%" or self.read[atom.name] > 1))

    def note(self, first: Assign, second: Statement) -> None:
        """`first` stands in `second` from now on; where that is a sum, with what is joined to it."""
        if self.may(first, second) and isinstance(second, Assign):
            self.terms[second.target] = self.terms[first.target] = self._terms(first) + self._terms(second)

    def _terms(self, s: Assign) -> int:
        return self.terms.get(s.target, 1)


def _cotangent(name: str) -> str | None:
    """The cotangent that a name is a variant of."""
    found = _COTANGENT.fullmatch(name)
    return found[1] if found else None


_AUGMENTED = re.compile(r"[-+*/%@&|^]=")
MOST_STEPS = 4
FARTHEST = 200
"""Statements over which a reader is looked for; a limit on the time that long functions take."""


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Moves bindings to their readers in all functions; True if anything changed."""
    if memory.is_opaque(units):
        return False
    known = summaries(program, units)
    return write_each(units, lambda unit: _Nest(program, unit, known).whole())


class _Place:
    """A statement with what it and its blocks read, bind and write."""

    def __init__(self, program: Program, unit: Unit, known: dict[Link, Summary], s: Statement) -> None:
        self.statement = s
        every = [s, *(inner for block in blocks(s) for inner in statements(block))]
        self.reads = frozenset(name for inner in every for name in reads(inner))
        self.binds = frozenset(name for inner in every for name in writes(inner))
        self.own = Counter(a.name for a in statement_atoms(s) if isinstance(a, Var))
        found: set[Any] = set()
        for inner in every:
            found.update(_written(program, unit, known, inner))
        self.changes = frozenset(found)
        self.acts = any(isinstance(inner, Assign) and has_effect(inner.value) for inner in every)


def _written(program: Program, unit: Unit, known: dict[Link, Summary], s: Statement) -> set[Any]:
    if isinstance(s, Store | Accumulate | Append | Delete):
        return {memory.region(unit.kind(program, s.base))}
    if isinstance(s, Assign) and isinstance(s.value, Pop):
        return {memory.region(unit.kind(program, s.value.base))}
    if isinstance(s, Assign) and isinstance(s.value, Call):
        return set(known[s.value.link].writes)
    return set()


def _hands_over(s: Statement) -> bool:
    """Whether the statement returns, or makes what is returned."""
    return isinstance(s, Return) or (isinstance(s, Assign) and isinstance(s.value, Make))


def _is_of_one_place(readers: Sequence[Statement]) -> bool:
    """Whether they are what ``a[k] += v`` takes and puts back, so that the text says the place once."""
    taken = [s.value for s in readers if isinstance(s, Assign) and isinstance(s.value, Index)]
    stored = [s for s in readers if isinstance(s, Store) and _AUGMENTED.search(s.span.text)]
    return any((each.base, each.key) == (s.base, s.key) for each in taken for s in stored)


class _Nest:
    """One function."""

    def __init__(self, program: Program, unit: Unit, known: dict[Link, Summary]) -> None:
        self.program = program
        self.unit = unit
        self.known = known
        every = unit.statements()
        self.bound = Counter(name for s in every for name in writes(s))
        self.bound.update(p.name for p in unit.function.params)
        self.read = Counter(a.name for s in every for a in statement_atoms(s) if isinstance(a, Var))
        self.temporary: dict[str, str] = {}
        self.cut = CUT in unit.function.notes
        self.joins = Joins(every)

    def whole(self) -> Block:
        """The body with its bindings moved."""
        forward, reverse = sweeps(self.unit.function)
        first, second = [self._inside(s, False) for s in forward], [self._inside(s, True) for s in reverse]
        said = self._said_again([*first, *second])
        body = self._brought(said, said.index(second[0]) if second else len(said))
        return rename(body, self.temporary) if self.temporary else body

    def _block(self, block: Block, reverse: bool) -> Block:
        inner = self._said_again([self._inside(s, reverse) for s in block])
        return self._brought(inner, 0 if reverse else len(inner))

    def _brought(self, block: list[Statement], reverse: int) -> Block:
        """The block with its bindings at their readers; the reverse sweep starts at the place `reverse`."""
        places = [_Place(self.program, self.unit, self.known, s) for s in block]
        for i in range(len(places) - 1, -1, -1):
            s = places[i].statement
            if isinstance(s, Assign) and self._is_single(s, i >= reverse):
                self._settle(places, i, s)
        return tuple(place.statement for place in places)

    def _said_again(self, block: list[Statement]) -> list[Statement]:
        """``i - 1``, ``-c`` and their like at each place that reads them, rather than under a name."""
        out = list(block)
        for first in [s for s in block if isinstance(s, Assign) and self.read[s.target] > 1 and self._is_step(s)]:
            s = next(r for r in out if isinstance(r, Assign) and r.target == first.target)  # it may read another step
            own = [r for r in out if s.target in reads(r)]
            counts = [sum(a == Var(s.target) for a in statement_atoms(r)) for r in own]
            if not 1 < sum(counts) == self.read[s.target] or len(own) > MOST_STEPS or max(counts) > 1:
                continue
            if _is_of_one_place(own) and not any(isinstance(a, Lit) for a in atoms(s.value)):
                continue
            for k, r in enumerate(own):
                name = f"{s.target}.{k}"
                self.unit.kinds[name] = self.unit.kinds[s.target]
                self.bound[name] = self.read[name] = 1
                at = out.index(r)
                out[at : at + 1] = [Assign(name, s.value, s.span), rename(r, {s.target: name})]
            out.remove(s)
        return out

    def _is_step(self, s: Assign) -> bool:
        """Whether it is a sum or a product of two whole numbers, or the opposite of a number, of names bound once."""
        if not s.target.startswith("%") or self.bound[s.target] != 1 or not isinstance(s.value, Op) or s.value.kwargs:
            return False
        args, fn = s.value.args, s.value.fn
        if fn is operator.neg:
            ours = isinstance(args[0], Var) and not args[0].name.startswith("%")
            return ours and isinstance(self.unit.kinds.get(s.target), Num) and self._is_bound_once(args[0])
        if fn not in (operator.add, operator.sub, operator.mul):
            return False
        plain = any(isinstance(a, Lit) for a in args) and fn is not operator.mul  # `i - 1`, whatever `i` is
        return all(
            self._is_whole(a) and self._is_bound_once(a) and (plain or isinstance(a, Lit) or a.name[0] != "%")
            for a in args
        )

    def _is_whole(self, atom: Atom) -> bool:
        kind = self._kind(atom)
        return isinstance(kind, Num) and kind.type is int and not kind.none

    def _is_bound_once(self, atom: Atom) -> bool:
        return not isinstance(atom, Var) or self.bound[atom.name] == 1

    def _inside(self, s: Statement, reverse: bool) -> Statement:
        match s:
            case If():
                return replace(s, body=self._block(s.body, reverse), orelse=self._block(s.orelse, reverse))
            case For() | Loop():
                return replace(s, body=self._block(s.body, reverse))
        return s

    def _is_single(self, s: Assign, reverse: bool) -> bool:
        """Whether the name is bound here alone and read once, and is the compiler's to move."""
        if self.bound[s.target] != 1 or self.read[s.target] != 1:
            return False
        if self._stays(s):
            return s.target.startswith("%")
        return (s.target.startswith("%") or reverse) and not has_effect(s.value)

    def _settle(self, places: list[_Place], i: int, s: Assign) -> None:
        reader = next((j for j in range(i + 1, min(len(places), i + FARTHEST)) if s.target in places[j].reads), None)
        if reader is None or not places[reader].own[s.target]:
            return
        between = places[i + 1 : reader]
        user = places[reader].statement
        named = not s.target.startswith("%")
        joins = named and self.joins.may(s, user)
        if named and not (joins or self.joins.shared(s, user)):
            if _hands_over(user) or any(isinstance(p.statement, Note) for p in between):
                return
        if self.cut and any(isinstance(p.statement, Note) and p.statement.text == REVERSE for p in between):
            return  # the state would hold what it is formed of
        if not self._stays(s) and self._may_pass(s, between):
            if (added := self._added(s, user)) is not None:
                places[reader] = _Place(self.program, self.unit, self.known, added)
                del places[i]
                return
            read = places[reader].own
            while reader - 1 > i and self._goes_with(places[reader - 1].statement, read):
                reader -= 1  # in the order in which they were
            places.insert(reader - 1, places.pop(i))
            if named:
                self.temporary[s.target] = own = f"{PARTIAL}{s.target}"
                self.unit.kinds[own] = self.unit.kinds.get(s.target, BOTTOM)
                self.joins.note(s, user)
        elif isinstance(user, Assign) and user.value == Var(s.target):
            name = user.target
            if not any(name in p.reads or name in p.binds for p in between) and name not in places[i].reads:
                places[i] = _Place(self.program, self.unit, self.known, Assign(name, s.value, s.span))
                del places[reader]

    def _added(self, s: Assign, user: Statement) -> Statement | None:
        """``t = a[k]; t[...] += v`` as ``a[k] += v``, where the binding is a view of an array."""
        match s.value, user:
            case Index(base=base, key=key), Accumulate(base=Var(name=name), key=whole) if whole == WHOLE:
                old, view = self._kind(base), self._kind(Var(name))
                if name == s.target and is_array(old) and is_array(view) and memory.region(old) is memory.region(view):
                    return replace(user, base=base, key=key)
        return None

    def _kind(self, atom: Atom) -> Kind:
        return self.unit.kind(self.program, atom)

    def _goes_with(self, s: Statement, read: Counter[str]) -> bool:
        """Whether the statement stands where it does for another alone, which itself reads `read`."""
        return isinstance(s, Assign) and self.bound[s.target] == self.read[s.target] == 1 and s.target in read

    def _stays(self, s: Assign) -> bool:
        """Whether it stays where it is: a call, a new container, one of several items of a tuple to be unpacked."""
        if isinstance(s.value, Index) and isinstance(s.value.base, Var) and self.read[s.value.base.name] > 1:
            return memory.slot(self.program, self.unit, s.value) is not None
        return isinstance(s.value, Call | Pop) or (isinstance(s.value, Make) and s.value.cls is not tuple)

    def _may_pass(self, s: Assign, between: list[_Place]) -> bool:
        """Whether the binding means the same after these statements."""
        if any(p.binds & reads(s) for p in between):
            return False
        if any(p.acts for p in between) and any(isinstance(self._kind(a), Some) for a in atoms(s.value)):
            return False  # unknown code may change what nobody knows
        if memory.is_tuple(s.value) or not any(p.changes for p in between):
            return True
        seen = reading(self.program, self.unit, s).live
        held = memory.region(self.unit.kinds.get(s.target, BOTTOM))
        return not any(p.changes & seen or held in p.changes for p in between)
