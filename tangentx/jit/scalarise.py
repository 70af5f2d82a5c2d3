"""From the closed, typed IR to the loop language.

A statement of the IR becomes statements of numbers and elements; a tuple becomes its items; a list that grows and
shrinks at its end becomes a tape. What has no form there is refused, with its place and the reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from tangentx import arrays
from tangentx.analysis.types.kinds import Arr, Box, Kind, Num, describe
from tangentx.ir import nodes as ir
from tangentx.ir import walk
from tangentx.jit import array_operations, operators
from tangentx.jit.array_statements import ONE, ZERO, ArrayWriter, Held, Memory
from tangentx.jit.builder import LIMIT_EXTENT, Builder, literal
from tangentx.jit.loop_ir import (
    BOOL,
    INT,
    Ambiguous,
    Apply,
    Array,
    Assign,
    Bail,
    Bind,
    Break,
    Const,
    Continue,
    Expr,
    Extent,
    For,
    Function,
    If,
    Local,
    Loop,
    NewAxis,
    NewTape,
    Owner,
    Pick,
    Program,
    Pull,
    Push,
    Read,
    Return,
    Scalar,
    Span,
    Tape,
    Write,
)
from tangentx.jit.operators import Refused
from tangentx.jit.tidy import tidy
from tangentx.jit.types import array_type, scalar_type, type_of

Value: TypeAlias = "Expr | Held | tuple[Value, ...] | None"


class Refusal(Exception):
    """A program that the loop language cannot say: the reason, and the user's line."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


def scalarise(function: ir.Function, kinds: dict[str, Kind]) -> Program:
    """The program of the loop language that does what the function does. Raises Refusal.

    `kinds` has the kind of each of its variables.
    """
    scattered, vague = frozenset[str](), frozenset[str]()
    while True:
        writer = _Writer(function, kinds, scattered, vague)
        try:
            program = writer.program()
        except Refused as error:
            raise Refusal(error.reason, writer.line) from None
        if writer.scattered <= scattered and writer.b.found_vague <= vague:
            return replace(program, functions=tuple(map(tidy, program.functions)))
        scattered, vague = scattered | writer.scattered, vague | writer.b.found_vague


