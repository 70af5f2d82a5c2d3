"""Calls with `out=` and `where=` are computed, then written, as NumPy would write them; else refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tests.analysis.made import in_order, text
from tests.frontend.made import defined

X = np.array([0.3, -0.7, 0.2])


def test_the_result_comes_first_and_then_the_write() -> None:
    def f(x, s):
        y = np.multiply(x[1:], x[:-1], out=x[1:])
        y[0] = s
        return np.sum(x)

    assert in_order(text(f, X, 2.0), "multiply(", "[Ellipsis] =", "y[0] = s")


def test_where_computes_no_other_element() -> None:
    def f(x, out):
        np.log(x, out=out, where=x > 0.0)
        return np.sum(out)

    with np.errstate(all="raise"):
        gradient = tx.grad(f, fallback="error")(X.copy(), np.zeros(3))
    np.testing.assert_allclose(gradient, [1.0 / 0.3, 0.0, 1.0 / 0.2])


def test_what_is_left_out_keeps_its_derivative() -> None:
    def f(x, s):
        np.multiply(x, s, out=x, where=np.array([True, False, True]))
        return np.sum(x**2)

    np.testing.assert_allclose(tx.grad(f, fallback="error")(X.copy(), 3.0), 2.0 * X * [9.0, 1.0, 9.0])


def test_no_array_for_the_result_is_a_plain_call() -> None:
    def f(x, s):
        return np.sum(np.multiply(x, s, out=None, where=True))

    np.testing.assert_allclose(tx.grad(f, fallback="error")(X, 3.0), 3.0)


@pytest.mark.parametrize(
    "call",
    [
        "np.round(a, 1, out)",
        "np.around(a, 1, out)",
        "a.round(1, out)",
        "np.fix(a, out)",
        "np.floor(a, out)",
        "np.clip(a, 0.4, 1.0, out)",
        "a.clip(0.4, 1.0, out)",
        "np.cumsum(a, 0, None, out)",
        "np.argmax(a[None], 0, places)",
        "a[None].argmin(0, places)",
    ],
)
def test_the_array_for_the_result_by_position(call: str) -> None:
    lines = [
        "def f(a):",
        "out = np.ones(3) * a[0]",
        "b, places = np.zeros(3), np.ones(3, int)",
        call,
        "return np.sum(out * out * np.arange(1.0, 4.0)) + np.sum(b * b) + np.sum(places) * a[1]",
    ]
    f = defined("\n    ".join(lines), np=np)
    x = np.array([0.31, 0.73, 1.27])
    value, found = tx.value_and_grad(f, fallback="error")(x)
    assert value == f(x.copy())
    steps = np.eye(3) * 1e-6
    np.testing.assert_allclose(found, [(f(x + e) - f(x - e)) / 2e-6 for e in steps], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("y = np.add(x, s, where=x > 0.0)", "leaves elements without a value"),
        ("np.add(x, s, out=n)", "float64 into an array of int64"),
        ("np.add(x, s, out=n, casting='same_kind')", "float64 into an array of int64"),
        ("np.add(x, s, out=x, casting=str(s))", "casting that is not known"),
        ("np.add(x, s, out=[x])", "written into a list"),
        ("np.divmod(x, s, x, x.copy())", "by position"),
        ("np.divmod(x, s, out=(x, x.copy()), where=x > 0.0)", "a tuple of arrays"),
    ],
)
def test_what_is_refused(body: str, message: str) -> None:
    function: Any = defined(f"import numpy as np\ndef f(x, n, s):\n    {body}\n    return np.sum(x)\n")
    with pytest.raises(tx.TangentxError, match=message) as caught:
        tx.grad(function, fallback="error")(X.copy(), np.zeros(3, int), 0.5)
    assert caught.value.span is not None


def test_several_results_go_to_several_arrays() -> None:
    def f(x):
        whole, rest = np.empty(3), np.empty(3)
        both = np.divmod(x, 0.4, out=(whole, rest))
        return np.sum(rest**2) + np.sum(both[0])

    np.testing.assert_allclose(tx.grad(f, fallback="error")(X), 2.0 * np.mod(X, 0.4))


SINGLE = np.linspace(0.1, 2.3, 7).astype(np.float32)


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize("call", ["", "; eval('1')"])
@pytest.mark.parametrize(
    "result",
    [
        "np.sum(x, out=np.empty(()))",
        "np.sum(np.cumsum(x, 0, None, np.empty(7)))",
        "np.mean(x, out=np.empty(()))",
        "x.prod(out=np.empty(()))",
        "np.trace(np.outer(x, x), out=np.empty(()))",
    ],
)
def test_sums_and_products_are_computed_in_the_type_of_their_array(result: str, call: str) -> None:
    f = defined(f"import numpy as np\ndef f(x):\n    y = {result}{call}\n    return y * 3.0\n", "f")
    value, gradient = tx.value_and_grad(f)(SINGLE)
    assert value == f(SINGLE)
    assert gradient.dtype == np.float32


def test_variances_are_refused_where_the_type_of_their_array_is_another() -> None:
    with pytest.raises(tx.UnsupportedSyntax, match="partly in float64"):
        tx.grad(lambda x: np.var(x, out=np.empty(())), fallback="error")(SINGLE)


WIDER = {
    "reduce": lambda x: np.add.reduce(x[None, :], axis=1, out=np.zeros(1)),
    "accumulate": lambda x: np.multiply.accumulate(x, out=np.zeros(7)),
    "reduceat": lambda x: np.add.reduceat(x, [0, 3], out=np.zeros(2)),
    "einsum": lambda x: np.einsum("i,i->", x, x, out=np.zeros(())),
    "narrower": lambda x: np.add.reduce(x.astype(float)[None, :], axis=1, out=np.zeros(1, np.float32)),
    "said otherwise": lambda x: np.add.reduce(x[None, :], axis=1, dtype=np.float32, out=np.zeros(1)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("on_tensors", [False, True])
@pytest.mark.parametrize("name", WIDER)
def test_what_puts_elements_together_does_so_in_the_type_of_out(name: str, on_tensors: bool) -> None:
    joined = WIDER[name]

    def compiled(x):
        return np.sum(joined(x))

    def traced(x):
        return np.sum(joined(x)) * eval("1.0")

    program = traced if on_tensors else compiled
    x = np.linspace(0.1, 1.3, 7).astype(np.float32)
    value, found = tx.value_and_grad(program, fallback="tensor" if on_tensors else "error")(x)
    assert value == program(x)
    assert found.dtype == np.float32
