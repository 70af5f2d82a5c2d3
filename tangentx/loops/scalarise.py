"""From the closed, typed IR to the loop language.

A statement of the IR becomes statements of numbers and elements; a tuple becomes its items; a list that grows and
shrinks at its end becomes a tape. What has no form there is refused, with its place and the reason.
"""

from __future__ import annotations

import builtins
import operator
import re
import sys
import types
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from tangentx import arrays
from tangentx.analysis.types.kinds import BOTTOM, Arr, Box, Kind, Num, Obj, Region, World, describe, reached
from tangentx.common.naming import Names
from tangentx.ir import nodes as ir
from tangentx.ir import walk
from tangentx.loops import array_operations, list_operations, operators, outside_calls
from tangentx.loops.array_statements import ONE, ZERO, ArrayWriter, Held, Memory
from tangentx.loops.builder import LIMIT_EXTENT, RESERVED, Builder, literal
from tangentx.loops.loop_ir import (
    BOOL,
    FLOAT,
    INT,
    Apply,
    Array,
    Assign,
    Bail,
    Bind,
    Break,
    Call,
    Const,
    Continue,
    Expr,
    Extent,
    Fetch,
    For,
    Form,
    Function,
    If,
    Items,
    Known,
    Length,
    List,
    Local,
    Locate,
    Loop,
    NewAxis,
    NewList,
    NewRecord,
    Outside,
    OutsideCall,
    Owned,
    Owner,
    Parts,
    Pick,
    Product,
    Program,
    Pull,
    Push,
    Put,
    Read,
    Record,
    Return,
    Scalar,
    Span,
    Statement,
    Type,
    Write,
    dtype_of,
)
from tangentx.loops.operators import Refused, RefusedLate
from tangentx.loops.tidy import tidy
from tangentx.loops.types import Place, array_type, may_be_none, places, scalar_type, surely, type_of


@dataclass(frozen=True, slots=True)
class Slicing:
    """A slice, an object of the program's or a part of a key."""

    start: Expr | None = None
    stop: Expr | None = None
    step: Expr | None = None


@dataclass(frozen=True, slots=True)
class Maybe:
    """A number or an array, or None where `absent` is true."""

    value: Any
    absent: Expr


UNBOUND = Known(ir.UNBOUND)
"""What a name holds that has no value yet: nothing reads it, but it may be recorded."""
Value: TypeAlias = "Expr | Held | Known | Slicing | Maybe | tuple[Value, ...] | None"


