"""One tape for what each trip of a loop records: ``tape.append((s1, y))`` and ``s1, y = tape.pop()``.

Tapes to which the same block appends once, and from which the same block pops once, grow and shrink together: they are
columns of one. An append moves to the place of another where nothing on the way binds the name that it records, a pop
where nothing on the way has to do with the name that it binds; what is recorded is the same object at both places.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Box
from tangentx.ir.nodes import (
    Append,
    Assign,
    Atom,
    Block,
    Break,
    Continue,
    If,
    Index,
    Key,
    Lit,
    Make,
    Pop,
    Return,
    Statement,
    Var,
)
from tangentx.ir.rewrite import map_blocks, rename
from tangentx.ir.walk import blocks, bound, statement_atoms, statements, used, writes
from tangentx.optimise.facts.tape_shapes import EMPTY
from tangentx.optimise.facts.unit import Unit

MOST = 8
"""Names in a tuple; a longer one is more than a reader takes in."""


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Joins tapes in all functions; True if anything changed."""
    changed = False
    for unit in units:
        done: set[str] = set()
        known = _Statements()
        while (found := next(_groups(unit.body, done, known), None)) is not None:
            unit.body, changed = _joined(program, unit, found, done), True
    return changed


class _Statements:
    """What is asked of statements again and again, while tape after tape is joined; all but a few stay as they are."""

    def __init__(self) -> None:
        self._known: dict[Statement, _Statement] = {}

    def __getitem__(self, s: Statement) -> _Statement:
        if s not in self._known:
            self._known[s] = _Statement(s)
        return self._known[s]


class _Statement:
    """The names that a statement reads and binds itself, and with its blocks; whether control may leave by it."""

    def __init__(self, s: Statement) -> None:
        self.reads = [a.name for a in statement_atoms(s) if isinstance(a, Var)]
        self.names = tuple(dict.fromkeys((*writes(s), *self.reads)))
        self.inside = tuple(statements((s,)))
        self.bound = bound((s,))
        self.all_names = self.bound | used((s,))
        self.leaves = _leaves((s,))


@dataclass(frozen=True, eq=False)
class _Tape:
    """A list that is made empty once, appended to at one place, popped from at another, and has no other use.

    `homes` are the blocks in which that stands.
    """

    made: Assign
    append: Append
    pop: Assign
    homes: tuple[Block, Block, Block]


@dataclass(frozen=True)
class _Group:
    """Tapes that can be one, and the statements before which it is appended to and popped from."""

    tapes: list[_Tape]
    append: Statement
    pop: Statement


def _groups(body: Block, done: Set[str], known: _Statements) -> Iterator[_Group]:
    """What can be joined in the body as it is, tapes that are `done` left out."""
    together: dict[tuple[int, ...], list[_Tape]] = {}
    places: dict[str, list[tuple[Statement, Block]]] = {}
    read: Counter[str] = Counter()
    for block in _every_block(body):
        for s in block:
            read.update(known[s].reads)
            for name in known[s].names:
                places.setdefault(name, []).append((s, block))
    said = _Said(known, read, places)
    for tape in _tapes(places):
        if tape.made.target not in done and said.of(tape):
            together.setdefault(tuple(map(id, tape.homes)), []).append(tape)
    for tapes in together.values():
        if len(tapes) > 1 and (group := _columns(tapes[:MOST], known)) is not None:
            yield group


def _tapes(places: Mapping[str, Sequence[tuple[Statement, Block]]]) -> Iterator[_Tape]:
    for name, found in places.items():
        match [s for s, _ in found]:
            case [
                Assign(value=Make() as empty) as made,
                Append(base=Var(name=longer), value=Var(name=record)) as append,
                Assign(target=popped, value=Pop()) as pop,
            ] if empty == EMPTY and longer == name and name not in (record, popped):
                homes = found[0][1], found[1][1], found[2][1]
                if homes[0] is not homes[1]:
                    yield _Tape(made, append, pop, homes)


def _every_block(block: Block) -> Iterator[Block]:
    """The block and those inside it, in the order of the text."""
    yield block
    for s in statements(block):
        yield from blocks(s)


class _Said:
    """Whether pops are statements of their own in the text; what is read once, and at once, stands in its reader."""

    def __init__(
        self, known: _Statements, read: Counter[str], places: Mapping[str, Sequence[tuple[Statement, Block]]]
    ) -> None:
        self.known = known
        self.read = read
        self.places = places
        self.found: dict[int, tuple[dict[Statement, int], list[int]]] = {}

    def of(self, tape: _Tape) -> bool:
        name, home = tape.pop.target, tape.homes[2]
        if not name.startswith("%") or self.read[name] != 1:
            return True
        at, others = self._numbers(home)
        first = at[tape.pop] + 1
        readers = (at[s] for s, block in self.places[name] if block is home and name in self.known[s].reads)
        return others[next((i for i in readers if i >= first), len(home))] > others[first]

    def _numbers(self, block: Block) -> tuple[dict[Statement, int], list[int]]:
        """The places of the statements of a block, and how many before each place bind no name."""
        if id(block) not in self.found:
            others = itertools.accumulate((not isinstance(s, Assign) for s in block), initial=0)
            self.found[id(block)] = {s: i for i, s in enumerate(block)}, list(others)
        return self.found[id(block)]


