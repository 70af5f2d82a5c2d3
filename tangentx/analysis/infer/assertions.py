"""Functions with assertions of all that is claimed of their variables: after every binding and every write.

They are put in when nothing else is done to a function, so that what runs is what is checked.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeAlias

import numpy as np

from tangentx import arrays, templates
from tangentx.analysis.infer import opaque_calls
from tangentx.analysis.types.kinds import MISSING, Arr, Bottom, Box, Either, Kind, Num, Obj, Region, Some, reached
from tangentx.arrays import claims
from tangentx.errors import Span
from tangentx.ir.functions import FunctionValue, classes_of
from tangentx.ir.markers import PAIR
from tangentx.ir.nodes import (
    UNBOUND,
    Append,
    Assign,
    Block,
    Call,
    Expr,
    Ext,
    For,
    Function,
    If,
    Index,
    Link,
    Lit,
    Make,
    Op,
    Pop,
    Return,
    Statement,
    Store,
    Var,
)
from tangentx.ir.rewrite import map_blocks
from tangentx.ir.walk import empties, reads, statements, used, written_name

Told: TypeAlias = tuple[Mapping[int, bool], Mapping[int, tuple[str, ...]]]
Lacking: TypeAlias = set[tuple[Link, str | None]]
_TAPE = re.compile(r"tape[_\d]*$")
MARK = "%claimed"
_OURS = re.compile(r"_(bar|dot)[_\d]*$")


class Part(Protocol):
    """A function by its link, and the kinds of its variables."""

    link: Link
    kinds: dict[str, Kind]

    @property
    def origins(self) -> Mapping[int, str]:
        """The names that statements had for what they write, by their identities, where they have others now."""


NOTHING: Told = ({}, {})


def asserted(functions: Sequence[Function], parts: Sequence[Part], told: Told | None = None) -> list[Function]:
    """The functions, which are among the parts, with their assertions; calls of one another are of those with theirs.

    What is derived records None for names that have no value yet, of which its kinds say nothing. `told` is what else
    is known where nothing has been left out: which statements bind a zero, and which names have the shape of what they
    bind, by their identities.
    """
    writer = _Writer(parts, told)
    links = {part.link: Link(part.link.name) for part in parts if part.link.function in functions}
    for part in parts:
        if part.link in links:
            links[part.link].function = writer.function(part, links)
    made = {link.function: new.function for link, new in links.items()}
    return [found for function in functions if (found := made[function]) is not None]


class _Writer:
    """Shares the facts of all functions of one text."""

    def __init__(self, parts: Sequence[Part], told: Told | None) -> None:
        self.zero, self.alike = told or NOTHING
        self.whole = told is not None
        self.twins = _twins(parts)
        self.nested = _nested(parts)
        self.lacking = _lacking(parts)
        self.unset = {node for part in parts for node in _unset(part)}
        self.derived = False
        self.gaps = {node for part in parts for node in _with_gaps(part)}
        self.facts: claims.Facts = {}
        self.atom = Ext("facts", self.facts, ())
        self.memories: dict[Region, claims.Memory] = {}
        self.boxes: dict[tuple[Region, type, bool], claims.Container] = {}

    def function(self, part: Part, links: Mapping[Link, Link]) -> Function:
        """The function with its assertions."""
        function = part.link.function
        assert function is not None
        self.part, self.links = part, links
        self.derived = function.origin is None
        self.stems = function.notes.get("stems", {})
        self.shadows = function.notes.get("shadows", {})
        self.read = used(function.body)
        first = [
            self.assertion(p.name, p.name, function.span, (part.link, p.name) in self.lacking) for p in function.params
        ]
        body = self.block(function.body)
        if self.derived and body and isinstance(body[-1], Return):
            body = (*body[:-1], *self.spent(function.body), body[-1])
        return replace(function, body=(*(s for s in first if s is not None), *body))

    def spent(self, block: Block) -> list[Statement]:
        """The assertions that what was recorded and taken back in one function is all taken back at its end: on tapes
        that are made whichever way the function takes."""
        made: dict[str, Span] = {}
        always = {id(s) for s in block}
        popped: set[str] = set()
        other: set[str] = set()
        for s in statements(block):
            match s:
                case Assign(target, Make(cls=cls, items=())) if cls is list and _TAPE.search(target):
                    if id(s) in always:
                        made[target] = s.span
                case Assign(value=Pop(Var(name))):
                    popped.add(name)
                case Append(Var(name), value):
                    other |= {value.name} if isinstance(value, Var) else set()
                case _:
                    other |= reads(s)
        return [self.asserting(claims.claimed_spent, n, made[n], "is taken back") for n in made if n in popped - other]

    def asserting(self, check: Callable[..., None], name: str, span: Span, what: str) -> Statement:
        """The statement that asserts something of a name alone."""
        key = self.entered(f"{span.line}: {shown(name)} {what}", claims.Fact(subject(name), claims.Anything(), span))
        return Assign(MARK, Op(check, (self.atom, Lit(key), Var(name))), span)

    def block(self, block: Block) -> Block:
        """The block with its assertions."""
        out: list[Statement] = []
        for i, s in enumerate(block):
            told, more = self.told(s, block[:i]), [*self.more(s), *self.contents(block, i), *self.layout(block, i)]
            way = self.way(s)
            after = way if way and s.twin.back and s.twin.name in self.nested else []  # type: ignore[union-attr]
            out += way if not after else []
            s = map_blocks(s, self.block)
            if isinstance(s, For):
                s = replace(s, body=(*(x for x in (told, *more) if x is not None), *s.body))
                told, more = None, []
            if isinstance(s, Assign) and isinstance(s.value, Call):
                s = replace(s, value=Call(self.links[s.value.link], s.value.args))
            out += [s, *self.real(s), *after, *more] if told is None else [s, *self.real(s), told, *after, *more]
        return tuple(out)

    def told(self, s: Statement, before: Block = ()) -> Statement | None:
        """The assertion of what is claimed after a statement."""
        name = None if empties(s) else written_name(s)
        nothing = (UNBOUND, None) if self.derived else (UNBOUND,)
        if name is None or (isinstance(s, Assign) and isinstance(s.value, Lit) and s.value.value in nothing):
            return None
        if isinstance(s, Assign) and isinstance(s.value, Call) and name not in self.read:
            return None  # a result that nobody reads may have been left out
        perhaps = self.derived and (not isinstance(s, Assign) or self._may_lack(name, s.value, before))
        return self.assertion(name, self.part.origins.get(id(s), name), s.span, perhaps)

    def real(self, s: Statement) -> list[Statement]:
        """What refuses a result that is complex, of an operation that is refused there when it is differentiated."""
        match s:
            case Assign(target, Op(fn=fn)) if not self.derived and templates.may_be_complex(fn):
                kind = self.part.kinds.get(target)
                if isinstance(kind, Arr) and kind.dtype.kind == "f":
                    return [self.asserting(claims.claimed_real, target, s.span, "is real")]
        return []

    def more(self, s: Statement) -> list[Statement]:
        """The assertions of what is told beside the kinds."""
        if not isinstance(s, Assign):
            return self.value(s)
        fact = claims.Fact(subject(s.target), claims.Anything(), s.span)
        found: list[Statement] = []
        if self.zero.get(id(s), False):
            found.append(self.asserting(claims.claimed_zero, s.target, s.span, "is zero"))
        for other in self.alike.get(id(s), ()):
            key = self.entered(f"{s.span.line}: {shown(s.target)} is shaped as {shown(other)}", fact)
            both = (self.atom, Lit(key), Var(s.target), Var(other))
            found.append(Assign(MARK, Op(claims.claimed_alike, both), s.span))
        return [*found, *self.value(s)]

    def value(self, s: Statement) -> list[Statement]:
        """What notes the value that a statement of the user's gives a name of theirs."""
        match s:
            case Assign(target=name, value=value) if not (isinstance(value, Lit) and value.value is UNBOUND):
                pass
            case Store(base=Var(name)) | For(target=name):
                pass
            case _:
                return []
        stem = self.stems.get(name, "")
        kind = self.part.kinds.get(name)
        garbage = kind is not None and not self.unset.isdisjoint(reached([kind]))
        if self.derived or not stem or name.startswith("%") or garbage:
            return []
        key = self.entered(f"{s.span.line}: the value of {name}", claims.Fact(subject(name), claims.Anything(), s.span))
        return [Assign(MARK, Op(claims.claimed_value, (self.atom, Lit(key), Lit(stem), Var(name))), s.span)]

    def way(self, s: Statement) -> list[Statement]:
        """The assertion that a test, or the bounds of a loop, are the same in both sweeps, where the last comes first.

        Where the function may call itself in between, in either sweep, it stands behind what is gone back.
        """
        if not isinstance(s, If | For) or s.twin is None or s.twin.name not in self.twins:
            return []
        decided = (s.test,) if isinstance(s, If) else (s.start, s.stop, s.step)
        fact = claims.Fact("the test", claims.Anything(), s.span)
        key = self.entered(f"{s.span.line}: {'the same way back' if s.twin.back else 'the way'}", fact)
        given = (self.atom, Lit(key), Lit(self.twins[s.twin.name]), Lit(s.twin.back), *decided)
        return [Assign(MARK, Op(claims.claimed_way, given), s.span)]

    def layout(self, block: Block, i: int) -> list[Statement]:
        """The assertion that a shadow, bound beside its primal, has the layout of that."""
        s, before = block[i], block[i - 1] if i else None
        if not (self.whole and isinstance(s, Assign) and isinstance(before, Assign)):
            return []
        of = self.shadows.get(self.stems.get(s.target, s.target))
        if of is None or self.stems.get(before.target, before.target) != of:
            return []
        fact = claims.Fact(subject(s.target), claims.Anything(), s.span)
        key = self.entered(f"{s.span.line}: {shown(s.target)} is laid out as {shown(before.target)}", fact)
        given = (self.atom, Lit(key), Var(s.target), Var(before.target))
        return [Assign(MARK, Op(claims.claimed_layout, given), s.span)]

    def contents(self, block: Block, i: int) -> list[Statement]:
        """The assertions that what is recorded has the same content when it is taken back, and so has the memory that
        is overwritten, where all of it is restored."""
        s, after = block[i], block[i + 1] if i + 1 < len(block) else None
        before = block[i - 1] if i else None
        match s:
            case Append(Var(tape), Var(name)) if _TAPE.search(tape):
                found = [self.content(claims.claimed_recorded, s, tape, name)] if self.stays(name) else []
                if isinstance(after, Store) and isinstance(after.base, Var) and self.comes_back(after.base.name):
                    found.append(self.content(claims.claimed_recorded, s, tape, after.base.name, "memory"))
                return found
            case Assign(target, Pop(Var(tape))) if _TAPE.search(tape) and self.stays(target):
                return [self.content(claims.claimed_restored, s, tape, target)]
            case Store(Var(base), _, Var(value)) if self.comes_back(base):
                match before:
                    case Assign(target, Pop(Var(tape))) if target == value and _TAPE.search(tape):
                        return [self.content(claims.claimed_restored, s, tape, base, "memory")]
        return []

    def comes_back(self, name: str) -> bool:
        """Whether all that is written to memory of the name is restored: not to cotangents, which values without a name
        may be."""
        return self.whole and not name.startswith("%") and _OURS.search(name) is None

    def stays(self, name: str) -> bool:
        """Whether the content of a value is the same when it is taken back: that of what nobody writes, and of what the
        user named where all that is written is restored; a value without a name may be a cotangent."""
        kind = self.part.kinds.get(name)
        if _OURS.search(name) or not isinstance(kind, Arr):
            return False
        return kind.region.root().still() or (self.whole and not name.startswith("%"))

    def content(
        self, check: Callable[..., None], s: Statement, tape: str, name: str, what: str = "record"
    ) -> Statement:
        """The statement that notes, or asserts, the content of a name beside the records on a tape."""
        verb = "is noted" if check is claims.claimed_recorded else "is as it was"
        key = self.entered(
            f"{s.span.line}: {shown(name)} {verb}", claims.Fact(subject(name), claims.Anything(), s.span)
        )
        return Assign(MARK, Op(check, (self.atom, Lit(key), Var(tape), Lit(what), Var(name))), s.span)

    def _may_lack(self, name: str, value: Expr, before: Block) -> bool:
        """Whether a derived program may bind what stands for no value: of what it recorded, or no cotangent."""
        if name.startswith("%") or _OURS.search(name) is not None:
            return True
        if isinstance(value, Var) and value.name.startswith("%"):  # what it is bound to just before
            made = next((s for s in reversed(before) if isinstance(s, Assign) and s.target == value.name), None)
            return made is None or not isinstance(made.value, Op)
        match value:
            case Call(link=link):
                return (link, None) in self.lacking
            case Op(fn=fn):
                return fn is arrays.entry_copy  # which gives None for None
        return isinstance(value, Pop | Index | Var)

    def assertion(self, name: str, origin: str, span: Span, perhaps: bool = False) -> Statement | None:
        """The statement that asserts of the name what is claimed of the variable `origin`; None where nothing is."""
        claim = self.claim(self.part.kinds.get(origin))
        if isinstance(claim, claims.Anything) or (name.startswith("%") and name not in self.read):
            return None
        claim = claims.Perhaps(claim) if perhaps else claim
        text = f"{span.line}: {'' if name.startswith('%') else name + ': '}{claim}"
        fact = claims.Fact(subject(name), claim, span)
        key = self.entered(text, fact)
        return Assign(MARK, Op(claims.claimed, (self.atom, Lit(key), Var(name))), span)

    def entered(self, text: str, fact: claims.Fact) -> str:
        """The text under which the fact is found; with a number where another one has the same."""
        key, count = text, 1
        while key in self.facts and not same(self.facts[key], fact):
            count += 1
            key = f"{text} ({count})"
        self.facts[key] = fact
        return key

    # ---- kinds ----
    def claim(self, kind: Kind | None) -> claims.Claim:
        """What is claimed of values of the kind."""
        match kind:
            case Num(type=of, value=value, none=none):
                either = self.derived or of is bool  # of a test only the truth counts, whoever's it is
                return claims.Number(of, none, None if value is MISSING else value, either)
            case Arr(dtype, rank, region, loose, none):
                return claims.Array(dtype, rank, self.memory(region), loose, none)
            case Box():
                return self.box(kind)
            case Obj(value=opaque_calls.Bound()):
                return claims.Anything()
            case Obj(value=value):
                return claims.Known((value,))
            case Either(values=values):
                return claims.Known(tuple(values))
            case Some(cls=cls):
                return claims.Of(cls)
            case _:
                return claims.Anything()

    def item(self, kind: Kind) -> claims.Claim:
        """What is claimed of an item; of one without a cotangent nothing, for a rule may give one all the same."""
        return claims.Anything() if self.derived and kind == Obj(None) else self.claim(kind)

    def memory(self, region: Region) -> claims.Memory:
        """The class of memory that a region is."""
        node = region.root()
        if node not in self.memories:
            self.memories[node] = claims.Memory(node.still())
        return self.memories[node]

    def box(self, kind: Box) -> claims.Claim:
        """What is claimed of a container."""
        node = kind.region.root()
        ours = kind.cls.__module__.startswith("tangentx.analysis.") and not issubclass(kind.cls, FunctionValue)
        if ours:  # what stands for an iterator or a part of an array while it is analysed is a dict when it runs
            return claims.Anything()
        key = (node, kind.cls, kind.none)
        if key not in self.boxes:
            cls = tuple if issubclass(kind.cls, FunctionValue) else kind.cls
            gaps = self.derived or node in self.gaps
            opened = node.open or node.resized
            made = claims.Container(
                cls, self.memory(node), opened, gaps, node.always, classes=classes_of(cls), none=kind.none
            )
            self.boxes[key] = made
            made.items.update({key: self.item(item) for key, item in node.fields.items()})
            made.others = None if isinstance(node.elt, Bottom) else self.claim(node.elt)
        return self.boxes[key]