class Refusal(Exception):
    """A program that the loop language cannot say: the reason, and the user's line."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


Source: TypeAlias = tuple[ir.Function, dict[str, Kind]]
"""A function of the IR, and the kind of each of its variables."""


def scalarise(entered: Source, others: Mapping[ir.Link, Source]) -> Program:
    """The program of the loop language that does what the function does. Raises Refusal.

    `others` has the functions that it calls.
    """
    functions = _Functions(others)
    root = functions.written(entered, None)
    made = tuple(map(tidy, (root.made(), *functions.made)))
    if functions.turns and functions.reshapes:
        raise Refusal(
            "memory that is written under two shapes, where arrays lie in several orders", entered[0].span.line
        )
    outside = tuple(functions.outside)
    return replace(root.program(), functions=made, outside=outside, reshapes=functions.reshapes)


@dataclass(frozen=True)
class _Callee:
    """A function that is written: its results, and how they stand in what Python returns."""

    name: str
    shape: object
    results: tuple[Type, ...]
    kinds: tuple[Kind | None, ...]
    foreign: bool
    read: tuple[ir.Ext, ...]


@dataclass(frozen=True, slots=True)
class Given:
    """The form of an argument that is a number or has a name. `owned`: a boolean behind it says whose number it is."""

    type: Type
    foreign: bool
    kind: Kind | None
    owned: bool


class _Functions:
    """The functions of a program, each for the types of the arguments that it is called with."""

    def __init__(self, sources: Mapping[ir.Link, Source]) -> None:
        self.sources = sources
        self.made: list[Function] = []
        self.known: dict[object, _Callee | None] = {}
        self.names = Names(RESERVED)
        self.outside: list[OutsideCall] = []
        self.turns = self.reshapes = False

    def written(self, source: Source, given: Sequence[object] | None) -> _Writer:
        """The writer of a function, which is done; `given` are the forms of its arguments, None for the entry."""
        scattered, vague = frozenset[str](), frozenset[str]()
        name = self.names.fresh(_identifier(source[0].name))
        while True:
            writer = _Writer(name, source, self, given, scattered, vague)
            try:
                writer.write()
            except (Refused, RefusedLate) as error:
                raise Refusal(error.reason, writer.line) from None
            if writer.scattered <= scattered and writer.b.found_vague <= vague:
                self.turns = self.turns or writer.arrays.turns
                self.reshapes = self.reshapes or writer.arrays.reshapes
                return writer
            scattered, vague = scattered | writer.scattered, vague | writer.b.found_vague

    def called(self, link: ir.Link, given: Sequence[object]) -> _Callee:
        """The function of a call."""
        key = link, tuple(given)
        if key not in self.known:
            if link not in self.sources:
                raise Refused("a call of a function that is not known")
            self.known[key] = None
            writer = self.written(self.sources[link], given)
            self.made.append(writer.made())
            self.known[key] = writer.callee()
        found = self.known[key]
        if found is None:
            raise Refused("a function that calls itself")
        return found


class _Unreachable(Exception):
    """The program never comes to what stands behind a statement in its block."""


class _Writer:
    """Writes one function.

    Arrays of the names in `scattered` may have gaps between the elements of the last axis; of numbers of those in
    `vague` it is not known whether they are Python's or NumPy's.
    """

    def __init__(
        self,
        name: str,
        source: Source,
        functions: _Functions,
        given: Sequence[object] | None,
        scattered: frozenset[str],
        vague: frozenset[str],
    ) -> None:
        self.name, self.functions, self.given = name, functions, given
        self.function, self.kinds = function, _ = source
        self.known_scattered, self.scattered = scattered, set[str]()
        self.line = function.span.line
        self.b = Builder(vague)
        self.bound = Counter(p.name for p in function.params)
        self.read = _read(function.body)
        for s in walk.statements(function.body):
            if type(s) in walk.BINDING:
                self.bound[s.target] += 1  # type: ignore[union-attr]
        self.bound += Counter(_read_elsewhere(function.body, {p.name for p in function.params}))
        self.asked = _asked(function.body)
        self.aliases = self._aliases()
        self.arrays = ArrayWriter(self.b)
        self.values: dict[str, Value] = {}
        self.held_kinds: dict[str, Kind] = {}
        self.flags: dict[str, Local] = {}
        self.absences: dict[str, Local] = {}
        self.owned: set[str] = set()
        self.body: list[Statement] = []
        self.result: Form = None
        self.results: tuple[Type, ...] | None = None
        self.result_kinds: tuple[Kind | None, ...] = ()
        self.arguments: list[Form] = []
        self.forms: dict[str, Form] = {}
        self.read_outside: dict[object, tuple[ir.Ext, Value]] = {}

    def _aliases(self) -> dict[str, str]:
        """Names of arrays that are another name for one array, both bound once: by the name that is kept."""
        found: dict[str, str] = {}
        for s in walk.statements(self.function.body):
            if not (isinstance(s, ir.Assign) and isinstance(s.value, ir.Var)):
                continue
            if isinstance(self.kinds.get(s.target), Arr) and self.bound[s.target] == self.bound[s.value.name] == 1:
                found[s.target] = found.get(s.value.name, s.value.name)
                self.read[s.value.name] -= 1
        for name, kept in found.items():
            self.read[kept] += self.read[name]
        return found

    # ---- the whole ----

    def write(self) -> None:
        """Writes the function."""
        with self.b.block() as self.body:
            for place, param in enumerate(self.function.params):
                if param.kind not in ("normal", "positional"):
                    raise Refused(f"the parameter `{param.name}`")
                if self.given is None:
                    self.arguments.append(self.argument(param.name))
                else:
                    self.bind_parameter(param, self.given[place] if place < len(self.given) else _MISSING)
            self.block(self.function.body)
            self.arrays.flush()
            if not self.body or not isinstance(self.body[-1], Return):
                self.b.check(Const(False, BOOL), Bail.RAISED)  # every way through it ends in `return`

    def made(self) -> Function:
        """The function."""
        params = dict(self.b.params)
        locals_ = {name: type for name, type in self.b.types.items() if name not in params}
        assert self.results is not None
        return Function(self.name, tuple(self.b.params), self.results, locals_, tuple(self.body))

    def callee(self) -> _Callee:
        """What its callers have to know."""
        assert self.results is not None
        foreign = any(self.arrays.memory[name].foreign for name, t in self.b.params if isinstance(t, Array))
        read = tuple(atom for atom, _ in self.read_outside.values())
        return _Callee(self.name, self.result, self.results, self.result_kinds, foreign, read)

    def program(self) -> Program:
        """The program that is entered here."""
        copied = frozenset(self.arrays.entry_copies)
        read = tuple(atom for atom, _ in self.read_outside.values())
        return Program((), self.result, tuple(self.arguments), copied, read, report=self.arrays.report())

    # ---- parameters ----

    def argument(self, name: str) -> Form:
        """A parameter of the entry; gives the form of the argument, as `entry` takes it apart."""
        value, form = self.part(_identifier(name), self.kind(name))
        self.values[name], self.forms[name] = value, form
        if self.bound[name] != 1:
            del self.values[name]
            self.bind(name, value)
        return form

    def part(self, stem: str, kind: Kind) -> tuple[Value, Form]:
        """The value of an argument, or of a part of one, and its form."""
        if isinstance(kind, Obj):
            return _known(kind), None
        if isinstance(kind, Num | Arr):
            value = self.parameter(stem, type_of(kind), kind, foreign=True)
            owned = isinstance(value, Local) and value.name in self.b.owners
            place = len(self.b.params) - 1 - owned
            return value, Owned(place, place + 1) if owned else place
        if not isinstance(kind, Box):
            raise Refused(f"{describe(kind)} has no type in the loop language")
        items = places(kind)
        if items is None:
            return self.list_argument(stem, kind)
        if any(item.there is not None for item in items.values()):
            raise Refused(f"{describe(kind)} whose items are not all known")
        found = {key: self.part(_identifier(f"{stem}_{key}"), item.kind) for key, item in items.items()}
        form = Parts(kind.cls, tuple((key, form) for key, (_, form) in found.items()))
        values = tuple(value for value, _ in found.values())
        return (values if kind.cls is tuple else self.new_record(stem, kind, dict(zip(items, values)))), form

    def list_argument(self, stem: str, kind: Box) -> tuple[Value, Form]:
        """A list of numbers, which is handed in as an array."""
        type = type_of(kind)
        assert isinstance(type, List)
        item = type.item
        if not isinstance(item, Scalar) or item.owner is Owner.EITHER:
            raise Refused(f"{describe(kind)} of what are not numbers of one type")
        array = self.parameter(f"{stem}_items", Array(item.code, 1), Arr(dtype_of(item.code), 1, kind.region), True)
        assert isinstance(array, Held)
        place = len(self.b.params) - 1
        made = self.b.fresh(stem, type)
        self.held_kinds[made] = kind
        counter = self.b.fresh("k", INT)
        self.b.emit(NewList(made))
        with self.b.block() as body:
            self.b.emit(Push(made, Read(array.name, (Local(counter, INT),), item)))
        self.b.emit(For(counter, ZERO, Extent(array.name, 0), ONE, False, tuple(body)))
        return Held(made), Items(place, item.owner)

    def parameter(self, stem: str, type: Type, kind: Kind, foreign: bool, owned: bool = True) -> Value:
        """A name of the program that its caller gives a value."""
        name = self.b.fresh(stem, type)
        self.b.params.append((name, type))
        if isinstance(type, Array):
            self.arrays.memory[name] = Memory(name if foreign else None, (), _region(kind), foreign)
            self.b.extents[name] = tuple(self.b.let("n", e) for e in _extents(name, type))
        if isinstance(type, Scalar):
            if type.owner is Owner.EITHER:
                self.b.owners[name] = None
                if owned:
                    flag = self.b.fresh(f"{name}_is_numpy", BOOL)
                    self.b.params.append((flag, BOOL))
                    self.b.owners[name] = Local(flag, BOOL)
            return Local(name, type)
        self.held_kinds[name] = kind
        return Held(name)

    def bind_parameter(self, param: ir.Param, form: object) -> None:
        """A parameter of a function that is called, for the form of the argument."""
        if form is _MISSING:
            if param.default is None:
                raise Refused(f"a call without the argument `{param.name}`")
            value = self.value(param.default)
        else:
            value = self.received(_identifier(param.name), form, self.kinds.get(param.name, BOTTOM))
        if self.bound[param.name] == 1:
            self.values[param.name] = value
        else:
            self.bind(param.name, value)

    def received(self, stem: str, form: object, kind: Kind) -> Value:
        """The value of a parameter of this form."""
        if isinstance(form, Given):
            return self.parameter(stem, form.type, form.kind or kind, form.foreign, form.owned)
        if isinstance(form, tuple):
            inside = [kind.region.get(k) if isinstance(kind, Box) else BOTTOM for k in range(len(form))]
            return tuple(self.received(f"{stem}_{k}", f, inside[k]) for k, f in enumerate(form))
        if isinstance(form, Maybe):
            held = self.received(stem, form.value, surely(kind))  # in the order in which it is handed over
            return Maybe(held, self.received(f"{stem}_is_none", form.absent, BOTTOM))  # type: ignore[arg-type]
        if isinstance(form, Slicing):
            ends = (form.start, form.stop, form.step)
            return Slicing(*(self.received(f"{stem}_{k}", end, BOTTOM) for k, end in enumerate(ends)))  # type: ignore[arg-type]
        assert form is None or isinstance(form, Known)
        return form

    def handed(self, value: Value, out: list[Expr | str]) -> object:
        """The form of an argument of a call; its numbers and names go to `out`."""
        if isinstance(value, tuple):
            return tuple(self.handed(item, out) for item in value)
        if value is None or isinstance(value, Known):
            return value
        if isinstance(value, Maybe):
            return Maybe(self.handed(value.value, out), self.handed(value.absent, out))  # type: ignore[arg-type]
        if isinstance(value, Slicing):
            return Slicing(*(self.handed(x, out) for x in (value.start, value.stop, value.step)))  # type: ignore[arg-type]
        if isinstance(value, Held):
            self.kept(value)
            out.append(value.name)
            type = self.b.types[value.name]
            memory = self.arrays.memory.get(value.name)
            kind = self.held_kinds.get(value.name)
            return Given(type, memory is not None and memory.foreign, None if isinstance(type, Array) else kind, False)
        out.append(value)
        owner = self.b.owner(value) if value.type.owner is Owner.EITHER else None
        if owner is not None:
            out.append(owner)
        return Given(value.type, False, None, owner is not None)

    # ---- names and values ----

    def kind(self, name: str) -> Kind:
        """The kind of a variable."""
        if name not in self.kinds:
            raise Refused(f"nothing is known of `{name.lstrip('%')}`")
        return self.kinds[name]

    def stem(self, name: str) -> str:
        """What a variable is called in the text."""
        for other, kept in self.aliases.items():
            if kept == name and not other.startswith("%"):
                return _identifier(other)
        return _identifier(name)

    def value(self, atom: ir.Atom | ir.Slice) -> Value:
        """What an atom stands for."""
        match atom:
            case ir.Var(name):
                name = self.aliases.get(name, name)
                if name in self.values and name not in self.absences:
                    return self.values[name]
                kind = self.kind(name)
                if isinstance(kind, Obj):
                    return _known(kind)
                value = self.variable(name)
                return Maybe(value, self.absence(name)) if may_be_none(kind) else value
            case ir.Lit(value) if isinstance(value, bool | int | float):
                return literal(value)
            case ir.Lit(None):
                return None
            case ir.Lit(value) if value is ir.UNBOUND:
                return UNBOUND
            case ir.Lit(str() as value):
                return Known(value)
            case ir.Ext(value=value) if isinstance(value, type | np.dtype | types.FunctionType | np.ufunc):
                return Known(value)
            case ir.Ext():
                return self.outside(atom)
        raise Refused("a constant that is no number")

    def outside(self, atom: ir.Ext) -> Value:
        """An object from outside: constants of modules alone are known when the program is compiled."""
        home = atom.path[1] if len(atom.path) > 2 and atom.path[0] == "global" else ""
        owner = getattr(atom.home, "__globals__", {}).get(home)
        if getattr(owner, "__name__", "") in ("numpy", "math") and isinstance(atom.value, float | None):
            return None if atom.value is None else literal(atom.value)
        key = (id(atom.home), atom.path)
        if key not in self.read_outside:
            kind = _kind_of_outside(atom)
            held = isinstance(kind, Arr)
            value = self.parameter(_identifier(atom.name), type_of(kind), kind, foreign=held, owned=False)
            self.read_outside[key] = atom, value
        return self.read_outside[key][1]

    def absence(self, name: str) -> Local:
        """Whether a variable is None."""
        if name not in self.absences:
            self.absences[name] = Local(self.b.fresh(f"{self.stem(name)}_is_none", BOOL, steady=False), BOOL)
        return self.absences[name]

    def present(self, value: Any) -> Any:
        """A value that must not be None: else the program raises an exception."""
        if not isinstance(value, Maybe):
            return value
        self.b.check(Apply("not", (value.absent,), BOOL), Bail.RAISED)
        return value.value

    def scalar(self, atom: ir.Atom) -> Expr:
        """The number that an atom stands for."""
        found: Value = self.present(self.value(atom))
        if isinstance(found, Held):
            type = self.b.types[found.name]
            if isinstance(type, Array) and type.rank == 0:
                return self.element(found.name, ())
        if found is None or isinstance(found, Held | Known | Slicing | Maybe | tuple):
            raise Refused("something else stands where a number is meant")
        return found

    def held(self, atom: ir.Atom) -> str:
        """The name of the array or the container that an atom stands for."""
        found = self.present(self.value(atom))
        if not isinstance(found, Held):
            raise Refused("something else stands where an array or a container is meant")
        return found.name

    def variable(self, name: str) -> Value:
        """The name of the program for a variable of numbers, arrays or containers."""
        if name not in self.values:
            type = type_of(surely(self.kind(name)))
            if isinstance(type, Array):
                type = replace(type, unit=name not in self.known_scattered)
            made = self.b.fresh(self.stem(name), type, self.bound[name] == 1)
            self.values[name] = Local(made, type) if isinstance(type, Scalar) else Held(made)
            kind = self.kind(name)
            if isinstance(kind, Arr):
                foreign = f"{name} foreign" in self.b.vague
                self.arrays.memory[made] = Memory(None, (), kind.region, foreign)
            elif isinstance(kind, Box):
                self.held_kinds[made] = kind
        return self.values[name]

    # ---- statements ----

    def block(self, block: ir.Block) -> None:
        """The statements of a block."""
        for s in block:
            if isinstance(s, ir.Assign) and s.target in self.asked:
                self.b.emit(Assign(self.has_value(s.target).name, Const(s.value != ir.Lit(ir.UNBOUND), BOOL)))
            self.line = s.span.line if not isinstance(s, ir.Note) else self.line
            if not all(map(_is_quiet, s.span.around)):
                raise Refused("a `with` statement")
            try:
                self.statement(s)
            except _Unreachable:
                return

    def has_value(self, name: str) -> Local:
        """Whether a variable has a value, where the program asks."""
        if name not in self.flags:
            self.flags[name] = Local(self.b.fresh(f"{self.stem(name)}_is_bound", BOOL, steady=False), BOOL)
        return self.flags[name]

    def inner(self, block: ir.Block) -> tuple[object, ...]:
        """A block inside of a statement."""
        self.arrays.flush()
        with self.b.block() as body:
            self.block(block)
            self.arrays.flush()
        return tuple(body)

    def statement(self, s: ir.Statement) -> None:
        """One statement."""
        match s:
            case ir.Assign():
                self.assign(s)
            case ir.Delete():
                self.delete(s)
            case ir.Store():
                self.store(s.base, s.key, s.value, add=False)
            case ir.Accumulate():
                self.store(s.base, s.key, s.value, add=True, repeats=s.repeats)
            case ir.Append():
                self.append(s)
            case ir.If():
                test = operators.truth(self.scalar(s.test))
                self.arrays.flush()
                if isinstance(test, Const):
                    self.block(s.body if test.value else s.orelse)
                    return
                self.b.emit(If(test, self.inner(s.body), self.inner(s.orelse)))  # type: ignore[arg-type]
            case ir.For():
                self.loop(s)
            case ir.Loop():
                body = self.inner(s.body)
                self.b.emit(Loop(body))  # type: ignore[arg-type]
            case ir.Break() | ir.Continue():
                self.arrays.flush()
                self.b.emit(Break() if isinstance(s, ir.Break) else Continue())
            case ir.Raise():
                self.arrays.flush()
                self.b.check(Const(False, BOOL), Bail.RAISED)
            case ir.Return():
                self.returned(s)
            case ir.Note(text):
                self.arrays.remark(text)
            case _:
                raise Refused(_WHAT.get(type(s), "a statement of this kind"))

    def loop(self, s: ir.For) -> None:
        """A loop over a range."""
        if s.snapshots is not None:
            raise Refused("a loop with checkpoints")
        self.arrays.flush()
        b = self.b
        start, stop, step = (b.let("k", self.scalar(atom)) for atom in (s.start, s.stop, s.step))
        if any(x.type.code != "i8" for x in (start, stop, step)):
            raise Refused("bounds of a loop that are no whole numbers")
        if not isinstance(step, Const) or step.value == 0 or (s.backward and abs(step.value) != 1):
            raise Refused("a loop whose step is not known")
        for end in (start, stop):
            if (bound := b.bound(end)) is None or bound >= operators.LARGE:
                b.check(Apply("lt", (Apply("abs", (end,), INT), Const(operators.LARGE, INT)), BOOL), Bail.INTEGER)
        backward = s.backward
        if backward and step.value == -1:  # the same numbers, from the last one upwards
            start, stop = (b.let("k", Apply("add", (end, ONE), INT)) for end in (stop, start))
            step, backward = ONE, False
        inside = sum(atom == ir.Var(s.target) for t in walk.statements(s.body) for atom in walk.statement_atoms(t))
        own = self.bound[s.target] == 1 and inside == self.read[s.target]
        counter = b.fresh(self.stem(s.target) if own else "k", INT)
        if step.value > 0:
            b.loops[counter] = start, stop
        else:
            b.loops[counter] = Apply("add", (stop, ONE), INT), Apply("add", (start, ONE), INT)
        if own:
            self.values[s.target] = Local(counter, INT)
        with b.block() as body:
            if s.target in self.asked:
                self.b.emit(Assign(self.has_value(s.target).name, Const(True, BOOL)))
            if not own:
                self.assign_number(s.target, Local(counter, INT))
            self.block(s.body)
            self.arrays.flush()
        b.emit(For(counter, start, stop, step, backward, tuple(body)))

    def assign(self, s: ir.Assign) -> None:
        """A name is given a value."""
        if isinstance(s.value, ir.Op) and s.value.fn is arrays.demand_bound:
            if isinstance(s.value.args[0], ir.Var):
                self.b.check(self.has_value(s.value.args[0].name), Bail.RAISED)
            return
        if walk.empties(s) or s.target in self.aliases or not self.read[s.target]:
            if not (walk.empties(s) or s.target in self.aliases or _may_go(s.value)):
                self.bind(s.target, self.expression(s))
            return
        if self.kind(s.target) == BOTTOM:
            self.without_value(s)
            return
        self.bind(s.target, self.expression(s))

    def without_value(self, s: ir.Assign) -> None:
        """A name that never has a value: there is none yet, or the program never comes behind the statement."""
        given = s.value
        if isinstance(given, ir.Op) and given.fn is arrays.zero:
            given = given.args[0]
        if not (isinstance(given, ir.Var | ir.Lit) and _has_value(given) and self.value(given) == UNBOUND):
            self.arrays.flush()
            self.b.check(Const(False, BOOL), Bail.RAISED)
            raise _Unreachable
        self.values[s.target] = UNBOUND

    def unbound(self, target: str) -> None:
        """A name that has no value yet, or is None."""
        kind = surely(self.kind(target))
        if isinstance(kind, Num):
            self.assign_number(target, Const(0, INT))
        elif self.bound[target] != 1:
            self.rebind(target, self.nothing(type_of(kind), kind.region if isinstance(kind, Arr) else None))

    def bind(self, target: str, value: Value) -> None:
        """Gives a name what an expression made."""
        if isinstance(kind := self.kind(target), Num | Arr) and kind.none:
            value = self.bind_absence(target, value)
        value = self.present(value)
        assert not isinstance(value, Maybe)
        if value == UNBOUND or (value is None and not isinstance(kind, Obj)):
            self.unbound(target)
        elif self.bound[target] == 1 and (value is None or isinstance(value, Known | Slicing | tuple)):
            self.values[target] = value
        elif isinstance(value, Slicing):
            raise Refused("one of several slices")
        elif value is None or isinstance(value, Known):
            if not isinstance(kind, Obj):
                raise Refused("one of several objects")
        elif isinstance(value, tuple):
            self.rebind(target, self.stored(value, self.kind(target)))
        elif not isinstance(value, Held):
            self.assign_number(target, value)
        elif self.bound[target] != 1:
            self.rebind(target, value.name)
        else:
            if value.name in self.owned:  # another name for an array that has one
                self.arrays.readers[value.name] = self.arrays.readers.get(value.name, 0) + self.read[target]
            self.owned.add(value.name)
            self.values[target] = value

    def bind_absence(self, target: str, value: Value) -> Value:
        """Notes whether a name that may be None is; gives what it is otherwise."""
        absent: Expr = Const(value is None, BOOL)
        if isinstance(value, Maybe):
            absent = value.absent
            value = value.value
        self.arrays.flush()
        self.b.emit(Assign(self.absence(target).name, absent))
        return value

    def rebind(self, target: str, source: Expr | str) -> None:
        """A name of arrays or containers that is bound in several places."""
        assert isinstance(source, str)
        self.arrays.flush()
        held = self.variable(target)
        if not isinstance(held, Held):
            raise Refused("a number or something else under one name")
        type, given = self.b.types[held.name], self.b.types[source]
        if isinstance(type, Array) and isinstance(given, Array):
            if (type.code, type.rank) != (given.code, given.rank):
                raise Refused("arrays of several dtypes or ranks under one name")
            if type.unit and not given.unit:
                self.scattered.add(target)
            if self.arrays.memory[source].foreign:
                self.b.found_vague.add(f"{target} foreign")
        elif type != given:
            raise Refused("containers of several kinds under one name")
        self.b.emit(Bind(held.name, source))

    def assign_number(self, target: str, value: Expr) -> None:
        """A name of numbers."""
        kind = surely(self.kind(target))
        if not isinstance(kind, Num):
            raise Refused(f"`{target.lstrip('%')}` is {describe(kind)}")
        type = scalar_type(kind)
        value = operators.converted(value, type.code)
        if self.bound[target] == 1 and isinstance(value, Const):
            self.values[target] = replace(value, type=type)
            return
        local = self.variable(target)
        assert isinstance(local, Local)
        if self.bound[target] != 1:
            self.arrays.flush()
        self.b.assign(local.name, value)

    def stored(self, value: Value, kind: Kind) -> Expr | str:
        """A value as an item of a container, or a variable, of this kind has it: a number, or a name."""
        if value == UNBOUND:
            return self.nothing(type_of(kind, inside=True))
        if may_be_none(kind):
            return self.stored_maybe(value, kind)
        value = self.present(value)
        assert not isinstance(value, Maybe)
        if isinstance(value, tuple):
            if not isinstance(kind, Box) or kind.cls is not tuple:
                raise Refused("a tuple among other things")
            return self.new_record("t", kind, dict(enumerate(value))).name
        if value is None or isinstance(value, Known | Slicing):
            raise Refused("an object among numbers, arrays and containers")
        type = type_of(kind, inside=True)
        if not isinstance(value, Held):
            if isinstance(kind, Num) and isinstance(type, Record):
                return self.owned_pair(value, type)
            if not isinstance(type, Scalar):
                raise Refused("a number among other things")
            return operators.converted(value, type.code)
        self.arrays.flush()
        given = self.b.types[value.name]
        self.kept(value)
        if isinstance(type, Array) and isinstance(given, Array):
            if (type.code, type.rank) != (given.code, given.rank):
                raise Refused("arrays of several dtypes or ranks in one place")
            if type.unit and not given.unit:
                value = Held(array_operations.copied(self.arrays, value.name))
                self.arrays.flush()
        elif type != given:
            raise Refused("several kinds of values in one place")
        return value.name

    def stored_maybe(self, value: Value, kind: Kind) -> str:
        """A number or an array that may be None, with what says whether it is."""
        type = type_of(kind, inside=True)
        assert isinstance(type, Record)
        absent: Expr = value.absent if isinstance(value, Maybe) else Const(value is None, BOOL)
        given = value.value if isinstance(value, Maybe) else value
        held = self.nothing(type.items[0]) if given is None else self.stored(given, surely(kind))
        name = self.b.fresh("item", type)
        self.b.emit(NewRecord(name, (held, absent)))
        return name

    def owned_pair(self, value: Expr, type: Record) -> str:
        """A number that is Python's or NumPy's, with what says whose it is."""
        owner = self.b.owner(value)
        number = type.items[0]
        if owner is None or not isinstance(number, Scalar):
            raise Refused("an item of which it is not known whether it is Python's number or NumPy's")
        name = self.b.fresh("item", type)
        self.b.emit(NewRecord(name, (operators.converted(value, number.code), owner)))
        return name

    def append(self, s: ir.Append) -> None:
        """An item at the end of a list."""
        name = self.held(s.base)
        kind = self.held_kinds.get(name)
        if not isinstance(self.b.types[name], List) or not isinstance(kind, Box):
            raise Refused("something is appended to what is no list")
        inside = kind.region.root().any()
        value = self.value(s.value)
        if isinstance(inside, Obj):
            raise Refused("a list of objects")
        self.b.emit(Push(name, self.stored(value, inside)))

    def returned(self, s: ir.Return) -> None:
        """The results, one after the other."""
        self.arrays.flush()
        found: list[Expr | str] = []
        kinds: list[Kind | None] = []
        shape = self.shaped(self.value(s.value), found, kinds)
        types = tuple(self.b.types[v] if isinstance(v, str) else v.type for v in found)
        if self.results is not None and (shape, types) != (self.result, self.results):
            raise Refused("results of several kinds")
        self.result, self.results, self.result_kinds = shape, types, tuple(kinds)
        self.b.emit(Return(tuple(found)))

    def shaped(self, value: Value, found: list[Expr | str], kinds: list[Kind | None]) -> Form:
        """How a result stands in what is returned; its numbers and names go to `found`, with their kinds."""
        if isinstance(value, tuple):
            return Parts(tuple, tuple((k, self.shaped(v, found, kinds)) for k, v in enumerate(value)))
        if value is None or isinstance(value, Known):
            return value
        if isinstance(value, Maybe) and self.given is not None:
            given = (self.shaped(part, found, kinds) for part in (value.value, value.absent))
            return Maybe(*given)  # type: ignore[arg-type, return-value]
        if isinstance(value, Maybe):  # a result that is None is left to Python
            return self.shaped(self.present(value), found, kinds)
        if isinstance(value, Slicing):
            raise Refused("a slice is returned")
        if isinstance(value, Held):
            return self.shaped_by_name(value, found, kinds)
        found.append(value)
        kinds.append(None)
        if value.type.owner is not Owner.EITHER:
            return len(found) - 1
        owner = self.b.owner(value)
        if owner is None:
            if self.given is None:
                raise Refused("a result of which it is not known whether it is Python's number or NumPy's")
            return len(found) - 1
        found.append(owner)
        kinds.append(None)
        return Owned(len(found) - 2, len(found) - 1)

    def shaped_by_name(self, value: Held, found: list[Expr | str], kinds: list[Kind | None]) -> Form:
        """How an array or a container stands in what is returned."""
        type, kind = self.b.types[value.name], self.held_kinds.get(value.name)
        if self.given is None and isinstance(type, Array):
            memory = self.arrays.memory[value.name]
            if memory.root != value.name or memory.foreign:
                value = Held(array_operations.copied(self.arrays, value.name))
                self.arrays.flush()
        elif self.given is None:
            return self.taken_apart(value, found, kinds)
        self.kept(value)
        found.append(value.name)
        if isinstance(type, Array):
            kind = Arr(dtype_of(type.code), type.rank, self.arrays.memory[value.name].region)
        kinds.append(kind)
        return len(found) - 1

    def taken_apart(self, value: Held, found: list[Expr | str], kinds: list[Kind | None]) -> Form:
        """A container that is a result."""
        kind = self.held_kinds[value.name]
        assert isinstance(kind, Box)
        items = places(kind)
        if items is None:
            return self.list_result(value.name, kind, found, kinds)
        if any(item.there is not None for item in items.values()):
            raise Refused(f"a result that is {describe(kind)} whose items are not all known")
        inside = [
            (key, self.shaped(self.fetched("item", value.name, item), found, kinds)) for key, item in items.items()
        ]
        return Parts(kind.cls, tuple(inside))

    def list_result(self, name: str, kind: Box, found: list[Expr | str], kinds: list[Kind | None]) -> Form:
        """A list of numbers, which is handed over as an array."""
        type = self.b.types[name]
        assert isinstance(type, List)
        item = type.item
        if not isinstance(item, Scalar) or item.owner is Owner.EITHER:
            raise Refused("a list of what are not numbers of one type is returned")
        count = self.b.let("n", Length(name))
        array = self.arrays.allocate("items", Array(item.code, 1), [count], None, zeros=False)
        counter, value = self.b.fresh("k", INT), self.b.fresh("item", item)
        with self.b.block() as body:
            self.b.emit(Fetch(value, name, Local(counter, INT)))
            self.b.emit(Write(array, (Local(counter, INT),), Local(value, item)))
        self.b.emit(For(counter, ZERO, count, ONE, False, tuple(body)))
        found.append(array)
        kinds.append(None)
        return Items(len(found) - 1, item.owner)

    # ---- containers ----

    def new_record(self, stem: str, kind: Box, given: Mapping[object, Value]) -> Held:
        """A container whose items are known."""
        items = places(kind)
        type = type_of(kind)
        if items is None or not isinstance(type, Record):
            raise Refused(f"{describe(kind)} of this kind")
        if not given.keys() <= items.keys():
            raise Refused(f"{describe(kind)} with an item that is not known")
        values: list[Expr | str] = []
        for key, item in items.items():
            if item.item is not None:
                value: Any = given.get(key, _MISSING)
                values.append(
                    self.nothing(type.items[item.item]) if value is _MISSING else self.stored(value, item.kind)
                )
            if item.there is not None:
                values.append(Const(key in given, BOOL))
        made = self.b.fresh(stem, type)
        self.held_kinds[made] = kind
        self.arrays.flush()
        self.b.emit(NewRecord(made, tuple(values)))
        return Held(made)

    def nothing(self, type: Type, region: Region | None = None) -> Expr | str:
        """What stands where there is no item."""
        if isinstance(type, Scalar):
            return operators.converted(Const(0, INT), type.code) if type.code != "b1" else Const(False, BOOL)
        if isinstance(type, Array):
            return self.arrays.allocate("nothing", type, [ZERO] * type.rank, region)
        name = self.b.fresh("nothing", type)
        values = tuple(map(self.nothing, type.items)) if isinstance(type, Record) else ()
        self.b.emit(NewRecord(name, values) if isinstance(type, Record) else NewList(name))
        return name

    def fetched(self, stem: str, name: str, item: Place) -> Value:
        """An item of a record."""
        if item.there is not None:
            there = self.b.fresh("there", BOOL)
            self.b.emit(Fetch(there, name, Const(item.there, INT)))
            self.b.check(Local(there, BOOL), Bail.RAISED)
        if item.item is None:
            return _known(item.kind)
        type = self.b.types[name]
        assert isinstance(type, Record)
        return self.fetch(stem, name, Const(item.item, INT), type.items[item.item], item.kind)

    def fetch(self, stem: str, base: str, place: Expr, type: Type, kind: Kind) -> Value:
        """What a container has at a place."""
        self.arrays.flush()
        name = self.b.fresh(stem, type)
        self.b.emit(Fetch(name, base, place))
        return self.found(name, type, kind)

    def found(self, name: str, type: Type, kind: Kind) -> Value:
        """A new name for what was found in a container, or made by a function."""
        if isinstance(type, Scalar):
            return Local(name, type)
        if may_be_none(kind) and isinstance(type, Record):
            held, absent = (self.b.fresh(name, item) for item in type.items)
            self.b.emit(Fetch(held, name, ZERO), Fetch(absent, name, ONE))
            return Maybe(self.found(held, type.items[0], surely(kind)), Local(absent, BOOL))
        if isinstance(kind, Num) and isinstance(type, Record):
            number, owner = (self.b.fresh(name, item) for item in type.items)
            self.b.emit(Fetch(number, name, ZERO), Fetch(owner, name, ONE))
            self.b.owners[number] = Local(owner, BOOL)
            return Local(number, type.items[0])  # type: ignore[arg-type]
        if isinstance(type, Array):
            self.arrays.memory[name] = Memory(None, (), _region(kind))
            self.b.extents[name] = tuple(self.b.let("n", e) for e in _extents(name, type))
        else:
            self.held_kinds[name] = kind
        return Held(name)

    def item_place(self, name: str, key: object) -> Place:
        """Where a record has the item of a key."""
        kind = self.held_kinds[name]
        items = places(kind) if isinstance(kind, Box) else None
        if items is None:
            raise Refused("an item of a list by its name")
        if isinstance(key, int) and key not in items and isinstance(kind, Box) and issubclass(kind.cls, tuple | list):
            key = list(items)[key] if -len(items) <= key < len(items) else key
        if key not in items:
            raise Refused(f"an item {key!r} that is not known")
        return items[key]

    def key_of(self, key: ir.Key) -> object:
        """The key of an item, which has to be a constant; a number of the program as an expression."""
        if len(key.parts) != 1 or isinstance(key.parts[0], ir.Slice):
            raise Refused("a part of a container")
        found = self.value(key.parts[0])
        if isinstance(found, Const | Known):
            return found.value
        if isinstance(found, tuple | Held | Slicing) or found is None:
            raise Refused("an item by a key that is no number")
        return found

    def item(self, stem: str, name: str, key: object) -> Value:
        """An item of a list or a record."""
        type, kind = self.b.types[name], self.held_kinds[name]
        assert isinstance(kind, Box)
        if isinstance(type, List):
            return self.fetch(stem, name, self.list_place(name, key), type.item, kind.region.root().any())
        if isinstance(key, Expr):
            return self.item_by_number(stem, name, key)
        return self.fetched(stem, name, self.item_place(name, key))

    def item_by_number(self, stem: str, name: str, key: Expr) -> Value:
        """An item of a record by a key that only the program knows; all items are of one type."""
        kinds = [place.kind for place in self.items_of(name).values()]
        type = self.b.types[name]
        assert isinstance(type, Record)
        types = {type.items[self.stored_at(place)] for place in self.items_of(name).values()}
        if len(types) != 1 or not isinstance(kinds[0], Num | Arr):
            raise Refused("an item of several kinds at a place that is not known")
        (inside,) = types
        self.arrays.flush()
        found = self.b.fresh(stem, inside, steady=False)
        self.by_number(name, key, lambda place: Fetch(found, name, Const(place, INT)))
        made = self.b.fresh(stem, inside)
        self.b.emit(Assign(made, Local(found, inside)) if isinstance(inside, Scalar) else Bind(made, found))
        value = self.found(made, inside, kinds[0])
        if made in self.arrays.memory and any(_region(kind) is not _region(kinds[0]) for kind in kinds):
            self.arrays.memory[made].region = None
        return value

    def stored_at(self, place: Place) -> int:
        """Where a record keeps an item that it always has, and that is no object."""
        if place.item is None or place.there is not None:
            raise Refused("an item that may be missing, at a place that is not known")
        return place.item

    def by_number(self, name: str, key: Expr, made: Callable[[int], Statement]) -> None:
        """Does something with the item of a record that a number stands for; bails out where there is none."""
        kind = self.held_kinds[name]
        assert isinstance(kind, Box)
        items = self.items_of(name)
        if key.type.code not in ("i8", "b1") or not all(type(k) is int for k in items):
            raise Refused("an item by what is no whole number")
        key = self.b.let("k", operators.converted(key, "i8"))
        if issubclass(kind.cls, list | tuple):
            place = self.b.fresh("k", INT)
            self.b.emit(Locate(place, key, Const(len(items), INT)))
            key = Local(place, INT)
        with self.b.block() as rest:
            self.b.check(Const(False, BOOL), Bail.RAISED)
        for number, item in reversed(items.items()):
            test = Apply("eq", (key, Const(number, INT)), BOOL)  # type: ignore[arg-type]
            rest = [If(test, (made(self.stored_at(item)),), tuple(rest))]
        self.b.emit(*rest)

    def list_place(self, name: str, key: object) -> Expr:
        """The place of an index in a list."""
        index = Const(key, INT) if isinstance(key, int) else key
        if not isinstance(index, Expr) or index.type.code not in ("i8", "b1"):
            raise Refused("an item of a list by what is no whole number")
        place = self.b.fresh("k", INT)
        self.b.emit(Locate(place, operators.converted(index, "i8"), self.b.let("n", Length(name))))
        return Local(place, INT)

    def store_item(self, name: str, key: object, value: Value, add: bool) -> None:
        """An item of a container is written, or added to."""
        self.arrays.flush()
        type, kind = self.b.types[name], self.held_kinds[name]
        assert isinstance(kind, Box)
        if isinstance(type, List):
            place, inside, there = self.list_place(name, key), kind.region.root().any(), None
        else:
            if isinstance(key, Expr):
                self.store_by_number(name, key, value, add)
                return
            item = self.item_place(name, key)
            inside, there = item.kind, item.there
            place = Const(-1 if item.item is None else item.item, INT)
        if isinstance(inside, Obj):
            if not (value is None or isinstance(value, Known)):
                raise Refused("an object among numbers, arrays and containers")
        else:
            if add:
                value = self.sum_of_item(name, place, type, inside, value)
            self.b.emit(Put(name, place, self.stored(value, inside)))
        if there is not None:
            self.b.emit(Put(name, Const(there, INT), Const(True, BOOL)))

    def store_by_number(self, name: str, key: Expr, value: Value, add: bool) -> None:
        """An item of a record is written, or added to, by a key that only the program knows."""
        kinds = [place.kind for place in self.items_of(name).values()]
        if not all(isinstance(kind, Num) for kind in kinds):
            raise Refused("an item at a place that is not known is written")
        key = self.b.let("k", key)
        if add:
            old = self.item_by_number("item", name, key)
            value = operators.apply(operator.add, self.b, [old, value], scalar_type(kinds[0]))  # type: ignore[arg-type, list-item]
        stored = self.stored(value, kinds[0])
        self.by_number(name, key, lambda place: Put(name, Const(place, INT), stored))

    def sum_of_item(self, name: str, place: Expr, type: Type, kind: Kind, value: Value) -> Value:
        """An item and what is added to it."""
        inside = type.item if isinstance(type, List) else type.items[int(place.value)]  # type: ignore[union-attr]
        if not isinstance(kind, Num) or value is None or isinstance(value, Held | Known | tuple):
            raise Refused("an array in a container is added to in place")
        old = self.fetch("item", name, place, inside, kind)
        return operators.apply(operator.add, self.b, [old, value], scalar_type(kind))  # type: ignore[list-item]

    def delete(self, s: ir.Delete) -> None:
        """An item of a record that may be missing is taken away."""
        self.arrays.flush()
        name = self.held(s.base)
        if not isinstance(self.b.types[name], Record):
            raise Refused("an item of a list is deleted")
        item = self.item_place(name, self.key_of(s.key))
        if item.there is None:
            raise Refused("an item that every such container has is deleted")
        self.fetched("item", name, item)
        self.b.emit(Put(name, Const(item.there, INT), Const(False, BOOL)))

    def has(self, base: Value, key: Value) -> Expr:
        """Whether a record has an item."""
        if not isinstance(base, Held) or not isinstance(key, Known | Const):
            raise Refused("the question whether something has an item")
        kind = self.held_kinds.get(base.name)
        items = places(kind) if isinstance(kind, Box) else None
        if items is None:
            raise Refused("the question whether a list has an item")
        if key.value not in items or items[key.value].there is None:
            return Const(key.value in items, BOOL)
        there = self.b.fresh("there", BOOL)
        self.b.emit(Fetch(there, base.name, Const(items[key.value].there, INT)))  # type: ignore[arg-type]
        return Local(there, BOOL)

    def call(self, target: str, call: ir.Call) -> Value:
        """A call of another function."""
        self.arrays.flush()
        out: list[Expr | str] = []
        forms = [self.handed(self.value(atom), out) for atom in call.args]
        callee = self.functions.called(call.link, forms)
        for atom in callee.read:
            self.handed(self.outside(atom), out)
        names = [self.b.fresh(self.stem(target), type) for type in callee.results]
        self.b.emit(Call(callee.name, tuple(out), tuple(names)))

        def result(shape: object) -> Value:
            if isinstance(shape, Parts):
                return tuple(result(part) for _, part in shape.items)
            if isinstance(shape, Maybe):
                return Maybe(result(shape.value), result(shape.absent))  # type: ignore[arg-type]
            if isinstance(shape, Owned):
                self.b.owners[names[shape.place]] = Local(names[shape.owner], BOOL)
                shape = shape.place
            if isinstance(shape, int):
                kind = callee.kinds[shape]
                value = self.found(names[shape], callee.results[shape], BOTTOM if kind is None else kind)
                if isinstance(value, Held) and value.name in self.arrays.memory:
                    self.arrays.memory[value.name].foreign = callee.foreign
                return value
            assert shape is None or isinstance(shape, Known)
            return shape

        return result(callee.shape)

    # ---- expressions ----

    def expression(self, s: ir.Assign) -> Value:
        """What the right side of an assignment gives."""
        match s.value:
            case ir.Var() | ir.Lit() | ir.Ext():
                return self.steady(self.value(s.value))
            case ir.Op():
                return self.operation(s.target, s.value)
            case ir.Index(base, key):
                return self.index(s.target, base, key)
            case ir.Make(cls=cls, items=items) if cls is tuple:
                return tuple(self.kept(self.steady(self.value(item))) for item in items)
            case ir.Make():
                return self.new_container(s.target, s.value)
            case ir.Call():
                return self.call(s.target, s.value)
            case ir.Pop(base):
                return self.popped(s.target, base)
            case ir.Attr(base, name):
                return self.attribute(s.target, base, name)
        raise Refused(_WHAT.get(type(s.value), "an expression of this kind"))

    def steady(self, value: Value) -> Value:
        """A value that keeps its meaning where names are bound anew."""
        if isinstance(value, tuple | Known | Slicing) or value is None:
            return value
        if isinstance(value, Maybe):
            return Maybe(self.steady(value.value), self.steady(value.absent))  # type: ignore[arg-type]
        if isinstance(value, Held):
            if value.name in self.b.steady:
                return value
            self.arrays.flush()
            type = self.b.types[value.name]
            name = self.b.fresh(value.name, type)
            self.b.emit(Bind(name, value.name))
            if isinstance(type, Array):
                self.arrays.memory[name] = self.arrays.memory[value.name]
            else:
                self.held_kinds[name] = self.held_kinds[value.name]
            return Held(name)
        if self.b.is_steady(value):
            return value
        name = self.b.fresh("t", value.type)
        self.b.assign(name, value)
        return Local(name, value.type)

    def kept(self, value: Value) -> Value:
        """What a tuple holds; it is read in ways that nobody counts."""
        if isinstance(value, Held):
            self.arrays.readers[value.name] = LIMIT_EXTENT
        return value

    def new_container(self, target: str, made: ir.Make) -> Value:
        """A list or a record."""
        kind = self.kind(target)
        if not isinstance(kind, Box) or kind.cls is not made.cls:
            raise Refused(f"a new {made.cls.__name__}")
        keys = range(len(made.items)) if made.keys is None else made.keys
        values = [self.value(item) for item in made.items]
        if places(kind) is not None:
            return self.new_record(self.stem(target), kind, dict(zip(keys, values, strict=True)))
        name = self.b.fresh(self.stem(target), type_of(kind))
        self.held_kinds[name] = kind
        self.arrays.flush()
        self.b.emit(NewList(name))
        inside = kind.region.root().any()
        for value in values:
            self.b.emit(Push(name, self.stored(value, inside)))
        return Held(name)

    def popped(self, target: str, base: ir.Var) -> Value:
        """The last item of a list."""
        self.arrays.flush()
        name = self.held(base)
        type, kind = self.b.types[name], self.held_kinds.get(name)
        if not isinstance(type, List) or not isinstance(kind, Box):
            raise Refused("`pop` of what is no list")
        item = self.b.fresh(self.stem(target) if self.bound[target] == 1 else "t", type.item)
        self.b.emit(Pull(name, item))
        return self.found(item, type.item, kind.region.root().any())

    def attribute(self, target: str, base: ir.Atom, name: str) -> Value:
        """What is known of an array."""
        held = self.held(base)
        type = self.b.types[held]
        if isinstance(type, Record):
            return self.item(self.stem(target), held, name)
        if isinstance(type, Array) and name == "shape":
            return self.arrays.extents(held)
        if isinstance(type, Array) and name == "T":
            kind = self.kind(target)
            return Held(self.arrays.turned(held, tuple(reversed(range(type.rank))), _region(kind)))
        if isinstance(type, Array) and name == "ndim":
            return Const(type.rank, INT)
        if isinstance(type, Array) and name == "size":
            return array_operations.size(self.arrays, held)
        raise Refused(f"the attribute `{name}`")

    def operation(self, target: str, op: ir.Op) -> Value:
        """A primitive."""
        kind = surely(self.kind(target))
        values: list[Any] = [self.value(atom) if _has_value(atom) else atom for atom in op.args]
        named = {name: self.value(atom) if _has_value(atom) else atom for name, atom in op.kwargs}
        if op.fn in (arrays.entry_copy, arrays.entry_copies):
            self.arrays.entry_copies |= {
                name for atom in op.args if isinstance(atom, ir.Var) for name in self.parts_of(atom.name)
            }
        if op.fn is arrays.entry_copies:
            return self.copies(kind, values)
        if op.fn in (builtins.hasattr, operator.contains):
            return self.has(*values)
        if op.fn in (operator.is_, operator.is_not) and any(isinstance(v, Maybe) for v in values):
            return self.is_none(op.fn is operator.is_, values)
        values = [self.present(v) for v in values]
        named = {name: self.present(v) for name, v in named.items()}
        if _is_hashable(op.fn):
            found = self.of_container(op.fn, kind, values, named)
            if found is not _MISSING:
                return found  # type: ignore[return-value]
        given = [v for v in values if isinstance(v, Held)]
        if not given and isinstance(kind, Num) and not named and operators.is_scalar_operation(op.fn):
            args = [self.scalar(atom) for atom in op.args]
            return operators.apply(op.fn, self.b, args, scalar_type(kind))
        request = array_operations.Request(op.fn, values, named, kind, self.stem(target), self.read[target])
        if op.fn in _PRODUCTS and len(given) == 2 and not named and (product := self.product(request)) is not None:
            return product
        try:
            result: Value = array_operations.operation(self.arrays, request)
        except Refused as refused:
            if not outside_calls.is_allowed(op.fn):
                raise
            try:
                return self.outside_call(request)
            except Refused:
                raise refused from None
        return result

    def of_container(self, fn: Any, kind: Kind, values: Sequence[Any], named: Mapping[str, Any]) -> object:
        """What becomes of functions of lists, tuples and other containers, and of slices."""
        if fn is builtins.slice:
            return self.slicing(values)
        if fn is arrays.give_best:
            return list_operations.best_shares(self, kind, values)
        if fn in _OF_SEQUENCES:
            return _OF_SEQUENCES[fn](self, values)
        rule = _OF_CONTAINERS.get(fn)
        if rule is not None and values and self.is_container(values[0]):
            return rule(self, kind, values)
        of_lists = list_operations.RULES.get(fn)
        if of_lists is not None and values and not named and self.is_container(values[-1]):
            return of_lists(self, kind, values)
        return _MISSING

    def product(self, r: array_operations.Request) -> Value:
        """A product of matrices or vectors of reals of one precision; None for others."""
        names = [value.name for value in r.args]
        types = [self.b.types[name] for name in names]
        if not all(isinstance(t, Array) and t.rank in (1, 2) and t.element.is_float for t in types):
            return None
        code = types[0].code  # type: ignore[union-attr]
        type = type_of(r.kind)
        if any(t.code != code for t in (*types, type)):  # type: ignore[union-attr]
            return None
        self.arrays.flush()
        for value in r.args:
            self.kept(value)
        a, b = (self.arrays.extents(name) for name in names)
        self.arrays.demand_same(a[-1], b[0])
        name = self.b.fresh(r.stem, type)
        call = OutsideCall(operator.matmul, (0, 1), (), tuple(types), (type,))  # type: ignore[arg-type]
        self.b.emit(Product(name, names[0], names[1], len(self.functions.outside)))
        self.functions.outside.append(call)
        if isinstance(type, Scalar):
            return Local(name, type)
        self.arrays.memory[name] = Memory(name, (), r.region)
        self.b.extents[name] = (*a[:-1], *b[1:])
        return Held(name)

    def outside_call(self, r: array_operations.Request) -> Value:
        """A function that the interpreter runs."""
        self.arrays.flush()
        out: list[Expr | str] = []
        args = tuple(self.outside_form(value, r, out) for value in r.args)
        named = tuple((name, self.outside_form(value, r, out)) for name, value in r.named.items())
        kinds: list[Kind] = [r.kind]
        if isinstance(r.kind, Box) and r.kind.cls is tuple:
            kinds = [place.kind for place in (places(r.kind) or {}).values()]
        results = [type_of(kind) for kind in kinds if not isinstance(kind, Obj)]
        if any(
            not isinstance(t, Array | Scalar) or (isinstance(t, Scalar) and t.owner is Owner.EITHER) for t in results
        ):
            raise Refused(f"`{r.name}` gives {describe(r.kind)}")
        types = tuple(self.b.types[v] if isinstance(v, str) else v.type for v in out)
        many = tuple(not isinstance(kind, Obj) for kind in kinds) if kinds[0] is not r.kind else None
        call = OutsideCall(r.fn, args, named, types, tuple(results), many)  # type: ignore[arg-type]
        names = [self.b.fresh(r.stem, type) for type in results]
        self.b.emit(Outside(tuple(names), len(self.functions.outside), tuple(out)))
        self.functions.outside.append(call)
        left = iter(zip(names, results, strict=True))
        values = tuple(_known(k) if isinstance(k, Obj) else self.made_outside(*next(left), k) for k in kinds)
        return values[0] if many is None else values

    def made_outside(self, name: str, type: Type, kind: Kind) -> Value:
        """A number, or a new array, that such a function gave."""
        value = self.found(name, type, kind)
        if isinstance(value, Held):
            self.arrays.memory[name] = Memory(name, (), _region(kind))
            self.arrays.turns = True
        return value

    def outside_form(self, value: object, r: array_operations.Request, out: list[Expr | str]) -> Form:
        """How an argument of such a function is made."""
        if isinstance(value, tuple):
            return Parts(tuple, tuple((k, self.outside_form(v, r, out)) for k, v in enumerate(value)))
        if isinstance(value, ir.Lit | ir.Ext):
            return Known(value.value)
        if value is None or isinstance(value, Known):
            return value
        if isinstance(value, Held):
            kind = self.held_kinds.get(value.name)
            items = places(kind) if isinstance(kind, Box) and kind.cls in (tuple, list) else None
            if kind is not None and items is not None:
                inside = [(key, self.fetched("item", value.name, item)) for key, item in items.items()]
                return Parts(kind.cls, tuple((key, self.outside_form(v, r, out)) for key, v in inside))  # type: ignore[union-attr]
            if not isinstance(self.b.types[value.name], Array):
                raise Refused(f"`{r.name}` of a container")
            self.kept(value)
            region = self.arrays.memory[value.name].region
            for given in reached([r.kind]):
                if (region is None or region.root() is given.root()) and not given.still():
                    raise Refused(f"`{r.name}` may give a view of what is written")
            out.append(value.name)
        elif isinstance(value, Expr):
            out.append(value)
        else:
            raise Refused(f"`{r.name}` of this")
        return len(out) - 1

    # ---- whole containers ----

    def is_container(self, value: object) -> bool:
        """Whether a value is a list, a record or a tuple."""
        return isinstance(value, tuple) or (
            isinstance(value, Held) and isinstance(self.b.types[value.name], List | Record)
        )

    def length(self, kind: Kind, values: Sequence[Value]) -> Value:
        """How many items a container has."""
        (value,) = values
        if not isinstance(value, Held):
            return Const(len(value), INT)  # type: ignore[arg-type]
        if isinstance(self.b.types[value.name], List):
            return self.b.let("n", Length(value.name))
        items = self.items_of(value.name)
        count: Expr = Const(sum(item.there is None for item in items.values()), INT)
        for key, item in items.items():
            if item.there is not None:
                more = operators.converted(self.has(value, Known(key)), "i8")
                count = self.b.let("n", Apply("add", (count, more), INT))
        return count

    def parts_of(self, name: str) -> Iterator[str]:
        """The parameters that an argument is taken apart into."""
        todo = [self.forms.get(name)]
        while todo:
            match todo.pop():
                case int(place) | Items(place) | Owned(place):
                    yield self.b.params[place][0]
                case Parts(_, items):
                    todo += [form for _, form in items]

    def items_of(self, name: str) -> dict[object, Place]:
        """The items of a record."""
        kind = self.held_kinds[name]
        found = places(kind) if isinstance(kind, Box) else None
        assert found is not None
        return found

    def zero(self, kind: Kind, values: Sequence[Value]) -> Value:
        """The zero cotangent of a container."""
        if len(values) > 1:
            raise Refused("a zero in which memory is shared as in a container")
        return self.mapped("zero", values[0], kind, self.zero_of)

    def zero_of(self, stem: str, value: Value, kind: Kind) -> Value:
        """The zero cotangent of a number or an array."""
        if isinstance(kind, Num):
            return operators.converted(Const(0, INT), scalar_type(kind).code)
        if not isinstance(value, Held) or not isinstance(kind, Arr):
            raise Refused("the zero of something in a container")
        return Held(self.arrays.allocate(stem, array_type(kind), self.arrays.extents(value.name), kind.region))

    def copy(self, kind: Kind, values: Sequence[Value]) -> Value:
        """A deep copy of arguments; `entry_copies` gives a tuple of those of all."""
        return self.mapped("copy", values[0], kind, self.copy_of)

    def copies(self, kind: Kind, values: Sequence[Value]) -> Value:
        """Deep copies of several arguments."""
        kinds = [place.kind for place in (places(kind) or {}).values()] if isinstance(kind, Box) else []
        if len(kinds) != len(values):
            raise Refused("copies of several arguments")
        return tuple(self.mapped("copy", value, k, self.copy_of) for value, k in zip(values, kinds, strict=True))

    def copy_of(self, stem: str, value: Value, kind: Kind) -> Value:
        """A copy of a number or an array."""
        if not isinstance(value, Held):
            return value
        if not isinstance(kind, Arr):
            raise Refused("a copy of something in a container")
        name = array_operations.copied(self.arrays, value.name)
        self.arrays.memory[name].region = kind.region
        self.arrays.flush()
        return Held(name)

    def finish(self, kind: Kind, values: Sequence[Value]) -> Value:
        """The cotangent of a container as it is given back."""
        return self.finished(values[0], kind)

    def finished(self, value: Value, kind: Kind) -> Value:
        """The cotangent of a part of a container, as it is given back."""
        if isinstance(kind, Obj):
            return _known(kind)
        if isinstance(kind, Num):
            if self.is_container(value) or isinstance(value, Known):
                raise Refused("the cotangent of a number in a container")
            given = Const(0.0, FLOAT) if value is None else array_operations.scalar(self.arrays, value)  # type: ignore[arg-type]
            type = scalar_type(kind)
            return self.named("bar", operators.converted(given, type.code), type)
        if not isinstance(kind, Box):
            if not isinstance(value, Held) or self.is_container(value):
                raise Refused("the cotangent of an array in a container")
            return value
        if isinstance(value, Held) and isinstance(self.b.types[value.name], List):
            return self.mapped_list("bars", value, kind, lambda stem, item, inside: self.finished(item, inside))
        items = places(kind)
        given_items: dict[object, Value] = dict(enumerate(value)) if isinstance(value, tuple) else {}
        if isinstance(value, Held) and not isinstance(self.b.types[value.name], Array):
            given_items = {k: self.fetched("bar", value.name, item) for k, item in self.items_of(value.name).items()}
        if items is None:
            raise Refused("the cotangent of a list")
        made = {key: self.finished(given_items.get(key), item.kind) for key, item in items.items()}
        return tuple(made.values()) if kind.cls is tuple else self.new_record("bars", kind, made)

    def named(self, stem: str, value: Expr, type: Scalar) -> Value:
        """A number as one of this type."""
        name = self.b.fresh(stem, type)
        self.b.assign(name, value)
        return Local(name, type)

    def mapped(self, stem: str, value: Value, kind: Kind, change: Callable[[str, Value, Kind], Value]) -> Value:
        """A new container like another one, with what `change` makes of each of its numbers and arrays."""
        if isinstance(kind, Obj):
            return _known(kind)
        if not isinstance(kind, Box):
            if self.is_container(value):
                raise Refused("a container becomes something else")
            return change(stem, value, kind)
        items = places(kind)
        if isinstance(value, Held) and isinstance(self.b.types[value.name], List):
            return self.mapped_list(stem, value, kind, change)
        given: dict[object, Value] = dict(enumerate(value)) if isinstance(value, tuple) else {}
        if isinstance(value, Held):
            given = {key: self.fetched("item", value.name, item) for key, item in self.items_of(value.name).items()}
        if items is None or items.keys() != given.keys():
            raise Refused("a container becomes another one")
        made = {key: self.mapped(stem, given[key], item.kind, change) for key, item in items.items()}
        return tuple(made.values()) if kind.cls is tuple else self.new_record(stem, kind, made)

    def mapped_list(self, stem: str, value: Held, kind: Box, change: Callable[[str, Value, Kind], Value]) -> Value:
        """A new list like another one."""
        type, source = type_of(kind), self.b.types[value.name]
        if not isinstance(type, List) or not isinstance(source, List):
            raise Refused("a list becomes another container")
        before = self.held_kinds[value.name]
        assert isinstance(before, Box)
        self.arrays.flush()
        made, counter = self.b.fresh(stem, type), self.b.fresh("k", INT)
        self.held_kinds[made] = kind
        self.b.emit(NewList(made))
        count = self.b.let("n", Length(value.name))
        with self.b.block() as body:
            item = self.fetch("item", value.name, Local(counter, INT), source.item, before.region.root().any())
            inside = kind.region.root().any()
            self.b.emit(Push(made, self.stored(self.mapped(stem, item, inside, change), inside)))
            self.arrays.flush()
        self.b.emit(For(counter, ZERO, count, ONE, False, tuple(body)))
        return Held(made)

    def total(self, kind: Kind, values: Sequence[Value]) -> Value:
        """Python's sum of numbers: one after the other."""
        if not isinstance(kind, Num) or (len(values) > 1 and not isinstance(values[1], Const)):
            raise Refused("a sum of this container")
        result = scalar_type(kind)
        start = operators.converted(values[1] if len(values) > 1 else Const(0, INT), result.code)  # type: ignore[arg-type]
        (value, *_) = values
        given: dict[object, Value] = dict(enumerate(value)) if isinstance(value, tuple) else {}
        if isinstance(value, Held) and isinstance(self.b.types[value.name], Record):
            given = {key: self.fetched("item", value.name, item) for key, item in self.items_of(value.name).items()}
        elif isinstance(value, Held):
            return self.total_of_list(value, result, start)
        for item in given.values():
            if not isinstance(item, Expr):
                raise Refused("a sum of what are no numbers")
            start = self.b.let("sum", operators.apply(operator.add, self.b, [start, item], result))
        return start

    def total_of_list(self, value: Held, result: Scalar, start: Expr) -> Value:
        """Python's sum of a list of numbers."""
        type = self.b.types[value.name]
        if not isinstance(type, List) or not isinstance(type.item, Scalar) or result.code == "i8":
            raise Refused("a sum of what are no reals")
        if sys.version_info >= (3, 12) and type.item.owner is not Owner.NUMPY:
            raise Refused("a sum of Python's reals, which Python compensates for rounding")
        name, item, counter = (
            self.b.fresh("sum", result, steady=False),
            self.b.fresh("item", type.item),
            self.b.fresh("k", INT),
        )
        self.b.assign(name, start)
        with self.b.block() as body:
            self.b.emit(Fetch(item, value.name, Local(counter, INT)))
            more = operators.apply(operator.add, self.b, [Local(name, result), Local(item, type.item)], result)
            self.b.assign(name, more)
        self.b.emit(For(counter, ZERO, self.b.let("n", Length(value.name)), ONE, False, tuple(body)))
        return Local(name, result)

    # ---- elements and views ----

    def index(self, target: str, base: ir.Atom, key: ir.Key) -> Value:
        """An element, a view, or an item of a tuple."""
        found = self.present(self.value(base))
        if isinstance(found, tuple):
            if len(key.parts) == 1 and isinstance(part := self.resolved(key)[0], Slicing):
                return _items_of_slice(found, part)
            place = self.value(key.parts[0]) if len(key.parts) == 1 and _has_value(key.parts[0]) else None
            if isinstance(place, Expr) and not isinstance(place, Const):
                return self.chosen(self.stem(target), found, place, self.kind(target))
            if not isinstance(place, Const):
                raise Refused("an item of a tuple at a place that is not known")
            return _item(found, int(place.value))
        name = self.held(base)
        if not isinstance(self.b.types[name], Array):
            return self.item(self.stem(target), name, self.key_of(key))
        if self.is_fancy(key):
            given = [Held(name), self.fancy_key(key)]
            request = array_operations.Request(operator.getitem, given, {}, self.kind(target), self.stem(target), 1)
            return self.outside_call(request)
        parts = self.parts(name, key)
        if all(isinstance(p, Pick) for p in parts):
            return self.element(name, tuple(p.place for p in parts if isinstance(p, Pick)))
        kind = self.kind(target)
        return Held(self.arrays.view(self.stem(target), name, parts, kind.region if isinstance(kind, Arr) else None))

    def is_fancy(self, key: ir.Key) -> bool:
        """Whether a key has arrays of places, or masks."""
        found = [self.value(part) for part in key.parts if isinstance(part, ir.Var)]
        if len(key.parts) == 1 and found and isinstance(found[0], tuple):
            found = list(found[0])
        return any(self.is_container(x) or (isinstance(x, Held) and self.arrays.array(x.name).rank) for x in found)

    def fancy_key(self, key: ir.Key) -> Value:
        """Such a key, as a function of Python takes it."""
        parts: list[Value] = []
        for part in key.parts:
            if isinstance(part, ir.Slice):
                ends = (part.start, part.stop, part.step)
                if not all(isinstance(end, ir.Lit) for end in ends):
                    raise Refused("arrays of places beside a slice")
                parts.append(Known(slice(*(end.value for end in ends))))  # type: ignore[arg-type, union-attr]
            else:
                parts.append(Known(Ellipsis) if part == ir.Lit(Ellipsis) else self.value(part))
        return tuple(parts) if key.many or len(parts) > 1 else parts[0]

    def store_fancy(self, name: str, key: ir.Key, value: Value, add: bool) -> None:
        """Writes elements at arrays of places, or adds to each of them."""
        fn: Callable[..., Any] = np.add.at if add else operator.setitem
        given: list[Any] = [Held(name), self.fancy_key(key), value]
        self.arrays.flush()
        request = array_operations.Request(fn, given, {}, BOTTOM, "", 1)
        out: list[Expr | str] = []
        args = tuple(self.outside_form(v, request, out) for v in given)
        types = tuple(self.b.types[v] if isinstance(v, str) else v.type for v in out)
        self.b.emit(Outside((), len(self.functions.outside), tuple(out)))
        self.functions.outside.append(OutsideCall(fn, args, (), types, (), ()))  # type: ignore[arg-type]

    def chosen(self, stem: str, items: tuple[Value, ...], place: Expr, kind: Kind) -> Value:
        """The item of a tuple of values of one kind, at a place that only the program knows."""
        type = type_of(kind, inside=True)
        values = [self.stored(item, kind) for item in items]
        if any((self.b.types[v] if isinstance(v, str) else v.type) != type for v in values if isinstance(v, str)):
            raise Refused("an item of a tuple of several kinds at a place that is not known")
        self.arrays.flush()
        name = self.b.fresh("items", List(type))
        self.b.emit(NewList(name), *(Push(name, value) for value in values))
        return self.fetch(stem, name, self.list_place(name, place), type, kind)

    def element(self, name: str, places: tuple[Expr, ...]) -> Expr:
        """An element that is read here and now."""
        if self.arrays.reads_pending(name):
            self.arrays.flush()
        type = self.arrays.array(name)
        made = self.b.fresh("e", type.element)
        self.b.assign(made, Read(name, places, type.element))
        return Local(made, type.element)

    def parts(self, name: str, key: ir.Key) -> list[Pick | Span | NewAxis]:
        """The places that a key stands for."""
        extents = list(self.arrays.extents(name))
        given = self.resolved(key)
        rest = [Slicing()] * (len(extents) - sum(p is not None and p is not Ellipsis for p in given))
        place = next((k for k, p in enumerate(given) if p is Ellipsis), None)
        given[len(given) if place is None else place : len(given) if place is None else place + 1] = rest
        found: list[Pick | Span | NewAxis] = []
        for part in given:
            if part is None:
                found.append(NewAxis())
            elif isinstance(part, Slicing):
                found.append(self.slice(part, extents.pop(0)))
            else:
                found.append(Pick(self.b.place(_whole_number(part), extents.pop(0))))
        return found

    def resolved(self, key: ir.Key) -> list[object]:
        """The parts of a key: numbers, slices, None for a new axis, and the ellipsis."""
        found: list[object] = []
        for part in key.parts:
            if isinstance(part, ir.Slice):
                ends = (part.start, part.stop, part.step)
                found.append(Slicing(*(None if x == ir.Lit(None) else self.scalar(x) for x in ends)))
            elif part == ir.Lit(Ellipsis):
                found.append(Ellipsis)
            elif isinstance(value := self.value(part), tuple) and len(key.parts) == 1:
                found += [Ellipsis if isinstance(x, Known) else x for x in value]
            else:
                found.append(value if value is None or isinstance(value, Slicing) else self.scalar(part))
        return found

    def slice(self, part: Slicing, extent: Expr) -> Span:
        """The places of a slice."""
        start, stop, step = part.start, part.stop, part.step
        if any(x is not None and x.type.code != "i8" for x in (start, stop, step)):
            raise Refused("bounds of a slice that are no whole numbers")
        if step is not None and not (isinstance(step, Const) and step.value):
            raise Refused("a slice whose step is not known")
        return self.arrays.span(start, stop, int(step.value) if isinstance(step, Const) else 1, extent)

    def indices(self, values: Sequence[Value]) -> Value:
        """The bounds of a slice in a sequence of some length, as Python has them."""
        part, count = values
        if not isinstance(part, Slicing) or not isinstance(count, Expr):
            raise Refused("the bounds of this slice")
        step = ONE if part.step is None else part.step
        if not isinstance(step, Const) or step.value <= 0:
            raise Refused("the bounds of a slice that goes backwards")
        ends = (part.start or ZERO, count if part.stop is None else part.stop)
        return (*(self.clamped(end, count) for end in ends), step)

    def clamped(self, end: Expr, count: Expr) -> Expr:
        """A bound of a slice between 0 and the length."""
        if end in (ZERO, count):
            return end
        end = self.b.let("k", operators.converted(end, "i8"))
        self.b.check(Apply("lt", (Apply("abs", (end,), INT), Const(LIMIT_EXTENT, INT)), BOOL), Bail.INTEGER)
        more = Apply("select", (Apply("lt", (end, ZERO), BOOL), Apply("add", (end, count), INT), end), INT)
        end = self.b.let("k", more)
        low = Apply("select", (Apply("lt", (end, ZERO), BOOL), ZERO, end), INT)
        return self.b.let("k", Apply("select", (Apply("lt", (count, end), BOOL), count, low), INT))

    def fitting(self, values: Sequence[Value]) -> Value:
        """What is taken apart into so many arguments; bails out where it has another length."""
        value, count = values
        assert isinstance(count, Const)
        held = isinstance(value, Held) and not self.is_container(value)
        length = self.arrays.extents(value.name)[0] if held else list_operations.length(self, value)  # type: ignore[union-attr]
        self.arrays.demand_same(length, count)
        return value

    def shares(self, values: Sequence[Value]) -> Value:
        """Whether an array is a view of another one: what is reshaped here is, or the program bails out."""
        if not all(isinstance(v, Held) and v.name in self.arrays.memory for v in values):
            return Const(False, BOOL)
        x, y = (self.arrays.memory[v.name] for v in values)  # type: ignore[union-attr]
        if x.root is None or y.root is None:
            raise Refused("whether arrays share memory of which little is known")
        if x.root != y.root and x.foreign and y.foreign:
            raise Refused("whether two arguments share memory")
        if x.root != y.root:
            return Const(False, BOOL)
        if x.parts[: len(y.parts)] != y.parts and y.parts[: len(x.parts)] != x.parts:
            raise Refused("whether two parts of an array share memory")
        return Const(True, BOOL)

    def equal_lengths(self, values: Sequence[Value]) -> Value:
        """The length that all of several have; bails out where they differ."""
        for other in values[1:]:
            self.arrays.demand_same(values[0], other)  # type: ignore[arg-type]
        return values[0]

    def is_none(self, yes: bool, values: Sequence[Value]) -> Expr:
        """Whether something that may be None is, or is not."""
        found = [v for v in values if isinstance(v, Maybe)]
        if len(found) != 1 or None not in values:
            raise Refused("whether one of two things is the other")
        return found[0].absent if yes else Apply("not", (found[0].absent,), BOOL)

    def slicing(self, args: Sequence[object]) -> Slicing:
        """A slice that is made as an object."""
        if not all(x is None or isinstance(x, Expr) for x in args):
            raise Refused("a slice between what are no numbers")
        return Slicing(*(args if len(args) > 1 else (None, *args)))  # type: ignore[arg-type]

    def store(self, base: ir.Atom, key: ir.Key, given: ir.Atom, *, add: bool, repeats: bool = False) -> None:
        """Writes elements, or adds to them."""
        name = self.held(base)
        type = self.b.types[name]
        if not isinstance(type, Array):
            self.store_item(name, self.key_of(key), self.value(given), add)
            return
        if self.arrays.memory[name].foreign:
            raise Refused("memory of others is written")
        value = self.present(self.value(given))
        if value is None or isinstance(value, tuple | Known | Slicing | Maybe):
            raise Refused("an array is written with what is no number")
        if repeats or self.is_fancy(key):
            self.store_fancy(name, key, value, add)
            return
        parts = self.parts(name, key)
        if not isinstance(value, Held) and all(isinstance(p, Pick) for p in parts):
            self.arrays.flush()
            places = tuple(p.place for p in parts if isinstance(p, Pick))
            old = Read(name, places, type.element)
            self.b.emit(Write(name, places, _stored(old, value, add)))
            return
        into = self.arrays.view(f"{name}_part", name, parts, self.arrays.memory[name].region)
        array_operations.write(self.arrays, into, value, add)


