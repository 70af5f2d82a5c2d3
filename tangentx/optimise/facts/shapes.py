"""Which arrays of a function certainly have equal shapes.

A shape is a tuple of lengths where the rank is known (see `shape_arithmetic`), else a tag; equal ones stand for equal
shapes. The tag of a length or shape that is not known names the visit of the place where it came about.
"""

from __future__ import annotations

import builtins
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from tangentx import arrays, templates
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import BOTTOM, Arr, Box, Kind, Num, Region
from tangentx.analysis.types.primitives import has_effect
from tangentx.analysis.types.selection import is_boolean
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Atom,
    Attr,
    Block,
    Call,
    Delete,
    Expr,
    For,
    Index,
    Key,
    Lit,
    Loop,
    Make,
    Op,
    Pop,
    Return,
    Slice,
    Statement,
    Store,
    Var,
)
from tangentx.ir.walk import atoms, bound, statements
from tangentx.optimise.facts import derived_lengths, shape_arithmetic
from tangentx.optimise.facts.dataflow import LEAVING, Flow, Site
from tangentx.optimise.facts.memory import reach, region
from tangentx.optimise.facts.shape_arithmetic import (
    LEAVES,
    NUMBER,
    Length,
    Lengths,
    Range,
    Shape,
    is_long,
    lengths,
    of_argument,
    of_leaf,
    of_parameter,
    replaced,
    substituted,
    written,
)
from tangentx.optimise.facts.tape_shapes import Tapes, is_lasting
from tangentx.optimise.facts.unit import Unit

_KEEPING: tuple[Callable[..., Any], ...] = (
    np.zeros_like, np.ones_like, np.conj, np.real, np.copy, np.ndarray.copy, operator.neg, operator.pos, operator.abs,
    abs, arrays.length_of, arrays.zero, arrays.real_zero, arrays.zeros_as, arrays.clone, arrays.entry_copy,
)  # fmt: skip
_OF_MATRICES: tuple[Callable[..., Any], ...] = (
    np.linalg.inv, np.linalg.cholesky, np.tril, np.triu, arrays.unmirrored,
)  # fmt: skip
"""These keep the shape of a matrix, or of a stack of them; of a row `tril` and `triu` make a matrix."""
_OF_SQUARE: tuple[Callable[..., Any], ...] = (np.linalg.solve, np.linalg.inv, np.linalg.cholesky, np.linalg.det)
"""Their first argument is a square matrix, or a stack of them."""
_TOGETHER: tuple[Callable[..., Any], ...] = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, np.where,
    arrays.guarded, arrays.ratio, arrays.over_root, arrays.quotient, arrays.ratio_or_zero, arrays.power_slope,
    arrays.silent_power, arrays.quiet_sum, arrays.quiet_difference,
)  # fmt: skip


_SHAPED: dict[Callable[..., Any], int] = {
    np.zeros: 0, np.ones: 0, np.empty: 0, np.full: 0, arrays.unreduce: 1,
    arrays.matmul_left: 2, arrays.matmul_right: 2, arrays.outer_left: 2, arrays.outer_right: 2, arrays.undiag: 1,
}  # fmt: skip
"""Which argument says, or is, the shape of the result."""
_PRODUCTS: tuple[Callable[..., Any], ...] = (
    np.matmul,
    operator.matmul,
    arrays.careful_matmul,
    np.dot,
    np.outer,
)
_CONTRACTING = _PRODUCTS[:-1]
"""Those that add up along the last axis of the one and the first of the other, which are equally long."""
_REDUCING: tuple[Callable[..., Any], ...] = (
    np.sum, np.mean, np.max, np.min, np.prod, np.ndarray.sum, np.ndarray.mean, np.ndarray.max, np.ndarray.min,
)  # fmt: skip
_SPREADS: tuple[Callable[..., Any], ...] = (np.var, np.std, np.ndarray.var, np.ndarray.std)
"""Reductions too, which are told by how much their count is less."""

_TRANSFORMS: tuple[Callable[..., Any], ...] = (
    np.fft.fft, np.fft.ifft, np.fft.fft2, np.fft.ifft2, np.fft.fftn, np.fft.ifftn,
)  # fmt: skip
"""These keep the shape where they are given no number of points."""

_LINEAR = (operator.add, operator.sub, operator.mul)
_MAKING: tuple[Callable[..., Any], ...] = (np.array, np.asarray, np.stack)


