"""A loop of which only sums come out goes there and back trip by trip, and records nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import BOTTOM, Kind, Region
from tangentx.ir.markers import CUT, EMPTY, REVERSE
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Block,
    Break,
    Call,
    Continue,
    For,
    If,
    Loop,
    Note,
    Op,
    Pop,
    Return,
    Statement,
    Store,
    Var,
)
from tangentx.ir.rewrite import map_blocks
from tangentx.ir.upward_exposed import exposed
from tangentx.ir.walk import atoms, bound, reads, statements, used
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.memory import Effects, effects
from tangentx.optimise.facts.summaries import summaries
from tangentx.optimise.facts.unit import Unit, counts, write_each
from tangentx.optimise.rewriting import ADD, SUB
from tangentx.optimise.value_numbering import Numbering

# What a trip of a loop has computed and read already, where both sweeps are in it, is not computed or read again.


class _WayBack(Numbering):
    """The way there stays as it is; on the way back any name gives way to one that holds its value. It is ours, so that
    nobody asks there whether two arrays are one."""

    def __init__(self, program: Program, unit: Unit, turn: Note) -> None:
        super().__init__(program, unit, summaries(program, list(unit.others.values())))
        self.turn, self.turned = turn, False

    def rewrite(self, s: Statement) -> Sequence[Statement]:
        """As for `Numbering`."""
        self.turned = self.turned or s is self.turn
        return super().rewrite(s)

    def gives_way(self, s: Assign) -> bool:
        """Whatever is bound on the way back."""
        return self.turned

    def is_passed_on(self, target: str) -> bool:
        """Never to anybody who asks."""
        return False


def numbered(program: Program, unit: Unit, there: Block, turn: Note, back: Block) -> Block:
    """The trip, there and back, with names on the way back for what the way there has computed or read."""
    return _WayBack(program, unit, turn).block((*there, turn, *back))


# A loop of which only sums come out goes there and back trip by trip, and records nothing.
#
#     for k in range(n):                      # for two loops and a tape between them
#         t = np.tanh(w * x[k])
#         w_bar += x[k] * (1.0 - t * t) * ans_bar
#
# No trip of the forward sweep's loop reads what another one has left for the reverse sweep, and what the trips of the
# other hand on are sums of cotangents, whose order is free. What lies between the two, and does not come from the
# first, is done before; nothing of the first is run twice.

Path: TypeAlias = tuple[tuple[object, int], ...]
THERE, BACK = "-- forward", "-- reverse"


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Joins the loops of the two sweeps; True if there were any."""
    if memory.is_opaque(units):
        return False
    pairs = [unit for unit in units if CUT not in unit.function.notes]  # there the two sweeps are run at two times
    return write_each(pairs, lambda unit: _Fusion(program, unit).block(unit.body))


class _Fusion:
    """Writes the blocks of one function anew."""

    def __init__(self, program: Program, unit: Unit) -> None:
        self.program, self.unit = program, unit
        self.outside = memory.outside(program) | frozenset(memory.reach([unit.result]))

    def block(self, block: Block) -> Block:
        """The block, and the blocks inside it."""
        i = 0
        while i < len(block):
            first = block[i]
            j = _partner(block, i) if isinstance(first, For) else None
            new = self._joined(block, i, j) if j is not None else None
            if new is None:
                i += 1
            else:
                block = new
        out = tuple(map_blocks(s, self.block) for s in block)
        return block if out == block else out

    def _joined(self, block: Block, i: int, j: int) -> Block | None:
        """The block with the loops at the two places in one."""
        first, last = block[i], block[j]
        assert isinstance(first, For) and isinstance(last, For)
        if _leaves(first.body) or _leaves(last.body) or first.target in bound(first.body):
            return None
        last = replace(last, body=_without_idle(last.body))
        pair = _Pair(self, first, last)
        tapes = pair.tapes()
        if tapes is None or not pair.names_are_apart() or not pair.memory_is_apart(tapes):
            return None
        between = _Between(self, pair).split(block[i + 1 : j])
        if between is None:
            return None
        before, after = between
        body = pair.both(tapes)
        return (*block[:i], *before, replace(first, body=body, twin=None), *after, *block[j + 1 :])

    def kinds(self, names: Iterable[str]) -> list[Kind]:
        """The kinds of names."""
        return [self.unit.kinds.get(name, BOTTOM) for name in names]


