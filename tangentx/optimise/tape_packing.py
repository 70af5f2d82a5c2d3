"""Packing of tapes: one tape for all that a trip of a loop records, ``tape.append((s1, y))`` and ``s1, y =
tape.pop()``.

Tapes to which the same block appends once, and from which the same block pops once, grow and shrink together: they are
columns of one. An append moves to the place of another where nothing on the way binds the name that it records, a pop
where nothing on the way has to do with the name that it binds; what is recorded is the same object at both places.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Box
from tangentx.ir.markers import EMPTY, STATE, is_tape
from tangentx.ir.nodes import (
    Append,
    Assign,
    Atom,
    Block,
    Break,
    Continue,
    Function,
    If,
    Index,
    Key,
    Link,
    Lit,
    Make,
    Param,
    Pop,
    Return,
    Statement,
    Var,
)
from tangentx.ir.rewrite import map_blocks, rename
from tangentx.ir.value_names import ValueNames, stem, with_stem
from tangentx.ir.walk import blocks, bound, statement_atoms, statements, writes
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.sweep_pairs import item_of, paired, place_in, saving
from tangentx.optimise.facts.unit import Unit, counts

# The two sweeps of a callee as one body, in which what the first saves of tapes is at hand in the second.
#
#     saved = (u, u_tape, v_tape)                 u_tape, v_tape are those of the forward sweep, as if both
#     ...                                         sweeps stood in one function
#     u_tape, v_tape = saved[1], saved[2]
#
# Between the sweeps nothing happens to a tape that is only saved by the one and taken by the other. Written as one
# body, they are packed as the tapes of any function; then the body is cut again, and what goes across is what is
# saved.

_THERE = "'"
"""What marks the names of the second function while both are one body, so that none means two things."""


def packed(program: Program, first: Unit, second: Unit, pack: Callable[[Program, Unit, Set[str]], bool]) -> bool:
    """Packs the tapes that one function, a sweep of a callee, fills and the other empties, by `pack`, which is given
    both as one body and the names of these tapes; True if that changed anything."""
    made = saving(first, second)
    tapes = {} if made is None else _crossing(first, second, made)
    if made is None or len(tapes) < 2:
        return False
    names = dict.fromkeys((*(p.name for p in second.function.params), *bound(second.body)))
    again = dict(zip(names, names, strict=True)) | _called_as_recorded(second, tapes)
    there = {name: tapes.get(name) or _there(again[name]) for name in names}
    both = _together(first, second, made, there, set(tapes.values()))
    if not pack(program, both, set(tapes.values())):
        return False
    _cut(both, first, second, made.target, {there[name]: again[name] for name in names if name not in tapes})
    _note_saved(program, first, made.target)
    return True


def _there(name: str) -> str:
    number, colon, called = name.partition(":")
    return f"{number}{_THERE}{colon}{called}"


def _called_as_recorded(second: Unit, tapes: Mapping[str, str]) -> dict[str, str]:
    """Temporaries that are taken off a tape, with what they are called while the tape says what it records."""
    words = ValueNames(second.body)
    found: dict[str, str] = {}
    for s in second.statements():
        match s:
            case Assign(target=name, value=Pop(base=tape)) if name.startswith("%") and tape.name in tapes:
                found[name] = with_stem(name, stem(name) or words.known(name))
    return found


def _crossing(first: Unit, second: Unit, made: Assign) -> dict[str, str]:
    """The tapes that one function fills and the other empties: the names here by those there."""
    assert isinstance(made.value, Make)
    read, times = first.counts()
    taken, places = second.counts()
    state = str(second.function.notes[STATE])
    empty = {s.target for s in first.body if isinstance(s, Assign) and s.value == EMPTY and times[s.target] == 1}
    found: dict[str, str] = {}
    for s in second.body:
        place = place_in(s, state) if isinstance(s, Assign) else None
        if place is None or not isinstance(s, Assign):
            continue
        item = made.value.items[place]
        if isinstance(item, Var) and item.name in empty and read[item.name] == 2:
            found[s.target] = item.name  # appended to once, and saved
    times_found = Counter(found.values())
    return {name: tape for name, tape in found.items() if (taken[name], places[name], times_found[tape]) == (1, 1, 1)}


def _together(first: Unit, second: Unit, made: Assign, there: dict[str, str], tapes: set[str]) -> Unit:
    """Both as one function, of which no name is free that either has. What is saved has no tapes."""
    assert isinstance(made.value, Make)
    left = [i for i, item in enumerate(made.value.items) if not (isinstance(item, Var) and item.name in tapes)]
    saves = replace(made, value=replace(made.value, items=tuple(made.value.items[i] for i in left)))
    state = str(second.function.notes[STATE])
    behind: list[Statement] = []
    for s in second.body:
        place = place_in(s, state) if isinstance(s, Assign) else None
        if place is None or not isinstance(s, Assign):
            behind.append(s)
        elif place in left:
            behind.append(replace(s, value=item_of(state, left.index(place))))
    body = (*(saves if s is made else s for s in first.body), *rename(tuple(behind), there))
    names = dict.fromkeys((*there, *there.values()))
    params = (*first.function.params, *(Param(name) for name in names if name not in tapes))
    function = Function(first.function.name, params, body, first.function.span)
    kinds = {there[name]: kind for name, kind in second.kinds.items() if name in there}
    return Unit(Link(function.name, function), {**kinds, **first.kinds}, second.result)


def _cut(both: Unit, first: Unit, second: Unit, saved: str, back: dict[str, str]) -> None:
    """Writes the two functions again; `back` has the names of the second by those in the body of both."""
    end = next(i for i, s in enumerate(both.body) if isinstance(s, Return)) + 1
    ahead, behind = both.body[:end], both.body[end:]
    read, _ = counts(statements(behind))
    across = [s.target for s in ahead if isinstance(s, Assign) and read[s.target]]
    saves = next(s for s in ahead if isinstance(s, Assign) and s.target == saved)
    assert isinstance(saves.value, Make)
    items = (*saves.value.items, *map(Var, across))
    whole = replace(saves, value=replace(saves.value, items=items))
    first.body = tuple(whole if s is saves else s for s in ahead)
    state, span = str(second.function.notes[STATE]), second.function.span
    kept = len(items) - len(across)
    taken = (Assign(name, item_of(state, kept + i), span) for i, name in enumerate(across))
    own = rename(behind, back)
    begin = next(i for i, s in enumerate(own) if not isinstance(s, Assign) or place_in(s, state) is None)
    second.body = (*own[:begin], *taken, *own[begin:])
    first.kinds |= {name: both.kinds[name] for name in across}
    second.kinds |= {back.get(name, name): kind for name, kind in both.kinds.items() if name in read or name in back}


def _note_saved(program: Program, first: Unit, saved: str) -> None:
    """Tells the kind of what is saved of its items as they are now."""
    node = memory.region(first.kinds[saved])
    made = next(s.value for s in first.body if isinstance(s, Assign) and s.target == saved)
    assert node is not None and isinstance(made, Make)
    node.fields = {i: first.kind(program, item) for i, item in enumerate(made.items)}


MANY = 3
"""Tapes that are one even where each record would be popped in the expression that reads it."""
MOST = 8
"""Names in a tuple; a longer one is more than a reader takes in."""


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Joins tapes in all functions, and those between the two functions of a callee; True if anything changed."""
    alone = [_packed(program, unit, unit.counts()[1].keys()) for unit in units]
    between = [packed(program, first, second, _packed) for first, second in paired(units)]
    return any(alone) or any(between)


