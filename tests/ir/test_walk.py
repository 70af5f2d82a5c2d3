"""What statements hold, read and bind; renaming."""

import math
import operator

import pytest

from tangentx.ir import nodes as ir
from tangentx.ir import show, walk
from tests.ir.made import ONE, SPAN, X, Y, assign, back, choose, count, function, loop

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


@pytest.mark.parametrize("node", [*EXPRESSIONS, *STATEMENTS], ids=lambda x: type(x).__name__)
def test_rename(node):
    there, home = {"x": "p", "y": "q", "t": "r", "i": "j"}, {"p": "x", "q": "y", "r": "t", "j": "i"}
    renamed = walk.rename(node, there)
    if isinstance(node, ir.Statement):
        text = lambda stmt: show.show(function(stmt))
        assert walk.reads(renamed) == {there[name] for name in walk.reads(node)}
        assert walk.writes(renamed) == {there[name] for name in walk.writes(node)}
    else:
        text = show.expression
        names = [atom.name for atom in walk.atoms(node) if isinstance(atom, ir.Var)]
        assert [a.name for a in walk.atoms(renamed) if isinstance(a, ir.Var)] == [there[name] for name in names]
    assert text(walk.rename(renamed, home)) == text(node)


def test_rename_reaches_inner_blocks_and_leaves_the_rest():
    renamed = walk.rename(BLOCK, {"t": "s", "x": "p"})
    assert walk.bound(renamed) == {"i", "s", "u", "w"} and walk.used(renamed) == {"p", "y"}
    assert walk.bound(BLOCK) == {"i", "t", "u", "w"}


def test_map_expr_changes_every_atom():
    expr = ir.Index(X, KEY)
    assert walk.map_expr(expr, lambda atom: ONE) == ir.Index(ONE, ir.Key((ONE, ir.Slice(ONE, ONE, ONE)), True))
