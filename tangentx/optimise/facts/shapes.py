"""Shape equality: which arrays of a function certainly have equal shapes.

A shape is a tuple of lengths where the rank is known (see `shape_arithmetic`), else a tag; equal ones stand for equal
shapes. The tag of a length or shape that is not known names the visit of the place where it came about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import BOTTOM, Arr, Box, Kind, Num, Region, is_array, is_count
from tangentx.analysis.types.primitives import has_effect
from tangentx.common.branch_facts import Side
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Atom,
    Attr,
    Block,
    Call,
    Delete,
    Expr,
    For,
    Index,
    Lit,
    Loop,
    Make,
    Op,
    Pop,
    Return,
    Statement,
    Store,
    Var,
)
from tangentx.ir.walk import atoms, bound, statements
from tangentx.optimise.facts import shape_arithmetic
from tangentx.optimise.facts.dataflow import LEAVING, Flow, Site
from tangentx.optimise.facts.memory import Unwritten, reach, region
from tangentx.optimise.facts.shape_arithmetic import (
    LEAVES,
    NUMBER,
    Length,
    Lengths,
    Mentions,
    Shape,
    is_long,
    mentioned,
    of_argument,
    of_leaf,
    of_parameter,
    replaced,
    substituted,
    written,
)
from tangentx.optimise.facts.shape_rules import ShapeRules
from tangentx.optimise.facts.tape_shapes import Tapes, is_lasting
from tangentx.optimise.facts.unit import Unit


class Known(NamedTuple):
    """What is known of a name: the number of its shape, the operation it holds the result of, whether it is zero.

    `alias`: another name had the result before it; `stale`: memory has been written since in which the operands lie,
    or the result.
    """

    shape: Shape = None
    expr: Expr | None = None
    zero: bool = False
    alias: bool = False
    stale: bool = False


NOTHING = Known()
LIMIT_CALLS = 40
"""How many calls, one in another, are followed for the shape of what the outermost gives back."""
EQUAL = "="
"""In the place of a name: lengths that have turned out to be equal to others."""
NAMED = ("param", "long", "single", "made", "once")


class Facts(Flow[Known]):
    """Shapes and expressions along the way. The tag of a shape names the visit of the place where it came about.

    Where nobody asks for shapes, none are found (`shaping`).
    """

    shaping = True

    def __init__(self, program: Program, unit: Unit) -> None:
        super().__init__()
        self.program = program
        self.unit = unit
        self.count, self.bindings = map(Counter.copy, unit.counts())
        self._kind = partial(unit.kind, program)
        relying, taking = (
            partial(shape_arithmetic.rely, program, unit),
            partial(shape_arithmetic.with_taken, program, unit),
        )
        self._rules = ShapeRules(self._kind, (self.shape, self.of_array), self.number, relying, taking, self._range)
        self._ranges: dict[Length, tuple[Length, Length]] = {}
        self._tapes = Tapes(unit)
        self._mentions = Mentions(_shapes_in)
        self._readers: dict[str, dict[str, None]] = {}
        self._unwritten = Unwritten()
        self._met: set[Site] = set()
        self._outermost = 0
        self._returned: dict[int, Shape] = {}
        params = [p.name for p in unit.function.params]
        self._again = {name for name, times in self.bindings.items() if times > 1}.union(params) & set(self.bindings)
        self.env = {name: Known(self._given(name)) for name in params}
        for name, other in unit.function.notes.get("alike", {}).items():  # a tangent has the shape of its primal
            if name in self.env and other in self.env:
                self.env[name] = self.env[other]

    def _given(self, name: str) -> Shape:
        """The shape of a parameter."""
        if name in self.unit.lengths:
            return self.unit.lengths[name]
        kind, single = self.unit.kinds.get(name), self.unit.axes.get(name)
        if single is not None and isinstance(kind, Arr) and kind.rank is not None:
            return of_argument(name, kind.rank, single)
        if single == () and isinstance(kind, Box) and is_kept(kind):
            return LEAVES
        if type(kind) is Num and not is_count(kind):
            return NUMBER
        return _named(None, kind, ("param", name))

    def fact(self, atom: Atom) -> Known:
        """What is known of an atom here, of the shape of an array."""
        return self.env.get(atom.name, NOTHING) if type(atom) is Var and self.env is not None else NOTHING

    def of_array(self, atom: Atom) -> Shape:
        """The shape of an array or number; a list may grow, so it has none."""
        if type(atom) is not Var:
            return NUMBER if type(self._kind(atom)) is Num else None
        kind = type(self.unit.kinds.get(atom.name))
        if kind is Num:
            return NUMBER
        return self.env.get(atom.name, NOTHING).shape if kind is Arr and self.env is not None else None

    def shape(self, atom: Atom) -> Shape:
        """The number of the atom's shape, None where it is not known."""
        if type(atom) is not Var:
            return NUMBER if type(self._kind(atom)) is Num else None
        if type(self.unit.kinds.get(atom.name)) is Num:
            return NUMBER
        return self.env.get(atom.name, NOTHING).shape if self.env is not None else None

    def number(self, atom: Atom) -> Length:
        """What stands for the value of a number, as for a length; None where nothing does."""
        if type(atom) is Lit:
            return atom.value if type(atom.value) is int else None
        return self.fact(atom).shape if is_count(self._kind(atom)) else None

    def expr(self, atom: Atom) -> Expr | None:
        """The operation whose result the atom is, of operands that have not been bound anew."""
        fact = self.fact(atom)
        return None if fact.alias else fact.expr

    def held(self, atom: Atom) -> Expr | None:
        """The same, where the result may have another name too."""
        return self.fact(atom).expr

    def current(self, atom: Atom) -> Expr | None:
        """As `held`, where computing it here would still give the same: no memory of it has been written since."""
        fact = self.fact(atom)
        return None if fact.stale else fact.expr

    def kill(self, name: str) -> None:
        """Forgets `name`, and the expressions that read it."""
        assert self.env is not None
        self.env.pop(name, None)
        for other in self._readers.get(name, ()):
            fact = self.env.get(other)
            if fact is not None and fact.expr is not None and Var(name) in atoms(fact.expr):
                self.env[other] = Known(fact.shape, None, fact.zero)

    def after(self, s: Statement) -> None:
        """Notes the shape of what is bound, or recorded."""
        if type(s) is Assign:
            self._bind(s)
        elif type(s) is Append and type(s.base) is Var:
            if self.shaping:
                shape = self._equated(self._rules.of(s.value))
                self._tapes.append(s.base.name, id(self.hand), shape, self._equal, self._outermost)
        elif type(s) is Store or type(s) is Accumulate:
            for one, other in self._rules.stored(s) if self.shaping else ():
                self._equate(one, other)
            self._written(region(self._kind(s.base)))
        elif type(s) in (Append, Delete):
            self._written(None)
        elif type(s) in LEAVING:
            if type(s) is Return and self.shaping:
                self._returned[id(self.hand)] = self._rules.of_item(s.value) or self.fact(s.value).shape
            self._tapes.left()

    def given_back(self) -> Shape:
        """The shape of what the function gives back, once the whole of it has been walked."""
        found = list(self._returned.values())
        return _shallow(found[0]) if found and all(shape == found[0] for shape in found) else None

    def entered(self, names: Iterable[str]) -> None:
        """Notes which lengths are mentioned by what is known of these names now."""
        assert self.env is not None
        self._unwritten.entered(self.env, names)
        for name in names:
            fact = self.env.get(name)
            if name == EQUAL:
                for drop, keep in _equations(self.env).items():
                    self._mentions.note(self.env, drop, keep)
            elif fact is not None:
                self._mentions.note(self.env, name, fact.shape)

    def block(self, block: Block) -> Block:
        """Walks a block; what it shows of lengths it shows of what is appended in it, too."""
        held = self._tapes.parted()
        found = super().block(block)
        self._tapes.joined(held)
        return found

    def begun(self, s: For) -> None:
        """The number that a trip of a loop has."""
        assert self.env is not None
        kind = self.unit.kinds.get(s.target)
        tag = self._tagged(None, kind)
        self.env[s.target] = Known(tag)
        self._mentions.note(self.env, s.target, tag)
        if s.step == Lit(1) and kind is not None and is_count(kind):
            self._ranges[tag] = self.number(s.start), self.number(s.stop)

    def _range(self, number: Length) -> tuple[Length, Length] | None:
        """What the number of a trip is not less than, and less than, in lengths as they are written here."""
        found = self._ranges.get(number)
        return None if found is None else (self._equated(found[0]), self._equated(found[1]))

    def _loop(self, s: For | Loop) -> Statement:
        outermost = self._outermost
        self._outermost = outermost or id(s)
        found = super()._loop(s)
        self._outermost = outermost
        return found

    def _bind(self, s: Assign) -> None:
        value, kind = s.value, self.unit.kinds.get(s.target)
        if self.shaping:
            self._show(s, value)
        if type(value) is Call or type(value) is Pop or (type(value) is Op and has_effect(value)):
            self._written(None)
        zero = self.is_zero(s)
        shape: Shape = None
        if self.shaping and not isinstance(kind, Num):
            shape = self._shape_of(value, kind)
        elif self.shaping and isinstance(kind, Num):  # of others it would only cost walks of loops to know the equal
            shape = self._equated(self._rules.counted(value)) if is_count(kind) else NUMBER
        made = value if type(value) is Op else self.fact(value).expr if type(value) is Var else None
        self.kill(s.target)
        assert self.env is not None
        if self.shaping:
            shape = self._tagged(shape, kind)
            self._mentions.note(self.env, s.target, shape)
        pure = type(made) is Op and self._note_readers(s.target, made)
        if not pure or made is None:
            self.env[s.target] = Known(shape, None, zero)
            return
        alias, stale = (True, self.fact(value).stale) if type(value) is Var else (False, False)
        self.env[s.target] = Known(shape, made, zero, alias, stale)
        self._note_memory(s.target, made)

    def _show(self, s: Assign, value: Expr) -> None:
        """Notes which lengths are equal once the statement has run, and what a function is given."""
        if type(value) is Op:
            for one, other in self._rules.agreed(value):
                self._equate(one, other)
        elif type(value) is Call:
            self._note_arguments(s, value)
        elif type(value) is Pop:
            for one, other in self._tapes.implied(value.base.name, self._outermost):
                self._equate(one, other)

    def _note_memory(self, name: str, op: Expr) -> None:
        """Notes the memory that is written somewhere, in which the operands or the result of an operation lie."""
        kinds = [self._kind(atom) for atom in atoms(op) if type(atom) is not Lit or type(atom.value) is tuple]
        kinds.append(self.unit.kinds.get(name, BOTTOM))
        found = [kind.region.root() for kind in kinds if type(kind) is Arr or type(kind) is Box]
        assert self.env is not None
        self._unwritten.note(self.env, name, [each for each in found if each.written or each.rewritten])

    def _written(self, where: Region | None) -> None:
        """Memory has been written, None: any."""
        assert self.env is not None
        self._overwritten(self.env, where)

    def _overwritten(self, facts: dict[str, Known], where: Region | None) -> None:
        """What was computed of memory that is written is not what it would be now."""
        for name in self._unwritten.taken(facts, where):
            fact = facts.get(name)
            if fact is not None and fact.expr is not None and not fact.stale:
                facts[name] = fact._replace(stale=True)

    def _tagged(self, shape: Shape, kind: Kind | None) -> Shape:
        """The shape with a tag of this visit for what is not known of it."""
        leaf = shape == LEAVES and not isinstance(kind, Box)
        if not (leaf or shape is None or (type(shape) is Lengths and None in shape)):
            return shape
        tag = ("made" if self.in_loop else "once", next(self.visits))
        if leaf and isinstance(kind, Arr) and kind.sure and kind.rank is not None:
            return of_leaf(tag, kind.rank)
        return _named(None if leaf else shape, kind, tag)

    def _shape_of(self, value: Expr, kind: Kind | None) -> Shape:
        if type(value) is Make and value.cls is list and isinstance(kind, Box) and is_kept(kind):
            return self._equated(("items", *map(self._rules.of_item, value.items)))
        if type(value) is Call:
            return self._equated(self._given_back(value))
        if type(value) is Pop:
            found = self._tapes.popped(value.base.name, self._outermost)
        else:
            found = self._rules.of(value)
        return LEAVES if found is None and self._is_leaf(value, kind) else self._equated(found)

    def _is_leaf(self, value: Expr, kind: Kind | None) -> bool:
        """Whether it is an array that is read from a container of which no array has an axis of length one."""
        if not self.unit.leaves or type(kind) is not Arr or not isinstance(value, Index | Attr | Pop):
            return False
        base = self._kind(value.base)
        return type(base) is Box and base.region.root() in self.unit.leaves

    def _given_back(self, call: Call) -> Shape:
        """The shape of what a function gives back for these arguments."""
        callee = self.unit.others.get(call.link)
        if callee is None or callee.busy or self.unit.busy > LIMIT_CALLS:
            return None
        found = callee.found(given_back, self.program, self.unit.busy + 1)
        if found is None:
            return None
        names = [param.name for param in callee.function.params]
        args = dict(zip(names, call.args, strict=True))

        def argument(tag: tuple[Any, ...]) -> Length:
            name, axis = of_parameter(tag)
            if name not in args or axis is None:
                return self._rules.of_item(args[name]) if name in args else None
            shape = self.shape(args[name])
            return shape[axis] if isinstance(shape, Lengths) and axis < len(shape) else None

        for parts in callee.found(_broadcast, found):
            known = [Lengths((n,)) for part in parts if (n := substituted(part, argument)) is not None]
            for one, other in shape_arithmetic.agreed(known):
                shape_arithmetic.rely(self.program, self.unit, (one, other))
                self._equate(one, other)
        given = tuple((self._rules.of_item(a), self.shape(a)) for a in call.args)
        results = callee.found(_for_arguments)
        if given not in results:
            results[given] = substituted(found, argument)
        return results[given]

    def _note_arguments(self, s: Assign, call: Call) -> None:
        """Leaves the shapes of arguments with the function that is called."""
        callee = self.unit.others.get(call.link)
        if callee is not None and not callee.outer:
            kinds = [self.unit.kind(self.program, a) for a in call.args]
            callee.given[s] = tuple(
                self.shape(a) if is_array(kind) else None for a, kind in zip(call.args, kinds, strict=True)
            )

    @property
    def _equal(self) -> Mapping[Length, Length]:
        """What lengths have turned out to be on the way here: each with the one that is written for it."""
        assert self.env is not None
        return _equations(self.env)

    def _equated(self, shape: Shape) -> Shape:
        """The shape with the lengths that are written for others."""
        assert self.env is not None
        return written(shape, _equations(self.env)) if EQUAL in self.env else shape

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
                    self._readers.setdefault(atom.name, {})[name] = None
        return True

    def _equate(self, one: Length, other: Length) -> None:
        """Writes one length for two that have turned out to be equal."""
        assert self.env is not None
        one, other = self._equated(one), self._equated(other)
        if one == other or (isinstance(one, int) and isinstance(other, int)):
            return
        keep, drop = sorted((one, other), key=_preference)
        if drop in mentioned(keep):  # what is written for a length is not made of it
            keep, drop = drop, keep
        alike = _is_once(keep) and _is_once(drop) and is_long(keep) == is_long(drop)
        if alike and self._count(keep) < self._count(drop):
            keep, drop = drop, keep
        self._tapes.showed(drop, keep)
        equal = dict(self._equal)
        for owner in self._mentions.taken(self.env, drop):
            if isinstance(owner, str) and owner in self.env:
                fact = self.env[owner]
                shape = replaced(fact.shape, drop, keep)
                if shape != fact.shape:
                    self.env[owner] = fact._replace(shape=shape)
                    self._mentions.note(self.env, owner, shape)
            elif owner in equal:
                equal[owner] = replaced(equal[owner], drop, keep)
                self._mentions.note(self.env, owner, equal[owner])
        equal[drop] = keep
        self._mentions.note(self.env, drop, keep)
        self.env[EQUAL] = Known(equal)

    def _count(self, length: Length) -> int:
        """How much mentions a length: of two that say as much the one that less mentions is written anew, so that a
        chain of equations costs little more than its length."""
        assert self.env is not None
        return self._mentions.count(self.env, length)

    def is_zero(self, s: Assign) -> bool:
        """Whether what the statement binds is known to be zero, and stays so."""
        return False

    def lasting(self, s: For | Loop, facts: Side[Known]) -> None:
        """Shapes may last; no operation does that binds, or reads, a name that the trips bind anew, and what lies where
        they write is stale."""
        anew = bound(s.body)
        for name in sorted(anew.union(*(self._readers.get(name, ()) for name in anew))):
            fact = facts.get(name)
            if fact is not None and fact.expr is not None:
                if name in anew or any(_is_one_of(a, anew) for a in atoms(fact.expr)):
                    facts[name] = Known(fact.shape, None, fact.zero)
        if type(s) is For:
            facts.pop(s.target, None)
        for where in self._written_in(s.body):
            self._overwritten(facts, where)

    def _written_in(self, block: Block) -> Iterable[Region | None]:
        """The memory that anything in a block writes, None for any."""
        found: dict[Region | None, None] = {}
        for s in statements(block):
            if type(s) is Assign:
                if type(s.value) is Call or type(s.value) is Pop or (type(s.value) is Op and has_effect(s.value)):
                    return (None,)
            elif type(s) is Store or type(s) is Accumulate:
                found[region(self._kind(s.base))] = None
            elif type(s) in (Append, Delete):
                return (None,)
        return found

    def merge(self, a: dict[str, Known], b: dict[str, Known], site: Site, names: Iterable[str]) -> dict[str, Known]:
        """Names whose shapes were equal on each way have equal shapes after it."""
        result: dict[str, Known] = {}
        first: dict[tuple[Shape, Shape], Shape] = {}
        seen = site in self._met
        equal = (_equations(a), _equations(b))
        for name in names:
            left, right = a.get(name), b.get(name)
            if left is None or right is None:
                continue
            if name == EQUAL:
                both = {old: new for old, new in equal[0].items() if equal[1].get(old) == new and not _holds(new, site)}
                result[name] = left if left.shape == both else Known(both)
                continue
            if right is left and not (seen and _holds(left.shape, site)):
                result[name] = left
                continue
            shape = _met(left.shape, right.shape, site, first, name, equal)
            expr = left.expr if left.expr is right.expr else None
            alias = expr is not None and (left.alias or right.alias)
            stale = expr is not None and (left.stale or right.stale)
            result[name] = Known(shape, expr, left.zero and right.zero, alias, stale)
        if first:
            self._met.add(site)
        return result


