"""Contraction: sums of products are written as products of vectors, matrices and tensors.

    np.sum(x * y)                       # x @ y, or np.vdot(x, y) of matrices
    np.sum(-c * x / d)                  # -(c * np.sum(x) / d) for numbers c and d
    np.sum(u * x, axis=0)               # u * np.sum(x, axis=0) where u does not go along the axis
    np.sum(z * w, axis=0)               # np.einsum("ijk,ijk->jk", z, w)
    y * np.sum(x * t, axis=0)           # np.einsum("ijk,ijk->jk", z, t), where z is x * y
    np.size(np.sum(z * w, axis=1))      # len(z), of matrices

The array of the products is not made, which costs most of the time of such a sum: a few numbers remain of it. Numbers
and what is the same for all that is summed are multiplied once. All round as often, or less; that of a matrix and a
vector goes to BLAS. What a factor is multiplied with anyway is a value of the forward sweep, of which the reverse sweep
needs no other then. Only products of the reverse sweep that nothing else reads, of arrays whose shapes are known; a
product of two arrays may have several readers, if they are all such sums, or products that such a sum reads.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, Kind, Num, is_array
from tangentx.ir.nodes import Accumulate, Assign, Atom, Lit, Op, Statement, Store, Var
from tangentx.ir.walk import reads
from tangentx.optimise.facts.long_items import tell_long_items
from tangentx.optimise.facts.shape_arithmetic import Lengths
from tangentx.optimise.facts.summaries import tell_callees
from tangentx.optimise.facts.unit import Unit
from tangentx.optimise.rewriting import MATMUL, MUL, NEG, Rewriter, Rules, run_each

_LABELS = "ijklmn"
_QUOTIENT = operator.truediv
LIMIT_FACTORS = 3
PAIR = 2
"""The limit for a sum over all axes: BLAS has a product of two, which takes, with the array of the product of the
others, a third of the time of `np.einsum` with three."""


@dataclass
class _Product:
    """A product: its arrays, each with the axes along which it goes; the numbers that it is multiplied with, or
    divided by; and whether its sign is turned."""

    arrays: list[tuple[Atom, str]] = field(default_factory=list)
    times: list[Atom] = field(default_factory=list)
    over: list[Atom] = field(default_factory=list)
    negative: bool = False


class Contraction(Rules):
    """The reverse sweep with products in the place of their sums."""

    follows = True
    notes = True

    def __init__(self, walk: Rewriter) -> None:
        super().__init__(walk)
        self.writes = 0
        self.since: dict[str, int] = {}
        self.products: dict[tuple[str, str], str] = {}
        self.summed = self.unit.found(_read_by_sums)

    def note(self, s: Assign, op: Op) -> None:
        """Notes how much had been written when a name was bound, and products of two names."""
        self.since[s.target] = self.writes
        match op:
            case Op(fn=operator.mul, args=(Var(name=x), Var(name=y)), kwargs=()):
                self.products[x, y] = self.products[y, x] = s.target

    def write(self, s: Store | Accumulate) -> None:
        """Counts."""
        self.writes += 1

    def operation(self, s: Assign, op: Op) -> Sequence[Statement] | None:
        """The statement, after those that make what it reads now."""
        if op.fn is np.size and len(op.args) == 1:
            return self._count(s, op.args[0])
        if op.fn is MUL and len(op.args) == 2:
            return self._taken_in(s, *op.args) or self._taken_in(s, *reversed(op.args))
        if op.fn is not np.sum or len(op.args) != 1 or not isinstance(whole := op.args[0], Var):
            return None
        settings = dict(op.kwargs)
        axis = settings.get("axis", Lit(None))
        kind, shape = self.kind(whole), self.shape(whole)
        if not (_is_plain(kind) and isinstance(shape, Lengths) and 0 < len(shape) <= len(_LABELS)):
            return None
        product = _Product()
        self._take_apart(whole, shape, product, PAIR if axis == Lit(None) else LIMIT_FACTORS)
        taken = len(product.arrays) + len(product.times) + len(product.over) + product.negative
        if not isinstance(axis, Lit) or taken < 2:
            return None
        if self.since.get(whole.name) != self.writes and any(self._is_copy(atom) for atom, _ in product.arrays):
            return None
        if settings.keys() - {"axis"}:
            return self._kept(s, op, product) if len(product.arrays) == 1 else None
        if axis.value is None:
            return self._over_all(s, product, _LABELS[: len(shape)])
        return self._along(s, product, len(shape), axis.value) if type(axis.value) is int else None

    def _taken_in(self, s: Assign, y: Atom, total: Atom) -> Sequence[Statement] | None:
        """``y * np.einsum("ijk,ijk->jk", x, t)`` as the sum of ``z * t``, where `z` is ``x * y``; with a number before
        the sum, too."""
        found = self._made_for(total)
        if found is None or not isinstance(y, Var) or not (_is_plain(self.kind(y)) and self._fits_to(y, total)):
            return None
        number, made = (None, found) if found.fn is np.einsum else (found.args[0], self._made_for(found.args[1]))
        if made is None or made.fn is not np.einsum or (number is not None and not self._is_number(number)):
            return None
        spec, *factors = made.args
        assert isinstance(spec, Lit)
        terms, _, left = str(spec.value).partition("->")
        for k, (axes, x) in enumerate(zip(terms.split(","), factors, strict=True)):
            z = self.products.get((x.name, y.name)) if isinstance(x, Var) and axes.endswith(left) else None
            if z is None or not (Var(z) in factors or self.count[x.name] == 2):  # type: ignore[union-attr]
                continue  # the one would be kept beside the other
            if self._is_product_of(Var(z), x, y):
                factors[k] = Var(z)
                value = Op(np.einsum, (spec, *factors))
                product = _Product(times=[] if number is None else [number])
                return self._scaled(s, product, value, self.unit.kinds[s.target])
        return None

    def _made_for(self, atom: Atom) -> Op | None:
        """The sum, or product, that the atom is, made for one reader."""
        made = self.current(atom)
        alone = isinstance(atom, Var) and self.count[atom.name] == self.bindings[atom.name] == 1
        fits = isinstance(made, Op) and (made.fn is np.einsum or (made.fn is MUL and not made.kwargs))
        return made if alone and fits else None  # type: ignore[return-value]

    def _fits_to(self, y: Atom, total: Atom) -> bool:
        """Whether an array has the shape of a sum, with no axis of length one."""
        shape = self.shape(y)
        return isinstance(shape, Lengths) and None not in shape and shape == self.shape(total)

    def _is_product_of(self, z: Var, x: Atom, y: Atom) -> bool:
        """Whether a name still holds the product of two, and has the shape of the first."""
        made, shape = self.current(z), self.shape(z)
        alike = isinstance(shape, Lengths) and shape == self.shape(x) and _is_plain(self.kind(z))
        return alike and isinstance(made, Op) and made.fn is MUL and made.args in ((x, y), (y, x)) and self.still(z)

    def _count(self, s: Assign, array: Atom) -> Sequence[Statement] | None:
        """How many numbers a sum along one axis has, of an array with the other axes of what is summed."""
        made = self.expr(array)
        if not (
            isinstance(made, Op) and made.fn in (np.sum, np.mean) and len(made.args) == 1 and len(made.kwargs) == 1
        ):
            return None
        (name, axis), whole = made.kwargs[0], self.expr(made.args[0])
        shape = self.shape(made.args[0])
        if name != "axis" or not (isinstance(axis, Lit) and type(axis.value) is int and isinstance(whole, Op)):
            return None
        alike = [a for a in whole.args if is_array(self.kind(a)) and self.shape(a) == shape]
        if not (alike and isinstance(shape, Lengths) and len(shape) > 1):
            return None
        first, *others = [k for k in range(len(shape)) if k != axis.value % len(shape)]
        size = Op(len, (alike[0],)) if first == 0 else Op(np.size, (alike[0], Lit(first)))
        lengths: list[Assign] = []
        for k in others:
            lengths.append(self.let(s, size, Num(int)))
            lengths.append(self.let(s, Op(np.size, (alike[0], Lit(k))), Num(int)))
            size = Op(MUL, (Var(lengths[-2].target), Var(lengths[-1].target)))
        return *lengths, Assign(s.target, size, s.span)

    def _is_copy(self, atom: Atom) -> bool:
        """Whether the array is a copy, for which the array itself may do if it is not read later than now."""
        made = self.expr(atom)
        return isinstance(made, Op) and made.fn is arrays.clone

    # -- factors -----------------------------------------------------------------------------------------------

    def _take_apart(self, atom: Atom, shape: Lengths, product: _Product, limit: int) -> None:
        """Adds the factors of an array of this shape, `limit` arrays at most."""
        made = self.current(atom)
        alone = isinstance(atom, Var) and (
            self.count[atom.name] == self.bindings[atom.name] == 1 or atom.name in self.summed
        )
        if isinstance(made, Op) and alone and not made.kwargs and _is_plain(self.kind(atom)):
            if made.fn is NEG:
                product.negative = not product.negative
                return self._take_apart(made.args[0], shape, product, limit)
            if made.fn is _QUOTIENT and self._is_number(made.args[1]):
                product.over.append(made.args[1])
                return self._take_apart(made.args[0], shape, product, limit)
            if made.fn is MUL and self._is_product(made, shape, product, limit):
                return None
        labels = _LABELS[: len(shape)]
        product.arrays.append((atom, labels))
        return None

    def _is_product(self, made: Op, shape: Lengths, product: _Product, limit: int) -> bool:
        """Adds the factors of a product, where all are known."""
        for one, other in (made.args, made.args[::-1]):
            if self._is_number(one) and self._fits(other, shape):
                product.times.append(one)
                self._take_apart(other, shape, product, limit)
                return True
        found = [(a, self._axes(a, shape)) for a in made.args]
        if any(axes is None for _, axes in found) or len(product.arrays) + 2 > limit:
            return False
        if not any(self._fits(a, shape) for a in made.args):
            return False
        for left, (a, axes) in zip((1, 0), found, strict=True):
            if self._fits(a, shape):
                shared = isinstance(a, Var) and a.name in self.summed
                self._take_apart(a, shape, product, limit - (left if shared else 1))
            else:
                product.arrays.append((a, axes or ""))
        return True

    def _fits(self, atom: Atom, shape: Lengths) -> bool:
        return _is_plain(self.kind(atom)) and self.shape(atom) == shape

    def _is_number(self, atom: Atom) -> bool:
        kind = self.kind(atom)
        return isinstance(kind, Num) and set(kind.exact) <= {float, np.float64}

    def _axes(self, atom: Atom, shape: Lengths) -> str | None:
        """The axes of a whole of this shape along which an array goes that is broadcast to it, in `_LABELS`; one of
        length one too, which `np.einsum` repeats. None where that is not known."""
        given = self.shape(atom)
        if not (_is_plain(self.kind(atom)) and isinstance(given, Lengths) and len(given) <= len(shape)):
            return None
        lead = len(shape) - len(given)
        alike = all(n in (1, m) for n, m in zip(given, shape[lead:], strict=True))
        return _LABELS[lead : len(shape)] if alike and given else None

    # -- sums --------------------------------------------------------------------------------------------------

    def _kept(self, s: Assign, op: Op, product: _Product) -> Sequence[Statement] | None:
        """A sum that keeps its axes, say, of one array times numbers."""
        value, kind = Op(np.sum, (product.arrays[0][0],), op.kwargs), self.unit.kinds[s.target]
        return self._scaled(s, product, value, kind) if _is_plain(kind) else None

    def _over_all(self, s: Assign, product: _Product, whole: str) -> Sequence[Statement] | None:
        """The sum over all axes."""
        value = self._summed(product.arrays, whole, "")
        return None if value is None else self._scaled(s, product, value, Num(np.float64))

    def _along(self, s: Assign, product: _Product, rank: int, axis: int) -> Sequence[Statement] | None:
        """The sum along one axis, of what goes along it."""
        kind = self.unit.kinds[s.target]
        if not -rank <= axis < rank or not _is_plain(kind):
            return None
        label = _LABELS[axis % rank]
        left = _LABELS[:rank].replace(label, "")
        summed = [pair for pair in product.arrays if label in pair[1]]
        others = [pair for pair in product.arrays if label not in pair[1]]
        if any(not left.endswith(axes) for _, axes in others):
            return None
        value = self._summed(summed, _LABELS[:rank], left, axis % rank)
        if value is None:
            return None
        product.times += [atom for atom, _ in others]
        return self._scaled(s, product, value, kind)

    def _summed(self, factors: Sequence[tuple[Atom, str]], whole: str, left: str, axis: int | None = None) -> Op | None:
        """The sum of the product of these arrays; `left` are the axes that stay."""
        if not any(axes == whole and self._is_whole(atom, whole) for atom, axes in factors):
            return None
        atoms = tuple(atom for atom, _ in factors)
        if len(factors) == 1:
            return Op(np.sum, atoms, () if axis is None else (("axis", Lit(axis)),))
        exact = all(axes == whole and self.shape(atom) == self.shape(atoms[0]) for atom, axes in factors)
        if not left and len(factors) == 2 and exact:
            return Op(MATMUL if len(whole) == 1 else np.vdot, atoms)
        spec = ",".join(axes for _, axes in factors) + "->" + left
        return Op(np.einsum, (Lit(spec), *atoms))

    def _is_whole(self, atom: Atom, whole: str) -> bool:
        """Whether the array has no axis that is repeated."""
        shape = self.shape(atom)
        return isinstance(shape, Lengths) and len(shape) == len(whole) and 1 not in shape

    def _scaled(self, s: Assign, product: _Product, value: Op, kind: Kind) -> Sequence[Statement]:
        """The statement that binds the sum times what was taken out of it."""
        made: list[Assign] = []

        def last(value: Op) -> Atom:
            made.append(self.let(s, value, kind))
            return Var(made[-1].target)

        for factor in product.times:
            value = Op(MUL, (factor, last(value)))
        for divisor in product.over:
            value = Op(_QUOTIENT, (last(value), divisor))
        if product.negative:
            value = Op(NEG, (last(value),))
        return *made, Assign(s.target, value, s.span)


class _Shared:
    """Products of two arrays that several statements read, all of them sums, or factors of a product for one sum."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.read, self.bound = unit.counts()
        self.made: dict[str, Op] = {}
        self.readers: dict[str, list[Statement]] = {}
        for s in unit.statements():
            if type(s) is Assign and self.bound[s.target] == 1:
                if type(s.value) is Op:
                    self.made[s.target] = s.value
                elif type(s.value) is Var and self.read[s.value.name] == 1 and s.value.name in self.made:
                    self.made[s.target] = self.made[s.value.name]
            for name in reads(s):
                self.readers.setdefault(name, []).append(s)

    def found(self) -> frozenset[str]:
        """Their names."""
        products = (name for name, op in self.made.items() if op.fn is MUL and self.read[name] > 1)
        return frozenset(name for name in products if self._arrays(*self.made[name].args) == 2 and self._ends(name, 1))

    def _ends(self, name: str, factors: int) -> bool:
        """Whether all that read the name are sums, or products with so many factors more for a sum."""
        readers = self.readers[name]
        return len(readers) == self.read[name] and all(self._is_summed(s, factors) for s in readers)

    def _is_summed(self, s: Statement, factors: int) -> bool:
        if not (type(s) is Assign and type(s.value) is Op):
            return False
        if _is_sum(s.value):
            return True
        factors -= s.value.fn is MUL
        alone = s.value.fn in (MUL, NEG) and self.read[s.target] == self.bound[s.target] == 1
        return alone and factors >= 0 and self._ends(s.target, factors)

    def _arrays(self, *factors: Atom) -> int:
        """How many arrays a product has."""
        count = 0
        for atom in factors:
            if isinstance(atom, Var) and type(self.unit.kinds.get(atom.name)) is not Num:
                op = self.made.get(atom.name) if self.read[atom.name] == 1 else None
                count += self._arrays(*op.args) if op is not None and op.fn is MUL else 1
        return count


def _read_by_sums(unit: Unit) -> frozenset[str]:
    return _Shared(unit).found()


def _is_sum(op: Op) -> bool:
    """Whether it is the sum of an array over all axes or along one."""
    return op.fn is np.sum and len(op.args) == 1 and all(k == "axis" and isinstance(v, Lit) for k, v in op.kwargs)


def _is_plain(kind: object) -> bool:
    """Whether it is of arrays of doubles: of shorter numbers, sums one after the other would be off."""
    return is_array(kind) and isinstance(kind, Arr) and kind.dtype == np.float64


def prepare(program: Program, units: Sequence[Unit]) -> None:
    """What is in containers is found, where there are sums: records of a callee are containers of its caller's."""
    values = (s.value for unit in units for s in unit.statements() if type(s) is Assign)
    if any(type(value) is Op and value.fn is np.sum for value in values):
        tell_long_items(program, units)
        tell_callees(program, units)


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Writes sums of products as products."""
    return run_each(program, units, Contraction)
