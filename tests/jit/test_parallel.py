"""Compiled loops on several threads: the bits of one thread, warnings, and what is refused."""

import os
import threading
import warnings

import numpy as np
import pytest

import tangentx as tx
from tests.jit.test_entry import HAS_C, compiled, own_cache  # noqa: F401

pytestmark = pytest.mark.skipif(not HAS_C, reason="no C compiler")
RNG = np.random.default_rng(5)


def waves(x):
    y = np.exp(x) * np.sin(3.0 * x) + x / (1.0 + x * x)
    return np.sum(y * y) + np.mean(x)


def stencil(u):
    v = np.exp(0.1 * u[1:-1, 1:-1]) * u[2:, 1:-1] + u[:-2, 1:-1]
    v[0] = v[1] * v[2]
    return np.sum(v * v)


def masked(x):
    return np.sum(np.where(x > 0, np.log(x), x * x))


def compared(x):
    e = np.exp(x)
    return np.sum(np.where(e == e[0], x * x, x)) + np.max(e)


CASES = [
    (waves, RNG.normal(size=300_007)),
    (waves, RNG.normal(size=300_007).astype(np.float32)),
    (waves, RNG.normal(size=7)),
    (waves, np.linspace(0.0, 1.0, 200_000)[::-2]),
    (stencil, RNG.normal(size=(300, 500))),
    (stencil, RNG.normal(size=(500, 300)).T),
    (masked, RNG.random(200_003) + 0.1),
    (compared, np.full(200_003, 0.3)),
]


def given(f, x, threads, monkeypatch, **options):
    monkeypatch.setenv("TANGENTX_THREADS", str(threads))
    derivative = tx.value_and_grad(f, jit="c", **options)
    return derivative(x), derivative


@pytest.mark.share(1)
@pytest.mark.parametrize(("f", "x"), CASES, ids=[f"{f.__name__}{i}" for i, (f, _) in enumerate(CASES)])
def test_the_bits_are_those_of_one_thread(f, x, monkeypatch):
    wanted, _ = given(f, x, 1, monkeypatch)
    for threads in (1, 2, 5, 100):
        found, derivative = given(f, x, threads, monkeypatch, parallel=True)
        assert found[0].tobytes() == wanted[0].tobytes() and found[1].tobytes() == wanted[1].tobytes()
        assert not compiled(derivative).gave_up
    assert "spread(" in derivative.source and "on several threads" in derivative.explain()


def test_warnings_of_a_thread_are_given():
    x = RNG.random(200_000) + 0.1
    x[-1] = -1.0
    with pytest.warns(RuntimeWarning, match="invalid value"):
        value, gradient = tx.value_and_grad(masked, jit="c", parallel=True)(x)
    x[-1] = 2.0
    other = tx.value_and_grad(masked, jit="c", parallel=True)(x)
    assert gradient[-1] == -2.0 and np.array_equal(gradient[:-1], other[1][:-1])
    assert abs(value - (other[0] - np.log(2.0) + 1.0)) < 1e-9


def test_the_function_itself_in_many_threads(monkeypatch):
    monkeypatch.setenv("TANGENTX_THREADS", "3")
    f = tx.jit(waves, jit="c", parallel=True)
    x = RNG.normal(size=100_000)
    wanted, found = f(x), []
    running = [threading.Thread(target=lambda: found.append([f(x) for _ in range(5)])) for _ in range(6)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert found == [[wanted] * 5] * 6


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_process_that_is_forked(monkeypatch):
    monkeypatch.setenv("TANGENTX_THREADS", "2")
    f = tx.jit(waves, jit="c", parallel=True)
    x = RNG.normal(size=100_000)
    wanted = f(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        child = os.fork()
    if not child:
        os._exit(0 if f(x) == wanted else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_options_that_mean_nothing():
    for jit in (None, "numba", "python"):
        with pytest.raises(tx.NotDifferentiable, match="parallel=True"):
            tx.grad(waves, jit=jit, parallel=True)
    with pytest.raises(tx.NotDifferentiable, match="parallel=1"):
        tx.jit(waves, jit="c", parallel=1)
