"""The loop language: typed scalars, arrays, lists and records, with explicit loops.

Grammar
-------
::

    program   = Program functions, the first of which is entered
    function  = Function name(params) -> results, locals, block
    statement = Assign   name = expression                  a scalar
              | Write    array[places] = expression
              | Locate   name = place of an index in an axis      a negative index counts from the end
              | Check    test, or bail out with a code
              | Allocate array of extents, filled with zeros or not
              | View     array = part of another one: a `Pick` or a `Span` for each axis, a `NewAxis`
              | Turn     array = another one with its axes in another order
              | Reshape  array = the elements of another one, which lie row after row, under other extents
              | Bind     name = another name for an array, a list or a record
              | NewList | Push a value at the end of a list | Pull one from there
              | NewRecord of values
              | Fetch    name = item of a list or a record at a place | Put  item = value
              | If test: block else: block
              | For name in [reversed] range(start, stop, step): block
              | Loop     while True: block
              | Break | Continue
              | Call     results = function(arguments)
              | Product  array, or number, = the product of two matrices or vectors
              | Outside  result = a function of NumPy's or of tangentx.arrays, run by the interpreter
              | Return   values
              | Keep     a number is computed, used or not: for its floating-point events
              | Remark   # a comment
    expression= Const | Local | Extent of an axis | Read array[places] | Apply operator(expressions)
              | Reduce an array to a number | Length of a list

A program is pure until it succeeds: it writes into arrays alone that it has allocated. Whatever the loop language has
no meaning for - an index out of range, a Python number divided by zero, whole numbers beyond 64 bits, the user's own
exceptions - is a `Check` that fails: the program *bails out* with a code, and its caller runs the generated Python
instead, from the beginning. What the floating-point flags tell is the caller's business too.

Types hold what decides the meaning of an operation: the representation, and whose number it is, Python's or NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

import numpy as np


class Owner(Enum):
    """Whose number a scalar is: Python's operators raise where NumPy's warn."""

    PYTHON = "Python"
    NUMPY = "NumPy"
    EITHER = "Python or NumPy"


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number of the representation `code`: f8, f4, i8 or b1."""

    code: str
    owner: Owner = Owner.NUMPY

    @property
    def is_float(self) -> bool:
        """Whether it is a real number."""
        return self.code[0] == "f"


@dataclass(frozen=True, slots=True)
class Array:
    """An array of rank `rank`; with `unit` the elements along its last axis are neighbours in memory."""

    code: str
    rank: int
    unit: bool = True

    @property
    def element(self) -> Scalar:
        """The type of its elements."""
        return Scalar(self.code)


@dataclass(frozen=True, slots=True)
class List:
    """A list by reference, of items of one type; it grows and shrinks at its end."""

    item: Type


@dataclass(frozen=True, slots=True)
class Record:
    """A container by reference whose items have known places, and each a type of its own."""

    items: tuple[Type, ...]


Type: TypeAlias = Scalar | Array | List | Record
CODES = ("f8", "f4", "i8", "b1")
INT = Scalar("i8", Owner.PYTHON)
BOOL = Scalar("b1", Owner.PYTHON)
FLOAT = Scalar("f8", Owner.PYTHON)


def dtype_of(code: str) -> np.dtype[np.generic]:
    """NumPy's dtype of a representation."""
    return np.dtype(code if code != "b1" else "?")


class Bail(Enum):
    """Why a compiled program gives up; the value is its code."""

    INDEX = 1
    ZERO_DIVISION = 2
    INTEGER = 3
    DOMAIN = 4
    EMPTY = 5
    RAISED = 6
    SHAPE = 7
    MEMORY = 8
    INTERRUPT = 9

    @property
    def reason(self) -> str:
        """The code in words."""
        return _REASONS[self]


class Bailout(Exception):
    """Raised by a program that is printed as Python where it gives up, with the code."""


_REASONS = {
    Bail.INDEX: "an index was out of range",
    Bail.ZERO_DIVISION: "a number was divided by zero",
    Bail.INTEGER: "a whole number left the range of 64 bits",
    Bail.DOMAIN: "a function was given an argument outside of its domain",
    Bail.EMPTY: "an item was taken from an empty list",
    Bail.RAISED: "the program raised an exception",
    Bail.SHAPE: "arrays had shapes that do not fit",
    Bail.MEMORY: "there was not enough memory",
    Bail.INTERRUPT: "it was interrupted",
}