class _Writer:
    """Writes one function.

    Arrays of the names in `scattered` may have gaps between the elements of the last axis; of numbers of those in
    `vague` it is not known whether they are Python's or NumPy's.
    """

    def __init__(
        self, function: ir.Function, kinds: dict[str, Kind], scattered: frozenset[str], vague: frozenset[str]
    ) -> None:
        self.function, self.kinds = function, kinds
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
        self.flags: dict[str, Local] = {}
        self.owned: set[str] = set()
        self.result: object = None
        self.results: tuple[Scalar | Array, ...] = ()

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

    # ---- names and values ----

    def program(self) -> Program:
        """The whole program."""
        with self.b.block() as body:
            for param in self.function.params:
                self.parameter(param)
            owned = tuple(i for i, (name, _) in enumerate(self.b.params) if name in self.b.owners)
            self.b.params += [(f"{self.b.params[i][0]}_is_numpy", BOOL) for i in owned]
            self.block(self.function.body)
            self.arrays.flush()
        locals_ = {name: type for name, type in self.b.types.items() if name not in dict(self.b.params)}
        name = _identifier(self.function.name)
        made = Function(name, tuple(self.b.params), self.results, locals_, tuple(body))
        return Program((made,), self.result, frozenset(self.arrays.entry_copies), owned, self.arrays.report())

    def parameter(self, param: ir.Param) -> None:
        """A parameter, as a name of the program."""
        type = type_of(self.kinds[param.name])
        if isinstance(type, Tape) or param.kind not in ("normal", "positional"):
            raise Refused(f"the parameter `{param.name}`: {describe(self.kinds[param.name])}")
        steady = self.bound[param.name] == 1
        name = self.b.fresh(_identifier(param.name), type, steady)
        self.b.params.append((name, type))
        if isinstance(type, Array):
            kind = self.kinds[param.name]
            assert isinstance(kind, Arr)
            self.arrays.memory[name] = Memory(name, (), kind.region, foreign=True)
            if steady:
                self.b.extents[name] = tuple(self.b.let("n", e) for e in _extents(name, type))
        if isinstance(type, Scalar) and type.owner is Owner.EITHER:
            self.b.owners[name] = Local(self.b.fresh(f"{name}_is_numpy", BOOL, steady), BOOL)
        self.values[param.name] = Local(name, type) if isinstance(type, Scalar) else Held(name)

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
                if name in self.values:
                    return self.values[name]
                kind = self.kind(name)
                if isinstance(kind, Num) or (isinstance(kind, Box) and kind.cls is list) or isinstance(kind, Arr):
                    return self.variable(name)
                raise Refused(describe(kind))
            case ir.Lit(value) if isinstance(value, bool | int | float):
                return literal(value)
            case ir.Lit(None):
                return None
            case ir.Ext():
                return self.outside(atom)
        raise Refused("a constant that is no number")

    def outside(self, atom: ir.Ext) -> Value:
        """An object from outside: constants of modules alone are known when the program is compiled."""
        home = atom.path[1] if len(atom.path) > 2 and atom.path[0] == "global" else ""
        owner = getattr(atom.home, "__globals__", {}).get(home)
        if getattr(owner, "__name__", "") in ("numpy", "math") and isinstance(atom.value, float):
            return literal(atom.value)
        raise Refused(f"`{atom.name}` is read from outside of the function")

    def scalar(self, atom: ir.Atom) -> Expr:
        """The number that an atom stands for."""
        found = self.value(atom)
        if isinstance(found, Held):
            type = self.b.types[found.name]
            if isinstance(type, Array) and type.rank == 0:
                return self.element(found.name, ())
        if found is None or isinstance(found, Held | tuple):
            raise Refused("something else stands where a number is meant")
        return found

    def held(self, atom: ir.Atom) -> str:
        """The name of the array or the tape that an atom stands for."""
        found = self.value(atom)
        if not isinstance(found, Held):
            raise Refused("something else stands where an array is meant")
        return found.name

    def variable(self, name: str) -> Value:
        """The name of the program for a variable of numbers, arrays or tapes."""
        if name not in self.values:
            type = type_of(self.kind(name))
            if isinstance(type, Array):
                type = replace(type, unit=name not in self.known_scattered)
            made = self.b.fresh(self.stem(name), type, self.bound[name] == 1)
            self.values[name] = Local(made, type) if isinstance(type, Scalar) else Held(made)
            kind = self.kind(name)
            if isinstance(kind, Arr):
                foreign = f"{name} foreign" in self.b.vague
                self.arrays.memory[made] = Memory(None, (), kind.region, foreign)
        return self.values[name]

    # ---- statements ----

    def block(self, block: ir.Block) -> None:
        """The statements of a block."""
        for s in block:
            if isinstance(s, ir.Assign) and s.target in self.asked:
                self.b.emit(Assign(self.has_value(s.target).name, Const(s.value != ir.Lit(ir.UNBOUND), BOOL)))
            self.line = s.span.line if not isinstance(s, ir.Note) else self.line
            if s.span.around:
                raise Refused("a `with` statement")
            self.statement(s)

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
            case ir.Store():
                self.store(s.base, s.key, s.value, add=False)
            case ir.Accumulate() if not s.repeats:
                self.store(s.base, s.key, s.value, add=True)
            case ir.Append():
                self.append(s)
            case ir.If():
                test = operators.truth(self.scalar(s.test))
                self.arrays.flush()
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
        if isinstance(s.value, ir.Lit) and not isinstance(s.value.value, bool | int | float):
            if s.value.value is not None and s.value.value is not ir.UNBOUND:
                raise Refused(f"the constant {s.value.value!r}")
            if isinstance(self.kind(s.target), Num | Arr):
                self.unbound(s.target)
                return
        self.bind(s.target, self.expression(s))

    def unbound(self, target: str) -> None:
        """A name that has no value yet: nothing reads one, but it may be recorded."""
        kind = self.kind(target)
        if isinstance(kind, Num):
            self.assign_number(target, Const(0, INT))
        elif isinstance(kind, Arr) and self.bound[target] != 1:
            type = array_type(kind)
            self.rebind(target, self.arrays.allocate("nothing", type, [ZERO] * type.rank, kind.region))

    def bind(self, target: str, value: Value) -> None:
        """Gives a name what an expression made."""
        if value is None or isinstance(value, tuple):
            if self.bound[target] != 1:
                raise Refused("a tuple that is bound in several places")
            self.values[target] = value
            return
        if not isinstance(value, Held):
            self.assign_number(target, value)
            return
        if self.bound[target] != 1:
            self.rebind(target, value.name)
            return
        if value.name in self.owned:  # another name for an array that has one
            self.arrays.readers[value.name] = self.arrays.readers.get(value.name, 0) + self.read[target]
        self.owned.add(value.name)
        self.values[target] = value

    def rebind(self, target: str, source: str) -> None:
        """A name of arrays or tapes that is bound in several places."""
        self.arrays.flush()
        held = self.variable(target)
        assert isinstance(held, Held)
        type, given = self.b.types[held.name], self.b.types[source]
        if isinstance(type, Array) and isinstance(given, Array):
            if (type.code, type.rank) != (given.code, given.rank):
                raise Refused("arrays of several dtypes or ranks under one name")
            if type.unit and not given.unit:
                self.scattered.add(target)
            if self.arrays.memory[source].foreign:
                self.b.found_vague.add(f"{target} foreign")
        elif type != given:
            raise Refused("lists of several kinds under one name")
        self.b.emit(Bind(held.name, source))

    def assign_number(self, target: str, value: Expr) -> None:
        """A name of numbers."""
        kind = self.kind(target)
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

    def append(self, s: ir.Append) -> None:
        """A record."""
        tape = self.held(s.base)
        type = self.b.types[tape]
        value = self.value(s.value)
        if not isinstance(type, Tape) or value is None or isinstance(value, tuple):
            raise Refused("a list of what is no number and no array")
        (item,) = type.items
        if isinstance(value, Held):
            self.arrays.flush()
            given = self.b.types[value.name]
            if not (isinstance(given, Array) and isinstance(item, Array)) or given.code != item.code:
                raise Refused("a list of numbers and arrays")
            if given.rank != item.rank:
                raise Refused("a list of arrays of several ranks")
            if item.unit and not given.unit:
                value = Held(array_operations.copied(self.arrays, value.name))
                self.arrays.flush()
            self.b.emit(Push(tape, (value.name,)))
            return
        if not isinstance(item, Scalar):
            raise Refused("a list of numbers and arrays")
        self.b.emit(Push(tape, (operators.converted(value, item.code),)))

    def returned(self, s: ir.Return) -> None:
        """The results, one after the other."""
        self.arrays.flush()
        found: list[Expr | str] = []
        types: list[Scalar | Array] = []

        def shaped(value: Value) -> object:
            if isinstance(value, tuple):
                return tuple(map(shaped, value))
            if value is None:
                return None
            if isinstance(value, Held):
                type = self.b.types[value.name]
                if not isinstance(type, Array):
                    raise Refused("a list is returned")
                memory = self.arrays.memory[value.name]
                if memory.root != value.name or memory.foreign:
                    value = Held(array_operations.copied(self.arrays, value.name))
                    self.arrays.flush()
                found.append(value.name)
                types.append(type)
            else:
                found.append(value)
                types.append(value.type)
                if value.type.owner is Owner.EITHER:
                    owner = self.b.owner(value)
                    if owner is None:
                        raise Refused("a result of which it is not known whether it is Python's number or NumPy's")
                    found.append(owner)
                    types.append(BOOL)
                    return Ambiguous(len(found) - 2, len(found) - 1)
            return len(found) - 1

        shape = shaped(self.value(s.value))
        if self.results and (shape, tuple(types)) != (self.result, self.results):
            raise Refused("results of several kinds")
        self.result, self.results = shape, tuple(types)
        self.b.emit(Return(tuple(found)))

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
            case ir.Make(cls=cls, items=items) if cls is list:
                return self.new_list(s.target, items)
            case ir.Pop(base):
                return self.popped(s.target, base)
            case ir.Attr(base, name):
                return self.attribute(s.target, base, name)
        raise Refused(_WHAT.get(type(s.value), "an expression of this kind"))

    def steady(self, value: Value) -> Value:
        """A value that keeps its meaning where names are bound anew."""
        if isinstance(value, tuple) or value is None:
            return value
        if isinstance(value, Held):
            if value.name in self.b.steady:
                return value
            self.arrays.flush()
            type = self.b.types[value.name]
            name = self.b.fresh(value.name, type)
            self.b.emit(Bind(name, value.name))
            if isinstance(type, Array):
                self.arrays.memory[name] = self.arrays.memory[value.name]
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

    def new_list(self, target: str, items: Sequence[ir.Atom]) -> Value:
        """A list, which has to be one that only grows and shrinks at its end."""
        if self.bound[target] != 1:
            raise Refused("a list that is bound in several places")
        held = self.variable(target)
        assert isinstance(held, Held)
        self.b.emit(NewTape(held.name))
        for item in items:
            self.append(ir.Append(ir.Var(target), item, self.function.span))
        return held

    def popped(self, target: str, base: ir.Var) -> Value:
        """The last record of a tape."""
        self.arrays.flush()
        tape = self.held(base)
        type = self.b.types[tape]
        if not isinstance(type, Tape):
            raise Refused("`pop` of what is no list")
        (item,) = type.items
        single = isinstance(item, Scalar) and self.bound[target] == 1
        name = self.b.fresh(self.stem(target) if single or self.bound[target] == 1 else "t", item)
        self.b.emit(Pull(tape, (name,)))
        if isinstance(item, Array):
            kind = self.kind(target)
            region = kind.region if isinstance(kind, Arr) else None
            self.arrays.memory[name] = Memory(None, (), region)
            self.b.extents[name] = tuple(self.b.let("n", e) for e in _extents(name, item))
            return Held(name)
        return Local(name, item)

    def attribute(self, target: str, base: ir.Atom, name: str) -> Value:
        """What is known of an array."""
        held = self.held(base)
        type = self.b.types[held]
        if isinstance(type, Array) and name == "shape":
            return self.arrays.extents(held)
        if isinstance(type, Array) and name == "ndim":
            return Const(type.rank, INT)
        if isinstance(type, Array) and name == "size":
            return array_operations.size(self.arrays, held)
        raise Refused(f"the attribute `{name}`")

    def operation(self, target: str, op: ir.Op) -> Value:
        """A primitive."""
        kind = self.kind(target)
        values = [self.value(atom) if _has_value(atom) else atom for atom in op.args]
        named = {name: self.value(atom) if _has_value(atom) else atom for name, atom in op.kwargs}
        given = [v for v in values if isinstance(v, Held)]
        if not given and isinstance(kind, Num) and not named and operators.is_scalar_operation(op.fn):
            args = [self.scalar(atom) for atom in op.args]
            return operators.apply(op.fn, self.b, args, scalar_type(kind))
        request = array_operations.Request(op.fn, values, named, kind, self.stem(target), self.read[target])
        result: Value = array_operations.operation(self.arrays, request)
        return result

    # ---- elements and views ----

    def index(self, target: str, base: ir.Atom, key: ir.Key) -> Value:
        """An element, a view, or an item of a tuple."""
        found = self.value(base)
        if isinstance(found, tuple):
            place = self.value(key.parts[0]) if len(key.parts) == 1 and _has_value(key.parts[0]) else None
            if not isinstance(place, Const):
                raise Refused("an item of a tuple at a place that is not known")
            return _item(found, int(place.value))
        name = self.held(base)
        if not isinstance(self.b.types[name], Array):
            raise Refused("an item in the middle of a list")
        parts = self.parts(name, key)
        if all(isinstance(p, Pick) for p in parts):
            return self.element(name, tuple(p.place for p in parts if isinstance(p, Pick)))
        kind = self.kind(target)
        return Held(self.arrays.view(self.stem(target), name, parts, kind.region if isinstance(kind, Arr) else None))

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
        given = list(key.parts)
        real = [p for p in given if not (isinstance(p, ir.Lit) and (p.value is None or p.value is Ellipsis))]
        if ir.Lit(Ellipsis) in given:
            place = given.index(ir.Lit(Ellipsis))
            given[place : place + 1] = [ir.Slice()] * (len(extents) - len(real))
        else:
            given += [ir.Slice()] * (len(extents) - len(real))
        found: list[Pick | Span | NewAxis] = []
        for part in given:
            if isinstance(part, ir.Lit) and part.value is None:
                found.append(NewAxis())
                continue
            extent = extents.pop(0)
            if isinstance(part, ir.Slice):
                found.append(self.slice(part, extent))
                continue
            index = self.scalar(part)
            if index.type.code != "i8":
                raise Refused("an index that is no whole number")
            found.append(Pick(self.b.place(index, extent)))
        return found

    def slice(self, part: ir.Slice, extent: Expr) -> Span:
        """The places of a slice."""
        start, stop, step = (None if x == ir.Lit(None) else self.scalar(x) for x in (part.start, part.stop, part.step))
        if any(x is not None and x.type.code != "i8" for x in (start, stop, step)):
            raise Refused("bounds of a slice that are no whole numbers")
        if step is not None and not (isinstance(step, Const) and step.value):
            raise Refused("a slice whose step is not known")
        return self.arrays.span(start, stop, int(step.value) if isinstance(step, Const) else 1, extent)

    def store(self, base: ir.Atom, key: ir.Key, given: ir.Atom, *, add: bool) -> None:
        """Writes elements, or adds to them."""
        name = self.held(base)
        type = self.b.types[name]
        if not isinstance(type, Array):
            raise Refused("an item of a list is written")
        if self.arrays.memory[name].foreign:
            raise Refused("memory of others is written")
        value = self.value(given)
        if value is None or isinstance(value, tuple):
            raise Refused("an array is written with what is no number")
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


def _item(items: tuple[Value, ...], place: int) -> Value:
    """One item of a tuple."""
    if not -len(items) <= place < len(items):
        raise Refused("an item that a tuple does not have")
    return items[place]


def _has_value(atom: object) -> bool:
    """Whether an atom may be a value of the loop language."""
    if isinstance(atom, ir.Lit):
        return atom.value is None or isinstance(atom.value, bool | int | float)
    return isinstance(atom, ir.Var | ir.Ext)


_WHAT: dict[type, str] = {
    ir.Call: "a call of another function",
    ir.Delete: "an item is deleted",
    ir.Accumulate: "elements that may be the same are added to",
    ir.Make: "a container",
}


def _identifier(name: str) -> str:
    """A name that C has too."""
    name = name.removeprefix("%:").replace("%", "t")
    return re.sub(r"[^0-9A-Za-z_]", lambda found: f"u{ord(found[0]):x}", name)


def _extents(name: str, type: Array) -> list[Expr]:
    return [Extent(name, axis) for axis in range(type.rank)]
