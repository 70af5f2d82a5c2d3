"""Which arrays of a function certainly have equal shapes.

A shape is a tuple of lengths where the rank is known (see `dims`), else a tag; equal ones stand for equal shapes. The
tag of a length or shape that is not known names the visit of the place where it came about.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from tangentx.analysis.kinds import Arr, Box, Kind, Num
from tangentx.analysis.program import Program
from tangentx.ir.nodes import Append, Assign, Atom, Expr, Op, Pop, Statement, Var
from tangentx.ir.walk import atoms
from tangentx.optimise.dims import LEAVES, NUMBER, Length, Lengths, Shape, of_argument, of_leaf
from tangentx.optimise.flow import Flow, Site
from tangentx.optimise.memory import reach
from tangentx.optimise.shaping import Shaper
from tangentx.optimise.tapes import Tapes, is_lasting
from tangentx.optimise.unit import Unit


class Known(NamedTuple):
    """What is known of a name: the number of its shape, the operation it holds the result of, whether it is zero."""

    shape: Shape = None
    expr: Expr | None = None
    zero: bool = False
    alias: bool = False


NOTHING = Known()
NAMED = ("param", "long", "single", "made", "once")


class Facts(Flow[Known]):
    """Shapes and expressions along the way. The tag of a shape names the visit of the place where it came about."""

    def __init__(self, program: Program, unit: Unit) -> None:
        super().__init__()
        self.program = program
        self.unit = unit
        self.count, self.bindings = map(Counter.copy, unit.counts())
        self._shaper = Shaper(lambda atom: unit.kind(program, atom), self.shape, program.axes.rely)
        self._tapes = Tapes(unit)
        self._readers: dict[str, set[str]] = {}
        self._met: set[Site] = set()
        params = [p.name for p in unit.function.params]
        self._again = {name for name, times in self.bindings.items() if times > 1}.union(params) & set(self.bindings)
        self.env = {name: Known(self._given(name)) for name in params}
        for name, other in unit.function.notes.get("alike", {}).items():  # a tangent has the shape of its primal
            if name in self.env and other in self.env:
                self.env[name] = self.env[other]

    def _given(self, name: str) -> Shape:
        """The shape of a parameter."""
        kind, single = self.unit.kinds.get(name), self.unit.axes.get(name)
        if single is not None and isinstance(kind, Arr) and kind.rank is not None:
            return of_argument(name, kind.rank, single)
        if single == () and isinstance(kind, Box) and is_kept(kind):
            return LEAVES
        return _named(None, kind, ("param", name))

    def fact(self, atom: Atom) -> Known:
        """What is known of an atom here, of the shape of an array."""
        return self.env.get(atom.name, NOTHING) if type(atom) is Var and self.env is not None else NOTHING

    def shape(self, atom: Atom) -> Shape:
        """The number of the atom's shape, None where it is not known."""
        return NUMBER if isinstance(self.unit.kind(self.program, atom), Num) else self.fact(atom).shape

    def expr(self, atom: Atom) -> Expr | None:
        """The operation whose result the atom is, of operands that have not been bound anew."""
        fact = self.fact(atom)
        return None if fact.alias else fact.expr

    def held(self, atom: Atom) -> Expr | None:
        """The same, where the result may have another name too."""
        return self.fact(atom).expr

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
        if type(s) is Assign:
            self._bind(s)
        elif type(s) is Append and type(s.base) is Var:
            self._tapes.append(s.base.name, id(self.hand), self._shaper.of(s.value))

    def _bind(self, s: Assign) -> None:
        value, kind = s.value, self.unit.kinds.get(s.target)
        for one, other in self._shaper.agreed(value) if type(value) is Op else ():
            self._equate(one, other)
        zero = self.is_zero(s)
        shape = NUMBER if isinstance(kind, Num) else self._shape_of(value)
        made = value if type(value) is Op else self.fact(value).expr if type(value) is Var else None
        self.kill(s.target)
        assert self.env is not None
        shape = self._tagged(shape, kind)
        pure = type(made) is Op and self._note_readers(s.target, made)
        self.env[s.target] = Known(shape, made if pure else None, zero, type(value) is Var)

    def _tagged(self, shape: Shape, kind: Kind | None) -> Shape:
        """The shape with a tag of this visit for what is not known of it."""
        leaf = shape == LEAVES and not isinstance(kind, Box)
        if not (leaf or shape is None or (type(shape) is Lengths and None in shape)):
            return shape
        tag = ("made" if self.in_loop else "once", next(self.visits))
        if leaf and isinstance(kind, Arr) and kind.sure and kind.rank is not None:
            return of_leaf(tag, kind.rank)
        return _named(None if leaf else shape, kind, tag)

    def _shape_of(self, value: Expr) -> Shape:
        if type(value) is Pop:
            return self._tapes.popped(value.base.name)
        return self._shaper.of(value)

    def _note_readers(self, name: str, op: Op) -> bool:
        """Notes under which names the operation has to be forgotten; False if it reads its own target.

        An operand that is bound once, and has been, cannot change before what is known of `name` is forgotten too:
        control passes its binding again only by way of the head of a loop, where neither is known.
        """
        for atom in atoms(op):
            if type(atom) is Var:
                if atom.name == name:
                    return False
                if atom.name in self._again or atom.name not in self.env:  # type: ignore[operator]
                    self._readers.setdefault(atom.name, set()).add(name)
        return True

    def _equate(self, one: Length, other: Length) -> None:
        """Writes one length for two that have turned out to be equal."""
        assert self.env is not None
        keep, drop = (other, one) if isinstance(other, int) or not is_lasting(one) else (one, other)
        for name, fact in self.env.items():
            shape = _put(fact.shape, drop, keep)
            if shape != fact.shape:
                self.env[name] = fact._replace(shape=shape)

    def is_zero(self, s: Assign) -> bool:
        """Whether what the statement binds is known to be zero, and stays so."""
        return False

    def merge(self, a: dict[str, Known], b: dict[str, Known], site: Site) -> dict[str, Known]:
        """Names whose shapes were equal on each way have equal shapes after it."""
        result: dict[str, Known] = {}
        first: dict[tuple[Shape, Shape], Shape] = {}
        seen = site in self._met
        for name, left in a.items():
            right = b.get(name)
            if right is None:
                continue
            if right is left and not (seen and _holds(left.shape, site)):
                result[name] = left
                continue
            shape = _met(left.shape, right.shape, site, first, name)
            expr = left.expr if left.expr is right.expr else None
            result[name] = Known(shape, expr, left.zero and right.zero, left.alias or right.alias)
        if first:
            self._met.add(site)
        return result