def _packed(program: Program, unit: Unit, tapes: Set[str]) -> bool:
    """Joins those of the `tapes` of a function that can be one."""
    changed = False
    done = set(unit.counts()[1]) - tapes
    known = _Statements()
    while True:
        scan = _Scan(unit, done, known)
        while not scan.outdated and (group := scan.group()) is not None:
            scan.join(program, group)
        if scan.edited:
            unit.body, changed = scan.body(), True
        if not scan.outdated:
            return changed


class _Statements:
    """What is asked of statements again and again, while tape after tape is joined; all but a few stay as they are."""

    def __init__(self) -> None:
        self._known: dict[Statement, _Statement] = {}

    def __getitem__(self, s: Statement) -> _Statement:
        if s not in self._known:
            for each in reversed([*statements((s,))]):  # what stands in its blocks comes first
                if each not in self._known:
                    inner = [self._known[one] for block in blocks(each) for one in block]
                    self._known[each] = _Statement(each, inner)
        return self._known[s]


class _Statement:
    """The names that a statement reads and binds itself, and with its blocks; whether control may leave by it."""

    def __init__(self, s: Statement, inner: Sequence[_Statement]) -> None:
        self.reads = [a.name for a in statement_atoms(s) if isinstance(a, Var)]
        self.names = tuple(dict.fromkeys((*writes(s), *self.reads)))
        self.bound: frozenset[str] = writes(s).union(*(each.bound for each in inner))
        self.all_names: frozenset[str] = frozenset(self.names).union(*(each.all_names for each in inner))
        self.returns: bool = isinstance(s, Return) or any(each.returns for each in inner)
        self.leaves: bool = self.returns or isinstance(s, Break | Continue)
        if isinstance(s, If):
            self.leaves = self.leaves or any(each.leaves for each in inner)


