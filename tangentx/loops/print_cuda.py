"""Nests of independent loops as kernels of CUDA: each loop goes on from thread to thread, from block to block.

Arrays are given as the address of their first element and what lies from element to element along each axis; those
that are written lie row after row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tangentx.loops import c_support, c_threads
from tangentx.loops import loop_ir as loops
from tangentx.loops.operators import FUNCTIONS
from tangentx.loops.print_c import Printer, TypeNames, bare

_TYPES = {"f8": "double", "f4": "float", "i8": "long long", "b1": "bool"}
_DIRECTIONS = "xyz"
"""Of the grid, from the innermost loop outwards; a loop further out is run by each thread."""
WIDTH = 100
WORDS = frozenset(
    (
        *"""
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class compl
    concept const const_cast consteval constexpr constinit continue co_await co_return co_yield decltype default delete
    do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable
    namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
    requires restrict return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename typeof union unsigned using virtual void volatile wchar_t while
    xor xor_eq blockIdx blockDim threadIdx gridDim warpSize clock norm fma abs fabs fabsf llabs isnan isinf isfinite
    min max round y0 y1 yn j0 j1 jn gamma signbit
""".split(),
        *c_support.element_names(),
        *(f"{name}{suffix}" for name in FUNCTIONS for suffix in ("", "f")),
    )
)
"""Names that mean something in a source of CUDA."""


def text_of(function: loops.Function) -> str:
    """The source of one kernel, with the functions that it needs.

    The body is one nest of independent loops over whole axes; without axes, what one thread does.
    """
    printed = "\n".join(_Kernel(function).lines())
    needed = c_support.of_elements(set(re.findall(r"\w+", printed)))
    functions = [text.replace("static inline", "static __device__ inline", 1) for text in needed]
    return "\n".join((*functions, *[""] * bool(functions), printed, ""))


class _Kernel(Printer):
    """Prints one kernel."""

    def __init__(self, function: loops.Function) -> None:
        super().__init__(function, TypeNames(), frozenset())
        self.written = {s.array for s in loops.statements(function.body) if isinstance(s, loops.Write)}
        self.nest = [s for s in loops.statements(function.body) if isinstance(s, loops.For)]

    def lines(self) -> Iterator[str]:
        """Its lines."""
        params = [f"long long n{axis}" for axis in range(len(self.nest))]
        for name, type in self.f.params:
            params += self.parameter(name, type)
        yield f'extern "C" __global__ void {self.f.name}('
        yield from _filled(params)
        yield "{"
        yield from self.block(self.f.body)
        yield "}"

    def parameter(self, name: str, type: loops.Type) -> Iterator[str]:
        """How an array or a number is given."""
        assert isinstance(type, loops.Array | loops.Scalar)
        if isinstance(type, loops.Scalar):
            yield f"{self.number_type(type.code)} {name}"
        elif name in self.written:
            yield f"{self.number_type(type.code)} *{name}"
        else:
            yield f"const {self.number_type(type.code)} *{name}"
            yield from (f"long long {step_of(name, axis)}" for axis in range(type.rank))

    def statement(self, s: loops.Statement) -> Iterator[str]:
        """The lines of a statement."""
        if isinstance(s, loops.Assign):
            assert isinstance(s.value.type, loops.Scalar)
            yield f"const {self.number_type(self.scalar(s.name).code)} {s.name} = {bare(self.expr(s.value))};"
        elif isinstance(s, loops.For):
            yield from self.spread(s)
        else:
            yield from super().statement(s)

    def spread(self, s: loops.For) -> Iterator[str]:
        """A loop whose trips are those of many threads."""
        assert c_threads.is_spread(s)
        place = len(self.nest) - 1 - self.nest.index(s)
        name, end = s.name, f"n{self.nest.index(s)}"
        if place < len(_DIRECTIONS):
            d = _DIRECTIONS[place]
            yield f"for (long long {name} = (long long)blockIdx.{d} * blockDim.{d} + threadIdx.{d}; {name} < {end};"
            yield f"     {name} += (long long)gridDim.{d} * blockDim.{d}) {{"
        else:
            yield f"for (long long {name} = 0; {name} < {end}; {name}++) {{"
        yield from self.block(s.body)
        yield "}"

    def element(self, array: str, places: tuple[loops.Expr, ...]) -> str:
        """An element of an array."""
        if array not in self.written:
            terms = [f"{bare(self.expr(place))} * {step_of(array, axis)}" for axis, place in enumerate(places)]
            return f"{array}[{' + '.join(terms) or '0'}]"
        at = ""
        for axis, place in enumerate(places):
            text = bare(self.expr(place))
            at = f"{f'({at})' if ' + ' in at else at} * n{axis} + {text}" if at else text
        return f"{array}[{at or '0'}]"

    def constant(self, value: loops.Const) -> str:
        """A number."""
        number, type = value.value, value.type
        if type.is_float and (number != number or abs(number) == float("inf")):
            bits = "0x7fffffff" if number != number else "0x7f800000" if number > 0 else "0xff800000"
            return f"__int_as_float({bits})"
        if type.code == "i8" and abs(number) >= 2**31:
            return "(-9223372036854775807LL - 1)" if number == -(2**63) else f"({number}LL)"
        return super().constant(value)

    def number_type(self, code: str) -> str:
        """The name of a representation."""
        return _TYPES[code]


def step_of(name: str, axis: int) -> str:
    """What lies from element to element of an array along an axis, as a parameter."""
    return f"{name}_step{axis}"


def _filled(params: list[str]) -> Iterator[str]:
    """Parameters in lines, and the bracket behind them."""
    line = "   "
    for place, param in enumerate(params):
        text = f" {param}{',' if place + 1 < len(params) else ')'}"
        if len(line) + len(text) > WIDTH:
            yield line
            line = "   "
        line += text
    yield line if params else f"{line} )"
