"""Temporaries are nested where nothing is overtaken, and only there."""

from __future__ import annotations

import ast
import operator
from dataclasses import replace

import numpy as np
import pytest

from tangentx.backend.module_text import write
from tangentx.ir import nodes as ir

from .build import SPAN, add, atom, body, function, give, index, key, let, note, op, run, store


def lines(*statements: ir.Statement, params: str = "a b i x") -> list[str]:
    return [line.strip() for line in body(function("f", params, *statements)).splitlines()]


def test_nested_into_the_reader() -> None:
    assert lines(let("%1", add("$a", "$b")), let("%2", op(np.sin, "$%1")), give("$%2")) == ["return np.sin(a + b)"]


def test_read_twice_gets_a_name() -> None:
    found = lines(let("%1", add("$a", "$b")), let("%2", op(operator.mul, "$%1", "$%1")), give("$%2"))
    assert found == ["a_plus_b = a + b", "return a_plus_b * a_plus_b"]


def test_a_sum_goes_on_over_two_lines_with_its_first_terms() -> None:
    first, more = "$" + 30 * "a", "$" + 40 * "b"
    terms, other = let("%:x_bar_1", add(first, more)), let("%1", op(operator.mul, more, more))
    assert len(lines(terms, other, let("x_bar", add("$%:x_bar_1", "$%1")), give("$x_bar"))) == 3
    assert lines(terms, other, let("x_bar", op(operator.mul, "$%:x_bar_1", "$%1")), give("$x_bar"))[0][:7] == "product"


def test_not_past_a_store() -> None:
    found = lines(let("%1", index("$a", "$i")), store("$a", key("$i"), 0.0), give("$%1"))
    assert found == ["a_i = a[i]", "a[i] = 0.0", "return a_i"]


def test_not_past_a_rebinding() -> None:
    found = lines(let("%1", add("$x", 1)), let("x", 2), let("%2", add("$%1", "$x")), give("$%2"))
    assert found == ["x_plus_1 = x + 1", "x = 2", "return x_plus_1 + x"]


def test_past_a_pure_assignment() -> None:
    found = lines(let("%1", add("$a", 1)), let("x", add("$b", 1)), let("%2", add("$%1", "$x")), give("$%2"))
    assert found == ["x = b + 1", "return a + 1 + x"]


def test_pops_keep_their_order() -> None:
    pops = (let("%1", ir.Pop(ir.Var("a"))), let("%2", ir.Pop(ir.Var("a"))))
    straight, crossed = let("%3", op(operator.sub, "$%1", "$%2")), let("%3", op(operator.sub, "$%2", "$%1"))
    assert lines(*pops, straight, give("$%3")) == ["return a.pop() - a.pop()"]
    assert lines(*pops, crossed, give("$%3")) == ["a_last = a.pop()", "return a.pop() - a_last"]


def test_membership_evaluates_its_item_first() -> None:
    pops = (let("%1", ir.Pop(ir.Var("a"))), let("%2", ir.Pop(ir.Var("b"))))
    found = function("f", "a b", *pops, let("%3", op(operator.contains, "$%1", "$%2")), give("$%3"))
    assert run(write([found]), [(1, 2)], [2]) is True
    assert body(found).splitlines() == ["    a_last = a.pop()", "    return b.pop() in a_last"]


def test_augmented_element_is_read_before_the_call() -> None:
    callee = function("g", "a", store("$a", key(0), 5.0), give(1.0))
    accumulate = ir.Accumulate(ir.Var("a"), key(0), ir.Var("%1"), SPAN)
    caller = function("f", "a", let("%1", ir.Call(ir.Link("g", callee), (ir.Var("a"),))), accumulate, give("$a"))
    text = write([caller, callee])
    assert run(text, [1.0]) == [6.0]
    assert "g_result = g(a)\n    a[0] += g_result" in text.source


def test_read_and_call_keep_their_order() -> None:
    callee = function("g", "a", store("$a", key(0), 5.0), give(1.0))
    call = let("%2", ir.Call(ir.Link("g", callee), (ir.Var("a"),)))
    caller = function("f", "a", let("%1", index("$a", 0)), call, let("%3", add("$%2", "$%1")), give("$%3"))
    assert run(write([caller, callee]), [2.0]) == 3.0


