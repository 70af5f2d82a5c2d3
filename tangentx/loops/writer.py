"""Scalarises one function: its names, what represents them, and its containers."""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from tangentx.analysis.types.kinds import Arr, Box, Kind, Num, Obj, Region, describe
from tangentx.ir import nodes as ir
from tangentx.ir import walk
from tangentx.loops import array_operations, operators
from tangentx.loops.array_statements import ONE, ZERO, ArrayWriter, Held, Memory
from tangentx.loops.builder import LIMIT_EXTENT, Builder, literal
from tangentx.loops.kept_shapes import KeptShapes, tapes
from tangentx.loops.loop_ir import (
    BOOL,
    INT,
    Apply,
    Array,
    Assign,
    Bail,
    Bind,
    Const,
    Expr,
    Fetch,
    Form,
    Function,
    Known,
    List,
    Local,
    NewList,
    NewRecord,
    OutsideCall,
    Owner,
    Program,
    Read,
    Record,
    Scalar,
    Statement,
    Type,
    dtype_of,
)
from tangentx.loops.operators import Refused
from tangentx.loops.simplify import asked_names, reads, reads_elsewhere
from tangentx.loops.types import (
    MISSING,
    UNBOUND,
    Callee,
    Maybe,
    Place,
    Slicing,
    Source,
    Value,
    extents_of,
    identifier,
    kind_of_outside,
    known_object,
    may_be_none,
    places,
    region_of,
    scalar_type,
    surely,
    type_of,
)


class Functions(Protocol):
    """The functions of a program, each for the types of the arguments that it is called with."""

    outside: list[OutsideCall]

    def called(self, link: ir.Link, given: Sequence[object], kind: Kind) -> Callee:
        """The function of a call, whose result has this kind."""


