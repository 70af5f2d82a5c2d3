"""Value numbering: what a program computes twice is computed once, before it is differentiated.

``a = np.sqrt(v * dt) * z; b = np.sqrt(v * dt) * w`` becomes ``t = np.sqrt(v * dt); a = t * z; b = t * w``, so that one
root is recorded, and has one cotangent. Two expressions have the same value where they apply the same operation to the
same values in the same ``with``, and no memory that they read was written in between. Names of the user's keep what
they are bound to: only temporaries give way, to a name of the user's or to another temporary.

It goes down the text as available expressions do, with the facts of `Flow`. ``x[0] - y[0]`` twice::

    %1 = x[0]                  %1 is (x at 0), which holds until `x` is bound anew, or its memory written
    %2 = y[0]
    %3 = sub(%1, %2)           %3 is (%1 sub %2)
    %4 = x[0]                  as %1: whoever reads %4 reads the value of %1
    %5 = y[0]                  as %2
    %6 = sub(%4, %5)           (%1 sub %2), which %3 holds: ``%6 = %3``

Elements, slices, attributes and whole numbers, but for lengths of lists, stay where the user wrote them; they are only
known to be alike.
"""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, Box, Num, Region, is_inexact
from tangentx.analysis.types.primitives import has_effect, is_arithmetic, is_hashable
from tangentx.analysis.types.selection import is_basic
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
    Ext,
    Index,
    Key,
    Link,
    Op,
    Pop,
    Slice,
    Statement,
    Store,
    Var,
)
from tangentx.ir.rewrite import map_blocks
from tangentx.ir.walk import atoms, statement_atoms
from tangentx.optimise import copy_propagation
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.aliasing import passed_on
from tangentx.optimise.facts.dataflow import Flow
from tangentx.optimise.facts.summaries import Summary, summaries
from tangentx.optimise.facts.unit import Unit

Form: TypeAlias = tuple[Any, ...]
_KNOWN = ("numpy", "math", "cmath", "_operator", "operator", "builtins", "scipy", "tangentx")


@dataclass(frozen=True)
class Computed:
    """What a name holds: an expression in names that stand for values, and the memory whose content it has read."""

    form: Form
    read: frozenset[Region]