def _columns(tapes: list[_Tape], known: _Statements) -> _Group | None:
    """The most of the tapes that can be one."""
    made, appending, popping = tapes[0].homes
    begin = max(made.index(t.made) for t in tapes)
    if not all(t.append in list(statements(made[begin:])) for t in tapes):
        return None
    later = _Gaps(appending, {t.pop for t in tapes}, known, asks_reads=False)
    sooner = _Gaps(popping, {t.append for t in tapes}, known, asks_reads=True)
    waits = {t: later.around(t.append, _record(t)) for t in tapes}
    comes = {t: sooner.around(t.pop, t.pop.target) for t in tapes}
    best: list[_Tape] = []
    for _, last in waits.values():
        there = [t for t in tapes if waits[t][0] <= last <= waits[t][1]]
        for first, _ in (comes[t] for t in there):
            both = [t for t in there if comes[t][0] <= first <= comes[t][1]]
            best = max(best, both, key=len)
    if len(best) < 2:
        return None
    best.sort(key=lambda t: appending.index(t.append))
    at = _place([appending.index(t.append) for t in reversed(best)], [waits[t] for t in best])
    out = _place(sorted(popping.index(t.pop) for t in best), [comes[t] for t in best])
    return _Group(best, appending[at], popping[out])


def _place(own: list[int], gaps: list[tuple[int, int]]) -> int:
    """A gap for all: the first of their own that will do, for what stands there is in the best place for the text."""
    low, high = max(first for first, _ in gaps), min(last for _, last in gaps)
    return next((at for at in own if low <= at <= high), high)


def _record(tape: _Tape) -> str:
    assert isinstance(tape.append.value, Var)
    return tape.append.value.name


class _Gaps:
    """Where a statement of a block may stand as well: a gap has the number of the statement that it comes before.

    It stays on its side of what binds its name, of what control leaves by, and of `others`; with `asks_reads` also of
    what reads the name.
    """

    def __init__(self, block: Block, others: Set[Statement], known: _Statements, asks_reads: bool) -> None:
        self.block = block
        facts = [known[s] for s in block]
        self.names = [fact.all_names if asks_reads else fact.bound for fact in facts]
        self.walls = [fact.leaves or not others.isdisjoint(fact.inside) for fact in facts]

    def around(self, s: Statement, name: str) -> tuple[int, int]:
        """The first and the last gap for `s`, to which the name matters."""
        own = first = last = self.block.index(s)
        while first > 0 and not self._stops(first - 1, name):
            first -= 1
        while last + 1 < len(self.block) and not (last > own and self._stops(last, name)):
            last += 1
        return first, last

    def _stops(self, at: int, name: str) -> bool:
        return self.walls[at] or name in self.names[at]


def _leaves(block: Block) -> bool:
    """Whether control may go elsewhere than to what follows the block."""
    for s in block:
        if isinstance(s, Break | Continue) or any(isinstance(inner, Return) for inner in statements((s,))):
            return True
        if isinstance(s, If) and (_leaves(s.body) or _leaves(s.orelse)):
            return True
    return False


def _joined(program: Program, unit: Unit, group: _Group, done: set[str]) -> Block:
    """The body with one tape for all of the group, which is `done` then."""
    tapes = group.tapes
    name = _fresh((bound(unit.body) - {t.made.target for t in tapes}) | {p.name for p in unit.function.params})
    done.add(name)
    record, popped = f"%{name}.record", f"%{name}.popped"
    new: dict[Statement, Block] = {s: () for t in tapes for s in (t.made, t.append, t.pop)}
    new[tapes[0].made] = (replace(tapes[0].made, target=name),)
    append, pop = tapes[-1].append, min((t.pop for t in tapes), key=tapes[0].homes[2].index)
    kept, renamed = _once(unit, tapes)
    items = tuple(t.append.value for t in kept)
    _tell(program, unit, name, (record, popped), items)
    appended = (Assign(record, Make(tuple, items), append.span), Append(Var(name), Var(record), append.span))
    taken = (Assign(t.pop.target, Index(Var(popped), Key((Lit(i),))), pop.span) for i, t in enumerate(kept))
    new[group.append] = (*appended, *new.get(group.append, (group.append,)))
    new[group.pop] = (Assign(popped, Pop(Var(name)), pop.span), *taken, *new.get(group.pop, (group.pop,)))
    body = _with(unit.body, new)
    return rename(body, renamed) if renamed else body


def _tell(program: Program, unit: Unit, name: str, entries: tuple[str, str], items: Sequence[Atom]) -> None:
    """The kinds of a tape of tuples and of what is one."""
    entry, tape = program.world.region(), program.world.region()
    entry.fields.update({k: unit.kind(program, item) for k, item in enumerate(items)})
    tape.elt = Box(tuple, entry)
    unit.kinds[name] = Box(list, tape)
    unit.kinds.update(dict.fromkeys(entries, tape.elt))


def _once(unit: Unit, tapes: Sequence[_Tape]) -> tuple[list[_Tape], dict[str, str]]:
    """The tapes without those that record what another does, and the names for what was popped from these."""
    first: dict[str, _Tape] = {}
    renamed: dict[str, str] = {}
    for tape in tapes:
        name, other = tape.pop.target, first.setdefault(_record(tape), tape)
        if other is tape or not name.startswith("%"):
            continue
        _, times = unit.counts()
        if times[name] == times[other.pop.target] == 1:
            renamed[name] = other.pop.target
    return [tape for tape in tapes if tape.pop.target not in renamed], renamed


def _fresh(known: Set[str]) -> str:
    names = itertools.chain(["tape"], (f"tape_{k}" for k in itertools.count(1)))
    return next(name for name in names if name not in known)


def _with(block: Block, new: Mapping[Statement, Block]) -> Block:
    """The block with some statements replaced, also by more before them."""
    return tuple(map_blocks(other, lambda inner: _with(inner, new)) for s in block for other in new.get(s, (s,)))
