"""`tx.check`: all that keeps a program from being compiled, with nothing run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.signal
import scipy.special

import tangentx as tx

RUN: list[int] = []


def helper(x: Any) -> Any:
    RUN.append(1)
    y = scipy.special.mathieu_a(1, x)
    return y + np.sum(np.packbits(x))


def rows(x: Any) -> Any:
    with open("somewhere") as file:
        yield from file


class Model:
    def value(self, x: Any) -> Any:
        return scipy.special.lpmv(0, x, 0.3) + np.linalg.foo(x)  # type: ignore[attr-defined]


def program(x: Any, n: int) -> Any:
    RUN.append(2)
    a = helper(x[0])
    b = x.wrong_method(3)
    c = scipy.signal.lombscargle(x, x, x) if a > 3 else 0.0
    for _ in range(n):
        d = scipy.special.mathieu_b(1, x)
    e = Model().value(x)
    return a + np.sum(b) + c + d + e


def test_every_reason_is_told_with_its_line_and_nothing_is_run() -> None:
    found = tx.check(program, np.ones(3), 3)
    first = program.__code__.co_firstlineno
    lines = [problem.span.line for problem in found if problem.span is not None]
    assert lines == sorted(lines)
    told = {(p.span.line if p.span else 0): p.message for p in found}
    assert "`scipy.special.mathieu_a` has no derivative rule" in told[helper.__code__.co_firstlineno + 2]
    assert "packbits" in told[helper.__code__.co_firstlineno + 3]
    assert "foo" in told[Model.value.__code__.co_firstlineno + 1]
    assert "wrong_method" in told[first + 3]
    assert "`scipy.signal.lombscargle` has no derivative rule" in told[first + 4]
    assert "`scipy.special.mathieu_b` has no derivative rule" in told[first + 6]
    assert len(found.without_rule) == 3
    assert not found and str(found).startswith("`program` is not compiled for these arguments: 3 calls")
    assert RUN == []


def test_what_is_compiled_has_no_findings() -> None:
    def f(w: Any, x: Any) -> Any:
        return scipy.special.logsumexp(w * x)

    found = tx.check(f, np.ones(2), np.ones(2))
    assert found and list(found) == []
    assert str(found) == "`f` is compiled for these arguments."
    assert tx.check(f, np.ones(2), x=np.ones(2), wrt="w")


def test_what_the_derivation_refuses_is_told_too() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.polynomial.polynomial.polyvalfromroots(2.0, x))

    (problem,) = tx.check(f, np.ones(3))
    assert problem.span is not None and problem.span.line == f.__code__.co_firstlineno + 1


def test_all_constructs_of_a_text_are_told() -> None:
    async def wait(x: Any) -> Any:
        return x

    def f(x: Any) -> Any:
        class Inner:
            pass

        del x.imag
        return x

    found = tx.check(f, 1.0)
    assert [type(p) for p in found] == [tx.UnsupportedSyntax] * len(found.problems)
    assert len(found.problems) == 2


def test_an_argument_without_derivative_is_refused() -> None:
    with pytest.raises(tx.NotDifferentiable, match="holds a real"):
        tx.check(lambda n: n, 3)
