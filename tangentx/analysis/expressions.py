"""Expressions: each in closed form with the kind of its value."""

from __future__ import annotations

import builtins
import inspect
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx.analysis import calls
from tangentx.analysis.kinds import (
    BOTTOM,
    MISSING,
    Arr,
    Bottom,
    Box,
    Kind,
    Num,
    Obj,
    Some,
    Top,
    describe,
    is_inexact,
    join,
    varied,
)
from tangentx.analysis.operations import Operation
from tangentx.analysis.program import located
from tangentx.analysis.values import Sampler
from tangentx.errors import NotResolved, UnsupportedSyntax
from tangentx.ir.nodes import (
    Append,
    Apply,
    Assign,
    Atom,
    Attr,
    Block,
    Call,
    Expr,
    Ext,
    For,
    Index,
    Key,
    Lit,
    Make,
    Method,
    Op,
    Pop,
    Slice,
    Var,
    sequence,
)

if TYPE_CHECKING:
    from tangentx.analysis.infer import Walker


def walk(w: Walker, expr: Expr) -> tuple[Expr, Kind]:
    """The expression in closed form, and its kind."""
    match expr:
        case Op(fn=fn, args=args, kwargs=kwargs):
            return operation(w, fn, args, kwargs)
        case Apply():
            return calls.apply(w, expr)
        case Method():
            return calls.method(w, expr)
        case Call(link=link, args=args):
            assert link.function is not None
            return calls.call(w, link.function, link, args)
        case Index(base=base, key=key):
            return index(w, base, key)
        case Attr(base=base, name=name):
            return attribute(w, base, name)
        case Make():
            return make(w, expr)
        case Pop(base=base):
            atom, kind = w.read(base)
            assert isinstance(atom, Var)
            return Pop(atom), popped(w, kind)
        case _:
            return w.read(expr)


def operation(
    w: Walker, fn: Callable[..., Any], args: tuple[Atom, ...], kwargs: tuple[tuple[str, Atom], ...] = ()
) -> tuple[Expr, Kind]:
    """A primitive applied to atoms."""
    read = [w.read(a) for a in args]
    named = [(name, *w.read(a)) for name, a in kwargs]
    kinds = [k for _, k in read]
    special = _SPECIAL.get(fn) if _is_hashable(fn) else None
    if special is not None:
        result = special(w, args, kinds)
        if result is not None:
            return result
    if fn is operator.getitem and len(args) == 2:
        return index(w, args[0], Key((args[1],)))
    closed = Op(fn, tuple(a for a, _ in read), tuple((n, a) for n, a, _ in named))
    if any(n == "out" and k != Obj(None) for n, _, k in named):
        raise UnsupportedSyntax("`out=` is not supported yet", w.span, "assign the result, or write `a[...] = ...`")
    op = Operation(w.program.world, w.fresh("op"), w.span)
    kind = op.kind(fn, kinds, {n: k for n, _, k in named})
    if w.program.final:
        op.demand_template(fn, [*kinds, *(k for _, _, k in named)], kind)
    return closed, kind


def _is_hashable(fn: Any) -> bool:
    try:
        hash(fn)
    except TypeError:
        return False
    return True


def is_basic(parts: tuple[Any, ...]) -> bool:
    """Whether a key with parts of these kinds selects a view or an element, not a copy."""
    return not any(isinstance(k, Arr | Box) or (isinstance(k, Num) and _is_boolean(k)) for k in parts)


def may_repeat(parts: tuple[Any, ...]) -> bool:
    """Whether a key with parts of these kinds may select an element twice."""
    return any(isinstance(k, Box) or (isinstance(k, Arr) and k.dtype.kind != "b") for k in parts)


def _is_boolean(kind: Num) -> bool:
    return kind.type in (bool, np.bool_)


def known_key(base: Box, part: Any) -> Any:
    """The key itself where it is known, counted from the front; else MISSING."""
    if isinstance(part, Obj) and isinstance(part.value, str | bytes):
        return part.value
    if isinstance(part, Num) and part.value is not MISSING and not isinstance(part.value, bool):
        node = base.region.root()
        if part.value < 0 and base.cls is not dict:
            return part.value + len(node.fields) if not node.open else MISSING
        return part.value
    return MISSING