@dataclass(eq=False)
class _Tapes:
    """The lists of records that the one loop appends to and the other one pops from; those with one record a trip."""

    every: frozenset[str]
    single: frozenset[str]


class _Pair:
    """The loop of the forward sweep and that of the reverse sweep."""

    def __init__(self, fusion: _Fusion, first: For, last: For) -> None:
        self.fusion, self.unit, self.program = fusion, fusion.unit, fusion.program
        self.first, self.last = first, last
        self.bound = bound(first.body) | {first.target}, bound(last.body) | {last.target}
        self.used = used(first.body) | reads(first), used(last.body) | reads(last)
        self.effects: tuple[Effects, Effects] = (
            effects(self.program, self.unit, first.body),
            effects(self.program, self.unit, last.body),
        )

    def tapes(self) -> _Tapes | None:
        """The tapes, if each trip of the one loop takes just what the same trip of the other has recorded."""
        pushed, popped = _places(self.first.body, Append), _places(self.last.body, Pop)
        if pushed is None or popped is None or pushed.keys() != popped.keys():
            return None
        inside = {id(s) for s in statements((*self.first.body, *self.last.body))}
        for s in self.unit.statements():
            names = reads(s) & pushed.keys()
            if isinstance(s, Assign) and s.target in pushed and (id(s) in inside or s.value != EMPTY):
                return None
            if names and not (id(s) in inside and _moves(s, names)):
                return None
        made = self.unit.counts()[1]
        if any(pushed[n] != popped[n] or made[n] != 1 for n in pushed):
            return None
        regions = [memory.region(kind) for kind in self.fusion.kinds(pushed)]
        if len({id(node) for node in regions}) != len(regions):
            return None
        single = {n for n in pushed if list(pushed[n].elements()) == [()]}
        return _Tapes(frozenset(pushed), frozenset(single))

    def names_are_apart(self) -> bool:
        """Whether the loops share no name that one of them binds, and what the trips of the second one hand on, to one
        another or to what comes after them, are sums."""
        (one, two), (ones, twos) = self.bound, self.used
        if one & two or one & twos or two & ones:
            return False
        carried = (exposed(self.last.body) & two) - {self.last.target}
        handed_on = carried | self._left()
        kept = _sums_kept(self.last.body, {name: name for name in handed_on})
        return all(_is_sum(name, self.last.body) and kept.get(name) == name for name in handed_on)

    def _left(self) -> set[str]:
        """Names that trips of the second loop bind and others read: they find what the last trip has left."""
        read, inside = self.unit.counts()[0], counts(statements(self.last.body))[0]
        return {name for name in self.bound[1] if read[name] > inside[name]}

    def memory_is_apart(self, tapes: _Tapes) -> bool:
        """Whether no trip finds memory as another one has left it, sums of cotangents apart."""
        one, two = self.effects
        if one.acts or two.acts:
            return False
        shared = self._shared(tapes)
        lists = {memory.region(kind) for kind in self.fusion.kinds(tapes.every)}
        written = (one.written & shared) - lists, (two.written & shared) - lists
        if written[0] & (two.read | two.written) or written[1] & (one.read | one.written):
            return False
        return not written[1] & (two.read | two.replaced)

    def _shared(self, tapes: _Tapes) -> set[Region]:
        """The memory that trips share with one another, or with anything outside of the loops."""
        inside = self.bound[0] | self.bound[1]
        read, made = self.unit.counts()
        names = {p.name for p in self.unit.function.params} | ((read.keys() | made.keys()) - inside)
        held = (names | exposed(self.first.body) | exposed(self.last.body)) - tapes.every
        return {*(node.root() for node in self.fusion.outside), *memory.reach(self.fusion.kinds(held))}

    def both(self, tapes: _Tapes) -> Block:
        """What a trip does there and back."""
        there = tuple(self.recording(s, tapes) for s in self.first.body)
        back = Assign(self.last.target, Var(self.first.target), self.last.span)
        again = (back, *(self.taking(s, tapes) for s in self.last.body))
        marks = Note(THERE, self.first.span), Note(BACK, self.last.span)
        return (marks[0], *numbered(self.program, self.unit, there, marks[1], again))

    def recording(self, s: Statement, tapes: _Tapes) -> Statement:
        """The statement of the forward sweep, with a name for a record."""
        if isinstance(s, Append) and isinstance(s.base, Var) and s.base.name in tapes.single:
            return Assign(self._record(s.base.name), s.value, s.span)
        return s

    def taking(self, s: Statement, tapes: _Tapes) -> Statement:
        """The statement of the reverse sweep, likewise."""
        if isinstance(s, Assign) and isinstance(s.value, Pop) and s.value.base.name in tapes.single:
            return Assign(s.target, Var(self._record(s.value.base.name)), s.span)
        return s

    def _record(self, tape: str) -> str:
        name = f"%{tape.lstrip('%')}.record"
        kind = self.unit.kinds[tape]
        self.unit.kinds[name] = kind.region.root().elt  # type: ignore[union-attr]
        return name


