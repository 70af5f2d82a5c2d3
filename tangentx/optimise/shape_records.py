"""What is recorded for its shape alone gives way to what has that shape, or those lengths, without a record.

``z_bar = np.zeros_like(z_tape.pop())`` is ``np.zeros((len(x), w.shape[1]))`` where the record was `x @ w`,
``np.zeros_like(y_bar)`` where `y_bar` has its shape, and ``np.zeros_like(u[1:])`` where the record was a sum of
``u[:-1]`` and ``u[1:]``.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, Box, Num, Region, is_array
from tangentx.common.forks import once
from tangentx.ir.markers import CUT
from tangentx.ir.nodes import Assign, Atom, Attr, Expr, Index, Key, Lit, Make, Op, Pop, Slice, Statement, Var
from tangentx.ir.walk import reads, statements
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.aliasing import viewed
from tangentx.optimise.facts.dataflow import sweeps
from tangentx.optimise.facts.shape_arithmetic import Length, Lengths, plain
from tangentx.optimise.facts.unit import Unit
from tangentx.optimise.rewriting import Rewriter


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Asks something else for these shapes; True if anything changed."""
    changed = False
    for unit in units:
        if names := _asked_for_shape(unit):
            body = _Elsewhere(program, unit, names).whole()
            changed = changed or body is not unit.body
            unit.body = body
    return changed


def _asked_for_shape(unit: Unit) -> frozenset[str]:
    """Names of records, taken back, of which nothing is read but the layout."""
    found, spoiled = set[str](), set[str]()
    for outermost in reversed(sweeps(unit.function)[1]):
        every = tuple(statements((outermost,)))
        copies = [(s.value.name, s.target) for s in every if isinstance(s, Assign) and isinstance(s.value, Var)]
        for s in every:
            if not (isinstance(s, Assign) and isinstance(s.value, Var)):
                spoiled |= reads(s) - _of_layout(s)
        for s in every:
            if isinstance(s, Assign) and isinstance(s.value, Pop):
                names = [s.target]
                for each in names:
                    names += [copy for name, copy in copies if name == each and copy not in names]
                found.update(names if not spoiled & set(names) else ())
        spoiled |= {name for name, copy in copies if copy in spoiled}
    return frozenset(found)


def _of_layout(s: Statement) -> frozenset[str]:
    """The names of which the statement asks the layout alone."""
    match s:
        case Assign(value=Op(fn=fn, args=args, kwargs=kwargs)):
            layout = memory.layout_of(fn)
            asked = {a.name for i, a in enumerate(args) if i in layout and isinstance(a, Var)}
            others = [a for i, a in enumerate(args) if i not in layout] + [a for _, a in kwargs]
            return frozenset(asked - {a.name for a in others if isinstance(a, Var)})
        case Assign(value=Attr(base=Var(name=name), name="shape" | "size" | "ndim")):
            return frozenset((name,))
    return frozenset()


