"""The printed form of every class."""

import operator

from tangentx.ir import nodes as ir
from tangentx.ir.show import show
from tests.ir.made import ONE, SPAN, X, Y, assign, back, choose, count, loop
from tests.ir.test_walk import KEY, OUT

TEXT = """\
function f(x, *r, (keyword) k=1, **w):
    a = 'text'
    a = add(x, 1, k=y)
    a = apply <math.pi>(x)
    a = method x.m(y)
    a = call g(x, y)
    a = x[y, x:1]
    a = x[()]
    a = x[1,]
    a = x[::y].T
    a = make dict('k': x)
    a = make list(x, 1)
    a = x.pop()
    a add= x
    x[1] = y
    x[1] add= y
    x[1] accumulate y
    x.append(y)
    del x[1]
    if x:
        # a note
    else:
        raise x
    for i in reversed(range(0, y, 1)):
        continue
    loop:
        pass
    return x
"""


def test_show():
    one = ir.Key((ONE,))
    body = (
        assign("a", ir.Lit("text")),
        assign("a", ir.Op(operator.add, (X, ONE), (("k", Y),))),
        assign("a", ir.Apply(OUT, (X,))),
        assign("a", ir.Method(X, "m", (Y,))),
        assign("a", ir.Call(ir.Link("g"), (X, Y))),
        assign("a", ir.Index(X, KEY)),
        assign("a", ir.Index(X, ir.Key((), True))),
        assign("a", ir.Index(X, ir.Key((ONE,), True))),
        assign("a", ir.Attr(ir.Var("x[::y]"), "T")),
        assign("a", ir.Make(dict, (X,), ("k",))),
        assign("a", ir.Make(list, (X, ONE))),
        assign("a", ir.Pop(X)),
        ir.Augment("a", operator.add, X, SPAN),
        ir.Store(X, one, Y, SPAN),
        ir.Augstore(X, one, operator.add, Y, SPAN),
        ir.Accumulate(X, one, Y, SPAN),
        ir.Append(X, Y, SPAN),
        ir.Delete(X, one, SPAN),
        choose(X, [ir.Note("a note", SPAN)], [ir.Raise(X, SPAN)]),
        count("i", ir.Continue(SPAN), backward=True),
        loop(),
        back(),
    )
    params = (ir.Param("x"), ir.Param("r", None, "args"), ir.Param("k", ONE, "keyword"), ir.Param("w", None, "kwargs"))
    text = show(ir.Function("f", params, body, SPAN))
    assert "\n".join(line.split("  # 7")[0].rstrip() for line in text.splitlines()) + "\n" == TEXT
    assert text.count("  # 7") == len(TEXT.splitlines()) - 3
