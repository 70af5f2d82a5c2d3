"""Operations that kinds decide (identity, `isinstance`, `len`), and lists and tuples made and joined."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx import arrays
from tangentx.analysis import effects
from tangentx.analysis.containers import copied, copied_list, expanded, make, new_dict
from tangentx.analysis.kinds import BOTTOM, MISSING, Arr, Bottom, Box, Kind, Num, Obj, Some, Top, describe, varied
from tangentx.errors import NotResolved, UnsupportedSyntax
from tangentx.ir.nodes import Append, Assign, Atom, Block, Expr, For, Index, Key, Lit, Make, Op, Var, sequence

if TYPE_CHECKING:
    from tangentx.analysis.infer import Walker


def _identity(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    a, b = kinds
    if isinstance(a, Bottom) or isinstance(b, Bottom):
        return Lit(None), BOTTOM
    if isinstance(a, Obj) and isinstance(b, Obj):
        return Lit(a == b), Num(bool, value=a == b)
    none = Obj(None)
    if isinstance(a, Some) and isinstance(b, Some | Obj) or isinstance(b, Some) and isinstance(a, Some | Obj):
        if none not in (a, b) or effects.UNKNOWN in (a, b):
            return Op(operator.is_, tuple(w.read(x)[0] for x in args)), Num(bool)
    apart = any(isinstance(k, Obj) for k in (a, b)) and any(isinstance(k, Num | Arr | Box) for k in (a, b))
    if apart or (none in (a, b) and not isinstance(a, Top) and not isinstance(b, Top)):
        return Lit(False), Num(bool, value=False)
    return None


def _difference(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    same = _identity(w, args, kinds)
    if same is None or isinstance(same[1], Bottom):
        return same
    assert isinstance(same[1], Num)
    if same[1].value is MISSING:
        return Op(operator.is_not, tuple(w.read(x)[0] for x in args)), Num(bool)
    return Lit(not same[1].value), Num(bool, value=not same[1].value)


def _isinstance(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    a, b = kinds
    classes = b.value if isinstance(b, Obj) else None
    if isinstance(b, Box):
        items = [k.value for k in b.region.root().fields.values() if isinstance(k, Obj)]
        classes = tuple(items)
    if a == effects.UNKNOWN:
        return Op(builtins.isinstance, tuple(w.read(x)[0] for x in args)), Num(bool)
    cls = a.type if isinstance(a, Num) else np.ndarray if isinstance(a, Arr) else getattr(a, "cls", None)
    if isinstance(a, Obj):
        cls = type(a.value)
    if isinstance(a, Bottom) or cls is None or classes is None or (isinstance(a, Arr) and a.loose):
        return (Lit(None), BOTTOM) if isinstance(a, Bottom) else None
    answer = issubclass(cls, classes)
    return Lit(answer), Num(bool, value=answer)


def _len(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    kind = kinds[0]
    if isinstance(kind, Box) and isinstance(kind.cls, type) and issubclass(kind.cls, list | tuple | dict):
        node = kind.region.root()
        fixed = not node.open and (issubclass(kind.cls, tuple) or not node.written)
        atom, _ = w.read(args[0])
        return Op(builtins.len, (atom,)), Num(int, value=len(node.fields) if fixed else MISSING)
    return None


def _sequence(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    kind = kinds[0]
    atom, _ = w.read(args[0])
    if isinstance(kind, Bottom):
        return atom, BOTTOM
    count = kinds[1].value if len(kinds) > 1 and isinstance(kinds[1], Num) else None
    more = len(kinds) > 2
    if isinstance(kind, Box) and issubclass(kind.cls, list | tuple):
        node = kind.region.root()
        fixed = not node.open and not node.resized
        if count is None or (fixed and (len(node.fields) == count or (more and len(node.fields) > count))):
            return atom, kind
        if not node.open and w.program.final:
            raise NotResolved(f"{count} names take {len(node.fields)} values", w.span, "give each value one name")
    elif isinstance(kind, Box) and kind.cls is dict and count is None:
        keys = tuple(Lit(k) for k in kind.region.root().fields)
        if not kind.region.root().open and not kind.region.root().written:
            return make(w, Make(tuple, keys))
    elif not isinstance(kind, Arr) or kind.rank == 0:
        if not (isinstance(kind, Some) and kind.cls in (range, str)):
            raise UnsupportedSyntax(
                f"iteration over {describe(kind)}", w.span, "iterate over a range, array, list or tuple"
            )
    if count is None:
        return atom, kind
    return w.walk(Op(arrays.counted, args))


def _listed(cls: type) -> Callable[[Walker, tuple[Atom, ...], list[Kind]], tuple[Expr, Kind] | None]:
    def build(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
        if not args:
            return make(w, Make(cls, ()))
        kind = kinds[0]
        if isinstance(kind, Box) and issubclass(kind.cls, list | tuple):
            node = kind.region.root()
            if not node.open:
                return copied(w, args[0], cls, list(range(len(node.fields))))
            if cls is list:
                return copied_list(w, args[0], None)
        if isinstance(kind, Arr) and cls is list:
            return copied_list(w, args[0], None)
        if isinstance(kind, Box) and kind.cls is dict and cls is list and not kind.region.root().open:
            return _key_list(w, args[0], kind)
        return None if not varied(kind) and not isinstance(kind, Box) else _refuse_copy(w, cls)

    return build


def _key_list(w: Walker, base: Atom, kind: Box) -> tuple[Expr, Kind]:
    """The keys of a dict, all of which are known, though some may not be there yet."""
    atom, _ = w.read(base)
    box = Box(list, w.fresh("keys")(()))
    box.region.mark("open")
    for key in kind.region.root().fields:
        box.region.put_any(Num(type(key)) if type(key) in (int, bool) else w.program.valuer.kind(key))
    return Op(list, (atom,)), box


def _refuse_copy(w: Walker, cls: type) -> tuple[Expr, Kind]:
    raise UnsupportedSyntax(f"`{cls.__name__}(...)` of this value", w.span, "build it item by item")


def _joined(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    """``a + b`` of two tuples or two lists: a new one of the items of both."""
    a, b = kinds
    if not (isinstance(a, Box) and isinstance(b, Box) and a.cls is b.cls and a.cls in (list, tuple)):
        return None
    if not a.region.root().open and not b.region.root().open:
        cls, counts = a.cls, [len(k.region.root().fields) for k in (a, b)]

        def fixed() -> Block:
            names = [w.temporary() for _ in range(sum(counts))]
            places = [(base, i) for base, n in zip(args, counts, strict=True) for i in range(n)]
            taken = [Assign(t, Index(x, Key((Lit(i),))), w.span) for t, (x, i) in zip(names, places, strict=True)]
            made = w.temporary()
            return (*taken, Assign(made, Make(cls, tuple(Var(t) for t in names)), w.span))

        return expanded(w, f"joined{counts}", fixed)
    if a.cls is tuple:
        raise UnsupportedSyntax("tuples of unknown length are joined", w.span, "use lists")

    def grown() -> Block:
        made, span = w.temporary(), w.span
        out: list[Any] = [Assign(made, Make(list, ()), span)]
        for base in args:
            n, k, item = w.temporary(), w.temporary(), w.temporary()
            body = (Assign(item, Index(base, Key((Var(k),))), span), Append(Var(made), Var(item), span))
            out += [Assign(n, Op(builtins.len, (base,)), span), For(k, Lit(0), Var(n), Lit(1), False, body, span)]
        return (*out, Assign(w.temporary(), Var(made), span))

    return expanded(w, "joined", grown)


def _united(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    """``a | b`` of two dicts: a new one of the entries of both."""
    both = all(isinstance(kind, Box) and kind.cls is dict for kind in kinds)
    return new_dict(w, args, ()) if both else None


def _repeated(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    """``items * n`` of a list or tuple: a new one of its items, n times over."""
    (items, base), (times, count) = sorted(zip(kinds, args, strict=True), key=lambda pair: not isinstance(pair[0], Box))
    if not (isinstance(items, Box) and items.cls in (list, tuple) and isinstance(times, Num)):
        return None
    node = items.region.root()
    if not node.open and isinstance(times.value, int):
        return copied(w, base, items.cls, list(range(len(node.fields))) * times.value)
    if items.cls is tuple:
        raise UnsupportedSyntax("a tuple is repeated a number of times that is not known", w.span, "use a list")

    def build() -> Block:
        made, n, j, k, item = (w.temporary() for _ in range(5))
        span = w.span
        inner = (Assign(item, Index(base, Key((Var(k),))), span), Append(Var(made), Var(item), span))
        body = (For(k, Lit(0), Var(n), Lit(1), False, inner, span),)
        return (
            Assign(made, Make(list, ()), span),
            Assign(n, Op(builtins.len, (base,)), span),
            For(j, Lit(0), count, Lit(1), False, body, span),
            Assign(w.temporary(), Var(made), span),
        )

    return expanded(w, "repeated", build)


def _ndim(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    kind = kinds[0]
    if isinstance(kind, Arr) and kind.rank is not None and not kind.loose:
        atom, _ = w.read(args[0])
        return Op(np.ndim, (atom,)), Num(int, value=kind.rank)
    return (Lit(0), Num(int, value=0)) if isinstance(kind, Num) else None


def _einsum(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    """A rule may ask for a product of two where there is one operand: the absent one is left out."""
    if len(args) == 3 and kinds[2] == Obj(None):
        return w.walk(Op(np.einsum, args[:2]))
    return None


def _same_length(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    """Only a list that grows or shrinks somewhere has to be looked at while the program runs."""
    kind = kinds[0]
    if isinstance(kind, Box) and kind.cls is list and kind.region.root().resized:
        return Op(arrays.same_length, tuple(w.read(a)[0] for a in args)), Obj(None)
    return Lit(None), Obj(None)


SPECIAL: dict[Any, Callable[[Walker, tuple[Atom, ...], list[Kind]], tuple[Expr, Kind] | None]] = {
    operator.is_: _identity,
    operator.is_not: _difference,
    builtins.isinstance: _isinstance,
    builtins.len: _len,
    sequence: _sequence,
    operator.add: _joined,
    operator.or_: _united,
    operator.mul: _repeated,
    np.ndim: _ndim,
    arrays.same_length: _same_length,
    np.einsum: _einsum,
    **effects.OF_OPAQUE,
    list: _listed(list),
    tuple: _listed(tuple),
}