class Writer:
    """Writes one function.

    Arrays of the names in `scattered` may have gaps between the elements of the last axis; of numbers of those in
    `vague` it is not known whether they are Python's or NumPy's. `several`: one way out gives a number of Python's,
    another one of NumPy's. `joined` is the kind of what it returns where that is one value of several kinds. Arrays of
    names in `changing` are known to have several shapes.
    """

    def __init__(
        self,
        name: str,
        source: Source,
        functions: Functions,
        given: Sequence[object] | None,
        scattered: frozenset[str],
        vague: frozenset[str],
        several: bool,
        joined: Kind | None = None,
        changing: frozenset[str] = frozenset(),
    ) -> None:
        self.joined = joined
        self.name, self.functions, self.given = name, functions, given
        self.function, self.kinds = function, _ = source
        self.known_several, self.several = several, False
        self.known_scattered, self.scattered = scattered, set[str]()
        self.line = function.span.line
        self.b = Builder(vague)
        self.read = reads(function.body)
        self.bound = self._bound()
        self.asked = asked_names(function.body)
        self.aliases = self._aliases()
        self.shapes, self.tapes = KeptShapes(self.b, changing), tapes(function.body)
        self.arrays = ArrayWriter(self.b, self.shapes)
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
        self.grows: dict[str, tuple[Type, int]] = {}
        self.read_outside: dict[object, tuple[ir.Ext, Value]] = {}

    def _bound(self) -> Counter[str]:
        """At how many places each name is given a value; one more where it may be read before."""
        params = [p.name for p in self.function.params]
        found = Counter(params)
        for s in walk.statements(self.function.body):
            if type(s) in walk.BINDING:
                found[s.target] += 1  # type: ignore[union-attr]
        return found + Counter(reads_elsewhere(self.function.body, set(params)))

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

    def made(self) -> Function:
        """The function."""
        params = dict(self.b.params)
        locals_ = {name: type for name, type in self.b.types.items() if name not in params}
        assert self.results is not None
        return Function(self.name, tuple(self.b.params), self.results, locals_, tuple(self.body))

    def callee(self) -> Callee:
        """What its callers have to know."""
        assert self.results is not None
        foreign = any(self.arrays.memory[name].foreign for name, t in self.b.params if isinstance(t, Array))
        read = tuple(atom for atom, _ in self.read_outside.values())
        return Callee(self.name, self.result, self.results, self.result_kinds, foreign, read, self.joined is not None)

    def program(self) -> Program:
        """The program that is entered here."""
        copied = frozenset(self.arrays.entry_copies)
        read = tuple(atom for atom, _ in self.read_outside.values())
        return Program((), self.result, tuple(self.arguments), copied, read)

    def report(self) -> tuple[str, ...]:
        """What became of statements of arrays, and which lists grow where, for a reader."""
        lists = [
            f"  `{name}` grows by {_size(type)} each time line {line} is passed"
            for name, (type, line) in self.grows.items()
            if name in self.b.types
        ]
        found = (*self.arrays.report(), *lists)
        return found if self.given is None or not found else (f"  in `{self.function.name}`", *found)

    def parameter(self, stem: str, type: Type, kind: Kind, foreign: bool, owned: bool = True) -> Value:
        """A name of the program that its caller gives a value."""
        name = self.b.fresh(stem, type)
        self.b.params.append((name, type))
        if isinstance(type, Array):
            self.arrays.memory[name] = Memory(name if foreign else None, (), region_of(kind), foreign)
            self.b.extents[name] = tuple(self.b.let("n", e) for e in extents_of(name, type))
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

    def kind(self, name: str) -> Kind:
        """The kind of a variable."""
        if name not in self.kinds:
            raise Refused(f"nothing is known of `{name.lstrip('%')}`")
        return self.kinds[name]

    def stem(self, name: str) -> str:
        """What a variable is called in the text."""
        for other, kept in self.aliases.items():
            if kept == name and not other.startswith("%"):
                return identifier(other)
        return identifier(name)

    def value(self, atom: ir.Atom | ir.Slice) -> Value:
        """What an atom stands for."""
        match atom:
            case ir.Var(name):
                name = self.aliases.get(name, name)
                if name in self.values and name not in self.absences:
                    return self.values[name]
                kind = self.kind(name)
                if isinstance(kind, Obj):
                    return known_object(kind)
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
            kind = kind_of_outside(atom)
            held = isinstance(kind, Arr)
            value = self.parameter(identifier(atom.name), type_of(kind), kind, foreign=held, owned=False)
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
                self.arrays.variables[made] = name
            elif isinstance(kind, Box):
                self.held_kinds[made] = kind
        return self.values[name]

    def has_value(self, name: str) -> Local:
        """Whether a variable has a value, where the program asks."""
        if name not in self.flags:
            self.flags[name] = Local(self.b.fresh(f"{self.stem(name)}_is_bound", BOOL, steady=False), BOOL)
        return self.flags[name]

    def unbound(self, target: str) -> None:
        """A name that has no value yet, or is None."""
        kind = surely(self.kind(target))
        if isinstance(kind, Num):
            self.assign_number(target, Const(0, INT))
        elif self.bound[target] != 1:
            self.shapes.change(target)
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
            self.shapes.hold(target, self.arrays.extents(source))
            if self.arrays.memory[source].foreign:
                self.b.found_vague.add(f"{target} foreign")
        elif type != given:
            raise Refused("containers of several kinds under one name")
        self.b.emit(Bind(held.name, source))
        self.b.births[held.name] = self.b.moment()

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
        given = self.b.types[value.name]
        self.kept(value)
        if isinstance(type, Array) and isinstance(given, Array):
            self.arrays.exist(value.name)
            if (type.code, type.rank) != (given.code, given.rank):
                raise Refused("arrays of several dtypes or ranks in one place")
            if type.unit and not given.unit:
                value = Held(array_operations.copied(self.arrays, value.name))
                self.arrays.exist(value.name)
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
                value: Any = given.get(key, MISSING)
                values.append(
                    self.nothing(type.items[item.item]) if value is MISSING else self.stored(value, item.kind)
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
            return known_object(item.kind)
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
            self.arrays.memory[name] = Memory(None, (), region_of(kind))
            self.b.extents[name] = tuple(self.b.let("n", e) for e in extents_of(name, type))
        else:
            self.held_kinds[name] = kind
        return Held(name)

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
                self.b.extents[name] = self.arrays.extents(value.name)
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

    def is_container(self, value: object) -> bool:
        """Whether a value is a list, a record or a tuple."""
        return isinstance(value, tuple) or (
            isinstance(value, Held) and isinstance(self.b.types[value.name], List | Record)
        )

    def items_of(self, name: str) -> dict[object, Place]:
        """The items of a record."""
        kind = self.held_kinds[name]
        found = places(kind) if isinstance(kind, Box) else None
        assert found is not None
        return found

    def element(self, name: str, places: tuple[Expr, ...]) -> Expr:
        """An element that is read here and now."""
        if self.arrays.reads_pending(name):
            self.arrays.flush()
        type = self.arrays.array(name)
        made = self.b.fresh("e", type.element)
        self.b.assign(made, Read(name, places, type.element))
        return Local(made, type.element)


def _size(type: Type) -> str:
    """How large an item of a list is."""
    match type:
        case Scalar(code):
            return f"{dtype_of(code).itemsize} bytes"
        case Array(code, rank):
            return f"an array of {dtype_of(code)} of rank {rank}"
    return "a container"
