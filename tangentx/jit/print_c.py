"""The loop language as C: one readable file, with the names and the lines of the user's program."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from tangentx.jit.c_support import beginning
from tangentx.jit.loop_ir import (
    Allocate,
    Apply,
    Array,
    Assign,
    Bail,
    Bind,
    Block,
    Break,
    Check,
    Const,
    Continue,
    Expr,
    Extent,
    For,
    Function,
    If,
    Length,
    Local,
    Locate,
    Loop,
    NewAxis,
    NewTape,
    Pick,
    Program,
    Pull,
    Push,
    Read,
    Reduce,
    Remark,
    Return,
    Scalar,
    Span,
    Statement,
    Tape,
    Type,
    View,
    Write,
    statements,
)
from tangentx.jit.tidy import applied

_TYPES = {"f8": "double", "f4": "float", "i8": "int64_t", "b1": "bool"}
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==",
          "ne": "!=", "and": "&", "or": "|", "xor": "^"}  # fmt: skip
_OURS = ("guarded", "maximum", "minimum", "sign", "ratio_or_zero", "over_root", "log_or_zero", "power_slope")
_OF_CODE = (*_OURS, "floordiv", "mod")
_PLAIN = ("add_fits", "sub_fits", "mul_fits", "isnan", "isinf", "isfinite")
_VECTORS = frozenset("exp log sin cos tan tanh sinh cosh expm1 log1p asin acos atan".split())
_VECTOR = '__attribute__((simd("notinbranch"))) extern'
_HAS_VECTORS = """/* Functions of the C library that take several numbers at once. */
#include <math.h>
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
#define HAS_VECTORS __GLIBC_PREREQ(2, 35)
#endif
#if HAS_VECTORS"""
_COMPARING = "select maximum minimum sign ratio_or_zero over_root log_or_zero power_slope"
_DECIDING = frozenset((*_COMPARING.split(), "floor", "ceil", "trunc", "rint", "mod", "floordiv"))
ENTRY = "tangentx_entry"
FLAGS = {"FE_DIVBYZERO": 1, "FE_INVALID": 2, "FE_OVERFLOW": 4, "FE_UNDERFLOW": 8}
"""Floating-point events as the entry tells them."""


def text_of(program: Program) -> str:
    """One file of C: what it needs, its functions, and the entry that takes and gives words of 64 bits."""
    types = [type for f in program.functions for type in (*dict(f.params).values(), *f.locals.values(), *f.results)]
    codes = {item.code for type in types for item in (type.items if isinstance(type, Tape) else (type,))}
    parts = [_vector_functions(program), beginning(frozenset(codes)), *_structures(types)]
    parts += ["\n".join(_Printer(f).function()) for f in program.functions]
    return "\n\n".join([*parts, "\n".join(_entry(program.functions[0]))]) + "\n"


def _vector_functions(program: Program) -> str:
    """Declarations by which the C library's functions of several numbers at once are used.

    They give equal numbers unlike bits in other lanes. So there are none in a program where a real number is compared.
    """
    found = {value.op: len(value.args) for f in program.functions for value in applied(f.body) if value.op in _VECTORS}
    if not found or any(_decides(value) for f in program.functions for value in applied(f.body)):
        return ""
    lines = [f"{_VECTOR} double {op}({', '.join(['double'] * count)});" for op, count in sorted(found.items())]
    return "\n".join((_HAS_VECTORS, *lines, "#endif\n"))


def _decides(value: Apply) -> bool:
    """Whether an operation depends on more of a real number than about how large it is."""
    real = any(arg.type.is_float for arg in value.args)
    return real and (value.op in _DECIDING or value.type.code in ("b1", "i8"))


def c_type(type: Type) -> str:
    """The name of a type in C."""
    match type:
        case Scalar(code):
            return _TYPES[code]
        case Array(code, rank):
            return f"{code}_array{rank}"
        case Tape((item,)):
            return f"{item.code if isinstance(item, Scalar) else c_type(item)}_tape"
    raise AssertionError(type)


def _structures(types: list[Type]) -> Iterator[str]:
    """The structures of arrays and of tapes."""
    inside = [item for type in types if isinstance(type, Tape) for item in type.items]
    for code, rank in sorted({(t.code, t.rank) for t in (*types, *inside) if isinstance(t, Array)}):
        yield (
            f"typedef struct {{ {_TYPES[code]} *data; block *owner; int64_t n[{max(rank, 1)}], s[{max(rank, 1)}]; }} "
            f"{code}_array{rank};"
        )
    for name, item in sorted({(c_type(t), c_type(t.items[0])) for t in types if isinstance(t, Tape)}):
        yield f"typedef struct {{ {item} *records; int64_t count, capacity; }} {name};"


