"""Tuple results that callers only unpack: passed item by item, without a shadow of the tuple.

By the general rule a tuple has a shadow, a list of cotangents that callee and caller share. Where the callee makes the
tuple as it returns it, and every caller does nothing but read its items, the items are as good as results of their own:
their cotangents are values, which the backward function is given one by one.

The cotangent of an array that is an item is that of the one name that it has: each caller reads it once at most, among
the bindings that follow the call at once, so that it is known whenever the call is gone back.

    h, c = cell(w, h, c)                # h_bar, c_bar = cell_backward(w, ..., saved, h_bar, c_bar)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, takewhile

from tangentx.analysis.infer.program import Instance, Program
from tangentx.analysis.types.kinds import Arr, Box, Kind, Num
from tangentx.derive.emit import VALUE, mode
from tangentx.derive.reverse.lists import Summed
from tangentx.ir.nodes import Assign, Block, Call, Index, Link, Lit, Make, Return, Statement, Var
from tangentx.ir.walk import blocks, reads, statements, writes

ITEMS = "items"


@dataclass(frozen=True)
class Parts:
    """`made`: in a callee, the tuple that a name holds as it is returned; `held`: in a caller, the name under which
    the cotangents of a result are kept, by each name that the result has; `operands`: lists that are operands of one
    operation (see `operand_lists`); `summed`: lists that are added up (`summed_lists`)."""

    made: Mapping[str, Make] = field(default_factory=dict)
    held: Mapping[str, str] = field(default_factory=dict)
    operands: Mapping[str, Make] = field(default_factory=dict)
    summed: Summed = field(default_factory=Summed)

    def __contains__(self, name: object) -> bool:
        return name in self.made or name in self.held or name in self.operands or name in self.summed.bars


@dataclass(frozen=True)
class Results:
    """What was found in a program: the modes of the items by callee, and the names by function."""

    modes: Mapping[Link, tuple[str | None, ...]] = field(default_factory=dict)
    parts: Mapping[Link, Parts] = field(default_factory=dict)


def find(program: Program) -> Results:
    """The callees of a program whose results can be taken apart."""
    root, *others = program.reached()
    modes = {i.link: found for i in others if (found := _item_modes(i)) is not None}
    held: dict[Link, dict[str, str]] = {}
    for instance in (root, *others):
        body = instance.link.function.body if instance.link.function is not None else ()
        for link, names in _received(body, modes, instance.kinds):
            if names is None:
                modes.pop(link, None)
            else:
                held.setdefault(instance.link, {}).update(dict.fromkeys(names, names[0]))
    parts = {i.link: Parts(_kept_made(i, modes), _kept_held(i, modes, held)) for i in (root, *others)}
    return Results(modes, parts)


def _kept_made(instance: Instance, modes: Mapping[Link, object]) -> dict[str, Make]:
    return _made(instance) or {} if instance.link in modes else {}


def _kept_held(instance: Instance, modes: Mapping[Link, object], held: dict[Link, dict[str, str]]) -> dict[str, str]:
    """The names of results that all callers take apart."""
    function = instance.link.function
    names = held.get(instance.link, {})
    if function is None:
        return {}
    calls = {s.target for s in statements(function.body) if isinstance(s, Assign) and _call_of(s) in modes}
    return {name: first for name, first in names.items() if first in calls}


def _call_of(s: Statement) -> Link | None:
    return s.value.link if isinstance(s, Assign) and isinstance(s.value, Call) else None


def _item_modes(instance: Instance) -> tuple[str | None, ...] | None:
    """The modes of the items of a result that is made where it is returned; None if that is not so."""
    made, kind = _made(instance), instance.result
    if not made or not isinstance(kind, Box) or kind.cls is not tuple or kind.region.root().open:
        return None
    count = {len(make.items) for make in made.values()}
    items: list[Kind] = [kind.region.get(k) for k in range(max(count))]
    if len(count) > 1 or len(kind.region.root().fields) > len(items):
        return None
    if not all(isinstance(item, Num) or _is_value(item) for item in items):
        return None
    return tuple(mode(item) for item in items)


def _is_value(kind: Kind) -> bool:
    """Whether it is of arrays whose cotangents, if they have any, are values."""
    return isinstance(kind, Arr) and kind.sure and not kind.none and mode(kind) in (VALUE, None)


def _made(instance: Instance) -> dict[str, Make] | None:
    """By the name that is returned, the tuple that the statement before its return makes; None if one has no such."""
    found: dict[str, Make] = {}
    if instance.link.function is None:
        return None
    body = instance.link.function.body
    bound = Counter(name for s in statements(body) for name in writes(s))
    read = Counter(name for s in statements(body) for name in reads(s))
    todo: list[Block] = [body]
    while todo:
        block = todo.pop()
        todo += [inner for s in block for inner in blocks(s)]
        for before, s in zip((None, *block), block, strict=False):
            if not isinstance(s, Return):
                continue
            match before, s.value:
                case Assign(target=target, value=Make(cls=cls) as make), Var(name=name) if (
                    name == target and cls is tuple and bound[name] == 1 and read[name] == 1
                ):
                    found[name] = make
                case _:
                    return None
    return found


def _received(
    body: Block, modes: Mapping[Link, object], kinds: Mapping[str, Kind]
) -> list[tuple[Link, list[str] | None]]:
    """The names of each result that is received; None in their place where more is done than reading its items."""
    every = list(statements(body))
    bound = Counter(name for s in every for name in writes(s))
    readers: dict[str, list[Statement]] = {}
    for s in every:
        for name in reads(s):
            readers.setdefault(name, []).append(s)
    found: list[tuple[Link, list[str] | None]] = []
    todo: list[Block] = [body]
    while todo:
        block = todo.pop()
        todo += [inner for s in block for inner in blocks(s)]
        for at, s in enumerate(block):
            link = _call_of(s)
            if link is not None and link in modes:
                assert isinstance(s, Assign)
                names = _names(s.target, bound, readers)
                fits = names is not None and _takes_arrays(names, block[at + 1 :], readers, kinds)
                found.append((link, names if fits else None))
    return found


def _takes_arrays(
    names: Sequence[str], after: Block, readers: Mapping[str, list[Statement]], kinds: Mapping[str, Kind]
) -> bool:
    """Whether the items that are arrays are values here, too, and each is read once at most, by one of the bindings
    that follow at once."""
    held = kinds[names[0]]
    items = held.region.root().fields if isinstance(held, Box) else {}
    if all(isinstance(item, Num) for item in items.values()):
        return True
    if not all(isinstance(item, Num) or _is_value(item) for item in items.values()):
        return False
    first = [id(s) for s in takewhile(lambda s: isinstance(s, Assign), after)]
    taken: Counter[object] = Counter()
    for s in chain.from_iterable(readers.get(name, ()) for name in names):
        if isinstance(s, Assign) and isinstance(s.value, Index):
            part = s.value.key.parts[0]
            place = part.value if isinstance(part, Lit) else None
            if isinstance(items.get(place), Arr):
                taken[place] += 1
                if id(s) not in first or not _is_value(kinds[s.target]):
                    return False
    return all(times == 1 for times in taken.values())


def _names(first: str, bound: Counter[str], readers: Mapping[str, list[Statement]]) -> list[str] | None:
    names = [first]
    for name in names:
        if bound[name] != 1:
            return None
        for s in readers.get(name, ()):
            match s:
                case Assign(target=target, value=Var()):
                    names.append(target)
                case Assign(value=Index(base=Var(name=base), key=key)) if base == name:
                    part = key.parts[0]
                    if key.many or not isinstance(part, Lit) or type(part.value) is not int or part.value < 0:
                        return None
                case _:
                    return None
    return names
