"""The shapes of expressions from those of their operands."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tangentx import arrays, templates
from tangentx.analysis.kinds import Arr, Box, Kind, Num
from tangentx.analysis.selection import is_boolean
from tangentx.ir.nodes import Atom, Attr, Expr, Index, Lit, Make, Op, Slice, Var
from tangentx.optimise import dims
from tangentx.optimise.dims import LEAVES, Length, Lengths, Shape, lengths

_KEEPING: tuple[Callable[..., Any], ...] = (
    np.zeros_like, np.ones_like, np.conj, np.real, np.copy, np.ndarray.copy, operator.neg, operator.pos, operator.abs,
    abs, arrays.length_of, arrays.zero, arrays.real_zero, arrays.zeros_as, arrays.clone, arrays.entry_copy,
)  # fmt: skip
_TOGETHER: tuple[Callable[..., Any], ...] = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, np.where,
    arrays.guarded, arrays.ratio, arrays.quotient, arrays.ratio_or_zero, arrays.power_slope,
    arrays.silent_power,
)  # fmt: skip


_SHAPED: dict[Callable[..., Any], int] = {
    np.zeros: 0, np.ones: 0, np.empty: 0, np.full: 0, arrays.unreduce: 1,
    arrays.matmul_left: 2, arrays.matmul_right: 2, arrays.outer_left: 2, arrays.outer_right: 2,
}  # fmt: skip
"""Which argument says, or is, the shape of the result."""
_PRODUCTS: tuple[Callable[..., Any], ...] = (np.matmul, operator.matmul, np.dot, np.outer)
_REDUCING: tuple[Callable[..., Any], ...] = (
    np.sum, np.mean, np.max, np.min, np.prod, np.ndarray.sum, np.ndarray.mean, np.ndarray.max, np.ndarray.min,
)  # fmt: skip
_SPREADS: tuple[Callable[..., Any], ...] = (np.var, np.std, np.ndarray.var, np.ndarray.std)
"""Reductions too, which are told by how much their count is less."""

_TRANSFORMS: tuple[Callable[..., Any], ...] = (
    np.fft.fft, np.fft.ifft, np.fft.fft2, np.fft.ifft2, np.fft.fftn, np.fft.ifftn,
)  # fmt: skip
"""These keep the shape where they are given no number of points."""

_MAKING: tuple[Callable[..., Any], ...] = (np.array, np.asarray)


class Shaper:
    """Rules for shapes; `kind` and `shape` say what is known of an atom.

    `rely` is called where it matters which axes of the arguments have length one.
    """

    def __init__(self, kind: Callable[[Atom], Kind], shape: Callable[[Atom], Shape], rely: Callable[[], None]) -> None:
        self.kind = kind
        self.shape = shape
        self.rely = rely

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
                return ("items", *map(self._of_array, value.items))
            case Op(args=(_, *_)):
                found = self._reduced(value)
                return found if found is not None or value.kwargs else self._result(value.fn, value.args)
        return None

    def agreed(self, value: Expr) -> list[tuple[Length, Length]]:
        """Pairs of lengths that are equal once the expression has been computed."""
        if not isinstance(value, Op) or value.kwargs or len(value.args) < 2:
            return []
        given = [a for a in value.args if isinstance(self.kind(a), Arr)]
        if len(given) < 2 or not _is_together(value.fn, len(value.args)):
            return []
        found = map(self._of_array, given)
        pairs = dims.agreed([shape for shape in found if isinstance(shape, Lengths)])
        if pairs:
            self.rely()
        return pairs

    def _result(self, fn: Callable[..., Any], args: tuple[Atom, ...]) -> Shape:
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
        if fn in _TRANSFORMS and (len(args) == 1 or args[1] == Lit(None)):
            return first
        if fn in _PRODUCTS and len(args) == 2:
            return self._product(fn, *args)
        unary = isinstance(fn, np.ufunc) and fn.nin == fn.nout == 1 and fn.signature is None
        if (unary or fn in _KEEPING) and len(args) == 1:
            return first
        return self._together(args) if _is_together(fn, len(args)) else None

    def _of_array(self, atom: Atom) -> Shape:
        """The shape of an array or number; a list may grow, so it has none."""
        return self.shape(atom) if isinstance(self.kind(atom), Arr | Num) else None

    def _given(self, atom: Atom) -> Shape:
        """The shape that a value, the shape of something or made of constants, stands for."""
        given = self.shape(atom)
        if isinstance(given, tuple) and not isinstance(given, Lengths) and given[:1] == ("shape of",):
            return given[1]
        return lengths(self._sizes(atom))

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
        return lengths(dims.matmul(a, b))

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
        return lengths(dims.reduced(shape, axis.value, bool(keep.value)))  # type: ignore[union-attr,arg-type]

    def _indexed(self, value: Index) -> Shape:
        parts, key = self.shape(value.base), value.key.parts[:1]
        if parts == LEAVES:
            return LEAVES
        if isinstance(parts, tuple) and parts[:1] == ("items",):
            place = key[0].value if key and isinstance(key[0], Lit) else None
            return parts[1:][place] if type(place) is int and -len(parts) < place < len(parts) - 1 else None
        shape = self._of_array(value.base)
        if not isinstance(shape, Lengths) or not isinstance(self.kind(value.base), Arr):
            return None
        kinds = [None if isinstance(part, Slice) else self.kind(part) for part in value.key.parts]
        numbers = [isinstance(kind, Num) and not is_boolean(kind) for kind in kinds]
        return lengths(dims.indexed(shape, value.key, numbers))

    def _together(self, args: tuple[Atom, ...]) -> Shape:
        """The shape of operands that are broadcast together."""
        found = [self._of_array(a) for a in args if not isinstance(self.kind(a), Num)]
        shapes = [shape for shape in found if isinstance(shape, Lengths)]
        if found and len(shapes) == len(found):
            if dims.differ(shapes):
                self.rely()
            return lengths(dims.together(shapes))
        return found[0] if found and all(shape == found[0] for shape in found) else None


def _is_together(fn: Callable[..., Any], count: int) -> bool:
    """Whether the operands are broadcast together."""
    binary = isinstance(fn, np.ufunc) and fn.nin == 2 and fn.nout == 1 and fn.signature is None
    own = templates.find(fn) if templates.is_own(fn) else None
    return (binary and count == 2) or fn in _TOGETHER or (own is not None and own.kind == "elementwise")


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