def test_not_into_a_loop() -> None:
    inner = let("x", add("$x", "$%1"))
    loop = ir.For("i", atom(0), atom(3), atom(1), False, (inner,), SPAN)
    assert lines(let("%1", index("$a", 0)), loop, give("$x"))[0] == "a_0 = a[0]"


def test_long_lines_are_cut() -> None:
    statements: list[ir.Statement] = [let("%0", add("$a", "$b"))]
    statements += [let(f"%{n}", add(f"$%{n - 1}", "$x")) for n in range(1, 400)]
    text = write([function("f", "a b x", *statements, give("$%399"))])
    assert max(map(len, text.source.splitlines())) <= 100
    assert run(text, 1, 2, 1) == 402


def test_accumulating_a_negative_subtracts() -> None:
    found = lines(let("%1", op(operator.neg, "$x")), ir.Accumulate(ir.Var("a"), key("$i"), ir.Var("%1"), SPAN))
    assert found == ["a[i] -= x"]


@pytest.mark.parametrize("written", [True, False])
def test_augmented_store_only_where_the_user_wrote_it(written: bool) -> None:
    span = replace(SPAN, text="a[i - 1] += x" if written else "a[i - 1] = a[i - 1] + x")
    group = (let("%k", op(operator.sub, "$i", 1)), let("%1", index("$a", "$%k")), let("%2", add("$%1", "$x")))
    found = lines(*group, ir.Store(ir.Var("a"), key("$%k"), ir.Var("%2"), span))
    assert found == (["a[i - 1] += x"] if written else ["i_minus_1 = i - 1", "a[i_minus_1] = a[i_minus_1] + x"])


def test_tuples_are_unpacked() -> None:
    callee = function("g", "x", let("%1", ir.Make(tuple, (ir.Var("x"), ir.Lit(2), ir.Lit(3)))), give("$%1"))
    call = let("%1", ir.Call(ir.Link("g", callee), (ir.Var("x"),)))
    reads = (let("p", index("$%1", 0)), let("q", index("$%1", 2)), let("%2", add("$p", "$q")))
    caller = function("f", "x", call, *reads, give("$%2"))
    text = write([caller, callee])
    assert "p, _, q = g(x)" in text.source
    assert run(text, 4) == 7


def test_a_tuple_of_unknown_length_is_not_unpacked() -> None:
    made = (let("%1", op(np.linalg.svd, "$a")), let("p", index("$%1", 0)), let("q", index("$%1", 1)))
    assert lines(*made, give("$q")) == ["svd_a = np.linalg.svd(a)", "p = svd_a[0]", "q = svd_a[1]", "return q"]


def test_conditional_expression() -> None:
    branch = ir.If(ir.Var("a"), (let("%1", add("$x", 1)),), (let("%1", 2),), SPAN)
    assert lines(branch, let("%2", op(abs, "$%1")), give("$%2")) == ["return abs(x + 1 if a else 2)"]


def test_blocks() -> None:
    empty = ir.If(ir.Var("a"), (), (note("only\ntwo"),), SPAN)
    leave = ir.If(ir.Var("%1"), (), (ir.Break(SPAN),), SPAN)
    loop = ir.Loop((let("%1", op(operator.lt, "$x", 3)), leave, let("x", add("$x", 1))), SPAN)
    found = lines(empty, loop, note("---- reverse sweep ----"), give("$x"))
    wanted = ["if not a:", "# only", "# two", "pass", "while x < 3:", "x = x + 1", "", "# ---- reverse sweep ----"]
    assert found == [*wanted, "return x"]


def test_unread_results_are_statements() -> None:
    found = lines(let("%1", op(np.add.at, "$a", "$i", "$x")), let("%2", ir.Pop(ir.Var("b"))))
    assert found == ["np.add.at(a, i, x)", "b.pop()"]


def test_the_same_program_gives_the_same_text() -> None:
    made = [let(f"%{n}", index("$a", n)) for n in range(60)]
    display = let("%r", ir.Make(tuple, tuple(ir.Var(f"%{n}") for n in range(60))))
    program = function("f", "a", *made, display, give("$%r"))
    source = write([program]).source
    assert source == write([program]).source
    assert ast.parse(source)
    assert max(map(len, source.splitlines())) <= 100
