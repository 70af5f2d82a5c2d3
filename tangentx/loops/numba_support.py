"""Run-time support of programs printed for Numba."""

from __future__ import annotations

import re

HEAD = """
import math

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

compiled = numba.njit(nogil=True, error_model="numpy", cache=True)
TICKS = 1 << 22
SMALL_PRODUCT = 1 << 15  # multiplications; more of them are quicker by NumPy
"""

PARTS = """
@intrinsic
def unit(typing, array):
    # The array, whose elements along its one axis are neighbours in memory.
    def generated(context, builder, signature, args):
        context.nrt.incref(builder, signature.return_type, args[0])
        return args[0]

    return array.copy(layout="C")(array), generated


@intrinsic
def strided(typing, array):
    # The array, of which nothing is known of how its elements lie.
    def generated(context, builder, signature, args):
        context.nrt.incref(builder, signature.return_type, args[0])
        return args[0]

    return array.copy(layout="A")(array), generated


@intrinsic
def called(typing, address, a, b, c):
    # What the function at an address gives for words of 64 bits.
    def generated(context, builder, signature, args):
        word = ir.IntType(64)
        function = builder.inttoptr(args[0], ir.FunctionType(word, [word] * 3).as_pointer())
        return builder.call(function, args[1:])

    word = types.int64
    return word(word, word, word, word), generated


@intrinsic
def pointer(typing, address):
    # An address, as `numba.carray` takes it.
    def generated(context, builder, signature, args):
        return builder.inttoptr(args[0], ir.IntType(8).as_pointer())

    return types.voidptr(types.int64), generated


@intrinsic
def mul_overflows(typing, a, b):
    # Whether a product leaves the range of 64 bits.
    def generated(context, builder, signature, args):
        return builder.extract_value(builder.smul_with_overflow(*args), 1)

    return types.boolean(types.int64, types.int64), generated


@intrinsic
def bits(typing, number):
    # The word of a real number that is computed, used or not.
    def generated(context, builder, signature, args):
        word = builder.bitcast(args[0], ir.IntType(number.bitwidth))
        return builder.zext(word, ir.IntType(64)) if number.bitwidth < 64 else word

    return types.uint64(number), generated


@intrinsic
def used(typing, word):
    # A word that seems to be used.
    def generated(context, builder, signature, args):
        builder.asm(ir.FunctionType(ir.VoidType(), [ir.IntType(64)]), "", "r", args, True)
        return context.get_dummy_value()

    return types.void(types.uint64), generated


@compiled
def keep(*held):
    # What is handed to this lives until then.
    pass


@compiled
def stop_asked(python):
    # Whether a handler of signals wants the program to stop; what it raised is kept.
    events = called(python[5], python[7], 0, 0)
    state = called(python[1], 0, 0, 0)
    asked = np.int32(called(python[2], 0, 0, 0)) != 0
    if asked:
        place = python.ctypes.data + 64
        called(python[4], place, place + 8, place + 16)
    called(python[3], np.int64(np.int32(state)), 0, 0)
    called(python[6], np.int64(np.int32(events)), 0, 0)
    keep(python)
    return asked


@compiled
def outside(python, place, given, found):
    # Calls a function of Python. What Python runs meanwhile has floating-point events of its own.
    events = called(python[5], python[7], 0, 0)
    bail = called(python[0], place, given.ctypes.data, found.ctypes.data)
    called(python[6], np.int64(np.int32(events)), 0, 0)
    keep(given, found)
    return bail


@compiled
def add_fits(a, b):
    c = a + b
    return ((a ^ c) & (b ^ c)) >= 0


@compiled
def sub_fits(a, b):
    c = a - b
    return ((a ^ b) & (a ^ c)) >= 0


@compiled
def mul_fits(a, b):
    return not mul_overflows(a, b)


@compiled
def times(a, b):
    # A product of extents, so large that there is no memory for it where it does not fit.
    return 1 << 59 if mul_overflows(a, b) or a * b > 1 << 59 else a * b


@compiled
def mod_of_reals(a, b):
    r = np.fmod(a, b)
    if r == 0.0:
        return math.copysign(0.0, b)
    return r + b if (r < 0.0) != (b < 0.0) else r


@compiled
def floordiv_of_reals(a, b):
    r = np.fmod(a, b)
    q = (a - r) / b
    if r != 0.0 and (b < 0.0) != (r < 0.0):
        q -= 1.0
    if q == 0.0:
        return math.copysign(0.0, a / b)
    whole = np.floor(q)
    return whole + 1.0 if q - whole > 0.5 else whole


@compiled
def maximum(a, b):
    return a if a >= b or a != a else b


@compiled
def minimum(a, b):
    return a if a <= b or a != a else b


@compiled
def sign(a):
    return 1.0 if a > 0.0 else -1.0 if a < 0.0 else 0.0 if a == 0.0 else a


@compiled
def guarded(p, t):
    both = p * t
    return 0.0 if both != both and (p == 0.0 or t == 0.0) else both


@compiled
def ratio_or_zero(a, b):
    return a / b if b != 0.0 else 0.0


@compiled
def over_root(a, b):
    return 0.0 if a == 0.0 and b != b else a / b


@compiled
def log_or_zero(a):
    return 0.0 if a == 0.0 else math.log(a)


@compiled
def power_slope(a, b):
    return 0.0 if b == 0.0 else b * math.pow(a, b - 1.0)


@compiled
def sum_of_few(a, start, count):
    if count < 8:
        total = a.dtype.type(-0.0)
        for i in range(start, start + count):
            total += a[i]
        return total
    r0, r1, r2, r3 = a[start], a[start + 1], a[start + 2], a[start + 3]
    r4, r5, r6, r7 = a[start + 4], a[start + 5], a[start + 6], a[start + 7]
    end = start + count - count % 8
    for i in range(start + 8, end, 8):
        r0 += a[i]
        r1 += a[i + 1]
        r2 += a[i + 2]
        r3 += a[i + 3]
        r4 += a[i + 4]
        r5 += a[i + 5]
        r6 += a[i + 6]
        r7 += a[i + 7]
    total = ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))
    for i in range(end, start + count):
        total += a[i]
    return total


@compiled
def pairwise(a, start, count):
    # A sum in the order in which NumPy adds: of two halves, unless there are few.
    if count <= 128:
        return sum_of_few(a, start, count)
    parts, sums, depth = np.zeros((64, 3), np.int64), np.zeros(64, a.dtype), 0
    parts[0, 0], parts[0, 1] = start, count
    total = a.dtype.type(0.0)
    while depth >= 0:
        start, count, done = parts[depth, 0], parts[depth, 1], parts[depth, 2]
        half = count // 2
        half -= half % 8
        if count <= 128:
            total = sum_of_few(a, start, count)
            depth -= 1
        elif done == 2:
            total = sums[depth] + total
            depth -= 1
        else:
            if done == 1:
                sums[depth] = total
                start, half = start + half, count - half
            parts[depth, 2] += 1
            depth += 1
            parts[depth, 0], parts[depth, 1], parts[depth, 2] = start, half, 0
    return total


@compiled
def flat(a):
    # An array without gaps, as a row.
    return numba.carray(pointer(a.ctypes.data), (a.size,), a.dtype)


@compiled
def is_dense(a):
    if a.size == 0:
        return True
    size = a.itemsize
    for axis in range(a.ndim - 1, -1, -1):
        if a.shape[axis] != 1 and a.strides[axis] != size:
            return False
        size *= a.shape[axis]
    return True


@compiled
def sum0(a):
    return a.dtype.type(0.0) + a[()]


@compiled
def sum1(a):
    return a.dtype.type(0.0) + pairwise(a, 0, a.size) if a.size else a.dtype.type(0.0)


@compiled
def max_of(a):
    rest = a.flat
    best = rest[0]
    for x in rest:
        best = maximum(best, x)
    return best


@compiled
def min_of(a):
    rest = a.flat
    best = rest[0]
    for x in rest:
        best = minimum(best, x)
    return best


@compiled
def product(a, b):
    # The product of two matrices.
    made = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            factor = a[i, k]
            for j in range(b.shape[1]):
                made[i, j] += factor * b[k, j]
    return made
"""

_SUM = """
@compiled
def sum{rank}(a):
    if a.size == 0:
        return a.dtype.type(0.0)
    if is_dense(a):
        return a.dtype.type(0.0) + pairwise(flat(a), 0, a.size)
    total = a.dtype.type(0.0)
    for i in range(a.shape[0]):
        total += sum{less}(a[i])
    return total
"""
PARTS += "".join(f"\n\n{_SUM.format(rank=rank, less=rank - 1)}" for rank in range(2, 33))


NAMES = frozenset(re.findall(r"^(?:def |(?:from \S+ )?import )?(\w+)", HEAD + PARTS, re.M))
"""Names that mean something in a text."""


def needed(text: str) -> str:
    """The functions that a text uses, and those that they use."""
    parts = {m[1]: part for part in PARTS.strip().split("\n\n\n") if (m := re.search(r"^def (\w+)", part, re.M))}
    wanted: set[str] = set()
    todo = [text]
    while todo:
        found = set(re.findall(r"\w+", todo.pop())) & parts.keys() - wanted
        wanted |= found
        todo += (parts[name] for name in found)
    return "\n\n\n".join(part for name, part in parts.items() if name in wanted)
