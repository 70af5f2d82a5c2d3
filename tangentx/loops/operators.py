"""Scalar semantics: operations of the IR as expressions of the loop language, by type.

An operation of arrays that goes element by element has the same meaning for each of its elements.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

import numpy as np

from tangentx import arrays
from tangentx.loops.loop_ir import BOOL, FLOAT, INT, Apply, Bail, Const, Expr, Owner, Scalar

EXACT = 2**53
"""Whole numbers up to this are reals of 64 bits without rounding."""
LARGE = 2**62


class Refused(Exception):
    """The loop language has no meaning for a part of the program; `reason` says which, in a user's words."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class RefusedLate(Exception):
    """What was taken already turns out to have no meaning: nothing else can be done in its place."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Checks(Protocol):
    """Where the checks of an operation go, and what is known of its operands."""

    def check(self, test: Expr, bail: Bail) -> None:
        """Bails out where `test` does not hold."""

    def bound(self, value: Expr) -> int | None:
        """The largest absolute value that a whole number may have, where one is known."""


class Trial:
    """Checks that go nowhere, and nothing is known: to find out whether a rule takes operands of some types."""

    def check(self, test: Expr, bail: Bail) -> None:
        """Nothing."""

    def bound(self, value: Expr) -> int | None:
        """None is known."""
        return None


Rule: TypeAlias = Callable[[Checks, Sequence[Expr], Scalar], Expr]


def converted(value: Expr, code: str) -> Expr:
    """The value in another representation, rounded as NumPy and Python round."""
    if value.type.code == code:
        return value
    if value.type.is_float and code in ("i8", "b1"):
        raise Refused("a real number is used as a whole one")
    if isinstance(value, Const):
        kind = {"f": float, "i": int, "b": bool}[code[0]]
        if code != "f4":
            return Const(kind(value.value), Scalar(code, value.type.owner))
    return Apply("convert", (value,), Scalar(code, value.type.owner))


def apply(fn: Callable[..., Any], checks: Checks, args: Sequence[Expr], result: Scalar) -> Expr:
    """The expression for ``fn(*args)``, whose result is of the type `result`. Raises Refused."""
    try:
        rule = RULES.get(fn)
    except TypeError:
        rule = None
    if rule is None:
        raise Refused(f"`{getattr(fn, '__name__', fn)}` has no form in the loop language")
    return rule(checks, args, replace(result, owner=_owner(fn, args, result.owner)))


def _owner(fn: Callable[..., Any], args: Sequence[Expr], known: Owner) -> Owner:
    """Whose number ``fn(*args)`` is, where the variable that it goes to may hold both."""
    if known is not Owner.EITHER:
        return known
    home = getattr(fn, "__module__", None)
    if isinstance(fn, np.ufunc) or home == "numpy":
        return Owner.NUMPY
    if home == "math" or fn in (builtins.float, builtins.int, builtins.bool):
        return Owner.PYTHON
    owners = {x.type.owner for x in args}
    if home == "_operator" and Owner.NUMPY in owners:
        return Owner.NUMPY
    return Owner.PYTHON if owners == {Owner.PYTHON} else known


def is_scalar_operation(fn: Callable[..., Any]) -> bool:
    """Whether the loop language knows what `fn` does with scalars."""
    try:
        return fn in RULES
    except TypeError:
        return False


def _compare(op: str, a: Expr, b: Expr) -> Apply:
    return Apply(op, (a, b), BOOL)


def demand_exact(checks: Checks, value: Expr) -> None:
    """Bails out of whole numbers that are rounded where they become reals."""
    bound = checks.bound(value)
    if value.type.code == "i8" and (bound is None or bound > EXACT):
        checks.check(_compare("le", Apply("abs", (value,), INT), Const(EXACT, INT)), Bail.INTEGER)


def _arithmetic(op: str) -> Rule:
    def rule(checks: Checks, args: Sequence[Expr], result: Scalar) -> Expr:
        if result.code == "b1":
            raise Refused("arithmetic of booleans")
        a, b = (converted(x, result.code) for x in args)
        if result.code == "i8" and (bound := _bound_of(op, checks.bound(a), checks.bound(b))) is None:
            checks.check(Apply(f"{op}_fits", (a, b), BOOL), Bail.INTEGER)
        elif result.code == "i8":
            assert bound is not None
        return Apply(op, (a, b), result)

    return rule


def _bound_of(op: str, a: int | None, b: int | None) -> int | None:
    """The bound of a sum, difference or product, where it fits in 64 bits."""
    if a is None or b is None:
        return None
    found = a * b if op == "mul" else a + b
    return found if found < LARGE else None


def bound(value: Expr, known: Callable[[Expr], int | None]) -> int | None:
    """The largest absolute value of a whole number; `known` answers for names and extents."""
    if isinstance(value, Const):
        return abs(int(value.value)) if value.type.code in ("i8", "b1") else None
    if isinstance(value, Apply) and value.type.code == "i8":
        inside = [bound(arg, known) for arg in value.args]
        if value.op in ("add", "sub", "mul"):
            return _bound_of(value.op, inside[0], inside[1])
        if value.op in ("neg", "abs", "convert"):
            return inside[0]
        if value.op == "mod":
            return inside[1]
        return LARGE if value.op in ("to_int", "round_to_int", "floor_to_int", "ceil_to_int") else None
    return 1 if value.type.code == "b1" else known(value)


def _true_division(checks: Checks, args: Sequence[Expr], result: Scalar) -> Expr:
    if not result.is_float:
        raise Refused("a division whose result is no real number")
    if all(x.type.code == "i8" for x in args):
        for x in args:
            demand_exact(checks, x)
    a, b = (converted(x, result.code) for x in args)
    if result.owner is not Owner.NUMPY:
        checks.check(_compare("ne", b, Const(0.0, FLOAT)), Bail.ZERO_DIVISION)
    return Apply("div", (a, b), result)


def _floor_division(op: str) -> Rule:
    def rule(checks: Checks, args: Sequence[Expr], result: Scalar) -> Expr:
        if result.code not in ("i8", "f8"):
            raise Refused(f"`{op}` of {result.code}")
        a, b = (converted(x, result.code) for x in args)
        checks.check(_compare("ne", b, Const(0 if result.code == "i8" else 0.0, b.type)), Bail.ZERO_DIVISION)
        known = checks.bound(a)
        if result.code == "i8" and (known is None or known >= LARGE):
            checks.check(_compare("ne", b, Const(-1, INT)), Bail.INTEGER)
        return Apply(op, (a, b), result)

    return rule


def _power(checks: Checks, args: Sequence[Expr], result: Scalar) -> Expr:
    base, exponent = args
    if result.is_float:
        return Apply("pow", (converted(base, result.code), converted(exponent, result.code)), result)
    if result.code == "i8" and isinstance(exponent, Const) and exponent.value in (1, 2):
        return base if exponent.value == 1 else _arithmetic("mul")(checks, (base, base), result)
    raise Refused("a power of whole numbers")


def _array_power(checks: Checks, args: Sequence[Expr], result: Scalar) -> Expr:
    """As NumPy has it for arrays, which knows some exponents."""
    base, exponent = args
    if isinstance(exponent, Const) and base.type.code == result.code and result.is_float:
        if exponent.value == 2:
            return Apply("mul", (base, base), result)
        if exponent.value == 0.5:
            return Apply("sqrt", (base,), result)
        if exponent.value == -1:
            return Apply("div", (converted(Const(1.0, FLOAT), result.code), base), result)
    return _array_exponent(checks, args, result)


def _array_exponent(checks: Checks, args: Sequence[Expr], result: Scalar) -> Expr:
    """NumPy's powers of arrays are not to the bit those of its numbers."""
    found = _power(checks, args, result)
    return replace(found, op="power") if isinstance(found, Apply) and found.op == "pow" else found