def item_kind(w: Walker, base: Box, parts: tuple[Any, ...]) -> Kind:
    """The kind of one item of a container."""
    if len(parts) != 1 or isinstance(parts[0], tuple):
        raise UnsupportedSyntax("this key does not select one item", w.span, "index with one number or one string")
    known = known_key(base, parts[0])
    kind = base.region.any() if known is MISSING else base.region.get(known)
    if isinstance(kind, Top):
        raise located(kind, w.span)
    return kind


def index(w: Walker, base: Atom, key: Key) -> tuple[Expr, Kind]:
    """``base[key]``: an element, a view, a copy, or an item of a container."""
    atom, kind = w.read(base)
    closed, parts = w.key(key)
    if isinstance(kind, Bottom) or any(isinstance(p, Bottom) for p in parts):
        return Index(atom, closed), BOTTOM
    if isinstance(kind, Box):
        if len(parts) == 1 and isinstance(parts[0], tuple):
            return _slice_of(w, base, kind, key.parts[0], parts[0])
        return Index(atom, closed), item_kind(w, kind, parts)
    if isinstance(kind, Arr):
        return Index(atom, closed), _array_item(w, kind, closed, parts)
    if isinstance(kind, Some | Obj) and len(parts) == 1 and not isinstance(parts[0], tuple):
        return operation_plain(w, operator.getitem, (atom, kind), (closed.parts[0], parts[0]))
    raise UnsupportedSyntax(f"{describe(kind)} cannot be indexed", w.span, "index an array, a list, a tuple or a dict")


def operation_plain(w: Walker, fn: Callable[..., Any], *pairs: tuple[Any, Kind]) -> tuple[Expr, Kind]:
    """A primitive applied to atoms that were read already."""
    op = Operation(w.program.world, w.fresh("plain"), w.span)
    return Op(fn, tuple(a for a, _ in pairs)), op.kind(fn, [k for _, k in pairs], {})


def _array_item(w: Walker, kind: Arr, key: Key, parts: tuple[Any, ...]) -> Kind:
    kind.region.mark("indexed")
    if kind.rank is None:
        whole = len(key.parts) == 1 and isinstance(key.parts[0], Lit) and key.parts[0].value is Ellipsis
        if whole:
            return kind
        raise NotResolved(
            f"cannot tell what indexing {describe(kind)} gives", w.span, "give the array one rank in every branch"
        )
    sampler = Sampler()
    array = sampler.make(kind)
    selector = tuple(_sample_part(part) for part in parts)
    try:
        item = array[selector if key.many else selector[0]]
    except IndexError as error:
        raise NotResolved(f"this index does not fit {describe(kind)}: {error}", w.span, "check the index") from None
    flows = kind.region.root().varied and is_inexact(kind)
    if not isinstance(item, np.ndarray):
        return Num(type(item), flows)
    region = kind.region if np.may_share_memory(item, array) and is_basic(parts) else w.fresh("item")(())
    if region is not kind.region and flows:
        region.mark("varied")
    return Arr(item.dtype, item.ndim, region.root())


def _sample_part(part: Any) -> Any:
    if isinstance(part, tuple):
        return slice(None)
    if isinstance(part, Arr) and part.dtype.kind == "b":
        return Sampler(1).make(part)
    if isinstance(part, Num) and not _is_boolean(part):
        return 0
    if isinstance(part, Box):
        return np.zeros(1, int) if not isinstance(part.region.any(), Box) else np.zeros((1, 1), int)
    return Sampler(0).make(part)


def _slice_of(w: Walker, base: Atom, kind: Box, part: Any, bounds: tuple[Kind, ...]) -> tuple[Expr, Kind]:
    """A slice of a list or tuple: a new container of the same items."""
    node = kind.region.root()
    known = all(isinstance(b, Obj) or (isinstance(b, Num) and b.value is not MISSING) for b in bounds)
    if kind.cls in (list, tuple) and not node.open and known:
        chosen = range(len(node.fields))[slice(*(getattr(b, "value", None) for b in bounds))]
        return copied(w, base, kind.cls, list(chosen))
    if kind.cls is list:
        return copied_list(w, base, part)
    raise UnsupportedSyntax(f"a slice of a {kind.cls.__name__}", w.span, "take the items one by one")


