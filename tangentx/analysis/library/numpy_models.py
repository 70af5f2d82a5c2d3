"""NumPy functions that are lowered to others before they are differentiated."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.arguments import bind
from tangentx.analysis.infer.containers import expanded
from tangentx.analysis.infer.functions import external
from tangentx.analysis.library.out_argument import let
from tangentx.analysis.types.kinds import MISSING, Arr, Bottom, Box, Kind, Num, Obj, dtype_of, library_in, varied
from tangentx.arrays.libraries import Library, library_called, numpy_function
from tangentx.arrays.products import pairwise
from tangentx.common.axes import axis_and_rank
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.nodes import Assign, Atom, Block, Expr, Ext, Index, Key, Lit, Make, Op, Slice, Statement, Var

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


# ``np.einsum`` of several operands, with an ellipsis or ``optimize=``: lowered to products of two.

Named = tuple[tuple[str, Atom], ...]


def in_pairs(w: Walker, fn: Callable[..., Any], args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind] | None:
    """The call written as products of two operands each; None for one that has a rule, and for any other function."""
    if fn is not np.einsum or len(args) < 2 or {name for name, _ in kwargs} - {"optimize"}:
        return None
    kinds = [w.read(a)[1] for a in args]
    if not any(map(varied, kinds)):
        return None
    text = kinds[0].value if isinstance(kinds[0], Obj) else None
    if not isinstance(text, str):
        return w.walk(Op(np.einsum, args)) if kwargs else None
    if any(isinstance(kind, Box) for kind in kinds[1:]):
        arrays = [let(w, ("operand", i), Op(np.asarray, (a,))) for i, a in enumerate(args[1:])]
        return w.walk(Op(np.einsum, (args[0], *arrays), kwargs))
    ranks = [_rank(kind) for kind in kinds[1:]]
    if len(args) <= 3 and "." not in text:
        return w.walk(Op(np.einsum, args)) if kwargs else None
    if any(rank is None for rank in ranks) or text.count(",") + 1 != len(ranks):
        return None
    steps = pairwise(text, [rank for rank in ranks if rank is not None])
    found = args[1]
    for k, subscripts in enumerate(steps):
        operands = (found, *args[k + 2 : k + 3])
        if k == len(steps) - 1:
            return w.walk(Op(np.einsum, (Lit(subscripts), *operands)))
        found = let(w, ("product", k), Op(np.einsum, (Lit(subscripts), *operands)))
    return None


def _rank(kind: Kind) -> int | None:
    """The number of axes of an operand, where that is known."""
    if isinstance(kind, Arr):
        return kind.rank if kind.sure else None
    return 0 if isinstance(kind, Num) else None


# ``np.split`` and relatives of an array that is written or indexed: a list of views, each a slice.


def by_axis(ary: Any, indices_or_sections: Any, axis: Any = 0) -> None:
    """Names the arguments of ``np.split`` and ``np.array_split``."""


def by_side(ary: Any, indices_or_sections: Any) -> None:
    """Names the arguments of ``np.hsplit`` and its like."""


_SIDES: dict[Any, Callable[[Kind], int]] = {
    np.hsplit: lambda kind: 0 if isinstance(kind, Arr) and kind.rank == 1 else 1,
    np.vsplit: lambda kind: 0,
    np.dsplit: lambda kind: 2,
}
"""The axes along which they split."""


def split(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind] | None:
    """The views of a storage; None for the call of another function, or for what nobody writes or indexes."""
    for side, axis_of in _SIDES.items():
        if fn is side:
            given = bind(w, w.program.library(by_side), args, kwargs)
            return w.walk(Op(np.split, (*given, Lit(axis_of(w.read(given[0])[1])))))
    if fn is not np.split and fn is not np.array_split:
        return None
    array, sections, along = bind(w, w.program.library(by_axis), args, kwargs)
    kind, cut, axis = (w.read(a)[1] for a in (array, sections, along))
    if not isinstance(kind, Arr) or not (kind.region.root().written or kind.region.root().indexed):
        return None
    count, place = _count(cut), axis.value if isinstance(axis, Num) else MISSING
    if count is None or not isinstance(place, int) or kind.rank is None:
        raise UnsupportedSyntax(
            "how many parts of an array that is written are meant is not known here",
            w.span,
            "write the number of parts out, or take the parts one by one with slices",
        )
    front = (Slice(),) * (place % kind.rank)
    even = fn is np.split
    return expanded(w, ("split", count), lambda: _parts(w, array, sections, count, front, even))


def _count(cut: Kind) -> int | None:
    """How many sections, or minus the number of places where the array is cut; None where that is not known."""
    if isinstance(cut, Num):
        return cut.value if isinstance(cut.value, int) else None
    node = cut.region.root() if isinstance(cut, Box) else None
    return -len(node.fields) if node is not None and not node.open and not node.resized else None


def _parts(w: Walker, array: Atom, sections: Atom, count: int, front: tuple[Slice, ...], even: bool) -> Block:
    out: list[Statement] = []

    def let(value: Expr) -> Var:
        name = w.temporary()
        out.append(Assign(name, value, w.span))
        return Var(name)

    bounds: list[Atom] = [Lit(None), Lit(None)]
    if count <= 0:
        bounds[1:1] = [let(Index(sections, Key((Lit(k),)))) for k in range(-count)]
    else:
        length = let(Index(let(Op(np.shape, (array,))), Key((Lit(len(front)),))))
        found = let(Op(arrays.section_bounds, (length, Lit(count), Lit(even))))
        bounds[1:1] = [let(Index(found, Key((Lit(k),)))) for k in range(count - 1)]
    pairs = zip(bounds, bounds[1:], strict=False)
    views = [let(Index(array, Key((*front, Slice(start, stop)), bool(front)))) for start, stop in pairs]
    let(Make(list, tuple(views)))
    return tuple(out)


# ``np.mgrid``, ``np.ogrid``, ``np.r_`` and ``np.c_``, lowered to functions that have rules.

_GRIDS: tuple[Any, ...] = (np.mgrid, np.ogrid)
_JOINED: tuple[Any, ...] = (np.r_, np.c_)
_WIDE = frozenset(map(np.dtype, (int, float, complex)))


def is_grid(base: Atom) -> bool:
    """Whether the atom is one of these objects."""
    return isinstance(base, Ext) and any(base.value is each for each in (*_GRIDS, *_JOINED))


def grid(w: Walker, base: Ext, key: Key) -> tuple[Expr, Kind]:
    """``base[key]``. Raises UnsupportedSyntax for a key that is no plain use of it."""
    if not key.parts:
        raise _refusal(w, base)
    if base.value is np.r_ and isinstance(key.parts[0], Lit) and isinstance(key.parts[0].value, str):
        return _directed(w, base, key, key.parts[0].value)
    kinds = [_kind(w, part) for part in key.parts]
    if base.value in _GRIDS and not all(isinstance(part, Slice) for part in key.parts):
        raise _refusal(w, base)
    if base.value in _JOINED and not any(isinstance(kind, Bottom) for kind in kinds):
        _demand_alike(w, base, kinds)
    return expanded(w, ("grid", base.name), lambda: _built(w, base, key))


_RANKS: dict[int, Any] = {1: np.atleast_1d, 2: np.atleast_2d}


def _directed(w: Walker, base: Ext, key: Key, directive: str) -> tuple[Expr, Kind]:
    """``np.r_["axis,rank", ...]``: arrays of at least so many axes, joined along one of them."""
    axis, rank = axis_and_rank(directive)
    kinds = [_kind(w, part) for part in key.parts[1:]]
    known = all(isinstance(k, Num | Arr | Bottom) or (k is not None and _is_row(k)) for k in kinds)
    plain = all(k.dtype in _WIDE for k in kinds if isinstance(k, Arr)) or not any(isinstance(k, Num) for k in kinds)
    if rank not in _RANKS or not kinds or not known or not plain:
        raise _refusal(w, base)

    def build() -> Block:
        out: list[Assign] = []

        def let(value: Expr) -> Var:
            out.append(Assign(w.temporary(), value, w.span))
            return Var(out[-1].target)

        rows = tuple(let(Op(_RANKS[rank], (part,))) for part in key.parts[1:] if not isinstance(part, Slice))
        let(Op(np.concatenate, (let(Make(list, rows)), Lit(axis))))
        return tuple(out)

    return expanded(w, ("grid", base.name), build)


def _kind(w: Walker, part: Atom | Slice) -> Kind | None:
    return None if isinstance(part, Slice) else w.read(part)[1]


def _demand_alike(w: Walker, base: Ext, kinds: Sequence[Kind | None]) -> None:
    """The parts are numbers and rows, or (rows and) matrices, of which NumPy makes what `concatenate` does."""
    ranks = {k.rank if isinstance(k, Arr) and k.sure else 1 if k is None or _is_row(k) else 0 for k in kinds}
    allowed: tuple[set[Any], ...] = ({0, 1}, {2}) if base.value is np.r_ else ({1, 2},)
    numbers = all(k is None or isinstance(k, Num | Arr) or _is_row(k) for k in kinds)
    wide = all(k.dtype in _WIDE for k in kinds if isinstance(k, Arr)) or 0 not in ranks
    if not numbers or not wide or not any(ranks <= each for each in allowed):
        raise _refusal(w, base)


def _is_row(kind: Kind | None) -> bool:
    """Whether the kind is of a list of numbers."""
    if not isinstance(kind, Box) or kind.cls not in (list, tuple) or kind.none:
        return False
    node = kind.region.root()
    items = [k for k in (*node.fields.values(), node.elt) if not isinstance(k, Bottom)]
    return bool(items) and all(isinstance(k, Num) and not k.none and dtype_of(k) in _WIDE for k in items)


def _refusal(w: Walker, base: Ext) -> UnsupportedSyntax:
    if base.value in _GRIDS:
        hint = "give it slices with both bounds, or write np.meshgrid(np.arange(n), np.arange(m), indexing='ij')"
    else:
        hint = "give it numbers, arrays and slices with both bounds, or write np.concatenate or np.stack"
    return UnsupportedSyntax(f"`{base.name}` with this index is not differentiated", w.span, hint)


def _built(w: Walker, base: Ext, key: Key) -> Block:
    out: list[Assign] = []

    def let(value: Expr) -> Var:
        out.append(Assign(w.temporary(), value, w.span))
        return Var(out[-1].target)

    rows = [let(_row(w, base, part)) if isinstance(part, Slice) or _is_row(w.read(part)[1]) else part
            for part in key.parts]  # fmt: skip
    if base.value is np.r_:
        let(Op(np.concatenate, (let(Make(list, tuple(let(Op(np.atleast_1d, (row,))) for row in rows))),)))
    elif base.value is np.c_:
        let(Op(np.column_stack, (let(Make(list, tuple(rows))),)))
    elif not key.many:
        let(rows[0])
    elif base.value is np.mgrid:
        let(Op(np.array, (let(Op(np.meshgrid, tuple(rows), (("indexing", Lit("ij")),))),)))
    else:
        real = [_is_real(w, part) for part in key.parts]
        if any(real):  # then all rows are
            each = zip(rows, real, strict=True)
            rows = [row if is_real else let(Op(operator.mul, (row, Lit(1.0)))) for row, is_real in each]
        let(Make(tuple, tuple(let(Index(row, _along(i, len(rows)))) for i, row in enumerate(rows))))
    return tuple(out)


def _row(w: Walker, base: Ext, part: Atom | Slice) -> Expr:
    """The array of what a slice stands for, or of a list."""
    return _axis(w, base, part) if isinstance(part, Slice) else Op(np.array, (part,))


def _axis(w: Walker, base: Ext, part: Slice) -> Expr:
    """The numbers that a slice stands for: from start to stop by a step, or so many where that is imaginary."""
    start = Lit(0) if part.start == Lit(None) else part.start
    if part.stop == Lit(None):
        raise _refusal(w, base)
    step = w.read(part.step)[1]
    if isinstance(part.step, Lit) and isinstance(part.step.value, complex):
        return Op(np.linspace, (start, part.stop, Lit(int(abs(part.step.value)))))
    if isinstance(step, Num | Box | Arr) and not (isinstance(step, Num) and not issubclass(step.type, complex)):
        raise _refusal(w, base)
    return Op(np.arange, (start, part.stop, Lit(1) if part.step == Lit(None) else part.step))


def _is_real(w: Walker, part: Atom | Slice) -> bool:
    """Whether the numbers that a slice stands for are reals."""
    assert isinstance(part, Slice)
    kinds = [w.read(each)[1] for each in (part.start, part.stop, part.step)]
    return any(isinstance(kind, Num) and dtype_of(kind).kind in "fc" for kind in kinds)


def _along(axis: int, count: int) -> Key:
    """The key by which a row lies along one of so many axes."""
    return Key(tuple(Slice() if i == axis else Lit(None) for i in range(count)), True)


# Functions of other array libraries, such as CuPy: analysed as NumPy's functions on device arrays.

_MAKING: frozenset[Any] = frozenset((
    np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.arange, np.linspace, np.logspace,
    np.zeros, np.ones, np.empty, np.full, np.eye, np.identity, np.tri, np.indices, np.fromiter,
))  # fmt: skip
"""Functions that make an array of NumPy's whatever they are given."""


