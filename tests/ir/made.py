"""Short hands for programs of the language."""

from tangentx.errors import Span
from tangentx.ir import nodes as ir

SPAN = Span("file.py", 7, 0, "source")
X, Y, T = ir.Var("x"), ir.Var("y"), ir.Var("t")
ZERO, ONE = ir.Lit(0), ir.Lit(1)


def assign(target, value):
    return ir.Assign(target, value, SPAN)


def back(value=X):
    return ir.Return(value, SPAN)


def choose(test, body, orelse=()):
    return ir.If(test, tuple(body), tuple(orelse), SPAN)


def count(target, *body, stop=Y, backward=False):
    return ir.For(target, ZERO, stop, ONE, backward, tuple(body), SPAN)


def loop(*body):
    return ir.Loop(tuple(body), SPAN)


def leave():
    return ir.Break(SPAN)


def function(*body, name="f", params=("x", "y")):
    return ir.Function(name, tuple(ir.Param(p) for p in params), tuple(body), SPAN)