class Shaper:
    """Rules for shapes; `kind` and `shapes` say what is known of an atom, of any and of an array or number.

    `rely` is called with lengths where it matters which of them, and which axes of the arguments, are one; `taken`
    says in a shape which lengths may be taken not to be one, `ranges` what the number of a trip may be.
    """

    def __init__(
        self,
        kind: Callable[[Atom], Kind],
        shapes: tuple[Callable[[Atom], Shape], Callable[[Atom], Shape]],
        number: Callable[[Atom], Length],
        rely: Callable[[Iterable[Length]], None],
        taken: Callable[[Lengths], Lengths],
        ranges: Range,
    ) -> None:
        self.kind = kind
        self.shape, self._of_array = shapes
        self.number = number
        self.rely = rely
        self.taken = taken
        self.ranges = ranges

    def counted(self, value: Expr) -> Length:
        """The whole number that an expression gives, None where nothing is known."""
        match value:
            case Op(fn=fn) if fn not in _LINEAR and fn is not builtins.len:
                return None
            case Var() | Lit():
                return self.number(value)
            case Index(base=base, key=Key(parts=(Lit(value=int() as place),))):
                shape = self.shape(base)
                if isinstance(shape, tuple) and shape[:1] == ("shape of",) and isinstance(shape[1], Lengths):
                    return shape[1][place] if -len(shape[1]) <= place < len(shape[1]) else None
                return self._indexed(value) if isinstance(shape, tuple) and shape[:1] == ("items",) else None
            case Op(fn=builtins.len, args=(array,), kwargs=()):
                shape = self._of_array(array)
                return shape[0] if isinstance(shape, Lengths) and shape else None
            case Op(fn=fn, args=(one, other), kwargs=()) if fn in _LINEAR and self._is_int(one) and self._is_int(other):
                if fn is not operator.mul:
                    return shape_arithmetic.total(self.number(one), self.number(other), 1 if fn is operator.add else -1)
                factors = self.number(one), self.number(other)
                times = next((n for n in factors if type(n) is int), None)
                rest = factors[1] if factors[0] is times else factors[0]
                return None if times is None else shape_arithmetic.total(0, rest, times)
        return None

    def _is_int(self, atom: Atom) -> bool:
        kind = self.kind(atom)
        return isinstance(kind, Num) and kind.exact == (int,) if not isinstance(atom, Lit) else type(atom.value) is int

    def of(self, value: Expr) -> Shape:
        """The shape of an expression's value, None where nothing is known; a length in it may be None."""
        match value:
            case Var():
                return self.shape(value)
            case Attr(name="shape"):
                return _of(self._of_array(value.base))
            case Index():
                return self._indexed(value)
            case Make(cls=cls) if cls is tuple:
                return ("items", *map(self.of_item, value.items))
            case Op(args=(_, *_)):
                found = self._joined(value) if value.fn is np.concatenate else self._reduced(value)
                return found if found is not None or value.kwargs else self._result(value.fn, value.args)
        return None

    def _joined(self, value: Op) -> Shape:
        """The shape of arrays that are joined along a constant axis: along the others they are equally long."""
        settings = {"axis": value.args[1] if len(value.args) > 1 else Lit(0)} | dict(value.kwargs)
        parts, axis = self.shape(value.args[0]), settings.pop("axis")
        if not (isinstance(parts, tuple) and parts[:1] == ("items",)) or settings or len(value.args) > 2:
            return None
        shapes = [shape for shape in parts[1:] if isinstance(shape, Lengths)]
        rank = len(shapes[0]) if shapes else 0
        known = isinstance(axis, Lit) and type(axis.value) is int and -rank <= axis.value < rank
        if not known or len(shapes) < len(parts) - 1 or any(len(shape) != rank for shape in shapes):
            return None
        return lengths(shape_arithmetic.joined(shapes, axis.value % rank))  # type: ignore[union-attr,operator]

    def agreed(self, value: Expr) -> list[tuple[Length, Length]]:
        """Pairs of lengths that are equal once the expression has been computed."""
        if not isinstance(value, Op) or value.kwargs:
            return []
        if value.fn in _OF_SQUARE:
            return self._of_system(*value.args[:2])
        if len(value.args) < 2:
            return []
        if value.fn in _CONTRACTING:
            return self._contracted(*value.args[:2])
        if not _is_together(value.fn, len(value.args)):
            return []
        given = [a for a in value.args if type(self.kind(a)) is Arr]
        if len(given) < 2:
            return []
        found = map(self._of_array, given)
        pairs = shape_arithmetic.agreed([shape for shape in found if isinstance(shape, Lengths)])
        if pairs:
            self.rely(chain.from_iterable(pairs))
        return pairs

    def _contracted(self, x: Atom, y: Atom) -> list[tuple[Length, Length]]:
        """The last length of the one and the first of the other, along which ``x @ y`` adds up."""
        if not (type(self.kind(x)) is type(self.kind(y)) is Arr):
            return []
        a, b = self._of_array(x), self._of_array(y)
        known = isinstance(a, Lengths) and isinstance(b, Lengths) and 0 < len(a) <= 2 and 0 < len(b) <= 2
        return [(a[-1], b[0])] if known and None not in (a[-1], b[0]) else []  # type: ignore[index]

    def _of_system(self, a: Atom, b: Atom | None = None) -> list[tuple[Length, Length]]:
        """The lengths of the sides of a matrix, and of the right side of the system that it is the matrix of."""
        matrix, right = self._of_array(a), self._of_array(b) if b is not None else None
        if not isinstance(matrix, Lengths) or len(matrix) != 2:
            return []
        rows = [matrix[1], right[0]] if isinstance(right, Lengths) and 1 <= len(right) <= 2 else [matrix[1]]
        return [(matrix[0], n) for n in rows if None not in (matrix[0], n)]

    def stored(self, s: Store | Accumulate) -> list[tuple[Length, Length]]:
        """Pairs of lengths that are equal once the statement has written an array into another."""
        value = self._of_array(s.value)
        place = self.place(s) if isinstance(value, Lengths) and value else None
        if not isinstance(place, Lengths):
            return []
        pairs = shape_arithmetic.stored(value, place)  # type: ignore[arg-type]
        if any(is_long(given) for _, given in pairs):
            self.rely(chain.from_iterable(pairs))
        return pairs

    def place(self, s: Store | Accumulate) -> Shape:
        """The shape of the part of an array that a statement writes."""
        return self._part(s.base, s.key)

    def _result(self, fn: Callable[..., Any], args: tuple[Atom, ...]) -> Shape:
        if fn is np.einsum:
            return self._of_einsum(*args)
        first = self._of_array(args[0])
        if fn is np.shape and len(args) == 1:
            return _of(first)
        if fn in (arrays.unbroadcast, arrays.alike, arrays.spread, arrays.tangent_as):
            return self._of_array(args[1])
        if (fn is np.full_like and len(args) == 2) or fn is arrays.ties:
            return first
        if fn is arrays.pull:
            return ("items", *map(self._of_array, args[2:]))
        if fn is arrays.entry_copies:
            return ("items", *map(self._of_array, args))
        if fn is arrays.push:
            return self._of_array(args[1])
        if fn in _SHAPED and len(args) > _SHAPED[fn]:
            return self._given(args[_SHAPED[fn]])
        if fn is np.eye and len(args) == 1:
            size = self._sizes(args[0])
            return None if size is None else Lengths(size * 2)
        if fn in _MAKING and len(args) == 1:
            kind = self.kind(args[0])
            return first if isinstance(kind, Arr) else lengths(_of_nested(kind))
        if fn is np.transpose and len(args) == 1 and isinstance(first, Lengths):
            return Lengths(reversed(first))
        if swaps_sides(fn, args) and isinstance(first, Lengths) and len(first) == 2:
            return Lengths(reversed(first))
        if fn in _OF_MATRICES and len(args) == 1:
            return first if isinstance(first, Lengths) and len(first) >= 2 else None
        if fn is np.linalg.solve and len(args) == 2:
            return self._of_solution(first, self._of_array(args[1]))
        if fn in _TRANSFORMS and (len(args) == 1 or args[1] == Lit(None)):
            return first
        if fn in _PRODUCTS and len(args) == 2:
            return self._product(fn, *args)
        unary = isinstance(fn, np.ufunc) and fn.nin == fn.nout == 1 and fn.signature is None
        if (unary or fn in _KEEPING) and len(args) == 1:
            return first
        return self._together(args) if _is_together(fn, len(args)) else None

    def _of_solution(self, a: Shape, b: Shape) -> Shape:
        """The shape of the solution of one linear system: that of its right side, a vector or a matrix."""
        known = isinstance(a, Lengths) and isinstance(b, Lengths)
        return b if known and len(a) == 2 and 1 <= len(b) <= 2 else None  # type: ignore[arg-type]

    def _of_einsum(self, spec: Atom, *operands: Atom) -> Shape:
        """The shape of an explicit sum over indices, as ``"ij,j->i"``."""
        if not (isinstance(spec, Lit) and isinstance(spec.value, str) and "->" in spec.value and "." not in spec.value):
            return None
        given, _, result = spec.value.replace(" ", "").partition("->")
        found: dict[str, list[tuple[Length, ...]]] = {}
        for labels, operand in zip(given.split(","), operands, strict=False):
            shape = self._of_array(operand)
            if not isinstance(shape, Lengths) or len(shape) != len(labels):
                return None
            for label, n in zip(labels, shape, strict=True):
                found.setdefault(label, []).append((n,))
        for column in found.values():
            if shape_arithmetic.differ(column):
                self.rely(chain.from_iterable(column))
        return lengths([shape_arithmetic.together(found[label])[0] if label in found else None for label in result])

    def of_item(self, atom: Atom) -> Shape:
        """Of an item of a tuple; of a number, the number, and of a tuple, those of its items."""
        kind = self.kind(atom)
        if isinstance(kind, Box) and kind.cls is tuple:
            shape = self.shape(atom)
            return shape if isinstance(shape, tuple) and shape[:1] == ("items",) else None
        return self.number(atom) if isinstance(kind, Num) else self._of_array(atom)

    def _given(self, atom: Atom) -> Shape:
        """The shape that a value, the shape of something or made of numbers, stands for."""
        given, kind = self.shape(atom), self.kind(atom)
        if isinstance(given, tuple) and not isinstance(given, Lengths) and given[:1] == ("shape of",):
            return given[1]
        sizes = self._sizes(atom)
        if sizes is not None:
            return Lengths(sizes)
        if isinstance(kind, Num):
            return self.taken(Lengths((self.number(atom),)))
        items = kind.region.root().fields.values() if isinstance(kind, Box) and kind.cls is tuple else ()
        if isinstance(given, tuple) and given[:1] == ("items",) and len(items) == len(given) - 1:
            return self.taken(Lengths(given[1:])) if all(isinstance(item, Num) for item in items) else None
        return None

    def _sizes(self, atom: Atom) -> tuple[int, ...] | None:
        if isinstance(atom, Lit) and isinstance(atom.value, tuple):
            return atom.value if all(type(n) is int for n in atom.value) else None
        kind = self.kind(atom)
        items = [kind]
        if isinstance(kind, Box) and kind.cls is tuple and not kind.region.root().open:
            items = list(kind.region.root().fields.values())
        values = [item.value if isinstance(item, Num) else None for item in items]
        return tuple(v for v in values if type(v) is int) if all(type(v) is int for v in values) else None

    def _product(self, fn: Callable[..., Any], x: Atom, y: Atom) -> Shape:
        a, b = self._of_array(x), self._of_array(y)
        if not (isinstance(a, Lengths) and isinstance(b, Lengths)):
            return None
        if fn is np.outer:
            return Lengths((*a, *b)) if len(a) == len(b) == 1 else None
        return lengths(shape_arithmetic.matmul(a, b))

    def _reduced(self, value: Op) -> Shape:
        """The shape of a reduction along a constant axis."""
        spread = value.fn in _SPREADS
        if not (spread or value.fn in _REDUCING):
            return None
        names = ("axis", "dtype", "out", *["ddof"] * spread, "keepdims")
        settings = dict(zip(names, value.args[1:], strict=False)) | dict(value.kwargs)
        if spread:
            settings.pop("ddof", None)
        shape = self._of_array(value.args[0])
        axis, keep = settings.pop("axis", Lit(None)), settings.pop("keepdims", Lit(False))
        constant = isinstance(axis, Lit) and isinstance(keep, Lit) and isinstance(axis.value, int | None)
        if not constant or settings or not isinstance(shape, Lengths):
            return None
        return lengths(shape_arithmetic.reduced(shape, axis.value, bool(keep.value)))  # type: ignore[union-attr,arg-type]

    def _indexed(self, value: Index) -> Shape:
        parts, key = self.shape(value.base), value.key.parts[:1]
        if parts == LEAVES:
            return LEAVES
        if isinstance(parts, tuple) and parts[:1] == ("items",):
            place = key[0].value if key and isinstance(key[0], Lit) else None
            return parts[1:][place] if type(place) is int and -len(parts) < place < len(parts) - 1 else None
        return self._part(value.base, value.key)

    def _part(self, base: Atom, key: Key) -> Shape:
        """The shape of a part of an array."""
        shape = self._of_array(base)
        if not isinstance(shape, Lengths) or not isinstance(self.kind(base), Arr):
            return None
        kinds = [None if isinstance(part, Slice) else self.kind(part) for part in key.parts]
        numbers = [isinstance(kind, Num) and not is_boolean(kind) for kind in kinds]
        found = shape_arithmetic.indexed(shape, key, numbers, self.number, self.ranges)
        return None if found is None else self.taken(Lengths(found))

    def _together(self, args: tuple[Atom, ...]) -> Shape:
        """The shape of operands that are broadcast together."""
        found = [self._of_array(a) for a in args if type(self.kind(a)) is not Num]
        shapes = [shape for shape in found if isinstance(shape, Lengths)]
        if found and len(shapes) == len(found):
            if shape_arithmetic.differ(shapes):
                self.rely(chain.from_iterable(shapes))
            return lengths(shape_arithmetic.together(shapes))
        return found[0] if found and all(shape == found[0] for shape in found) else None