@dataclass(frozen=True, slots=True)
class Const:
    value: bool | int | float
    type: Scalar


@dataclass(frozen=True, slots=True)
class Local:
    name: str
    type: Scalar


@dataclass(frozen=True, slots=True)
class Extent:
    """How many elements an array has along an axis."""

    array: str
    axis: int

    @property
    def type(self) -> Scalar:
        """A whole number of Python's."""
        return INT


@dataclass(frozen=True, slots=True)
class Read:
    """An element, at places that are known to be in range."""

    array: str
    places: tuple[Expr, ...]
    type: Scalar


@dataclass(frozen=True, slots=True)
class Apply:
    """An operator or a function of `operators.OPERATORS`, on operands of the representation that it computes in."""

    op: str
    args: tuple[Expr, ...]
    type: Scalar


@dataclass(frozen=True, slots=True)
class Reduce:
    """The `sum`, `max` or `min` of all elements of an array; a sum in the order in which NumPy adds."""

    op: str
    array: str
    type: Scalar


@dataclass(frozen=True, slots=True)
class Length:
    """How many items a list holds."""

    list: str

    @property
    def type(self) -> Scalar:
        """A whole number of Python's."""
        return INT


Expr: TypeAlias = Const | Local | Extent | Read | Apply | Reduce | Length


@dataclass(frozen=True, slots=True)
class Pick:
    """The one place along an axis, which the view does not have."""

    place: Expr


@dataclass(frozen=True, slots=True)
class Span:
    """The `count` places from `start` on, `step` apart, along an axis."""

    start: Expr
    count: Expr
    step: int = 1


@dataclass(frozen=True, slots=True)
class NewAxis:
    """An axis of length one that the view has, and its base has not."""


@dataclass(frozen=True, slots=True)
class Assign:
    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Write:
    array: str
    places: tuple[Expr, ...]
    value: Expr


@dataclass(frozen=True, slots=True)
class Locate:
    """The place of `index` along an axis of `extent`; bails out where there is none."""

    name: str
    index: Expr
    extent: Expr


@dataclass(frozen=True, slots=True)
class Check:
    test: Expr
    bail: Bail


@dataclass(frozen=True, slots=True)
class Allocate:
    name: str
    extents: tuple[Expr, ...]
    zeros: bool


