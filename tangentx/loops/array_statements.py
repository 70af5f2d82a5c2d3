"""Array statements as loops: views, and elementwise expressions fused into one nest.

Element by element statements are kept until something needs what they make. Those that were kept together have one
shape and become one loop; what only they read of each other never becomes an array.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tangentx.loops import operators
from tangentx.loops.builder import Builder, add
from tangentx.loops.kept_shapes import KeptShapes
from tangentx.loops.loop_ir import (
    BOOL,
    INT,
    Allocate,
    Apply,
    Array,
    Bail,
    Const,
    Expr,
    Extent,
    For,
    Local,
    NewAxis,
    Pick,
    Read,
    Remark,
    Reshape,
    Span,
    Statement,
    Turn,
    View,
    Write,
)
from tangentx.loops.operators import Refused, RefusedLate

ZERO = Const(0, INT)
ONE = Const(1, INT)


@dataclass(frozen=True, slots=True)
class Held:
    """An array or a tape, by its name."""

    name: str


@dataclass(frozen=True)
class Item:
    """One statement: the element of `target`, a new array, or of the view `into` that is written, from operands.

    With `kept`, the element is added to the one of `into` at the places of these axes alone.
    """

    extents: tuple[Expr, ...]
    operands: tuple[Expr | Held, ...]
    element: Callable[[Sequence[Expr]], Expr]
    target: str = ""
    into: str = ""
    kept: tuple[int, ...] | None = None


@dataclass
class Memory:
    """Whose elements an array has: of `root`, at the places that `parts` say; of any array of `region`, without.

    `trips` are the loops in which a root was allocated; two parts that have one `origin` are parts of one array.
    """

    root: str | None
    parts: tuple[Any, ...] = ()
    region: Any = None
    foreign: bool = False
    trips: tuple[int, ...] = ()
    origin: object = None


@dataclass
class ArrayWriter:
    """Writes statements of arrays with a builder. `readers` counts all statements that read an array."""

    builder: Builder
    shapes: KeptShapes
    variables: dict[str, str] = field(default_factory=dict)  # of the program, by the names of those that are bound anew
    readers: dict[str, int] = field(default_factory=dict)
    entry_copies: set[str] = field(default_factory=set)
    memory: dict[str, Memory] = field(default_factory=dict)
    pending: list[Item] = field(default_factory=list)
    early: set[str] = field(default_factory=set)  # of the arrays that those make, what is allocated already
    fused: Counter[str] = field(default_factory=Counter)
    line: int = 0  # of the user's statement that is written
    lines: list[int] = field(default_factory=list)  # of the statements that are kept
    together: list[tuple[int, frozenset[int]]] = field(default_factory=list)  # of loops
    turns: bool = False  # whether NumPy may have arrays whose elements do not lie row after row
    reshapes: bool = False  # whether it matters
    remarks: dict[int, list[Remark]] = field(default_factory=dict)  # before which of those that are kept they stand

    # ---- shapes ----

    def array(self, name: str) -> Array:
        """The type of an array."""
        found = self.builder.types[name]
        if not isinstance(found, Array):
            raise Refused("a list stands where an array is meant")
        return found

    def extents(self, name: str) -> tuple[Expr, ...]:
        """The lengths of the axes of an array."""
        b = self.builder
        if name in b.extents:
            return b.extents[name]
        if (kept := self.shapes.of(self.variables.get(name, ""))) is not None:
            return kept
        return tuple(b.let("n", Extent(name, axis)) for axis in range(self.array(name).rank))

    def broadcast(self, operands: Sequence[Expr | Held]) -> tuple[Expr, ...]:
        """The shape of what operands give together; bails out where it is only known when the program runs."""
        result: list[Expr] = []
        for operand in operands:
            if not isinstance(operand, Held):
                continue
            given = list(self.extents(operand.name))
            result = [ONE] * (len(given) - len(result)) + result
            for k, extent in enumerate(given, len(result) - len(given)):
                if result[k] == ONE:
                    result[k] = extent
                elif extent != ONE:
                    self.demand_same(result[k], extent)
        return tuple(result)

    def demand_same(self, a: Expr, b: Expr) -> None:
        """Bails out where two extents differ."""
        builder = self.builder
        if builder.same(a, b):
            return
        builder.check(Apply("eq", (a, b), BOOL), Bail.SHAPE)
        (x, m), (y, n) = builder.affine(a), builder.affine(b)
        if m == n and builder.at_top() and self._of_parameter(x) and self._of_parameter(y):
            builder.alike.add((x, y))  # type: ignore[arg-type]
        if x is not None and y is not None and m == n and builder.is_steady(x) and builder.is_steady(y):
            for other in [other for other, known in builder.equal.items() if known == y]:
                builder.equal[other] = x
            builder.equal[y] = x

    def _of_parameter(self, extent: Expr | None) -> bool:
        return isinstance(extent, Extent) and extent.array in dict(self.builder.params)

    # ---- arrays ----

    def new(self, stem: str, type: Array, extents: Sequence[Expr], region: Any) -> str:
        """The name of a new array, which is still to be allocated."""
        name = self.builder.fresh(stem, type)
        self.builder.extents[name] = tuple(extents)
        self.memory[name] = Memory(name, (), region, trips=self.builder.trips)
        return name

    def allocate(self, stem: str, type: Array, extents: Sequence[Expr], region: Any, zeros: bool = True) -> str:
        """A new array."""
        name = self.new(stem, type, extents, region)
        self.builder.emit(Allocate(name, tuple(extents), zeros))
        return name

    def view(self, stem: str, base: str, parts: Sequence[Pick | Span | NewAxis], region: Any) -> str:
        """A part of an array; the array itself where it is all of it."""
        given = self.extents(base)
        spans = [p for p in parts if isinstance(p, Span)]
        if len(parts) == len(given) == len(spans) and all(
            p.start == ZERO and p.step == 1 and self.builder.same(p.count, n) for p, n in zip(spans, given, strict=True)
        ):
            return base
        steady = base in self.builder.steady and all(map(self._is_steady, parts))
        if steady and (base, tuple(parts)) in self.builder.views:
            return self.builder.views[base, tuple(parts)]
        self.exist(base)
        last = parts[-1] if parts else None
        unit = self.array(base).unit and (last is None or (isinstance(last, Span) and last.step == 1))
        extents = tuple(ONE if isinstance(p, NewAxis) else p.count for p in parts if not isinstance(p, Pick))
        name = self.builder.fresh(stem, Array(self.array(base).code, len(extents), unit or not extents))
        self.builder.extents[name] = extents
        below = self.memory[base]
        path = (*below.parts, tuple(parts)) if all(map(self._is_steady, parts)) else (*below.parts, object())
        self.memory[name] = Memory(below.root, path, region, below.foreign, below.trips, self._origin(base))
        self.builder.emit(View(name, base, tuple(parts)))
        if steady:
            self.builder.views[base, tuple(parts)] = name
        return name

    def turned(self, base: str, axes: Sequence[int], region: Any) -> str:
        """An array with its axes in another order."""
        if tuple(axes) == tuple(range(len(axes))):
            return base
        self.exist(base)
        self.turns = True
        extents = self.extents(base)
        name = self.builder.fresh(base, Array(self.array(base).code, len(axes), False))
        self.builder.extents[name] = tuple(extents[axis] for axis in axes)
        below = self.memory[base]
        self.memory[name] = Memory(below.root, (*below.parts, ("turned", *axes)), region, below.foreign)
        self.builder.emit(Turn(name, base, tuple(axes)))
        return name

    def reshaped(self, stem: str, base: str, extents: Sequence[Expr], region: Any) -> str:
        """The elements of an array under other extents, which are known to have as many."""
        self.flush()
        name = self.builder.fresh(stem, Array(self.array(base).code, len(extents)))
        self.builder.extents[name] = tuple(extents)
        below = self.memory[base]
        self.memory[name] = Memory(below.root, (*below.parts, object()), region, below.foreign)
        self.builder.emit(Reshape(name, base, tuple(extents)))
        return name

    def _is_steady(self, part: Pick | Span | NewAxis) -> bool:
        match part:
            case Pick(place):
                return self.builder.is_steady(place)
            case Span(start, count):
                return self.builder.is_steady(start) and self.builder.is_steady(count)
        return True

    def _origin(self, base: str) -> object:
        """The array that a part of `base` is a part of, as it is called here."""
        if self.memory[base].origin is not None or base in self.builder.steady:
            return self.memory[base].origin or base
        return base, self.builder.births[base], self.builder.trips

    def overlap(self, a: str, b: str) -> bool:
        """Whether two arrays may share elements."""
        x, y = self.memory[a], self.memory[b]
        if x.region is not None and y.region is not None and x.region.root() is not y.region.root():
            return False
        if x.root is None or y.root is None:
            return not (self._is_older(a, y) or self._is_older(b, x))
        return x.root == y.root

    def _is_older(self, name: str, other: Memory) -> bool:
        """Whether an array has been there before the root of another one was allocated.

        What is bound once stands before that in the text, so in each trip. A variable has not been bound since, if no
        trip of a loop lies between.
        """
        births, trips, origin = self.builder.births, self.builder.trips, self.memory[name].origin
        if other.root is None:
            return False
        if isinstance(origin, tuple) and origin[1] < births[other.root]:  # it was bound to what it is a part of
            return bool(origin[2] == other.trips)
        return births[name] < births[other.root] and (name in self.builder.steady or trips == other.trips)

    def same_places(self, a: str, b: str) -> bool:
        """Whether two arrays have the same elements at the same places."""
        x, y = self.memory[a], self.memory[b]
        one = x.root is not None and x.root == y.root or x.origin is not None and x.origin == y.origin
        return a == b or (one and x.parts == y.parts)

    # ---- element by element ----

    def add(self, item: Item) -> None:
        """Keeps a statement; what was kept is written first where they do not go together."""
        if self.pending and not self._together(item):
            self.flush()
        self.pending.append(item)
        self.lines.append(self.line)

    def _together(self, item: Item) -> bool:
        first = self.pending[0].extents
        if len(first) != len(item.extents) or not all(map(self.builder.same, first, item.extents)):
            return False
        made = {other.target for other in self.pending if other.target}
        read = {operand.name for operand in item.operands if isinstance(operand, Held)}
        if any(self.memory[name].root in made and name not in made for name in read):
            return False
        if item.into and self.memory[item.into].root in made:
            return False
        for other in self.pending:
            before = {operand.name for operand in other.operands if isinstance(operand, Held)}
            if item.into and not all(self._apart(item.into, name) for name in (*before, other.into) if name):
                return False
            if other.into and not all(self._apart(other.into, name, whole=other.kept is None) for name in read):
                return False
        return True

    def _apart(self, written: str, other: str, whole: bool = True) -> bool:
        """Whether a trip may write into the one array where another trip reads the other; `whole`: each trip writes an
        element of its own."""
        return not self.overlap(written, other) or (whole and self.same_places(written, other))

    def reads_pending(self, name: str) -> bool:
        """Whether an array is made, or written, by what is kept."""
        root = self.memory[name].root
        return any(root == item.target or (bool(item.into) and self.overlap(name, item.into)) for item in self.pending)

    def exist(self, name: str) -> None:
        """Something is about to refer to an array: it is allocated now, though its elements may be written later."""
        root = self.memory[name].root
        for item in self.pending:
            if item.target and item.target == root and root not in self.early:
                self.builder.emit(Allocate(item.target, item.extents, False))
                self.early.add(item.target)

    def flush(self) -> None:
        """Writes the loop of all that was kept."""
        if not self.pending:
            return
        items, self.pending = self.pending, []
        self.together.append((len(items), frozenset(self.lines)))
        self.lines.clear()
        remarks, self.remarks = self.remarks, {}
        b = self.builder
        inside = Counter(operand.name for item in items for operand in item.operands if isinstance(operand, Held))
        early, self.early = self.early, set()
        arrays = early | {i.target for i in items if i.target and inside[i.target] < self.readers.get(i.target, 1)}
        self.fused.update(statements=len(items), loops=1, spared=sum(bool(i.target) for i in items) - len(arrays))
        for item in items:
            if item.target in arrays - early:
                b.emit(Allocate(item.target, item.extents, False))
        counters = [b.fresh("ijklmnopq"[k] if k < 9 else "k", INT) for k in range(len(items[0].extents))]
        with b.block() as body, _late():
            self._elements(items, arrays, [Local(name, INT) for name in counters], remarks)
        block: tuple[Statement, ...] = tuple(body)
        for axis, (name, extent) in reversed([*enumerate(zip(counters, items[0].extents, strict=True))]):
            own = all(item.kept is None or axis in item.kept for item in items)
            block = (For(name, ZERO, extent, ONE, False, block, independent=own),)
        b.emit(*block, *remarks.get(len(items), ()))

    def report(self) -> tuple[str, ...]:
        """What became of statements of arrays, for a reader."""
        found = self.fused
        if not found["statements"]:
            return ()
        counts = (("statements", "statement of arrays"), ("loops", "loop"), ("spared", "array"))
        told = {
            key: f"{found[key]} {what}" if found[key] == 1 else f"{found[key]} {_many(what)}" for key, what in counts
        }
        together = [f"    {count} in one, of {_lines(lines)}" for count, lines in self.together if count > 1]
        return (f"  {told['statements']} in {told['loops']}; {told['spared']} never made", *together)

    def remark(self, text: str) -> None:
        """A comment; it does not part statements that become one loop."""
        if self.pending:
            self.remarks.setdefault(len(self.pending), []).append(Remark(text))
        else:
            self.builder.emit(Remark(text))

    def _elements(
        self, items: Sequence[Item], arrays: set[str], places: Sequence[Expr], remarks: Mapping[int, list[Remark]]
    ) -> None:
        """What one trip does: an element is read once, and what is written is not read back."""
        b = self.builder
        values: dict[str, Expr] = {}
        for number, item in enumerate(items):
            b.emit(*remarks.get(number, ()))
            value = item.element([self._operand(operand, places, values) for operand in item.operands])
            if item.kept is not None:
                self._add(item, [places[axis] for axis in item.kept], value)
                self._overwritten(item.into, values)
                continue
            name = item.into or item.target
            value = b.let("e" if item.into else name, operators.converted(value, self.array(name).code))
            if item.into:
                self._overwritten(name, values)
            values[name] = value
            if item.into or name in arrays:
                b.emit(Write(name, tuple(places), value))

    def _operand(self, operand: Expr | Held, places: Sequence[Expr], values: dict[str, Expr]) -> Expr:
        """An operand, or its element, which is read where it is not known."""
        if not isinstance(operand, Held):
            return operand
        known = (name for name in values if self.same_places(name, operand.name))
        name = next(known, operand.name)
        if name not in values:
            values[name] = self.builder.let("e", self.read(name, places))
        return values[name]

    def _overwritten(self, into: str, values: dict[str, Expr]) -> None:
        """Forgets the elements of arrays that share memory with one that is written."""
        for name in [name for name in values if self.overlap(name, into)]:
            del values[name]

    def _add(self, item: Item, places: Sequence[Expr], value: Expr) -> None:
        """Adds to an element that several trips add to."""
        type = self.array(item.into).element
        total = Apply("add", (Read(item.into, tuple(places), type), operators.converted(value, type.code)), type)
        self.builder.emit(Write(item.into, tuple(places), total))

    def read(self, name: str, places: Sequence[Expr]) -> Read:
        """The element of an operand that belongs to the given places of the result."""
        type = self.array(name)
        own = tuple(places[len(places) - type.rank :])
        known = self.builder.extents.get(name, own)
        return Read(name, tuple(ZERO if n == ONE else p for n, p in zip(known, own, strict=True)), type.element)

    # ---- keys ----

    def span(self, start: Expr | None, stop: Expr | None, step: int, extent: Expr) -> Span:
        """The places of a slice along an axis; bails out where its bounds are not inside of it."""
        b = self.builder
        if step < 0:
            if start is not None or stop is not None:
                raise Refused("a slice that goes backwards between bounds")
            return Span(b.let("k", Apply("sub", (extent, ONE), INT)), self._every(-step, extent), step)
        low = ZERO if start is None else self._end(start, extent)
        high = extent if stop is None else self._end(stop, extent)
        count = b.let("n", self._difference(low, high))
        if not (stop is None or start is None):
            self._demand_order(low, high, extent)
        return Span(low, self._every(step, count), step)

    def _every(self, step: int, count: Expr) -> Expr:
        """How many places are left of so many if only every `step`-th is taken, the first of all among them."""
        if step == 1:
            return count
        more = self.builder.let("n", Apply("add", (count, Const(step - 1, INT)), INT))
        return self.builder.let("n", Apply("floordiv", (more, Const(step, INT)), INT))

    def _difference(self, low: Expr, high: Expr) -> Expr:
        (x, m), (y, n) = self.builder.affine(low), self.builder.affine(high)
        if x is None and y is None:
            return Const(n - m, INT)
        if x is None and y is not None:
            return add(y, Const(n - m, INT)) if n >= m else Apply("sub", (y, Const(m - n, INT)), INT)
        return Const(n - m, INT) if x == y else Apply("sub", (high, low), INT)

    def _end(self, bound: Expr, extent: Expr) -> Expr:
        """A bound of a slice, which has to lie in the axis."""
        b = self.builder
        if isinstance(bound, Const):
            size = abs(int(bound.value))
            self.demand_least(extent, size)
            if bound.value >= 0:
                return bound
            return b.let("k", Apply("sub", (extent, Const(size, INT)), INT))
        bound = b.let("k", bound)
        for test in (Apply("le", (ZERO, bound), BOOL), Apply("le", (bound, extent), BOOL)):
            b.check(test, Bail.SHAPE)
        return bound

    def demand_least(self, extent: Expr, size: int) -> None:
        """Bails out where an axis has fewer places."""
        b = self.builder
        base, more = b.affine(extent)
        if base is None:
            if more < size:
                b.check(Const(False, BOOL), Bail.SHAPE)
        elif size > more and b.least.get(base, 0) < size - more:
            b.check(Apply("le", (Const(size, INT), extent), BOOL), Bail.SHAPE)
            if b.is_steady(base):
                b.least[base] = size - more

    def _demand_order(self, low: Expr, high: Expr, extent: Expr) -> None:
        (x, m), (y, n) = self.builder.affine(low), self.builder.affine(high)
        if x is None and y is not None:
            if self.builder.affine(extent)[0] == y:
                self.demand_least(extent, m - n + self.builder.affine(extent)[1])
                return
        if x == y and m <= n:
            return
        self.builder.check(Apply("le", (low, high), BOOL), Bail.SHAPE)


@contextmanager
def _late() -> Iterator[None]:
    """What is refused where statements are written that were taken before."""
    try:
        yield
    except Refused as refused:
        raise RefusedLate(refused.reason) from None


def _lines(lines: frozenset[int]) -> str:
    return f"line{'' if len(lines) == 1 else 's'} {', '.join(map(str, sorted(lines)))}"


def _many(what: str) -> str:
    """The plural."""
    first, *rest = what.split(" ", 1)
    return " ".join((f"{first}s", *rest))