def _entry(function: Function) -> Iterator[str]:
    """The entry: arguments and results in words, floating-point events as `FLAGS`, the code where it bails out."""
    yield f"int64_t {ENTRY}(const int64_t *given, int64_t *found, const interpreter *functions)"
    yield "{"
    yield "    interpreter python = *functions;"
    yield "    python.state = python.release_lock();"
    yield from _arguments(function)
    results = [f"result{k}" for k in range(len(function.results))]
    for name, result in zip(results, function.results, strict=True):
        yield f"    {c_type(result)} {name};"
        yield f"    memset(&{name}, 0, sizeof {name});"
    names = [name for name, _ in function.params]
    yield "    feclearexcept(FE_ALL_EXCEPT);"
    yield f"    int64_t bail = {function.name}({', '.join([*names, *(f'&{r}' for r in results), '&python'])});"
    yield "    int raised = fetestexcept(FE_ALL_EXCEPT);"
    told = " | ".join(f"(raised & {flag} ? {bit} : 0)" for flag, bit in FLAGS.items())
    yield f"    found[0] = {told};"
    yield from _results(function, results)
    yield "    python.take_lock(python.state);"
    yield "    return bail;"
    yield "}"
    yield ""
    yield "void tangentx_release(int64_t owner) { release((block *)(intptr_t)owner); }"


def _arguments(function: Function) -> Iterator[str]:
    """Arguments as variables: an array lies in memory without gaps, row after row."""
    place = 0
    for name, type in function.params:
        if isinstance(type, Array):
            yield f"    {c_type(type)} {name} = {{ ({_TYPES[type.code]} *)(intptr_t)given[{place}], NULL }};"
            for axis in range(type.rank):
                yield f"    {name}.n[{axis}] = given[{place + 1 + axis}];"
            for axis in reversed(range(type.rank)):
                behind = f"{name}.s[{axis + 1}] * {name}.n[{axis + 1}]" if axis + 1 < type.rank else "1"
                yield f"    {name}.s[{axis}] = {behind};"
            place += 1 + type.rank
            continue
        assert isinstance(type, Scalar)
        yield f"    {c_type(type)} {name};"
        wide = "double" if type.is_float else "int64_t"
        yield f"    {{ {wide} word; memcpy(&word, given + {place}, 8); {name} = word; }}"
        place += 1


def _results(function: Function, results: list[str]) -> Iterator[str]:
    """Results as words."""
    place = 1
    for name, result in zip(results, function.results, strict=True):
        if isinstance(result, Array):
            yield f"    found[{place}] = (int64_t)(intptr_t){name}.data;"
            yield f"    found[{place + 1}] = (int64_t)(intptr_t){name}.owner;"
            for axis in range(result.rank):
                yield f"    found[{place + 2 + axis}] = {name}.n[{axis}];"
            place += 2 + result.rank
        else:
            wide = "double" if result.is_float else "int64_t"
            yield f"    {{ {wide} word = {name}; memcpy(found + {place}, &word, 8); }}"
            place += 1


