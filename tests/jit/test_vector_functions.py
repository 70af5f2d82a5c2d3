"""Which functions are computed for several numbers at once: none whose result something is decided by."""

import numpy as np
import pytest

import tangentx as tx
from tests.jit.test_entry import HAS_C, own_cache  # noqa: F401

pytestmark = pytest.mark.skipif(not HAS_C, reason="no C compiler")
X = np.linspace(0.1, 2.0, 37)


def smooth(x):
    return np.sum(np.exp(x) * np.log(x) + np.sqrt(np.exp(-x)))


def decided_by_arguments(x):
    return np.sum(np.where(x > 1.0, np.exp(x), x))


def decided_by_results(x):
    return np.sum(np.where(np.exp(x) > 2.0, np.log(x), x))


def through_arrays(x):
    y = np.exp(x)
    z = y[1:]
    w = z + 1.0
    return np.sum(np.maximum(w, w[::-1]) * np.log(w))


def through_a_list(x):
    kept = []
    for i in range(3):
        kept.append(np.sin(x * i))
    total = x[0]
    for i in range(3):
        if kept.pop()[1] > 0.5:
            total = total + np.sum(np.cos(x))
    return total


def helped(y):
    return y * 2.0 if y[0] > 1.5 else y


def through_a_helper(x):
    return np.sum(helped(np.exp(x))) + np.sum(np.log(x))


def index(x):
    y = np.exp(x)
    return y[int(y[0])] + np.sum(np.log(x))


def sorted_by_python(x):
    return np.sum(np.sort(np.exp(x)) * np.log(x))


CASES = [
    (smooth, {"exp", "log"}),
    (decided_by_arguments, {"exp"}),
    (decided_by_results, {"log"}),
    (through_arrays, {"log"}),
    (through_a_list, {"cos"}),
    (through_a_helper, {"log"}),
    (index, {"log"}),
    (sorted_by_python, {"log"}),
]


@pytest.mark.parametrize(("f", "vectors"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_vectors_are_used_where_nothing_is_decided_by_them(f, vectors):
    function = tx.jit(f, jit="c")
    assert abs(function(X) - f(X)) < 1e-12 * abs(f(X))
    lines = [line for line in function.source.splitlines() if line.startswith("__attribute__((simd")]
    assert {line.split("double ")[1].split("(")[0] for line in lines} == vectors


def test_equal_numbers_tie():
    x = np.full(101, 0.3)
    value, gradient = tx.value_and_grad(lambda x: np.max(np.exp(x)), jit="c")(x)
    assert value == np.exp(0.3) and np.allclose(gradient, np.exp(0.3) / 101)


def options(s, t):
    d = np.log(s) / np.sqrt(t)
    return np.sum(s * np.exp(-t) * np.tanh(d) + np.exp(d))


@pytest.mark.parametrize(("f", "args"), [(smooth, (X,)), (options, (X, X + 1.0)), (lambda x: np.sum(x * x), (X,))])
def test_wide_vectors_are_for_loops_of_functions(f, args):
    function = tx.jit(f, jit="c")
    assert abs(function(*args) - f(*args)) < 1e-12 * abs(f(*args))
    assert ("prefer-vector-width" in function.source) == (f.__name__ == "<lambda>")
