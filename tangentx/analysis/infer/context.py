"""The interface that expression and statement handlers share: the current walk and the code it emits.

Handlers take a `Walker`, and know nothing of the one that calls them (`infer.walker`).
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tangentx.analysis.infer.program import Definition, Instance, Program
from tangentx.analysis.types.kinds import Kind, Region, join
from tangentx.errors import Span, TangentxError
from tangentx.ir.nodes import Atom, Block, Expr, Function, Key, Link, Slice, Statement

Env = dict[str, tuple[Definition | None, ...]]
"""The definitions of each name that reach a place; None stands for "unbound"."""


@dataclass(eq=False)
class LoopState:
    """What reaches the head of the loop in hand, and where `break` and the ends of its trips lead."""

    head: Env
    left: list[Env] = field(default_factory=list)
    again: list[Env] = field(default_factory=list)


@dataclass(eq=False)
class Walker(ABC):
    """One walk of one instance."""

    program: Program
    instance: Instance
    env: Env | None = field(default_factory=dict)
    loops: list[LoopState] = field(default_factory=list)
    out: list[Statement] = field(default_factory=list)
    statement: Any = None

    @property
    def span(self) -> Span:
        """The place in hand."""
        return self.statement.span if self.statement is not None else self.instance.source.span

    def expand(self, tag: Any, build: Callable[[], Block]) -> None:
        """Walks statements that stand for the one in hand, built once and kept: their identities last."""
        key = (id(self.statement), tag)
        if key not in self.instance.expansions:
            self.instance.expansions[key] = build()
        self.inline(self.instance.expansions[key])

    def temporary(self) -> str:
        """A new temporary name, for expansions."""
        return f"%e{len(self.instance.expansions)}.{id(self.statement) % 100_000}.{next(_COUNTER)}"

    def fresh(self, tag: Any) -> Callable[[Any], Region]:
        """Regions of what the statement in hand makes, the same ones in each round."""

        def region(path: Any) -> Region:
            key = (id(self.statement), tag, path)
            if key not in self.instance.regions:
                self.instance.regions[key] = self.program.world.region()
            return self.instance.regions[key]

        return region

    def bind(self, name: str, kind: Kind, tag: Any = None) -> str:
        """Binds `name` here; the token stands for the variable until its web is known."""
        key = (id(self.statement), tag if tag is not None else name)
        definitions = self.instance.definitions
        if key not in definitions:
            definitions[key] = Definition(name)
        definition = definitions[key]
        joined = join(definition.kind, kind)
        if joined != definition.kind:
            definition.kind = joined
            self.program.world.changed = True
        definition.round = self.program.round
        assert self.env is not None
        self.env[name] = (definition,)
        return definition.read.name

    def lose(self, name: str, error: Callable[[str, Span], TangentxError]) -> None:
        """Takes its value from a name: to read it is the error, until it is bound again."""
        definitions = self.instance.definitions
        lost = definitions.setdefault((id(self.statement), "lost", name), Definition(name, lost=error))
        assert self.env is not None
        self.env[name] = (lost,)

    def key(self, key: Key) -> tuple[Key, tuple[Any, ...]]:
        """The key in closed form, and for each part its kind (for a slice, the kinds of its bounds)."""
        parts: list[Atom | Slice] = []
        kinds: list[Any] = []
        for part in key.parts:
            if isinstance(part, Slice):
                bounds = [self.read(a) for a in (part.start, part.stop, part.step)]
                parts.append(Slice(*(a for a, _ in bounds)))
                kinds.append(tuple(k for _, k in bounds))
            else:
                atom, kind = self.read(part)
                parts.append(atom)
                kinds.append(kind)
        return Key(tuple(parts), key.many, key.attribute), tuple(kinds)

    @abstractmethod
    def block(self, block: Block) -> Block:
        """Walks statements in order; those that cannot be reached are dropped."""

    @abstractmethod
    def inline(self, block: Block) -> None:
        """Walks statements, adding to the block in hand."""

    @abstractmethod
    def read(self, atom: Atom) -> tuple[Atom, Kind]:
        """The atom in closed form and its kind here."""

    @abstractmethod
    def walk(self, expr: Expr) -> tuple[Expr, Kind]:
        """An expression in closed form, and its kind here."""

    @abstractmethod
    def call(self, source: Function, link: Link | None, args: tuple[Atom, ...]) -> tuple[Expr, Kind]:
        """A call of a function of the language, every argument by position."""

    @abstractmethod
    def call_object(self, fn: Any, args: tuple[Atom, ...], kwargs: tuple[tuple[str, Atom], ...]) -> tuple[Expr, Kind]:
        """A call of a known object."""


_COUNTER = itertools.count(1)