def common_code(a: Scalar, b: Scalar) -> str:
    """The representation in which NumPy and Python compare two numbers: Python's reals are NumPy's shorter ones."""
    if a.code == b.code:
        return a.code
    if not (a.is_float or b.is_float):
        return "i8"
    short, other = (a, b) if a.code == "f4" else (b, a)
    if short.code == "f4":
        if other.owner is Owner.EITHER or (other.code == "f8" and other.owner is Owner.NUMPY):
            return "f8"
        return "f4" if other.owner is Owner.PYTHON or other.code == "b1" else "f8"
    return "f8"


def _comparison(op: str) -> Rule:
    def rule(checks: Checks, args: Sequence[Expr], result: Scalar) -> Expr:
        a, b = args
        if "f4" in (a.type.code, b.type.code) and Owner.EITHER in (a.type.owner, b.type.owner):
            raise Refused("a comparison of single precision with what may be Python's number or NumPy's")
        code = common_code(a.type, b.type)
        for x in args:
            if code != "i8":
                demand_exact(checks, x)
        return Apply(op, (converted(a, code), converted(b, code)), result)

    return rule


def _negation(checks: Checks, args: Sequence[Expr], result: Scalar) -> Expr:
    x = converted(args[0], result.code)
    if result.code == "b1":
        raise Refused("the negative of a boolean")
    if result.code == "i8" and checks.bound(x) is None:
        checks.check(_compare("ne", x, Const(-(2**63), INT)), Bail.INTEGER)
    return Apply("neg", (x,), result)