class _Elsewhere(Rewriter):
    """Writes what asks for such a shape anew."""

    def __init__(self, program: Program, unit: Unit, names: frozenset[str]) -> None:
        super().__init__(program, unit)
        self.names = names
        self.params = [p.name for p in unit.function.params]
        if CUT in unit.function.notes:  # a pullback would keep a copy of an argument for its shape
            read = {name for s in statements(sweeps(unit.function)[1]) for name in reads(s)}
            self.params = [name for name in self.params if name in read]
        self.here: list[str] = []

    @once
    def viewed(self) -> frozenset[Region]:
        """Memory of which anything takes views by strides."""
        return viewed(self.program)

    def rewrite(self, s: Statement) -> Iterable[Statement]:
        """The statement, with another name for one of these."""
        found = self._of_layout(s) if self.reverse else None
        if isinstance(s, Assign) and self.reverse and s.target not in self.names:
            self.here.append(s.target)
        if found is None:
            return (s,)
        name, value = found
        other = self._other(name, s.target, strided=not isinstance(value, Attr))  # type: ignore[union-attr]
        if other is not None:
            assert isinstance(s, Assign)
            self.count[other] += 1
            return (Assign(s.target, _with(value, name, other), s.span),)
        return list(self._of_part(s, name, value)) or list(self._zeros(s, name, value)) or (s,)

    def _of_layout(self, s: Statement) -> tuple[str, Expr] | None:
        if not isinstance(s, Assign) or not isinstance(s.value, Op | Attr):
            return None
        names = [n for n in _of_layout(s) if n in self.names]
        return (names[0], s.value) if len(names) == 1 else None

    def _is_viewed(self, *names: str) -> bool:
        """Whether anything takes views by strides of the memory of any."""
        return any(memory.region(self.kind(Var(n))) in self.viewed for n in names)

    def _other(self, name: str, target: str, strided: bool) -> str | None:
        """A parameter or a name of the reverse sweep that has the shape, and the dtype where that counts."""
        shape, kind = self.shape(Var(name)), self.kind(Var(name))
        if shape is None or not isinstance(kind, Arr) or (strided and self._is_viewed(name, target)):
            return None
        for other in (*self.params, *reversed(self.here)):
            mine = self.kind(Var(other))
            if other in self.names or not (
                isinstance(mine, Arr) and is_array(mine) and self.shape(Var(other)) == shape
            ):
                continue
            if (mine.dtype, mine.rank, mine.library) == (kind.dtype, kind.rank, kind.library):
                return other
        return None

    def _of_part(self, s: Statement, name: str, value: Expr) -> Iterator[Statement]:
        """What asks for the shape of a slice of another array, ``u[1:]``, that has it."""
        wanted, kind = self.shape(Var(name)), self.kind(Var(name))
        if not isinstance(wanted, Lengths) or not isinstance(kind, Arr) or not isinstance(s, Assign):
            return
        if self._is_viewed(name, s.target):
            return
        for other in (*reversed(self.here), *self.params):
            shape, mine = self.shape(Var(other)), self.kind(Var(other))
            if other in self.names or not isinstance(shape, Lengths) or not isinstance(mine, Arr):
                continue
            if (mine.dtype, mine.rank, mine.library) != (kind.dtype, kind.rank, kind.library):
                continue
            parts = [found for found in map(_slice_of, shape, wanted) if found is not None]
            if len(parts) == len(wanted) and not self._is_viewed(other):
                self.count[other] += 1
                last = max((i for i, part in enumerate(parts) if part != Slice()), default=0)
                view = self.let(s, Index(Var(other), Key(tuple(parts[: last + 1]), last > 0)), mine)
                yield view
                yield Assign(s.target, _with(value, name, view.target), s.span)
                return

    def _zeros(self, s: Statement, name: str, value: Expr) -> Iterator[Statement]:
        """Zeros of these lengths, each asked of an array that has it along an axis."""
        kind, shape = self.kind(Var(name)), self.shape(Var(name))
        plain = isinstance(kind, Arr) and kind.dtype == np.float64 and kind.sure and kind.library == "numpy"
        if not (plain and isinstance(value, Op) and value.fn is np.zeros_like and isinstance(shape, Lengths) and shape):
            return
        assert isinstance(s, Assign)
        places = [self._axis(length) for length in shape]
        if self._is_viewed(name, s.target) or None in places:
            return
        sizes: list[Atom] = []
        for place in places:
            assert place is not None
            yield from self._length(s, place, sizes)
        node = self.program.world.region()
        node.fields.update({i: Num(int) for i in range(len(sizes))})
        if len(sizes) > 1:
            whole = self.let(s, Make(tuple, tuple(sizes)), Box(tuple, node))
            yield whole
            sizes = [Var(whole.target)]
        yield Assign(s.target, Op(np.zeros, (sizes[0],)), s.span)

    def _axis(self, length: Length) -> int | tuple[str, int] | None:
        """A number, or a name and an axis along which it has the length."""
        if type(length) is int:
            return length
        for other in (*self.params, *reversed(self.here)):
            shape = self.shape(Var(other)) if is_array(self.kind(Var(other))) else None
            if isinstance(shape, Lengths) and length is not None and length in shape and other not in self.names:
                return other, shape.index(length)
        return None

    def _length(self, s: Statement, place: int | tuple[str, int], sizes: list[Atom]) -> Iterator[Statement]:
        """What asks for the length, whose name is added to the sizes."""
        if isinstance(place, int):
            sizes.append(Lit(place))
            return
        name, axis = place
        self.count[name] += 1
        if axis == 0:
            made = self.let(s, Op(builtins.len, (Var(name),)), Num(int))
        else:
            kind = self.kind(Var(name))
            assert isinstance(kind, Arr) and kind.rank is not None
            node = self.program.world.region()
            node.fields.update({i: Num(int) for i in range(kind.rank)})
            shape = self.let(s, Attr(Var(name), "shape"), Box(tuple, node))
            yield shape
            made = self.let(s, Index(Var(shape.target), Key((Lit(axis),))), Num(int))
        yield made
        sizes.append(Var(made.target))


def _slice_of(length: Length, part: Length) -> Slice | None:
    """The slice of an axis of the length that has the other length."""
    length, part = plain(length), plain(part)
    if part == length:
        return Slice()
    match part:
        case ("less", whole, int(cut)) if plain(whole) == length:
            return Slice(Lit(cut))
        case ("slice", whole, *bounds) if plain(whole) == length and all(isinstance(b, int | None) for b in bounds):
            return Slice(*(Lit(bound) for bound in bounds))
    return None


def _with(value: Expr, name: str, other: str) -> Expr:
    """The expression with another name."""
    match value:
        case Op(fn=fn, args=args, kwargs=kwargs):
            return Op(fn, tuple(Var(other) if a == Var(name) else a for a in args), kwargs)
        case Attr(name=attribute):
            return Attr(Var(other), attribute)
    return value