def _recursive(parts: Sequence[Part]) -> set[Link]:
    """The functions that may come to call themselves."""
    calls: dict[Link, set[Link]] = {}
    for part in parts:
        body = part.link.function.body if part.link.function is not None else ()
        values = (s.value for s in statements(body) if isinstance(s, Assign))
        calls[part.link] = {value.link for value in values if isinstance(value, Call)}
    for _ in calls:
        for link, found in calls.items():
            calls[link] = found.union(*(calls.get(other, set()) for other in found))
    return {link for link, found in calls.items() if link in found}


def _nested(parts: Sequence[Part]) -> set[object]:
    """The tests and loops that may be met again inside of themselves, by the names that both sweeps have for them."""
    cycles = _recursive(parts)
    within = [part.link.function for part in parts if part.link in cycles]
    found = (s for function in within if function is not None for s in statements(function.body))
    return {s.twin.name for s in found if isinstance(s, If | For) and s.twin is not None}


def _unset(part: Part) -> Iterator[Region]:
    """The memory that holds whatever it held before, until it is written."""
    for s in statements(part.link.function.body) if part.link.function is not None else ():
        if isinstance(s, Assign) and isinstance(s.value, Op) and s.value.fn in (np.empty, np.empty_like, np.ndarray):
            kind = part.kinds.get(s.target)
            if isinstance(kind, Arr):
                yield kind.region.root()


