"""Prints the loop language as C: one readable file, with the user's names and lines."""

from __future__ import annotations

import builtins
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from tangentx.loops import c_entry, c_threads, interrupts, short_axes, vector_functions
from tangentx.loops import loop_ir as loops
from tangentx.loops.borrowed_views import borrowed
from tangentx.loops.c_support import beginning
from tangentx.loops.simplify import names_read, targets

_TYPES = {"f8": "double", "f4": "float", "i8": "int64_t", "b1": "bool"}
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==",
          "ne": "!=", "and": "&", "or": "|", "xor": "^"}  # fmt: skip
_OURS = ("guarded", "maximum", "minimum", "sign", "ratio_or_zero", "over_root", "log_or_zero", "power_slope")
_OF_CODE = (*_OURS, "floordiv", "mod")
_PLAIN = ("add_fits", "sub_fits", "mul_fits", "isnan", "isinf", "isfinite")


def text_of(program: loops.Program, threads: bool = False) -> str:
    """One file of C: what it needs, its functions, and the entry, which is a function of Python."""
    types = [type for f in program.functions for type in (*dict(f.params).values(), *f.locals.values(), *f.results)]
    names = TypeNames()
    for type in types:
        names.of(type)
    more = (c_threads.SUPPORT, c_threads.OF_REALS) if threads else ()
    parts = [vector_functions.preferred(program), vector_functions.declared(program)]
    parts += [beginning(frozenset(names.codes), *more), "\n".join(names.text)]
    parts.append("\n".join(f"{_head(f, names)};" for f in program.functions))
    given = _handed_over(program.functions[0])
    parts += ["\n".join(Printer(f, names, given, threads).whole()) for f in program.functions]
    return "\n\n".join([*filter(None, parts), c_entry.text_of(program.functions[0], names)]) + "\n"


def _handed_over(entered: loops.Function) -> frozenset[str]:
    """Arrays of the entered function that are made once, and returned: NumPy makes them, and they are not copied."""
    bound = Counter(name for s in loops.statements(entered.body) for name in targets(s))
    returned = [Counter(map(str, s.values)) for s in loops.statements(entered.body) if isinstance(s, loops.Return)]
    alone = {name for name in bound if bound[name] == 1 and max((values[name] for values in returned), default=0) == 1}
    return frozenset(s.name for s in loops.once(entered.body) if isinstance(s, loops.Allocate) and s.name in alone)


def _head(function: loops.Function, names: TypeNames) -> str:
    """How a function is declared."""
    params = [f"{names.of(type)} {name}" for name, type in function.params]
    params += [f"{names.of(type)} *result{k}" for k, type in enumerate(function.results)]
    # Not inlined: all that it computes is done when its caller asks for floating-point events.
    return f"static __attribute__((noinline)) int64_t {function.name}({', '.join([*params, 'interpreter *python'])})"


