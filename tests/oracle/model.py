"""What the grammar knows while it writes a program: types, names in scope, lines written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from random import Random
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Type:
    """`kind` is num, int, arr or complex (with `shape`), idx (array of indices), list (of `item`), dict or tuple (of
    `fields`), fn (a function of a number), obj (an object with `fields`)."""

    kind: str
    shape: tuple[int, ...] = ()
    item: Type | None = None
    fields: tuple[tuple[str, Type], ...] = ()

    def picks(self, name: str, want: Type) -> list[str]:
        """Expressions for those fields of the dict or tuple `name` that have type `want`."""
        quote = '"' if self.kind == "dict" else ""
        return [f"{name}[{quote}{key}{quote}]" for key, type_ in self.fields if type_ == want]


BUFFER = "BUFFER"  # a global array: the program fills it first, so that what it held before does not count
NUM = Type("num")
INT = Type("int")
INDICES = Type("idx")


def arr(*shape: int) -> Type:
    return Type("arr", shape)


def list_of(item: Type) -> Type:
    return Type("list", item=item)


@dataclass(frozen=True)
class Entry:
    """A name in scope.

    `shared`: another name may hold its memory. `limit`: an int is at least 0 and below it. `fixed`: not to be rebound.
    """

    name: str
    type: Type
    shared: bool = False
    limit: int | None = None
    fixed: bool = False


@dataclass(frozen=True)
class Param:
    name: str
    type: Type
    default: float | None = None


@dataclass(frozen=True)
class Routine:
    """A helper of the program.

    It `writes` into an argument; its `result` is None for a procedure, and a `view` of an argument, or one itself,
    where so marked; a list that it is given `grows`.
    """

    name: str
    params: tuple[Param, ...]
    result: Type | None
    writes: bool = False
    view: bool = False
    grows: bool = False


@dataclass(frozen=True)
class Record:
    """A class of the program: what its objects are made with, and its methods, which take a number."""

    name: str
    fields: tuple[tuple[str, Type], ...]
    methods: tuple[tuple[str, Type | None], ...]


POOL = {
    "num": ("s", "t", "y", "z", "c", "e", "g", "h", "total", "drift", "gain", "level"),
    "int": ("n", "count", "steps", "hits"),
    "arr": ("u", "v", "w", "p", "q", "row", "out", "buf", "cell", "flux", "field"),
    "list": ("items", "parts", "stack", "trail", "saved"),
    "dict": ("state", "d", "params"),
    "complex": ("psi", "phase", "wave", "amp"),
    "obj": ("tank", "agent", "body"),
    "loop": ("i", "j", "k", "m", "r"),
}


@dataclass
class Draft:
    """A program being written; a `calm` one writes into nothing, a `whole` one asks for no element of an array."""

    rng: Random
    width: int = 3
    lines: list[str] = field(default_factory=list)
    tags: Counter[str] = field(default_factory=Counter)
    routines: list[Routine] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    names: dict[str, Entry] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    indent: int = 1
    loops: int = 0
    depth: int = 0
    growing: bool = True
    calls: bool = True
    calm: bool = False
    whole: bool = False
    give: Callable[[], str] | None = None

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shapes that most arrays have."""
        return [(self.width,), (self.width - 1,), (2, self.width), (self.width, self.width)]

    # ---- choices ----
    def pick(self, options: Sequence[T]) -> T:
        return options[self.rng.randrange(len(options))]

    def chance(self, percent: int) -> bool:
        return self.rng.randrange(100) >= 100 - percent

    def const(self) -> str:
        return f"{self.rng.randrange(1, 20) * 0.07 + 0.03:.2f}"

    # ---- text ----
    def emit(self, line: str, tag: str = "") -> None:
        self.lines.append("    " * self.indent + line)
        self.tag(tag)

    def tag(self, tag: str) -> None:
        if tag:
            self.tags[tag] += 1

    # ---- names ----
    def fresh(self, pool: str) -> str:
        """A name nothing has used yet in this function."""
        free = [name for name in POOL[pool] if name not in self.used]
        name = self.pick(free[:4]) if free else f"{POOL[pool][0]}{len(self.used)}"
        self.used.add(name)
        return name

    def bind(
        self, name: str, type_: Type, *, shared: bool = False, limit: int | None = None, fixed: bool = False
    ) -> str:
        self.names[name] = Entry(name, type_, shared, limit, fixed)
        self.used.add(name)
        return name

    def share(self, *names: str) -> None:
        """Other names now may hold the memory of these."""
        for name in names:
            self.names[name] = replace(self.names[name], shared=True)

    def entries(self, *kinds: str) -> list[Entry]:
        return [entry for entry in self.names.values() if entry.type.kind in kinds]

    def of(self, type_: Type) -> list[Entry]:
        return [entry for entry in self.names.values() if entry.type == type_]

    def rank(self, ndim: int) -> list[Entry]:
        return [entry for entry in self.entries("arr") if len(entry.type.shape) == ndim]

    @contextmanager
    def block(self, *, loop: bool = False) -> Iterator[None]:
        """An indented block: what is bound in it is not safe to read after it."""
        names, self.names = self.names, dict(self.names)
        self.indent += 1
        self.depth += 1
        self.loops += loop
        yield
        self.indent -= 1
        self.depth -= 1
        self.loops -= loop
        self.names = {name: replace(entry, shared=self.names[name].shared) for name, entry in names.items()}
