"""Models of Python's standard library: `collections`, `copy`, `itertools`."""

from __future__ import annotations

import builtins
import collections
import copy
import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer import opaque_calls
from tangentx.analysis.infer.arguments import Misfit, Named
from tangentx.analysis.infer.containers import expanded
from tangentx.analysis.infer.functions import external
from tangentx.analysis.infer.objects import construct
from tangentx.analysis.infer.special_methods import defines, is_object
from tangentx.analysis.library.out_argument import let
from tangentx.analysis.types.kinds import BOTTOM, Arr, Bottom, Box, Kind, Region, Some, describe
from tangentx.analysis.types.primitives import hashable
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.nodes import Assign, Atom, Attr, Block, Expr, Lit, Make, Method, Op, Var, sequence

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


# Classes of Python's `collections`, and what represents them inside a derivative.

_NAMES = "all any dict enumerate list max min set sorted sum tuple"
_DOUBLES: dict[Any, type] = {collections.deque: arrays.Deque, collections.defaultdict: arrays.DefaultDict}
_OVER_ITEMS = frozenset((sequence, *(getattr(builtins, name) for name in _NAMES.split())))
_ORIGINALS = {double: original for original, double in _DOUBLES.items()}


def made(w: Walker, cls: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind] | None:
    """An object of what stands for the class; None for a class that nothing stands for."""
    double = _DOUBLES.get(cls) if isinstance(cls, type) else None
    return construct(w, double, args, kwargs) if double is not None else None


def is_double(kind: Kind) -> bool:
    """Whether values of the kind stand for objects of another class."""
    return isinstance(kind, Box) and kind.cls in _ORIGINALS


def original(cls: Any) -> Any:
    """The class that the program means."""
    return _ORIGINALS.get(cls, cls)


def listed(w: Walker, fn: Any, args: tuple[Atom, ...]) -> tuple[Atom, ...] | None:
    """The arguments of a function that goes over the items of what it is given, with lists of them; None for any
    other function, or where no such object is given."""
    double = [is_double(w.read(a)[1]) for a in args]
    if not any(double) or not (fn in hashable(_OVER_ITEMS, fn) or (getattr(fn, "__module__", None) or "") == "numpy"):
        return None
    return tuple(_list(w, a) if is_one else a for a, is_one in zip(args, double, strict=True))


def _list(w: Walker, atom: Atom) -> Var:
    return let(w, ("listed", atom), Method(atom, "listed", ()))


def table_of(w: Walker, atom: Atom) -> Atom:
    """The dict inside what stands for one of another class; any other value itself."""
    kind = w.read(atom)[1]
    held = isinstance(kind, Box) and kind.cls is arrays.DefaultDict
    return let(w, ("table", atom), Attr(atom, "table")) if held else atom


# `copy.copy`, `copy.deepcopy` and `dataclasses.replace`, expanded into explicit copies.