class TypeNames:
    """The names of types in C, and the text that declares them, with what counts who refers to their values."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.codes: set[str] = set()
        self.found: dict[object, str] = {}

    def of(self, type: loops.Type) -> str:
        """The name of a type; it is declared first where it is new."""
        if isinstance(type, loops.Scalar):
            self.codes.add(type.code)
            return _TYPES[type.code]
        if isinstance(type, loops.Array):
            return self._array(type)
        items = (type.item,) if isinstance(type, loops.List) else type.items
        inside = tuple(map(self.of, items))
        known = builtins.type(type), inside
        if known not in self.found:
            name = f"{'list' if isinstance(type, loops.List) else 'record'}{len(self.found)}"
            self.found[known] = name
            self._declare(name, type, tuple(zip(items, inside, strict=True)))
        return self.found[known]

    def _array(self, type: loops.Array) -> str:
        self.codes.add(type.code)
        name = f"{type.code}_array{type.rank}"
        if name not in self.found:
            self.found[name] = name
            axes = f"n[{max(type.rank, 1)}], s[{max(type.rank, 1)}]"
            self.text += [
                f"typedef struct {{ {_TYPES[type.code]} *data; block *owner; int64_t {axes}; }} {name};",
                f"static inline void retain_{name}({name} x) {{ retain(x.owner); }}",
                f"static inline void release_{name}({name} x) {{ release(x.owner); }}",
            ]
        return name

    def _declare(self, name: str, type: loops.List | loops.Record, items: Sequence[tuple[loops.Type, str]]) -> None:
        if isinstance(type, loops.List):
            fields = f"{items[0][1]} *items; int64_t count, capacity;"
            ended = (
                ""
                if isinstance(items[0][0], loops.Scalar)
                else f"while (x->count) release_{items[0][1]}(x->items[--x->count]); "
            )
            ended += "size_t bytes = (size_t)x->capacity * sizeof *x->items; held_bytes -= bytes; "
            ended += "give_back(x->items, bytes); "
        else:
            fields = " ".join(f"{inside} item{k};" for k, (_, inside) in enumerate(items))
            counted = [(k, inside) for k, (item, inside) in enumerate(items) if not isinstance(item, loops.Scalar)]
            ended = "".join(f"release_{inside}(x->item{k}); " for k, inside in counted)
        ended += "give_back(x, sizeof *x);"
        self.text += [
            f"typedef struct {{ int64_t users; {fields} }} *{name};",
            f"static inline void retain_{name}({name} x) {{ if (x) x->users++; }}",
            f"static void release_{name}({name} x) {{ if (x && --x->users == 0) {{ {ended} }} }}",
        ]


class Printer:
    """Prints one function."""

    def __init__(
        self, function: loops.Function, names: TypeNames, given: frozenset[str], threads: bool = False
    ) -> None:
        self.f, self.names, self.given, self.threads = function, names, given, threads
        self.parts: list[str] = []  # of loops that run on several threads
        self.steps: dict[tuple[str, int], int] = {}  # from row to row of arrays, where they are known
        self.reads = Counter(names_read(function.body))
        self.borrowed = borrowed(function)
        self.in_nest = False  # whether what is written is a nest that stands there several times
        self.types: Mapping[str, loops.Type] = {**dict(function.params), **function.locals}

    def whole(self) -> Iterator[str]:
        """Its lines, after those of parts of it that threads run."""
        lines = list(self.function())
        yield from self.parts
        yield from lines

    def function(self) -> Iterator[str]:
        """Its lines."""
        yield _head(self.f, self.names)
        yield "{"
        yield "    int64_t bail = 0, ticks = 0;"
        for name, type in self.f.locals.items():
            first = "" if name in self.borrowed else " = { 0 }" if isinstance(type, loops.Array) else " = 0"
            yield f"    {self.names.of(type)} {name}{first};"
        kept = self.kept(self.f.body)
        yield from (f"    uint{8 * int(code[1])}_t kept_{code} = 0;" for code in kept)
        body = [line for s in self.f.body for line in self.statement(s)]
        yield from (f"    {line}" for line in body)
        yield "out:"
        yield from (f'    __asm__ volatile ("" : : "r"(kept_{code}));' for code in kept)
        for name, type in self.f.locals.items():
            if not isinstance(type, loops.Scalar) and name not in self.borrowed:
                yield f"    release_{self.names.of(type)}({name});"
        yield "    (void)ticks; (void)python;"
        yield "    return bail;"
        yield "}"

    def kept(self, block: loops.Block) -> list[str]:
        """The representations of numbers that are computed, used or not."""
        return sorted({self.scalar(s.name).code for s in loops.statements(block) if isinstance(s, loops.Keep)})

    def scalar(self, name: str) -> loops.Scalar:
        """The type of a number."""
        type = self.types[name]
        assert isinstance(type, loops.Scalar)
        return type

    def block(self, block: loops.Block) -> Iterator[str]:
        """The lines of a block, indented."""
        for s in block:
            for line in self.statement(s):
                yield f"    {line}"

    def statement(self, s: loops.Statement) -> Iterator[str]:
        """The lines of a statement."""
        match s:
            case loops.Assign(name, value):
                yield f"{name} = {bare(self.expr(value))};"
            case loops.Write(array, places, value):
                yield f"{self.element(array, places)} = {bare(self.expr(value))};"
            case loops.Locate(name, index, extent):
                yield f"{name} = {bare(self.expr(index))};"
                yield f"if ({name} < 0) {name} += {self.expr(extent)};"
                yield f"if ((uint64_t){name} >= (uint64_t){self.expr(extent)}) {_bail(loops.Bail.INDEX)}"
            case loops.Check(loops.Const(False), bail):
                yield _bail(bail)
            case loops.Check(test, bail):
                yield f"if (!{self.expr(test)}) {_bail(bail)}"
            case loops.If(test, body, orelse):
                yield f"if ({bare(self.expr(test))}) {{"
                yield from self.block(body)
                if orelse:
                    yield "} else {"
                    yield from self.block(orelse)
                yield "}"
            case loops.For() if self.threads and c_threads.is_spread(s):
                yield from self.spread(s)
            case loops.For():
                yield from self.loop(s)
            case loops.Loop(body):
                yield "for (;;) {"
                yield f"    {_tick(interrupts.weight(body))}"
                yield from self.block(body)
                yield "}"
            case loops.Break() | loops.Continue():
                yield f"{type(s).__name__.lower()};"
            case loops.Return(values):
                yield from self.returned(values)
            case loops.Keep(name):
                yield f"kept_{self.scalar(name).code} ^= bits_{self.scalar(name).code}({name});"
            case loops.Remark(text):
                yield f"/* {text.lstrip('# ').replace('*/', '* /')} */"
            case _:
                yield from self.reference(s)

    def reference(self, s: loops.Statement) -> Iterator[str]:
        """What makes, reads or writes arrays and containers."""
        match s:
            case loops.Allocate() | loops.View():
                yield from self.array(s)
            case loops.Turn(name, base, axes):
                yield "{"
                yield f"    {self.names.of(self.types[name])} turned = {base};"
                for axis, old in enumerate(axes):
                    yield f"    turned.n[{axis}] = {base}.n[{old}]; turned.s[{axis}] = {base}.s[{old}];"
                counted = "" if name in self.borrowed else f"retain(turned.owner); release({name}.owner); "
                yield f"    {counted}{name} = turned;"
                yield "}"
            case loops.Reshape():
                yield from self.reshaped(s)
            case loops.Bind(name, source):
                yield from self.held(name, source)
            case loops.Call():
                yield from self.call(s)
            case loops.Outside():
                yield from self.outside(s)
            case loops.Product():
                yield from self.product(s)
            case loops.NewList() | loops.NewRecord() | loops.Push() | loops.Pull() | loops.Fetch() | loops.Put():
                yield from self.container(s)
            case _:
                raise AssertionError(s)

    def loop(self, s: loops.For) -> Iterator[str]:
        """A loop over a range, once more for each length of a last axis that is short."""
        known = None if self.in_nest else short_axes.short(s, self.types, self.reads)
        if known is None:
            yield from self.one_loop(s)
            return
        self.in_nest = True
        length = self.expr(known.length)
        for number, count in enumerate(short_axes.LENGTHS):
            self.steps = {(name, self.rank(name) - 2): count for name in known.rows}
            tests = [f"{length} == {count}", *(f"{name}.s[{axis}] == {count}" for name, axis in self.steps)]
            yield f"{'} else ' if number else ''}if ({' && '.join(tests)}) {{"
            yield from (f"    {line}" for line in self.one_loop(known.unrolled(count)))
        self.steps = {}
        yield "} else {"
        yield from (f"    {line}" for line in self.one_loop(s))
        yield "}"
        self.in_nest = False

    def rank(self, name: str) -> int:
        """How many axes an array has."""
        type = self.types[name]
        assert isinstance(type, loops.Array)
        return type.rank

    def one_loop(self, s: loops.For) -> Iterator[str]:
        """A loop over a range."""
        innermost = interrupts.is_innermost(s)
        if s.independent:
            if innermost:
                yield f"ticks += {self.expr(s.stop)};"
                yield '_Pragma("GCC ivdep")'
            yield from self.trips(s, self.expr(s.start), self.expr(s.stop))
        elif interrupts.asks_in_parts(s):
            yield from self.in_parts(s)
        else:
            yield from self.trips(s, self.expr(s.start), self.expr(s.stop), _tick(interrupts.weight(s.body)))

    def trips(self, s: loops.For, start: str, stop: str, first: str = "") -> Iterator[str]:
        """The trips of a loop between bounds; each begins with the line `first`."""
        step, name = int(s.step.value) if isinstance(s.step, loops.Const) else 0, s.name
        if s.backward:
            yield f"for ({name} = {stop} - 1; {name} >= {start}; {name}--) {{"
        elif step > 0:
            yield f"for ({name} = {start}; {name} < {stop}; {f'{name}++' if step == 1 else f'{name} += {step}'}) {{"
        else:
            yield f"for ({name} = {start}; {name} > {stop}; {name} -= {-step}) {{"
        if first:
            yield f"    {first}"
        yield from self.block(s.body)
        yield "}"

    def in_parts(self, s: loops.For) -> Iterator[str]:
        """A loop whose step is one, as two: between parts it is asked whether it is to stop."""
        start, stop = self.expr(s.start), self.expr(s.stop)
        down = s.backward or (isinstance(s.step, loops.Const) and s.step.value < 0)
        low, high = (start, stop) if s.backward else (stop, start) if down else (start, stop)
        if down:
            yield f"for (int64_t part = {high}, behind; part > {low}; part = behind) {{"
            yield f"    behind = part - {low} > TICKS ? part - TICKS : {low};"
            yield "    ticks += part - behind;"
        else:
            yield f"for (int64_t part = {low}, behind; part < {high}; part = behind) {{"
            yield f"    behind = {high} - part > TICKS ? part + TICKS : {high};"
            yield "    ticks += behind - part;"
        yield f"    {_tick(0)}"
        bounds = ("behind", "part") if s.backward else ("part", "behind")
        yield from (f"    {line}" for line in self.trips(s, *bounds))
        yield "}"

    def spread(self, s: loops.For) -> Iterator[str]:
        """A loop whose trips run on several threads: a function of the names that it reads."""
        part = f"{self.f.name}__part{len(self.parts)}"
        given = c_threads.given_names(s, self.types)
        typed = [(name, self.names.of(self.types[name])) for name in given]
        inner = Printer(self.f, self.names, self.given)
        kept = self.kept(s.body)
        lines = [f"static void {part}(void *given, int64_t first, int64_t behind)", "{"]
        lines += [f"    {type} {name} = (({part}_names *)given)->{name};" for name, type in typed]
        lines += [f"    {self.names.of(self.types[name])} {name} = 0;" for name in c_threads.own_names(s)]
        lines += [f"    uint{8 * int(code[1])}_t kept_{code} = 0;" for code in kept]
        lines += ["    int64_t ticks = 0;", '    _Pragma("GCC ivdep")' if len(list(_loops_of(s))) == 1 else ""]
        lines.append(f"    for ({s.name} = first; {s.name} < behind; {s.name}++) {{")
        lines += [f"    {line}" for line in inner.block(s.body)]
        lines += [
            "    }",
            "    (void)ticks;",
            *(f'    __asm__ volatile ("" : : "r"(kept_{code}));' for code in kept),
            "}",
        ]
        fields = " ".join(f"{type} {name};" for name, type in typed)
        head = f"typedef struct {{ {fields or 'char none;'} }} {part}_names;"
        self.parts.append("\n".join((head, *filter(None, lines), "")))
        count = self.expr(s.stop)
        elements = count
        for loop in list(_loops_of(s))[1:]:
            elements = f"times({elements}, {bare(self.expr(loop.stop))})"
        yield "{"
        yield f"    {part}_names names = {{ {', '.join(given) or '0'} }};"
        yield f"    ticks += {count};"
        yield f"    spread({part}, &names, {bare(count)}, {bare(elements)}, 64);"
        yield "}"

    # ---- arrays ----

    def array(self, s: loops.Allocate | loops.View) -> Iterator[str]:
        """A name is given an array."""
        if isinstance(s, loops.View):
            yield from self.view(s)
            return
        extents = [bare(self.expr(extent)) for extent in s.extents]
        if s.name not in self.given:
            yield from self.made(s.name, extents, s.zeros)
            return
        type = self.types[s.name]
        assert isinstance(type, loops.Array)
        yield "{"
        yield f"    const int64_t n[] = {{ {', '.join(extents) or '0'} }};"
        given = f"{'true' if s.zeros else 'false'}, py.{type.code}, sizeof *{s.name}.data, {type.rank}, n"
        yield f"    {s.name}.owner = lent_block(python, {given});"
        yield "}"
        yield from self.laid_out(s.name, extents)

    def made(self, name: str, extents: Sequence[str], zeros: bool) -> Iterator[str]:
        """A new array, row after row."""
        count = "1"
        for extent in extents:
            count = extent if count == "1" else f"times({count}, {extent})"
        known = f"{name}.owner, {count}, sizeof *{name}.data, {'true' if zeros else 'false'}"
        yield f"{name}.owner = other_block({known});"
        yield from self.laid_out(name, extents)

    def laid_out(self, name: str, extents: Sequence[str]) -> Iterator[str]:
        """The elements of a new array lie in memory row after row."""
        yield f"if (!{name}.owner) {_bail(loops.Bail.MEMORY)}"
        yield f"{name}.data = {name}.owner->memory;"
        for axis, extent in enumerate(extents):
            yield f"{name}.n[{axis}] = {extent};"
        for axis in reversed(range(len(extents))):
            behind = f"{name}.s[{axis + 1}] * {name}.n[{axis + 1}]" if axis + 1 < len(extents) else "1"
            yield f"{name}.s[{axis}] = {behind};"

    def reshaped(self, s: loops.Reshape) -> Iterator[str]:
        """The elements of an array under other extents."""
        base, type = self.types[s.base], self.types[s.name]
        assert isinstance(base, loops.Array) and isinstance(type, loops.Array)
        extents = [bare(self.expr(extent)) for extent in s.extents]
        yield f"if (!lies_dense({base.rank}, {s.base}.n, {s.base}.s)) {_bail(loops.Bail.SHAPE)}"
        yield "{"
        yield f"    {self.names.of(type)} other = {{ {s.base}.data, {s.base}.owner }};"
        for axis, extent in enumerate(extents):
            yield f"    other.n[{axis}] = {extent};"
        for axis in reversed(range(type.rank)):
            behind = f"other.s[{axis + 1}] * other.n[{axis + 1}]" if axis + 1 < type.rank else "1"
            yield f"    other.s[{axis}] = {behind};"
        yield f"    retain(other.owner); release({s.name}.owner); {s.name} = other;"
        yield "}"

    def view(self, s: loops.View) -> Iterator[str]:
        """A part of an array."""
        offset: list[str] = []
        lines: list[str] = []
        below = 0
        for part in s.parts:
            axis = len(lines) // 2
            stride = f"{s.base}.s[{below}]"
            match part:
                case loops.NewAxis():
                    lines += [f"{s.name}.n[{axis}] = 1;", f"{s.name}.s[{axis}] = 1;"]
                    continue
                case loops.Pick(place):
                    offset.append(f"{self.expr(place)} * {stride}")
                case loops.Span(start, count, step):
                    offset.append(f"{self.expr(start)} * {stride}")
                    times = "" if step == 1 else f"{step} * "
                    lines += [
                        f"{s.name}.n[{axis}] = {bare(self.expr(count))};",
                        f"{s.name}.s[{axis}] = {times}{stride};",
                    ]
            below += 1
        if s.name in self.borrowed:
            yield f"{s.name}.owner = {s.base}.owner;"
        else:
            yield f"if ({s.name}.owner != {s.base}.owner) {{"
            yield f"    retain({s.base}.owner);"
            yield f"    release({s.name}.owner);"
            yield f"    {s.name}.owner = {s.base}.owner;"
            yield "}"
        yield f"{s.name}.data = {s.base}.data + {' + '.join(offset) or '0'};"
        yield from lines

    def element(self, array: str, places: tuple[loops.Expr, ...]) -> str:
        """An element of an array."""
        type = self.types[array]
        assert isinstance(type, loops.Array)
        terms = []
        for axis, place in enumerate(places):
            last = axis == type.rank - 1 and type.unit
            if place != loops.Const(0, place.type):
                step = self.steps.get((array, axis), f"{array}.s[{axis}]")
                terms.append(self.expr(place) if last else f"{self.expr(place)} * {step}")
        return f"{array}.data[{' + '.join(terms) or '0'}]"

    # ---- what is referred to ----

    def held(self, name: str, source: str) -> Iterator[str]:
        """A name refers to what another one, or an item, refers to."""
        type = self.names.of(self.types[name])
        yield f"{{ {type} held = {source}; retain_{type}(held); release_{type}({name}); {name} = held; }}"

    def call(self, s: loops.Call) -> Iterator[str]:
        """A call of another function."""
        counted = [(name, self.types[name]) for name in s.results if not isinstance(self.types[name], loops.Scalar)]
        args = [v if isinstance(v, str) else bare(self.expr(v)) for v in s.args]
        names = dict(counted)
        args += [f"&found_{name}" if name in names else f"&{name}" for name in s.results]
        yield "{"
        for name, type in counted:
            yield f"    {self.names.of(type)} found_{name};"
        yield f"    if ((bail = {s.function}({', '.join([*args, 'python'])}))) goto out;"
        for name, type in counted:
            yield f"    release_{self.names.of(type)}({name});"
            yield f"    {name} = found_{name};"
        yield "}"

    def outside(self, s: loops.Outside) -> Iterator[str]:
        """A call of a function of Python: words of 64 bits there and back, and a copy of the array that it gives."""
        words: list[str] = []
        for value in s.args:
            type = self.types[value] if isinstance(value, str) else value.type
            if isinstance(type, loops.Array):
                words += [f"(int64_t)(intptr_t){value}.data"]
                words += [f"{value}.{what}[{axis}]" for what in "ns" for axis in range(type.rank)]
            else:
                assert isinstance(type, loops.Scalar) and not isinstance(value, str)
                text = bare(self.expr(value))
                words.append(f"word_of({text})" if type.is_float else text)
        types = [self.types[name] for name in s.names]
        size = sum(1 + (type.rank if isinstance(type, loops.Array) else 0) for type in types)
        yield "{"
        yield f"    int64_t given[] = {{ {', '.join(words) or '0'} }}, found[{max(size, 1)}];"
        yield f"    if ((bail = outside(python, {s.place}, given, found))) goto out;"
        place = 0
        for name, type in zip(s.names, types, strict=True):
            yield from (f"    {line}" for line in self.taken(name, type, place))
            place += 1 + (type.rank if isinstance(type, loops.Array) else 0)
        yield "}"

    def product(self, s: loops.Product) -> Iterator[str]:
        """A product: as loops where it is small, and by NumPy where it is large."""
        a, b = self.types[s.a], self.types[s.b]
        assert isinstance(a, loops.Array) and isinstance(b, loops.Array)
        rows, inner = (f"{s.a}.n[0]", f"{s.a}.n[1]") if a.rank == 2 else ("1", f"{s.a}.n[0]")
        columns = f"{s.b}.n[1]" if b.rank == 2 else "1"
        steps = [f"{s.a}.s[0]", f"{s.a}.s[1]"] if a.rank == 2 else ["0", f"{s.a}.s[0]"]
        steps += [f"{s.b}.s[0]", f"{s.b}.s[1]"] if b.rank == 2 else [f"{s.b}.s[0]", "0"]
        extents = [rows] * (a.rank == 2) + [columns] * (b.rank == 2)
        yield f"if (times(times({rows}, {inner}), {columns}) > SMALL_PRODUCT) {{"
        yield from (f"    {line}" for line in self.outside(loops.Outside((s.name,), s.place, (s.a, s.b))))
        yield "} else {"
        if extents:
            yield from (f"    {line}" for line in self.made(s.name, extents, True))
        else:
            yield f"    {s.name} = 0;"
        into = f"{s.name}.data" if extents else f"&{s.name}"
        yield f"    product_{a.code}({into}, {s.a}.data, {s.b}.data, {rows}, {inner}, {columns}, {', '.join(steps)});"
        yield "}"

    def taken(self, name: str, type: loops.Type, place: int) -> Iterator[str]:
        """A result of a function of Python, from words."""
        if isinstance(type, loops.Array):
            extents = [f"found[{place + 1 + axis}]" for axis in range(type.rank)]
            yield from self.made(name, extents, False)
            size = " * ".join([*extents, f"sizeof *{name}.data"])
            yield f"memcpy({name}.data, (void *)(intptr_t)found[{place}], (size_t){size});"
        else:
            assert isinstance(type, loops.Scalar)
            word = f"found[{place}]"
            yield f"{name} = {f'number_of({word})' if type.is_float else word};"

    def container(
        self, s: loops.NewList | loops.NewRecord | loops.Push | loops.Pull | loops.Fetch | loops.Put
    ) -> Iterator[str]:
        """A list or a record is made, read or written."""
        if isinstance(s, loops.NewList | loops.NewRecord):
            yield f"release_{self.names.of(self.types[s.name])}({s.name});"
            yield f"{s.name} = take_memory(sizeof *{s.name}, true);"
            yield f"if (!{s.name}) {_bail(loops.Bail.MEMORY)}"
            yield f"{s.name}->users = 1;"
            for k, value in enumerate(s.values if isinstance(s, loops.NewRecord) else ()):
                yield from self.put(f"{s.name}->item{k}", value)
            return
        base = s.base if isinstance(s, loops.Fetch | loops.Put) else s.list
        yield f"if (!{base}) {_bail(loops.Bail.RAISED)}"
        match s:
            case loops.Push(value=value):
                yield f"PUSH({base}, {value if isinstance(value, str) else bare(self.expr(value))});"
                if isinstance(value, str):
                    yield f"retain_{self.names.of(self.types[value])}({value});"
            case loops.Pull(name=name):
                yield f"if (!{base}->count) {_bail(loops.Bail.EMPTY)}"
                if not isinstance(self.types[name], loops.Scalar):
                    yield f"release_{self.names.of(self.types[name])}({name});"
                yield f"{name} = {base}->items[--{base}->count];"
            case loops.Fetch(name=name) if isinstance(self.types[name], loops.Scalar):
                yield f"{name} = {self.item(s)};"
            case loops.Fetch(name=name):
                yield from self.held(name, self.item(s))
            case loops.Put(value=value):
                yield from self.put(self.item(s), value)

    def item(self, s: loops.Fetch | loops.Put) -> str:
        """An item of a list or a record."""
        if isinstance(self.types[s.base], loops.List):
            return f"{s.base}->items[{bare(self.expr(s.place))}]"
        assert isinstance(s.place, loops.Const)
        return f"{s.base}->item{s.place.value}"

    def put(self, item: str, value: loops.Expr | str) -> Iterator[str]:
        """An item is given a value."""
        if isinstance(value, str):
            type = self.names.of(self.types[value])
            yield f"{{ {type} old = {item}; retain_{type}({value}); {item} = {value}; release_{type}(old); }}"
        else:
            yield f"{item} = {bare(self.expr(value))};"

    def returned(self, values: tuple[loops.Expr | str, ...]) -> Iterator[str]:
        """The results are handed over."""
        for k, value in enumerate(values):
            if isinstance(value, str):
                yield f"*result{k} = {value};"
                yield f"retain_{self.names.of(self.types[value])}({value});"
            else:
                yield f"*result{k} = {bare(self.expr(value))};"
        yield "goto out;"

    # ---- expressions ----

    def number_type(self, code: str) -> str:
        """The name of a representation."""
        return _TYPES[code]

    def constant(self, value: loops.Const) -> str:
        """A number."""
        return _constant(value)

    def expr(self, value: loops.Expr) -> str:
        """An expression, in brackets where it has an operator."""
        match value:
            case loops.Const():
                return self.constant(value)
            case loops.Local(name):
                return name
            case loops.Extent(array, axis):
                return f"{array}.n[{axis}]"
            case loops.Length(name):
                return f"({name} ? {name}->count : 0)"
            case loops.Read(array, places):
                return self.element(array, places)
            case loops.Reduce(op, array):
                type = self.types[array]
                assert isinstance(type, loops.Array)
                if op == "sum" and type.rank == 1 and not self.threads:
                    return f"row_sum_{type.code}({array}.data, {array}.n[0], {array}.s[0])"
                wide = "spread_" if self.threads and op == "sum" and type.element.is_float else ""
                return f"{wide}{op}_{type.code}({array}.data, {type.rank}, {array}.n, {array}.s)"
            case loops.Apply():
                return self.apply(value)
        raise AssertionError(value)

    def apply(self, value: loops.Apply) -> str:
        """An operator or a function."""
        args = [self.expr(arg) for arg in value.args]
        op, code = value.op, value.args[0].type.code
        if op == "convert":
            return f"(({self.number_type(value.type.code)}){args[0]})"
        if op in _FORMS:
            return _FORMS[op](args, value)
        op = "pow" if op == "power" else op
        if op in _OF_CODE:
            return f"{op}_{code}({', '.join(map(bare, args))})"
        if op in _SIGNS:
            return f"({args[0]} {_SIGNS[op]} {args[1]})"
        if op in _PLAIN:
            return f"{op}({', '.join(map(bare, args))})"
        return f"{op}{'f' if value.type.code == 'f4' else ''}({', '.join(map(bare, args))})"


def _tick(count: int) -> str:
    """Now and then a signal may end the program."""
    counted = {0: "ticks", 1: "++ticks"}.get(count, f"(ticks += {count})")
    return f"if ({counted} > TICKS) {{ ticks = 0; if (stop_asked(python)) BAIL(9); }}"


def _loops_of(s: loops.For) -> Iterator[loops.For]:
    """A loop and those inside of it."""
    yield s
    yield from (inner for inner in loops.statements(s.body) if isinstance(inner, loops.For))


def bare(text: str) -> str:
    """An expression without the brackets around it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return text[1:-1] if place == len(text) - 1 else text
    return text


