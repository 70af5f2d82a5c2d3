"""Shape inference for single operations, and the lengths that they equate."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

import numpy as np

from tangentx import arrays, templates
from tangentx.analysis.types.kinds import Arr, Box, Kind, Num
from tangentx.analysis.types.selection import is_boolean
from tangentx.ir.nodes import (
    Accumulate,
    Atom,
    Attr,
    Expr,
    Index,
    Key,
    Lit,
    Make,
    Op,
    Slice,
    Store,
    Var,
)
from tangentx.optimise.facts import shape_arithmetic
from tangentx.optimise.facts.shape_arithmetic import (
    LEAVES,
    Length,
    Lengths,
    Range,
    Shape,
    is_long,
    lengths,
)

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
    arrays.convolved_left: 2, arrays.convolved_right: 2, arrays.spread_windows: 1, arrays.spread_means: 1,
}  # fmt: skip
"""The position of the argument that is the shape of the result, or has it."""
_PRODUCTS: tuple[Callable[..., Any], ...] = (
    np.matmul,
    operator.matmul,
    arrays.careful_matmul,
    np.dot,
    np.outer,
)
_CONTRACTING = _PRODUCTS[:-1]
"""Products that contract an axis of one operand with an axis of the other, so that the two have one length."""
_REDUCING: tuple[Callable[..., Any], ...] = (
    np.sum, np.mean, np.max, np.min, np.prod, np.ndarray.sum, np.ndarray.mean, np.ndarray.max, np.ndarray.min,
)  # fmt: skip
_SPREADS: tuple[Callable[..., Any], ...] = (np.var, np.std, np.ndarray.var, np.ndarray.std)
"""Reductions too, which take a `ddof` before `keepdims`."""

_TRANSFORMS: tuple[Callable[..., Any], ...] = (
    np.fft.fft, np.fft.ifft, np.fft.fft2, np.fft.ifft2, np.fft.fftn, np.fft.ifftn,
)  # fmt: skip
"""These keep the shape where they are given no number of points."""

_LINEAR = (operator.add, operator.sub, operator.mul)
_MAKING: tuple[Callable[..., Any], ...] = (np.array, np.asarray, np.stack)


class ShapeRules:
    """The shape of an expression, from what is known of its operands.

    `kind` gives the kind of an atom; `shapes` the shape of any atom, and of one that is an array or a number; `number`
    the value of a whole number. `rely` is told of lengths whose broadcasting depends on which of them are one; `taken`
    marks those lengths of a shape that may be assumed not to be one; `ranges` gives the bounds of a loop variable.
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
                return _shape_value(self._of_array(value.base))
            case Index():
                return self._indexed(value)
            case Make(cls=cls) if cls is tuple:
                return ("items", *map(self.of_item, value.items))
            case Op(fn=fn, args=(_, *_) as args, kwargs=()) if _is_together(fn, len(args)):
                return self._together(args)
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
            return _shape_value(first)
        if fn in (arrays.unbroadcast, arrays.alike, arrays.spread, arrays.tangent_as, arrays.spread_maxima):
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
        return None

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


def _shape_value(shape: Shape) -> Shape:
    return None if shape is None else ("shape of", shape)