def _shallow(w: Walker, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """``copy.copy(x)``: a new object of the same items."""
    (x,) = args
    _, kind = w.read(x)
    if isinstance(kind, Box) and kind.cls in (list, dict):
        return w.walk(Op(list, (x,)) if kind.cls is list else Method(x, "copy", ()))
    if isinstance(kind, Box) and is_object(kind) and not issubclass(kind.cls, tuple):
        if defines(w, kind, "__copy__"):
            return w.walk(Method(x, "__copy__", ()))
        return _same_attributes(w, x, kind)
    return _plain(w, copy.copy, x, kind)


def _deep(w: Walker, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """``copy.deepcopy(x)``, of a structure that holds nothing twice."""
    if len(args) != 1 or kwargs:
        raise UnsupportedSyntax("deepcopy with a memo is not differentiated", w.span, "give it the object alone")
    _, kind = w.read(args[0])
    if isinstance(kind, Box):
        if defines(w, kind, "__deepcopy__"):
            raise UnsupportedSyntax(
                f"`__deepcopy__` of `{kind.cls.__name__}` is not differentiated", w.span, "call a method of your own"
            )
        return expanded(w, ("deep", args[0], _may_repeat(kind)), lambda: _copied_whole(w, args[0], _may_repeat(kind)))
    return _plain(w, copy.deepcopy, args[0], kind)


def _copied_whole(w: Walker, x: Atom, checked: bool) -> Block:
    check = (Assign(w.temporary(), Op(arrays.apart, (x,)), w.span),) if checked else ()
    return (*check, Assign(w.temporary(), Op(arrays.entry_copy, (x,)), w.span))


def _may_repeat(kind: Kind, met: set[Region] | None = None) -> bool:
    """Whether an array or container may stand twice in what a value of the kind holds."""
    if not isinstance(kind, Arr | Box):
        return False
    met = set() if met is None else met
    node = kind.region.root()
    if node in met:
        return True
    met.add(node)
    if isinstance(kind, Arr):
        return False
    items = (*node.fields.values(), node.elt)
    many = node.open and any(isinstance(item, Arr | Box) for item in items)
    return many or any(_may_repeat(item, met) for item in items)


def _plain(w: Walker, fn: Any, x: Atom, kind: Kind) -> tuple[Expr, Kind]:
    """Of an array, of what never changes, and of what is not known."""
    if isinstance(kind, Arr):
        return w.walk(Op(np.copy, (x,)))
    if isinstance(kind, Some):
        return opaque_calls.call(w, external(w, fn, fn.__name__), (x,), ())
    return w.read(x)


def _same_attributes(w: Walker, x: Atom, kind: Box) -> tuple[Expr, Kind]:
    node = kind.region.root()
    if node.open:
        raise UnsupportedSyntax(
            f"a copy of {describe(kind)} whose attributes vary is not differentiated", w.span, "make a new object"
        )
    names = tuple(node.fields)

    def build() -> Block:
        taken = tuple(Assign(w.temporary(), Attr(x, name), w.span) for name in names)
        made = Make(kind.cls, tuple(Var(s.target) for s in taken), names)
        return (*taken, Assign(w.temporary(), made, w.span))

    return expanded(w, ("copied", x, names), build)


def _replaced(w: Walker, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """``dataclasses.replace(x, name=value)``: made anew by its class, the other fields from x."""
    (x,) = args
    _, kind = w.read(x)
    if isinstance(kind, Bottom):
        return Lit(None), BOTTOM
    if not (isinstance(kind, Box) and dataclasses.is_dataclass(kind.cls)):
        raise Misfit("replace() should be called on dataclass instances")
    given = dict(kwargs)
    names = [f.name for f in dataclasses.fields(kind.cls) if f.init and f.name not in given]
    tag = ("replaced", x, tuple(names))
    w.expand(tag, lambda: tuple(Assign(w.temporary(), Attr(x, name), w.span) for name in names))
    taken = [s.target for s in w.instance.expansions[id(w.statement), tag] if isinstance(s, Assign)]
    kept = tuple((name, Var(target)) for name, target in zip(names, taken, strict=True))
    return construct(w, kind.cls, (), (*kept, *kwargs))


WRITTEN = ((copy.copy, _shallow), (copy.deepcopy, _deep), (dataclasses.replace, _replaced))
"""What writes each of these calls out."""


# Functions of itertools and math on finite containers: bodies like those in `container_method_bodies`.


def product(iterable: Any, start: Any = 1) -> Any:
    """``math.prod(iterable, start=start)``"""
    total = start
    for value in iterable:
        total = total * value
    return total


def joined(rows: Any, start: Any) -> Any:
    """``sum(rows, start)`` of lists or tuples"""
    total = start
    for row in rows:
        total = total + row
    return total


def from_keys(iterable: Any, value: Any = None) -> Any:
    """``dict.fromkeys(iterable, value)``"""
    found = {}
    for key in iterable:
        found[key] = value
    return found


def shortest(rows: Any) -> Any:
    """The length of the shortest of `rows`; 0 where there are none."""
    least = 0
    for place in range(len(rows)):
        count = len(rows[place])
        if place == 0 or count < least:
            least = count
    return least


def chained(first: Any, second: Any) -> Any:
    """``list(itertools.chain(first, second))``"""
    found = []
    for value in first:
        found.append(value)
    for value in second:
        found.append(value)
    return found


def chained_all(iterables: Any) -> Any:
    """``list(itertools.chain.from_iterable(iterables))``"""
    found = []
    for items in iterables:
        for value in items:
            found.append(value)
    return found


def sliced(values: Any, stop: Any) -> Any:
    """``list(itertools.islice(values, stop))``"""
    return list(values)[:stop]


def sliced_from(values: Any, start: Any, stop: Any) -> Any:
    """``list(itertools.islice(values, start, stop))``"""
    return list(values)[start:stop]


def repeated(value: Any, times: Any) -> Any:
    """``list(itertools.repeat(value, times))``"""
    found = []
    for _ in range(times):
        found.append(value)
    return found


def mapped_apart(fn: Any, values: Any) -> Any:
    """``list(itertools.starmap(fn, values))``"""
    found = []
    for items in values:
        found.append(fn(*items))
    return found


def crossed(first: Any, second: Any) -> Any:
    """``list(itertools.product(first, second))``"""
    found = []
    for a in first:
        for b in second:
            found.append((a, b))
    return found


def crossed_by_three(first: Any, second: Any, third: Any) -> Any:
    """``list(itertools.product(first, second, third))``"""
    found = []
    for a in first:
        for b in second:
            for c in third:
                found.append((a, b, c))
    return found


def paired(values: Any) -> Any:
    """``list(itertools.pairwise(values))``"""
    found = []
    kept = list(values)
    for k in range(len(kept) - 1):
        found.append((kept[k], kept[k + 1]))
    return found


def combined(values: Any) -> Any:
    """``list(itertools.combinations(values, 2))``"""
    found = []
    kept = list(values)
    for i in range(len(kept)):
        for j in range(i + 1, len(kept)):
            found.append((kept[i], kept[j]))
    return found


def combined_by_three(values: Any) -> Any:
    """``list(itertools.combinations(values, 3))``"""
    found = []
    kept = list(values)
    for i in range(len(kept)):
        for j in range(i + 1, len(kept)):
            for k in range(j + 1, len(kept)):
                found.append((kept[i], kept[j], kept[k]))
    return found


def ordered(values: Any) -> Any:
    """``list(itertools.permutations(values, 2))``"""
    found = []
    kept = list(values)
    for i in range(len(kept)):
        for j in range(len(kept)):
            if i != j:
                found.append((kept[i], kept[j]))
    return found


def accumulated(values: Any) -> Any:
    """``list(itertools.accumulate(values))``"""
    found = []
    kept = list(values)
    if len(kept) > 0:
        total = kept[0]
        found.append(total)
        for k in range(1, len(kept)):
            total = total + kept[k]
            found.append(total)
    return found


def accumulated_by(values: Any, fn: Any) -> Any:
    """``list(itertools.accumulate(values, fn))``"""
    found = []
    kept = list(values)
    if len(kept) > 0:
        total = kept[0]
        found.append(total)
        for k in range(1, len(kept)):
            total = fn(total, kept[k])
            found.append(total)
    return found
