"""Memory as passes see it: the regions of values, and reads and writes of their content."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, Box, Kind, Region, Top
from tangentx.analysis.types.kinds import reached as reached_regions
from tangentx.analysis.types.selection import is_basic
from tangentx.ir.nodes import (
    Atom,
    Attr,
    Expr,
    Index,
    Lit,
    Make,
    Op,
    Pop,
    Slice,
    Var,
)
from tangentx.ir.walk import atoms, key_atoms
from tangentx.optimise.facts.unit import Unit

# Positions of the arguments of which an operation asks the layout alone, not what stands in the arrays.
_LAYOUT: dict[Any, tuple[int, ...]] = {
    np.shape: (0,),
    np.ndim: (0,),
    np.size: (0,),
    builtins.len: (0,),
    np.zeros_like: (0,),
    np.ones_like: (0,),
    np.empty_like: (0,),
    np.full_like: (0,),
    arrays.zero: (0,),
    arrays.zeros_as: (0,),
    arrays.unbroadcast: (1,),
    arrays.alike: (1,),
    arrays.of_rule: (1, 2),
    arrays.shares: (0, 1),
    arrays.finish: (1,),
}
_LAYOUT_ATTRIBUTES = ("shape", "ndim", "size", "dtype", "strides", "itemsize", "nbytes")
# Always views of an array: whoever reads the result reads the same region.
_VIEWS: tuple[Any, ...] = (np.transpose, np.swapaxes, np.moveaxis, np.expand_dims)


def region(kind: Kind) -> Region | None:
    """The region that a value of the kind refers to; None for what is no array or container."""
    return kind.region.root() if type(kind) is Arr or type(kind) is Box else None


def reach(kinds: Iterable[Kind], *, arrays_too: bool = True) -> Sequence[Region]:
    """Every region that values of the kinds reach, each once; without `arrays_too` the containers alone."""
    wanted = [kind for kind in kinds if type(kind) is Box or (arrays_too and type(kind) is Arr)]
    if not wanted:
        return ()
    if len(wanted) == 1 and type(wanted[0]) is Arr:
        return (wanted[0].region.root(),)
    found: dict[Region, None] = {}
    while wanted:
        kind = wanted.pop()
        node = kind.region.root()
        if node not in found:
            found[node] = None
            if type(kind) is Box:
                inner = (*node.fields.values(), node.elt)
                wanted += [k for k in inner if type(k) is Box or (arrays_too and type(k) is Arr)]
    return tuple(found)


def outside(program: Program) -> frozenset[Region]:
    """The memory that others can reach: that of objects from outside, and what the program has put into them."""
    return frozenset(reached_regions(kind for _, kind in program.externals.values()))


def is_opaque(units: Sequence[Unit]) -> bool:
    """Whether some container holds things without a common kind, so that what it refers to is not known."""
    kinds = [kind for unit in units for kind in (unit.result, *unit.kinds.values())]
    return any(isinstance(k, Top) for node in reach(kinds) for k in (*node.fields.values(), node.elt))


def layout_of(fn: Callable[..., Any]) -> tuple[int, ...]:
    """Positions at which `fn` asks for the layout of its argument alone."""
    try:
        return _LAYOUT.get(fn, ())
    except TypeError:
        return ()


def contents(program: Program, unit: Unit, expr: Expr, target: Kind) -> Iterator[Region]:
    """The regions whose content is read by binding `expr`, a value of kind `target`; a `Call` reads by its callee."""
    match expr:
        case Op(fn=fn, args=args, kwargs=kwargs):
            layout = layout_of(fn)
            for i, atom in enumerate((*args, *(a for _, a in kwargs))):
                kind = unit.kind(program, atom)
                viewed = i == 0 and fn in _VIEWS and region(kind) is region(target)
                yield from reach([kind], arrays_too=not viewed and (i >= len(args) or i not in layout))
        case Index(base=base, key=key):
            kind = unit.kind(program, base)
            parts = tuple(() if isinstance(p, Slice) else unit.kind(program, p) for p in key.parts)
            yield from reach(unit.kind(program, a) for a in key_atoms(key))
            node = region(kind)
            if node is not None and not (isinstance(kind, Arr) and region(target) is node and is_basic(parts)):
                yield node
        case Attr(base=base, name=name):
            node = region(unit.kind(program, base))
            if node is not None and name not in _LAYOUT_ATTRIBUTES and region(target) is not node:
                yield node
        case Pop(base=base):
            node = region(unit.kind(program, base))
            assert node is not None
            yield node


def whole(program: Program, unit: Unit, expr: Expr) -> Iterator[Region]:
    """The containers that `expr` reads as a whole: it may take any item, by position, or count them."""
    if isinstance(expr, Op):
        yield from reach((unit.kind(program, a) for a in atoms(expr)), arrays_too=False)
    elif isinstance(expr, Index):
        yield from reach((unit.kind(program, a) for a in key_atoms(expr.key)), arrays_too=False)


def slot(program: Program, unit: Unit, expr: Expr) -> tuple[Region, int] | None:
    """The tuple and the position that ``t[2]`` reads; None for any other expression."""
    if not isinstance(expr, Index) or expr.key.many or not isinstance(expr.key.parts[0], Lit):
        return None
    kind, key = unit.kind(program, expr.base), expr.key.parts[0].value
    if isinstance(kind, Box) and kind.cls is tuple and type(key) is int and key >= 0:
        return kind.region.root(), key
    return None


def is_tuple(expr: Expr) -> bool:
    """Whether the expression makes a plain tuple, which nothing ever writes."""
    return isinstance(expr, Make) and expr.cls is tuple


def reached(units: Sequence[Unit]) -> list[Unit]:
    """The functions that are called, the entries first."""
    found = list(entries(units))
    for unit in found:
        links = {call.link for _, call in unit.calls()}
        found.extend(other for other in units if other.link in links and other not in found)
    return found


def names(found: Iterable[Atom]) -> Iterator[str]:
    """The variables among the atoms."""
    return (atom.name for atom in found if type(atom) is Var)


def entries(units: Sequence[Unit]) -> tuple[Unit, ...]:
    """The functions that are called from outside, whose signatures and results stay."""
    return tuple(unit for unit in units if unit.outer)
