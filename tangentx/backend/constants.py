"""Constants as expressions that evaluate to exactly the same value."""

from __future__ import annotations

import ast
import cmath
import math

from tangentx.backend.spelling import Scope, chained
from tangentx.ir.nodes import UNBOUND

_HUGE = 10_000  # bits; Python refuses to read or write much longer decimal numbers


def constant(value: object, scope: Scope) -> ast.expr:
    """An expression for `value`, of its type, to the last bit and the sign of zero."""
    if value is UNBOUND:
        return ast.Constant(None)
    if type(value) is float:
        return _real(value, scope)
    if type(value) is complex:
        return _complex(value, scope)
    if type(value) is int:
        return _integer(value, scope)
    if value is None or value is Ellipsis or type(value) in (bool, str, bytes):
        return ast.Constant(value)  # type: ignore[arg-type]
    if type(value) is tuple:
        return ast.Tuple([constant(item, scope) for item in value], ast.Load())
    return scope.spelled(value)


def _integer(value: int, scope: Scope) -> ast.expr:
    if value.bit_length() > _HUGE:
        return scope.held("big", value)
    return ast.UnaryOp(ast.USub(), ast.Constant(-value)) if value < 0 else ast.Constant(value)


def _real(value: float, scope: Scope) -> ast.expr:
    if math.isnan(value):
        return chained(scope.module("numpy"), ("nan",))
    negative = math.copysign(1.0, value) < 0.0
    size = abs(value)
    tree = chained(scope.module("numpy"), ("inf",)) if math.isinf(size) else ast.Constant(size)
    return ast.UnaryOp(ast.USub(), tree) if negative else tree


def _complex(value: complex, scope: Scope) -> ast.expr:
    plain = cmath.isfinite(value)
    if plain and str(value.real) == "0.0" and math.copysign(1.0, value.imag) > 0.0:
        return ast.Constant(value)
    if plain and str(value.real) != "-0.0" and value.imag != 0.0:
        # A real number plus an imaginary one: exact, as neither part meets another one than zero.
        symbol = ast.Sub() if value.imag < 0.0 else ast.Add()
        return ast.BinOp(_real(value.real, scope), symbol, ast.Constant(complex(0.0, abs(value.imag))))
    parts = [_real(value.real, scope), _real(value.imag, scope)]
    return ast.Call(scope.member("builtins", "complex"), parts, [])