def _read(block: ir.Block) -> Counter[str]:
    """How often each name is read, by what does not only serve an exception or nothing."""
    live = [s for s in walk.statements(block) if not isinstance(s, ir.Raise)]
    while True:
        found = Counter(a.name for s in live for a in walk.statement_atoms(s) if isinstance(a, ir.Var))
        rest = [s for s in live if not (isinstance(s, ir.Assign) and not found[s.target] and _may_go(s.value))]
        if len(rest) == len(live):
            return found
        live = rest


def _read_elsewhere(body: ir.Block, bound: set[str]) -> Iterator[str]:
    """Names that are read where they may hold what another trip gave them, or no value: not behind what binds them,
    in its block or inside of that."""
    known = set(bound)
    for s in body:
        yield from (a.name for a in walk.statement_atoms(s) if isinstance(a, ir.Var) and a.name not in known)
        inside = {s.target} if isinstance(s, ir.For) else set[str]()
        for block in walk.blocks(s):
            yield from _read_elsewhere(block, known | inside)
        if type(s) in walk.BINDING and not isinstance(s, ir.For):
            known.add(s.target)  # type: ignore[union-attr]


def _asked(body: ir.Block) -> frozenset[str]:
    """Variables of which the program asks whether they have a value."""
    ops = [s.value for s in walk.statements(body) if isinstance(s, ir.Assign) and isinstance(s.value, ir.Op)]
    return frozenset(a.name for op in ops if op.fn is arrays.demand_bound for a in op.args if isinstance(a, ir.Var))


