"""All functions of one compilation."""

from __future__ import annotations

import pytest

import tangentx as tx
from tangentx.analysis.infer.program import Definition
from tangentx.analysis.types.kinds import BOTTOM, Num, Obj
from tangentx.analysis.types.samples import Valuer, constant_kind
from tangentx.compile import pipeline
from tangentx.ir.nodes import UNBOUND
from tests.analysis.made import analysed


def recursive(x, n):
    if n == 0:
        return 1.0
    return x * recursive(x, n - 1)


def test_recursion_is_a_fixed_point_of_one_instance() -> None:
    program, root = analysed(recursive, 2.0, 3)
    assert root.result == Num(float, True) and len(program.reached()) == 1


def test_the_root_comes_first_though_its_callee_was_met_before() -> None:
    def first(x):
        return recursive(x, 3)

    def second(x):
        return recursive(x, 3) * x

    program = pipeline.new_program()
    for f in (first, second):
        root = pipeline.analyse(program.lift(f), [Valuer(program.world).kind(2.0)], program)
        assert [i.link.name for i in program.reached()] == [f.__name__, "recursive"]
        assert program.reached()[0] is root


def test_constants() -> None:
    program, _ = analysed(recursive, 2.0, 3)
    assert constant_kind(program.valuer, 3).value == 3
    assert constant_kind(program.valuer, None) == Obj(None)
    assert constant_kind(program.valuer, UNBOUND) is BOTTOM


def test_united_definitions_are_one_variable() -> None:
    a, b, c = (Definition(name) for name in "abc")
    a.unite(b)
    b.unite(c)
    assert a.web() is c.web()
    assert Definition("d").web() is not a.web()


def test_functions_nested_ever_deeper_are_refused() -> None:
    def f(k):
        def outer(n, g=None, depth=0):
            g = g or (lambda v: v * n)
            if depth == 2:
                return g(k)
            return outer(n * k, lambda v: g(v) + n, depth + 1)

        return outer(k)

    with pytest.raises(tx.TangentxError, match="nested ever deeper"):
        tx.grad(f, fallback="error")(0.4)
