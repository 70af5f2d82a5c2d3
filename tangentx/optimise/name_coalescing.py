"""Name coalescing: ``u_`` and ``u_1`` become the user's ``u`` where the two never hold a value at the same time.

Variables are told apart by the analysis, and told apart again when the text is differentiated; this is the last pass,
for the reader, and what is known of the kinds of the variables no longer holds after it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from typing import Any

from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import BOTTOM, Arr, Box, Kind, Num
from tangentx.common.options import is_checked
from tangentx.ir.nodes import Assign, Block, Break, Continue, For, If, Loop, Raise, Return, Statement, Var
from tangentx.ir.rewrite import rename
from tangentx.ir.walk import blocks, bound, reads, statement_atoms, statements, writes, written_name
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.unit import Unit

_VARIANT = re.compile(r"([^%].*?)_(\d*)")
_NOBODY: frozenset[str] = frozenset()
_DERIVED = re.compile(r"_(bar|dot|tape)_\d*$")


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Joins variants of names in every function; True if anything changed."""
    changed = False
    for unit in units:
        changed = (not unit.outer and _name_params(unit)) or changed
        changed = _name_temporaries(unit) or changed
        changed = _join_copies(unit) or changed
        own = _own_names(program, unit)
        mapping = _mapping(unit, own)
        changed = (bool(mapping) and _rename(unit, mapping)) or changed
    return changed


def _origins(unit: Unit, new: Block) -> dict[int, str]:
    """The names that statements bound, or wrote into, before they were renamed, by the statements' identities."""
    found: dict[int, str] = {}
    for before, after in zip(unit.statements(), statements(new), strict=True):
        name = unit.origins.get(id(before)) or written_name(before)
        if name is not None and written_name(after) != name:
            found[id(after)] = name
    return found


def _name_params(unit: Unit) -> bool:
    """``x = p`` for a parameter `p` that nothing else reads: the parameter is named `x`; all calls are by position."""
    read, times = unit.counts()
    names = [p.name for p in unit.function.params]
    for s in unit.body:
        match s:
            case Assign(target=x, value=Var(name=p)) if p in names and x not in names and not x.startswith("%"):
                if (read[p], times[p], times[x]) == (1, 0, 1):
                    names[names.index(p)] = x
                    unit.body = tuple(other for other in unit.body if other is not s)
    if names == [p.name for p in unit.function.params]:
        return False
    params = tuple(replace(p, name=name) for p, name in zip(unit.function.params, names, strict=True))
    unit.link.function = replace(unit.function, params=params)
    return True


def _name_temporaries(unit: Unit) -> bool:
    """``x = %t``, where `x` and the temporary are bound once, in one block that is not left in between: the temporary
    is named `x`, unless anything before that reads `x`, which may be that of another trip."""
    read, times = Counter[str](), Counter[str](p.name for p in unit.function.params)
    every = unit.statements()
    for s in every:
        times.update(writes(s))
    mapping: dict[str, str] = {}
    for block in _blocks(unit.body):
        mapping.update(_taking(block, times))
    for s in every:
        if isinstance(s, Assign) and isinstance(s.value, Var) and mapping.get(s.value.name) == s.target:
            mapping = {t: x for t, x in mapping.items() if x != s.target or not read[x]}
        read.update(reads(s))
    return bool(mapping) and _rename(unit, mapping)


def _join_copies(unit: Unit) -> bool:
    """``x = %t``, where `x` is bound elsewhere too, or `%t` read later: both are `x`, if neither is bound while the
    other is to be read. A copy alone does not keep them apart, for the two are equal there (Chaitin)."""
    _, times = unit.counts()
    copies: dict[str, str] = {}
    for block in _blocks(unit.body):
        made = {s.target for s in block if isinstance(s, Assign) and times[s.target] == 1 and _is_temporary(s.target)}
        for s in block:
            if isinstance(s, Assign) and isinstance(s.value, Var) and s.value.name in made:
                if not _is_temporary(s.target):
                    copies.setdefault(s.value.name, s.target)
    if not copies:
        return False
    clashes = _Clashes({**copies, **{x: x for x in copies.values()}})
    clashes.function(unit)
    groups: dict[str, _Group] = {}
    mapping: dict[str, str] = {}
    for t, x in copies.items():
        group = groups.setdefault(x, _Group(unit, x))
        if group.admits(unit, t, clashes):
            group.names.add(t)
            mapping[t] = x
    return bool(mapping) and _rename(unit, mapping)


def _rename(unit: Unit, mapping: dict[str, str]) -> bool:
    """Names variables anew, and leaves out what binds one to itself."""
    renamed = rename(unit.body, mapping)
    unit.origins = _origins(unit, renamed) if is_checked() else {}
    unit.body = _without_copies(renamed)
    return True


def _taking(block: Block, times: Counter[str]) -> dict[str, str]:
    """The temporaries of a block that a name takes its value from, which is the first to do so."""
    found: dict[str, str] = {}
    made: set[str] = set()
    for s in block:
        if any(isinstance(inner, Break | Continue | Return) for inner in statements((s,))):
            made.clear()
        if not isinstance(s, Assign):
            continue
        if isinstance(s.value, Var) and s.value.name in made and times[s.target] == 1 and not _is_temporary(s.target):
            made.discard(s.value.name)
            found[s.value.name] = s.target
        elif _is_temporary(s.target) and times[s.target] == 1:
            made.add(s.target)
    return found


def _is_temporary(name: str) -> bool:
    return name.startswith("%")


def _blocks(block: Block) -> Iterator[Block]:
    yield block
    for s in block:
        for inner in blocks(s):
            yield from _blocks(inner)