def copied(w: Walker, base: Atom, cls: type, keys: list[Any]) -> tuple[Expr, Kind]:
    """A new tuple or list of the items of `base` at known keys."""
    name = f"copied{keys}"
    result: list[str] = []

    def build() -> Block:
        items = [w.temporary() for _ in keys]
        made = w.temporary()
        result.append(made)
        taken = [Assign(t, Index(base, Key((Lit(k),))), w.span) for t, k in zip(items, keys, strict=True)]
        return (*taken, Assign(made, Make(cls, tuple(Var(t) for t in items)), w.span))

    return expanded(w, name, build)


def copied_list(w: Walker, base: Atom, part: Slice | None) -> tuple[Expr, Kind]:
    """A new list of the items of `base`, or of a slice of them, by a loop."""

    def build() -> Block:
        n, k, item, made = (w.temporary() for _ in range(4))
        span = w.span
        setup: list[Any] = [Assign(n, Op(builtins.len, (base,)), span), Assign(made, Make(list, ()), span)]
        bounds: tuple[Atom, ...] = (Lit(0), Var(n), Lit(1))
        if part is not None:
            cut, triple = w.temporary(), w.temporary()
            names = [w.temporary() for _ in range(3)]
            setup.append(Assign(cut, Op(slice, (part.start, part.stop, part.step)), span))
            setup.append(Assign(triple, Op(slice.indices, (Var(cut), Var(n))), span))
            setup += [Assign(t, Index(Var(triple), Key((Lit(i),))), span) for i, t in enumerate(names)]
            bounds = tuple(Var(t) for t in names)
        body = (Assign(item, Index(base, Key((Var(k),))), span), Append(Var(made), Var(item), span))
        last = w.temporary()
        return (*setup, For(k, *bounds, False, body, span), Assign(last, Var(made), span))

    return expanded(w, "copied_list", build)


def expanded(w: Walker, tag: Any, build: Callable[[], Block]) -> tuple[Expr, Kind]:
    """Walks an expansion whose last statement binds the value."""
    key = (id(w.statement), tag)
    w.expand(tag, build)
    last = w.instance.expansions[key][-1]
    assert isinstance(last, Assign)
    return w.read(Var(last.target)) if w.env is not None else (Lit(None), BOTTOM)


_STATIC = ("shape", "ndim", "size", "dtype", "itemsize", "nbytes")


def attribute(w: Walker, base: Atom, name: str) -> tuple[Expr, Kind]:
    """``base.name``, read."""
    atom, kind = w.read(base)
    match kind:
        case Bottom():
            return Attr(atom, name), BOTTOM
        case Arr() | Num() if name in _STATIC and (isinstance(kind, Arr) or hasattr(kind.type, name)):
            op = Operation(w.program.world, w.fresh("attr"), w.span)
            return Attr(atom, name), op.kind(operator.attrgetter(name), [_without_variation(kind)], {})
        case Arr() if name == "T":
            return operation(w, np.transpose, (base,))
        case Arr() | Num() if name in ("real", "imag"):
            return operation(w, getattr(np, name), (base,))
        case Box():
            return _field(w, base, atom, kind, name)
    raise UnsupportedSyntax(f"attribute `{name}` of {describe(kind)}", w.span, "use a function or method instead")


def _without_variation(kind: Kind) -> Kind:
    return Num(kind.type) if isinstance(kind, Num) else kind


def _field(w: Walker, base: Atom, atom: Atom, kind: Box, name: str) -> tuple[Expr, Kind]:
    node = kind.region.root()
    if hasattr(kind.cls, "_fields") and name in kind.cls._fields:
        position = Key((Lit(kind.cls._fields.index(name)),))
        return index(w, base, position)
    if name in node.fields:
        return Attr(atom, name), node.fields[name]
    found = inspect.getattr_static(kind.cls, name, None)
    if isinstance(found, property) and found.fget is not None:
        return calls.call_python(w, found.fget, (base,), ())
    if found is not None and not callable(found) and not hasattr(found, "__get__"):
        return w.read(_class_attribute(w, kind.cls, name, found))
    raise NotResolved(f"`{kind.cls.__name__}` has no attribute `{name}` here", w.span, "check the attribute")