class _Between:
    """What stands between the loops: what is done before them, and what stays behind them."""

    def __init__(self, fusion: _Fusion, pair: _Pair) -> None:
        self.fusion, self.pair = fusion, pair
        self.bound, self.used = set(pair.bound[0]), set[str]()
        self.read, self.written = set[Region](), set(pair.effects[0].written)

    def split(self, block: Block) -> tuple[Block, Block] | None:
        """The two parts; None where the loop of the reverse sweep needs what comes from the other one."""
        before, after = list[Statement](), list[Statement]()
        notes = list[Statement]()
        for s in block:
            if isinstance(s, Note):
                (before if s.text == REVERSE else notes).append(s)
                continue
            done = effects(self.fusion.program, self.fusion.unit, (s,))
            if done.acts or _leaves((s,)) or isinstance(s, Return):
                return None
            if self._is_free(s, done):
                before += (*notes, s)
            else:
                after += (*notes, s)
                self.bound |= bound((s,))
                self.used |= used((s,))
                self.read |= done.read
                self.written |= done.written
            notes.clear()
        after += notes
        two = self.pair.effects[1]
        late = bound(tuple(after)), used(tuple(after))
        (_, names), (_, uses) = self.pair.bound, self.pair.used
        written = self.written - self.pair.effects[0].written
        apart = not (late[0] & (names | uses) or late[1] & names)
        return (tuple(before), tuple(after)) if apart and not self._meets(two, written) else None

    def _meets(self, two: Effects, written: set[Region]) -> bool:
        return bool(written & (two.read | two.written) or self.read & two.written)

    def _is_free(self, s: Statement, done: Effects) -> bool:
        """Whether the statement may be moved up past the first loop, and past what stays behind it."""
        if not isinstance(s, Assign | Store | Accumulate) or (
            isinstance(s, Assign) and isinstance(s.value, Call | Pop)
        ):
            return False
        names, uses = bound((s,)), used((s,))
        first, one = self.pair.used[0], self.pair.effects[0]
        if uses & self.bound or names & (self.bound | self.used | first):
            return False
        return not (done.read & self.written or done.written & (self.read | self.written | one.read))


def _partner(block: Block, i: int) -> int | None:
    """Where the loop stands that undoes the one at this place."""
    first = block[i]
    assert isinstance(first, For)
    if first.twin is None or first.twin.back or first.snapshots is not None:
        return None
    for j in range(i + 1, len(block)):
        s = block[j]
        if isinstance(s, For) and s.twin is not None and s.twin.back and s.twin.name == first.twin.name:
            alike = (s.start, s.stop, s.step) == (first.start, first.stop, first.step)
            return j if alike and s.backward is not first.backward and s.snapshots is None else None
    return None