def _lacking(parts: Sequence[Part]) -> Lacking:
    """The parameters, and under None the results, of functions that may be None in place of what their kinds say.

    A call gives None for what nobody reads. What one sweep of a callee saves for the other is one record alone where
    nothing else is read of it, which has no value on the ways on which nothing is recorded.
    """
    found: Lacking = set()
    while len(found) < len(more := found.union(*(_lacking_by(part, found) for part in parts))):
        found = more
    return found


def _lacking_by(part: Part, known: Lacking) -> Iterator[tuple[Link, str | None]]:
    """What a function gives that may be None to its caller and to those that it calls, with what is known of others."""
    function = part.link.function
    body = function.body if function is not None else ()
    perhaps = _perhaps_none(part, known) if function is not None else set()

    def lacks(atom: Expr) -> bool:
        return atom == Lit(None) or (isinstance(atom, Var) and atom.name in perhaps)

    for s in statements(body):
        match s:
            case Assign(value=Call(link=link, args=args)) if link.function is not None:
                yield from ((link, p.name) for p, arg in zip(link.function.params, args, strict=True) if lacks(arg))
            case Return(value=value) if lacks(value):
                yield part.link, None


def _perhaps_none(part: Part, known: Lacking) -> set[str]:
    """The variables of a function that may be None, though their kinds do not say so."""
    function = part.link.function
    assert function is not None
    found = {p.name for p in function.params if (part.link, p.name) in known}
    if function.origin is not None:
        return found
    bound = [s for s in statements(function.body) if isinstance(s, Assign)]
    for _ in bound:
        more = {s.target for s in bound if _binds_perhaps_none(part, s.value, found, known)}
        if more <= found:
            break
        found |= more
    return found