def swaps_sides(fn: Callable[..., Any], args: tuple[Atom, ...]) -> bool:
    """Whether it is the transpose of a matrix, or of each matrix of a stack, by ``np.swapaxes(a, -1, -2)``."""
    return fn is np.swapaxes and args[1:] in ((Lit(-1), Lit(-2)), (Lit(-2), Lit(-1)))


def _is_together(fn: Callable[..., Any], count: int) -> bool:
    """Whether the operands are broadcast together."""
    if fn in _TOGETHER:
        return True
    if isinstance(fn, np.ufunc):
        return count == 2 and fn.nin == 2 and fn.nout == 1 and fn.signature is None
    own = templates.find(fn) if templates.is_own(fn) else None
    return own is not None and own.kind == "elementwise"


def _of_nested(kind: Kind) -> tuple[int, ...] | None:
    """The shape of the array that a list of numbers, or of lists of equal length, makes."""
    if isinstance(kind, Num):
        return ()
    node = kind.region.root() if isinstance(kind, Box) and kind.cls in (list, tuple) else None
    if node is None or node.open or node.resized or not node.fields:
        return None
    inner = {_of_nested(item) for item in node.fields.values()}
    item = inner.pop()
    return None if inner or item is None else (len(node.fields), *item)


def _of(shape: Shape) -> Shape:
    return None if shape is None else ("shape of", shape)