class _Printer:
    """Prints one function."""

    def __init__(self, function: Function) -> None:
        self.f = function
        self.types: Mapping[str, Type] = {**dict(function.params), **function.locals}

    def function(self) -> Iterator[str]:
        """Its lines."""
        params = [f"{c_type(type)} {name}" for name, type in self.f.params]
        params += [f"{c_type(type)} *result{k}" for k, type in enumerate(self.f.results)]
        params.append("interpreter *python")
        # Not inlined: all that it computes is done when its caller asks for floating-point events.
        yield f"static __attribute__((noinline)) int64_t {self.f.name}({', '.join(params)})"
        yield "{"
        yield "    int64_t bail = 0, ticks = 0;"
        for name, type in self.f.locals.items():
            yield f"    {c_type(type)} {name}{' = 0' if isinstance(type, Scalar) else ' = { 0 }'};"
        body = [line for s in self.f.body for line in self.statement(s)]
        yield from (f"    {line}" for line in body)
        yield "out:"
        for name, type in self.f.locals.items():
            if isinstance(type, Array):
                yield f"    release({name}.owner);"
            elif isinstance(type, Tape):
                if isinstance(type.items[0], Array):
                    yield f"    while ({name}.count) release({name}.records[--{name}.count].owner);"
                yield f"    free({name}.records);"
        yield "    (void)ticks; (void)python;"
        yield "    return bail;"
        yield "}"

    def block(self, block: Block) -> Iterator[str]:
        """The lines of a block, indented."""
        for s in block:
            for line in self.statement(s):
                yield f"    {line}"

    def statement(self, s: Statement) -> Iterator[str]:
        """The lines of a statement."""
        match s:
            case Assign(name, value):
                yield f"{name} = {bare(self.expr(value))};"
            case Write(array, places, value):
                yield f"{self.element(array, places)} = {bare(self.expr(value))};"
            case Locate(name, index, extent):
                yield f"{name} = {bare(self.expr(index))};"
                yield f"if ({name} < 0) {name} += {self.expr(extent)};"
                yield f"if ((uint64_t){name} >= (uint64_t){self.expr(extent)}) {_bail(Bail.INDEX)}"
            case Check(Const(False), bail):
                yield _bail(bail)
            case Check(test, bail):
                yield f"if (!{self.expr(test)}) {_bail(bail)}"
            case Allocate() | View() | Bind():
                yield from self.array(s)
            case NewTape() | Push() | Pull():
                yield from self.tape(s)
            case If(test, body, orelse):
                yield f"if ({bare(self.expr(test))}) {{"
                yield from self.block(body)
                if orelse:
                    yield "} else {"
                    yield from self.block(orelse)
                yield "}"
            case For():
                yield from self.loop(s)
            case Loop(body):
                yield "for (;;) {"
                yield "    if (++ticks > TICKS) { ticks = 0; if (stop_asked(python)) BAIL(9); }"
                yield from self.block(body)
                yield "}"
            case Break() | Continue():
                yield f"{type(s).__name__.lower()};"
            case Return(values):
                yield from self.returned(values)
            case Remark(text):
                yield f"/* {text.lstrip('# ').replace('*/', '* /')} */"
            case _:
                raise AssertionError(s)

    def loop(self, s: For) -> Iterator[str]:
        """A loop over a range."""
        start, stop, name = self.expr(s.start), self.expr(s.stop), s.name
        step = int(s.step.value) if isinstance(s.step, Const) else 0
        inner = any(isinstance(t, For | Loop) for t in statements(s.body))
        if s.independent and not inner:
            yield f"ticks += {stop};"
            yield '_Pragma("GCC ivdep")'
        elif not inner and abs(step) == 1:
            count = f"{stop} - {start}" if step > 0 else f"{start} - {stop}"
            yield f"if ({count} > 0) ticks += {count};"
            yield f"if (ticks > TICKS && {count} > LONGEST) {_bail(Bail.LONG)}"
            yield "if (ticks > TICKS) { ticks = 0; if (stop_asked(python)) BAIL(9); }"
        if s.backward:
            yield f"for ({name} = {stop} - 1; {name} >= {start}; {name}--) {{"
        elif step > 0:
            yield f"for ({name} = {start}; {name} < {stop}; {f'{name}++' if step == 1 else f'{name} += {step}'}) {{"
        else:
            yield f"for ({name} = {start}; {name} > {stop}; {name} -= {-step}) {{"
        if (inner and not s.independent) or abs(step) != 1:
            yield "    if (++ticks > TICKS) { ticks = 0; if (stop_asked(python)) BAIL(9); }"
        yield from self.block(s.body)
        yield "}"

    # ---- arrays ----

    def array(self, s: Allocate | View | Bind) -> Iterator[str]:
        """A name is given an array, or a tape."""
        if isinstance(s, Bind):
            if isinstance(self.types[s.name], Array):
                yield f"retain({s.source}.owner);"
                yield f"release({s.name}.owner);"
            yield f"{s.name} = {s.source};"
            return
        type = self.types[s.name]
        assert isinstance(type, Array)
        if isinstance(s, View):
            yield from self.view(s, type)
            return
        count = "1"
        for extent in s.extents:
            count = self.expr(extent) if count == "1" else f"times({count}, {self.expr(extent)})"
        yield f"release({s.name}.owner);"
        yield f"{s.name}.owner = new_block({count}, sizeof *{s.name}.data, {'true' if s.zeros else 'false'});"
        yield f"if (!{s.name}.owner) {_bail(Bail.MEMORY)}"
        yield f"{s.name}.data = {s.name}.owner->memory;"
        for axis, extent in enumerate(s.extents):
            yield f"{s.name}.n[{axis}] = {bare(self.expr(extent))};"
        for axis in reversed(range(type.rank)):
            behind = f"{s.name}.s[{axis + 1}] * {s.name}.n[{axis + 1}]" if axis + 1 < type.rank else "1"
            yield f"{s.name}.s[{axis}] = {behind};"

    def view(self, s: View, type: Array) -> Iterator[str]:
        """A part of an array."""
        offset: list[str] = []
        lines: list[str] = []
        below = 0
        for part in s.parts:
            axis = len(lines) // 2
            stride = f"{s.base}.s[{below}]"
            match part:
                case NewAxis():
                    lines += [f"{s.name}.n[{axis}] = 1;", f"{s.name}.s[{axis}] = 1;"]
                    continue
                case Pick(place):
                    offset.append(f"{self.expr(place)} * {stride}")
                case Span(start, count, step):
                    offset.append(f"{self.expr(start)} * {stride}")
                    times = "" if step == 1 else f"{step} * "
                    lines += [
                        f"{s.name}.n[{axis}] = {bare(self.expr(count))};",
                        f"{s.name}.s[{axis}] = {times}{stride};",
                    ]
            below += 1
        yield f"retain({s.base}.owner);"
        yield f"release({s.name}.owner);"
        yield f"{s.name}.owner = {s.base}.owner;"
        yield f"{s.name}.data = {s.base}.data + {' + '.join(offset) or '0'};"
        yield from lines

    def element(self, array: str, places: tuple[Expr, ...]) -> str:
        """An element of an array."""
        type = self.types[array]
        assert isinstance(type, Array)
        terms = []
        for axis, place in enumerate(places):
            last = axis == type.rank - 1 and type.unit
            if place != Const(0, place.type):
                terms.append(self.expr(place) if last else f"{self.expr(place)} * {array}.s[{axis}]")
        return f"{array}.data[{' + '.join(terms) or '0'}]"

    def tape(self, s: NewTape | Push | Pull) -> Iterator[str]:
        """A tape is emptied, or a record is put on it or taken off."""
        if isinstance(s, NewTape):
            type = self.types[s.name]
            if isinstance(type, Tape) and isinstance(type.items[0], Array):
                yield f"while ({s.name}.count) release({s.name}.records[--{s.name}.count].owner);"
            yield f"{s.name}.count = 0;"
            return
        if isinstance(s, Push):
            (value,) = s.values
            if isinstance(value, str):
                yield f"PUSH({s.tape}, {value});"
                yield f"retain({value}.owner);"
            else:
                yield f"PUSH({s.tape}, {bare(self.expr(value))});"
            return
        (name,) = s.names
        yield f"if (!{s.tape}.count) {_bail(Bail.EMPTY)}"
        if isinstance(self.types[name], Array):
            yield f"release({name}.owner);"
        yield f"{name} = {s.tape}.records[--{s.tape}.count];"

    def returned(self, values: tuple[Expr | str, ...]) -> Iterator[str]:
        """The results are handed over."""
        for k, value in enumerate(values):
            if isinstance(value, str):
                yield f"*result{k} = {value};"
                yield f"retain({value}.owner);"
            else:
                yield f"*result{k} = {bare(self.expr(value))};"
        yield "goto out;"

    # ---- expressions ----

    def expr(self, value: Expr) -> str:
        """An expression, in brackets where it has an operator."""
        match value:
            case Const():
                return _constant(value)
            case Local(name):
                return name
            case Extent(array, axis):
                return f"{array}.n[{axis}]"
            case Length(tape):
                return f"{tape}.count"
            case Read(array, places):
                return self.element(array, places)
            case Reduce(op, array):
                type = self.types[array]
                assert isinstance(type, Array)
                return f"{op}_{type.code}({array}.data, {type.rank}, {array}.n, {array}.s)"
            case Apply():
                return self.apply(value)
        raise AssertionError(value)

    def apply(self, value: Apply) -> str:
        """An operator or a function."""
        args = [self.expr(arg) for arg in value.args]
        op, code = value.op, value.args[0].type.code
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


def _bail(bail: Bail) -> str:
    return f"BAIL({bail.value}); /* {bail.reason} */"


def _constant(value: Const) -> str:
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


def _absolute(args: list[str], value: Apply) -> str:
    name = {"f8": "fabs", "f4": "fabsf"}.get(value.type.code, "llabs")
    return f"{name}({bare(args[0])})"


_FORMS: dict[str, Callable[[list[str], Apply], str]] = {
    "neg": lambda a, v: f"(-{a[0]})",
    "abs": _absolute,
    "not": lambda a, v: f"(!{a[0]})",
    "convert": lambda a, v: f"(({_TYPES[v.type.code]}){a[0]})",
    "select": lambda a, v: f"({a[0]} ? {a[1]} : {a[2]})",
    "to_int": lambda a, v: f"((int64_t){a[0]})",
    "floor_to_int": lambda a, v: f"((int64_t)floor({bare(a[0])}))",
    "ceil_to_int": lambda a, v: f"((int64_t)ceil({bare(a[0])}))",
}
