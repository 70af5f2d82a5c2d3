"""Which arrays of a function certainly have equal shapes.

A shape is a tuple of lengths where the rank is known (see `dims`), else a tag; equal ones stand for equal shapes. The
tag of a length or shape that is not known names the place where it came about.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from tangentx.analysis.kinds import Arr, Num
from tangentx.analysis.program import Program
from tangentx.ir.nodes import Append, Assign, Atom, Expr, Op, Pop, Statement, Var
from tangentx.ir.walk import atoms
from tangentx.optimise.dims import NUMBER, Lengths, Shape
from tangentx.optimise.flow import Flow, Site
from tangentx.optimise.shaping import Shaper
from tangentx.optimise.tapes import Tapes
from tangentx.optimise.unit import Unit


class Known(NamedTuple):
    """What is known of a name: the number of its shape, the operation it holds the result of, whether it is zero."""

    shape: Shape = None
    expr: Expr | None = None
    zero: bool = False


class Facts(Flow[Known]):
    """Shapes and expressions along the way. A number of a shape names the place where the shape came about."""

    def __init__(self, program: Program, unit: Unit) -> None:
        super().__init__()
        self.program = program
        self.unit = unit
        self._shaper = Shaper(lambda atom: unit.kind(program, atom), self.shape)
        self._tapes = Tapes(unit.body)
        self._readers: dict[str, set[str]] = {}
        self._placed: dict[Site, set[str]] = {}
        params = [p.name for p in unit.function.params]
        self.env = {name: Known(_named(None, unit.kinds.get(name), ("param", name))) for name in params}

    def known(self, atom: Atom) -> Known:
        """What is known of an atom here."""
        fact = self.env.get(atom.name, Known()) if isinstance(atom, Var) and self.env is not None else Known()
        return fact._replace(shape=NUMBER) if isinstance(self.unit.kind(self.program, atom), Num) else fact

    def shape(self, atom: Atom) -> Shape:
        """The number of the atom's shape, None where it is not known."""
        return self.known(atom).shape

    def expr(self, atom: Atom) -> Expr | None:
        """The operation whose result the atom is, of operands that have not been bound anew."""
        return self.known(atom).expr

    def kill(self, name: str) -> None:
        """Forgets `name`, and the expressions that read it."""
        assert self.env is not None
        self.env.pop(name, None)
        for other in self._readers.get(name, ()):
            fact = self.env.get(other)
            if fact is not None and fact.expr is not None and Var(name) in atoms(fact.expr):
                self.env[other] = fact._replace(expr=None)

    def after(self, s: Statement) -> None:
        """Notes the shape of what is bound, or recorded."""
        if isinstance(s, Append) and isinstance(s.base, Var) and isinstance(self.site, tuple):
            self._tapes.append(s.base.name, self.site[0], self._shaper.of(s.value))
        if not isinstance(s, Assign):
            return
        shape, zero = self._shaper.of(s.value), self.is_zero(s.value)
        if isinstance(s.value, Pop) and isinstance(s.value.base, Var):
            shape = self._tapes.popped(s.value.base.name)
        kind = self.unit.kinds.get(s.target)
        self.kill(s.target)
        assert self.env is not None
        if shape is None or (isinstance(shape, Lengths) and None in shape):
            shape = _named(shape, kind, ("made" if self.in_loop else "once", self.site))
            self._retire(self.site)
        pure = isinstance(s.value, Op) and Var(s.target) not in atoms(s.value)
        self.env[s.target] = Known(shape, s.value if pure else None, zero)
        self._index(s.target, self.env[s.target])

    def _index(self, name: str, fact: Known) -> None:
        """Notes under which names and places the fact has to be looked at again; too many do no harm."""
        for site in _sites(fact.shape):
            self._placed.setdefault(site, set()).add(name)
        for atom in atoms(fact.expr) if fact.expr is not None else ():
            if isinstance(atom, Var):
                self._readers.setdefault(atom.name, set()).add(name)

    def is_zero(self, value: Expr) -> bool:
        """Whether the expression is known to be zero."""
        return False

    def _retire(self, site: Site) -> None:
        """Shapes of an earlier visit of the place are not those of this one."""
        assert self.env is not None
        for name in self._placed.get(site, ()):
            fact = self.env.get(name)
            if fact is not None and _holds(fact.shape, site):
                self.env[name] = fact._replace(shape=None)

    def merge(self, a: dict[str, Known], b: dict[str, Known], site: Site) -> dict[str, Known]:
        """Names whose shapes were equal on each way have equal shapes after it."""
        result: dict[str, Known] = {}
        first: dict[tuple[Shape, Shape], Shape] = {}
        for name, left in a.items():
            right = b.get(name)
            if right is None:
                continue
            shape = _met(left.shape, right.shape, site, first, name)
            result[name] = Known(shape, left.expr if left.expr is right.expr else None, left.zero and right.zero)
            if shape is not left.shape:
                self._index(name, result[name])
        return result


def _named(shape: Shape, kind: object, tag: tuple[Shape, ...]) -> Shape:
    """The shape with a tag for each length that is not known."""
    if shape is None and isinstance(kind, Arr) and kind.rank is not None and not kind.loose:
        shape = Lengths((None,) * kind.rank)
    if not isinstance(shape, Lengths):
        return tag
    return Lengths((*tag, axis) if n is None else n for axis, n in enumerate(shape))


def _met(left: Shape, right: Shape, site: Site, first: dict[tuple[Shape, Shape], Shape], name: object) -> Shape:
    """What stands for two shapes, or lengths, where two ways meet."""
    if left is None or right is None:
        return None
    if isinstance(left, Lengths) and isinstance(right, Lengths) and len(left) == len(right):
        pairs = enumerate(zip(left, right, strict=True))
        return Lengths(_met(a, b, site, first, (name, axis)) for axis, (a, b) in pairs)
    if left != right or _holds(left, site):
        return first.setdefault((left, right), ("met", site, name))
    return left


@functools.lru_cache(4096)
def _sites(shape: Shape) -> frozenset[Site]:
    """The places that a number of a shape names."""
    if not isinstance(shape, tuple):
        return frozenset()
    parts = shape if isinstance(shape, Lengths) else shape[1:]
    return frozenset(parts).union(*map(_sites, parts))


def _holds(shape: Shape, site: Site) -> bool:
    return isinstance(shape, tuple) and site in _sites(shape)


def is_array(kind: object) -> bool:
    """Whether values of the kind certainly are arrays."""
    return isinstance(kind, Arr) and not kind.loose