class Known(NamedTuple):
    """What is known of a name: the number of its shape, the operation it holds the result of, whether it is zero.

    `alias`: another name had the result before it; `stale`: memory has been written since in which the operands lie,
    or the result.
    """

    shape: Shape = None
    expr: Expr | None = None
    zero: bool = False
    alias: bool = False
    stale: bool = False


NOTHING = Known()
EQUAL = "="
"""In the place of a name: lengths that have turned out to be equal to others."""
NAMED = ("param", "long", "single", "made", "once")


class Facts(Flow[Known]):
    """Shapes and expressions along the way. The tag of a shape names the visit of the place where it came about.

    Where nobody asks for shapes, none are found (`shaping`).
    """

    shaping = True

    def __init__(self, program: Program, unit: Unit) -> None:
        super().__init__()
        self.program = program
        self.unit = unit
        self.count, self.bindings = map(Counter.copy, unit.counts())
        self._kind = partial(unit.kind, program)
        relying, taking = (
            partial(derived_lengths.rely, program, unit),
            partial(derived_lengths.with_taken, program, unit),
        )
        self._shaper = Shaper(self._kind, (self.shape, self.of_array), self.number, relying, taking, self._range)
        self._ranges: dict[Length, tuple[Length, Length]] = {}
        self._tapes = Tapes(unit)
        self._readers: dict[str, set[str]] = {}
        self._lying: dict[str, list[Region]] = {}
        self._unwritten: dict[Region, dict[str, None]] = {}
        """Those of `_lying` that may be other than stale in the facts `_unwritten_of`, by where they lie: those that
        are need no look."""
        self._unwritten_of: dict[str, Known] | None = None
        self._met: set[Site] = set()
        self._outermost = 0
        params = [p.name for p in unit.function.params]
        self._again = {name for name, times in self.bindings.items() if times > 1}.union(params) & set(self.bindings)
        self.env = {name: Known(self._given(name)) for name in params}
        for name, other in unit.function.notes.get("alike", {}).items():  # a tangent has the shape of its primal
            if name in self.env and other in self.env:
                self.env[name] = self.env[other]

    def _given(self, name: str) -> Shape:
        """The shape of a parameter."""
        if name in self.unit.lengths:
            return self.unit.lengths[name]
        kind, single = self.unit.kinds.get(name), self.unit.axes.get(name)
        if single is not None and isinstance(kind, Arr) and kind.rank is not None:
            return of_argument(name, kind.rank, single)
        if single == () and isinstance(kind, Box) and is_kept(kind):
            return LEAVES
        if type(kind) is Num and not is_count(kind):
            return NUMBER
        return _named(None, kind, ("param", name))

    def fact(self, atom: Atom) -> Known:
        """What is known of an atom here, of the shape of an array."""
        return self.env.get(atom.name, NOTHING) if type(atom) is Var and self.env is not None else NOTHING

    def of_array(self, atom: Atom) -> Shape:
        """The shape of an array or number; a list may grow, so it has none."""
        if type(atom) is not Var:
            return NUMBER if type(self._kind(atom)) is Num else None
        kind = type(self.unit.kinds.get(atom.name))
        if kind is Num:
            return NUMBER
        return self.env.get(atom.name, NOTHING).shape if kind is Arr and self.env is not None else None

    def shape(self, atom: Atom) -> Shape:
        """The number of the atom's shape, None where it is not known."""
        if type(atom) is not Var:
            return NUMBER if type(self._kind(atom)) is Num else None
        if type(self.unit.kinds.get(atom.name)) is Num:
            return NUMBER
        return self.env.get(atom.name, NOTHING).shape if self.env is not None else None

    def number(self, atom: Atom) -> Length:
        """What stands for the value of a number, as for a length; None where nothing does."""
        if type(atom) is Lit:
            return atom.value if type(atom.value) is int else None
        return self.fact(atom).shape if is_count(self._kind(atom)) else None

    def expr(self, atom: Atom) -> Expr | None:
        """The operation whose result the atom is, of operands that have not been bound anew."""
        fact = self.fact(atom)
        return None if fact.alias else fact.expr

    def held(self, atom: Atom) -> Expr | None:
        """The same, where the result may have another name too."""
        return self.fact(atom).expr

    def current(self, atom: Atom) -> Expr | None:
        """As `held`, where computing it here would still give the same: no memory of it has been written since."""
        fact = self.fact(atom)
        return None if fact.stale else fact.expr

    def kill(self, name: str) -> None:
        """Forgets `name`, and the expressions that read it."""
        assert self.env is not None
        self.env.pop(name, None)
        for other in self._readers.get(name, ()):
            fact = self.env.get(other)
            if fact is not None and fact.expr is not None and Var(name) in atoms(fact.expr):
                self.env[other] = Known(fact.shape, None, fact.zero)

    def after(self, s: Statement) -> None:
        """Notes the shape of what is bound, or recorded."""
        if type(s) is Assign:
            self._bind(s)
        elif type(s) is Append and type(s.base) is Var:
            if self.shaping:
                shape = self._equated(self._shaper.of(s.value))
                self._tapes.append(s.base.name, id(self.hand), shape, self._equal, self._outermost)
        elif type(s) is Store or type(s) is Accumulate:
            for one, other in self._shaper.stored(s) if self.shaping else ():
                self._equate(one, other)
            self._written(region(self._kind(s.base)))
        elif type(s) in (Append, Delete):
            self._written(None)
        elif type(s) in LEAVING:
            self._tapes.left()

    def block(self, block: Block) -> Block:
        """Walks a block; what it shows of lengths it shows of what is appended in it, too."""
        held = self._tapes.parted()
        found = super().block(block)
        self._tapes.joined(held)
        return found

    def begun(self, s: For) -> None:
        """The number that a trip of a loop has."""
        assert self.env is not None
        kind = self.unit.kinds.get(s.target)
        tag = self._tagged(None, kind)
        self.env[s.target] = Known(tag)
        if s.step == Lit(1) and kind is not None and is_count(kind):
            self._ranges[tag] = self.number(s.start), self.number(s.stop)

    def _range(self, number: Length) -> tuple[Length, Length] | None:
        """What the number of a trip is not less than, and less than, in lengths as they are written here."""
        found = self._ranges.get(number)
        return None if found is None else (self._equated(found[0]), self._equated(found[1]))

    def _loop(self, s: For | Loop) -> Statement:
        outermost = self._outermost
        self._outermost = outermost or id(s)
        found = super()._loop(s)
        self._outermost = outermost
        return found

    def _bind(self, s: Assign) -> None:
        value, kind = s.value, self.unit.kinds.get(s.target)
        if self.shaping:
            self._show(s, value)
        if type(value) is Call or type(value) is Pop or (type(value) is Op and has_effect(value)):
            self._written(None)
        zero = self.is_zero(s)
        shape: Shape = None
        if self.shaping and not isinstance(kind, Num):
            shape = self._shape_of(value, kind)
        elif self.shaping and isinstance(kind, Num):  # of others it would only cost walks of loops to know the equal
            shape = self._equated(self._shaper.counted(value)) if is_count(kind) else NUMBER
        made = value if type(value) is Op else self.fact(value).expr if type(value) is Var else None
        self.kill(s.target)
        assert self.env is not None
        if self.shaping:
            shape = self._tagged(shape, kind)
        pure = type(made) is Op and self._note_readers(s.target, made)
        if not pure or made is None:
            self.env[s.target] = Known(shape, None, zero)
            return
        alias, stale = (True, self.fact(value).stale) if type(value) is Var else (False, False)
        self.env[s.target] = Known(shape, made, zero, alias, stale)
        self._note_memory(s.target, made)

    def _show(self, s: Assign, value: Expr) -> None:
        """Notes which lengths are equal once the statement has run, and what a function is given."""
        if type(value) is Op:
            for one, other in self._shaper.agreed(value):
                self._equate(one, other)
        elif type(value) is Call:
            self._note_arguments(s, value)
        elif type(value) is Pop:
            for one, other in self._tapes.implied(value.base.name, self._outermost):
                self._equate(one, other)

    def _note_memory(self, name: str, op: Expr) -> None:
        """Notes the memory that is written somewhere, in which the operands or the result of an operation lie."""
        kinds = [self._kind(atom) for atom in atoms(op) if type(atom) is not Lit or type(atom.value) is tuple]
        kinds.append(self.unit.kinds.get(name, BOTTOM))
        found = [kind.region.root() for kind in kinds if type(kind) is Arr or type(kind) is Box]
        written = [each for each in found if each.written or each.rewritten]
        if written or name in self._lying:
            self._lying[name] = written
            for each in written:
                self._unwritten.setdefault(each, {})[name] = None

    def _written(self, where: Region | None) -> None:
        """Memory has been written, None: any; what was computed of it is not what it would be now."""
        assert self.env is not None
        if self._unwritten_of is not self.env:  # on another way through the program, where less is stale
            self._unwritten_of, self._unwritten = self.env, {}
            for name, regions in self._lying.items():
                for each in regions:
                    self._unwritten.setdefault(each, {})[name] = None
        for part in [each for each in self._unwritten if where is None or each.root() is where]:
            for name in self._unwritten.pop(part):
                fact = self.env.get(name)
                if fact is None or fact.expr is None or fact.stale:
                    continue
                if where is None or any(each.root() is where for each in self._lying[name]):
                    self.env[name] = fact._replace(stale=True)

    def _tagged(self, shape: Shape, kind: Kind | None) -> Shape:
        """The shape with a tag of this visit for what is not known of it."""
        leaf = shape == LEAVES and not isinstance(kind, Box)
        if not (leaf or shape is None or (type(shape) is Lengths and None in shape)):
            return shape
        tag = ("made" if self.in_loop else "once", next(self.visits))
        if leaf and isinstance(kind, Arr) and kind.sure and kind.rank is not None:
            return of_leaf(tag, kind.rank)
        return _named(None if leaf else shape, kind, tag)

    def _shape_of(self, value: Expr, kind: Kind | None) -> Shape:
        if type(value) is Make and value.cls is list and isinstance(kind, Box) and is_kept(kind):
            return self._equated(("items", *map(self._shaper.of_item, value.items)))
        if type(value) is Call:
            return self._equated(self._given_back(value))
        if type(value) is Pop:
            return self._equated(self._tapes.popped(value.base.name, self._outermost))
        return self._equated(self._shaper.of(value))

    def _given_back(self, call: Call) -> Shape:
        """The shape of what a function gives back for these arguments."""
        callee = self.unit.others.get(call.link)
        found = None if callee is None or callee.busy else callee.found(given_back, self.program)
        if found is None or callee is None:
            return None
        names = [param.name for param in callee.function.params]
        args = dict(zip(names, call.args, strict=True))

        def argument(tag: tuple[Any, ...]) -> Length:
            name, axis = of_parameter(tag)
            if name not in args or axis is None:
                return self._shaper.of_item(args[name]) if name in args else None
            shape = self.shape(args[name])
            return shape[axis] if isinstance(shape, Lengths) and axis < len(shape) else None

        for parts in callee.found(_broadcast, found):
            known = [Lengths((n,)) for part in parts if (n := substituted(part, argument)) is not None]
            for one, other in shape_arithmetic.agreed(known):
                derived_lengths.rely(self.program, self.unit, (one, other))
                self._equate(one, other)
        given = tuple((self._shaper.of_item(a), self.shape(a)) for a in call.args)
        results = callee.found(_for_arguments)
        if given not in results:
            results[given] = substituted(found, argument)
        return results[given]

    def _note_arguments(self, s: Assign, call: Call) -> None:
        """Leaves the shapes of arguments with the function that is called."""
        callee = self.unit.others.get(call.link)
        if callee is not None and not callee.outer:
            kinds = [self.unit.kind(self.program, a) for a in call.args]
            callee.given[s] = tuple(
                self.shape(a) if is_array(kind) else None for a, kind in zip(call.args, kinds, strict=True)
            )

    @property
    def _equal(self) -> Mapping[Length, Length]:
        """What lengths have turned out to be on the way here: each with the one that is written for it."""
        assert self.env is not None
        return _equations(self.env)

    def _equated(self, shape: Shape) -> Shape:
        """The shape with the lengths that are written for others."""
        assert self.env is not None
        return written(shape, _equations(self.env)) if EQUAL in self.env else shape

    def _note_readers(self, name: str, op: Op) -> bool:
        """Notes under which names the operation has to be forgotten; False if it reads its own target.

        An operand that is bound once, and has been, cannot change before what is known of `name` is forgotten too:
        control passes its binding again only by way of the head of a loop, where neither is known.
        """
        for atom in atoms(op):
            if type(atom) is Var:
                if atom.name == name:
                    return False
                if atom.name in self._again or atom.name not in self.env:  # type: ignore[operator]
                    self._readers.setdefault(atom.name, set()).add(name)
        return True

    def _equate(self, one: Length, other: Length) -> None:
        """Writes one length for two that have turned out to be equal."""
        assert self.env is not None
        one, other = self._equated(one), self._equated(other)
        if one == other or (isinstance(one, int) and isinstance(other, int)):
            return
        keep, drop = sorted((one, other), key=_preference)
        self._tapes.showed(drop, keep)
        equal = {old: replaced(new, drop, keep) for old, new in self._equal.items()} | {drop: keep}
        for name, fact in self.env.items():
            shape = replaced(fact.shape, drop, keep) if name != EQUAL else equal
            if shape != fact.shape:
                self.env[name] = fact._replace(shape=shape)
        self.env[EQUAL] = Known(equal)

    def is_zero(self, s: Assign) -> bool:
        """Whether what the statement binds is known to be zero, and stays so."""
        return False

    def lasting(self, s: For | Loop, facts: dict[str, Known]) -> dict[str, Known]:
        """Shapes may last; no operation does that binds, or reads, a name that the trips bind anew, and what lies where
        they write is stale."""
        anew = bound(s.body)
        gone = anew.union(*(self._readers.get(name, ()) for name in anew))
        kept = dict(facts)
        for name in gone & set(facts):
            fact = facts[name]
            if fact.expr is not None and (name in anew or any(_is_one_of(a, anew) for a in atoms(fact.expr))):
                kept[name] = Known(fact.shape, None, fact.zero)
        if type(s) is For:
            kept.pop(s.target, None)
        written = self._written_in(s.body) if self._lying else frozenset()
        for name, regions in self._lying.items() if written else ():
            known = kept.get(name)
            if known is None or known.expr is None or known.stale:
                continue
            if None in written or any(each.root() in written for each in regions):
                kept[name] = known._replace(stale=True)
        return kept

    def _written_in(self, block: Block) -> frozenset[Region | None]:
        """The memory that anything in a block writes, None for any."""
        found: set[Region | None] = set()
        for s in statements(block):
            if type(s) is Assign:
                if type(s.value) is Call or type(s.value) is Pop or (type(s.value) is Op and has_effect(s.value)):
                    return frozenset((None,))
            elif type(s) is Store or type(s) is Accumulate:
                found.add(region(self._kind(s.base)))
            elif type(s) in (Append, Delete):
                return frozenset((None,))
        return frozenset(found)

    def merge(self, a: dict[str, Known], b: dict[str, Known], site: Site) -> dict[str, Known]:
        """Names whose shapes were equal on each way have equal shapes after it."""
        result: dict[str, Known] = {}
        first: dict[tuple[Shape, Shape], Shape] = {}
        seen = site in self._met
        equal = (_equations(a), _equations(b))
        for name, left in a.items():
            right = b.get(name)
            if right is None:
                continue
            if name == EQUAL:
                both = {old: new for old, new in equal[0].items() if equal[1].get(old) == new and not _holds(new, site)}
                result[name] = left if left.shape == both else Known(both)
                continue
            if right is left and not (seen and _holds(left.shape, site)):
                result[name] = left
                continue
            shape = _met(left.shape, right.shape, site, first, name, equal)
            expr = left.expr if left.expr is right.expr else None
            alias = expr is not None and (left.alias or right.alias)
            stale = expr is not None and (left.stale or right.stale)
            result[name] = Known(shape, expr, left.zero and right.zero, alias, stale)
        if first:
            self._met.add(site)
        return result


