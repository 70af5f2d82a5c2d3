"""Which arrays of a function certainly have equal shapes: shapes are numbered, and equal numbers are equal shapes."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from tangentx import arrays
from tangentx.analysis.kinds import Arr, Num
from tangentx.analysis.program import Program
from tangentx.ir.nodes import Assign, Atom, Attr, Expr, Op, Statement, Var
from tangentx.ir.walk import atoms
from tangentx.optimise.flow import Flow, Site
from tangentx.optimise.unit import Unit

Shape: TypeAlias = object
NUMBER: Shape = "number"

_KEEPING: tuple[Callable[..., Any], ...] = (
    np.zeros_like, np.ones_like, np.conj, np.real, np.copy, operator.neg, operator.pos, operator.abs, abs,
    arrays.zero, arrays.real_zero, arrays.zeros_as, arrays.clone, arrays.entry_copy,
)  # fmt: skip
_TOGETHER: tuple[Callable[..., Any], ...] = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, np.where,
    arrays.guarded, arrays.ratio, arrays.quotient, arrays.ratio_or_zero, arrays.power_slope,
)  # fmt: skip


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
        self._readers: dict[str, set[str]] = {}
        self._placed: dict[Site, set[str]] = {}
        self.env = {p.name: Known(("param", p.name)) for p in unit.function.params}

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
        """Notes the shape of what is bound."""
        if not isinstance(s, Assign):
            return
        shape, zero = self._shape_of(s.value), self.is_zero(s.value)
        self.kill(s.target)
        assert self.env is not None
        if shape is None:
            shape = ("made", self.site)
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

    def _shape_of(self, value: Expr) -> Shape:
        if isinstance(value, Var):
            return self.shape(value)
        if isinstance(value, Attr) and value.name == "shape":
            return _of(self._of_array(value.base))
        if not isinstance(value, Op) or not value.args or value.kwargs:
            return None
        fn, args = value.fn, value.args
        first = self._of_array(args[0])
        if fn is np.shape and len(args) == 1:
            return _of(first)
        if fn in (arrays.unbroadcast, arrays.spread):
            return self._of_array(args[1])
        if fn is np.full_like and len(args) == 2:
            return first
        if fn is arrays.unreduce or fn in (np.full, np.zeros):
            given = self.shape(args[1] if fn is arrays.unreduce else args[0])
            return given[1] if isinstance(given, tuple) and given[0] == "shape of" else None
        unary = isinstance(fn, np.ufunc) and fn.nin == fn.nout == 1 and fn.signature is None
        if (unary or fn in _KEEPING) and len(args) == 1:
            return first
        binary = isinstance(fn, np.ufunc) and fn.nin == 2 and fn.nout == 1 and fn.signature is None
        return self._together(args) if (binary and len(args) == 2) or fn in _TOGETHER else None

    def _of_array(self, atom: Atom) -> Shape:
        """The number of the shape of an array or number; a list may grow, so it has none."""
        return self.shape(atom) if isinstance(self.unit.kind(self.program, atom), Arr | Num) else None

    def _together(self, args: tuple[Atom, ...]) -> Shape:
        """The shape of operands that are broadcast together, where all but numbers have the same one."""
        found = [self._of_array(a) for a in args if not isinstance(self.unit.kind(self.program, a), Num)]
        return found[0] if found and all(shape == found[0] for shape in found) else None

    def merge(self, a: dict[str, Known], b: dict[str, Known], site: Site) -> dict[str, Known]:
        """Names whose shapes were equal on each way have equal shapes after it."""
        result: dict[str, Known] = {}
        first: dict[tuple[Shape, Shape], Shape] = {}
        for name, left in a.items():
            right = b.get(name)
            if right is None:
                continue
            shape = left.shape
            if left.shape is None or right.shape is None:
                shape = None
            elif left.shape != right.shape or _holds(left.shape, site):
                shape = first.setdefault((left.shape, right.shape), ("met", site, name))
            result[name] = Known(shape, left.expr if left.expr is right.expr else None, left.zero and right.zero)
            if shape is not left.shape:
                self._index(name, result[name])
        return result


def _of(shape: Shape) -> Shape:
    return None if shape is None else ("shape of", shape)


@functools.lru_cache(4096)
def _sites(shape: Shape) -> frozenset[Site]:
    """The places that a number of a shape names."""
    if not isinstance(shape, tuple):
        return frozenset()
    return frozenset(shape[1:]).union(*map(_sites, shape[1:]))


def _holds(shape: Shape, site: Site) -> bool:
    return isinstance(shape, tuple) and site in _sites(shape)


def is_array(kind: object) -> bool:
    """Whether values of the kind certainly are arrays."""
    return isinstance(kind, Arr) and not kind.loose
