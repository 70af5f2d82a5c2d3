"""Numbers that all products of one array are multiplied with: the array is multiplied once.

    y_bar = (c * u) * t                 # n = c * t; y_bar = u * n; u_bar = x * n
    u_bar = c * (x * t)

So it is in the reverse of ``c * u * x``. That saves a pass over an array for each product but one, and rounds as often.
The number stays what it is throughout the function. The array is new where it is made, and products are all that is
made of it, so that nothing writes into it and its multiple is one wherever it is read. A number is taken out of a
factor only where the rest of that is as it was when the factor was made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, Num, Region, is_array
from tangentx.analysis.types.primitives import makes_new
from tangentx.ir.nodes import Accumulate, Assign, Atom, Block, Lit, Op, Statement, Store, Var
from tangentx.ir.walk import blocks, reads
from tangentx.optimise.facts.shape_arithmetic import Lengths
from tangentx.optimise.facts.unit import Unit
from tangentx.optimise.rewriting import MUL, Rewriter, Rules, run_each


class SharedNumbers(Rules):
    """The reverse sweep with such arrays multiplied where they are made: `multiples` has the products. `moved` are
    multiples of products that have been bound already, where the product was."""

    follows = True

    def __init__(self, walk: Rewriter) -> None:
        super().__init__(walk)
        self.readers = self.unit.found(_Readers)
        self.multiples: dict[str, Var] = {}
        self.moved = set[str]()

    def operation(self, s: Assign, op: Op) -> Sequence[Statement] | None:
        """A product with the multiple, which the first of them makes."""
        if s.target in self.moved:
            return ()
        for t, other in (op.args, op.args[::-1]) if op.fn is MUL else ():
            if isinstance(t, Var) and t.name in self.readers.shared and self._is_new(t):
                return self._of_multiple(s, t, other)
        return None

    def _is_new(self, t: Var) -> bool:
        """Whether it is an array that nobody else can write into."""
        made = self.expr(t)
        return _is_plain(self.kind(t)) and isinstance(made, Op) and makes_new(made.fn)

    def _of_multiple(self, s: Assign, t: Var, other: Atom) -> Sequence[Statement] | None:
        """``(c * u) * t`` as a product of `u` and the multiple of `t`, or ``c * (u * t)`` where ``u * t`` stands."""
        number = self.readers.shared[t.name]
        whole = self.readers.multiple_of(s.target, number)
        if whole is not None:
            self.moved.add(whole)
            return self._with_multiple(s, t, number, whole, other)
        made, shape = self._made_for(other), self.shape(other)
        for one, u in () if made is None else (made.args, made.args[::-1]):
            if one == number and _is_plain(self.kind(u)) and isinstance(shape, Lengths) and self.shape(u) == shape:
                return self._with_multiple(s, t, number, s.target, u)
        return None

    def _with_multiple(self, s: Assign, t: Var, number: Atom, target: str, other: Atom) -> Sequence[Statement]:
        """The product of a factor and the multiple of an array, behind the multiple where there is none yet."""
        made: list[Assign] = []
        if t.name not in self.multiples:
            kind = self.kind(t)
            assert isinstance(kind, Arr)
            kind = replace(kind, region=Region(kind.region.world))
            made.append(self.let(s, Op(MUL, (number, t)), kind, self.count[t.name]))
            self.multiples[t.name] = Var(made[0].target)
        return *made, Assign(target, Op(MUL, (other, self.multiples[t.name])), s.span)

    def _made_for(self, atom: Atom) -> Op | None:
        """The product that the atom is, made for one reader, of what is still as it was."""
        made = self.current(atom)
        alone = isinstance(atom, Var) and self.count[atom.name] == self.bindings[atom.name] == 1
        return made if alone and isinstance(made, Op) and made.fn is MUL and _is_plain(self.kind(atom)) else None


class _Readers:
    """Who reads what in a function; `shared` are arrays of which there are products, each with a number that all of
    these are multiplied with, all in one block."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.read, self.bound = unit.counts()
        self.made: dict[str, Op] = {}
        self.readers: dict[str, list[Statement]] = {}
        self.places: dict[str, tuple[int, int]] = {}
        self._number(unit.body)
        for s in unit.statements():
            if type(s) is Assign and type(s.value) is Op and self.bound[s.target] == 1:
                self.made[s.target] = s.value
            for name in reads(s):
                self.readers.setdefault(name, []).append(s)
        outermost = {s.target for s in unit.body if type(s) is Assign}
        self.constant = {name for name in outermost if self.bound[name] == 1}
        self.constant |= {param.name for param in unit.function.params if not self.bound[param.name]}
        self.shared: Mapping[str, Atom] = dict(self._found())

    def _number(self, block: Block) -> None:
        """Notes for each name that is bound once in which block that is, and where."""
        for k, s in enumerate(block):
            if type(s) is Assign and self.bound[s.target] == 1:
                self.places[s.target] = id(block), k
            for inner in blocks(s):
                self._number(inner)

    def _found(self) -> Iterator[tuple[str, Atom]]:
        for name in self.places:
            readers = self.readers.get(name, [])
            products = [s for s in readers if not _is_written(s, name)]
            if len(readers) == self.read[name] and len(products) > 1:
                first, *others = (self._numbers(s, name) for s in products)
                common = [number for number in first if all(number in each for each in others)]
                if common and len({self.places[s.target][0] for s in products if type(s) is Assign}) == 1:
                    yield name, common[0]

    def _numbers(self, s: Statement, name: str) -> list[Atom]:
        """The numbers that a product of the name is multiplied with, in a factor of its own or by its only reader."""
        op = s.value if type(s) is Assign else None
        if not (type(s) is Assign and s.target in self.places and isinstance(op, Op) and op.fn is MUL):
            return []
        if op.args[0] == op.args[1]:
            return []
        (other,) = (a for a in op.args if a != Var(name))
        factor = self.made.get(other.name) if isinstance(other, Var) and self._is_alone(other.name) else None
        products = [op for op in (factor, self._multiple(s.target)[1]) if op is not None and op.fn is MUL]
        return [a for op in products for a in op.args if self._is_constant(a)]

    def _multiple(self, name: str) -> tuple[str, Op | None]:
        """What the only reader of a name makes of it, behind it in the same block, and the name of that."""
        reader = self.readers[name][0] if self._is_alone(name) else None
        if not (type(reader) is Assign and type(reader.value) is Op and reader.target in self.places):
            return "", None
        (block, at), (its, place) = self.places[name], self.places[reader.target]
        return (reader.target, reader.value) if block == its and at < place else ("", None)

    def multiple_of(self, name: str, number: Atom) -> str | None:
        """The name of the multiple, with this number, of a product that nothing else reads."""
        found, op = self._multiple(name)
        return found if op is not None and op.fn is MUL and number in op.args else None

    def _is_alone(self, name: str) -> bool:
        return self.read[name] == self.bound[name] == 1 and len(self.readers[name]) == 1

    def _is_constant(self, atom: Atom) -> bool:
        """Whether it is a real number that stays what it is."""
        if isinstance(atom, Lit):
            return type(atom.value) is float
        kind = self.unit.kinds.get(atom.name) if isinstance(atom, Var) and atom.name in self.constant else None
        return isinstance(kind, Num) and set(kind.exact) <= {float, np.float64}


def _is_written(s: Statement, name: str) -> bool:
    """Whether a statement writes the numbers of the named array somewhere else, and does nothing more with it."""
    return (type(s) is Store or type(s) is Accumulate) and s.value == Var(name)


def _is_plain(kind: object) -> bool:
    """Whether it is of arrays of doubles: a number would make another of shorter ones."""
    return is_array(kind) and isinstance(kind, Arr) and kind.dtype == np.float64 and bool(kind.rank)


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Multiplies arrays once with numbers that all products of them are multiplied with."""
    return run_each(program, units, SharedNumbers)
