"""Builtins whose answer depends on kinds: ``is``, ``len``, conversions, and those that inspect objects."""

from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer import assumptions, constant_calls, opaque_calls
from tangentx.analysis.infer.containers import expanded, new_dict
from tangentx.analysis.infer.functions import external, value_class
from tangentx.analysis.infer.sequences import MARKED, joined, listed, repeated
from tangentx.analysis.infer.special_methods import defines, is_object
from tangentx.analysis.library import flat_iterator
from tangentx.analysis.library.container_methods import VIEWED, contains, keys
from tangentx.analysis.library.standard_library import original
from tangentx.analysis.types.kinds import (
    BOTTOM,
    MISSING,
    Arr,
    Bottom,
    Box,
    Either,
    Kind,
    Num,
    Obj,
    Some,
    Top,
    describe,
    holds_itself,
    varied,
)
from tangentx.analysis.types.optional_values import may_be_none
from tangentx.arrays.libraries import library_called
from tangentx.arrays.products import lettered
from tangentx.errors import NotResolved, Span, UnsupportedSyntax
from tangentx.ir.functions import classes_of
from tangentx.ir.nodes import (
    Apply,
    Assign,
    Atom,
    Attr,
    Block,
    Expr,
    Ext,
    If,
    Key,
    Lit,
    Op,
    Store,
    Var,
    is_mapping,
    is_sequence,
    sequence,
    truth,
)

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


# Builtins that inspect objects: `isinstance`, `type`, `hasattr`, `getattr` and the like, answered from kinds.


