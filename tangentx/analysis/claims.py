"""Functions with assertions of all that is claimed of their variables: after every binding and every write.

They are put in when nothing else is done to a function, so that what runs is what is checked.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeAlias

from tangentx.analysis import effects
from tangentx.analysis.kinds import MISSING, Arr, Bottom, Box, Either, Kind, Num, Obj, Some
from tangentx.analysis.regions import Region
from tangentx.arrays import claims
from tangentx.errors import Span
from tangentx.ir.change import map_blocks
from tangentx.ir.functions import FunctionValue
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
    Index,
    Link,
    Lit,
    Make,
    Op,
    Pop,
    Return,
    Statement,
    Var,
)
from tangentx.ir.walk import empties, reads, statements, used, written_name

Told: TypeAlias = tuple[Mapping[int, bool], Mapping[int, tuple[str, ...]]]
_TAPE = re.compile(r"tape_*\d*_*$")
MARK = "%claimed"
_OURS = re.compile(r"_(bar|dot)_*\d*_*$")


class Part(Protocol):
    """A function by its link, and the kinds of its variables."""

    link: Link
    kinds: dict[str, Kind]

    @property
    def origins(self) -> Mapping[int, str]:
        """The names that statements had for what they write, by their identities, where they have others now."""


NOTHING: Told = ({}, {})


def asserted(functions: Sequence[Function], parts: Sequence[Part], told: Told = NOTHING) -> list[Function]:
    """The functions, which are among the parts, with their assertions; calls of one another are of those with theirs.

    What is derived records None for names that have no value yet, of which its kinds say nothing. `told` is what else
    is known: which statements bind a zero, and which names have the shape of what they bind, by their identities.
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

    def __init__(self, parts: Sequence[Part], told: Told) -> None:
        self.zero, self.alike = told
        self.derived = False
        self.gaps = {node for part in parts for node in _with_gaps(part)}
        self.facts: claims.Facts = {}
        self.atom = Ext("facts", self.facts, ())
        self.memories: dict[Region, claims.Memory] = {}
        self.boxes: dict[Region, claims.Container] = {}

    def function(self, part: Part, links: Mapping[Link, Link]) -> Function:
        """The function with its assertions."""
        function = part.link.function
        assert function is not None
        self.part, self.links = part, links
        self.derived = function.origin is None
        self.read = used(function.body)
        first = [self.assertion(p.name, p.name, function.span) for p in function.params]
        body = self.block(function.body)
        if self.derived and body and isinstance(body[-1], Return):
            body = (*body[:-1], *self.spent(function.body), body[-1])
        return replace(function, body=(*(s for s in first if s is not None), *body))

    def spent(self, block: Block) -> list[Statement]:
        """The assertions that what was recorded and taken back in one function is all taken back at its end."""
        made: dict[str, Span] = {}
        popped: set[str] = set()
        other: set[str] = set()
        for s in statements(block):
            match s:
                case Assign(target, Make(cls=cls, items=())) if cls is list and _TAPE.search(target):
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
        for s in block:
            told, more = self.told(s), self.more(s)
            s = map_blocks(s, self.block)
            if isinstance(s, For):
                s = replace(s, body=(told, *s.body)) if told is not None else s
                told = None
            if isinstance(s, Assign) and isinstance(s.value, Call):
                s = replace(s, value=Call(self.links[s.value.link], s.value.args))
            out += [s, *more] if told is None else [s, told, *more]
        return tuple(out)

    def told(self, s: Statement) -> Statement | None:
        """The assertion of what is claimed after a statement."""
        name = None if empties(s) else written_name(s)
        if name is None or (isinstance(s, Assign) and isinstance(s.value, Lit) and s.value.value in (None, UNBOUND)):
            return None
        perhaps = self.derived and (not isinstance(s, Assign) or self._may_lack(name, s.value))
        return self.assertion(name, self.part.origins.get(id(s), name), s.span, perhaps)

    def more(self, s: Statement) -> list[Statement]:
        """The assertions of what is told beside the kinds."""
        if not isinstance(s, Assign):
            return []
        fact = claims.Fact(subject(s.target), claims.Anything(), s.span)
        found: list[Statement] = []
        if self.zero.get(id(s), False):
            found.append(self.asserting(claims.claimed_zero, s.target, s.span, "is zero"))
        for other in self.alike.get(id(s), ()):
            key = self.entered(f"{s.span.line}: {shown(s.target)} is shaped as {shown(other)}", fact)
            both = (self.atom, Lit(key), Var(s.target), Var(other))
            found.append(Assign(MARK, Op(claims.claimed_alike, both), s.span))
        return found

    def _may_lack(self, name: str, value: Expr) -> bool:
        """Whether a derived program may bind what stands for no value: of what it recorded, or no cotangent."""
        return isinstance(value, Pop | Index | Var) or name.startswith("%") or _OURS.search(name) is not None

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
            case Obj(value=effects.Bound()):
                return claims.Anything()
            case Obj(value=value):
                return claims.Known((value,))
            case Either(values=values):
                return claims.Known(tuple(values))
            case Some(cls=cls):
                return claims.Of(cls)
            case _:
                return claims.Anything()

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
        if node not in self.boxes:
            cls = tuple if issubclass(kind.cls, FunctionValue) else kind.cls
            made = claims.Container(
                cls, self.memory(node), node.open or node.resized, self.derived or node in self.gaps, node.always
            )
            self.boxes[node] = made
            made.items.update({key: self.claim(item) for key, item in node.fields.items()})
            made.others = None if isinstance(node.elt, Bottom) else self.claim(node.elt)
        return self.boxes[node]


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