@dataclass(frozen=True, eq=False)
class _Tape:
    """A list that is made empty once, appended to at one place, popped from at another, and has no other use.

    `homes` are the blocks in which that stands, `first` is its place among all tapes.
    """

    made: Assign
    append: Append
    pop: Assign
    homes: tuple[Block, Block, Block]
    first: int


@dataclass(frozen=True)
class _Group:
    """Tapes that can be one, and the statements before which it is appended to and popped from."""

    tapes: list[_Tape]
    append: Statement
    pop: Statement


class _Scan:
    """The tapes of a function's body, and its blocks as they become while tapes are joined.

    What was found of the tapes that are left holds on while others are joined. It is `outdated` where names have been
    exchanged, or an append has moved where tapes are popped from.
    """

    def __init__(self, unit: Unit, done: set[str], known: _Statements) -> None:
        self.unit = unit
        self.done = done
        self.outdated = False
        self.edited: dict[int, _Edited] = {}
        self._known = known
        self._renamed: dict[str, str] = {}
        self._bound = bound(unit.body) | {p.name for p in unit.function.params}
        self._homes: dict[Statement, tuple[Block, Statement | None]] = {}
        places: dict[str, list[tuple[Statement, Block]]] = {}
        read: Counter[str] = Counter()
        for block, owner in _every_block(unit.body):
            for s in block:
                self._homes[s] = block, owner
                read.update(known[s].reads)
                for name in known[s].names:
                    places.setdefault(name, []).append((s, block))
        said = _Said(known, read, places)
        self._together: dict[tuple[int, ...], list[_Tape]] = {}
        found: dict[tuple[int, ...], list[_Tape]] = {}
        for tape in _tapes(places):
            if tape.made.target not in done:
                found.setdefault(tuple(map(id, tape.homes)), []).append(tape)
        for homes, tapes in found.items():
            if chosen := tapes if len(tapes) >= MANY else [tape for tape in tapes if said.of(tape)]:
                self._together[homes] = chosen
        self._popping = {homes[2] for homes in self._together}
        self._hopeless: dict[tuple[int, ...], tuple[int, ...]] = {}

    def group(self) -> _Group | None:
        """The first that can be joined, in the order of the text."""
        for homes, tapes in sorted(self._together.items(), key=lambda item: item[1][0].first):
            state = tuple(self.edited[home].version if home in self.edited else 0 for home in homes)
            if len(tapes) > 1 and self._hopeless.get(homes) != state:
                if (group := _columns(tapes[:MOST], self)) is not None:
                    return group
                self._hopeless[homes] = state
        return None

    def block(self, block: Block) -> _Edited:
        """A block as it is now."""
        if id(block) not in self.edited:
            self.edited[id(block)] = _Edited(block, self._known)
        return self.edited[id(block)]

    def holder(self, block: Block, s: Statement) -> Statement | None:
        """The statement of the block that is `s`, or in which it stands; None where it stands elsewhere."""
        at: Statement | None = s
        while at is not None:
            home, owner = self._homes[at]
            if home is block:
                return at
            at = owner
        return None

    def join(self, program: Program, group: _Group) -> None:
        """Has one tape for all of the group, which is `done` then."""
        tapes = group.tapes
        made, appending, popping = map(self.block, tapes[0].homes)
        self._bound -= {t.made.target for t in tapes}
        name = _fresh(self._bound)
        record, popped = f"%{name}.record", f"%{name}.popped"
        self.done.add(name)
        self._bound |= {name, record, popped}
        kept, renamed = _once(self.unit, tapes)
        self._renamed |= renamed
        items = tuple(t.append.value for t in kept)
        _tell(program, self.unit, name, (record, popped), items)
        append, pop = tapes[-1].append, min((t.pop for t in tapes), key=popping.at)
        appended = (Assign(record, Make(tuple, items), append.span), Append(Var(name), Var(record), append.span))
        taken = (Assign(t.pop.target, Index(Var(popped), Key((Lit(i),))), pop.span) for i, t in enumerate(kept))
        made.replace(tapes[0].made, replace(tapes[0].made, target=name))
        appending.insert(group.append, appended)
        popping.insert(group.pop, (Assign(popped, Pop(Var(name), len(kept)), pop.span), *taken))
        made.remove({t.made for t in tapes[1:]})
        appending.remove({t.append for t in tapes})
        popping.remove({t.pop for t in tapes})
        self._leave_out(tapes)
        self.outdated = bool(renamed) or id(tapes[0].homes[1]) in self._popping

    def _leave_out(self, tapes: Sequence[_Tape]) -> None:
        homes = tuple(map(id, tapes[0].homes))
        left = [tape for tape in self._together.pop(homes) if tape not in tapes]
        if left:
            self._together[homes] = left

    def body(self) -> Block:
        """The function's body with what has been joined."""
        body = self._written(self.unit.body)
        return rename(body, self._renamed) if self._renamed else body

    def _written(self, block: Block) -> Block:
        edited = self.edited.get(id(block))
        return tuple(map_blocks(s, self._written) for s in (block if edited is None else edited.statements))