def _class_attribute(w: Walker, cls: type, name: str, value: Any) -> Ext:
    key = (id(w.statement), "class", name)
    if key not in w.instance.backs:
        w.instance.backs[key] = Ext(f"{cls.__name__}.{name}", value, ("object", name), cls)
    result: Ext = w.instance.backs[key]
    return result


def make(w: Walker, expr: Make) -> tuple[Expr, Kind]:
    """A new container."""
    read = [w.read(a) for a in expr.items]
    box = Box(expr.cls, w.fresh("make")(()))
    keys = expr.keys if expr.keys is not None else tuple(range(len(read)))
    for key, (_, kind) in zip(keys, read, strict=True):
        box.region.put(key, kind)
    return Make(expr.cls, tuple(a for a, _ in read), expr.keys), box


def popped(w: Walker, kind: Kind) -> Kind:
    """The kind of what ``pop`` takes off a list."""
    if isinstance(kind, Bottom):
        return BOTTOM
    if not (isinstance(kind, Box) and kind.cls is list):
        raise UnsupportedSyntax("pop from something that is not a list", w.span, "use a list")
    from tangentx.analysis.infer import demand_own

    demand_own(w, kind)
    kind.region.mark("written", "open", "resized")
    item = kind.region.any()
    if isinstance(item, Top):
        raise located(item, w.span)
    return item


def _identity(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    a, b = kinds
    if isinstance(a, Bottom) or isinstance(b, Bottom):
        return Lit(None), BOTTOM
    if isinstance(a, Obj) and isinstance(b, Obj):
        return Lit(a == b), Num(bool, value=a == b)
    none = Obj(None)
    if none in (a, b) and not isinstance(a, Top) and not isinstance(b, Top):
        return Lit(False), Num(bool, value=False)
    return None


def _difference(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    same = _identity(w, args, kinds)
    if same is None or isinstance(same[1], Bottom):
        return same
    assert isinstance(same[1], Num)
    return Lit(not same[1].value), Num(bool, value=not same[1].value)


def _isinstance(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    a, b = kinds
    classes = b.value if isinstance(b, Obj) else None
    if isinstance(b, Box):
        items = [k.value for k in b.region.root().fields.values() if isinstance(k, Obj)]
        classes = tuple(items)
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
    if isinstance(kind, Box) and issubclass(kind.cls, list | tuple):
        node = kind.region.root()
        if count is None or (not node.open and not node.resized and len(node.fields) == count):
            return atom, kind
        if not node.open and w.program.final:
            raise NotResolved(f"{count} names take {len(node.fields)} values", w.span, "give each value one name")
    elif isinstance(kind, Box) and kind.cls is dict and count is None:
        keys = tuple(Lit(k) for k in kind.region.root().fields)
        if not kind.region.root().open and not kind.region.root().written:
            return make(w, Make(tuple, keys))
    elif not isinstance(kind, Arr) or kind.rank == 0:
        if not (isinstance(kind, Some) and kind.cls in (range, str)):
            raise UnsupportedSyntax(f"iteration over {describe(kind)}", w.span, "iterate over a range, array, list or tuple")
    if count is None:
        return atom, kind
    from tangentx import arrays

    return operation(w, arrays.counted, (args[0], args[1]))


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
        return None if not varied(kind) and not isinstance(kind, Box) else _refuse_copy(w, cls)

    return build


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


_SPECIAL: dict[Any, Callable[[Walker, tuple[Atom, ...], list[Kind]], tuple[Expr, Kind] | None]] = {
    operator.is_: _identity,
    operator.is_not: _difference,
    builtins.isinstance: _isinstance,
    builtins.len: _len,
    sequence: _sequence,
    operator.add: _joined,
    list: _listed(list),
    tuple: _listed(tuple),
}

__all__ = ["attribute", "index", "is_basic", "item_kind", "join", "operation", "walk"]