def _absolute(checks: Checks, args: Sequence[Expr], result: Scalar) -> Expr:
    x = converted(args[0], result.code)
    if result.code == "i8" and checks.bound(x) is None:
        checks.check(_compare("ne", x, Const(-(2**63), INT)), Bail.INTEGER)
    return Apply("abs", (x,), result)


def _same(checks: Checks, args: Sequence[Expr], result: Scalar) -> Expr:
    return converted(args[0], result.code)


def truth(value: Expr) -> Expr:
    """Whether a number counts as true."""
    if value.type.code == "b1":
        return value
    return _compare("ne", value, converted(Const(0, INT), value.type.code))


def negated(value: Expr) -> Expr:
    """Whether a number counts as false."""
    return Apply("not", (truth(value),), BOOL)


def _boolean(op: str) -> Rule:
    def rule(checks: Checks, args: Sequence[Expr], result: Scalar) -> Expr:
        if result.code != "b1" or any(x.type.code != "b1" for x in args):
            raise Refused("operators of bits")
        return Apply(op, tuple(args), result)

    return rule


def _inverted(checks: Checks, args: Sequence[Expr], result: Scalar) -> Expr:
    """All bits the other way; of a boolean of NumPy's, whether it is false."""
    (x,) = args
    if result.code == "b1":
        return negated(x)
    if result.code != "i8":
        raise Refused("operators of bits")
    return Apply("sub", (Const(-1, INT), converted(x, "i8")), result)


def _logical(op: str) -> Rule:
    return lambda checks, args, result: Apply(op, tuple(map(truth, args)), result)


def _function(op: str, count: int = 1) -> Rule:
    """A function of reals."""

    def rule(checks: Checks, args: Sequence[Expr], result: Scalar) -> Expr:
        if len(args) != count or not result.is_float:
            raise Refused(f"`{op}` with these arguments")
        return Apply(op, tuple(converted(x, result.code) for x in args), result)

    return rule


