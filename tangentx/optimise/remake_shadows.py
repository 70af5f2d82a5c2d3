"""Rematerialisation of shadows: arrays and views that the forward sweep makes only to put them on a tape are made in
the reverse sweep instead.

A list of constants is made there again. So is the shadow of an array that is bound anew: it is still all zeros, and as
the array itself is taken back with it, ``h_bar = np.zeros_like(h)`` will do. For that the two must have been bound
together everywhere, and nothing but its record may read the shadow in the forward sweep.

Where two arrays take turns (``v = u.copy(); ...; u = v`` in each trip), so do their shadows. What was `v`'s when the
trip ended is `u`'s where the reverse sweep comes to that trip, and nothing has been added to the one that `u` had
before:

    v_bar, u_bar = tape.pop()       is        v_bar = u_bar; u_bar = np.zeros_like(v_bar)

The two functions of a callee are looked at as the two sweeps of one function. What the first one makes once, and saves
for the second alone, the second makes too:

    u = u0 * u0                               u_bar = np.zeros_like(u)
    u_bar = np.zeros_like(u)                  g_backward(u, u_bar, ...)
    saved = u, u_bar
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.common.naming import Names
from tangentx.ir.markers import EMPTY, REVERSE, STATE
from tangentx.ir.nodes import (
    Append,
    Assign,
    Atom,
    Block,
    Expr,
    For,
    Link,
    Lit,
    Make,
    Note,
    Op,
    Pop,
    Statement,
    Var,
)
from tangentx.ir.rewrite import map_blocks, rename
from tangentx.ir.walk import WITH_BLOCKS, atoms, blocks, reads, statements, writes
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.dataflow import LEAVING, sweeps
from tangentx.optimise.facts.sweep_pairs import item_of, paired, place_in, saving
from tangentx.optimise.facts.tape_shapes import appending
from tangentx.optimise.facts.unit import Unit

_COPIES = (np.copy, np.ndarray.copy, arrays.clone, arrays.entry_copy)
_LIKES = (*_COPIES, np.zeros_like, np.ones_like, np.empty_like)
_MAKERS = (np.zeros_like, arrays.zeros_as, arrays.real_zero, arrays.zero)


@dataclass(frozen=True, eq=False)
class _Place:
    """A statement with the block that it stands in, its position there, and that of the statement of the sweep's own
    block which holds it."""

    statement: Statement
    block: Block
    position: int
    outermost: int


class _Sweep:
    """The statements of one sweep, where they stand, and which of them read and bind each name."""

    def __init__(self, block: Block, params: Iterable[str] = (), saving: Statement | None = None) -> None:
        self.places: list[_Place] = list(_places(block))
        self.outer = block
        self.params = frozenset(params)
        self.readers: dict[str, list[_Place]] = {}
        self.binders: dict[str, list[_Place]] = {}
        for place in self.places:
            for name in reads(place.statement) if place.statement is not saving else ():
                self.readers.setdefault(name, []).append(place)
            for name in writes(place.statement):
                self.binders.setdefault(name, []).append(place)

    def once(self, name: str) -> bool:
        """Whether one statement binds the name, and no call does."""
        return len(self.binders.get(name, ())) == 1 and name not in self.params

    def value(self, place: _Place) -> Expr | None:
        """What a statement binds; of a temporary that stands before it in its block, what that is bound to."""
        s = place.statement
        if not isinstance(s, Assign):
            return None
        name = s.value.name if isinstance(s.value, Var) else ""
        made = self.binders.get(name, ())
        if len(made) == 1 and _straight(made[0], place) and made[0].position < place.position:
            return _value(made[0]) if self.readers[name] == [place] else s.value
        return s.value


def _places(block: Block, outermost: int | None = None) -> Iterator[_Place]:
    for i, s in enumerate(block):
        top = i if outermost is None else outermost
        yield _Place(s, block, i, top)
        for inner in blocks(s):
            yield from _places(inner, top)


def _straight(a: _Place, b: _Place) -> bool:
    """Whether control passes from the one to the other, whichever comes first, and nowhere else between."""
    first, last = sorted((a.position, b.position))
    between = a.block[first + 1 : last]
    return a.block is b.block and not any(type(s) in WITH_BLOCKS or type(s) in LEAVING for s in between)


class _Anew:
    """Two sweeps: for each tape that one statement appends to and one pops from, what stands for the latter."""

    def __init__(self, forward: _Sweep, reverse: _Sweep, tapes: Iterable[str]) -> None:
        self.forward, self.reverse = forward, reverse
        self.instead: dict[int, Expr] = {}
        self.shadows: dict[str, Expr] = {}
        uses = [(self.forward.readers.get(t, ()), self.reverse.readers.get(t, ())) for t in tapes]
        self.pairs = [(a[0], b[0]) for a, b in uses if len(a) == len(b) == 1 and _is_pair_of_tape(a[0], b[0])]
        for append, pop in self.pairs:
            self._in_turns(append, pop)
        for append, pop in self.pairs:
            if id(pop.statement) not in self.instead:
                self._look(append, pop)

    def applied(self, body: Block) -> Block:
        """The body with new things in place of those taken back, and shadows made where the reverse sweep begins."""
        marks = [i for i, s in enumerate(body) if isinstance(s, Note) and s.text == REVERSE]
        first = tuple(Assign(name, value, body[marks[-1]].span) for name, value in self.shadows.items())
        return (*body[: marks[-1] + 1], *first, *self.replaced(body[marks[-1] + 1 :]))

    def replaced(self, block: Block) -> Block:
        """A block with new things in place of those taken back."""
        return tuple(self._statement(s) for s in block)

    def _statement(self, s: Statement) -> Statement:
        if id(s) in self.instead and isinstance(s, Assign):
            return Assign(s.target, self.instead[id(s)], s.span)
        return map_blocks(s, self.replaced)

    def _look(self, record: _Place, taken: _Place) -> None:
        append = record.statement
        assert isinstance(append, Append)
        if not isinstance(append.value, Var) or self.forward.readers[append.value.name] != [record]:
            return
        binders = self.forward.binders.get(append.value.name, [])
        values = [self.forward.value(place) for place in binders]
        if len(values) == 1 and _is_constant(values[0]) and _straight(binders[0], record):
            if append.value.name not in self.reverse.readers:
                self._put(taken, values[0])
        elif values and all(map(_maker, values)) and not self._temporaries(binders) & self.reverse.readers.keys():
            if len(binders) == 1 and _straight(binders[0], record) and binders[0].position < record.position:
                self._of_one_trip(record, taken, binders[0])
            else:
                self._shadow(append.value.name, record, taken, binders)

    def _in_turns(self, record: _Place, taken: _Place) -> None:
        """The shadow of an array that takes turns with one that is made in each trip."""
        append = record.statement
        assert isinstance(append, Append) and isinstance(taken.statement, Assign)
        old = append.value.name if isinstance(append.value, Var) else ""
        binders = self.forward.binders.get(old, [])
        if len(binders) != 2 or self.forward.readers[old] != [record] or binders[0].block is not self.forward.outer:
            return
        (first, turn), made = binders, _maker(self.forward.value(binders[0]))
        if made is None or not _straight(record, turn) or turn.position < record.position or not self._once(record):
            return
        primal, new = _operand(self.forward.value(first)), _value(turn)
        if not (isinstance(primal, Var) and isinstance(new, Var) and self._is_turned(primal, new, record, turn)):
            return
        for other, back in self.pairs:
            held, popped = other.statement, back.statement
            assert isinstance(held, Append) and isinstance(popped, Assign)
            alone = held.value == new and set(map(id, self.forward.readers[new.name])) == {id(other), id(turn)}
            if alone and other.block is record.block and self._is_mirrored(old, back, taken):
                self._put(back, Var(old))
                self._put(taken, Op(made, (Var(popped.target),)))
                self.shadows[old] = Op(made, (primal,))
                return

    def _once(self, place: _Place) -> bool:
        """Whether a statement is run once in each trip of a loop that is run once, and left at its end."""
        loop = self._loop_of(place, self.forward)
        if loop is None:
            return False
        return not any(type(s) in LEAVING for s in statements(loop.body))

    @staticmethod
    def _loop_of(place: _Place, sweep: _Sweep) -> For | None:
        outermost = sweep.outer[place.outermost]
        return outermost if isinstance(outermost, For) and outermost.body is place.block else None

    def _is_turned(self, primal: Var, new: Var, record: _Place, turn: _Place) -> bool:
        """Whether the array is bound, beside its shadow, to what has been made in its form in the same trip, of which
        `new` is the shadow."""
        binders = [b for b in self.forward.binders.get(primal.name, ()) if b.block is record.block]
        shadow = self.forward.binders.get(new.name, [])
        if len(self.forward.binders.get(primal.name, ())) != 2 or len(binders) != 1 or not self.forward.once(new.name):
            return False
        maker, array = self.forward.value(shadow[0]), _value(binders[0])
        made = _operand(maker)
        if _maker(maker) is None or not isinstance(made, Var) or not self.forward.once(made.name):
            return False
        (origin,) = self.forward.binders[made.name]
        value = _value(origin)
        like = isinstance(value, Op) and value.fn in _LIKES and value.args == (primal,) and not value.kwargs
        beside = _straight(turn, binders[0]) and all(_straight(b, record) for b in (origin, shadow[0]))
        before = origin.position < shadow[0].position < record.position < binders[0].position
        return like and beside and before and self._is_name_for(array, made.name, binders[0])

    def _is_mirrored(self, old: str, back: _Place, taken: _Place) -> bool:
        """Whether both shadows are taken back at the beginning of a trip, before anything reads them."""
        popped = taken.statement
        assert isinstance(popped, Assign)
        loop = self._loop_of(taken, self.reverse)
        bound = self.reverse.binders.get(old, [])
        if loop is None or back.block is not taken.block or not back.position < taken.position or len(bound) != 1:
            return False
        if bound[0].block is not taken.block or _value(bound[0]) not in (Var(popped.target), popped.value):
            return False
        until = taken.block[: bound[0].position + 1]
        early = any(old in reads(s) for s in until) or any(type(s) in WITH_BLOCKS for s in until)
        return not early and not any(type(s) in LEAVING for s in statements(loop.body))

    def _of_one_trip(self, record: _Place, taken: _Place, binder: _Place) -> None:
        """The shadow of an array that is bound in the same trip: like what it is a copy of, if that is bound for good,
        or like the array, taken back beside it."""
        value = self.forward.value(binder)
        assert isinstance(value, Op) and isinstance(value.args[0], Var)
        like = self._copied(value.args[0].name, binder) or self._taken_back(value.args[0].name, record, taken)
        if like is not None:
            self._put(taken, Op(value.fn, (Var(like),)))

    def _taken_back(self, name: str, record: _Place, taken: _Place) -> str | None:
        """The name that the reverse sweep has for an array which is bound once and recorded in the same trip."""
        for other, back in self.pairs:
            held, popped = other.statement, back.statement
            assert isinstance(held, Append) and isinstance(popped, Assign)
            same = self.forward.once(name) and self._is_name_for(held.value, name, other)
            if same and _straight(record, other) and _straight(taken, back) and back.position < taken.position:
                if not any(_between(b, back, taken) for b in self.reverse.binders[popped.target] if b is not back):
                    return popped.target
        return None

    def _is_name_for(self, atom: Expr | None, name: str, place: _Place) -> bool:
        """Whether an atom stands for the array which a name is bound to, in the same trip: ``w = t``."""
        if atom == Var(name):
            return True
        if not isinstance(atom, Var) or not self.forward.once(atom.name):
            return False
        (binder,) = self.forward.binders[atom.name]
        return _value(binder) == Var(name) and _straight(binder, place) and binder.position < place.position

    def _copied(self, name: str, reader: _Place) -> str | None:
        """The array that a name holds a copy of where a statement reads it, if nothing binds that anew later."""
        while True:
            binders = self.forward.binders.get(name, [])
            if not binders or (len(binders) == 1 and binders[0].block is self.forward.outer):
                lasts = name not in self.reverse.binders
                return name if lasts and all(b.position < reader.outermost for b in binders) else None
            value = _value(binders[0])
            if isinstance(value, Op) and value.fn in _COPIES and not value.kwargs and len(value.args) == 1:
                value = value.args[0]
            if not self.forward.once(name) or not isinstance(value, Var):
                return None
            name, reader = value.name, binders[0]

    def _shadow(self, shadow: str, record: _Place, taken: _Place, binders: Sequence[_Place]) -> None:
        """The shadow of an array that is recorded and taken back beside it."""
        again = any(_straight(record, b) and b.position > record.position for b in binders)
        first = any(b.block is self.forward.outer for b in binders)
        if not (again and first):
            return
        for other, back in self.pairs:
            held = other.statement
            assert isinstance(held, Append)
            if not isinstance(held.value, Var) or not _straight(record, other) or not _straight(taken, back):
                continue
            primal = held.value.name
            if self._is_back(primal, back, taken) and self._together(shadow, primal, record, other):
                fn = self._fn(binders)
                self._put(taken, Op(fn, (Var(primal),)))
                self.shadows[shadow] = Op(fn, (Var(primal),))
                return

    def _temporaries(self, binders: Sequence[_Place]) -> set[str]:
        """What the names were bound from."""
        given = (_value(place) for place in binders)
        return {value.name for value in given if isinstance(value, Var)}

    def _put(self, taken: _Place, value: Expr | None) -> None:
        assert value is not None
        self.instead[id(taken.statement)] = value

    def _fn(self, binders: Sequence[_Place]) -> Callable[..., Any]:
        found = {maker for b in binders if (maker := _maker(self.forward.value(b))) is not None}
        return found.pop() if len(found) == 1 else arrays.real_zero

    def _is_back(self, primal: str, back: _Place, taken: _Place) -> bool:
        """Whether the array has its name again where its shadow is taken back."""
        bound = [b for b in self.reverse.binders.get(primal, ()) if b.block is back.block]
        between = [b for b in bound if back.position <= b.position < taken.position]
        return len(between) == 1 and self.reverse.value(between[0]) is _value(back)

    def _together(self, shadow: str, primal: str, record: _Place, other: _Place) -> bool:
        """Whether the shadow is all zeros of the array's shape wherever they are recorded."""
        mine, its = self.forward.binders[shadow], self.forward.binders.get(primal, [])
        if any(_between(b, record, other) for b in (*mine, *its)):
            return False
        return all(any(self._is_pair(m, i, primal, record) for m in mine) for i in its) and all(
            _operand(self.forward.value(m)) == Var(primal) or any(self._is_pair(m, i, primal, record) for i in its)
            for m in mine
        )

    def _is_pair(self, mine: _Place, its: _Place, primal: str, record: _Place) -> bool:
        """Whether the array is bound by the one and its shadow by the other, at once."""
        if not _straight(mine, its) or _between(record, mine, its):
            return False
        operand, value = _operand(self.forward.value(mine)), _value(its)
        if operand == Var(primal):
            return its.position < mine.position
        return isinstance(operand, Var) and self.forward.once(operand.name) and operand == value