def given_back(unit: Unit, program: Program, callers: int = 1) -> Shape:
    """The shape of what the function gives back, of whatever it knows in terms of its parameters' lengths."""
    unit.busy = callers  # it may call itself
    walk = Facts(program, unit)
    walk.block(unit.body)
    unit.busy = 0
    return walk.given_back()


def _broadcast(unit: Unit, found: Shape) -> tuple[tuple[Length, ...], ...]:
    """The lengths that have been broadcast together in what the function gives back."""
    return tuple(shape_arithmetic.commons(found))


def _for_arguments(unit: Unit) -> dict[tuple[tuple[Shape, Shape], ...], Shape]:
    """The shapes of what the function gives back, by what is known of its arguments: calls are looked at often."""
    return {}


def _shallow(shape: Shape, levels: int = 2) -> Shape:
    """The shape of a result without those of items of items of items: what functions save for one another is nested as
    deep as their calls, and nobody but its owner looks into it."""
    if not (type(shape) is tuple and shape[:1] == ("items",)):
        return shape
    return ("items", *(_shallow(item, levels - 1) for item in shape[1:])) if levels else None


def _is_one_of(atom: Atom, names: frozenset[str]) -> bool:
    return type(atom) is Var and atom.name in names


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


def _met(
    left: Shape,
    right: Shape,
    site: Site,
    first: dict[tuple[Shape, Shape], Shape],
    name: object,
    equal: tuple[Mapping[Length, Length], Mapping[Length, Length]],
) -> Shape:
    """What stands for two shapes, or lengths, where two ways meet; `equal` is what is known of lengths on each."""
    if left is None or right is None:
        return None
    if isinstance(left, Lengths) and isinstance(right, Lengths) and len(left) == len(right):
        pairs = enumerate(zip(left, right, strict=True))
        return Lengths(_met(a, b, site, first, (name, axis), equal) for axis, (a, b) in pairs)
    if left != right:  # one of them may be known to be the other on that one's way
        left, right = (
            (left, left) if written(left, equal[1]) == right
            else (right, right) if written(right, equal[0]) == left
            else (left, right)
        )  # fmt: skip
    if left != right or _holds(left, site):
        long = ("long",) if is_long(left) and is_long(right) else ()
        return first.setdefault((left, right), (*long, "met", site, name))
    return left