def _may_go(value: ir.Expr) -> bool:
    return not isinstance(value, ir.Pop | ir.Call)


def _stored(old: Expr, value: Expr, add: bool) -> Expr:
    """What is written where `old` stands."""
    if add:
        if value.type.code != old.type.code and not (value.type.owner is Owner.PYTHON and old.type.is_float):
            raise Refused("numbers of two precisions are added in place")
        return Apply("add", (old, operators.converted(value, old.type.code)), old.type)
    return operators.converted(value, old.type.code)


def _whole_number(index: object) -> Expr:
    if not isinstance(index, Expr) or index.type.code != "i8":
        raise Refused("an index that is no whole number")
    return index


def _item(items: tuple[Value, ...], place: int) -> Value:
    """One item of a tuple."""
    if not -len(items) <= place < len(items):
        raise Refused("an item that a tuple does not have")
    return items[place]


def _items_of_slice(items: tuple[Value, ...], part: Slicing) -> tuple[Value, ...]:
    """The items of a tuple at the places of a slice."""
    ends = (part.start, part.stop, part.step)
    if not all(end is None or isinstance(end, Const) for end in ends):
        raise Refused("a part of a tuple between places that are not known")
    start, stop, step = (int(end.value) if isinstance(end, Const) else None for end in ends)
    return items[start:stop:step]