def _between(place: _Place, a: _Place, b: _Place) -> bool:
    first, last = sorted((a.position, b.position))
    return place.block is a.block and first < place.position < last


def _is_pair_of_tape(append: _Place, pop: _Place) -> bool:
    """Whether the one appends, in the forward sweep, and the other pops; a tape may be measured, too."""
    return isinstance(append.statement, Append) and isinstance(_value(pop), Pop)


class _Pair:
    """The two functions of a callee: `made` is the tuple of what the first saves. The body of the second is looked at
    under the names of the first; `called` has the names that it has there, by those."""

    def __init__(self, first: Unit, second: Unit, made: Assign, blank: frozenset[tuple[Link, str]]) -> None:
        self.first, self.second, self.made = first, second, made
        assert isinstance(made.value, Make)
        self.items, self.state = made.value.items, str(second.function.notes[STATE])
        self.params = frozenset(p.name for p in first.function.params)
        again = {p.name for p in second.function.params if (second.link, p.name) not in blank}
        self.again = self.params & again
        renamed = self._names()
        self.called = {new: old for old, new in renamed.items()}
        body = rename(second.body, renamed)
        self.taken = tuple(s for s in body if isinstance(s, Assign) and self._is_taken(s))
        back = set(map(id, self.taken))
        self.forward = _Sweep(first.body, self.params, made)
        self.reverse = _Sweep(tuple(s for s in body if id(s) not in back))

    def _names(self) -> dict[str, str]:
        """What the names of the second function are in the first, and other names for those that mean another thing."""
        given = {*self.params, *(p.name for p in self.second.function.params)}
        saved = [a.name if isinstance(a, Var) else "" for a in self.items]
        once = {name for name in saved if saved.count(name) == 1 and name not in given}
        takes = ((s.target, place_in(s, self.state)) for s in self.second.body if isinstance(s, Assign))
        same = {target: saved[k] for target, k in takes if k is not None and saved[k] in once}
        bound = self.second.counts()[1]
        fresh = Names([*bound, *self.first.counts()[1], *given])
        clash = (bound.keys() - same.keys()) & {*self.first.counts()[1], *same.values()}
        return {**{name: fresh.fresh(name) for name in sorted(clash)}, **same}

    def _is_taken(self, s: Assign) -> bool:
        k = place_in(s, self.state)
        return k is not None and Var(s.target) == self.items[k]

    def rewritten(self) -> bool:
        """Makes in the second function what need not be saved; True if there is anything."""
        found = _Anew(self.forward, self.reverse, self._tapes())
        begin = {**found.shadows, **self._once()}
        if not (found.instead or begin):
            return False
        needed = {name for value in (*begin.values(), *found.instead.values()) for name in _names(value)}
        stay = [s for s in self.taken if s.target not in begin]
        more = sorted(needed - self.again - {s.target for s in stay} - self.reverse.binders.keys())
        self._save(more)
        span = self.second.function.span
        body = (
            *stay,
            *(Assign(name, item_of(self.state, len(self.items) + k), span) for k, name in enumerate(more)),
            *(Assign(name, value, span) for name, value in begin.items()),
            *found.replaced(self.reverse.outer),
        )
        self.second.body = rename(body, self.called)
        return True

    def _tapes(self) -> list[str]:
        """The lists that the first function makes, empty, to append to; what it appends to others, or to those of an
        object, is read by whoever has them too."""
        appended = dict.fromkeys(name for place in self.forward.places if (name := _tape_of(place.statement)))
        return [name for name in appended if self.forward.once(name) and _value(self.forward.binders[name][0]) == EMPTY]

    def _save(self, more: Sequence[str]) -> None:
        """Saves the values of some more names."""
        node = memory.region(self.first.kinds[self.made.target])
        assert node is not None
        fresh = Names([*self.second.kinds, *self.called])
        for k, name in enumerate(more):
            self.called[name] = fresh.fresh(name)
            node.fields[len(self.items) + k] = self.second.kinds[self.called[name]] = self.first.kinds[name]
        made = replace(self.made, value=Make(tuple, (*self.items, *map(Var, more))))
        if more:
            self.first.body = tuple(made if s is self.made else s for s in self.first.body)

    def _once(self) -> dict[str, Expr]:
        """Shadows made once, outside of loops and branches."""
        found: dict[str, Expr] = {}
        for s in self.taken:
            binders = self.forward.binders.get(s.target, [])
            if len(binders) != 1 or binders[0].block is not self.forward.outer or self.forward.readers.get(s.target):
                continue
            value = self.forward.value(binders[0])
            if isinstance(value, Op) and (_is_plain_zeros(value) or (_maker(value) and self._stays(value.args[0]))):
                found[s.target] = value
        return found

    def _stays(self, atom: Atom) -> bool:
        """Whether a name always holds what it holds at the end of the first function, in the second one too."""
        name = atom.name if isinstance(atom, Var) else ""
        anew = len(self.forward.binders.get(name, ())) > (name not in self.params)
        return not anew and name not in self.reverse.binders