def _to_int(op: str) -> Rule:
    def rule(checks: Checks, args: Sequence[Expr], result: Scalar) -> Expr:
        (x,) = args
        if result.code != "i8":
            raise Refused(f"`{op}` whose result is no whole number")
        if not x.type.is_float:
            return converted(x, "i8")
        x = converted(x, "f8")
        checks.check(_compare("lt", Apply("abs", (x,), FLOAT), Const(float(LARGE), FLOAT)), Bail.INTEGER)
        return Apply(op, (x,), result)

    return rule


def _extreme(op: str) -> Rule:
    """Python's `max` or `min` of several numbers: the first of those that none exceeds."""

    def rule(checks: Checks, args: Sequence[Expr], result: Scalar) -> Expr:
        if len(args) < 2 or any(x.type.code != result.code for x in args):
            raise Refused("`max` or `min` of these arguments")
        best = args[0]
        for x in args[1:]:
            best = Apply("select", (_compare(op, x, best), x, best), result)
        return best

    return rule


def _where(checks: Checks, args: Sequence[Expr], result: Scalar) -> Expr:
    if len(args) != 3:
        raise Refused("`where` of one argument")
    test, a, b = args
    return Apply("select", (truth(test), converted(a, result.code), converted(b, result.code)), result)


def _clip(checks: Checks, args: Sequence[Expr], result: Scalar) -> Expr:
    x, low, high = args if len(args) == 3 else (None, None, None)
    if x is None or low is None or high is None or not result.is_float:
        raise Refused("`clip` with these arguments")
    over = Apply("maximum", (converted(x, result.code), converted(low, result.code)), result)
    return Apply("minimum", (over, converted(high, result.code)), result)


def _square(checks: Checks, args: Sequence[Expr], result: Scalar) -> Expr:
    return _arithmetic("mul")(checks, (args[0], args[0]), result)


def _reciprocal(checks: Checks, args: Sequence[Expr], result: Scalar) -> Expr:
    if not result.is_float:
        raise Refused("the reciprocal of a whole number")
    return Apply("div", (converted(Const(1.0, FLOAT), result.code), converted(args[0], result.code)), result)


def _share(checks: Checks, args: Sequence[Expr], result: Scalar) -> Expr:
    """The weight of a number in the larger or the smaller of two: 1, 0, or a half where they tie."""
    x, y, best = args
    if not result.is_float or any(not z.type.is_float or z.type.code != best.type.code for z in args):
        raise Refused("`share` of these numbers")
    neither = _compare("ne", best, best)
    mine, other = (
        Apply("or", (_compare("eq", z, best), Apply("and", (_compare("ne", z, z), neither), BOOL)), BOOL)
        for z in (x, y)
    )
    one, half, zero = (converted(Const(value, FLOAT), result.code) for value in (1.0, 0.5, 0.0))
    both = Apply("select", (Apply("and", (mine, other), BOOL), half, one), result)
    return Apply("select", (mine, both, zero), result)


def _tested(op: str) -> Rule:
    """A test of one real number."""

    def rule(checks: Checks, args: Sequence[Expr], result: Scalar) -> Expr:
        (x,) = args
        if not x.type.is_float:
            raise Refused(f"`{op}` of a whole number")
        return Apply(op, (x,), result)

    return rule


_FUNCTIONS = "sqrt exp log sin cos tan tanh sinh cosh log1p expm1 log2 log10".split()
_RENAMED = {
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
}