def _has_value(atom: object) -> bool:
    """Whether an atom may be a value of the loop language."""
    if isinstance(atom, ir.Lit):
        return atom.value is None or atom.value is ir.UNBOUND or isinstance(atom.value, bool | int | float | str)
    return isinstance(atom, ir.Var | ir.Ext)


_WHAT: dict[type, str] = {}


def _identifier(name: str) -> str:
    """A name that C has too."""
    name = name.removeprefix("%:").replace("%", "t")
    return re.sub(r"[^0-9A-Za-z_]", lambda found: f"u{ord(found[0]):x}", name)


def _extents(name: str, type: Array) -> list[Expr]:
    return [Extent(name, axis) for axis in range(type.rank)]


def _known(kind: Kind) -> Known | None:
    """The object of a kind that is known."""
    assert isinstance(kind, Obj)
    return None if kind.value is None else Known(kind.value)


def _region(kind: Kind) -> Region | None:
    return kind.region if isinstance(kind, Arr) else None


def _kind_of_outside(atom: ir.Ext) -> Kind:
    """The kind of a number or an array from outside."""
    value = atom.value
    if type(value) in (bool, int, float, np.float64):
        return Num(type(value))
    if type(value) is np.ndarray:
        return Arr(value.dtype, value.ndim, Region(World()))
    raise Refused(f"`{atom.name}` is read from outside of the function")


