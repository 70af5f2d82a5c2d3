"""What passes that write single statements anew have in common: a walk, the two sweeps, and when a copy will do.

All such passes that are switched on share one walk: every statement goes through the rules of each in turn.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import BOTTOM, Arr, Kind, Num, is_array, is_inexact
from tangentx.ir.nodes import (
    Accumulate,
    Assign,
    Atom,
    Block,
    Expr,
    If,
    Link,
    Lit,
    Op,
    Statement,
    Store,
    Var,
)
from tangentx.ir.walk import statement_atoms
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.aliasing import PASSING, is_view, returned
from tangentx.optimise.facts.dataflow import sweeps
from tangentx.optimise.facts.shapes import Facts, given_back
from tangentx.optimise.facts.tangent_names import of_tangents, target_of
from tangentx.optimise.facts.unit import Unit

_TEMPORARIES = itertools.count()


class Rewriter(Facts):
    """Facts, and whether the current statement is derived: part of the function's reverse sweep, or of its tangents.

    `count`, `bindings` and `returned` describe the function as it was before the walk, and new temporaries; `of_all`
    finds facts about the whole program, once for the walks of all functions.
    """

    def __init__(
        self,
        program: Program,
        unit: Unit,
        rules: Sequence[type[Rules]] = (),
        of_all: Callable[[Callable[[Program], Any]], Any] | None = None,
    ) -> None:
        super().__init__(program, unit)
        self.of_all = of_all or (lambda what: what(program))
        self.returned = unit.found(returned, program)
        self.reverse = self.ours = False
        self.tangents = unit.found(of_tangents)
        self.rules = [each(self) for each in rules]
        beside = bool(self.tangents)  # what the user wrote stands among tangents there
        self.chosen = self.anywhere = [each for each in self.rules if each.anywhere or (each.exact and beside)]
        self.zeros = [each for each in self.rules if each.tells_zeros]
        self.noting = [each for each in self.rules if each.notes]
        self.shaping = not self.rules or any(each.shapes for each in self.rules)

    def whole(self) -> Block:
        """The rewritten body; the same object if nothing changed."""
        body = self.unit.body
        forward, reverse = sweeps(self.unit.function)
        first = self.block(forward)
        self.reverse = True
        second = self.block(reverse) if self.env is not None else reverse
        return body if first is forward and second is reverse else (*first, *second)

    def rewrite(self, s: Statement) -> Iterable[Statement]:
        """The statement, rewritten by the rules of each pass in turn."""
        self.ours = self.reverse or (bool(self.tangents) and target_of(s) in self.tangents)
        self.chosen = self.rules if self.ours else self.anywhere
        if type(s) is If:
            return next((new for each in self.chosen if (new := each.branch(s)) is not None), (s,))
        return self._by_rules(s, 0)

    def _by_rules(self, s: Statement, first: int) -> Iterable[Statement]:
        """The statement by the rules from the `first` on."""
        for k in range(first, len(self.chosen)):
            if type(s) is Assign:
                if type(s.value) is not Op:
                    break
                new = self.chosen[k].operation(s, s.value)
            elif type(s) is Accumulate or type(s) is Store:
                new = self.chosen[k].write(s)
            else:
                break
            if new is None:
                continue
            if len(new) != 1:
                return self._one_by_one(new, k + 1)
            s = new[0]
        return (s,)

    def _one_by_one(self, new: Sequence[Statement], first: int) -> Iterator[Statement]:
        """What is known has to take in each before the rules see the next."""
        for s in new:
            yield from self._by_rules(s, first)

    def after(self, s: Statement) -> None:
        """Tells the rules that take note of what is computed."""
        super().after(s)
        if type(s) is Assign and type(s.value) is Op:
            for each in self.noting:
                each.note(s, s.value)

    def is_zero(self, s: Assign) -> bool:
        """Whether a rule knows that the statement binds a zero, and that it stays one."""
        if self.ours:
            for each in self.zeros:
                if each.is_zero(s):
                    return True
        return False

    def let(self, s: Statement, value: Expr, kind: Kind, readers: int = 1) -> Assign:
        """A new temporary, for so many readers."""
        name = f"%r{next(_TEMPORARIES)}"
        self.unit.kinds[name] = kind
        self.count[name], self.bindings[name] = readers, 1
        return Assign(name, value, s.span)

    def kind(self, atom: Atom) -> Kind:
        """The kind of an atom."""
        return self.unit.kinds.get(atom.name, BOTTOM) if type(atom) is Var else self.unit.kind(self.program, atom)

    def same(self, s: Assign, atom: Atom) -> Statement | None:
        """``target = atom`` for what is known to equal it, where a shared array can do no harm; else None.

        An array that the function gives back must be of its own, so it is copied unless nobody else has it.
        """
        old, new = self.unit.kinds.get(s.target), self.kind(atom)
        if isinstance(new, Num):
            number = isinstance(old, Num) or (isinstance(old, Arr) and old.loose)
            return self._alias(s, atom) if number else None
        if not (isinstance(old, Arr) and is_array(new) and isinstance(new, Arr)):
            return None
        if not (old.region.still() and new.region.still() and old.dtype == new.dtype):
            return None
        if s.target in self.returned and not self.own(atom):
            return Assign(s.target, Op(arrays.clone, (atom,)), s.span)
        old.region.unite(new.region)
        return self._alias(s, atom)

    def equal(self, s: Assign, atom: Atom) -> Statement | None:
        """As `same`; a copy, where the memory of an array is written into."""
        found, kinds = self.same(s, atom), (self.unit.kinds.get(s.target), self.kind(atom))
        if found is not None or not all(map(is_array, kinds)):
            return found
        return Assign(s.target, Op(arrays.clone, (atom,)), s.span)

    def passed(self, s: Assign, atom: Atom) -> Statement | None:
        """``target = atom`` for an operation that gives back the very array that it is given."""
        old, new = self.unit.kinds.get(s.target), self.kind(atom)
        if s.target in self.returned or not (isinstance(old, Arr) and isinstance(new, Arr)):
            return None
        return self._alias(s, atom) if old.region.root() is new.region.root() else None

    def _alias(self, s: Assign, atom: Atom) -> Assign:
        """``target = atom``; who reads the one may come to read the other."""
        if isinstance(atom, Var):
            self.count[atom.name] += self.count[s.target]
        return Assign(s.target, atom, s.span)

    def own(self, atom: Atom) -> bool:
        """Whether the array was made by an operation for the statement in hand alone: nothing else reads it."""
        if not isinstance(atom, Var) or self.bindings[atom.name] > 1 or self.count[atom.name] > 1:
            return False
        if self.hand is None or atom not in statement_atoms(self.hand):
            return False
        made = self.expr(atom)
        if not isinstance(made, Op) or made.fn in PASSING or is_view(self.program, self.unit, atom, made):
            return False
        return memory.region(self.kind(atom)) not in memory.outside(self.program)

    def still(self, atom: Atom) -> bool:
        """Whether the value of the atom cannot be changed by a write into memory."""
        kind = self.kind(atom)
        return isinstance(kind, Num) or (isinstance(kind, Arr) and kind.region.still())

    def real(self, atom: Atom) -> bool:
        """Whether the atom is a real or complex number, or an array of them, and never a whole number."""
        kind = self.kind(atom)
        return is_inexact(kind) and not (isinstance(kind, Num) and not all(is_inexact(Num(t)) for t in kind.types))


def scaled(kind: Kind, real: bool = True) -> Kind:
    """The kind of a value times a literal, which is `real`, or of its negative.

    Of an array without axes it is a number; a whole number becomes a real one.
    """
    if isinstance(kind, Arr) and kind.sure and kind.rank == 0:
        kind = Num(kind.dtype.type)
    if not real or not isinstance(kind, Num) or np.dtype(kind.type).kind not in "biu":
        return kind
    return Num(float if kind.type in (bool, int) else np.float64)


class Rules:
    """The replacements of single statements that one pass makes, in a walk that it shares with other passes.

    `anywhere`: it applies to the user's own statements too, not to derived ones alone; `exact`: in forward mode, where
    the two stand side by side, it does so as well, because it keeps every bit; `follows`: it finds the operation that a
    value came from through copies; `notes`: `note` is to be called for each operation; `tells_zeros`: `is_zero`
    knows which values are zero. A method that returns None leaves the statement as it is.
    """

    anywhere = False
    exact = False
    follows = False
    notes = False
    tells_zeros = False
    shapes = True

    def __init__(self, walk: Rewriter) -> None:
        self.walk = walk
        self.program, self.unit = walk.program, walk.unit
        self.kind, self.shape, self.expr = walk.kind, walk.shape, walk.held if self.follows else walk.expr
        self.still, self.real, self.same, self.let = walk.still, walk.real, walk.same, walk.let
        self.current = walk.current
        self.count, self.bindings = walk.count, walk.bindings

    @classmethod
    def ahead(cls, units: Sequence[Unit]) -> Mapping[Link, object]:
        """Facts about all functions that the rules need before the walk of any."""
        return {}

    def begin(self, known: object) -> None:
        """Receives what `ahead` found for the function."""

    def operation(self, s: Assign, op: Op) -> Sequence[Statement] | None:
        """The replacement of a statement that binds the result of an operation."""
        return None

    def write(self, s: Store | Accumulate) -> Sequence[Statement] | None:
        """The replacement of a write into an array or container, or of an accumulation into it."""
        return None

    def branch(self, s: If) -> Sequence[Statement] | None:
        """The replacement of a branch whose outcome is known."""
        return None

    def note(self, s: Assign, op: Op) -> None:
        """Called for each operation, so that the pass may remember what has been computed."""

    def is_zero(self, s: Assign) -> bool:
        """Whether what the statement binds is known to be zero, and stays so."""
        return False


def is_number(atom: Atom, value: float) -> bool:
    """Whether the atom is the constant `value`, an int or a float."""
    return isinstance(atom, Lit) and type(atom.value) in (int, float) and atom.value == value


def run_each(program: Program, units: Sequence[Unit], *rules: type[Rules]) -> bool:
    """Writes each function anew, in one walk; True if any changed. Callees come first: their callers ask for the shapes
    of what they give back, which the walk has found."""
    ahead = [each.ahead(units) for each in rules]
    of_all = functools.cache(lambda what: what(program))
    changed = False
    for unit in reversed(units):
        known = [found.get(unit.link) for found in ahead]
        if unit.settled.get(rules) == (unit.body, known):
            continue
        walk = Rewriter(program, unit, rules, of_all)
        for each, given in zip(walk.rules, known, strict=True):
            each.begin(given)
        body = walk.whole()
        if body is unit.body:
            unit.settled[rules] = body, known
        else:
            unit.body, changed = body, True
        if walk.shaping:
            unit.note(given_back, walk.given_back())
    return changed


ADD, SUB, MUL, NEG, MATMUL = operator.add, operator.sub, operator.mul, operator.neg, operator.matmul
