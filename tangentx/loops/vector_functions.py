"""Vector math functions: which functions of reals a C program may evaluate on several numbers at once.

The C library's functions of vectors give equal numbers unlike bits in other lanes, and differ from those of one number
in the last bits. So none is used whose result something is decided by: a comparison, a sign, an index, a branch, or a
function of Python.
"""

from __future__ import annotations

from collections.abc import Iterator

from tangentx.loops.interrupts import is_innermost
from tangentx.loops.loop_ir import (
    Apply,
    Assign,
    Bind,
    Call,
    Check,
    Expr,
    Fetch,
    For,
    Function,
    If,
    Locate,
    NewRecord,
    Outside,
    Product,
    Program,
    Pull,
    Push,
    Put,
    Reshape,
    Return,
    Scalar,
    Statement,
    Turn,
    View,
    Write,
    statements,
)
from tangentx.loops.simplify import applied, atoms, expressions

_VECTORS = frozenset(
    "exp log sin cos tan tanh sinh cosh expm1 log1p asin acos atan log2 log10 asinh acosh atanh".split()
)
_DECIDING = frozenset(
    "maximum minimum sign floor ceil trunc rint mod floordiv ratio_or_zero log_or_zero power_slope copysign".split()
)
_VECTOR = '__attribute__((simd("notinbranch"))) extern'
_HAS_VECTORS = """/* Functions of the C library that take several numbers at once. */
#include <math.h>
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
#define HAS_VECTORS __GLIBC_PREREQ(2, 35)
#endif
#if HAS_VECTORS"""
_NARROW = """#ifdef __AVX512F__
#pragma GCC target("prefer-vector-width=256")
#endif"""


def declared(program: Program) -> str:
    """Declarations by which the C library's functions of vectors are used."""
    found = {(v.op, v.type.code) for f in program.functions for v in applied(f.body) if v.op in _VECTORS}
    kept = sorted((op, code) for op, code in found - _Traced(program).deciding if code in ("f8", "f4"))
    if not kept:
        return ""
    lines = [
        f"{_VECTOR} double {op}(double);" if code == "f8" else f"{_VECTOR} float {op}f(float);" for op, code in kept
    ]
    return "\n".join((_HAS_VECTORS, *lines, "#endif\n"))


def preferred(program: Program) -> str:
    """How wide vectors are to be, where a processor has wide ones.

    A wide one that does not begin where a line of the cache does lies in two of them, and what is written there is
    read back late. That costs more than it saves, unless functions are computed for most of what is read.
    """
    innermost = (s for f in program.functions for s in statements(f.body) if isinstance(s, For) and is_innermost(s))
    many = any(sum(v.op in _VECTORS for v in applied(s.body)) > 1 for s in innermost)
    return "" if many else _NARROW


class _Traced:
    """Of which functions the results go into each name, and which of them something is decided by."""

    def __init__(self, program: Program) -> None:
        self.functions = {f.name: f for f in program.functions}
        self.into: dict[tuple[str, str], set[tuple[str, str]]] = {}
        self.deciding: set[tuple[str, str]] = set()
        self.changed = True
        while self.changed:
            self.changed = False
            for function in program.functions:
                for s in statements(function.body):
                    self._statement(function, s)

    def _add(self, function: Function, name: str, found: set[tuple[str, str]]) -> None:
        before = self.into.setdefault((function.name, name), set())
        if not found <= before:
            before |= found
            self.changed = True

    def _of_name(self, function: Function, name: str) -> set[tuple[str, str]]:
        return self.into.get((function.name, name), set())

    def _of(self, function: Function, value: Expr | str) -> set[tuple[str, str]]:
        """The functions whose results a value holds."""
        if isinstance(value, str):
            return self._of_name(function, value)
        if not isinstance(value, Apply):
            return set().union(*(self._of_name(function, name) for name in atoms(value)))
        inside: set[tuple[str, str]] = set().union(*(self._of(function, arg) for arg in value.args))
        if value.op in _VECTORS:
            inside = inside | {(value.op, value.type.code)}
        if _decides(value):
            self.deciding |= inside
            return set()
        return inside

    def _statement(self, function: Function, s: Statement) -> None:
        if isinstance(s, Check):  # the generated Python decides where one fails
            return
        found = [self._of(function, value) for value in expressions(s)]
        match s:
            case Assign(name, value):
                self._add(function, name, self._of(function, value))
            case Write(array=name, value=value):
                self._add(function, name, self._of(function, value))
            case View(name, other) | Turn(name, other) | Reshape(name, other) | Bind(name, other):
                self._alike(function, name, other)
            case Push(name, value) | Put(name, _, value):
                self._held(function, name, value)
            case Pull(other, name) | Fetch(name, other):
                self._alike(function, name, other)
            case NewRecord(name, values):
                for value in values:
                    self._held(function, name, value)
            case Call():
                self._call(function, s)
            case Outside(args=args):
                self.deciding.update(*(self._of(function, value) for value in args))
            case Product(name, a, b):
                self._add(function, name, self._of(function, a) | self._of(function, b))
            case If() | Locate():
                self.deciding.update(*found)

    def _alike(self, function: Function, a: str, b: str) -> None:
        """Two names of one memory."""
        both = self._of_name(function, a) | self._of_name(function, b)
        self._add(function, a, both)
        self._add(function, b, both)

    def _held(self, function: Function, name: str, value: Expr | str) -> None:
        if isinstance(value, str):
            self._alike(function, name, value)
        else:
            self._add(function, name, self._of(function, value))

    def _call(self, function: Function, s: Call) -> None:
        called = self.functions[s.function]
        for (name, type), value in zip(called.params, s.args, strict=True):
            self._add(called, name, self._of(function, value))
            if isinstance(value, str) and not isinstance(type, Scalar):
                self._add(function, value, self._of_name(called, name))
        for given in _returns(called):
            for name, value in zip(s.results, given.values, strict=True):
                self._add(function, name, self._of(called, value))
                if isinstance(value, str):
                    self._add(called, value, self._of_name(function, name))


def _returns(function: Function) -> Iterator[Return]:
    return (s for s in statements(function.body) if isinstance(s, Return))


def _decides(value: Apply) -> bool:
    """Whether an operation depends on more of a real number than about how large it is."""
    real = any(arg.type.is_float for arg in value.args)
    return real and (value.op in _DECIDING or value.type.code in ("b1", "i8"))