def _own_names(program: Program, unit: Unit) -> frozenset[str]:
    """The names that the function had before its variables were told apart."""
    for instance in program.instances.values():
        if instance.link is (unit.part_of or unit.link):
            return bound(instance.source.body) | {p.name for p in instance.source.params}
    return frozenset(unit.kinds)


def _mapping(unit: Unit, own: frozenset[str]) -> dict[str, str]:
    params = {p.name for p in unit.function.params}
    present = list(dict.fromkeys([*(p.name for p in unit.function.params), *_bound_in_order(unit.body)]))
    families: dict[str, list[str]] = {}
    for name in present:
        stem = _stem(name, own)
        if stem != name and name not in params:
            families.setdefault(stem, []).append(name)
    if not families:
        return {}
    members = {name: stem for stem, variants in families.items() for name in (stem, *variants)}
    clashes = _Clashes(members)
    clashes.function(unit)
    mapping: dict[str, str] = {}
    there = frozenset(present)
    for stem, variants in families.items():
        groups: list[_Group] = [_Group(unit, stem)] if stem in there else []
        for name in variants:
            for group in groups:
                if group.admits(unit, name, clashes):
                    mapping[name] = group.first
                    group.names.add(name)
                    break
            else:
                groups.append(_Group(unit, name))
        if stem not in there:
            mapping.update(dict.fromkeys(groups[0].names, stem))
    return mapping


class _Group:
    """Variants of one name that never hold a value at the same time, and hold values of one kind."""

    def __init__(self, unit: Unit, first: str) -> None:
        self.first = first
        self.names = {first}
        self.kind = _plain(unit.kinds.get(first, BOTTOM))

    def admits(self, unit: Unit, name: str, clashes: _Clashes) -> bool:
        """Whether `name` may join the others."""
        alike = _plain(unit.kinds.get(name, BOTTOM)) == self.kind
        return alike and clashes.pairs.get(name, _NOBODY).isdisjoint(self.names)


def _stem(name: str, own: frozenset[str]) -> str:
    """What is left of a name without the marks by which it was told apart from others."""
    while name not in own or _DERIVED.search(name) is not None:
        match = _VARIANT.fullmatch(name)
        if match is None:
            return name
        name = match[1]
    return name


def _bound_in_order(block: Block) -> Iterable[str]:
    for s in block:
        if isinstance(s, Assign | For):
            yield s.target
        for inner in blocks(s):
            yield from _bound_in_order(inner)


def _plain(kind: Kind) -> Any:
    """What of a kind a reader sees."""
    match kind:
        case Num(type=t):
            return t
        case Arr(dtype=dtype, rank=rank, loose=loose, none=none):
            return dtype, rank, loose, none
        case Box(cls=cls):
            return cls
    return kind


class _Clashes:
    """Pairs of variants of one name that must stay apart; `members` maps a name to its family."""

    def __init__(self, members: dict[str, str]) -> None:
        self.members = members
        self.families: dict[str, set[str]] = {}
        for name, stem in members.items():
            self.families.setdefault(stem, set()).add(name)
        self.pairs: dict[str, set[str]] = {}
        self.loops: list[tuple[set[str], set[str]]] = []
        self.heads: dict[int, set[str]] = {}

    def function(self, unit: Unit) -> None:
        """Finds the pairs of one function."""
        live = self._block(unit.body, set())
        for p in unit.function.params:
            self._clash(p.name, live)

    def _clash(self, name: str, others: Set[str]) -> None:
        family = self.members.get(name)
        if family is not None:
            for other in self.families[family] & others - {name}:
                self.pairs.setdefault(name, set()).add(other)
                self.pairs.setdefault(other, set()).add(name)

    def _block(self, block: Block, after: Set[str]) -> set[str]:
        live = set(after)  # its own, so that statements may change it in place
        for s in reversed(block):
            live = self._statement(s, live)
        return live

    def _statement(self, s: Statement, live: set[str]) -> set[str]:
        match s:
            case Assign(target=target, value=value):
                live.discard(target)
                if isinstance(value, Var):
                    live.discard(value.name)
                self._clash(target, live)
                live |= reads(s)
                return live
            case If():
                for name in bound(s.body) | bound(s.orelse):
                    self._clash(name, reads(s))
                return self._block(s.body, live) | self._block(s.orelse, live) | reads(s)
            case For() | Loop():
                return self._loop(s, live)
            case Break():
                return set(self.loops[-1][0])
            case Continue():
                return set(self.loops[-1][1])
            case Return() | Raise():
                return set(memory.names(statement_atoms(s)))
        live |= reads(s)
        return live

    def _loop(self, s: For | Loop, after: set[str]) -> set[str]:
        # What is live at a head only grows while the loops around it are walked again: it is found once, and added to.
        head = self.heads.setdefault(id(s), set())
        if isinstance(s, For):
            head |= after
        while True:
            before = len(head)
            self.loops.append((after, head))
            body = self._block(s.body, head)
            self.loops.pop()
            if isinstance(s, For):
                self._clash(s.target, body | head)
                for name in bound(s.body) | {s.target}:
                    self._clash(name, reads(s))
                body.discard(s.target)
            head |= body
            if len(head) == before:
                return head | reads(s)


def _without_copies(block: Block) -> Block:
    """The block without ``u = u``."""
    out: list[Statement] = []
    for s in block:
        match s:
            case Assign(target=target, value=Var(name=name)) if name == target:
                continue
            case If():
                out.append(replace(s, body=_without_copies(s.body), orelse=_without_copies(s.orelse)))
            case For() | Loop():
                out.append(replace(s, body=_without_copies(s.body)))
            case _:
                out.append(s)
    return tuple(out)
