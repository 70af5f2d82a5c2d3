"""The two sweeps of a callee as one body, in which what the first saves of tapes is at hand in the second.

    saved = (u, u_tape, v_tape)                 u_tape, v_tape are those of the forward sweep, as if both
    ...                                         sweeps stood in one function
    u_tape, v_tape = saved[1], saved[2]

Between the sweeps nothing happens to a tape that is only saved by the one and taken by the other. Written as one body,
they are packed as the tapes of any function; then the body is cut again, and what goes across is what is saved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Set
from dataclasses import replace

from tangentx.analysis.infer.program import Program
from tangentx.ir.nodes import Assign, Function, Link, Make, Param, Pop, Return, Statement, Var
from tangentx.ir.rewrite import rename
from tangentx.ir.sweep_marks import STATE
from tangentx.ir.tapes import EMPTY
from tangentx.ir.value_names import ValueNames, stem, with_stem
from tangentx.ir.walk import bound, statements
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.sweep_pairs import item_of, place_in, saving
from tangentx.optimise.facts.unit import Unit, counts

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