def _rewritten(first: Unit, second: Unit, blank: frozenset[tuple[Link, str]]) -> bool:
    """Makes in the second function what need not be saved; True if there is anything."""
    known = second.settled.get(_Pair)
    if isinstance(known, tuple) and known[0] is first.body and known[1] is second.body:
        return False
    made = saving(first, second) if first.found(_makes_shadows) else None
    changed = made is not None and _Pair(first, second, made, blank).rewritten()
    second.settled[_Pair] = first.body, second.body
    return changed


def _makes_shadows(unit: Unit) -> bool:
    """Whether a function makes anything that could be made again by another."""
    values = (s.value for s in unit.statements() if type(s) is Assign)
    return any(_maker(v) or _is_constant(v) or (isinstance(v, Op) and _is_plain_zeros(v)) for v in values)


def _tape_of(s: Statement) -> str:
    return s.base.name if isinstance(s, Append) and isinstance(s.base, Var) else ""


def _names(value: Expr) -> Iterator[str]:
    return (a.name for a in atoms(value) if isinstance(a, Var))


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Makes such things anew; True if anything changed."""
    changed = False
    for unit in units:
        if unit.settled.get(run) is unit.body:
            continue
        if unit.found(appending):
            forward, reverse = sweeps(unit.function)
            params = [p.name for p in unit.function.params]
            found = _Anew(_Sweep(forward, params), _Sweep(reverse), unit.found(appending))
            if found.instead:
                unit.body, changed = found.applied(unit.body), True
        unit.settled[run] = unit.body
    pairs = list(paired(units))
    blank = _blank(units) if pairs else frozenset()
    made = [_rewritten(*pair, blank) for pair in pairs]  # all of them, also where the first one changes
    return any(made) or changed


def _blank(units: Sequence[Unit]) -> frozenset[tuple[Link, str]]:
    """The parameters, by function and name, for which a call gives None: it was found that nobody reads their values,
    so that nobody may begin to."""
    found = set()
    for unit in units:
        for _, call in unit.calls():
            if call.link.function is not None:
                params = zip(call.link.function.params, call.args, strict=False)
                found |= {(call.link, param.name) for param, arg in params if arg == Lit(None)}
    return frozenset(found)


def _value(place: _Place) -> Expr | None:
    return place.statement.value if isinstance(place.statement, Assign) else None


def _is_constant(value: Expr | None) -> bool:
    return isinstance(value, Make) and value.cls is list and all(isinstance(item, Lit) for item in value.items)


def _is_plain_zeros(value: Op) -> bool:
    return value.fn is np.zeros and all(isinstance(a, Lit) for a in value.args)


def _maker(value: Expr | None) -> Callable[..., Any] | None:
    """The function that makes zeros as an array has them; None for anything else."""
    plain = isinstance(value, Op) and not value.kwargs and len(value.args) == 1 and isinstance(value.args[0], Var)
    return value.fn if plain and isinstance(value, Op) and value.fn in _MAKERS else None


def _operand(value: Expr | None) -> object:
    return value.args[0] if isinstance(value, Op) else None
