"""Elements that are written at computed places, which nothing else reads."""

import numpy as np
import pytest

import tangentx as tx
from tangentx.ir.check import IRError
from tangentx.loops.loop_ir import INT, Assign, Const, Function, Local, Return
from tangentx.loops.simplify import tidy
from tests.jit.test_entry import WAYS, both, own_cache  # noqa: F401

X = np.linspace(-1.0, 2.0, 6)


def behind(x):
    n = len(x)
    y = np.zeros(n)
    for i in range(n - 1):
        y[i + 1] = x[i] * x[i]
    return np.sum(y * y)


def before(x):
    y = np.zeros(len(x))
    for i in range(1, len(x)):
        y[i - 1] = x[i] * x[i]
    return np.sum(y * y)


def summed(x):
    n = len(x)
    y = np.zeros(n)
    for i in range(n - 1):
        y[i + 1] = y[i] + x[i]
    return np.sum(y)


def in_rows(x):
    y = np.zeros((len(x), 3))
    for i in range(len(x) - 1):
        for j in range(2):
            y[i + 1, j + 1] = x[i] * x[i] + j
    return np.sum(y * y)


def best_path(logp):
    n, k = logp.shape
    score = logp[0].copy()
    back = np.zeros((n, k), dtype=np.int64)
    for t in range(1, n):
        new = np.empty(k)
        for j in range(k):
            best = -1e300
            for i in range(k):
                c = score[i] + 0.1 * i * j
                if c > best:
                    best = c
                    back[t, j] = i
            new[j] = best + logp[t, j]
        score = new
    j = int(np.argmax(score))
    total = score[j]
    for t in range(n - 1, 0, -1):
        j = back[t, j]
        total = total + 0.1 * logp[t - 1, j] * j
    return total


CASES = [(behind, X), (before, X), (summed, X), (in_rows, X), (best_path, np.sin(np.arange(20.0)).reshape(5, 4))]


@pytest.mark.parametrize("jit", WAYS)
@pytest.mark.parametrize(("f", "x"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_an_element_is_written_where_the_program_says(f, x, jit):
    both(f, jit, x)
    np.testing.assert_allclose(tx.jit(f, jit=jit)(x), f(x), rtol=1e-12)


def test_no_name_is_read_that_nothing_binds():
    unbound = Function("f", (), (INT,), {"a": INT}, (Return((Local("a", INT),)),))
    with pytest.raises(IRError, match="read a, which nothing binds"):
        tidy(unbound)
    bound = (Assign("a", Const(1, INT)), *unbound.body)
    assert tidy(Function("f", (), (INT,), {"a": INT}, bound)).body == (Return((Const(1, INT),)),)