def _isinstance(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    a, b = kinds
    classes = b.value if isinstance(b, Obj) else None
    if isinstance(b, Box):
        items = [k.value for k in b.region.root().fields.values() if isinstance(k, Obj)]
        classes = tuple(items)
    if isinstance(b, Obj | Box) and not _are_classes(classes):
        return None
    if a == opaque_calls.UNKNOWN or may_be_none(a):
        return Op(builtins.isinstance, tuple(w.read(x)[0] for x in args)), Num(bool)
    if isinstance(a, Box) and len(classes_of(a.cls)) > 1 and classes is not None:
        answers = {issubclass(cls, classes) for cls in classes_of(a.cls)}
        if len(answers) > 1:
            return Op(builtins.isinstance, tuple(w.read(x)[0] for x in args)), Num(bool)
        return Lit(min(answers)), Num(bool, value=min(answers))
    cls = a.type if isinstance(a, Num) else _class_of(a) if isinstance(a, Arr) else original(getattr(a, "cls", None))
    if isinstance(a, Obj):
        cls = type(a.value)
    if isinstance(a, Bottom) or cls is None or classes is None or _either_way(a, cls, classes):
        return (Lit(None), BOTTOM) if isinstance(a, Bottom) else None
    assumptions.asked(w, a)
    answer = issubclass(cls, classes)
    return Lit(answer), Num(bool, value=answer)


def _are_classes(classes: Any) -> bool:
    """Whether these are what `isinstance` takes: classes, unions of them, tuples of both."""
    try:
        issubclass(object, classes)
    except TypeError:
        return False
    return True


def _either_way(kind: Kind, cls: type, classes: Any) -> bool:
    """Whether what may be of several types is of the classes as the one, and not as the other."""
    return any(issubclass(each, classes) != issubclass(cls, classes) for each in types_of(kind))


def types_of(kind: Kind) -> tuple[type, ...]:
    """The types that a number, or what may be an array or a number, may have; empty for all else."""
    if isinstance(kind, Arr):
        cls = _class_of(kind)
        return (cls, kind.dtype.type, bool, int, float, complex) if kind.loose else (cls,)
    return kind.exact if isinstance(kind, Num) else ()


def _class_of(kind: Arr) -> type:
    """The class of an array, which its library has."""
    cls: type = library_called(kind.library).array
    return cls


def _truth_value(w: Walker, args: tuple[Atom, ...], kinds: list[Kind], fn: Any) -> tuple[Expr, Kind] | None:
    """Asked at run time of what may be None, of an opaque object, and of a container that may hold itself: no sample
    can be made of one."""
    kind = kinds[0] if len(kinds) == 1 else BOTTOM
    plain = is_object(kind) and not any(defines(w, kind, name) for name in ("__bool__", "__len__"))
    boxed = isinstance(kind, Box) and (plain or kind.cls in (list, tuple, dict))
    unsampled = boxed and (may_be_none(kind) or holds_itself(kind))
    return (Op(fn, (w.read(args[0])[0],)), Num(bool)) if unsampled or isinstance(kind, Some) else None


def _hasattr(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    if not isinstance(kinds[0], Box | Some) or len(args) != 2:
        return None
    if isinstance(kinds[0], Box) and isinstance(kinds[1], Obj) and _lacks(w, kinds[0], kinds[1].value):
        return Lit(False), Num(bool, value=False)
    return Op(builtins.hasattr, tuple(w.read(a)[0] for a in args)), Num(bool)


def _lacks(w: Walker, kind: Box, name: Any) -> bool:
    """Whether no object of the kind has the attribute: nothing gives it to one, and its class has none.

    Objects of which some have attributes that others lack have those of them all among the fields.
    """
    classes, node = classes_of(kind.cls), kind.region.root()
    missing = all(w.program.member(cls, known) is MISSING for cls in classes for known in (name, "__getattr__"))
    return missing and is_object(kind) and name not in node.fields and isinstance(node.elt, Bottom)


def _getattr(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    name = kinds[1].value if len(args) > 1 and isinstance(kinds[1], Obj) else None
    if not isinstance(name, str) or len(args) > 3:
        return None
    if len(args) == 2:
        return w.walk(Attr(args[0], name))

    def build() -> Block:
        there, found = w.temporary(), w.temporary()
        taken = (Assign(found, Attr(args[0], name), w.span),)
        return (
            Assign(there, Apply(external(w, builtins.hasattr, "hasattr"), args[:2]), w.span),
            If(Var(there), taken, (Assign(found, args[2], w.span),), w.span),
            Assign(w.temporary(), Var(found), w.span),
        )

    return expanded(w, ("getattr", name), build)


def _setattr(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind]:
    if any(isinstance(kind, Bottom) for kind in kinds):
        return Lit(None), BOTTOM
    name = kinds[1].value if len(args) == 3 and isinstance(kinds[1], Obj) else None
    if not isinstance(name, str):
        raise UnsupportedSyntax(
            "the name of the attribute that is written is not known", w.span, "keep the values in a dict"
        )
    w.expand(("setattr", name), lambda: (Store(args[0], Key((Lit(name),), attribute=True), args[2], w.span),))
    return Lit(None), Obj(None)


def _type(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    if len(args) != 1:
        return None
    kind, types = kinds[0], types_of(kinds[0])
    if len(types) > 1 or may_be_none(kind) or (isinstance(kind, Box) and len(classes_of(kind.cls)) > 1):
        return Op(builtins.type, (w.read(args[0])[0],)), Some(type)
    assumptions.asked(w, kind)
    cls = kind.cls if isinstance(kind, Box) else types[0] if types else None
    return None if cls is None else w.read(external(w, cls, cls.__name__))


def _callable(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    """A number or an array is not; what else is known has a class that says so."""
    kind = kinds[0] if len(kinds) == 1 else BOTTOM
    if isinstance(kind, Num | Arr) and not may_be_none(kind):
        return Lit(False), Num(bool, value=False)
    if value_class(kind) is not None or isinstance(kind, Either):
        return Lit(True), Num(bool, value=True)
    return None


ANSWERS: dict[Any, Any] = {
    builtins.isinstance: _isinstance,
    builtins.callable: _callable,
    **{fn: functools.partial(_truth_value, fn=fn) for fn in (bool, operator.not_, operator.truth)},
    builtins.type: _type,
    builtins.hasattr: _hasattr,
    builtins.getattr: _getattr,
    builtins.setattr: _setattr,
}


# Builtins whose answer depends on kinds: ``is``, ``len``, ``in``, `bool`, conversions to sequences and sets.


def identity(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    """``a is b``, where kinds tell or it is to be asked while the program runs; None where it is an operation."""
    a, b = kinds
    if isinstance(a, Bottom) or isinstance(b, Bottom):
        return Lit(None), BOTTOM
    if isinstance(a, Obj) and isinstance(b, Obj):
        return Lit(a == b), Num(bool, value=a == b)
    if isinstance(a, Either) or isinstance(b, Either):
        return _one_of(w, args, kinds)
    none = Obj(None)
    if none in (a, b) and any(map(may_be_none, kinds)):
        return Op(operator.is_, tuple(w.read(x)[0] for x in args)), Num(bool)
    if isinstance(a, Some) and isinstance(b, Some | Obj) or isinstance(b, Some) and isinstance(a, Some | Obj):
        if none not in (a, b) or opaque_calls.UNKNOWN in (a, b):
            return Op(operator.is_, tuple(w.read(x)[0] for x in args)), Num(bool)
    apart = any(isinstance(k, Obj) for k in (a, b)) and any(isinstance(k, Num | Arr | Box) for k in (a, b))
    if apart or (none in (a, b) and not isinstance(a, Top) and not isinstance(b, Top)):
        return Lit(False), Num(bool, value=False)
    if isinstance(a, Box) and isinstance(b, Box):
        return _one_object(w, args, a, b)
    return None


def _one_object(w: Walker, args: tuple[Atom, ...], a: Box, b: Box) -> tuple[Expr, Kind] | None:
    """Whether two containers or objects are one; None where it cannot be known.

    Objects of a run are those that the program has made; tuples are made again where that is shorter, and what is named
    outside may stand there beside a copy of it.
    """
    if a.cls is not b.cls:
        return Lit(False), Num(bool, value=False)
    atoms = tuple(w.read(x)[0] for x in args)
    if issubclass(a.cls, tuple) or any(isinstance(atom, Ext) for atom in atoms):
        return None
    return Op(operator.is_, atoms), Num(bool)


def _one_of(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind]:
    """Whether what may be one of several functions is another object."""
    values = [k.values if isinstance(k, Either) else (k.value,) if isinstance(k, Obj) else () for k in kinds]
    if not any(a is b for a in values[0] for b in values[1]):
        return Lit(False), Num(bool, value=False)
    return Op(operator.is_, tuple(w.read(x)[0] for x in args)), Num(bool)


def difference(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    """``a is not b``, likewise."""
    same = identity(w, args, kinds)
    if same is None or isinstance(same[1], Bottom):
        return same
    assert isinstance(same[1], Num)
    if same[1].value is MISSING:
        return Op(operator.is_not, tuple(w.read(x)[0] for x in args)), Num(bool)
    return Lit(not same[1].value), Num(bool, value=not same[1].value)


def _truth(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    """The truth of a number is the number itself, in a test."""
    (kind,) = kinds
    return w.read(args[0]) if isinstance(kind, Num | Bottom) else w.walk(Op(bool, args))


def _len(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    kind = kinds[0]
    if isinstance(kind, Box) and isinstance(kind.cls, type) and issubclass(kind.cls, list | tuple | dict):
        node = kind.region.root()
        fixed = not node.open and (issubclass(kind.cls, tuple) or not node.written)
        atom, _ = w.read(args[0])
        if fixed and kind.cls is tuple:  # perhaps of a shape
            assumptions.axes_counted(w)
        return Op(builtins.len, (atom,)), Num(int, value=len(node.fields) if fixed else MISSING)
    return None


def _sequence(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    kind = kinds[0]
    atom, _ = w.read(args[0])
    if isinstance(kind, Bottom):
        return atom, BOTTOM
    if flat_iterator.is_flat(kind):
        return flat_iterator.iterated(w, args[0])
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
        return keys(w, args[0])
    elif not isinstance(kind, Arr) or kind.rank == 0:
        found = constant_calls.items(w, args[0], kind, count, more) if isinstance(kind, Some) else None
        if found is not None:
            return found
        text = isinstance(kind, Obj) and type(kind.value) is str
        if not text and not (isinstance(kind, Some) and kind.cls in (range, str)):
            hint = (
                "iterate over a range, an array, a list, a tuple or a dict; make a list of an iterator where it is made"
            )
            raise UnsupportedSyntax(f"iteration over {describe(kind)} is not differentiated", w.span, hint)
    if count is None:
        return atom, kind

    def build() -> Block:
        return Assign(w.temporary(), Op(arrays.counted, args), w.span), Assign(w.temporary(), args[0], w.span)

    return expanded(w, "counted", build)


def _length_checked(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    return Op(arrays.counted, tuple(w.read(a)[0] for a in args)), Obj(None)


def _contains(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    return contains(w, args[0], args[1])


def _united(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    """``a | b`` of two dicts: a new one of the entries of both."""
    both = all(isinstance(kind, Box) and kind.cls is dict for kind in kinds)
    return new_dict(w, args, ()) if both else None


def _counted(fn: Any) -> Callable[[Walker, tuple[Atom, ...], list[Kind]], tuple[Expr, Kind] | None]:
    """``index`` and ``count``: whole numbers, found by comparing."""

    def asked(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
        return Op(fn, tuple(w.read(a)[0] for a in args)), Num(int)

    return asked


def _is_sequence(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind]:
    return _of_class(w, kinds[0], (list, tuple, range))


def _is_mapping(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind]:
    return _of_class(w, kinds[0], (dict,))


def _of_class(w: Walker, kind: Kind, classes: tuple[type, ...]) -> tuple[Expr, Kind]:
    """Whether a value is of one of the classes, as its kind says."""
    if isinstance(kind, Bottom):
        return Lit(None), BOTTOM
    answer = isinstance(kind, Box | Some) and issubclass(kind.cls, classes)
    return Lit(answer), Num(bool, value=answer)


def _set(cls: type) -> Callable[[Walker, tuple[Atom, ...], list[Kind]], tuple[Expr, Kind] | None]:
    """A set, of what has no derivative; its items are not followed."""

    def build(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
        if any(isinstance(k, Bottom) for k in kinds):
            return Lit(None), BOTTOM
        if any(varied(k) for k in kinds):
            raise UnsupportedSyntax("a set holds values that are differentiated", w.span, "use a list or a tuple")
        return Op(cls, tuple(w.read(a)[0] for a in args)), Some(cls)

    return build


_OF_SETS: dict[Any, type] = {
    builtins.len: int,
    builtins.bool: bool,
    operator.not_: bool,
    **dict.fromkeys((operator.contains, operator.eq, operator.ne), bool),
    **dict.fromkeys((operator.lt, operator.le, operator.gt, operator.ge), bool),
    **dict.fromkeys((operator.or_, operator.and_, operator.sub, operator.xor), set),
}


def kind_with_set(fn: Any, kinds: list[Kind], span: Span) -> Kind:
    """The kind of an operation on sets: what stands in them is not known."""
    found = _OF_SETS.get(fn)
    if found is None:
        hint = "a set can be joined, compared, counted and asked for an item; keep a list beside it for all else"
        raise UnsupportedSyntax("this operation on a set is not differentiated", span, hint)
    first = next(k.cls for k in kinds if isinstance(k, Some) and k.cls in (set, frozenset))
    return Some(first) if found is set else Num(found)


def _ndim(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    kind = kinds[0]
    if isinstance(kind, Arr) and kind.rank is not None and kind.sure:
        assumptions.axes_counted(w)
        atom, _ = w.read(args[0])
        return Op(np.ndim, (atom,)), Num(int, value=kind.rank)
    return (Lit(0), Num(int, value=0)) if isinstance(kind, Num) else None


def _in_complex_memory(wanted: bool) -> Callable[[Walker, tuple[Atom, ...], list[Kind]], tuple[Expr, Kind] | None]:
    """``np.iscomplexobj`` and ``np.isrealobj`` of an array, which its dtype decides, or of a number."""

    def asked(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
        kind = kinds[0]
        if isinstance(kind, Num) and not kind.types and not kind.none:
            answer = issubclass(kind.type, (complex, np.complexfloating)) is wanted
        elif isinstance(kind, Arr) and not kind.dtypes and kind.sure:
            answer = (kind.dtype.kind == "c") is wanted
        else:
            return None
        return Lit(answer), Num(bool, value=answer)

    return asked


def _einsum(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    """A rule may ask for a product of two where there is one operand: the absent one is left out. Axes that are given
    by number, behind the operands, are given by letters."""
    if len(args) == 3 and kinds[2] == Obj(None):
        return w.walk(Op(np.einsum, args[:2]))
    if len(args) < 2 or not isinstance(kinds[0], Num | Arr | Box):
        return None
    axes = [_axes(kind) for kind in (*kinds[1::2], *(kinds[-1:] if len(kinds) % 2 else ()))]
    if any(given is None for given in axes):
        if not any(map(varied, kinds)):
            return None
        raise UnsupportedSyntax("the axes of this product are not known here", w.span, "write the subscripts as text")
    known = [given for given in axes if given is not None]
    count = len(args) // 2
    text = lettered(known[:count], known[count] if len(args) % 2 else None)
    return w.walk(Op(np.einsum, (Lit(text), *args[: 2 * count : 2])))


def _axes(kind: Kind) -> list[Any] | None:
    """The numbers of the axes in a list or tuple, or what stands for further ones; None where they are not known."""
    node = kind.region.root() if isinstance(kind, Box) else None
    if node is None or node.open or node.written or not isinstance(node.elt, Bottom):
        return None
    values = [getattr(item, "value", MISSING) for item in node.fields.values()]
    return values if all(type(value) is int or value is Ellipsis for value in values) else None


def _same_length(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    """Only a list that grows or shrinks, or a dict that is written, has to be looked at while the program runs."""
    kind = kinds[0]
    grows = kind.region.root().resized if isinstance(kind, Box) and kind.cls is list else False
    if isinstance(kind, Box) and kind.cls is dict:
        grows = kind.region.root().written
    if grows:
        return Op(arrays.same_length, tuple(w.read(a)[0] for a in args)), Obj(None)
    return Lit(None), Obj(None)


SPECIAL: dict[Any, Callable[[Walker, tuple[Atom, ...], list[Kind]], tuple[Expr, Kind] | None]] = {
    operator.is_: identity,
    operator.is_not: difference,
    builtins.len: _len,
    truth: _truth,
    sequence: _sequence,
    **MARKED,
    **VIEWED,
    is_sequence: _is_sequence,
    is_mapping: _is_mapping,
    list.index: _counted(list.index),
    list.count: _counted(list.count),
    tuple.index: _counted(tuple.index),
    tuple.count: _counted(tuple.count),
    set: _set(set),
    frozenset: _set(frozenset),
    operator.contains: _contains,
    operator.or_: _united,
    operator.add: joined,
    operator.mul: repeated,
    np.ndim: _ndim,
    np.iscomplexobj: _in_complex_memory(True),
    np.isrealobj: _in_complex_memory(False),
    arrays.lent: constant_calls.given_back,
    arrays.same_length: _same_length,
    arrays.counted: _length_checked,
    np.einsum: _einsum,
    **opaque_calls.OF_OPAQUE,
    **ANSWERS,
    list: listed(list),
    tuple: listed(tuple),
}
