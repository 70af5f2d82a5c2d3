"""Texts that a program evaluates, on Tensors: what they call and apply is as in the program itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx

pytestmark = pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
X = np.array([0.5, 1.5, -0.25])
SCALE = 2.0


class Duck:
    """Says by `__array__` which array it is."""

    def __init__(self, values):
        self.values = np.array(values)

    def __array__(self, dtype=None, copy=None):
        return self.values


class OwnUfuncs(Duck):
    def __array_ufunc__(self, ufunc, method, *args, **kwargs):
        return getattr(ufunc, method)(*(1e3 * a.values if isinstance(a, Duck) else a for a in args), **kwargs)


def squared(x):
    return x * x


def executes(x):
    exec("y = x * x\nfor k in range(2):\n    y = y * SCALE", globals(), space := {"x": x})
    return np.sum(space["y"])


def executes_definitions(x):
    space = {"np": np, "math": math}
    exec("def g(v):\n    return np.array([v[0] * v[1], math.sin(v[2])])\nclass A:\n    rate = 2.0", space)
    return np.sum(space["g"](x)) * space["A"].rate


def with_a_call(x):
    y = squared(x)
    return eval("np.sum(squared(y) * SCALE)")


def in_a_comprehension(x):
    return sum(eval("v * SCALE", {"v": v, "SCALE": k}) for k, v in enumerate(x))


def by_another_name(x):
    ask = eval
    return np.sum(ask("(lambda v: v * v * v)(x)"))


def names_bound_inside(x):
    return eval("[y := x * x, np.sum(y) * y[0]][1]")


def functions_of_math(x):
    return eval(" math.sin(x[0]) * x[1] + float(x[2]) ** 2")


def compiled_before(x, code=compile("np.sum(x * x) * SCALE", "<text>", "eval")):
    return eval(code)


PROGRAMS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        *(executes, executes_definitions, with_a_call, in_a_comprehension, by_another_name, names_bound_inside),
        *(functions_of_math, compiled_before),
    )
}
DUCKS = (
    *(
        "np.sum(x * np.asarray(d))",
        "np.sum(np.multiply(x, d))",
        "np.dot(x, d) * x[0]",
        "np.sum(x * d)",
        "np.sum(d * x)",
    ),
    *("np.sum(np.concatenate([x, d]) ** 2)", "np.sum(np.stack([x, d]) ** 2)", "np.sum(np.array([x, d]) ** 2)"),
    *("np.sum(np.where(x > 0.0, x, d))", "np.einsum('i,i', x, d)", "np.sum(np.maximum(x, d))", "np.sum(d) * x[1]"),
)


def slopes(f: Callable[[Any], Any]) -> Any:
    h = 1e-6
    return np.array([(f(X + h * e) - f(X - h * e)) / (2.0 * h) for e in np.eye(3)])


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_text_is_run_as_the_program_is(name: str) -> None:
    f = PROGRAMS[name]
    wanted = slopes(f)
    assert tx.grad(f)(X) == pytest.approx(wanted, rel=1e-6, abs=1e-8)
    assert tx.jvp(f, (X,), (np.ones(3),))[1] == pytest.approx(np.sum(wanted), rel=1e-6)


@pytest.mark.parametrize("text", DUCKS)
def test_an_object_that_says_which_array_it_is(text: str) -> None:
    """NumPy asked it itself where the text stood in `eval`, and raised ValueError: it takes no Tensor for an answer."""

    def f(x: Any, d: Any) -> Any:
        return eval(text) * 1.0

    d = Duck([1.0, -2.0, 3.0])
    assert tx.grad(f)(X, d) == pytest.approx(slopes(lambda x: f(x, d)), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("text", ["x * d", "d * x", "np.multiply(x, d)", "x + d", "d / x"])
def test_an_operator_is_left_to_the_object_as_an_array_leaves_it(text: str) -> None:
    for d in (Duck([1.0, -2.0, 3.0]), OwnUfuncs([1.0, -2.0, 3.0])):
        names = {"np": np, "d": d}
        t = tx.tensor(X, requires_grad=True)
        np.sum(eval(text, names | {"x": t})).backward()
        wanted = slopes(lambda x, names=names: np.sum(eval(text, names | {"x": x})))
        assert t.grad.numpy() == pytest.approx(wanted, rel=1e-6)


def test_errors_of_a_text_are_the_programs_own() -> None:
    def f(x: Any, text: str) -> Any:
        return np.sum(eval(text))

    for text, error in (
        ("x +", SyntaxError),
        ("unknown * x", NameError),
        ("x[7]", IndexError),
        ("2 / 0", ZeroDivisionError),
    ):
        with pytest.raises(error):
            tx.grad(f)(X, text)


def test_what_code_without_source_has_numpy_ask_is_refused() -> None:
    f = eval("lambda x, d: np.sum(x * eval('np.asarray(d)'))")
    d = Duck([1.0, -2.0, 3.0])
    with pytest.raises(tx.NotDifferentiable, match="np.asarray"):
        tx.grad(f)(X, d)


def test_names_of_the_caller_are_bound_as_they_were() -> None:
    def f(x: Any) -> Any:
        exec("SCALE = 3.0")
        return np.sum(x * SCALE)

    assert tx.grad(f)(X).tolist() == [2.0] * 3 and SCALE == 2.0
