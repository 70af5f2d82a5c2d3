"""The builder of loop-language functions: blocks, names, types and temporaries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tangentx.common.naming import Names
from tangentx.loops import c_entry, c_threads, numba_support, operators
from tangentx.loops.c_support import BEGINNING, OF_REALS
from tangentx.loops.loop_ir import (
    BOOL,
    FLOAT,
    INT,
    Apply,
    Assign,
    Bail,
    Block,
    Check,
    Const,
    Expr,
    Extent,
    Length,
    Local,
    Locate,
    Owner,
    Scalar,
    Statement,
    Type,
)

LIMIT_EXTENT = 2**47
"""Larger axes and whole numbers as arguments are left to the generated Python."""

_OURS = """
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while main np math
    asm typeof linux unix stdin stdout stderr signal raise y0 y1 yn j0 j1 jn gamma index round div remainder I
    acos asin atan acosh asinh atanh atan2 cosh sinh tanh tan cos sin expm1 log1p log2 log10 hypot rint trunc ceil
    floor Bailout FE_DIVBYZERO FE_INVALID FE_OVERFLOW FE_UNDERFLOW given found functions raised word
    abs len max min numba numbers range reversed kept kept_f8 kept_f4
""".split()
_OF_C = "".join(
    (BEGINNING, c_threads.SUPPORT, *((OF_REALS + c_threads.OF_REALS).replace("CODE", code) for code in ("f8", "f4")))
)
_FUNCTIONS = (f"{name}{suffix}" for name in (*operators.FUNCTIONS, "fabs") for suffix in ("", "f"))
RESERVED = frozenset(
    (*_OURS, *_FUNCTIONS, "llabs", *re.findall(r"[A-Za-z_]\w*", _OF_C), *c_entry.NAMES, *numba_support.NAMES)
)
"""Names that mean something in a text of C or Python."""
_NUMBERED = re.compile(r"(list|record|result|nothing|\w*_array)\d+|found_.*")


class Builder:
    """Writes a function. `types` has the type of every name, `extents` the lengths of arrays that are bound once."""

    def __init__(self, vague: frozenset[str] = frozenset()) -> None:
        self.names = Names(RESERVED)
        self.types: dict[str, Type] = {}
        self.params: list[tuple[str, Type]] = []
        self.extents: dict[str, tuple[Expr, ...]] = {}
        self.steady: set[str] = set()  # names that are bound once
        self.lasting: set[str] = set()  # those of them that are bound on every way through the function
        self.values: dict[str, Expr] = {}  # of whole numbers that are bound once
        self.loops: dict[str, tuple[Expr, Expr]] = {}  # bounds of counters of loops: the first, and behind the last
        self.located: dict[tuple[Expr, Expr], Expr] = {}
        self.equal: dict[Expr, Expr] = {}
        self.least: dict[Expr, int] = {}
        self.lets: dict[Expr, Expr] = {}
        self.views: dict[object, str] = {}
        self.owners: dict[str, Expr | None] = {}
        self.vague = vague  # names of which nothing is known but that they are Python's or NumPy's
        self.found_vague: set[str] = set()
        self.alike: set[tuple[Extent, Extent]] = set()  # lengths of parameters that are equal wherever the program ends
        self.births: dict[
            str, int
        ] = {}  # of names, in the order in which they are first bound; of variables, bound last
        self.trips: tuple[int, ...] = ()  # the loops of the program around what is written
        self._count = 0
        self._blocks: list[list[Statement]] = []

    def emit(self, *statements: Statement) -> None:
        """Adds statements to the block that is being written."""
        self._blocks[-1] += statements

    def at_top(self) -> bool:
        """Whether what is written is done on every way through the function."""
        return len(self._blocks) == 1

    @contextmanager
    def block(self) -> Iterator[list[Statement]]:
        """A new block, and what is known inside of it alone."""
        found: list[Statement] = []
        known = [dict(table) for table in self._tables()]
        self._blocks.append(found)
        try:
            yield found
        finally:
            self._blocks.pop()
            for table, before in zip(self._tables(), known, strict=True):
                table.clear()
                table.update(before)

    @contextmanager
    def loop(self) -> Iterator[None]:
        """What is written is the body of a loop of the program."""
        before = self.trips
        self.trips = (*before, self.moment())
        try:
            yield
        finally:
            self.trips = before

    def moment(self) -> int:
        """A number that is larger than those before."""
        self._count += 1
        return self._count

    def _tables(self) -> tuple[dict[Any, Any], ...]:
        """What holds only in the block in which it was found, and inside of it."""
        return self.located, self.equal, self.least, self.lets, self.views

    def fresh(self, stem: str, type: Type, steady: bool = True) -> str:
        """A new name like `stem`."""
        name = self.names.fresh(f"{stem}_" if _NUMBERED.fullmatch(stem) else stem)
        self.types[name] = type
        self.births[name] = self.moment()
        if steady:
            self.steady.add(name)
        return name

    def let(self, stem: str, value: Expr) -> Expr:
        """A name for the value that keeps its meaning, unless it is one."""
        if self.is_steady(value):
            return value
        if value in self.lets:
            return self.lets[value]
        name = self.fresh(stem, value.type)
        self.assign(name, value)
        if value.type.code == "i8" and self._stays(value):
            self.lets[value] = Local(name, value.type)
        return Local(name, value.type)

    def assign(self, name: str, value: Expr) -> None:
        """Gives a name a value."""
        self.emit(Assign(name, value))
        if name in self.steady and self.at_top():
            self.lasting.add(name)
        if name in self.steady and value.type.code == "i8" and self._stays(value):
            self.values[name] = value
        type = self.types[name]
        if isinstance(type, Scalar) and type.owner is Owner.EITHER:
            self._own(name, self.owner(value))

    def _own(self, name: str, owner: Expr | None) -> None:
        """Notes whose number a name holds from here on."""
        if name in self.steady:
            self.owners[name] = owner if owner is None else self.let(f"{name}_is_numpy", owner)
            return
        if owner is None:
            self.found_vague.add(name)
        if name not in self.owners:
            made = Local(self.fresh(f"{name}_is_numpy", BOOL, steady=False), BOOL)
            self.owners[name] = None if name in self.vague else made
        flag = self.owners[name]
        if isinstance(flag, Local) and owner is not None:
            self.emit(Assign(flag.name, owner))

    def owner(self, value: Expr) -> Expr | None:
        """Whether a number is NumPy's; None where only the program knows, and does not tell."""
        if value.type.owner is not Owner.EITHER:
            return Const(value.type.owner is Owner.NUMPY, BOOL)
        if isinstance(value, Local):
            return self.owners.get(value.name)
        if not isinstance(value, Apply):
            return None
        if value.op == "select":
            a, b = (self.owner(arg) for arg in value.args[1:])
            return None if a is None or b is None else Apply("select", (value.args[0], a, b), BOOL)
        result: Expr = Const(False, BOOL)
        for flag in map(self.owner, value.args):
            if flag is None:
                return None
            result = _either(result, flag)
        return result

    def _stays(self, value: Expr) -> bool:
        inside = value.args if isinstance(value, Apply) else ()
        return all(map(self._stays, inside)) if inside else self.is_steady(value)

    def check(self, test: Expr, bail: Bail) -> None:
        """Bails out where `test` does not hold."""
        if isinstance(test, Apply) and test.op == "ne" and all(isinstance(arg, Const) for arg in test.args):
            a, b = (arg.value for arg in test.args if isinstance(arg, Const))
            if a != b:
                return
        self.emit(Check(test, bail))

    def bound(self, value: Expr) -> int | None:
        """The largest absolute value that a whole number may have, where one is known."""
        return operators.bound(value, self._known)

    def _known(self, value: Expr) -> int | None:
        if isinstance(value, Extent | Length):
            return LIMIT_EXTENT
        if not isinstance(value, Local) or value.type.code != "i8":
            return None
        if value.name in self.values:
            return self.bound(self.values[value.name])
        if value.name in self.loops:
            ends = [self.bound(end) for end in self.loops[value.name]]
            return None if None in ends else max(end for end in ends if end is not None)
        return LIMIT_EXTENT if value.name in self.steady and value.name in dict(self.params) else None

    # ---- places in axes ----

    def place(self, index: Expr, extent: Expr) -> Expr:
        """The place of an index along an axis, where it is checked that there is one."""
        index = self.let("k", index)
        if self.in_range(index, extent):
            return index
        if not self.is_steady(index):
            return self._located(index, extent)
        if (index, extent) not in self.located:
            self.located[index, extent] = self._located(index, extent)
        return self.located[index, extent]

    def _located(self, index: Expr, extent: Expr) -> Expr:
        name = self.fresh("k", INT)
        self.emit(Locate(name, index, extent))
        return Local(name, INT)

    def is_steady(self, value: Expr) -> bool:
        """Whether an atom means the same wherever it stands in its block."""
        if isinstance(value, Local):
            return value.name in self.steady
        return isinstance(value, Const) or (isinstance(value, Extent) and value.array in self.steady)

    def affine(self, value: Expr) -> tuple[Expr | None, int]:
        """A whole number as an atom and a number that is added to it."""
        if isinstance(value, Const):
            return None, int(value.value)
        if isinstance(value, Local) and value.name in self.values:
            found = self.values[value.name]
            if isinstance(found, Const | Extent | Local) or (isinstance(found, Apply) and found.op in ("add", "sub")):
                return self.affine(found)
            return value, 0
        if isinstance(value, Apply) and value.op in ("add", "sub"):
            (a, m), (b, n) = map(self.affine, value.args)
            if b is None:
                return a, m + n if value.op == "add" else m - n
            if a is None and value.op == "add":
                return b, m + n
        return self.equal.get(value, value), 0

    def same(self, a: Expr, b: Expr) -> bool:
        """Whether two whole numbers are known to be equal."""
        return self.is_steady(a) and self.is_steady(b) and self.affine(a) == self.affine(b)

    def not_negative(self, value: Expr) -> bool:
        """Whether a whole number is known not to be negative."""
        low = self._low(value)
        return low is not None and low >= 0

    def in_range(self, index: Expr, extent: Expr) -> bool:
        """Whether 0 <= index < extent wherever the program comes here."""
        return self.not_negative(index) and self._below(index, extent)

    def _low(self, value: Expr) -> int | None:
        base, more = self.affine(value)
        if base is None:
            return more
        if isinstance(base, Extent):
            return more
        if isinstance(base, Local) and base.name in self.loops:
            first = self._low(self.loops[base.name][0])
            return None if first is None else first + more
        return None

    def _below(self, index: Expr, extent: Expr) -> bool:
        base, more = self.affine(index)
        end, count = self.affine(extent)
        for _ in range(8):
            if base == end:
                return more < count
            if not (isinstance(base, Local) and base.name in self.loops):
                return False
            base, behind = self.affine(self.loops[base.name][1])
            more += behind - 1
        return False


def _either(a: Expr, b: Expr) -> Expr:
    if isinstance(a, Const):
        return a if a.value else b
    if isinstance(b, Const):
        return b if b.value else a
    return Apply("or", (a, b), BOOL)


def literal(value: bool | int | float) -> Const:
    """A constant of Python's."""
    if isinstance(value, bool):
        return Const(value, BOOL)
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise operators.Refused("a whole number of more than 64 bits")
        return Const(value, INT)
    return Const(value, FLOAT)


def frozen(statements: list[Statement]) -> Block:
    """A finished block."""
    return tuple(statements)


def add(a: Expr, b: Expr) -> Expr:
    """A sum of whole numbers that are known to be small."""
    if isinstance(a, Const) and isinstance(b, Const):
        return Const(int(a.value) + int(b.value), INT)
    if isinstance(b, Const) and b.value == 0:
        return a
    return Apply("add", (a, b), INT)


def scalar(value: Type) -> Scalar:
    """The type, which is a scalar's."""
    if not isinstance(value, Scalar):
        raise operators.Refused("an array stands where a number is meant")
    return value
