"""Memory as passes see it: regions, what statements and calls read and write, and what may be repeated."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import BOTTOM, Arr, Box, Kind, Region, Top
from tangentx.analysis.types.kinds import reached as reached_regions
from tangentx.analysis.types.primitives import has_effect, makes_new
from tangentx.analysis.types.selection import is_basic
from tangentx.common.branch_facts import Side
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Atom,
    Attr,
    Call,
    Delete,
    Expr,
    Index,
    Link,
    Lit,
    Make,
    Op,
    Pop,
    Raise,
    Slice,
    Statement,
    Store,
    Var,
)
from tangentx.ir.rewrite import map_expr
from tangentx.ir.walk import atoms, key_atoms, statement_atoms, statements
from tangentx.optimise.facts.unit import Unit

# Memory as passes see it: the regions of values, and reads and writes of their content.

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


# Memory effects of statements, calls included: the storage that they read and write.
#
# An array that they make is told from others that its memory may be taken for, where it is read by the name that it
# was bound to.


@dataclass(eq=False)
class Effects:
    """Regions by what is done to them. Those `written` are `replaced` where it is not by contributions to arrays alone.
    `acts`: something else happens that the world can see, or nobody knows where it is written to."""

    read: set[Region] = field(default_factory=set)
    written: set[Region] = field(default_factory=set)
    replaced: set[Region] = field(default_factory=set)
    acts: bool = False


def effects(program: Program, unit: Unit, block: Iterable[Statement]) -> Effects:
    """What the statements, those of their blocks and of the functions that they call do to memory."""
    found = Effects()
    seen = set[Link]()
    every = [s for each in block for s in statements((each,))]
    here = _new(unit, every)
    todo = [(unit, s, here) for s in every]
    while todo:
        of, s, new = todo.pop()
        if isinstance(s, Assign) and isinstance(s.value, Call):
            link = s.value.link
            if link not in seen:
                seen.add(link)
                called: Mapping[Link, Unit] = unit.others
                callee = called[link]
                made = _new(callee, callee.statements())
                todo += [(callee, inner, made) for inner in callee.statements()]
        else:
            _Doing(program, of, found, new).add(s)
    return found


NOTHING = Lit(None)


def _new(unit: Unit, every: Iterable[Statement]) -> frozenset[Var]:
    """Names that are bound once in the function, in one of the statements, to an array that an operation makes. A new
    container is none: what lies in it may be old."""
    made = unit.counts()[1]
    bound = [s for s in every if isinstance(s, Assign) and made[s.target] == 1]
    arrays = [s for s in bound if isinstance(unit.kinds.get(s.target), Arr)]
    return frozenset(Var(s.target) for s in arrays if isinstance(s.value, Op) and makes_new(s.value.fn))


class _Doing:
    """Adds what single statements of one function do."""

    def __init__(self, program: Program, unit: Unit, found: Effects, new: frozenset[Var]) -> None:
        self.program, self.unit, self.found, self.new = program, unit, found, new

    def add(self, s: Statement) -> None:
        """Adds what the statement does by itself."""
        match s:
            case Assign():
                self._binding(s)
            case Store() | Accumulate():
                self._read(key_atoms(s.key))
                kind = self.unit.kind(self.program, s.base)
                if isinstance(kind, Arr):
                    self._read((s.value,))
                adds = isinstance(s, Accumulate) and s.by is operator.add and isinstance(kind, Arr) and kind.sure
                self._written(s.base, replaced=not adds)
            case Append() | Delete():
                self._written(s.base)
            case Raise():
                self._read(statement_atoms(s))

    def _binding(self, s: Assign) -> None:
        target = self.unit.kinds.get(s.target, BOTTOM)
        value = map_expr(s.value, lambda a: NOTHING if a in self.new else a)
        self.found.read.update(contents(self.program, self.unit, value, target))
        if isinstance(s.value, Pop):
            self._written(s.value.base)
        self.found.acts = self.found.acts or has_effect(s.value)

    def _read(self, atoms: Iterable[Atom]) -> None:
        kinds = [self.unit.kind(self.program, a) for a in atoms if not isinstance(a, Lit) and a not in self.new]
        self.found.read.update(reach(kinds))

    def _written(self, base: Atom, replaced: bool = True) -> None:
        node = region(self.unit.kind(self.program, base))
        if node is None:
            self.found.acts = True
            return
        self.found.written.add(node)
        if replaced:
            self.found.replaced.add(node)


# Which operations give the same result when repeated, by the memory that they read.
#
# A write looks only at those that no write before it has made stale, on the way through the program that is in hand.
# What is known on a side of a branch, or in a trip of a loop, begins with what is known where that begins (`Side`).

Facts: TypeAlias = Mapping[str, Any]
_Fresh: TypeAlias = dict[Region, dict[str, None]]


class Unwritten:
    """The names of operations that lie in memory that is written somewhere, and where each lies, on whatever way.

    For the facts in hand, and those that they began with, it has those that may be other than stale; perhaps more.
    """

    def __init__(self) -> None:
        self._regions: dict[str, dict[Region, None]] = {}
        self._found: list[tuple[Facts, _Fresh]] = []

    def note(self, facts: Facts, name: str, regions: list[Region]) -> None:
        """Notes that the operation that is now known of `name` lies in these regions."""
        if regions or name in self._regions:
            self._regions.setdefault(name, {}).update(dict.fromkeys(regions))
            _add(self._of(facts), name, self._regions[name])

    def entered(self, facts: Facts, names: Iterable[str]) -> None:
        """Notes that something else may be known of these names among `facts`."""
        again = [name for name in names if name in self._regions]
        found = self._of(facts) if again else {}
        for name in again:
            _add(found, name, self._regions[name])

    def taken(self, facts: Facts, where: Region | None) -> list[str]:
        """What lies in a region, None: in any, and may be other than stale: nothing of it is from now on."""
        if not self._regions:
            return []
        found = self._of(facts)
        parts = [part for part in found if where is None or part.root() is where]
        return list(dict.fromkeys(name for part in parts for name in found.pop(part)))

    def _of(self, facts: Facts) -> _Fresh:
        while self._found and self._found[-1][0] is not facts and not _begins(self._found[-1][0], facts):
            self._found.pop()
        if not self._found or self._found[-1][0] is not facts:
            before = self._of(facts.before) if type(facts) is Side else None
            found = self._everything() if before is None else {part: dict(names) for part, names in before.items()}
            self._found.append((facts, found))
        return self._found[-1][1]

    def _everything(self) -> _Fresh:
        found: _Fresh = {}
        for name, regions in self._regions.items():
            _add(found, name, regions)
        return found


def _add(found: _Fresh, name: str, regions: Iterable[Region]) -> None:
    for each in regions:
        found.setdefault(each, {})[name] = None


def _begins(before: Facts, facts: Facts) -> bool:
    """Whether the facts are those of a side of a branch, or of one in it, where `before` is known at its beginning."""
    while type(facts) is Side and facts is not before:
        facts = facts.before
    return facts is before
