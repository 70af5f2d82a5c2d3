"""Prints the loop language as Python that Numba compiles.

It is what `print_python` prints but for this: a function gives the code where it gives up first, then its results; a
record is a tuple of lists of one item; every array is of one of two layouts where it is kept among others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from tangentx.loops import interrupts, numba_support
from tangentx.loops import loop_ir as loops
from tangentx.loops.print_python import DTYPES, SIGNS, Printer

_OURS = ("guarded", "maximum", "minimum", "sign", "ratio_or_zero", "over_root", "log_or_zero", "power_slope")
_FITS = ("add_fits", "sub_fits", "mul_fits")
_OF_NUMPY = ("floor", "ceil", "trunc", "rint")


def text_of(program: loops.Program) -> str:
    """The functions, and what they need."""
    empty = Empty()
    functions = ["\n".join(NumbaPrinter(f, empty).function()) + "\n" for f in program.functions]
    functions = [*empty.text, *functions]
    needed = numba_support.needed("\n".join(functions))
    return "\n\n".join([numba_support.HEAD.lstrip(), *([needed] if needed else []), *functions])


class Empty:
    """Functions that give a value of a type where there is none, by which Numba knows the type."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.found: dict[loops.Type, str] = {}

    def of(self, type: loops.Type) -> str:
        """A value of a type."""
        if isinstance(type, loops.Scalar):
            return {"f8": "0.0", "f4": "np.float32(0.0)", "i8": "np.int64(0)", "b1": "False"}[type.code]
        if type not in self.found:
            match type:
                case loops.Array(code, rank):
                    made = f"{_layout(type)}(np.empty(({'0, ' * rank}), {DTYPES[code]}))"
                case loops.List(item):
                    made = f"[{self.of(item)}][:0]"
                case loops.Record(items):
                    made = f"({''.join(f'[{self.of(item)}][:0], ' for item in items)})"
            self.found[type] = f"nothing{len(self.text)}()"
            self.text.append(f"@compiled\ndef {self.found[type]}:\n    return {made}\n")
        return self.found[type]