class _Returning(Facts):
    """Notes the shapes that a function gives back; `found` has that of each return."""

    def __init__(self, program: Program, unit: Unit) -> None:
        super().__init__(program, unit)
        self.found: list[Shape] = []

    def after(self, s: Statement) -> None:
        if type(s) is Return:
            self.found.append(self._shaper.of_item(s.value) or self.fact(s.value).shape)
        super().after(s)


def given_back(unit: Unit, program: Program) -> Shape:
    """The shape of what the function gives back, of whatever it knows in terms of its parameters' lengths."""
    unit.busy = True  # it may call itself
    walk = _Returning(program, unit)
    walk.block(unit.body)
    unit.busy = False
    return walk.found[0] if walk.found and all(shape == walk.found[0] for shape in walk.found) else None


def _broadcast(unit: Unit, found: Shape) -> tuple[tuple[Length, ...], ...]:
    """The lengths that have been broadcast together in what the function gives back."""
    return tuple(shape_arithmetic.commons(found))


def _for_arguments(unit: Unit) -> dict[tuple[tuple[Shape, Shape], ...], Shape]:
    """The shapes of what the function gives back, by what is known of its arguments: calls are looked at often."""
    return {}


def _is_one_of(atom: Atom, names: frozenset[str]) -> bool:
    return type(atom) is Var and atom.name in names