def _binds_perhaps_none(part: Part, value: Expr, found: set[str], known: Lacking) -> bool:
    """Whether an expression of a derived function may be what stands for no value: what was recorded may be that."""
    match value:
        case Lit(value=literal):
            return literal is None or literal is UNBOUND
        case Var(name):
            return name in found
        case Call(link=link):
            return (link, None) in known
        case Index(base=Var(name)):
            return not isinstance(part.kinds.get(name), Arr)
        case _:
            return isinstance(value, Pop)


def _twins(parts: Sequence[Part]) -> dict[object, int]:
    """A number for each test and each loop that is there in both sweeps, and is gone back in the opposite order.

    Calls of a function that writes nothing may be merged, left out or change places, in one sweep alone. A copy of a
    function for other arguments may have none of its tests: then what the others note is not gone back in order.
    """
    ways: dict[object, set[tuple[Link, bool]]] = {}
    copies: dict[object, set[Link]] = {}
    for part in parts:
        function = part.link.function
        if function is not None and PAIR in function.notes:
            copies.setdefault(function.notes[PAIR], set()).add(part.link)
        for s in statements(function.body) if function is not None else ():
            if isinstance(s, If | For) and s.twin is not None:
                ways.setdefault(s.twin.name, set()).add((part.link, s.twin.back))
    found = (name for name, links in ways.items() if _is_in_order(links) and _is_in_all(links, copies))
    return {name: k for k, name in enumerate(found)}