def _without_idle(block: Block) -> Block:
    """The block without names that are bound to themselves."""
    kept = (s for s in block if not (isinstance(s, Assign) and s.value == Var(s.target)))
    return tuple(map_blocks(s, _without_idle) for s in kept)


def _leaves(block: Block) -> bool:
    """Whether control may leave the block other than by its end."""
    for s in block:
        match s:
            case Return() | Break() | Continue() | Loop():
                return True
            case If():
                if _leaves(s.body) or _leaves(s.orelse):
                    return True
            case For():
                if _leaves(s.body):
                    return True
    return False


def _places(block: Block, how: type[Append] | type[Pop], path: Path = ()) -> dict[str, Counter[Path]] | None:
    """Where names of lists are appended to, or popped from: in which branches and loops of the sweeps; None where one
    has no counterpart in the other sweep."""
    found: dict[str, Counter[Path]] = {}
    for s in block:
        base = s.base if isinstance(s, Append) else s.value.base if _is_pop(s) else None  # type: ignore[union-attr]
        if isinstance(base, Var) and (isinstance(s, Append) == (how is Append)):
            found.setdefault(base.name, Counter())[path] += 1
        inner = [(s.body, 0), (s.orelse, 1)] if isinstance(s, If) else [(s.body, 0)] if isinstance(s, For) else []
        for each, side in inner:
            twin = s.twin  # type: ignore[union-attr]
            more = _places(each, how, (*path, (twin.name if twin is not None else None, side)))
            if more is None or (more and twin is None):
                return None
            for name, places in more.items():
                found.setdefault(name, Counter()).update(places)
    return found


def _is_pop(s: Statement) -> bool:
    return isinstance(s, Assign) and isinstance(s.value, Pop)


def _moves(s: Statement, names: frozenset[str]) -> bool:
    """Whether the statement only appends to, or pops from, the one list that it reads."""
    if isinstance(s, Append):
        return s.base == Var(*names) if len(names) == 1 and s.value != s.base else False
    return _is_pop(s)


def _is_sum(name: str, block: Block) -> bool:
    """Whether all that becomes of the name in the block are sums with it."""
    sums, todo = {name}, [name]
    every = list(statements(block))
    while todo:
        found = todo.pop()
        for s in every:
            if found not in reads(s):
                continue
            if not (isinstance(s, Assign) and _adds_to(s, sums)):
                return False
            if s.target not in sums:
                sums.add(s.target)
                todo.append(s.target)
    return all(_adds_to(s, sums) for s in every if isinstance(s, Assign) and s.target in sums) and not any(
        isinstance(s, For) and s.target in sums for s in every
    )


def _sums_kept(block: Block, start: Mapping[str, str]) -> dict[str, str]:
    """Which of the sums that names hold before the block each name holds, with more added to it, after it: in trips
    that exchange two sums, ``a, b = b, a``, what a term is added to depends on the trips before."""
    held = dict(start)
    for s in block:
        match s:
            case Assign():
                of = [held[a.name] for a in atoms(s.value) if isinstance(a, Var) and a.name in held]
                adds = len(of) == 1 and _adds_to(s, set(held))
                held.pop(s.target, None)
                held.update({s.target: of[0]} if adds else {})
            case If():
                held = _agreeing(_sums_kept(s.body, held), _sums_kept(s.orelse, held))
            case For():
                while (after := _agreeing(_sums_kept(s.body, held), held)) != held:
                    held = after
    return held


def _agreeing(one: Mapping[str, str], two: Mapping[str, str]) -> dict[str, str]:
    return {name: of for name, of in one.items() if two.get(name) == of}


def _adds_to(s: Assign, sums: set[str]) -> bool:
    """Whether the statement binds a name to one of the sums, or to one with something else added or taken away."""
    match s.value:
        case Var(name=name):
            return name in sums
        case Op(fn=fn, args=(Var(name=a), b), kwargs=()) if fn in (ADD, SUB) and a in sums:
            return not (isinstance(b, Var) and b.name in sums)
        case Op(fn=fn, args=(a, Var(name=b)), kwargs=()) if fn is ADD and b in sums:
            return not (isinstance(a, Var) and a.name in sums)
    return False
