"""Names that may have no value: the program's own UnboundLocalError or NameError, with its text, in every way.

The programs are compared with themselves, run as they are: what they give, or what they raise. Line lengths and unused
names are those of what people write.
"""
# ruff: noqa: F821, SIM

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import gast
import numpy as np
import pytest

import tangentx as tx
from tangentx.frontend import definite_assignment, resolve

X = np.array([1.3, 0.7, 2.1, 0.4])
TANGENT = np.array([0.3, -0.7, 0.2, 0.9])


def zero_trips(x):
    for v in []:
        y = v
    return y * x[0]


def added_to_and_never_read(x):
    count += 1
    return x[0] * x[1]


def never_taken(x):
    if x[0] > 5:
        y = x[0]
    return y * x[0]


def in_a_try(x):
    if x[0] > 5:
        y = x[0]
    try:
        return y * x[0]
    except NameError:
        return x[1] * 2


def caught_as_unbound(x):
    if x[0] > 5:
        y = x[0]
    try:
        s = y * x[0]
    except UnboundLocalError:
        s = x[1] * x[1]
    return s


def deleted_perhaps(x):
    y = x[0]
    if x[0] > 0:
        del y
    return y * x[0]


def deleted(x):
    y = x[0]
    del y
    return y * x[0]


def not_defined(x):
    return undefined_name * x[0]


def not_defined_caught(x):
    try:
        s = undefined_name * x[0]
    except NameError:
        s = x[1] * x[1]
    return s


def loop_left_over(x):
    s = x[0]
    for i in range(0):
        z = x[i]
    return s + z


def loop_variable(x):
    n = int(x[0] * 0)
    for i in range(n):
        pass
    return x[0] * i


def in_a_condition(x):
    if x[0] > 5:
        y = x[0]
    return sum([v for v in x if v > y])


def in_a_generator(x):
    if x[0] > 5:
        y = x[0]
    return sum(v * y for v in x)


def in_a_function(x):
    if x[0] > 5:
        y = x[0]

    def g():
        return y * 2

    return g() * x[0]


def augmented(x):
    if x[0] > 5:
        y = x[0]
    y += x[1]
    return y


def written(x):
    if x[0] > 5:
        y = x * 1.0
    y[0] = x[1]
    return y[1]


def augmented_item(x):
    if x[0] > 5:
        y = x * 1.0
    y[0] += x[1]
    return y[1]


def appended_to(x):
    if x[0] > 5:
        L = [x[0]]
    L.append(x[1])
    return L[0]


def counted(x):
    if x[0] > 5:
        L = [x[0]]
    return len(L) * x[0]


def iterated(x):
    if x[0] > 5:
        L = [x[0]]
    s = 0.0
    for v in L:
        s = s + v
    return s


def asked_first(x):
    if x[0] > 5:
        y = x[0]
    if y > 3:
        return x[1]
    return x[0]


def looped(x):
    if x[0] > 5:
        y = x[0]
    while y > 3:
        return x[1]
    return x[0]


def later_in_the_loop(x):
    s = x[0]
    for i in range(2):
        if i == 1:
            s = s + w
        else:
            s = s * 2
        if i == 1:
            w = x[1]
    return s


def only_named(x):
    if x[0] > 5:
        y = x[0]
    z = y
    return x[0]


def bare(x):
    if x[0] > 5:
        y = x[0]
    y
    return x[0]


def not_needed(x):
    if x[0] > 5:
        y = x[0]
    z = y * x[1]
    return x[0]


def other_branch(x):
    if x[0] > 5:
        y = x[0]
    return x[0] if x[1] > 0 else y


def this_branch(x):
    if x[0] > 5:
        y = x[0]
    return x[0] if x[1] < 0 else y


def in_a_tuple(x):
    if x[0] > 5:
        y = x[0]
    return (x[0], y)[0]


def in_a_list(x):
    if x[0] > 5:
        y = x[0]
    return [x[0], y][0]


def in_a_dict(x):
    if x[0] > 5:
        y = x[0]
    d = {"a": y}
    return x[0]


def as_a_bound(x):
    if x[0] > 5:
        n = 3
    s = 0.0
    for i in range(n):
        s = s + x[i]
    return s


def as_an_index(x):
    if x[0] > 5:
        n = 1
    return x[n]


def deleted_loop_variable(x):
    for k in range(3):
        if k == 1:
            del k
    return x[0] * k


def exception_after_its_handler(x):
    try:
        raise ValueError("a")
    except ValueError as e:
        s = x[0]
    return s * len(str(e))


