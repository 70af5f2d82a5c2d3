"""Each rule of the grammar, broken once."""

import operator

import pytest

from tangentx.ir import nodes as ir
from tangentx.ir.check import IRError, check, own_break
from tests.ir.made import ONE, SPAN, X, Y, assign, back, choose, count, function, leave, loop

KEY = ir.Key((ONE,))
GOOD = function(
    assign("t", ir.Op(operator.gt, (X, Y))),
    choose(ir.Var("t"), [assign("x", ONE)], [back(Y)]),
    count("i", choose(ir.Var("t"), [ir.Continue(SPAN)], [leave()]), stop=X),
    loop(choose(ir.Var("t"), [leave()]), assign("x", ir.Make(dict, (X,), ("k",)))),
    ir.Store(X, KEY, ir.Lit(2), SPAN),
    back(),
    ir.Note("the end", SPAN),
)


def test_a_good_program_passes():
    check(GOOD)
    check(GOOD, closed=True)


def pair():
    """Two functions that call each other."""
    link = ir.Link("even")
    odd = function(assign("t", ir.Call(link, (X,))), back(ir.Var("t")), name="odd", params=("x",))
    even = function(assign("t", ir.Call(ir.Link("odd", odd), (X,))), back(ir.Var("t")), name="even", params=("x",))
    link.function = even
    return odd


def test_functions_may_call_each_other():
    check(pair(), closed=True)


def calling(callee, *args):
    return function(assign("t", ir.Call(ir.Link("g", callee), args)), back())


BROKEN = {
    "no statement": (function(X, back()), "Var is no statement"),
    "no expression": (function(assign("t", 3), back()), "int is no expression"),
    "no atom": (function(assign("t", ir.Op(operator.neg, (1.0,))), back()), "float is no atom"),
    "list for a block": (function(ir.If(X, [back()], (), SPAN), back()), "not a tuple"),
    "keys": (function(assign("t", ir.Make(dict, (X,), ())), back()), "as many keys"),
    "key of two parts": (function(assign("t", ir.Index(X, ir.Key((ONE, ONE)))), back()), "one part"),
    "unknown name": (function(back(ir.Var("z"))), "z is read and never bound"),
    "parameters": (function(back(), params=("x", "x")), "two parameters"),
    "test bound": (function(choose(X, [assign("x", ONE)]), back()), "x is bound in a block that it governs"),
    "test bound deep": (function(choose(X, [count("x")]), back()), "x is bound in a block that it governs"),
    "bound bound": (function(count("i", assign("y", ONE)), back()), "y is bound in a block that it governs"),
    "bound is target": (function(count("y"), back()), "a bound is the target"),
    "break outside": (function(choose(X, [leave()]), back()), "outside of every loop"),
    "loop for ever": (function(loop(assign("t", X))), "nothing leaves"),
    "loop left by an inner break": (function(loop(count("i", leave()))), "nothing leaves"),
    "after return": (function(back(), assign("t", X)), "never reached"),
    "after two returns": (function(choose(X, [back()], [back()]), back()), "never reached"),
    "after an endless loop": (function(loop(choose(X, [back()])), back()), "never reached"),
    "in a block": (function(count("i", leave(), assign("t", X)), back()), "never reached"),
    "no return": (function(assign("t", X)), "the end is reached"),
    "return in one branch": (function(choose(X, [back()])), "the end is reached"),
    "arguments": (calling(GOOD, X), "takes 2 arguments"),
    "link not filled": (calling(None, X), "never completed"),
    "callee": (calling(function(back(ir.Var("z"))), X, Y), "z is read"),
}


@pytest.mark.parametrize("broken, message", BROKEN.values(), ids=BROKEN.keys())
def test_broken(broken, message):
    with pytest.raises(IRError, match=message):
        check(broken)


OPEN = [
    assign("t", ir.Apply(X, ())),
    assign("t", ir.Method(X, "sum", ())),
    assign("t", ir.Op(ir.sequence, (X,))),
    ir.Augment("x", operator.add, Y, SPAN),
    ir.Augstore(X, KEY, operator.add, Y, SPAN),
]


@pytest.mark.parametrize("stmt", OPEN, ids=lambda stmt: type(stmt).__name__)
def test_open_forms(stmt):
    check(function(stmt, back()))
    with pytest.raises(IRError, match="open form"):
        check(function(stmt, back()), closed=True)


def test_deep_programs():
    block = (back(),)
    for _ in range(2000):
        block = (choose(X, [back()], block),)
    check(function(*block))


def test_own_break():
    assert own_break((choose(X, [], [leave()]),))
    assert not own_break((count("i", leave()), loop(leave())))
