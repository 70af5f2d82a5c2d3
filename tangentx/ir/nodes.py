"""The intermediate representation: structured, not SSA, one effect a statement, explicit order.

Grammar
-------
::

    function  = Function name(params) block
    block     = tuple of statements
    statement = Assign   target = expression
              | Augment  target fn= atom                 open: a number is rebound, an array is written
              | Store    base[key] = atom
              | Augstore base[key] fn= atom              open: as Augment, for an element, which `old` held before
              | Accumulate base[key] += atom             each repeat of an index adds (`repeats`: there may be some)
              | Append   base.append(atom)
              | Delete   del base[key]
              | If test: block else: block
              | For target in [reversed] range(start, stop, step): block     checkpointed with so many `snapshots`
              | Loop     while True: block               ends by Break, Return or Raise alone
              | Break | Continue | Return atom | Raise atom [from atom]
              | Note     # a comment of the generated text; means nothing
    expression= atom
              | Op       fn(atoms, name=atoms)           a pure primitive: operator.add, np.sum, ...
              | Apply    atom(atoms, name=atoms)         open: the callee is found by its kind; `stars` are ``*atom``
              | Method   atom.name(atoms, name=atoms)    open: likewise; a keyword "**" is ``**atom``
              | Call     link(atoms)                     a function of this language, all arguments by position
              | Index    atom[key] | Attr atom.name
              | Make     tuple, list, dict, ... of atoms; open: a function, of what it captures (`ir.functions`)
              | Pop      base.pop()
    key       = Key of parts, a part being an atom or a Slice of atoms
    atom      = Var name | Lit constant | Ext object of the user's world

The frontend writes the language with the open forms in it; `analysis.types.kinds` replaces them, and every later stage
meets the closed forms only. The test of an `If` and the bounds of a `For` are not assigned in its blocks (the
frontend copies them into fresh names where the user assigns them).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tangentx.errors import Span


@dataclass(frozen=True, slots=True)
class Var:
    """A local name or a parameter."""

    name: str


@dataclass(frozen=True, slots=True)
class Lit:
    """A constant: None, bool, int, float, complex, str, bytes or Ellipsis; UNBOUND stands for "no value yet"."""

    value: object

    @property
    def is_tame(self) -> bool:
        """Whether it is a real number that needs no guard as a factor: it is finite, and not near the largest."""
        return isinstance(self.value, int | float) and abs(self.value) < 1e300


@dataclass(frozen=True, slots=True, eq=False)
class Ext:
    """An object found outside the function, read again at every call.

    `path` says how: ("global", module name, attribute...), ("closure", cell name, attribute...) of the function
    object `home`, or ("builtin", name). `value` is what it was when the function was compiled.
    """

    name: str
    value: Any
    path: tuple[str, ...]
    home: Any = None


Atom: TypeAlias = Var | Lit | Ext


class _Unbound:
    """Value of a name that nothing has bound yet."""

    def __repr__(self) -> str:
        return "UNBOUND"


UNBOUND = _Unbound()


@dataclass(frozen=True, slots=True)
class Slice:
    """``start:stop:step``; an absent bound is ``Lit(None)``."""

    start: Atom = Lit(None)
    stop: Atom = Lit(None)
    step: Atom = Lit(None)


@dataclass(frozen=True, slots=True)
class Key:
    """What stands in brackets: one part, or a tuple of parts when `many`; with `attribute`, the name behind a dot."""

    parts: tuple[Atom | Slice, ...]
    many: bool = False
    attribute: bool = False


@dataclass(frozen=True, slots=True)
class Op:
    """A primitive applied to atoms; it writes nothing."""

    fn: Callable[..., Any]
    args: tuple[Atom, ...]
    kwargs: tuple[tuple[str, Atom], ...] = ()


@dataclass(frozen=True, slots=True)
class Apply:
    """A call whose callee is an atom (open); `stars` are the places of the arguments that stand for all their items.

    An argument named "**" stands for all the entries of a dict.
    """

    fn: Atom
    args: tuple[Atom, ...]
    kwargs: tuple[tuple[str, Atom], ...] = ()
    stars: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Method:
    """A call of a method (open), with arguments as in `Apply`; `above` a class where the text says ``super()``."""

    base: Atom
    name: str
    args: tuple[Atom, ...]
    kwargs: tuple[tuple[str, Atom], ...] = ()
    stars: tuple[int, ...] = ()
    above: Ext | None = None


class Link:
    """A function by reference, so that functions may call each other; `function` is filled in when it is complete."""

    __slots__ = ("function", "name")

    def __init__(self, name: str, function: Function | None = None) -> None:
        self.name = name
        self.function = function


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A call of a function of this language."""

    link: Link
    args: tuple[Atom, ...]


@dataclass(frozen=True, slots=True)
class Index:
    """``base[key]``: an element, a view or a copy, as the kinds say."""

    base: Atom
    key: Key


@dataclass(frozen=True, slots=True)
class Attr:
    """``base.name``, read."""

    base: Atom
    name: str