def _equations(env: Mapping[str, Known]) -> Mapping[Length, Length]:
    """What lengths have turned out to be where these facts hold: each with the one that is written for it."""
    return env[EQUAL].shape if EQUAL in env else {}  # type: ignore[return-value]


def _shapes_in(facts: Mapping[str, Any]) -> Iterator[tuple[object, Shape]]:
    """The shapes that are known under names, and the lengths that are written for others."""
    for name, fact in facts.items():
        if name == EQUAL:
            yield from fact.shape.items()
        else:
            yield name, fact.shape


def _preference(length: Length) -> int:
    """Of equal lengths the one that is least is written for the others: it says most, of most places."""
    if isinstance(length, int):
        return 0
    whole = shape_arithmetic.plain(length)
    made = isinstance(whole, tuple) and whole[0] in shape_arithmetic.MADE_OF
    return (1 if is_lasting(length) else 3) + made


def _is_once(length: Length) -> bool:
    """Whether it is a length that came about outside of loops, of which nothing is known, or that it is not one."""
    return isinstance(length, tuple) and (length[0] == "once" or length[:2] == ("long", "once"))


def _holds(shape: Shape, site: Site) -> bool:
    """Whether the shape, or length, was met at the head of the loop in hand, and may be another in the next trip."""
    if not isinstance(shape, tuple):
        return False
    if isinstance(shape, Lengths):
        return any(_holds(length, site) for length in shape)
    if shape_arithmetic.plain(shape) is not shape:
        return _holds(shape[1], site)
    if "met" in shape[:2]:
        return bool(shape[shape.index("met") + 1] == site)
    return shape[0] not in NAMED and any(_holds(part, site) for part in shape_arithmetic.parts_of(shape))
