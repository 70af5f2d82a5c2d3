"""Forward dataflow analysis over structured control flow, which may rewrite statements as it goes.

Facts hold at a place; where ways meet, those remain that hold on all of them, and a loop is walked until what holds
at its head no longer changes. Only the last walk of a loop counts, so what a pass writes rests on facts that are true.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeAlias, TypeVar

from tangentx.common.branch_facts import Side, changed_names, enter
from tangentx.ir.markers import REVERSE
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Atom,
    Block,
    Break,
    Continue,
    Delete,
    For,
    Function,
    If,
    Loop,
    Note,
    Raise,
    Return,
    Statement,
    Store,
    Var,
)
from tangentx.ir.rewrite import map_expr, map_key
from tangentx.ir.walk import bound

Fact = TypeVar("Fact")
Site: TypeAlias = object
LIMIT_WALKS = 12


@dataclass
class _Exits(Generic[Fact]):
    """What holds where the loop in hand is left, and where its next trip is started early."""

    left: list[dict[str, Fact]] = field(default_factory=list)
    again: list[dict[str, Fact]] = field(default_factory=list)


class Flow(Generic[Fact]):
    """The walk; `env` holds the facts at the place in hand and is None where control never comes.

    `hand` is the statement in hand, as it was before the walk; `visits` numbers what is met on the way.
    """

    def __init__(self) -> None:
        self.env: dict[str, Fact] | None = {}
        self.hand: Statement | None = None
        self.visits = itertools.count()
        self._loops: list[_Exits[Fact]] = []
        self._found: dict[int, tuple[list[str], dict[str, Fact]]] = {}

    # -- what a pass says --------------------------------------------------------------------------------------

    def rewrite(self, s: Statement) -> Iterable[Statement]:
        """What stands in place of a statement without blocks, or for the head of one with blocks.

        In place of the former it may come one by one: what is known is brought up to date after each.
        """
        return (s,)

    def after(self, s: Statement) -> None:
        """Brings `env` up to date for a statement that has been written."""

    def kill(self, name: str) -> None:
        """`name` is bound anew: what was known of it is over."""
        assert self.env is not None
        self.env.pop(name, None)

    def begun(self, s: For) -> None:
        """A trip of a loop begins: `env` may take note of its number."""

    def merge(self, a: dict[str, Fact], b: dict[str, Fact], site: Site, names: Iterable[str]) -> dict[str, Fact]:
        """What holds of these names where two ways meet."""
        return {name: fact for name in names if (fact := a.get(name)) is not None and b.get(name) == fact}

    def entered(self, names: Iterable[str]) -> None:
        """`env` has come to hold something else of these names where ways have met."""

    def lasting(self, s: For | Loop, facts: Side[Fact]) -> None:
        """Forgets, of the facts at the entry of a loop, what cannot hold at its head whatever the trips bind.

        Any part of it will do: what is kept wrongly costs another walk, what is forgotten is not known in the loop.
        """

    @property
    def in_loop(self) -> bool:
        """Whether the place in hand may be come to more than once."""
        return bool(self._loops)

    # -- the walk ----------------------------------------------------------------------------------------------

    def block(self, block: Block) -> Block:
        """Walks a block; gives the very same one if nothing was written anew."""
        out: list[Statement] = []
        same = True
        for s in block:
            if self.env is None and not isinstance(s, Note):
                same = False
                continue
            new = self._statement(s)
            same = same and len(new) == 1 and new[0] is s
            out += new
        return block if same else tuple(out)

    def _statement(self, s: Statement) -> Sequence[Statement]:
        if type(s) is If:
            return self._if(s)
        if type(s) is For or type(s) is Loop:
            return (self._loop(s),)
        out: list[Statement] = []
        self.hand = s
        for new in self.rewrite(s):
            self.after(new)
            if type(new) in LEAVING:
                self._leave(new)
            out.append(new)
        return out

    def _leave(self, s: Statement) -> None:
        assert self.env is not None
        if isinstance(s, Break):
            self._loops[-1].left.append(self.env)
        elif isinstance(s, Continue):
            self._loops[-1].again.append(self.env)
        self.env = None

    def _if(self, s: If) -> Sequence[Statement]:
        new = tuple(self.rewrite(s))
        if len(new) != 1 or not isinstance(new[0], If):
            return [each for inner in new for each in self._statement(inner)]
        head = new[0]
        assert self.env is not None
        before = self.env
        self.env = Side(before)
        body = self.block(head.body)
        first, self.env = self.env, Side(before)
        orelse = self.block(head.orelse)
        self.env = self._behind(before, first, self.env, next(self.visits))
        same = head is s and body is head.body and orelse is head.orelse
        return (s,) if same else (replace(head, body=body, orelse=orelse),)

    def _behind(
        self, before: dict[str, Fact], a: dict[str, Fact] | None, b: dict[str, Fact] | None, site: Site
    ) -> dict[str, Fact] | None:
        """What holds behind a branch: what did before it, but for the names that its sides have changed."""
        if a is None and b is None:
            return None
        names = changed_names(before, a, b)
        known = b if a is None else a if b is None else self.merge(a, b, site, names)
        self._enter(before, names, known or {})
        return before

    def _enter(self, facts: dict[str, Fact], names: Iterable[str], known: Mapping[str, Fact]) -> None:
        """Goes on with these facts, and what is known of the names."""
        self.env = facts
        enter(facts, names, known)
        self.entered(names)

    def _loop(self, s: For | Loop) -> Statement:
        (head,) = self.rewrite(s)
        assert isinstance(head, (For, Loop)) and self.env is not None
        outer, site = self.env, next(self.visits)
        facts = self._start(s, outer, site)
        names = dict(facts.changed)
        for walk in itertools.count():
            body, ends, left = self._trip(head, facts)
            names |= dict.fromkeys(changed_names(facts, *ends))
            back = self._meet(facts, ends, itertools.repeat(site), names)
            if all(back.get(name) == facts.get(name) for name in names):
                break
            if walk < LIMIT_WALKS:
                self._enter(facts, names, back)
            else:
                self._enter(facts, list(facts), {})
        if self._loops:
            lost = [name for name in facts.changed if name in outer and facts.get(name) != outer[name]]
            self._found[id(s)] = lost, {name: facts[name] for name in lost if name in facts}
        if isinstance(head, For):
            left.insert(0, facts)
        self.env = None
        if left:
            names = dict.fromkeys((*facts.changed, *changed_names(facts, *left)))
            self._enter(outer, names, self._meet(left[0], left[1:], self.visits, names))
        return s if head is s and body is s.body else replace(head, body=body)

    def _trip(self, head: For | Loop, facts: Side[Fact]) -> tuple[Block, list[dict[str, Fact]], list[dict[str, Fact]]]:
        """Walks the body of a loop; gives what holds where the next trip begins, and where the loop is left."""
        self.env = Side(facts)
        self._loops.append(_Exits())
        if isinstance(head, For):
            self.kill(head.target)
            self.begun(head)
        body = self.block(head.body)
        exits = self._loops.pop()
        return body, [end for end in (self.env, *exits.again) if end is not None], exits.left

    def _meet(
        self, facts: dict[str, Fact], ends: list[dict[str, Fact]], sites: Iterator[Site], names: Iterable[str]
    ) -> dict[str, Fact]:
        """What holds, of these names at least, where `facts` and all the ends do."""
        met = facts
        for end in ends:
            known = self.merge(met, end, next(sites), names)
            met = dict(facts)
            enter(met, names, known)
        return met

    def _start(self, s: For | Loop, outer: dict[str, Fact], site: Site) -> Side[Fact]:
        """What to take for the facts at the head of a loop at first: those at its entry. Inside of another loop, where
        it has been walked before, less what did not last then: where each walk of a loop had each loop in it start
        anew, time would double with each level. Any part of the facts at the entry is right to begin with.
        """
        facts = Side(outer)
        if id(s) in self._found:
            lost, lasted = self._found[id(s)]
            here = {name: outer[name] for name in lost if name in outer}
            enter(facts, lost, self.merge(here, lasted, site, here))
        else:
            self.lasting(s, facts)
        return facts


LEAVING = (Break, Continue, Return, Raise)


def map_atoms(s: Statement, change: Callable[[Atom], Atom]) -> Statement:
    """`s` with `change` applied to what it reads itself; `s` if that is all the same.

    A test or a bound is left alone where its blocks would bind the new atom.
    """
    match s:
        case Assign():
            value = map_expr(s.value, change)
            return s if value is s.value or value == s.value or _same(s.value, value) else replace(s, value=value)
        case Store() | Accumulate():
            base, key, atom = change(s.base), map_key(s.key, change), change(s.value)
            same = (base, key, atom) == (s.base, s.key, s.value)
            return s if same else replace(s, base=base, key=key, value=atom)
        case Append():
            base, atom = change(s.base), change(s.value)
            return s if (base, atom) == (s.base, s.value) else replace(s, base=base, value=atom)
        case Delete():
            base, key = change(s.base), map_key(s.key, change)
            return s if (base, key) == (s.base, s.key) else replace(s, base=base, key=key)
        case If():
            test = _governing(s.test, change, bound(s.body) | bound(s.orelse))
            return s if test == s.test else replace(s, test=test)
        case For():
            inner = bound(s.body) | {s.target}
            start, stop, step = (_governing(a, change, inner) for a in (s.start, s.stop, s.step))
            same = (start, stop, step) == (s.start, s.stop, s.step)
            return s if same else replace(s, start=start, stop=stop, step=step)
        case Return():
            atom = change(s.value)
            return s if atom == s.value else replace(s, value=atom)
        case Raise():
            atom, cause = change(s.value), None if s.cause is None else change(s.cause)
            return s if (atom, cause) == (s.value, s.cause) else replace(s, value=atom, cause=cause)
    return s


def _same(old: object, new: object) -> bool:
    """Whether calls, which compare by identity, have the same arguments."""
    return type(old) is type(new) and getattr(old, "link", None) is not None and vars_of(old) == vars_of(new)


def vars_of(node: object) -> object:
    """The arguments of a call."""
    return getattr(node, "args", None)


def _governing(atom: Atom, change: Callable[[Atom], Atom], inner: frozenset[str] | set[str]) -> Atom:
    new = change(atom)
    return atom if isinstance(new, Var) and new.name in inner else new


def sweeps(function: Function) -> tuple[Block, Block]:
    """The function's statements up to the start of its own reverse sweep, and those from there.

    A backward function is all reverse sweep; the user's own functions have none. No line of the user's is taken for
    the mark: the comments that quote one begin with its number.
    """
    if function.origin is not None:
        return function.body, ()
    marks = [i for i, s in enumerate(function.body) if isinstance(s, Note) and s.text == REVERSE]
    if marks:
        return function.body[: marks[-1]], function.body[marks[-1] :]
    return ((), function.body) if function.name.endswith("_backward") else (function.body, ())