class NumbaPrinter(Printer):
    """Prints one function."""

    def __init__(self, function: loops.Function, empty: Empty) -> None:
        super().__init__(function)
        self.nothing = empty.of
        self.keeps = any(isinstance(s, loops.Keep) for s in loops.statements(function.body))

    def function(self) -> Iterator[str]:
        """Its lines."""
        yield "@compiled"
        yield f"def {self.f.name}({', '.join([*(name for name, _ in self.f.params), 'python'])}):"
        yield "    ticks = 0"
        for name, type in self.f.locals.items():
            if isinstance(type, loops.List | loops.Record):
                yield f"    {name} = {self.nothing(type)}"
        if self.keeps:
            yield "    kept = np.uint64(0)"
        yield from self.indented(self.f.body)

    def bail(self, bail: loops.Bail) -> str:
        """The line, below a test, that gives up."""
        return f"    {self.given_up(str(bail.value))}  # {bail.reason}"

    def given_up(self, code: str) -> str:
        """The end of a function that has no results."""
        return f"return ({', '.join([code, *map(self.nothing, self.f.results)])},)"

    def statement(self, s: loops.Statement) -> Iterator[str]:
        """The lines of a statement."""
        match s:
            case loops.Call(function, args, results):
                given = [*map(self.value, args), "python"]
                names = ", ".join(["bail", *results]) if results else "(bail,)"
                yield f"{names} = {function}({', '.join(given)})"
                yield "if bail != 0:"
                yield f"    {self.given_up('bail')}"
            case loops.Outside(names, place, args):
                yield from self.outside(names, place, args)
            case loops.Product():
                yield from self.product(s)
            case loops.Return(values):
                found = ["0", *map(self.kept, values, self.f.results)]
                if self.keeps:
                    yield "used(kept)"
                yield f"return ({', '.join(found)},)"
            case loops.Keep(name):
                yield f"kept ^= bits({name})"
            case loops.View(name=name) | loops.Turn(name=name):
                (line,) = super().statement(s)
                type = self.types[name]
                assert isinstance(type, loops.Array)
                made = line.removeprefix(f"{name} = ")
                yield f"{name} = {f'unit({made})' if _is_unit(type) else made}"
            case loops.Reshape(name, base, extents):
                yield f"if not is_dense({base}):"
                yield self.bail(loops.Bail.SHAPE)
                yield f"{name} = unit({base}).reshape(({''.join(f'{self.expr(n)}, ' for n in extents)}))"
            case loops.For():
                yield from self.loop(s)
            case loops.Loop(body):
                yield "while True:"
                yield from (f"    {line}" for line in self.tick(str(interrupts.weight(body))))
                yield from self.indented(body)
            case loops.NewList() | loops.NewRecord() | loops.Push() | loops.Pull() | loops.Fetch() | loops.Put():
                yield from self.held(s)
            case _:
                yield from super().statement(s)

    def tick(self, count: str) -> Iterator[str]:
        """Now and then a signal may end the program."""
        yield f"ticks += {count}"
        yield "if ticks > TICKS:"
        yield "    ticks = 0"
        yield "    if stop_asked(python):"
        yield f"    {self.bail(loops.Bail.INTERRUPT)}"

    def loop(self, s: loops.For) -> Iterator[str]:
        """A loop over a range."""
        start, stop = self.expr(s.start), self.expr(s.stop)
        if s.independent:
            if interrupts.is_innermost(s):
                yield f"ticks += {stop}"
            yield from self.trips(s, start, stop)
        elif interrupts.asks_in_parts(s):
            yield from self.in_parts(s)
        else:
            yield from self.trips(s, start, stop, self.tick(str(interrupts.weight(s.body))))

    def trips(self, s: loops.For, start: str, stop: str, first: Iterable[str] = ()) -> Iterator[str]:
        """The trips of a loop between bounds; each begins with the lines `first`."""
        assert isinstance(s.step, loops.Const)
        if s.backward:
            yield f"for {s.name} in range({stop} - 1, {start} - 1, -1):"
        else:
            yield f"for {s.name} in range({start}, {stop}, {int(s.step.value)}):"
        yield from (f"    {line}" for line in first)
        yield from self.indented(s.body)

    def in_parts(self, s: loops.For) -> Iterator[str]:
        """A loop whose step is one, as two: between parts it is asked whether it is to stop."""
        assert isinstance(s.step, loops.Const)
        start, stop, step = self.expr(s.start), self.expr(s.stop), int(s.step.value)
        first, last, sign = (stop, start, "-") if s.backward else (start, stop, "-" if step < 0 else "")
        yield f"for part in range({first}, {last}, {sign}TICKS):"
        nearest = "max(part - TICKS" if sign else "min(part + TICKS"
        yield f"    behind = {nearest}, {last})"
        yield from (f"    {line}" for line in self.tick("abs(behind - part)"))
        bounds = ("behind", "part") if s.backward else ("part", "behind")
        yield from (f"    {line}" for line in self.trips(s, *bounds))

    # ---- containers ----

    def kept(self, value: loops.Expr | str, type: loops.Type) -> str:
        """A value as it is kept where values of this type are."""
        if not isinstance(value, str):
            text = self.expr(value)
            return f"np.int64({text})" if isinstance(value, loops.Const) and value.type.code == "i8" else text
        return f"{_layout(type)}({value})" if isinstance(type, loops.Array) else value

    def held(self, s: loops.Statement) -> Iterator[str]:
        """A list or a record is made, read or written."""
        match s:
            case loops.NewList(name):
                yield f"{name} = {self.nothing(self.types[name])}"
            case loops.NewRecord(name, values):
                type = self.types[name]
                assert isinstance(type, loops.Record)
                items = [f"[{self.kept(*pair)}], " for pair in zip(values, type.items, strict=True)]
                yield f"{name} = ({''.join(items)})"
            case loops.Push(name, value):
                type = self.types[name]
                assert isinstance(type, loops.List)
                yield f"{name}.append({self.kept(value, type.item)})"
            case loops.Pull(base, name):
                yield f"if len({base}) == 0:"
                yield self.bail(loops.Bail.EMPTY)
                yield f"{name} = {base}.pop()"
            case loops.Fetch(name, base, place):
                yield f"{name} = {self.place(base, place)}"
            case loops.Put(base, place, value):
                type = self.types[base]
                assert isinstance(type, loops.List | loops.Record)
                item = type.item if isinstance(type, loops.List) else type.items[_constant(place)]
                yield f"{self.place(base, place)} = {self.kept(value, item)}"

    def place(self, base: str, place: loops.Expr) -> str:
        """Where the item of a list or a record is."""
        return f"{base}[{self.expr(place)}]{'[0]' if isinstance(self.types[base], loops.Record) else ''}"

    # ---- what Python runs ----

    def outside(self, names: Sequence[str], place: int, args: Sequence[loops.Expr | str]) -> Iterator[str]:
        """A call of a function of Python: words of 64 bits there and back, and a copy of the arrays that it gives."""
        lines: list[str] = []
        held = [value for value in args if isinstance(value, str)]
        count = 0
        for value in args:
            type = self.types[value] if isinstance(value, str) else value.type
            if isinstance(type, loops.Array):
                lines.append(f"given[{count}] = {value}.ctypes.data")
                for axis in range(type.rank):
                    lines.append(f"given[{count + 1 + axis}] = {value}.shape[{axis}]")
                    lines.append(f"given[{count + 1 + type.rank + axis}] = {value}.strides[{axis}] // {value}.itemsize")
                count += 1 + 2 * type.rank
            else:
                assert isinstance(type, loops.Scalar)
                lines.append(f"{'numbers' if type.is_float else 'given'}[{count}] = {self.value(value)}")
                count += 1
        types = [self.types[name] for name in names]
        size = sum(1 + (type.rank if isinstance(type, loops.Array) else 0) for type in types)
        yield f"given, found = np.zeros({max(count, 1)}, np.int64), np.zeros({max(size, 1)}, np.int64)"
        yield "numbers = given.view(np.float64)"
        yield from lines
        yield f"bail = outside(python, {place}, given, found)"
        if held:
            yield f"keep({', '.join(held)})"
        yield "if bail != 0:"
        yield f"    {self.given_up('bail')}"
        count = 0
        for name, type in zip(names, types, strict=True):
            yield f"{name} = {_taken(type, count)}"
            count += 1 + (type.rank if isinstance(type, loops.Array) else 0)

    def product(self, s: loops.Product) -> Iterator[str]:
        """A product: as loops where it is small, and by NumPy where it is large."""
        a, b = self.types[s.a], self.types[s.b]
        assert isinstance(a, loops.Array) and isinstance(b, loops.Array)
        rows, inner = (f"{s.a}.shape[0]", f"{s.a}.shape[1]") if a.rank == 2 else ("1", f"{s.a}.shape[0]")
        columns = f"{s.b}.shape[1]" if b.rank == 2 else "1"
        yield f"if times(times({rows}, {inner}), {columns}) > SMALL_PRODUCT:"
        yield from (f"    {line}" for line in self.outside((s.name,), s.place, (s.a, s.b)))
        yield "else:"
        places = [":" if a.rank == 2 else "0", ":" if b.rank == 2 else "0"]
        first, second = s.a if a.rank == 2 else f"{s.a}[None, :]", s.b if b.rank == 2 else f"{s.b}[:, None]"
        made = f"product({first}, {second})[{', '.join(places)}]"
        yield f"    {s.name} = {self.kept(made, self.types[s.name])}"

    # ---- expressions ----

    def expr(self, value: loops.Expr) -> str:
        """An expression, in brackets where it has an operator."""
        match value:
            case loops.Const(number, scalar) if scalar.code != "b1":
                text = repr(float(number) if scalar.is_float else number)
                if scalar.is_float and (number != number or abs(number) == math.inf):
                    text = f"{'-' if number < 0 else ''}np.{'nan' if number != number else 'inf'}"
                text = f"np.float32({text})" if scalar.code == "f4" else text
                return f"({text})" if text.startswith("-") else text
            case loops.Reduce(op, array):
                type = self.types[array]
                assert isinstance(type, loops.Array)
                return f"sum{type.rank}({array})" if op == "sum" else f"{op}_of({array})"
            case _:
                return super().expr(value)

    def apply(self, value: loops.Apply) -> str:
        """An operator or a function."""
        args = [self.expr(arg) for arg in value.args]
        text = self.operation(value, args)
        short = value.type.code == "f4" and value.op not in SIGNS and value.op not in ("neg", "convert", "select")
        return f"np.float32({text})" if short else text

    def operation(self, value: loops.Apply, args: list[str]) -> str:
        """An operator or a function, which may give more digits than the type has."""
        op, real = value.op, value.args[0].type.is_float
        given = ", ".join(args)
        if op in ("floordiv", "mod") and real:
            return f"{op}_of_reals({given})"
        if op in ("and", "or"):
            return f"({args[0]} {op} {args[1]})"
        if op == "xor":
            return f"({args[0]} != {args[1]})"
        if op in SIGNS:
            return f"({args[0]} {SIGNS[op]} {args[1]})"
        if op in _OURS or op in _FITS:
            return f"{op}({given})"
        if op == "convert":
            return f"({args[0]} != 0)" if value.type.code == "b1" else f"{DTYPES[value.type.code]}({given})"
        if op in ("neg", "abs", "not", "select", "to_int", "floor_to_int", "ceil_to_int"):
            return super().apply(value)
        return f"{'np' if op in _OF_NUMPY else 'math'}.{'pow' if op == 'power' else op}({given})"


def _constant(place: loops.Expr) -> int:
    assert isinstance(place, loops.Const)
    return int(place.value)


def _is_unit(type: loops.Type) -> bool:
    return isinstance(type, loops.Array) and type.rank == 1 and type.unit


def _layout(type: loops.Array) -> str:
    return "unit" if _is_unit(type) else "strided"


def _taken(type: loops.Type, place: int) -> str:
    """A result of a function of Python, from words."""
    if isinstance(type, loops.Array):
        extents = "".join(f"found[{place + 1 + axis}], " for axis in range(type.rank)) or "1,"
        made = f"numba.carray(pointer(found[{place}]), ({extents}), {DTYPES[type.code]}).copy()"
        return made if type.rank else f"{made}.reshape(())"
    assert isinstance(type, loops.Scalar)
    word = f"found.view(np.float64)[{place}]" if type.is_float else f"found[{place}]"
    return f"np.float32({word})" if type.code == "f4" else f"({word} != 0)" if type.code == "b1" else word