class _Edited:
    """A block as it becomes: its statements, and which of them read or bind a name."""

    def __init__(self, block: Block, known: _Statements) -> None:
        self.statements = _apart(block)
        self.version = 0
        self._known = known
        self._naming: dict[str, dict[Statement, None]] = {}
        self._leaving = [s for s in self.statements if known[s].leaves]
        self._places: dict[Statement, int] | None = None
        for s in self.statements:
            self._enter(s)

    def _enter(self, s: Statement) -> None:
        for name in self._known[s].all_names:
            self._naming.setdefault(name, {})[s] = None

    def at(self, s: Statement) -> int:
        """The place of a statement."""
        if self._places is None:
            self._places = {s: at for at, s in enumerate(self.statements)}
        return self._places[s]

    def leaving(self) -> list[int]:
        """The places that control may leave by."""
        return [self.at(s) for s in self._leaving]

    def naming(self, name: str, asks_reads: bool) -> list[int]:
        """The places that bind a name, or with `asks_reads` have to do with it."""
        found = self._naming.get(name, {})
        return [self.at(s) for s in found if asks_reads or name in self._known[s].bound]

    def insert(self, before: Statement, new: Sequence[Statement]) -> None:
        """Puts statements before another."""
        at = self.at(before)
        self.statements[at:at] = new
        for s in new:
            self._enter(s)
        self._touched()

    def replace(self, old: Statement, new: Statement) -> None:
        """Puts a statement in the place of another."""
        self.insert(old, (new,))
        self.remove({old})

    def remove(self, gone: Set[Statement]) -> None:
        """Takes statements out."""
        self.statements = [s for s in self.statements if s not in gone]
        for s in gone:
            for name in self._known[s].all_names:
                del self._naming[name][s]
        self._touched()

    def _touched(self) -> None:
        self._places = None
        self.version += 1


def _apart(block: Block) -> list[Statement]:
    """The statements of a block, of which no two are one object."""
    found: dict[Statement, None] = {}
    for s in block:
        found[replace(s) if s in found else s] = None
    return list(found)


def _tapes(places: Mapping[str, Sequence[tuple[Statement, Block]]]) -> Iterator[_Tape]:
    numbers = itertools.count()
    for name, found in places.items():
        if is_tape(name, [s for s, _ in found]):
            made, append, pop = (s for s, _ in found)
            assert isinstance(made, Assign) and isinstance(append, Append) and isinstance(pop, Assign)
            homes = found[0][1], found[1][1], found[2][1]
            if homes[0] is not homes[1]:
                yield _Tape(made, append, pop, homes, next(numbers))


def _every_block(block: Block) -> Iterator[tuple[Block, Statement | None]]:
    """The block and those inside it, in the order of the text, and the statements to which they belong."""
    yield block, None
    for s in statements(block):
        for inner in blocks(s):
            yield inner, s


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


def _columns(tapes: list[_Tape], scan: _Scan) -> _Group | None:
    """The most of the tapes that can be one."""
    made, appending, popping = map(scan.block, tapes[0].homes)
    begin = max(made.at(t.made) for t in tapes)
    inside = [scan.holder(tapes[0].homes[0], t.append) for t in tapes]
    if not all(s is not None and made.at(s) >= begin for s in inside):
        return None
    later = _Gaps(appending, [scan.holder(tapes[0].homes[1], t.pop) for t in tapes], asks_reads=False)
    sooner = _Gaps(popping, [scan.holder(tapes[0].homes[2], t.append) for t in tapes], asks_reads=True)
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
    best.sort(key=lambda t: appending.at(t.append))
    at = _place([appending.at(t.append) for t in reversed(best)], [waits[t] for t in best])
    out = _place(sorted(popping.at(t.pop) for t in best), [comes[t] for t in best])
    return _Group(best, appending.statements[at], popping.statements[out])


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

    def __init__(self, block: _Edited, others: Sequence[Statement | None], asks_reads: bool) -> None:
        self.block = block
        self.asks_reads = asks_reads
        self.walls = [*block.leaving(), *(block.at(s) for s in others if s is not None)]

    def around(self, s: Statement, name: str) -> tuple[int, int]:
        """The first and the last gap for `s`, to which the name matters."""
        own, stops = self.block.at(s), self._stops(name)
        first = max((at + 1 for at in stops if at < own), default=0)
        last = min((at for at in stops if at > own), default=len(self.block.statements) - 1)
        return first, last

    def _stops(self, name: str) -> list[int]:
        return [*self.walls, *self.block.naming(name, self.asks_reads)]


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