def _is_quiet(manager: object) -> bool:
    """Whether a manager is ``np.errstate`` that tells nobody of underflow: a program asks for all other events, and
    bails out."""
    assert isinstance(manager, ir.Manager)
    call = manager.call
    if manager.first or call.args or not isinstance(call.fn, ir.Ext) or call.fn.value is not np.errstate:
        return False
    given = dict(call.kwargs)
    told = given.get("under", given.get("all", ir.Lit("ignore")))
    return told == ir.Lit("ignore")


def _is_hashable(fn: object) -> bool:
    return isinstance(fn, Hashable)


_OF_CONTAINERS: dict[object, Callable[[_Writer, Kind, Sequence[Value]], Value]] = {
    builtins.len: _Writer.length,
    builtins.sum: _Writer.total,
    arrays.zero: _Writer.zero,
    arrays.entry_copy: _Writer.copy,
    arrays.finish: _Writer.finish,
}
_OF_SEQUENCES: dict[object, Callable[[_Writer, Sequence[Value]], Value]] = {
    slice.indices: _Writer.indices,
    arrays.fitting: _Writer.fitting,
    arrays.shares: _Writer.shares,
    arrays.equal_lengths: _Writer.equal_lengths,
}
_PRODUCTS = (operator.matmul, np.matmul, np.dot)
_MISSING = object()