def _bail(bail: loops.Bail) -> str:
    return f"BAIL({bail.value}); /* {bail.reason} */"


def _constant(value: loops.Const) -> str:
    number, type = value.value, value.type
    if type.code == "b1":
        return "true" if number else "false"
    if type.code == "i8":
        if number == -(2**63):
            return "INT64_MIN"
        return f"({number})" if number < 0 else f"{number}" if abs(number) < 2**31 else f"INT64_C({number})"
    if number != number:
        return "NAN"
    if abs(number) == math.inf:
        return "INFINITY" if number > 0 else "(-INFINITY)"
    text = repr(float(number)) + ("f" if type.code == "f4" else "")
    return f"({text})" if text.startswith("-") else text


def _absolute(args: list[str], value: loops.Apply) -> str:
    name = {"f8": "fabs", "f4": "fabsf"}.get(value.type.code, "llabs")
    return f"{name}({bare(args[0])})"


_FORMS: dict[str, Callable[[list[str], loops.Apply], str]] = {
    "neg": lambda a, v: f"(-{a[0]})",
    "abs": _absolute,
    "not": lambda a, v: f"(!{a[0]})",
    "select": lambda a, v: f"({a[0]} ? {a[1]} : {a[2]})",
    "to_int": lambda a, v: f"((int64_t){a[0]})",
    "floor_to_int": lambda a, v: f"((int64_t)floor({bare(a[0])}))",
    "ceil_to_int": lambda a, v: f"((int64_t)ceil({bare(a[0])}))",
}