@dataclass(frozen=True, slots=True)
class Make:
    """A new container of class `cls`: tuple, list (no keys), dict (keys), named tuple or dataclass (field names), or
    (open) a function as a value."""

    cls: type
    items: tuple[Atom, ...]
    keys: tuple[Any, ...] | None = None


@dataclass(frozen=True, slots=True)
class Pop:
    """``base.pop()``: takes the last element off a list; a tuple of `arity` items where that is known (not 0)."""

    base: Var
    arity: int = 0


def sequence(x: Any, count: int | None = None, more: bool = False) -> Any:
    """Marker for `Op`: the items of `x` as something that can be indexed; exactly `count` of them where given.

    With `more` there may be others.

    The frontend writes it for the iterable of a `for` and for the right side of an unpacking; `analysis.types.kinds`
    replaces it.
    """
    raise AssertionError("a marker, never run")


def keys(x: Any, method: str) -> Any:
    """Marker for `Op`: the keys of the dict `x`, in order, as something that can be indexed; of any other object what
    its `method` gives."""
    raise AssertionError("a marker, never run")


def is_sequence(x: Any) -> Any:
    """Marker for `Op`: whether a sequence pattern of ``match`` may match `x`: a list or a tuple, but no string."""
    raise AssertionError("a marker, never run")


def is_mapping(x: Any) -> Any:
    """Marker for `Op`: whether a mapping pattern of ``match`` may match `x`."""
    raise AssertionError("a marker, never run")


def truth(x: Any) -> Any:
    """Marker for `Op`: `x`, of which only the truth counts."""
    raise AssertionError("a marker, never run")


def deleted() -> Any:
    """Marker for `Op`: the name that is bound to it has no value from here on."""
    raise AssertionError("a marker, never run")


MARKERS = (sequence, keys, is_sequence, is_mapping, truth, deleted)


@dataclass(frozen=True, slots=True, eq=False)
class Manager:
    """A ``with`` statement: its `call`, and the calls that stand `first` in its block; all of constants and objects
    from outside, so that it may be entered wherever something that is derived from its block is run."""

    call: Apply
    first: tuple[Apply, ...] = ()


Expr: TypeAlias = Atom | Op | Apply | Method | Call | Index | Attr | Make | Pop


@dataclass(frozen=True, slots=True, eq=False)
class Assign:
    target: str
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Augment:
    target: str
    fn: Callable[..., Any]
    value: Atom
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    base: Atom
    key: Key
    value: Atom
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Augstore:
    base: Atom
    key: Key
    fn: Callable[..., Any]
    value: Atom
    span: Span
    old: Var | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Accumulate:
    base: Atom
    key: Key
    value: Atom
    span: Span
    repeats: bool = False
    by: Callable[..., Any] = operator.add  # the ufunc that adds where indices repeat; NumPy's where it is this


@dataclass(frozen=True, slots=True, eq=False)
class Append:
    base: Atom
    value: Atom
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Delete:
    base: Atom
    key: Key
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Twin:
    """What a branch or a loop of the forward sweep has in common with that of the reverse sweep which undoes it: its
    test has the same outcome there, in reverse order, or its bounds are the same."""

    name: object
    back: bool


@dataclass(frozen=True, slots=True, eq=False)
class If:
    test: Atom
    body: Block
    orelse: Block
    span: Span
    twin: Twin | None = None


@dataclass(frozen=True, slots=True, eq=False)
class For:
    target: str
    start: Atom
    stop: Atom
    step: Atom
    backward: bool
    body: Block
    span: Span
    snapshots: Atom | None = None
    twin: Twin | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    body: Block
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Break:
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Continue:
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Return:
    value: Atom
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Raise:
    value: Atom
    span: Span
    cause: Atom | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Note:
    text: str
    span: Span


Statement: TypeAlias = (
    Note
    | Assign
    | Augment
    | Store
    | Augstore
    | Accumulate
    | Append
    | Delete
    | If
    | For
    | Loop
    | Break
    | Continue
    | Return
    | Raise
)
Block: TypeAlias = tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter as its signature has it; `default` is an atom, or None where there is none.

    `kind` is "normal", "positional" (by position only), "keyword" (by name only), "args" (``*args``) or "kwargs"
    (``**kwargs``).
    """

    name: str
    default: Atom | None = None
    kind: str = "normal"


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """One function. `origin` is the Python function it was lifted from, if any; `doc` its docstring."""

    name: str
    params: tuple[Param, ...]
    body: Block
    span: Span
    origin: Any = None
    doc: str = ""
    notes: Mapping[str, Any] = field(default_factory=dict)


# Queries on subscript keys, and the key that selects all of an array.

WHOLE = Key((Lit(Ellipsis),))
"""All of an array."""


def attribute_of(key: Key) -> str:
    """The name behind the dot."""
    assert key.attribute and isinstance(key.parts[0], Lit)
    return str(key.parts[0].value)