def _is_in_all(ways: set[tuple[Link, bool]], copies: Mapping[object, set[Link]]) -> bool:
    """Whether a test is in all copies of the functions that hold it, in one sweep or the other."""
    links = {link for link, _ in ways}
    pairs = {link.function.notes.get(PAIR) for link in links if link.function is not None}
    return all(copies.get(pair, links) <= links for pair in pairs)


def _is_in_order(ways: set[tuple[Link, bool]]) -> bool:
    """Whether the functions that hold a test on its way there and back run in opposite orders."""
    there, back = ({link for link, way in ways if way is wanted} for wanted in (False, True))
    if not there or not back:
        return False
    return there == back or all(link.function is not None and _writes(link.function) for link in there)


def _writes(function: Function) -> bool:
    return any(isinstance(s, Append | Store) for s in statements(function.body))


def shown(name: str) -> str:
    """What a variable is called in the text of an assertion."""
    return "a value" if name.startswith("%") else name


def subject(name: str) -> str:
    """What a variable is called in an error."""
    return "a value of this line" if name.startswith("%") else f"`{name}`"


def _with_gaps(part: Part) -> Iterator[Region]:
    """The lists that stand for variables which several functions share, made before there is a value."""
    assert part.link.function is not None
    for s in statements(part.link.function.body):
        if isinstance(s, Assign) and isinstance(s.value, Make) and Lit(UNBOUND) in s.value.items:
            kind = part.kinds.get(s.target)
            if isinstance(kind, Box):
                yield kind.region.root()


def same(one: claims.Fact, other: claims.Fact) -> bool:
    """Whether two facts of the same words, at the same line, are the same."""
    a, b = one.claim, other.claim
    if isinstance(a, claims.Perhaps) and isinstance(b, claims.Perhaps):
        a, b = a.claim, b.claim
    if type(a) is not type(b) or one.subject != other.subject:
        return False
    if isinstance(a, claims.Known) and isinstance(b, claims.Known):
        return all(map(operator.is_, a.values, b.values))
    if isinstance(a, claims.Of) and isinstance(b, claims.Of):
        return a.cls is b.cls
    if isinstance(a, claims.Array) and isinstance(b, claims.Array):
        return a.memory is b.memory
    return a is b or isinstance(a, claims.Number | claims.Anything)