def _named(shape: Shape, kind: object, tag: tuple[Shape, ...]) -> Shape:
    """The shape with a tag for each length that is not known."""
    if shape is None and isinstance(kind, Arr) and kind.rank is not None and kind.sure:
        shape = Lengths((None,) * kind.rank)
    if not isinstance(shape, Lengths):
        return tag
    return Lengths((*tag, axis) if n is None else n for axis, n in enumerate(shape))


def is_kept(kind: Kind) -> bool:
    """Whether nothing ever changes which items the container, or one inside it, has."""
    return not any(node.written or node.resized or node.rewritten for node in reach([kind], arrays_too=False))


def _met(
    left: Shape,
    right: Shape,
    site: Site,
    first: dict[tuple[Shape, Shape], Shape],
    name: object,
    equal: tuple[Mapping[Length, Length], Mapping[Length, Length]],
) -> Shape:
    """What stands for two shapes, or lengths, where two ways meet; `equal` is what is known of lengths on each."""
    if left is None or right is None:
        return None
    if isinstance(left, Lengths) and isinstance(right, Lengths) and len(left) == len(right):
        pairs = enumerate(zip(left, right, strict=True))
        return Lengths(_met(a, b, site, first, (name, axis), equal) for axis, (a, b) in pairs)
    if left != right:  # one of them may be known to be the other on that one's way
        left, right = (
            (left, left) if written(left, equal[1]) == right
            else (right, right) if written(right, equal[0]) == left
            else (left, right)
        )  # fmt: skip
    if left != right or _holds(left, site):
        long = ("long",) if is_long(left) and is_long(right) else ()
        return first.setdefault((left, right), (*long, "met", site, name))
    return left