def as_a_default(x):
    if x[0] > 5:
        y = x[0]

    def g(a=y):
        return a

    return g() * x[0]


def handled_by_its_base(x):
    if x[0] > 5:
        y = x[0]
    try:
        z = y
    except NameError:
        z = x[2]
    return z * z


def captured_early(x):
    def g():
        return h * x[0]

    s = g()
    h = 2.0
    return s


def captured_and_deleted(x):
    def g():
        return h * x[0]

    h = 2.0
    s = g()
    del h
    return s * g()


def mapped(x):
    if x[0] > 5:
        y = x[0]

    def g(v):
        return v * y

    return sum(map(g, x))


def last_square(v, n):
    for i in range(n):
        r = v[i] * v[i]
    return r


def helper_of_no_trips(x):
    return last_square(x, 0) + x[0]


def helper_caught(x):
    try:
        return last_square(x, 0) + x[0]
    except UnboundLocalError as e:
        return x[0] * len(str(e))


def while_of_no_trips(x):
    i = 0
    while i < 0:
        r = x[0]
    return np.sum(x) * r


def summed(x):
    if x[0] > 5:
        y = x * 1.0
    return np.sum(y)


def multiplied(x):
    if x[0] > 5:
        y = x * 1.0
    return np.dot(x, y)


def matrix_product(x):
    if x[0] > 5:
        y = x * 1.0
    return (x @ y) + 1.0


def method(x):
    if x[0] > 5:
        y = x * 1.0
    return y.sum()


def attribute(x):
    if x[0] > 5:
        y = x * 1.0
    return x[0] * y.shape[0]


def is_none(x):
    if x[0] > 5:
        y = x * 1.0
    return x[0] * (y is None)


def none_perhaps(x):
    if x[0] > 5:
        y = None
    if y is None:
        return x[0]
    return x[1]


def none_or_deleted(x):
    if x[0] > 5:
        y = None
    else:
        y = x[0]
    if x[0] > 0:
        del y
    if y is None:
        return x[0]
    return y


def formatted(x):
    if x[0] > 5:
        y = x[0]
    return f"{y}" and x[0]


def asserted(x):
    if x[0] > 5:
        y = x[0]
    assert y
    return x[0]


def negated(x):
    if x[0] > 5:
        y = x[0]
    not y
    return x[0]


def second_operand(x):
    if x[0] > 5:
        y = True
    return x[0] if (x[1] > 0 or y) else x[2]


def second_operand_asked(x):
    if x[0] > 5:
        y = True
    return x[0] if (x[1] > 0 and y) else x[2]


def bound_to_itself(x):
    if x[0] > 5:
        y = x[0]
    y = y
    return x[0]


def in_a_display(x):
    if x[0] > 5:
        y = x[0]
    a, b = y, x[1]
    return b


def bound_twice(x):
    if x[0] > 5:
        y = x[0]
    a = b = y
    return x[1]


def printed(x):
    if x[0] > 5:
        y = x[0]
    print(y, file=None) if False else None
    return x[1]


def deleted_first(x):
    del y
    y = x[0]
    return y


def deleted_twice(x):
    y = x[0]
    del y
    del y
    return x[0]


def as_a_deleted_key(x):
    L = [x[0]]
    if x[0] > 5:
        k = 0
    del L[k]
    return x[0]


def item_of_a_list(x):
    if x[0] > 5:
        y = x[0]
    L = []
    L.append(y)
    return x[0]


def stored(x):
    L = [x[0]]
    if x[0] > 5:
        y = x[0]
    L[0] = y
    return x[0]


def argument(x):
    if x[0] > 5:
        y = x[0]

    def g(v):
        return x[0]

    return g(y)


def in_a_lambda(x):
    if x[0] > 5:
        y = x[0]
    return (lambda: x[0])() if True else y


def function_called_before_its_definition(x):
    def doubled():
        return half() * x[0]

    s = doubled()

    def half():
        return 2.0

    return s


def rebound_by_a_function(x):
    if x[0] > 5:
        q = 1.0

    def grown():
        nonlocal q
        q += x[0]

    grown()
    return q


def bound_by_a_function(x):
    if x[0] > 5:
        q = 1.0

    def begun():
        nonlocal q
        q = x[0]

    begun()
    return q * q


def through_two_functions(x):
    def outer():
        def inner():
            return q * x[0]

        return inner()

    if x[0] > 5:
        q = 1.0
    return outer()


def dict_written(x):
    if x[0] > 5:
        d = {"a": x[0]}
    d["b"] = x[1]
    return x[0]


def function_of_a_branch(x):
    if x[0] > 5:
        f = np.cos
    else:
        g = np.sin
    return f(x[0])


