"""What statements hold, read and bind; renaming."""

import math
import operator
from typing import get_args

import pytest

from tangentx.ir import nodes as ir
from tangentx.ir import walk
from tests.ir.made import ONE, SPAN, X, Y, assign, back, choose, count, loop

OUT = ir.Ext("pi", math.pi, ("global", "math", "pi"))
KEY = ir.Key((Y, ir.Slice(X, ONE)), True)
EXPRESSIONS = {
    X: "x",
    ONE: "",
    ir.Op(operator.add, (X, ONE), (("k", Y),)): "x y",
    ir.Apply(X, (Y,), (("k", X),)): "x y x",
    ir.Method(X, "m", (Y,), (("k", ONE),)): "x y",
    ir.Call(ir.Link("g"), (X, Y)): "x y",
    ir.Index(X, KEY): "x y x",
    ir.Attr(Y, "T"): "y",
    ir.Make(tuple, (Y, X)): "y x",
    ir.Pop(X): "x",
}
# statement -> what it reads, what it binds
STATEMENTS = {
    assign("t", ir.Index(X, KEY)): ("x y", "t"),
    ir.Augment("t", operator.add, X, SPAN): ("t x", "t"),
    ir.Store(X, KEY, ONE, SPAN): ("x y", ""),
    ir.Augstore(X, ir.Key((ONE,)), operator.add, Y, SPAN): ("x y", ""),
    ir.Accumulate(X, ir.Key((ONE,)), Y, SPAN): ("x y", ""),
    ir.Append(X, Y, SPAN): ("x y", ""),
    ir.Delete(X, KEY, SPAN): ("x y", ""),
    choose(X, [assign("t", Y)], [back(Y)]): ("x", ""),
    count("i", assign("t", X)): ("y", "i"),
    loop(back(Y)): ("", ""),
    back(Y): ("y", ""),
    ir.Raise(X, SPAN): ("x", ""),
    ir.Break(SPAN): ("", ""),
    ir.Continue(SPAN): ("", ""),
    ir.Note("x", SPAN): ("", ""),
}


@pytest.mark.parametrize("expr, names", EXPRESSIONS.items(), ids=lambda x: type(x).__name__)
def test_atoms(expr, names):
    assert [atom.name for atom in walk.atoms(expr) if isinstance(atom, ir.Var)] == names.split()


@pytest.mark.parametrize("stmt, names", STATEMENTS.items(), ids=lambda x: type(x).__name__)
def test_reads_and_writes(stmt, names):
    assert walk.reads(stmt) == set(names[0].split())
    assert walk.writes(stmt) == set(names[1].split())


def test_all_classes_are_tried():
    assert {type(expr) for expr in EXPRESSIONS} | {ir.Ext} == set(ir.Expr.__args__)
    assert {type(stmt) for stmt in STATEMENTS} == set(ir.Statement.__args__)


BLOCK = (count("i", choose(X, [assign("t", Y)], [loop(assign("u", ONE), back())])), assign("w", OUT))


def test_statements_in_the_order_of_the_text():
    kinds = [type(stmt).__name__ for stmt in walk.statements(BLOCK)]
    assert kinds == ["For", "If", "Assign", "Loop", "Assign", "Return", "Assign"]
    assert walk.bound(BLOCK) == {"i", "t", "u", "w"}
    assert walk.used(BLOCK) == {"x", "y"}


def test_blocks():
    first = BLOCK[0]
    assert walk.blocks(first) == (first.body,)
    assert walk.blocks(first.body[0]) == (first.body[0].body, first.body[0].orelse)
    assert walk.blocks(BLOCK[1]) == ()


def test_exts_once_each_with_those_of_defaults():
    default = ir.Ext("d", [], ("default", "d"))
    body = (assign("t", ir.Op(operator.add, (OUT, OUT))), ir.Store(OUT, ir.Key((ir.Slice(OUT),)), OUT, SPAN), back())
    made = ir.Function("f", (ir.Param("x"), ir.Param("d", default)), body, SPAN)
    assert walk.exts(made) == (default, OUT)


def test_the_tables_know_every_class() -> None:
    assert set(walk._ATOMS) == set(get_args(ir.Expr)) and set(walk._STATEMENT_ATOMS) == set(get_args(ir.Statement))