class Numbering(Flow[Computed]):
    """`env` gives for a name the expression that it was bound to and that still has the same value.

    `given_way` has the temporaries in whose place another name stands, with what they were bound to. `holders` has the
    names that were bound to a form, the first one first, whether or not they still are; `mentioned` the names whose
    forms mention a name.
    """

    def __init__(self, program: Program, unit: Unit, effects: Mapping[Link, Summary]) -> None:
        super().__init__()
        self.program, self.unit, self.effects = program, unit, effects
        self.holders: dict[Form, list[str]] = {}
        self.mentioned: dict[str, set[str]] = {}
        self.given_way: dict[str, Expr] = {}
        self.passed_on = unit.found(passed_on)
        self.given_back = frozenset(memory.reach([unit.result]))

    def kill(self, name: str) -> None:
        """What `name` was bound to, and what was made of its value, is no longer known by these names."""
        assert self.env is not None
        self.env.pop(name, None)
        for other in self.mentioned.pop(name, ()):
            if other in self.env and _mentions(self.env[other].form, name):
                del self.env[other]

    def rewrite(self, s: Statement) -> Sequence[Statement]:
        """A temporary gives way to a name that holds the value already."""
        if not isinstance(s, Assign) or not isinstance(s.value, Op | Index | Attr) or not self.gives_way(s):
            return (s,)
        fact = self._fact(s)
        held = None if fact is None else self._held(fact, s.target)
        if held is None or not self._may_share(s.target, held):
            return (s,)
        old, new = self.unit.kinds[s.target], self.unit.kinds[held]
        if isinstance(old, Arr) and isinstance(new, Arr):
            old.region.unite(new.region)
        self.given_way[s.target] = s.value
        return (Assign(s.target, Var(held), s.span),)

    def gives_way(self, s: Assign) -> bool:
        """Whether another name may stand for the one that the statement binds: a temporary, where that is worth it."""
        return isinstance(s.value, Op) and s.target.startswith("%") and self._is_worth_a_name(s.target, s.value)

    def is_passed_on(self, target: str) -> bool:
        """Whether somebody may ask if the array is the very one that another name has."""
        return target in self.passed_on

    def after(self, s: Statement) -> None:
        """Notes what a binding computes; forgets what a write changes."""
        assert self.env is not None
        fact = self._fact(s) if isinstance(s, Assign) else None
        written = self._written(s)
        if written is None or written:
            lost = [n for n, known in self.env.items() if known.read and (written is None or known.read & written)]
            for name in lost:
                del self.env[name]
        if not isinstance(s, Assign):
            return
        self.kill(s.target)
        if fact is None or _mentions(fact.form, s.target):
            return
        self.env[s.target] = fact
        names = self.holders.setdefault(fact.form, [])
        if s.target not in names:
            names.append(s.target)
        for name in _names(fact.form):
            self.mentioned.setdefault(name, set()).add(s.target)

    def _fact(self, s: Assign) -> Computed | None:
        assert self.env is not None
        form: Form | None = None
        match s.value:
            case Var(name=name):
                return self.env.get(name) or Computed(("=", Var(name)), frozenset())
            case Op(fn=fn, args=args, kwargs=kwargs) if args and _is_known(s.value):
                form = (fn, *map(self._value, args), *((word, self._value(a)) for word, a in kwargs), s.span.around)
            case Index(base=base, key=key):
                form = ("[]", self._value(base), *self._parts(key))
            case Attr(base=base, name=name):
                form = (".", name, self._value(base))
        kind = self.unit.kinds.get(s.target)
        if form is None or not isinstance(kind, Num | Arr):
            return None
        if isinstance(kind, Arr) and not (kind.region.still() or self._is_place(s.value)):
            return None
        read = memory.contents(self.program, self.unit, s.value, kind)
        return Computed(form, frozenset(region.root() for region in read if not region.still()))

    def _is_place(self, value: Expr) -> bool:
        """Whether an expression gives the memory that it names, and none of its own: two buffers that are made alike,
        ``a = np.empty_like(u); b = np.empty_like(u)``, are not one."""
        if not isinstance(value, Index):
            return False
        parts = (() if isinstance(p, Slice) else self.unit.kind(self.program, p) for p in value.key.parts)
        return not isinstance(self.unit.kind(self.program, value.base), Arr) or is_basic(tuple(parts))

    def _parts(self, key: Key) -> Iterator[object]:
        yield key.many
        for part in key.parts:
            if isinstance(part, Slice):
                yield (":", *map(self._value, (part.start, part.stop, part.step)))
            else:
                yield self._value(part)

    def _value(self, atom: Atom) -> object:
        """An atom that stands for the value: the first name that holds it; constants by how they are written."""
        if not isinstance(atom, Var):
            return (id(atom.value), *atom.path) if isinstance(atom, Ext) else (type(atom.value), repr(atom.value))
        fact = self.env.get(atom.name) if self.env is not None else None
        if fact is not None and fact.form[0] == "=":
            return fact.form[1]
        return atom if fact is None else Var(self._held(fact, "") or atom.name)

    def _held(self, fact: Computed, besides: str) -> str | None:
        assert self.env is not None
        for name in self.holders.get(fact.form, ()):
            if name != besides and name in self.env and self.env[name].form == fact.form:
                return name
        return None

    def _written(self, s: Statement) -> set[Region] | None:
        """The memory that a statement may write; None where that is not known."""
        base: Atom | None = s.base if isinstance(s, Store | Accumulate | Append | Delete) else None
        if isinstance(s, Assign):
            if isinstance(s.value, Call):
                writes = self.effects[s.value.link].writes
                return {region.root() for region in writes if isinstance(region, Region)}
            if has_effect(s.value):
                return None
            base = s.value.base if isinstance(s.value, Pop) else None
        node = memory.region(self.unit.kind(self.program, base)) if base is not None else None
        return set() if base is None else {node} if node is not None else None

    def _is_worth_a_name(self, target: str, op: Op) -> bool:
        """An array that is computed, a list's length, or a real number that takes more than one sum or product."""
        kind = self.unit.kinds.get(target)
        operands = [self.unit.kind(self.program, a) for a in op.args]
        if op.fn is builtins.len and isinstance(operands[0], Box):
            return True
        if isinstance(kind, Arr):
            return not any(isinstance(k, Arr) and k.region.root() is kind.region.root() for k in operands)
        if kind is None or not is_inexact(kind):
            return False
        return not is_arithmetic(op.fn) or len(op.args) == 1 or any(map(self._is_computed, op.args))

    def _is_computed(self, atom: Atom) -> bool:
        fact = self.env.get(atom.name) if isinstance(atom, Var) and self.env is not None else None
        return fact is not None and callable(fact.form[0])

    def _may_share(self, target: str, held: str) -> bool:
        """Whether two names may stand for one value, which nobody can tell: numbers, and arrays that are never written,
        and are not given away."""
        old, new = self.unit.kinds[target], self.unit.kinds.get(held)
        if isinstance(old, Num) and isinstance(new, Num):
            return (old.type, old.types, old.varied) == (new.type, new.types, new.varied)
        if not (isinstance(old, Arr) and isinstance(new, Arr)) or _layout(old) != _layout(new):
            return False
        regions = old.region.root(), new.region.root()
        return not self.is_passed_on(target) and all(r.still() and r not in self.given_back for r in regions)


