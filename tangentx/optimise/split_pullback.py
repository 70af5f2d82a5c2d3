"""The two functions of a pullback: a function of both sweeps, shortened as one, cut where the reverse sweep begins.

What the first part binds and the second one reads is the state. The second part may run again, and the caller may write
into the arguments in between: it copies what it changes of the state, or hands out of it, and the first part copies the
arguments of which the state holds anything.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import BOTTOM, Box, Kind, Region
from tangentx.common.generated_text import Copied
from tangentx.common.naming import Names
from tangentx.errors import NotDifferentiable
from tangentx.ir.markers import CUT, FORWARD, REVERSE
from tangentx.ir.nodes import (
    Assign,
    Atom,
    Attr,
    Block,
    Ext,
    Index,
    Key,
    Link,
    Lit,
    Make,
    Note,
    Op,
    Param,
    Return,
    Statement,
    Var,
)
from tangentx.ir.upward_exposed import bound_after, exposed
from tangentx.ir.value_names import ValueNames, with_stem
from tangentx.ir.walk import bound, statements, writes
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.summaries import summaries
from tangentx.optimise.facts.unit import Unit

NONE = Lit(None)


def run(program: Program, units: Sequence[Unit]) -> list[Unit]:
    """The units, with two in the place of the first where that is to be cut."""
    whole = units[0]
    if CUT not in whole.function.notes:
        return list(units)
    cut = _Cut(program, whole)
    first, second = cut.first(), cut.second()
    found = [first, second, *units[1:]]
    written = summaries(program, found)
    _spare(first, _changed(first, written[first.link].writes, first.kinds.values()))
    _tell_copies(first, cut.names, written[first.link].writes)
    changed = _changed(second, written[second.link].writes, [cut.kind])
    second.body = (*cut.taken(second, changed), *second.body)
    return found


def _changed(unit: Unit, writes: Set[Any], kinds: Iterable[Kind]) -> set[Region]:
    """What a function writes, or gives: all that the `kinds` reach where it is not known what it writes into."""
    found = {*writes, *memory.reach([unit.result])}
    return found if None not in found else {*found, *memory.reach(kinds)}


class _Cut:
    """A function of two sweeps, which returns the value and the cotangents; its last parameter is the seed."""

    def __init__(self, program: Program, whole: Unit) -> None:
        self.program, self.whole = program, whole
        body = whole.body
        marks = [i for i, s in enumerate(body) if isinstance(s, Note) and s.text == REVERSE]
        if not marks:
            message = "this function never returns for these arguments: it always raises"
            raise NotDifferentiable(message, whole.function.span, "call it as it is to see its own exception")
        at = marks[-1]
        *steps, last = body[at + 1 :]
        assert isinstance(last, Return)
        made = next(s for s in steps if isinstance(s, Assign) and Var(s.target) == last.value)
        assert isinstance(made.value, Make)
        value, self.bars = made.value.items
        self.forward = tuple(s for s in body[:at] if not (isinstance(s, Note) and s.text == FORWARD))
        self.value = _original(self.forward, value)
        self.forward = tuple(s for s in self.forward if value == self.value or not _binds(s, value))
        self.reverse: Block = (*(s for s in steps if s is not made), replace(last, value=self.bars))
        self.params, self.seed = whole.function.params[:-1], whole.function.params[-1]
        given = [p.name for p in self.params]
        order = dict.fromkeys([*given, *(n for s in statements(self.forward) for n in sorted(writes(s)))])
        read = exposed(self.reverse)
        self.names = [name for name in order if name in read]
        sure = bound_after(self.forward, frozenset(given))
        self.unsure = [n for n in self.names if n not in sure]
        self.state = Names([*given, *bound(body), self.seed.name]).fresh("state")
        node = program.world.region()
        node.fields.update({k: self._kind(Var(name)) for k, name in enumerate(self.names)})
        self.kind: Kind = Box(tuple, node)
        if len(self.names) < 2:
            self.kind = self._kind(Var(self.names[0]) if self.names else NONE)

    def _kind(self, atom: Atom) -> Kind:
        return self.whole.kind(self.program, atom)

    def first(self) -> Unit:
        """The value and the state from the arguments."""
        node, span = self.program.world.region(), self.reverse[-1].span
        node.fields.update({0: self._kind(self.value), 1: self.kind})
        out: list[Statement] = [Assign(n, NONE, self.whole.function.span) for n in self.unsure]
        out += self.forward
        kept: Atom = Var(self.names[0]) if self.names else NONE
        if len(self.names) > 1:
            kept = Var("%state")
            out.append(Assign(kept.name, Make(tuple, tuple(map(Var, self.names))), span))
        out += [Assign("%result", Make(tuple, (self.value, kept)), span), Return(Var("%result"), span)]
        own = {"%state": self.kind, "%result": Box(tuple, node)}
        return self._unit("_vjp", self.params, tuple(out), own, own["%result"])

    def second(self) -> Unit:
        """The cotangents from the state and the seed, but for what it takes of the state."""
        params = (Param(self.state), self.seed)
        return self._unit("_pullback", params, self.reverse, {self.state: self.kind}, self._kind(self.bars))

    def _unit(self, suffix: str, params: tuple[Param, ...], body: Block, own: dict[str, Kind], result: Kind) -> Unit:
        whole = self.whole
        name = whole.function.name.removesuffix("_grad") + suffix
        notes: dict[str, object] = {"lengths": {self.state: len(self.names)}} if len(self.names) > 1 else {}
        called = ValueNames(whole.body)
        notes["called"] = {name: called.of(name) for name in self.names if name.startswith("%")}
        function = replace(whole.function, name=name, params=params, body=body, notes=notes)
        kinds = {**whole.kinds, **own}
        return Unit(Link(name, function), kinds, result, outer=True, exact=whole.exact, part_of=whole.link)

    def taken(self, second: Unit, changed: Set[Region]) -> Block:
        """What the second function takes of the state; with copies of what it changes that share memory as it did."""
        kinds = {name: self._kind(Var(name)) for name in self.names}
        found = [name for name, kind in kinds.items() if not changed.isdisjoint(memory.reach([kind]))]
        called = ValueNames(self.whole.body)
        names, held = Names([*bound(second.body), *self.names, self.state, self.seed.name]), {}
        for name in found:
            held[name] = (
                with_stem(f"%kept.{name}", called.of(name)) if name.startswith("%") else names.fresh(f"{name}_")
            )
            second.kinds[held[name]] = kinds[name]
        lists = [name for name in found if name not in self.unsure and _is_list_alone(name, kinds, changed)]
        deep = [name for name in found if name not in lists]
        span, single = self.whole.function.span, len(self.names) == 1
        out = []
        for k, name in enumerate(self.names):
            item = Var(self.state) if single else Index(Var(self.state), Key((Lit(k),)))
            out.append(Assign(held.get(name, name), item, span))
        out += [Assign(n, Op(builtins.list, (Var(held[n]),)), span) for n in lists]
        if len(deep) > 1:
            second.kinds["%copies"] = BOTTOM
            out.append(Assign("%copies", Op(arrays.entry_copies, tuple(Var(held[n]) for n in deep)), span))
            out += [Assign(n, Index(Var("%copies"), Key((Lit(k),))), span) for k, n in enumerate(deep)]
        else:
            out += [Assign(n, Op(arrays.entry_copy, (Var(held[n]),)), span) for n in deep]
        return tuple(out)


def _tell_copies(first: Unit, names: Sequence[str], written: Set[Any]) -> None:
    """Notes what the first function copies of what others hold, for those who ask."""
    given = {p.name: i for i, p in enumerate(first.function.params)}
    made = {s.target: s.value for s in first.body if isinstance(s, Assign)}
    found: list[Copied] = []
    for k, name in enumerate(names):
        origin = _copy_of(made, name)
        if origin is None:
            continue
        what, source = _told(made, origin, given)
        intact = None not in written and written.isdisjoint(memory.reach([first.kinds.get(name, BOTTOM)]))
        own = given.get(what) if intact and source == "argument" else None
        found.append(Copied(k if len(names) > 1 else None, what, source, own))
    first.link.function = replace(first.function, notes={**first.function.notes, "copied": tuple(found)})


def _copy_of(made: Mapping[str, Any], name: str) -> Atom | None:
    """What a name holds a copy of; None where it holds none."""
    match made.get(name):
        case Op(arrays.entry_copy, (origin,)):
            return origin
        case Index(Var(joint), Key((Lit(int(k)),))):
            match made.get(joint):
                case Op(arrays.entry_copies, several):
                    return several[k]
    return None


def _told(made: Mapping[str, Any], atom: Atom, given: Mapping[str, int]) -> tuple[str, str]:
    """What is copied, as the user calls it, and where it comes from."""
    if isinstance(atom, Ext):
        return atom.name, "captured" if atom.path[0] == "closure" else "global"
    if not isinstance(atom, Var) or (atom.name in given and atom.name not in made):
        return getattr(atom, "name", "a constant"), "argument"
    match made.get(atom.name):
        case Ext() | Var() as inner:
            return _told(made, inner, given)
        case Op(arrays.entry_copy, (Var(name),)) if name == atom.name and name in given:
            return name, "argument"
        case Index(base, Key((Lit(key),), attribute=dotted)):
            what, source = _told(made, base, given)
            return f"{what}.{key}" if dotted else f"{what}[{key!r}]", source
        case Attr(base, name):
            what, source = _told(made, base, given)
            return f"{what}.{name}", source
    return ("a part of what it reads" if atom.name.startswith("%") else atom.name), "outside"


def _binds(s: Statement, atom: Atom) -> bool:
    return isinstance(s, Assign) and Var(s.target) == atom


def _original(block: Block, value: Atom) -> Atom:
    """What the value is a copy of: the caller takes one of its own before the second function runs."""
    match [s for s in block if _binds(s, value)]:
        case [Assign(value=Op(arrays.clone | arrays.entry_copy, (given,)))]:
            return given
    return value


def _is_list_alone(name: str, kinds: dict[str, Kind], changed: Set[Region]) -> bool:
    """Whether of a list nothing but the list itself is changed, and it is in nothing else of the state."""
    kind = kinds[name]
    if not (isinstance(kind, Box) and kind.cls is list):
        return False
    node = kind.region.root()
    inside = set(memory.reach([*node.fields.values(), node.elt]))
    others = set(memory.reach(other for n, other in kinds.items() if n != name))
    return node not in inside | others and changed.isdisjoint(inside)


def _spare(unit: Unit, kept: Set[Region]) -> None:
    """Leaves out the copies of arguments that are only read, and of which nothing is kept."""

    params = {Var(p.name) for p in unit.function.params}
    read, _ = unit.counts()

    def is_kept(name: str) -> bool:
        return not kept.isdisjoint(memory.reach([unit.kinds.get(name, BOTTOM)]))

    out: list[Statement] = []
    joint: dict[str, tuple[Atom, ...]] = {}
    for s in unit.body:
        match s:
            case Assign(target, Op(arrays.entry_copy, (given,))) if given in params and not is_kept(target):
                out.append(replace(s, value=given))
            case Assign(target, Op(arrays.entry_copies, given)):
                if read[target] == _items_of(unit.body, target):
                    joint[target] = given
                out.append(s)
            case Assign(target, Index(Var(name), Key((Lit(int(k)),)))) if (
                name in joint and joint[name][k] in params and not is_kept(target)
            ):
                out.append(replace(s, value=joint[name][k]))
            case _:
                out.append(s)
    for name in joint:
        unit.kinds[name] = BOTTOM
        out = _narrowed(out, name)
    unit.body = tuple(out)


def _items_of(block: Block, joint: str) -> int:
    """How many statements of the outermost block take an item of the tuple."""
    reads = (s.value for s in block if isinstance(s, Assign) and isinstance(s.value, Index))
    return sum(value.base == Var(joint) and isinstance(value.key.parts[0], Lit) for value in reads)


def _narrowed(block: list[Statement], joint: str) -> list[Statement]:
    """The joint copy of no more than what is taken of it."""

    def place(s: Statement) -> int | None:
        match s:
            case Assign(_, Index(Var(name), Key((Lit(int(k)),)))) if name == joint:
                return k
        return None

    keys = [k for k in map(place, block) if k is not None]
    out: list[Statement] = []
    for s in block:
        k = place(s)
        if isinstance(s, Assign) and isinstance(s.value, Op) and s.target == joint:
            rest = tuple(s.value.args[k] for k in keys)
            many = arrays.entry_copies if len(rest) > 1 else arrays.entry_copy
            out += [replace(s, value=Op(many, rest))] if rest else []
        elif k is not None and isinstance(s, Assign):
            item = Index(Var(joint), Key((Lit(keys.index(k)),)))
            out.append(replace(s, value=item if len(keys) > 1 else Var(joint)))
        else:
            out.append(s)
    return out