FUNCTIONS = (*_FUNCTIONS, *_RENAMED.values(), "atan2", "hypot", "pow", "floor", "ceil", "trunc", "rint", "fmod")
"""Functions of reals that C has under these names."""
RULES: dict[Any, Rule] = {
    operator.add: _arithmetic("add"),
    operator.sub: _arithmetic("sub"),
    operator.mul: _arithmetic("mul"),
    np.add: _arithmetic("add"),
    np.subtract: _arithmetic("sub"),
    np.multiply: _arithmetic("mul"),
    operator.truediv: _true_division,
    np.divide: _true_division,
    operator.floordiv: _floor_division("floordiv"),
    operator.mod: _floor_division("mod"),
    operator.pow: _power,
    np.power: _power,
    builtins.pow: _power,
    math.pow: _function("pow", 2),
    operator.neg: _negation,
    np.negative: _negation,
    operator.pos: _same,
    np.positive: _same,
    builtins.abs: _absolute,
    operator.abs: _absolute,
    np.absolute: _absolute,
    np.fabs: _absolute,
    math.fabs: _absolute,
    builtins.float: _same,
    np.float64: _same,
    np.float32: _same,
    np.conjugate: _same,
    np.real: _same,
    arrays.alike: _same,
    arrays.clone: _same,
    operator.not_: lambda checks, args, result: negated(args[0]),
    builtins.bool: lambda checks, args, result: truth(args[0]),
    np.logical_not: lambda checks, args, result: negated(args[0]),
    operator.and_: _boolean("and"),
    operator.or_: _boolean("or"),
    operator.xor: _boolean("xor"),
    operator.invert: _inverted,
    np.bitwise_and: _boolean("and"),
    np.bitwise_or: _boolean("or"),
    np.bitwise_xor: _boolean("xor"),
    np.invert: _inverted,
    np.logical_and: _logical("and"),
    np.logical_or: _logical("or"),
    np.logical_xor: _logical("xor"),
    builtins.int: _to_int("to_int"),
    math.floor: _to_int("floor_to_int"),
    math.ceil: _to_int("ceil_to_int"),
    math.trunc: _to_int("to_int"),
    np.floor: _function("floor"),
    np.ceil: _function("ceil"),
    np.trunc: _function("trunc"),
    np.rint: _function("rint"),
    builtins.max: _extreme("gt"),
    builtins.min: _extreme("lt"),
    np.maximum: _function("maximum", 2),
    np.minimum: _function("minimum", 2),
    np.where: _where,
    np.clip: _clip,
    np.square: _square,
    np.reciprocal: _reciprocal,
    np.sign: _function("sign"),
    np.arctan2: _function("atan2", 2),
    math.atan2: _function("atan2", 2),
    np.hypot: _function("hypot", 2),
    math.hypot: _function("hypot", 2),
    np.copysign: _function("copysign", 2),
    math.copysign: _function("copysign", 2),
    np.isnan: _tested("isnan"),
    np.isfinite: _tested("isfinite"),
    np.isinf: _tested("isinf"),
    math.isnan: _tested("isnan"),
    math.isfinite: _tested("isfinite"),
    math.isinf: _tested("isinf"),
    arrays.guarded: _function("guarded", 2),
    arrays.quiet_sum: _arithmetic("add"),
    arrays.quiet_difference: _arithmetic("sub"),
    arrays.ratio: _function("div", 2),
    arrays.quotient: _function("div", 2),
    arrays.over_root: _function("over_root", 2),
    arrays.ratio_or_zero: _function("ratio_or_zero", 2),
    arrays.length_of: _function("sqrt"),
    arrays.log_or_zero: _function("log_or_zero"),
    arrays.share: _share,
    arrays.power_slope: _function("power_slope", 2),
    arrays.real_power: _power,
    **{getattr(math, name): _function(name) for name in (*_FUNCTIONS, *_RENAMED.values())},
    **{getattr(np, name): _function(name) for name in _FUNCTIONS},
    **{getattr(np, name): _function(op) for name, op in _RENAMED.items()},
    **{getattr(operator, op): _comparison(op) for op in ("lt", "le", "gt", "ge", "eq", "ne")},
    np.less: _comparison("lt"),
    np.less_equal: _comparison("le"),
    np.greater: _comparison("gt"),
    np.greater_equal: _comparison("ge"),
    np.equal: _comparison("eq"),
    np.not_equal: _comparison("ne"),
}
OF_ARRAYS: dict[Any, Rule] = {operator.pow: _array_power, np.power: _array_exponent}
"""What arrays have another way for than scalars."""
