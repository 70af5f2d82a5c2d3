"""What is printed is the tree, and what is loaded is the text."""

from __future__ import annotations

import ast
import inspect
import linecache
import math
import operator
import sys
import traceback
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import tangentx as tx
from tangentx.backend import printer
from tangentx.backend.module_text import load, write
from tangentx.backend.operators import is_augmented
from tangentx.common.generated_text import Text
from tangentx.errors import Span
from tangentx.frontend.lift import lift
from tangentx.ir import nodes as ir

from . import natives
from .build import add, function, give, let, note, op, run


class Pair(NamedTuple):
    x: Any
    y: Any


@dataclass(frozen=True)
class Point:
    x: Any


@pytest.mark.parametrize("name", list(natives.ARGUMENTS))
def test_lifted_printed_loaded(name: str) -> None:
    native = getattr(natives, name)
    text = write([lift(native)], "round trip")
    for arguments in natives.ARGUMENTS[name]:
        assert repr(run(text, *arguments())) == repr(native(*arguments()))


NUMBERS = [0.0, -0.0, 1e-320, -2.5, math.inf, -math.inf, math.nan, 3, -3, 10**5000, True, None, ..., "a'\"\n", b"x"]
NUMBERS += [complex(re, im) for re in (0.0, -0.0, 1.5, math.inf) for im in (0.0, -0.0, -2.0, math.nan)]


@pytest.mark.parametrize("value", NUMBERS, ids=range(len(NUMBERS)))
def test_constants_are_exact(value: object) -> None:
    found = run(write([function("f", "", ir.Return(ir.Lit(value), ir_span()))]))
    assert type(found) is type(value)
    assert found == value if type(value) is int else repr(found) == repr(value)


def ir_span() -> Any:
    return give(0).span


def test_a_power_of_a_negative_number() -> None:
    assert run(write([function("f", "", let("%1", op(operator.pow, -2.0, 2)), give("$%1"))])) == 4.0


def test_clashes_are_renamed() -> None:
    names = "np t math len"
    body = (let("%1", op(np.sin, "$t")), let("%2", op(len, "$len")), let("%3", add("$%1", "$%2")))
    text = write([function("f", names, *body, let("%4", add("$%3", "$%3")), give("$%4"))])
    assert "import numpy as np_" in text.source
    assert "from builtins import len as len_" in text.source
    assert run(text, None, 0.5, None, [1, 2]) == 2 * (math.sin(0.5) + 2)


def test_objects_without_a_path_are_held() -> None:
    def triple(x: float) -> float:
        return 3 * x

    text = write([function("f", "x", let("%1", op(triple, "$x")), give("$%1"))])
    assert text.names == {"triple": triple}
    assert run(text, 2) == 6


def test_closures_and_globals_are_read_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    scale = 2.0

    def home(x: float) -> float:
        return x * scale * natives.GRAVITY

    loaded = load(write([lift(home)]), "<tangentx home>")["home"]
    assert loaded(1.0) == home(1.0)
    scale = 5.0
    monkeypatch.setattr(natives, "GRAVITY", 2.0)
    assert loaded(1.0) == 10.0


def test_displays() -> None:
    made = (
        let("%1", ir.Make(Pair, (ir.Var("x"), ir.Lit(1)), ("x", "y"))),
        let("%2", ir.Make(Point, (ir.Var("%1"),), ("x",))),
        let("%3", ir.Make(dict, (ir.Var("%2"),), (("k", 1),))),
    )
    assert run(write([function("f", "x", *made, give("$%3"))]), 4) == {("k", 1): Point(Pair(4, 1))}


def test_documentation_and_comments() -> None:
    doc = 'Says """x""" \\ and\n\n    ends in "'
    text = write([function("f", "x", note("---- first ----"), give("$x"), doc=doc)])
    strips = sys.version_info >= (3, 13)
    assert load(text, "<tangentx doc>")["f"].__doc__ == (inspect.cleandoc(doc) if strips else doc)
    assert "    # ---- first ----" in text.source.splitlines()


def test_the_guard_notices_another_meaning() -> None:
    tree = ast.parse("def f(x):\n    return x").body[0]
    assert isinstance(tree, ast.FunctionDef)
    tree.body.append(ast.Expr(ast.Name("a b", ast.Load())))
    with pytest.raises(printer.PrinterFault, match="parse back"):
        printer.printed(tree)


def test_deep_and_long_programs() -> None:
    body: ir.Block = (give(0),)
    for n in range(150):
        body = (let(f"%{n}", op(operator.eq, "$x", n)), ir.If(ir.Var(f"%{n}"), (let("y", n),), body, ir_span()))
    assert run(write([function("f", "x", *body)]), 3) is None
    many = [let("x", add("$x", 1)) for _ in range(3000)]
    assert run(write([function("f", "x", *many, give("$x"))]), 0) == 3000


def test_lines_stay_known() -> None:
    text = write([function("f", "x", let("y", op(operator.truediv, 1, "$x")), give("$y"))])
    loaded = load(text, "<tangentx f 1>")["f"]
    linecache.checkcache()
    with pytest.raises(ZeroDivisionError) as caught:
        loaded(0)
    assert traceback.extract_tb(caught.value.__traceback__)[-1].line == "y = 1 / x"


@pytest.mark.parametrize(
    ("text", "column", "name", "expected"),
    [
        ("    k += 1", 4, "k", True),
        ("    p['a=b;#'][i] += 1", 4, "p", True),
        ("    k[...] = k + 1; s += 1", 4, "k", False),
        ("    k[...] = k + 1; s += 1", 20, "s", True),
        ("    total += f(sum(k))", 15, "total_1", True),
        ("    total += f(sum(k))", 15, "k", False),
        ("    for r in x[1:]: p.q[x[1:], 2] += r", 20, "p_", True),
        ("    for r in x[1:]: p.q[x[1:], 2] += r", 20, "p_bar", False),
        ("    k[...] = k + 1  # not +=", 4, "k", False),
        ("    k -= 1", 4, "k", False),
    ],
)
def test_a_mark_is_looked_for_in_the_statement_of_the_variable(
    text: str, column: int, name: str, expected: bool
) -> None:
    assert is_augmented(Span("file.py", 1, column, text), "+=", name) is expected


def test_a_contribution_to_an_item_is_no_write_into_an_array_for_the_mark_on_the_users_line() -> None:
    def blended(w: Any, x: Any) -> Any:
        layers = [w, 2.0 * w]
        total = 0.0
        for k in range(4):
            total += np.sum(np.sin(layers[k % 2] * x[k]))
        return total

    _, pullback = tx.vjp(blended, np.array([0.3, 0.7]), np.linspace(0.1, 0.8, 8).reshape(4, 2))
    first, second = pullback(1.0), pullback(1.0)
    assert np.array_equal(first[0], second[0]) and np.array_equal(first[1], second[1])


def test_what_python_warns_of_in_a_text_is_not_shown() -> None:
    """Where warnings are errors it was a SyntaxError, and so a refusal of what is nested too deeply."""
    text = Text("def f(x):\n    return 1.0 is None\n", functions=("f",))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load(text, "<tangentx of a test>")["f"](2.0) is False


def test_items_of_what_a_function_gives_at_any_of_its_ends() -> None:
    def first_above(u, limit):
        for k in range(len(u)):
            if u[k] > limit:
                return u[k] * u[k]
        return u[0]

    def program(u):
        return first_above(u, 0.5) * first_above(u, 2.0)

    text = tx.grad(program, wrt="u").source_for(np.array([0.3, 0.7]))
    assert text.count(", saved") >= 2 and "_result[0]" not in text