REFUSED = frozenset(
    """
    in_a_try caught_as_unbound not_defined not_defined_caught exception_after_its_handler handled_by_its_base
    captured_and_deleted helper_caught none_perhaps none_or_deleted formatted
    """.split()
)
"""What is not compiled, and runs on Tensors where that is allowed."""
PROGRAMS = [
    f
    for f in list(globals().values())
    if isinstance(f, FunctionType) and f.__code__.co_varnames[: f.__code__.co_argcount] == ("x",)
]


def outcome(run: Callable[[], Any]) -> Any:
    """What a call gives, or the class and the text of what it raises."""
    try:
        return run()
    except (NameError, AssertionError) as error:
        return type(error), str(error)


def ways(f: Any, fallback: str) -> dict[str, Callable[[], Any]]:
    return {
        "grad": lambda: tx.grad(f, fallback=fallback)(X.copy()),
        "value": lambda: tx.value_and_grad(f, fallback=fallback)(X.copy())[0],
        "vjp": lambda: tx.vjp(f, X.copy(), fallback=fallback)[0],
        "jvp": lambda: tx.jvp(f, (X.copy(),), (TANGENT,), fallback=fallback)[0],
        "hvp": lambda: tx.hvp(f, (X.copy(),), (TANGENT,), fallback=fallback),
        "linearize": lambda: tx.linearize(f, X.copy(), fallback=fallback)[0],
        "jacfwd": lambda: tx.jacfwd(f, fallback=fallback)(X.copy()),
    }


@pytest.mark.share(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("fallback", ["error", "tensor"])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_has_no_value_raises_as_in_python(f: Any, fallback: str) -> None:
    wanted = outcome(lambda: f(X.copy()))
    for way, run in ways(f, fallback).items():
        try:
            found = outcome(run)
        except (tx.UnsupportedSyntax, tx.NotResolved):
            assert fallback == "error" and f.__name__ in REFUSED, way
            continue
        if isinstance(wanted, tuple):
            assert found == wanted, way
        elif way in ("grad", "hvp", "jacfwd"):
            assert isinstance(found, np.ndarray), way
        else:
            assert np.allclose(found, wanted), way


def marked(text: str) -> list[tuple[str, int]]:
    """The names that a function reads where they may have no value, with the lines."""
    tree = gast.parse(text).body[0]
    found = definite_assignment.reads(tree, resolve.scope(tree).names)
    nodes = [node for node in gast.walk(tree) if id(node) in found]
    return sorted((node.id, node.lineno) for node in nodes)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def f(x):\n    y = x\n    return y", []),
        ("def f(x):\n    if x: y = 1\n    else: y = 2\n    return y", []),
        ("def f(x):\n    if x: y = 1\n    elif x > 1: y = 2\n    return y", [("y", 4)]),
        ("def f(x):\n    if x: return 1\n    else: y = 2\n    return y", []),
        ("def f(x):\n    for i in x: y = i\n    return y + i", [("i", 3), ("y", 3)]),
        ("def f(x):\n    while True:\n        y = x\n        break\n    return y", []),
        ("def f(x):\n    while True:\n        if x: break\n        y = x\n    return y", [("y", 5)]),
        ("def f(x):\n    y = 1\n    for i in x:\n        z = y\n        del y", [("y", 4)]),
        ("def f(x):\n    while (y := x()) > 0: pass\n    return y", []),
        ("def f(x):\n    x and (y := 1)\n    return y", [("y", 3)]),
        ("def f(x):\n    try: y = x()\n    except E: pass\n    return y", [("y", 4)]),
        ("def f(x):\n    try: y = x()\n    except E: y = 1\n    return y", []),
        ("def f(x):\n    try: x()\n    except E as e: pass\n    return e", [("e", 4)]),
        ("def f(x):\n    match x:\n        case 1: y = 1\n    return y", [("y", 4)]),
        ("def f(x):\n    if x: y = 1\n    return lambda: y", []),
        ("def f(x):\n    if x: y = 1\n    y += 1\n    return y", [("y", 3)]),
        ("def f(x):\n    if x: y = 1\n    z = y\n    return y", [("y", 3)]),
    ],
)
def test_definite_assignment(text: str, found: list[tuple[str, int]]) -> None:
    assert marked(text) == found


def test_nothing_is_asked_where_a_name_is_known_to_have_a_value() -> None:
    def sure(x: Any) -> Any:
        for i in range(3):
            y = x[i]
        return y * i

    assert "demand_bound" not in tx.grad(sure).source_for(X)