def _named(shape: Shape, kind: object, tag: tuple[Shape, ...]) -> Shape:
    """The shape with a tag for each length that is not known."""
    if shape is None and isinstance(kind, Arr) and kind.rank is not None and kind.sure:
        shape = Lengths((None,) * kind.rank)
    if not isinstance(shape, Lengths):
        return tag
    return Lengths((*tag, axis) if n is None else n for axis, n in enumerate(shape))


def is_kept(kind: Kind) -> bool:
    """Whether nothing ever changes which items the container, or one inside it, has."""
    return not any(node.written or node.resized or node.rewritten for node in reach([kind], arrays_too=False))


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


def _put(shape: Shape, old: Length, new: Length) -> Shape:
    """The shape, or length, with `new` for `old`."""
    if shape == old:
        return new
    if not isinstance(shape, tuple):
        return shape
    return (Lengths if isinstance(shape, Lengths) else tuple)(_put(part, old, new) for part in shape)


def _holds(shape: Shape, site: Site) -> bool:
    """Whether the shape, or length, was met at the head of the loop in hand, and may be another in the next trip."""
    if not isinstance(shape, tuple):
        return False
    if isinstance(shape, Lengths):
        return any(_holds(length, site) for length in shape)
    if shape[0] == "met":
        return bool(shape[1] == site)
    return shape[0] not in NAMED and any(_holds(part, site) for part in shape[1:])


def is_array(kind: object) -> bool:
    """Whether values of the kind certainly are arrays, of one domain."""
    return isinstance(kind, Arr) and kind.sure and not kind.dtypes
