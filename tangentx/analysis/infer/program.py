"""The program under compilation: all reachable functions, one instance for each combination of argument kinds."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from tangentx.analysis.infer.calling_conventions import QUIET, Checkpoints
from tangentx.analysis.types.address_map import Memory
from tangentx.analysis.types.kinds import BOTTOM, Kind, Region, TooDeep, World, join, signature
from tangentx.analysis.types.samples import Valuer
from tangentx.arrays.signatures import key
from tangentx.common.axes import Axes
from tangentx.common.forks import once
from tangentx.common.free_variables import static
from tangentx.common.naming import as_python_says
from tangentx.common.options import OBSERVING, ON_TENSORS, Helper, low_precision
from tangentx.errors import NotResolved, Span, TangentxError, is_library, is_ours
from tangentx.ir.nodes import Ext, Function, Link, Statement, Var

LIMIT_INSTANCES = 300  # of one function
LIMIT_DEPTH = 12


@dataclass(eq=False)
class Definition:
    """One place that binds a name; definitions that reach a common use are one variable (a web).

    `choice`: what is bound is one of several functions, at this position among them, and is bound as such a choice.
    `empty`: the name has no value from there on. `lost` makes the error of what cannot be
    read any more, of its name and the place where it is read.
    """

    name: str
    kind: Kind = BOTTOM
    parent: Definition | None = None
    round: int = 0
    choice: tuple[Any, int] | None = None
    empty: bool = False
    lost: Callable[[str, Span], TangentxError] | None = None

    @once
    def read(self) -> Var:
        """What reads it, by a name that cannot clash."""
        return Var(f"{self.name}#{id(self)}")

    def web(self) -> Definition:
        """The representative of the variable."""
        node = self
        while node.parent is not None:
            node = node.parent
        if node is not self:
            self.parent = node
        return node

    def unite(self, other: Definition) -> None:
        """Makes the two one variable."""
        a, b = self.web(), other.web()
        if a is not b:
            b.parent = a


def _deleted(name: str, span: Span) -> TangentxError:
    return NotResolved(f"`{name}` may have been deleted here", span, "remove the del statement")


DELETED = Definition("del", lost=_deleted)
"""Stands for the value of a name that has been deleted."""


@dataclass(eq=False)
class Instance:
    """A function for given kinds of its arguments, while and after it is analysed."""

    source: Function
    link: Link
    params: list[Kind]
    result: Kind = BOTTOM
    round: int = 0
    definitions: dict[Any, Definition] = field(default_factory=dict)
    overwritten: dict[Region, tuple[str, str, Span]] = field(default_factory=dict)  # see `memory/overwritten_arguments`
    regions: dict[Any, Region] = field(default_factory=dict)
    expansions: dict[Any, tuple[Statement, ...]] = field(default_factory=dict)
    backs: dict[Any, Any] = field(default_factory=dict)
    kinds: dict[str, Kind] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)  # names of which it is asked, while it runs, whether they have a value
    makes_functions: bool = False
    origins: dict[int, str] = field(default_factory=dict)  # as a `Unit` has them: none here
    called: tuple[Any, Span] | None = None  # of a library's, the function that the user's code called, and where
    given: list[Kind] = field(default_factory=list)  # of the root: kinds of its arguments before it writes into them


@dataclass
class Texts:
    """What a program does with texts that kinds do not follow: whether unknown code has been `given` one that contains
    a value, and by which function, and where, a number is first `read` from one of any origin."""

    given: bool = False
    read: tuple[str, Span] | None = None


class Program(ABC):
    """A root function and all that it calls, as far as their kinds are known."""

    def __init__(
        self,
        lift: Callable[[Any], Function],
        axes: Axes | None = None,
        loosely: Callable[[Any], Function] | None = None,
    ) -> None:
        self.world = World()
        self.axes = axes or Axes()
        self._lift, self.loosely = lift, lift if loosely is None else functools.cache(loosely)
        self.lifted: dict[int, tuple[Any, Any, Function]] = {}
        self.nested: dict[Any, tuple[Function, Program]] = {}
        self.members: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        self.locals: dict[Any, Any] = {}
        self.unfolded: dict[Any, tuple[Function, Function]] = {}
        self.instances: dict[Any, Instance] = {}
        self._counts: dict[int, int] = {}
        self.round = self.depth = 0
        self.checkpoints = Checkpoints()
        self.final = False
        self.called: tuple[Any, Span] | None = None  # as an `Instance` has it, of what is being walked
        self.problems: list[TangentxError] | None = None  # what is refused, where all of it is asked for
        self.externals: dict[int, tuple[Ext, Kind]] = {}
        self.keys: dict[int, Any] = {}  # of those objects when their kinds were found, for the guards
        self.valuer = Valuer(self.world, memory=Memory())
        self.pending: list[Instance] = []
        self.met: list[Instance] = []
        self.closed_to_outside = self.aside = False
        self.derived = False  # whether the root is a derived program, which asks at run time what it has to ask
        self.reference: Any = None  # what checked mode runs beside what is compiled
        self.reruns = self.unguarded = False  # whether products may lose their guards, and have: see `plain_sweeps`
        self.apart = False  # whether the arguments of the root are known to share no memory
        self.on_tensors: Mapping[Any, Helper] = ON_TENSORS.get()
        self.observing = OBSERVING.get()
        self.low_precision = low_precision()  # what products of the user's program run in, where that is asked for
        self.texts = Texts()
        self.noticed: set[str] = set()  # what is asked of values that their kinds take for granted, see `assumptions`
        self.read_on_tensors: list[TangentxError] = []  # for each object from outside that is read there, why it is

    def lift(self, function: Any) -> Function:
        """The language's version of a Python function; what was lifted is remembered, for the guards."""
        code = getattr(function, "__code__", None)  # before its text is read: another thread may replace it meanwhile
        lifted = self._lift(function)
        self.lifted[id(function)] = (function, code, lifted)
        return lifted

    def member(self, owner: Any, name: str) -> Any:
        """What a class, a module or an object has under a name, as `static`; remembered, for the guards."""
        found = static(owner, name)
        self.members[id(owner), name] = (owner, name, found)
        return found

    def library(self, function: Any) -> Function:
        """The language's version of one of our own functions, which never changes."""
        return self._lift(function)

    def quiet(self, source: Function) -> Function:
        """The function as one that shows nothing: no printing, no warnings."""
        if source.notes.get(QUIET):
            return source
        key = (QUIET, id(source))
        if key not in self.locals:
            self.locals[key] = (source, replace(source, notes={**source.notes, QUIET: True}))
        found: Function = self.locals[key][1]
        return found

    def result_aside(self, source: Function, kinds: Sequence[Kind]) -> Kind:
        """What a function gives that is called as it is: its kind is found beside the program, whose guards know it."""
        key = ("aside", id(source), tuple(signature(k) for k in kinds))
        if key not in self.nested:
            aside = type(self)(self._lift)
            aside.aside = True
            self.nested[key] = (source, aside)
            aside.analyse(source, kinds)
        return next(iter(self.nested[key][1].instances.values())).result

    def reached(self) -> list[Instance]:
        """The instances that the final walk met, the root first: analysed again it is younger than its callees."""
        found = [i for i in self.instances.values() if i.round == self.round]
        return sorted(found, key=lambda i: i is not self.met[0])

    @abstractmethod
    def analyse(self, source: Function, kinds: Sequence[Kind]) -> Instance:
        """The root instance, with every instance that it reaches closed. Raises located errors."""

    @abstractmethod
    def walk(self, instance: Instance) -> None:
        """Walks an instance with the kinds that its arguments have so far."""

    def make(self, source: Function, link: Link | None, kinds: Sequence[Kind]) -> Instance:
        """The instance of a function for these kinds, which are joined to those that it is known to be called with."""
        try:
            key = (id(link or source), tuple(signature(k) for k in kinds))
            instance = self.instances.get(key)
        except (TooDeep, RecursionError):
            raise NotResolved(
                f"`{as_python_says(source.name)}` is called with containers nested ever deeper",
                source.span,
                "give it arguments of one kind",
            ) from None
        if instance is None:
            self._counts[key[0]] = self._counts.get(key[0], 0) + 1
            if self._counts[key[0]] > LIMIT_INSTANCES:
                raise NotResolved(
                    f"`{as_python_says(source.name)}` is called with ever new kinds of arguments",
                    source.span,
                    "give it arguments of one kind",
                )
            instance = self.instances[key] = Instance(source, Link(source.name), [BOTTOM] * len(kinds))
            self.world.changed = True
        for i, kind in enumerate(kinds):
            joined = join(instance.params[i], kind)
            if joined != instance.params[i]:
                instance.params[i] = joined
                self.world.changed = True
        return instance

    def call(self, source: Function, link: Link | None, kinds: Sequence[Kind]) -> Instance:
        """The instance for a call met during a walk; its result so far is `result`.

        It is walked at once, so that its result is known, but for a call inside itself, and very deep ones.
        """
        instance = self.make(source, link, kinds)
        if instance.round == self.round:
            return instance
        instance.round = self.round
        self.met.append(instance)
        instance.called = self.called
        if self.depth >= LIMIT_DEPTH:
            self.pending.append(instance)
            return instance
        self.depth += 1
        self.walk(instance)
        self.depth -= 1
        return instance

    @contextmanager
    def calling(self, function: Any, file: str, span: Span) -> Iterator[None]:
        """While a function of that file is walked, which is called at `span`: what is refused in a library is told
        where the user called it."""
        before = self.called
        if _is_inside(file) and not _is_inside(span.file):
            self.called = (function, span)
        try:
            yield
        finally:
            self.called = before

    def inside(self) -> Iterator[Program]:
        """The programs of the derivatives in this one, and those inside of them."""
        for _, inner in self.nested.values():
            yield inner
            yield from inner.inside()

    def external(self, ext: Ext) -> Kind:
        """The kind of an object found outside the functions."""
        if id(ext) not in self.externals:
            kind = self.valuer.kind(ext.value)
            self.keys[id(ext)] = key(ext.value)
            for region in self.valuer.known.values():
                region.mark("external")
            self.externals[id(ext)] = (ext, kind)
        return self.externals[id(ext)][1]


def _is_inside(file: str) -> bool:
    """Whether a file is a library's, or ours: in a checkout that lies in no library."""
    return is_library(file) or is_ours(file)