@dataclass(frozen=True, slots=True)
class View:
    name: str
    base: str
    parts: tuple[Pick | Span | NewAxis, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    name: str
    base: str
    axes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reshape:
    """As many elements as `base` has; bails out where those do not lie row after row without gaps."""

    name: str
    base: str
    extents: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Bind:
    name: str
    source: str


@dataclass(frozen=True, slots=True)
class NewList:
    name: str


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record of scalar expressions, and of everything else by its name."""

    name: str
    values: tuple[Expr | str, ...]


@dataclass(frozen=True, slots=True)
class Push:
    list: str
    value: Expr | str


@dataclass(frozen=True, slots=True)
class Pull:
    """Takes the last item off; bails out where there is none."""

    list: str
    name: str


@dataclass(frozen=True, slots=True)
class Fetch:
    """Reads the item of a list or a record, at a place that is known to be in range."""

    name: str
    base: str
    place: Expr


@dataclass(frozen=True, slots=True)
class Put:
    """Writes the item of a list or a record, at a place that is known to be in range."""

    base: str
    place: Expr
    value: Expr | str


@dataclass(frozen=True, slots=True)
class If:
    test: Expr
    body: Block
    orelse: Block = ()


@dataclass(frozen=True, slots=True)
class For:
    """`independent`: no trip reads or writes what another one writes, as in the loops of array statements."""

    name: str
    start: Expr
    stop: Expr
    step: Expr
    backward: bool
    body: Block
    independent: bool = False


@dataclass(frozen=True, slots=True)
class Loop:
    body: Block


@dataclass(frozen=True, slots=True)
class Break:
    pass


@dataclass(frozen=True, slots=True)
class Continue:
    pass


@dataclass(frozen=True, slots=True)
class Call:
    function: str
    args: tuple[Expr | str, ...]
    results: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outside:
    """Numbers and new arrays that a function of Python gives: the one at this place among those of the program.

    `args` are all numbers and arrays that it is given, one after the other.
    """

    names: tuple[str, ...]
    place: int
    args: tuple[Expr | str, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """What ``a @ b`` gives for arrays of rank 1 or 2 that fit; a large one may be given by a function of Python, the
    one at this place."""

    name: str
    a: str
    b: str
    place: int


@dataclass(frozen=True, slots=True)
class Return:
    """Scalar expressions, and everything else by its name."""

    values: tuple[Expr | str, ...]


@dataclass(frozen=True, slots=True)
class Keep:
    """The local real number of this name is computed whether or not it is used."""

    name: str


@dataclass(frozen=True, slots=True)
class Remark:
    text: str


Statement: TypeAlias = (
    Assign
    | Write
    | Locate
    | Check
    | Allocate
    | View
    | Turn
    | Reshape
    | Bind
    | NewList
    | NewRecord
    | Push
    | Pull
    | Fetch
    | Put
    | If
    | For
    | Loop
    | Break
    | Continue
    | Call
    | Outside
    | Product
    | Return
    | Keep
    | Remark
)
Block: TypeAlias = tuple[Statement, ...]


# ---- how arguments and results stand in those of Python: by their places, one after the other ----


@dataclass(frozen=True, slots=True)
class Owned:
    """A number that is Python's or NumPy's, and a boolean that says whether it is NumPy's."""

    place: int
    owner: int


@dataclass(frozen=True, slots=True)
class Items:
    """A list of numbers, as an array."""

    place: int
    owner: Owner


@dataclass(frozen=True, slots=True)
class Parts:
    """A container of the class `cls`: the form of each item, by its key."""

    cls: type
    items: tuple[tuple[Any, Form], ...]


@dataclass(frozen=True, slots=True)
class Known:
    """An object that is known, which has no place."""

    value: object


Form: TypeAlias = int | Owned | Items | Parts | Known | None


@dataclass(frozen=True)
class Function:
    """`locals` has the type of each name that is assigned; `results` those of what it returns."""

    name: str
    params: tuple[tuple[str, Type], ...]
    results: tuple[Type, ...]
    locals: dict[str, Type]
    body: Block


@dataclass(frozen=True)
class OutsideCall:
    """How a function of Python is called: the forms of its arguments, which say where numbers and arrays stand among
    those that it is given; the types of those; and those of its results. Where it gives a tuple, `many` says which of
    its items are results."""

    fn: Callable[..., Any]
    args: tuple[Form, ...]
    named: tuple[tuple[str, Form], ...]
    given: tuple[Scalar | Array, ...]
    results: tuple[Scalar | Array, ...]
    many: tuple[bool, ...] | None = None


@dataclass(frozen=True)
class Program:
    """`shape` says how the results of the first function stand in what Python returns, `arguments` how its parameters
    stand in the arguments.

    `copied` are parameters that the Python program copies because it writes into them. `report` has lines for a
    reader: what became one loop, and what never became an array. `read` are the objects from outside that its last
    parameters stand for: numbers and arrays, read at each call. `outside` are functions that the interpreter runs.
    `reshapes`: which memory is shared depends on whether the elements of arguments lie row after row.
    """

    functions: tuple[Function, ...]
    shape: Form = 0
    arguments: tuple[Form, ...] = ()
    copied: frozenset[str] = frozenset()
    read: tuple[Any, ...] = ()
    outside: tuple[OutsideCall, ...] = ()
    report: tuple[str, ...] = ()
    reshapes: bool = False


def statements(block: Block) -> Iterator[Statement]:
    """Every statement, in the order of the text."""
    for s in block:
        yield s
        for inner in blocks(s):
            yield from statements(inner)


def once(block: Block) -> Iterator[Statement]:
    """Every statement that stands in no loop."""
    for s in block:
        yield s
        if isinstance(s, If):
            yield from once(s.body)
            yield from once(s.orelse)


def blocks(s: Statement) -> tuple[Block, ...]:
    """The blocks inside of a statement."""
    if isinstance(s, If):
        return s.body, s.orelse
    return (s.body,) if isinstance(s, For | Loop) else ()