def _equations(env: Mapping[str, Known]) -> Mapping[Length, Length]:
    """What lengths have turned out to be where these facts hold: each with the one that is written for it."""
    return env[EQUAL].shape if EQUAL in env else {}  # type: ignore[return-value]


def _preference(length: Length) -> int:
    """Of equal lengths the one that is least is written for the others: it says most, of most places."""
    if isinstance(length, int):
        return 0
    if not is_lasting(length):
        return 3
    whole = shape_arithmetic.plain(length)
    return 2 if isinstance(whole, tuple) and whole[0] in shape_arithmetic.MADE_OF else 1


def _holds(shape: Shape, site: Site) -> bool:
    """Whether the shape, or length, was met at the head of the loop in hand, and may be another in the next trip."""
    if not isinstance(shape, tuple):
        return False
    if isinstance(shape, Lengths):
        return any(_holds(length, site) for length in shape)
    if shape_arithmetic.plain(shape) is not shape:
        return _holds(shape[1], site)
    if "met" in shape[:2]:
        return bool(shape[shape.index("met") + 1] == site)
    return shape[0] not in NAMED and any(_holds(part, site) for part in shape_arithmetic.parts_of(shape))


def is_count(kind: Kind) -> bool:
    """Whether values of the kind may be whole numbers, and so a length or a place."""
    return type(kind) is Num and _has_whole(kind.exact)


@cache
def _has_whole(types: tuple[type, ...]) -> bool:
    return any(issubclass(each, int | np.integer) for each in types)


def is_array(kind: object) -> bool:
    """Whether values of the kind certainly are arrays, of one domain."""
    return isinstance(kind, Arr) and kind.sure and not kind.dtypes