def _layout(kind: Arr) -> tuple[Any, ...]:
    return kind.dtype, kind.rank, kind.loose, kind.none, kind.dtypes, kind.library, kind.region.root().varied


def _is_known(op: Op) -> bool:
    """Whether an operation is known to answer the same whenever it is asked; one of the user's own may count calls."""
    home = getattr(op.fn, "__module__", None) or getattr(type(op.fn), "__module__", None) or ""
    return home.partition(".")[0] in _KNOWN and not has_effect(op) and is_hashable(op.fn)


def _names(form: Iterable[object]) -> Iterator[str]:
    for part in form:
        if isinstance(part, Var):
            yield part.name
        elif isinstance(part, tuple):
            yield from _names(part)


def _mentions(form: Form, name: str) -> bool:
    return name in _names(form)


def _repeats(unit: Unit) -> bool:
    """Whether anything is written twice, without which nothing is computed twice."""
    seen: Counter[object] = Counter()
    for s in unit.statements():
        if isinstance(s, Assign) and isinstance(s.value, Op | Index | Attr):
            seen[_written_as(s.value)] += 1
    return any(count > 1 for count in seen.values())


def _written_as(value: Expr) -> object:
    head = getattr(value, "fn", None) or getattr(value, "name", "")
    return (type(value), getattr(head, "__name__", head), *(repr(a) for a in atoms(value)))


def _without(block: Block, gone: set[int]) -> Block:
    return tuple(map_blocks(s, lambda inner: _without(inner, gone)) for s in block if id(s) not in gone)


def _drop(unit: Unit, given_way: Mapping[str, Expr]) -> None:
    """Takes out the temporaries that gave way, and what they alone were made of: other names hold all of it."""
    read, bound = unit.counts()
    made = {s.target: s for s in unit.statements() if isinstance(s, Assign) and bound[s.target] == 1}
    left, gone, todo = Counter(read), set[int](), list(given_way)
    todo += [a.name for value in given_way.values() for a in atoms(value) if isinstance(a, Var)]
    while todo:
        s = made.get(todo.pop())
        if s is None or left[s.target] or id(s) in gone or not s.target.startswith("%") or has_effect(s.value):
            continue
        gone.add(id(s))
        for atom in statement_atoms(s):
            if isinstance(atom, Var):
                left[atom.name] -= 1
                todo.append(atom.name)
    unit.body = _without(unit.body, gone)


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Computes once what is computed twice; True if there was any."""
    chosen = [unit for unit in units if _repeats(unit)]
    effects = summaries(program, units) if chosen else {}
    numbered: dict[Unit, Mapping[str, Expr]] = {}
    for unit in chosen:
        numbering = Numbering(program, unit, effects)
        body = numbering.block(unit.body)
        if body is not unit.body:
            unit.body, numbered[unit] = body, numbering.given_way
    copy_propagation.run(program, list(numbered))
    for unit, given_way in numbered.items():
        _drop(unit, given_way)
    return bool(numbered)
