"""Closure conversion: what a function inside is given, and when a variable is shared."""

import pytest

import tangentx as tx
from tangentx.frontend.lift import lift
from tangentx.ir import walk
from tangentx.ir.check import check
from tangentx.ir.show import show
from tests.frontend.made import defined
from tests.harness import derivative


def functions(fn):
    lifted = lift(fn)
    return {function.name: function for function in walk.with_inner(lifted)}


def params(function):
    return [param.name for param in function.params]


def test_what_is_captured_comes_first():
    def f(a, b):
        def g(x, y=2.0):
            return a * x + b * y

        return g(b)

    found = functions(f)
    assert params(found["g"]) == ["a", "b", "x", "y"]
    assert "g = make g(a, b)" in show(found["f"])


def test_a_known_function_gives_what_it_captures_in_its_place():
    def f(a, x):
        def g(y):
            return a * y

        def h(a):
            return g(a) + a

        return h(x)

    found = functions(f)
    assert params(found["h"]) == ["a_", "a"]
    assert "g = make g(a_)" in show(found["h"])


def test_a_computed_default_is_held_by_the_function():
    def f(a):
        return (lambda x, k=a * 2.0, n=3: x * k * n)(a)

    found = functions(f)
    assert params(found["lambda_"]) == ["k_", "x", "k", "n"]
    assert [str(param.default) for param in found["lambda_"].params] == [
        "None",
        "None",
        "Var(name='k_')",
        "Lit(value=3)",
    ]


def test_a_lambda_that_is_given_a_name_has_it():
    def f(a):
        slope = lambda x: a * x
        return slope(a)

    assert set(functions(f)) == {"f", "slope"}


def test_functions_that_call_themselves_capture_no_function():
    def f(x):
        def even(k):
            return x if k == 0 else odd(k - 1)

        def odd(k):
            return 1.0 if k == 0 else even(k - 1)

        return even(4)

    found = functions(f)
    assert params(found["even"]) == params(found["odd"]) == ["x", "k"]
    for function in found.values():
        check(function)


def cells(fn):
    return [line.strip() for line in show(functions(fn)[fn.__name__]).splitlines() if "make list" in line]


def test_a_variable_that_is_settled_is_no_cell():
    def f(x):
        y = x * 2.0
        g = lambda: x * y
        for _ in range(2):
            x_ = g()
        return x_

    assert cells(f) == []


def test_a_variable_that_is_bound_again_is_a_cell():
    def f(x):
        y = x * 2.0
        g = lambda: x * y
        y = 3.0
        return g() + y

    (made,) = cells(f)
    assert made.startswith("y = make list(%")


def test_a_variable_of_a_loop_is_a_cell_where_the_function_is_made_in_it():
    def f(x):
        g = None
        for i in range(3):
            g = lambda: x * i
        return g()

    (made,) = cells(f)
    assert made.startswith("i = make list(UNBOUND)")


def test_a_variable_of_a_comprehension_is_a_cell_of_its_own_each_time():
    def f(x):
        first = [lambda: x[k] for k in range(3)]
        for _ in range(2):
            second = [lambda: x[k] for k in range(2)]
        return first[0]() * second[0]() * sum(x[k] for k in range(2))

    text = show(functions(f)["f"])
    assert [line.split(" =")[0] for line in cells(f) if "UNBOUND" in line] == ["k", "k_"]
    assert text.index("    for") < text.index("        k_ = make list(UNBOUND)")
    assert "for k in" not in text and "for k_ in" not in text


def test_a_parameter_can_be_a_cell():
    def f(x):
        def g():
            nonlocal x
            x = x * x
            return x

        return g() + x

    (made,) = cells(f)
    assert made.startswith("x = make list(x)")


ORDERS = {
    "a captured function beside a captured variable": """
def f(a, b):
    k = 3
    def g(x):
        return a * x + b
    def h(n):
        return b if n == k else g(h(n + 1)) * a + n
    return h(0)
""",
    "cells of its own beside those of the enclosing function": """
def f(a, b):
    v = b
    def g():
        w = a
        def h():
            return w
        w = w + v
        return w
    v = v * 2
    return g()
""",
    "a variable read before a call that binds it anew": """
def f(a, b):
    v = b
    def g(x):
        nonlocal v
        v = 0.9 * v + x
        return a * v
    w = v * g(b) + v
    return (lambda: v + g(w))() + v * g(v)
""",
    "a captured variable read before a call of a sibling": """
def f(a, b):
    def outer(v):
        def g(x):
            nonlocal v
            v = v * x
            return a
        def h(x):
            return v * g(x) + v
        return h(b) + v * h(a)
    return outer(a) * b
""",
    "a variable that a function two levels further in binds": """
def f(a, b):
    v = a
    w = b
    def outer():
        nonlocal w
        def inner():
            nonlocal v, w
            v += b
            w = w * v
            return v
        return inner() + v * w
    z = outer() + v
    v = v * w
    return z * outer()
""",
}


@pytest.mark.parametrize("source", ORDERS.values(), ids=ORDERS)
def test_what_is_captured_and_when_it_is_read(source):
    f = defined(source)
    value, slopes = tx.value_and_grad(f, wrt=("a", "b"), fallback="error")(0.7, 0.4)
    assert value == pytest.approx(f(0.7, 0.4), rel=1e-14)
    for k, slope in enumerate(slopes):
        wanted, _ = derivative(lambda h, k=k: f(0.7 + h * (k == 0), 0.4 + h * (k == 1)))
        assert slope == pytest.approx(float(wanted), rel=1e-8)