def meant(fn: Any, kinds: list[Kind]) -> Any | None:
    """NumPy's function for one of another library that is given an array of that; None for all others.

    One that makes arrays of numbers stays what it is: its name alone says in which memory.
    """
    found = numpy_function(fn)
    if found is None or found[0] in _MAKING:
        return None
    return found[0] if any(library_in(kind) is found[1] for kind in kinds) else None


def asked(w: Walker, fn: Any, args: tuple[Atom, ...]) -> tuple[Expr, Kind] | None:
    """What a function of a library's that NumPy has not gives: which module an array is of, a transfer; None for other
    calls."""
    name, kinds = getattr(fn, "__name__", ""), [w.read(a)[1] for a in args]
    library = _home(fn)
    if library is not None and name == "get_array_module":
        found = next((each for each in map(library_in, kinds) if each is not None), library_called("numpy"))
        return w.read(external(w, found.namespace, found.alias))
    if library is not None and name == "asnumpy" and len(args) == 1 and library_in(kinds[0]) is library:
        return w.walk(Op(arrays.to_host, args))
    made = numpy_function(fn)
    whole = made is not None and made[0] in (np.asarray, np.array) and len(args) == 1
    if made is not None and whole and isinstance(kinds[0], Arr) and kinds[0].library == "numpy":
        return w.walk(Op(arrays.to_library, (*args, Lit(made[1].module))))
    return None


def _home(fn: Any) -> Library | None:
    """The library, other than NumPy, that has the function by its name."""
    home = (getattr(fn, "__module__", None) or "").partition(".")
    for module in ("cupy", "tangentx.arrays.device_double"):
        if home[0] == "cupy" == module or "".join(home) == module:
            library = library_called(module)
            return library if getattr(library.namespace, fn.__name__, None) is fn else None
    return None
